"""The page Live in use: one Chromium shows the dashboard, another runs an agent's session."""

import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from mcp.types import CallToolResult

from outrider.browser.live.control_input import MAX_TEXT_CHARS
from outrider.browser.process.browser import Browser
from outrider.browser.session.registry import SessionRegistry
from outrider.serve.state_codec import StateCodec
from support.apps.browser_app import BrowserAppClient as Service
from support.apps.browser_app import format_result_text, open_browser_app
from support.apps.dashboard_browser import NARROW_VIEWPORT, DashboardSession, DashboardTab, open_dashboard
from support.fakes.cuttable_proxy import CuttableProxy, open_cuttable_proxy
from support.timeouts import PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio
# The place of a point of the page in the dashboard's window, and the colour drawn there.
AT = """((x, y) => {
  const canvas = document.getElementById('screen'), box = canvas.getBoundingClientRect();
  const scale = Math.min(box.width / canvas.width, box.height / canvas.height);
  const left = box.left + (box.width - canvas.width * scale) / 2;
  const top = box.top + (box.height - canvas.height * scale) / 2;
  return [left + x * scale * canvas.width / 1200, top + y * scale * canvas.height / 800];
})"""
COLOUR = """((x, y) => [...document.getElementById('screen').getContext('2d').getImageData(x, y, 1, 1).data])"""
MIDDLE = "(() => {{ const box = document.querySelector({0!r}).getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"  # noqa: E501


@dataclass
class Stage:
    """An app with its real browser, and the dashboard that shows it."""

    service: Service
    office: DashboardSession

    async def watch(self, path: str = "/form", **look: Any) -> tuple[str, DashboardTab]:
        """A new session, and a person who watches it."""
        session = await self.service.open_session(path)
        return session, await self.look(session, **look)

    async def look(self, session: str, **look: Any) -> DashboardTab:
        """One more person who watches a session."""
        view = await self.office.open_tab(f"/live?session={session}", **look)
        await wait_until_drawn(view)
        return view

    async def middle(self, session: str, selector: str) -> tuple[float, float]:
        """The middle of an element, in CSS pixels of the session's page."""
        page = self.service.find_session(session).tabs.current
        assert page is not None
        x, y = await page.evaluate_in("", f"() => {MIDDLE.format(selector)}")
        return x, y

    async def inside(self, session: str, expression: str) -> Any:
        """Evaluate an expression in the session's page, even if the session is paused."""
        page = self.service.find_session(session).tabs.current
        assert page is not None
        return await page.evaluate_in("", f"() => ({expression})")

    async def inside_until(self, session: str, condition: str) -> None:
        """Waits until an expression is true in the session's page, across navigations."""
        page = self.service.find_session(session).tabs.current
        assert page is not None
        await DashboardTab(page, "").wait_until(condition)


@pytest.fixture(scope="module")
async def dashboard_stage(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> AsyncGenerator[Stage]:
    async with AsyncExitStack() as stack:
        service = await stack.enter_async_context(open_browser_app(tmp_path_factory.mktemp("live")))
        office = await stack.enter_async_context(open_dashboard(service.folder, chromium, service.loopback.app))
        yield Stage(service, office)


@pytest.fixture(autouse=True)
async def tidy(dashboard_stage: Stage) -> AsyncGenerator[None]:
    yield
    await dashboard_stage.office.close_tabs()
    await dashboard_stage.service.loopback.app.browsers.close_owner_sessions("default")


async def wait_until_drawn(view: DashboardTab) -> None:
    await view.wait_until("document.getElementById('screen').dataset.seq")
    await view.wait_until("document.getElementById('state').textContent !== 'Connecting'")


async def press_point(view: DashboardTab, x: float, y: float, **how: Any) -> None:
    """Click at the place where a point of the session's page is shown."""
    where = await view.evaluate_js(f"{AT}({x}, {y})")
    await view.page.dispatch_mouse("click", *where, **how)


async def take_control(view: DashboardTab) -> None:
    await view.pointer.click("#take")
    await view.wait_for_text("You have control")
    await view.wait_until("document.activeElement.id === 'keys'")


@asynccontextmanager
async def run_waiting_call(dashboard_stage: Stage, tool: str, **arguments: Any) -> AsyncGenerator[list[CallToolResult]]:
    """Hold a tool call at the pause gate during the body; its result is available afterwards."""
    answers: list[CallToolResult] = []

    async def call() -> None:
        answers.append(await dashboard_stage.service.call_tool(tool, **arguments))

    gate = dashboard_stage.service.find_session(arguments["sessionId"]).control.gate
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        assert await gate.changed.wait_until(lambda: gate.waiting > 0, PROCESS_TIMEOUT_S)
        yield answers


@pytest.mark.nightly
async def test_changes_of_the_page_are_shown_live(dashboard_stage: Stage):
    session, view = await dashboard_stage.watch()
    assert "Order form" in await view.read_text()
    await dashboard_stage.inside(session, "document.body.style.background = 'rgb(0, 0, 255)'")
    await view.wait_until(f"{COLOUR}(600, 600)[2] > 240 && {COLOUR}(600, 600)[0] < 20")
    await dashboard_stage.service.navigate_session(session, "/article")
    await view.wait_for_text("On lighthouses")
    await view.wait_until(f"{COLOUR}(600, 600)[0] > 200")
    assert view.page_errors == []


async def test_a_person_takes_over_and_the_agent_continues_with_what_they_typed(dashboard_stage: Stage):
    session, view = await dashboard_stage.watch()
    typed = await dashboard_stage.service.call_tool("inputText", sessionId=session, selector="[name=name]", text="Ada")
    assert not typed.is_error
    await view.wait_for_text("selector=[name=name] text=[private]")
    await view.pointer.click("#pause")
    await view.wait_for_text("Paused")
    async with run_waiting_call(dashboard_stage, "snapshotPage", sessionId=session) as answers:
        await view.wait_for_text("Paused, the agent is waiting")
        await view.wait_for_text("when you resume: Look")
        await take_control(view)
        await press_point(view, *await dashboard_stage.middle(session, "[name=email]"))
        await dashboard_stage.inside_until(session, "document.activeElement.name === 'email'")
        for key in "ada@example.org":
            await view.page.dispatch_key(key)
        await dashboard_stage.inside_until(
            session, "document.querySelector('[name=email]').value === 'ada@example.org'"
        )
        assert not answers
        await view.pointer.click("#take")
    shown = format_result_text(answers[0])
    assert "ada@example.org" in shown
    assert "Ada" in shown
    assert "a person controlled this session in the meantime" in shown
    await view.wait_for_text("Watching")


@pytest.mark.nightly
async def test_after_a_takeover_an_action_reports_the_whole_page_instead_of_a_difference(dashboard_stage: Stage):
    session, view = await dashboard_stage.watch()
    await dashboard_stage.service.call_tool("snapshotPage", sessionId=session)
    before = await dashboard_stage.service.call_tool("inputText", sessionId=session, selector="[name=name]", text="Ada")
    await take_control(view)
    await press_point(view, *await dashboard_stage.middle(session, "[name=gift]"))
    await dashboard_stage.inside_until(session, "document.querySelector('[name=gift]').checked")
    await view.pointer.click("#take")
    await view.wait_for_text("Watching")
    after = await dashboard_stage.service.call_tool(
        "inputText", sessionId=session, selector="[name=name]", text="Grace"
    )
    assert "Remarks" not in format_result_text(before)
    assert "Remarks" in format_result_text(after)
    assert "checked" in format_result_text(after)


@pytest.mark.nightly
async def test_pasted_and_composed_text_arrives_as_one_input(dashboard_stage: Stage):
    session, view = await dashboard_stage.watch()
    await take_control(view)
    await press_point(view, *await dashboard_stage.middle(session, "[name=remarks]"))
    await dashboard_stage.inside_until(session, "document.activeElement.name === 'remarks'")
    long = "naïve 読む 🦉 " * 300
    await view.evaluate_js(f"""(() => {{
      const data = new DataTransfer();
      data.setData('text/plain', {json.dumps(long)});
      const pasted = new ClipboardEvent('paste', {{clipboardData: data, bubbles: true}});
      document.getElementById('keys').dispatchEvent(pasted);
    }})()""")
    await dashboard_stage.inside_until(
        session, f"document.querySelector('[name=remarks]').value === {json.dumps(long)}"
    )
    assert len(long) > MAX_TEXT_CHARS
    await view.page.send("Input.imeSetComposition", {"text": "にほ", "selectionStart": 2, "selectionEnd": 2})
    await view.page.send("Input.insertText", {"text": "日本"})
    await dashboard_stage.inside_until(
        session, f"document.querySelector('[name=remarks]').value === {json.dumps(long + '日本')}"
    )


@pytest.mark.nightly
async def test_shortcuts_wheel_and_drags_work_as_elsewhere(dashboard_stage: Stage):
    session, view = await dashboard_stage.watch("/scroll")
    await take_control(view)
    await view.page.dispatch_mouse("wheel", *await view.evaluate_js(f"{AT}(600, 400)"), delta=(0, 300))
    await dashboard_stage.inside_until(session, "scrollY > 200")
    await dashboard_stage.inside(
        session, "(scrollTo(0, 0), document.body.innerHTML = '<input id=i value=hello>', i.focus())"
    )
    await view.page.dispatch_key("Control+a")
    await dashboard_stage.inside_until(session, "i.selectionEnd - i.selectionStart === 5")
    await view.page.dispatch_key("x")
    await dashboard_stage.inside_until(session, "i.value === 'x'")
    await dashboard_stage.inside(
        session,
        "(document.body.innerHTML = '<input id=r type=range min=0 max=100 value=0 style=\"width:400px;margin:50px\">')",
    )
    x, y = await dashboard_stage.middle(session, "#r")
    start, end = await view.evaluate_js(f"{AT}({x - 192}, {y})"), await view.evaluate_js(f"{AT}({x + 192}, {y})")
    await view.page.dispatch_mouse("move", *start)
    await view.page.dispatch_mouse("down", *start)
    await view.page.dispatch_mouse("move", *end, held_buttons=("left",))
    await view.page.dispatch_mouse("up", *end)
    await dashboard_stage.inside_until(session, "Number(r.value) > 90")


@pytest.mark.nightly
async def test_f8_leaves_the_picture_and_everything_works_by_keyboard(dashboard_stage: Stage):
    _, view = await dashboard_stage.watch()
    await view.evaluate_js("document.getElementById('take').focus()")
    await view.page.dispatch_key("Enter")
    await view.wait_until("document.activeElement.id === 'keys'")
    await view.page.dispatch_key("F8")
    await view.wait_until("document.activeElement.id === 'take'")
    await view.page.dispatch_key("Enter")
    await view.wait_for_text("Watching")


@pytest.mark.nightly
async def test_reloading_the_dashboard_releases_control(dashboard_stage: Stage):
    session, view = await dashboard_stage.watch()
    await take_control(view)
    control = dashboard_stage.service.find_session(session).control
    assert control.holder
    await view.open_path(f"/live?session={session}")
    await view.wait_for_text("Watching")
    assert (control.holder, control.paused) == (None, False)
    again = await dashboard_stage.service.call_tool("snapshotPage", sessionId=session)
    assert "a person controlled this session" in format_result_text(again)


@pytest.mark.nightly
async def test_one_person_at_a_time_has_control(dashboard_stage: Stage):
    session, first = await dashboard_stage.watch()
    second = await dashboard_stage.look(session)
    await take_control(first)
    await second.wait_for_text("Someone else has control")
    assert await second.evaluate_js(
        "document.getElementById('take').disabled && document.getElementById('pause').disabled"
    )
    await first.pointer.click("#take")
    await second.wait_for_text("Watching")
    await take_control(second)
    await first.wait_for_text("Someone else has control")


@pytest.mark.nightly
async def test_a_lost_connection_releases_control_and_the_picture_returns(dashboard_stage: Stage):
    session = await dashboard_stage.service.open_session()
    async with open_cuttable_proxy(dashboard_stage.office.server.base_url) as cut:
        view = await open_cuttable_tab(dashboard_stage, cut, session)
        await take_control(view)
        await cut.cut_connections()
        await view.wait_for_text("Connection lost")
        control = dashboard_stage.service.find_session(session).control
        assert await control.changed.wait_until(lambda: control.holder is None, PROCESS_TIMEOUT_S)
        cut.restore()
        await view.wait_for_text("Watching")
        await dashboard_stage.inside(session, "document.body.style.background = 'rgb(255, 0, 0)'")
        await view.wait_until(f"{COLOUR}(600, 600)[0] > 240 && {COLOUR}(600, 600)[2] < 20")
        await dashboard_stage.office.close_tabs()


async def open_cuttable_tab(dashboard_stage: Stage, cut: CuttableProxy, session: str) -> DashboardTab:
    """A person whose connection to the dashboard can be cut."""
    view = await dashboard_stage.office.open_tab("/live")
    await view.open_path(
        dashboard_stage.office.server.sign_in_url.replace(dashboard_stage.office.server.base_url, cut.url)
    )
    await view.open_path(f"{cut.url}live?session={session}")
    await wait_until_drawn(view)
    return view


async def test_the_person_in_control_answers_dialogs(dashboard_stage: Stage):
    session, view = await dashboard_stage.watch()
    await take_control(view)
    page = dashboard_stage.service.find_session(session).tabs.current
    assert page is not None
    asked = page.send("Runtime.evaluate", {"expression": "window.said = prompt('Your <b>name</b>?')"})
    await view.wait_for_text("Your <b>name</b>?")
    await view.forms.type("#dialogtext", "Ada")
    await view.pointer.click("#dialogyes")
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        await asked
    assert await dashboard_stage.inside(session, "window.said") == "Ada"


async def test_drop_down_lists_are_shown_by_the_dashboard(dashboard_stage: Stage):
    session, view = await dashboard_stage.watch()
    await dashboard_stage.inside(
        session, "Boolean(addEventListener('change', (event) => { window.changed = event.target.name; }))"
    )
    await take_control(view)
    await press_point(view, *await dashboard_stage.middle(session, "[name=size]"))
    await view.wait_for_text("Large")
    await view.pointer.click("#choices button:nth-child(3)")
    await dashboard_stage.inside_until(
        session, "document.querySelector('[name=size]').value === 'l' && changed === 'size'"
    )
    await view.wait_until("!document.getElementById('choice').open && document.activeElement.id === 'keys'")
    await press_point(view, *await dashboard_stage.middle(session, "[name=gift]"))
    await dashboard_stage.inside_until(session, "document.querySelector('[name=gift]').checked")


async def test_the_person_in_control_navigates_and_switches_tabs(dashboard_stage: Stage):
    session, view = await dashboard_stage.watch()
    await take_control(view)
    await view.forms.type("#address", f"{dashboard_stage.service.loopback.site_url}/article", submit=True)
    await dashboard_stage.inside_until(
        session, "location.pathname === '/article' && document.readyState === 'complete'"
    )
    await view.pointer.click("[data-do=back]")
    await dashboard_stage.inside_until(session, "location.pathname === '/form'")
    tabs = dashboard_stage.service.find_session(session).tabs
    await dashboard_stage.inside(session, "Boolean(setTimeout(() => open('/login')))")
    await view.wait_until("document.querySelectorAll('#tabs button').length === 2")
    await view.pointer.click("#tabs button:nth-child(2)")
    await dashboard_stage.inside_until(session, "location.pathname === '/login'")
    assert tabs.current is tabs.get_page(2)
    await view.wait_for_text("/login")


@pytest.mark.nightly
async def test_taps_and_swipes_work_on_a_narrow_screen(dashboard_stage: Stage):
    session, view = await dashboard_stage.watch("/scroll", size=NARROW_VIEWPORT, dark=True)
    await view.page.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    await dashboard_stage.inside(session, "window.addEventListener('click', () => { window.clicked = true; })")
    await take_control(view)
    assert await view.evaluate_js("document.documentElement.scrollWidth <= innerWidth")
    await view.evaluate_js("document.getElementById('screen').scrollIntoView({block: 'center'})")
    await swipe(view, await view.evaluate_js(f"{AT}(600, 400)"))
    await dashboard_stage.inside_until(session, "window.clicked")
    await swipe(view, await view.evaluate_js(f"{AT}(600, 600)"), await view.evaluate_js(f"{AT}(600, 200)"))
    await dashboard_stage.inside_until(session, "scrollY > 200")


async def swipe(view: DashboardTab, start: list[float], end: list[float] | None = None) -> None:
    async def send(kind: str, *points: list[float]) -> None:
        where = [{"x": x, "y": y} for x, y in points]
        await view.page.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": where})

    await send("touchStart", start)
    if end is not None:
        halfway = [(start[0] + end[0]) / 2, (start[1] + end[1]) / 2]
        await send("touchMove", halfway)
        await send("touchMove", end)
    await send("touchEnd")


async def test_closed_sleeping_and_crashed_sessions_say_so(dashboard_stage: Stage):
    session, view = await dashboard_stage.watch()
    inside = dashboard_stage.service.find_session(session)
    assert await inside.park()
    await view.wait_for_text("its pages were unloaded")
    assert inside.status == "parked"
    await take_control(view)
    assert await inside.tabs.wait_until(lambda: inside.tabs.current is not None, PROCESS_TIMEOUT_S)
    await dashboard_stage.inside_until(session, "document.title === 'Order form'")
    await view.pointer.click("#take")
    await view.wait_for_text("Watching")
    page = inside.tabs.current
    assert page is not None
    page.channel.send_and_forget("Page.crash")
    await view.wait_for_text("The page has crashed")
    await dashboard_stage.service.navigate_session(session, "/article")
    await view.wait_for_text("Watching")
    await dashboard_stage.service.call_tool("closeSession", sessionId=session)
    await view.wait_for_text("This session is closed")


async def test_a_session_of_another_process_names_that_process(dashboard_stage: Stage):
    app = dashboard_stage.service.loopback.app
    cipher = StateCodec(app.loaded.settings.serve.state_key, app.loaded.settings.data_dir)
    session = await dashboard_stage.service.open_session()
    theirs = SessionRegistry(app.database, "p_other", cipher)
    await theirs.save_session(dashboard_stage.service.find_session(session))
    await app.browsers.close_owner_sessions("default")
    app.browsers.registry = SessionRegistry(app.database, "p_mine", cipher)
    try:
        view = await dashboard_stage.office.open_tab("/live")
        await view.wait_for_text("in another process")
        await view.pointer.click(f"a[data-id='{session}']")
        await view.wait_for_text("only in the dashboard of process p_other")
        await view.wait_for_text("/form")
        assert await view.evaluate_js("document.getElementById('stage').hidden")
        assert view.page_errors == []
    finally:
        app.browsers.registry = None


@pytest.mark.nightly
async def test_hostile_titles_addresses_and_arguments_are_only_shown(dashboard_stage: Stage):
    session, view = await dashboard_stage.watch()
    payload = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>"
    await dashboard_stage.inside(session, f"document.title = {json.dumps(payload)} + '\\ud800'")
    await dashboard_stage.service.call_tool("waitFor", sessionId=session, text=payload, seconds=0.01)
    await dashboard_stage.service.call_tool("clickElement", sessionId=session, selector=f"{payload}")
    await view.wait_for_text(payload)
    await view.open_path(f"/live?session={session}")
    await view.wait_for_text(payload)
    assert await view.evaluate_js("window.hacked === undefined && !document.querySelector('main img, main script')")
    assert view.page_errors == []
