"""Live, as a person uses it: one Chromium shows the dashboard, another one is the session that an agent works in."""

import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from mcp.types import CallToolResult

from outrider.app.edge import Sealing
from outrider.browser.browser import Browser
from outrider.browser.control_input import TYPED
from outrider.browser.registry import Registry
from support.apps.browser_app import Desk as House
from support.apps.browser_app import desk as browser_desk
from support.apps.browser_app import said
from support.apps.dashboard_browser import NARROW, Desk, View, desk
from support.fakes.cuttable_proxy import Cut, cut_through

pytestmark = pytest.mark.anyio
PATIENCE = 60
# Where a point of the page lies in the dashboard's window, and what colour is drawn there.
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
    """A house with its real browser, and the dashboard that shows it."""

    house: House
    office: Desk

    async def watch(self, path: str = "/form", **look: Any) -> tuple[str, View]:
        """A new session, and a person who watches it."""
        session = await self.house.open(path)
        return session, await self.look(session, **look)

    async def look(self, session: str, **look: Any) -> View:
        """One more person who watches a session."""
        view = await self.office.open(f"/live?session={session}", **look)
        await drawn(view)
        return view

    async def middle(self, session: str, selector: str) -> tuple[float, float]:
        """The middle of an element, in CSS pixels of the session's page."""
        page = self.house.inside(session).tabs.current
        assert page is not None
        x, y = await page.evaluate_in("", f"() => {MIDDLE.format(selector)}")
        return x, y

    async def inside(self, session: str, expression: str) -> Any:
        """What an expression is in the session's page, paused or not."""
        page = self.house.inside(session).tabs.current
        assert page is not None
        return await page.evaluate_in("", f"() => ({expression})")

    async def inside_until(self, session: str, condition: str) -> None:
        """Waits until an expression is true in the session's page, across navigations."""
        page = self.house.inside(session).tabs.current
        assert page is not None
        await View(page, "").until(condition)


@pytest.fixture(scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> AsyncGenerator[Stage]:
    async with AsyncExitStack() as stack:
        house = await stack.enter_async_context(browser_desk(tmp_path_factory.mktemp("live")))
        office = await stack.enter_async_context(desk(house.folder, chromium, house.house.app))
        yield Stage(house, office)


@pytest.fixture(autouse=True)
async def tidy(stage: Stage) -> AsyncGenerator[None]:
    yield
    await stage.office.tidy()
    await stage.house.house.app.browsers.close_all("default")


async def drawn(view: View) -> None:
    await view.until("document.getElementById('screen').dataset.seq")
    await view.until("document.getElementById('state').textContent !== 'Connecting'")


async def press(view: View, x: float, y: float, **how: Any) -> None:
    """Clicks where a point of the session's page is shown."""
    where = await view.js(f"{AT}({x}, {y})")
    await view.page.mouse("click", *where, **how)


async def take(view: View) -> None:
    await view.hands.click("#take")
    await view.sees("You have control")
    await view.until("document.activeElement.id === 'keys'")


@asynccontextmanager
async def waiting(stage: Stage, tool: str, **arguments: Any) -> AsyncGenerator[list[CallToolResult]]:
    """A tool call that stands at the gate while the body runs; its result is there afterwards."""
    answers: list[CallToolResult] = []

    async def call() -> None:
        answers.append(await stage.house.call(tool, **arguments))

    gate = stage.house.inside(arguments["sessionId"]).control.gate
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        assert await gate.bell.until(lambda: gate.waiting > 0, PATIENCE)
        yield answers


async def test_what_happens_on_the_page_is_seen(stage: Stage):
    session, view = await stage.watch()
    assert "Order form" in await view.text()
    await stage.inside(session, "document.body.style.background = 'rgb(0, 0, 255)'")
    await view.until(f"{COLOUR}(600, 600)[2] > 240 && {COLOUR}(600, 600)[0] < 20")
    await stage.house.go(session, "/article")
    await view.sees("On lighthouses")
    await view.until(f"{COLOUR}(600, 600)[0] > 200")
    assert view.complaints == []


async def test_a_person_takes_over_and_the_agent_goes_on_with_what_they_typed(stage: Stage):
    session, view = await stage.watch()
    typed = await stage.house.call("inputText", sessionId=session, selector="[name=name]", text="Ada")
    assert not typed.is_error
    await view.sees("selector=[name=name] text=[not shown]")
    await view.hands.click("#pause")
    await view.sees("Paused")
    async with waiting(stage, "snapshotPage", sessionId=session) as answers:
        await view.sees("Paused, the agent waits")
        await view.sees("when you resume: Look")
        await take(view)
        await press(view, *await stage.middle(session, "[name=email]"))
        await stage.inside_until(session, "document.activeElement.name === 'email'")
        for key in "ada@example.org":
            await view.page.key(key)
        await stage.inside_until(session, "document.querySelector('[name=email]').value === 'ada@example.org'")
        assert not answers
        await view.hands.click("#take")
    shown = said(answers[0])
    assert "ada@example.org" in shown
    assert "Ada" in shown
    assert "a person had control of this session meanwhile" in shown
    await view.sees("Watching")


async def test_after_a_person_an_action_tells_the_whole_page_instead_of_a_difference(stage: Stage):
    session, view = await stage.watch()
    await stage.house.call("snapshotPage", sessionId=session)
    before = await stage.house.call("inputText", sessionId=session, selector="[name=name]", text="Ada")
    await take(view)
    await press(view, *await stage.middle(session, "[name=gift]"))
    await stage.inside_until(session, "document.querySelector('[name=gift]').checked")
    await view.hands.click("#take")
    await view.sees("Watching")
    after = await stage.house.call("inputText", sessionId=session, selector="[name=name]", text="Grace")
    assert "Remarks" not in said(before)
    assert "Remarks" in said(after)
    assert "checked" in said(after)


async def test_pasted_and_composed_text_arrives_as_one(stage: Stage):
    session, view = await stage.watch()
    await take(view)
    await press(view, *await stage.middle(session, "[name=remarks]"))
    await stage.inside_until(session, "document.activeElement.name === 'remarks'")
    long = "naïve 読む 🦉 " * 300
    await view.js(f"""(() => {{
      const data = new DataTransfer();
      data.setData('text/plain', {json.dumps(long)});
      const pasted = new ClipboardEvent('paste', {{clipboardData: data, bubbles: true}});
      document.getElementById('keys').dispatchEvent(pasted);
    }})()""")
    await stage.inside_until(session, f"document.querySelector('[name=remarks]').value === {json.dumps(long)}")
    assert len(long) > TYPED
    await view.page.send("Input.imeSetComposition", {"text": "にほ", "selectionStart": 2, "selectionEnd": 2})
    await view.page.send("Input.insertText", {"text": "日本"})
    await stage.inside_until(session, f"document.querySelector('[name=remarks]').value === {json.dumps(long + '日本')}")


async def test_shortcuts_wheel_and_drags_do_what_they_do_elsewhere(stage: Stage):
    session, view = await stage.watch("/scroll")
    await take(view)
    await view.page.mouse("wheel", *await view.js(f"{AT}(600, 400)"), delta=(0, 300))
    await stage.inside_until(session, "scrollY > 200")
    await stage.inside(session, "(scrollTo(0, 0), document.body.innerHTML = '<input id=i value=hello>', i.focus())")
    await view.page.key("Control+a")
    await stage.inside_until(session, "i.selectionEnd - i.selectionStart === 5")
    await view.page.key("x")
    await stage.inside_until(session, "i.value === 'x'")
    await stage.inside(
        session,
        "(document.body.innerHTML = '<input id=r type=range min=0 max=100 value=0 style=\"width:400px;margin:50px\">')",
    )
    x, y = await stage.middle(session, "#r")
    start, end = await view.js(f"{AT}({x - 192}, {y})"), await view.js(f"{AT}({x + 192}, {y})")
    await view.page.mouse("move", *start)
    await view.page.mouse("down", *start)
    await view.page.mouse("move", *end, held=("left",))
    await view.page.mouse("up", *end)
    await stage.inside_until(session, "Number(r.value) > 90")


async def test_f8_leaves_the_picture_and_everything_works_by_keyboard(stage: Stage):
    _, view = await stage.watch()
    await view.js("document.getElementById('take').focus()")
    await view.page.key("Enter")
    await view.until("document.activeElement.id === 'keys'")
    await view.page.key("F8")
    await view.until("document.activeElement.id === 'take'")
    await view.page.key("Enter")
    await view.sees("Watching")


async def test_reloading_the_dashboard_releases(stage: Stage):
    session, view = await stage.watch()
    await take(view)
    control = stage.house.inside(session).control
    assert control.holder
    await view.go(f"/live?session={session}")
    await view.sees("Watching")
    assert (control.holder, control.paused) == (None, False)
    again = await stage.house.call("snapshotPage", sessionId=session)
    assert "a person had control" in said(again)


async def test_one_person_at_a_time_has_control(stage: Stage):
    session, first = await stage.watch()
    second = await stage.look(session)
    await take(first)
    await second.sees("Somebody else has control")
    assert await second.js("document.getElementById('take').disabled && document.getElementById('pause').disabled")
    await first.hands.click("#take")
    await second.sees("Watching")
    await take(second)
    await first.sees("Somebody else has control")


async def test_a_lost_connection_releases_and_the_picture_comes_back(stage: Stage):
    session = await stage.house.open()
    async with cut_through(stage.office.listening.place) as cut:
        view = await watched_through(stage, cut, session)
        await take(view)
        await cut.cut()
        await view.sees("Connection lost")
        control = stage.house.inside(session).control
        assert await control.bell.until(lambda: control.holder is None, PATIENCE)
        cut.mend()
        await view.sees("Watching")
        await stage.inside(session, "document.body.style.background = 'rgb(255, 0, 0)'")
        await view.until(f"{COLOUR}(600, 600)[0] > 240 && {COLOUR}(600, 600)[2] < 20")
        await stage.office.tidy()


async def watched_through(stage: Stage, cut: Cut, session: str) -> View:
    """A person whose way to the dashboard can be cut."""
    view = await stage.office.open("/live")
    await view.go(stage.office.listening.address.replace(stage.office.listening.place, cut.place))
    await view.go(f"{cut.place}live?session={session}")
    await drawn(view)
    return view


async def test_dialogs_are_answered_by_the_person_who_has_control(stage: Stage):
    session, view = await stage.watch()
    await take(view)
    page = stage.house.inside(session).tabs.current
    assert page is not None
    asked = page.send("Runtime.evaluate", {"expression": "window.said = prompt('Your <b>name</b>?')"})
    await view.sees("Your <b>name</b>?")
    await view.fields.type("#dialogtext", "Ada")
    await view.hands.click("#dialogyes")
    with anyio.fail_after(PATIENCE):
        await asked
    assert await stage.inside(session, "window.said") == "Ada"


async def test_drop_down_lists_are_shown_by_the_dashboard(stage: Stage):
    session, view = await stage.watch()
    await stage.inside(
        session, "Boolean(addEventListener('change', (event) => { window.changed = event.target.name; }))"
    )
    await take(view)
    await press(view, *await stage.middle(session, "[name=size]"))
    await view.sees("Large")
    await view.hands.click("#choices button:nth-child(3)")
    await stage.inside_until(session, "document.querySelector('[name=size]').value === 'l' && changed === 'size'")
    await view.until("!document.getElementById('choice').open && document.activeElement.id === 'keys'")
    await press(view, *await stage.middle(session, "[name=gift]"))
    await stage.inside_until(session, "document.querySelector('[name=gift]').checked")


async def test_the_person_goes_elsewhere_and_to_another_tab(stage: Stage):
    session, view = await stage.watch()
    await take(view)
    await view.fields.type("#address", f"{stage.house.house.site}/article", submit=True)
    await stage.inside_until(session, "location.pathname === '/article' && document.readyState === 'complete'")
    await view.hands.click("[data-do=back]")
    await stage.inside_until(session, "location.pathname === '/form'")
    tabs = stage.house.inside(session).tabs
    await stage.inside(session, "Boolean(setTimeout(() => open('/login')))")
    await view.until("document.querySelectorAll('#tabs button').length === 2")
    await view.hands.click("#tabs button:nth-child(2)")
    await stage.inside_until(session, "location.pathname === '/login'")
    assert tabs.current is tabs.at(2)
    await view.sees("/login")


async def test_a_finger_taps_and_swipes_where_it_is_narrow(stage: Stage):
    session, view = await stage.watch("/scroll", size=NARROW, dark=True)
    await view.page.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    await stage.inside(session, "window.addEventListener('click', () => { window.clicked = true; })")
    await take(view)
    assert await view.js("document.documentElement.scrollWidth <= innerWidth")
    await view.js("document.getElementById('screen').scrollIntoView({block: 'center'})")
    await touch(view, await view.js(f"{AT}(600, 400)"))
    await stage.inside_until(session, "window.clicked")
    await touch(view, await view.js(f"{AT}(600, 600)"), await view.js(f"{AT}(600, 200)"))
    await stage.inside_until(session, "scrollY > 200")


async def touch(view: View, start: list[float], end: list[float] | None = None) -> None:
    async def send(kind: str, *points: list[float]) -> None:
        where = [{"x": x, "y": y} for x, y in points]
        await view.page.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": where})

    await send("touchStart", start)
    if end is not None:
        halfway = [(start[0] + end[0]) / 2, (start[1] + end[1]) / 2]
        await send("touchMove", halfway)
        await send("touchMove", end)
    await send("touchEnd")


async def test_closed_sleeping_and_crashed_sessions_say_so(stage: Stage):
    session, view = await stage.watch()
    inside = stage.house.inside(session)
    assert await inside.park()
    await view.sees("its pages were put away")
    assert inside.status == "parked"
    await take(view)
    assert await inside.tabs.until(lambda: inside.tabs.current is not None, PATIENCE)
    await stage.inside_until(session, "document.title === 'Order form'")
    await view.hands.click("#take")
    await view.sees("Watching")
    page = inside.tabs.current
    assert page is not None
    page.channel.tell("Page.crash")
    await view.sees("The page has crashed")
    await stage.house.go(session, "/article")
    await view.sees("Watching")
    await stage.house.call("closeSession", sessionId=session)
    await view.sees("This session is closed")


async def test_a_session_of_another_process_says_where_it_is(stage: Stage):
    app = stage.house.house.app
    session = await stage.house.open()
    theirs = Registry(app.database, "p_other", Sealing(app.loaded))
    await theirs.note(stage.house.inside(session))
    await app.browsers.close_all("default")
    app.browsers.registry = Registry(app.database, "p_mine", Sealing(app.loaded))
    try:
        view = await stage.office.open("/live")
        await view.sees("in another process")
        await view.hands.click(f"a[data-id='{session}']")
        await view.sees("only in the dashboard of process p_other")
        await view.sees("/form")
        assert await view.js("document.getElementById('stage').hidden")
        assert view.complaints == []
    finally:
        app.browsers.registry = None


async def test_hostile_titles_addresses_and_arguments_are_only_shown(stage: Stage):
    session, view = await stage.watch()
    payload = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>"
    await stage.inside(session, f"document.title = {json.dumps(payload)} + '\\ud800'")
    await stage.house.call("waitFor", sessionId=session, text=payload, seconds=0.01)
    await stage.house.call("clickElement", sessionId=session, selector=f"{payload}")
    await view.sees(payload)
    await view.go(f"/live?session={session}")
    await view.sees(payload)
    assert await view.js("window.hacked === undefined && !document.querySelector('main img, main script')")
    assert view.complaints == []
