"""The page Calls and the first page, as a person uses them."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from outrider.browser.process.browser import Browser
from outrider.core.context import Call
from outrider.core.errors import OutriderError
from support.apps import dashboard_calls
from support.apps.dashboard_browser import NARROW_VIEWPORT, DashboardSession, DashboardTab, open_dashboard

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def office(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> AsyncGenerator[DashboardSession]:
    home: Path = tmp_path_factory.mktemp("calls")
    async with open_dashboard(home, chromium, toolsets=["planning"]) as found:
        await dashboard_calls.record_calls(found.app.database, dashboard_calls.generate_calls(300))
        await dashboard_calls.record_provider_health(found.app.database)
        yield found


@pytest.fixture(autouse=True)
async def tidy(office: DashboardSession) -> AsyncGenerator[None]:
    yield
    await office.close_tabs()


async def press(view: DashboardTab, *keys: str) -> None:
    for key in keys:
        await view.page.dispatch_key(key)


@pytest.mark.nightly
async def test_a_new_call_appears_without_reloading(office: DashboardSession):
    view = await office.open_tab("/calls")
    await view.evaluate_js("window.kept = true")
    await office.app.call("add_observation", Call(session="a new session"), observation="the kettle boils")
    await view.wait_for_text("a new session")
    await view.wait_until("document.querySelector('tr.fresh')?.innerText.includes('the kettle boils')")
    assert await view.evaluate_js("window.kept")
    assert view.page_errors == []


async def test_only_calls_that_match_the_filter_appear(office: DashboardSession):
    view = await office.open_tab("/calls?session=wanted")
    await view.wait_for_text("No matching calls")
    await office.app.call("get_current_state", Call(session="unwanted"))
    await office.app.call("get_current_state", Call(session="wanted"))
    await view.wait_until("document.querySelectorAll('tbody tr').length === 1")
    assert "unwanted" not in await view.read_text()


@pytest.mark.nightly
async def test_a_lost_connection_is_reported_and_missed_changes_are_loaded(office: DashboardSession):
    view = await office.open_tab("/calls")
    await view.wait_until("document.getElementById('connection').dataset.state === 'live'")
    await view.page.send("Network.enable")
    offline = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    await view.page.send("Network.emulateNetworkConditions", {"offline": True} | offline)
    await view.evaluate_js("window.dispatchEvent(new Event('pagehide'))")  # otherwise an open stream stays open
    await view.evaluate_js("document.dispatchEvent(new Event('visibilitychange'))")
    await view.wait_until("document.getElementById('connection').dataset.state === 'lost'")
    await office.app.call("get_current_state", Call(session="while it was away"))
    await view.page.send("Network.emulateNetworkConditions", {"offline": False} | offline)
    await view.wait_for_text("while it was away")
    await view.wait_until("document.getElementById('connection').dataset.state === 'live'")


@pytest.mark.nightly
async def test_a_person_drills_down_from_an_error_to_the_call(office: DashboardSession):
    view = await office.open_tab("/calls/errors")
    await view.evaluate_js("document.querySelector('tbody td.num a').click()")
    await view.wait_until("location.pathname.endsWith('/calls') && document.querySelectorAll('tbody tr').length > 0")
    outcomes = await view.evaluate_js("[...document.querySelectorAll('td .badge')].map((each) => each.textContent)")
    assert set(outcomes) == {await view.evaluate_js("new URLSearchParams(location.search).get('outcome')")}
    await view.evaluate_js("document.querySelector('td.tool a').click()")
    await view.wait_until("document.querySelector('dl.facts') !== null")
    assert "Arguments" in await view.read_text()


@pytest.mark.nightly
async def test_hostile_texts_are_shown_as_words(office: DashboardSession):
    for path in ("/calls?q=onerror", "/calls/errors", "/calls/speed", "/"):
        view = await office.open_tab(path)
        assert "owned" not in await view.evaluate_js("document.title")
        assert await view.evaluate_js("document.querySelectorAll('main img, main script').length") == 0
        assert view.page_errors == []
    view = await office.open_tab("/calls?q=onerror")
    assert "<img src=x onerror" in await view.read_text()


@pytest.mark.nightly
async def test_everything_is_reachable_by_keyboard(office: DashboardSession):
    view = await office.open_tab("/")
    await press(view, "g", "c")
    await view.wait_until("location.pathname.endsWith('/calls') && document.readyState === 'complete'")
    await press(view, "/")
    assert await view.evaluate_js("document.activeElement.name") == "q"
    await view.page.insert_text("kettle")
    await press(view, "Enter")
    await view.wait_until("location.search === '?q=kettle' && document.readyState === 'complete'")
    await press(view, "?")
    await view.wait_until("document.querySelector('dialog.keys').open")
    assert "Search this page's list" in await view.read_text()
    await press(view, "Escape")
    await view.wait_until("document.querySelector('dialog.keys') === null")
    await press(view, "Tab")
    assert await view.evaluate_js("document.activeElement.textContent") == "Skip to content"


@pytest.mark.nightly
async def test_the_first_page_is_updated_live(office: DashboardSession):
    view = await office.open_tab("/", size=NARROW_VIEWPORT)
    await view.wait_for_text("Failures")
    before = int(await view.evaluate_js("[...document.querySelectorAll('.tile b')].at(-1).textContent"))
    with pytest.raises(OutriderError):
        await office.app.call("mark_todo", Call(session="s"), id="nothing", done=True)
    await view.wait_until(f"Number([...document.querySelectorAll('.tile b')].at(-1).textContent) === {before + 1}")
    assert view.page_errors == []
