"""Sessions are isolated, bound to their caller, parked and restored, and closed without a trace."""

from pathlib import Path

import anyio
import pytest

from outrider.browser.session.browsers import Browsers
from outrider.browser.session.options import SessionOptions
from outrider.browser.settings import BrowserSettings
from outrider.core.errors import InvalidInput, NotFound, Unavailable
from support.timeouts import EVENT_TIMEOUT_S

WORLD = "test"


async def test_a_session_belongs_to_its_caller(browsers, open_session):
    session = await open_session()
    assert browsers.get_session("test", session.id) is session
    assert session in browsers.list_sessions("test")
    assert browsers.list_sessions("somebody else") == []
    for owner, name in (("somebody else", session.id), ("test", "nothing")):
        with pytest.raises(NotFound) as missing:
            browsers.get_session(owner, name)
        assert missing.value.code == "session_not_found"
        with pytest.raises(NotFound):
            await browsers.close_session(owner, name)


async def test_sessions_share_neither_cookies_nor_storage(open_session, site):
    ada, other = await open_session("/login"), await open_session("/login")
    async with ada.acquire_page() as page:
        await page.evaluate_in("", "() => { document.cookie = 'mine=1'; localStorage.mine = 1 }")
    async with other.acquire_page() as page:
        assert await page.evaluate_in("", "() => [document.cookie, localStorage.mine ?? null]") == ["", None]


@pytest.mark.nightly
async def test_viewport_language_and_time_zone_are_as_requested(open_session):
    session = await open_session("/frames", size=(640, 480), locale="de-AT", timezone="Asia/Tokyo")
    told = """() => [innerWidth, innerHeight, navigator.language, new Date(0).getHours(), (0.5).toLocaleString(),
      navigator.userAgent.includes('Headless')]"""
    async with session.acquire_page() as page:
        assert await page.evaluate_in(WORLD, told) == [640, 480, "de-AT", 9, "0,5", False]
        await page.loading.wait_until(lambda: len(page.frames) == 5, EVENT_TIMEOUT_S)
        far = next(frame for frame in page.frames if "/middle" in frame.url)
        assert (await far.evaluate(WORLD, told))[2:] == ["de-AT", 9, "0,5", False]


async def test_the_language_reaches_the_server(open_session, site):
    session = await open_session("/headers", locale="de-AT")
    async with session.acquire_page() as page:
        headers = await page.evaluate_in(WORLD, "() => JSON.parse(document.body.innerText)")
        assert headers["accept-language"].startswith("de-AT,de")
        assert "Headless" not in headers["user-agent"]
        assert not [name for name in headers if name.startswith("proxy")]


@pytest.mark.parametrize(
    "wish", [{"size": (1, 800)}, {"locale": "English!"}, {"timezone": "Mars/Olympus"}, {"timezone": "../../etc/passwd"}]
)
async def test_impossible_options_are_named(open_session, wish):
    with pytest.raises(InvalidInput, match=next(iter(wish)).replace("size", "viewport")):
        await open_session(**wish)


@pytest.mark.nightly
async def test_ten_sessions_work_at_once(open_session, site):
    seen: dict[int, str] = {}

    async def visit(number: int) -> None:
        session = await open_session("/form")
        await session.goto(f"{site.here}/article?page={number}")
        async with session.acquire_page() as page:
            seen[number] = await page.evaluate_in(WORLD, "() => location.search")

    async with anyio.create_task_group() as tasks:
        for number in range(10):
            tasks.start_soon(visit, number)
    assert seen == {number: f"?page={number}" for number in range(10)}


async def test_the_number_of_sessions_is_limited(site, tmp_path, browsers):
    few = Browsers(BrowserSettings(max_sessions=1), site.guard, tmp_path, warm=0)
    try:
        first, _ = await few.open_session("test")
        with pytest.raises(Unavailable) as full:
            await few.open_session("test")
        assert full.value.code == "too_many_sessions"
        assert first.id in full.value.hint
        await few.close_session("test", first.id)
        await few.open_session("test")
    finally:
        await few.aclose()


async def test_a_parked_session_is_restored_where_it_was(open_session, site):
    session = await open_session("/article")
    async with session.acquire_page() as page:
        await page.evaluate_in("", "() => { sessionStorage.kept = 'yes'; document.cookie = 'c=1'; scrollTo(0, 500) }")
    assert await session.park()
    assert (session.status, session.url) == ("parked", f"{site.here}/article")
    assert len(session.tabs) == 0
    async with session.acquire_page() as page:
        told = await page.evaluate_in("", "() => [sessionStorage.kept, document.cookie, scrollY]")
    assert told == ["yes", "c=1", 500]
    assert session.status == "active"
    assert "was parked" in session.notes[-1]


async def test_a_session_with_typed_text_is_not_parked(open_session):
    session = await open_session("/form")
    async with session.acquire_page() as page:
        await page.evaluate_in("", "() => { document.querySelector('[name=name]').value = 'Ada' }")
    assert not await session.park()
    assert session.status == "active"
    await session.reload()
    assert await session.park()


async def test_idle_sessions_are_parked_and_then_closed(site, tmp_path):
    brief = Browsers(BrowserSettings(park_s=0.2, idle_s=1.5), site.guard, tmp_path, warm=0)
    try:
        session, _ = await brief.open_session("test", f"{site.here}/article")
        with anyio.fail_after(EVENT_TIMEOUT_S):
            while session.status != "parked":
                await anyio.sleep(0.02)
            while session.status != "closed":
                await anyio.sleep(0.02)
        assert brief.list_sessions() == []
    finally:
        await brief.aclose()


async def test_popups_become_tabs_behind_the_current_one(open_session, site):
    session = await open_session("/popup")
    async with session.acquire_page() as page:
        await page.evaluate_in("", "() => document.getElementById('open').click()")
        assert await session.tabs.wait_until(lambda: len(session.tabs) == 2, EVENT_TIMEOUT_S)
        assert session.tabs.current is page
        assert session.tabs.opened_total == 1
    behind = await session.switch_tab(2)
    async with session.acquire_page() as page:
        assert page is behind
        assert await page.evaluate_in(WORLD, "() => document.readyState !== 'x' && innerWidth") == 1200
    await session.close_tab(2)
    async with session.acquire_page() as page:
        assert page.url == f"{site.here}/popup"


async def test_links_to_new_tabs_work_with_a_trusted_click(open_session):
    session = await open_session("/popup")
    async with session.acquire_page() as page:
        box = "() => { const b = document.getElementById('blank').getBoundingClientRect(); return [b.x + 5, b.y + 5] }"
        await page.dispatch_mouse("click", *await page.evaluate_in(WORLD, box))
        assert await session.tabs.wait_until(lambda: len(session.tabs) == 2, EVENT_TIMEOUT_S)
        new = session.tabs.get_page(2)
        assert await new.loading.wait_until(lambda: new.frames.main and new.url.endswith("/form"), EVENT_TIMEOUT_S)


async def test_popups_beyond_the_limit_are_closed_and_reported(open_session):
    session = await open_session("/popup")
    async with session.acquire_page() as page:
        await page.evaluate_in("", "() => document.getElementById('many').click()")
        assert await session.tabs.wait_until(lambda: session.tabs.opened_total == 22, EVENT_TIMEOUT_S)
        assert len(session.tabs) == 20
        assert "too many tabs" in session.notes[-1]
    with pytest.raises(Unavailable, match="too many tabs"):
        await session.open_tab()


async def test_a_popup_that_closes_itself_leaves_its_opener_in_front(open_session):
    session = await open_session("/popup")
    async with session.acquire_page() as page:
        await page.evaluate_in("", "() => document.getElementById('closing').click()")
        assert await session.tabs.wait_until(lambda: len(session.tabs) == 2, EVENT_TIMEOUT_S)
    await session.switch_tab(2)
    assert await session.tabs.wait_until(lambda: len(session.tabs) == 1, EVENT_TIMEOUT_S)
    async with session.acquire_page() as front:
        assert front is page


@pytest.mark.nightly
async def test_new_tabs_are_counted_from_one(open_session, site):
    session = await open_session("/form")
    there = await session.open_tab(f"{site.here}/article")
    assert there.title == "On lighthouses"
    assert len(session.tabs) == 2
    assert await session.read_title() == "On lighthouses"
    await session.switch_tab(1)
    assert await session.read_title() == "Order form"
    with pytest.raises(NotFound, match="no such tab: 7"):
        await session.switch_tab(7)


def processes_of(group: int, profile: Path) -> set[int]:
    """All living processes of a browser: those in its group, and those that name its profile."""
    found: set[int] = set()
    for folder in Path("/proc").iterdir():
        try:
            state, _, leader = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
            named = str(profile) in (folder / "cmdline").read_text()
        except OSError:
            continue
        if state != "Z" and (int(leader) == group or named):
            found.add(int(folder.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc, which only Linux has")
@pytest.mark.nightly
async def test_many_sessions_at_once_leave_no_process_and_no_profile(site, tmp_path, temporary, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    many = Browsers(BrowserSettings(max_sessions=100), site.guard, tmp_path / "data")
    try:

        async def visit() -> None:
            for number in range(4):
                url = "about:blank" if number % 4 else f"{site.here}/form"
                session, there = await many.open_session("test", url, SessionOptions(title="one of many"))
                assert there.url == url
                await many.close_session("test", session.id)

        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(visit)
        assert many.list_sessions() == []
        assert len(list(temporary.glob("outrider-browser-*"))) == 1
        running = many.running_browsers[0].running
        assert processes_of(running.process.pid, running.profile.path)
    finally:
        await many.aclose()
    with anyio.fail_after(EVENT_TIMEOUT_S):  # a killed process may need a moment to disappear
        while processes_of(running.process.pid, running.profile.path):
            await anyio.sleep(0.01)
    assert list(temporary.glob("outrider-browser-*")) == []
