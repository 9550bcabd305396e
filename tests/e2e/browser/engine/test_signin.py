"""A person signs in in a window, and the state is saved; the display is virtual."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import SecretStr

from outrider.browser.session.browsers import Browsers
from outrider.browser.session.manual_login import LoginResult
from outrider.browser.session.options import SessionOptions
from outrider.browser.session.session import Session
from outrider.browser.settings import BrowserSettings
from outrider.core.errors import InvalidInput, NotConfigured, NotFound, OutriderError, Refused
from support.timeouts import BROWSER_TIMEOUT_S, EVENT_TIMEOUT_S

WINDOWS = ["--ozone-platform=headless", "--ozone-override-screen-size=1600,1000"]
SIGN_IN = """() => { document.querySelector('[name=user]').value = 'ada';
  document.querySelector('[name=password]').value = 'lovelace'; document.querySelector('button').click() }"""


@pytest.fixture
async def windows(site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Browsers]:
    """A browser with windows on a virtual display."""
    monkeypatch.setenv("DISPLAY", ":none")
    browsers = Browsers(BrowserSettings(flags=WINDOWS, park_s=1, idle_s=2), site.guard, tmp_path)
    yield browsers
    await browsers.aclose()


Person = Callable[[Session], Awaitable[None]]


async def signing_in(browsers: Browsers, person: Person, **wish: Any) -> LoginResult:
    """The result of a manual login by that person."""
    done: list[LoginResult] = []
    before = {each.id for each in browsers.list_sessions()}  # just closed ones are listed for a moment

    def windows() -> list[Session]:
        return [each for each in browsers.list_sessions() if each.id not in before and each.url != "about:blank"]

    async def show() -> None:
        more: dict[str, Any] = {"seconds": 60} | wish
        done.append(await browsers.sign_in("test", **more))

    with anyio.fail_after(BROWSER_TIMEOUT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(show)
            while not windows():
                await anyio.sleep(0.01)
            await person(windows()[0])
    return done[0]


async def sign_in_as_ada(session: Session) -> None:
    """Sign in and close the window."""
    async with session.acquire_page() as page:
        await page.evaluate_in("", SIGN_IN)
        assert await page.loading.wait_until(lambda: page.url.endswith("/account"), EVENT_TIMEOUT_S)
        await page.evaluate_in("", "() => { localStorage.theme = 'dark' }")
    await wait_until_stored(session, "theme")
    page.channel.send_and_forget("Page.close")


async def wait_until_stored(session: Session, item: str) -> None:
    """Waits until an observer has seen the page's storage; it looks once a second."""
    while item not in json.dumps((await session.peek_state())["origins"]):
        await anyio.sleep(0.01)


async def close_without_signing_in(session: Session) -> None:
    """Look at the page and close the window."""
    session.tabs.get_page(1).channel.send_and_forget("Page.close")


@pytest.mark.nightly
async def test_a_sign_in_made_in_the_window_is_saved_and_used_by_sessions(windows, site):
    told: list[float] = []

    async def tell(seconds: float) -> None:
        told.append(seconds)

    done = await signing_in(windows, sign_in_as_ada, url=f"{site.here}/login", state_id=" Shop ", on_progress=tell)
    assert (done.state_id, done.saved, done.closed, done.cookies) == ("shop", True, True, 1)
    assert done.origins == (site.here,)
    assert done.path
    assert done.path.stat().st_mode & 0o777 == 0o600
    assert done.path.parent.stat().st_mode & 0o777 == 0o700
    assert told == sorted(told)
    assert windows.list_sessions() == []
    options = SessionOptions(state_id="shop", headless=True)
    session, there = await windows.open_session("test", f"{site.here}/account", options)
    assert there.title == "Account"
    async with session.acquire_page() as page:
        assert await page.evaluate_in("", "() => localStorage.theme") == "dark"


@pytest.mark.nightly
async def test_an_open_window_is_closed_at_the_time_limit_and_its_state_saved(windows, site):
    async def away(_: Session) -> None:
        """Do nothing for a while, because the site already remembers the person."""

    done = await signing_in(windows, away, url=f"{site.here}/remembering", seconds=1)
    assert (done.saved, done.closed, done.cookies) == (True, False, 1)
    assert windows.list_sessions() == []


async def test_a_browser_that_dies_during_sign_in_loses_at_most_a_second(windows, site):
    async def unlucky(session: Session) -> None:
        async with session.acquire_page() as page:
            await page.evaluate_in("", SIGN_IN)
            assert await page.loading.wait_until(lambda: page.url.endswith("/account"), EVENT_TIMEOUT_S)
        while not windows.states.has_state("x"):
            await anyio.sleep(0.01)
        windows.running_browsers[0].running.process.kill()

    done = await signing_in(windows, unlucky, url=f"{site.here}/login", state_id="x")
    assert done.saved
    assert windows.states.load("x")["cookies"][0]["name"] == "who"


async def test_a_window_without_any_sign_in_leaves_the_state_unchanged(windows, site):
    first = await signing_in(windows, close_without_signing_in, url=f"{site.here}/article")
    assert (first.saved, first.path) == (False, None)
    assert not windows.states.has_state("default")
    windows.states.save("shop", {"cookies": [], "origins": [{"origin": site.here, "localStorage": []}]})
    await signing_in(windows, close_without_signing_in, url=f"{site.here}/article", state_id="shop")
    assert windows.states.load("shop")["origins"][0]["origin"] == site.here


@pytest.mark.nightly
async def test_the_window_starts_with_the_state_saved_under_that_name(windows, site):
    await signing_in(windows, sign_in_as_ada, url=f"{site.here}/login")
    titles: list[str] = []

    async def again(session: Session) -> None:
        async with session.acquire_page() as page:
            assert await page.loading.wait_until(lambda: page.url.endswith("/account"), EVENT_TIMEOUT_S)
            titles.append(await page.evaluate_in("", "() => document.title"))
        page.channel.send_and_forget("Page.close")

    await signing_in(windows, again, url=f"{site.here}/account")
    assert titles == ["Account"]


@pytest.mark.nightly
async def test_a_window_has_the_requested_size_and_no_headless_browser_starts(windows, site):
    options = SessionOptions(headless=False, size=(900, 600))
    session, _ = await windows.open_session("test", f"{site.here}/form", options)
    async with session.acquire_page() as page:
        while await page.evaluate_in("", "() => [innerWidth, innerHeight]") != [900, 600]:
            await anyio.sleep(0.01)
    assert len(windows.running_browsers) == 1


@pytest.mark.nightly
async def test_a_session_whose_window_a_person_closes_is_gone(windows, site):
    session, _ = await windows.open_session("test", f"{site.here}/form", SessionOptions(headless=False))
    assert windows.list_sessions("test") == [session]
    session.tabs.get_page(1).channel.send_and_forget("Page.close")
    with anyio.fail_after(EVENT_TIMEOUT_S):
        while windows.list_sessions("test"):
            await anyio.sleep(0.01)
    with pytest.raises(NotFound):
        windows.get_session("test", session.id)
    with anyio.fail_after(EVENT_TIMEOUT_S):
        while not session.closed:
            await anyio.sleep(0.01)


async def test_without_a_display_the_answer_names_the_remedy(site, tmp_path, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    browsers = Browsers(BrowserSettings(), site.guard, tmp_path)
    with pytest.raises(NotConfigured, match="no display") as told:
        await browsers.sign_in("test", f"{site.here}/login")
    for way in ("outrider browser login URL --state NAME", "browser.cdp_urls", "manageStates"):
        assert way in told.value.hint
    with pytest.raises(NotConfigured, match="no display"):
        await browsers.open_session("test", options=SessionOptions(headless=False))
    await browsers.aclose()


async def test_the_users_own_chrome_needs_no_state(site, tmp_path):
    browsers = Browsers(BrowserSettings(cdp_urls=[SecretStr("chrome")]), site.guard, tmp_path)
    with pytest.raises(Refused, match="own Chrome"):
        await browsers.sign_in("test", f"{site.here}/login")
    await browsers.aclose()


async def test_an_invalid_address_or_name_leaves_no_window(windows, site):
    with pytest.raises(InvalidInput, match="state_id"):
        await windows.sign_in("test", f"{site.here}/login", "../x")
    for url in ("file:///etc/passwd", "http://127.0.0.1:1/"):
        with pytest.raises(OutriderError):
            await windows.sign_in("test", url)
    assert windows.list_sessions() == []
