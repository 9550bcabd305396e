"""A person's actions in a window become a flow; the display is virtual."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import chdir
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner

from outrider.browser.actions.drag import drag_along
from outrider.browser.actions.outcome import PerformedAction
from outrider.browser.protocol.page import BrowserPage, MouseButton
from outrider.browser.session.manual_recording import PersonRecording, record_person
from outrider.cli.commands.flow import command
from outrider.core.context import Call
from outrider.flows.flow_store import FlowStore
from outrider.toolsets.flows.tools import save_actions
from outrider.toolsets.options import ToolOptions
from support.apps import loopback_app
from support.apps.loopback_app import LoopbackApp
from support.timeouts import EVENT_TIMEOUT_S, SCENARIO_TIMEOUT_S

pytestmark = [pytest.mark.anyio, pytest.mark.time_limit(SCENARIO_TIMEOUT_S)]
WINDOWS = ["--ozone-platform=headless", "--ozone-override-screen-size=1600,1000"]
FORM = """<!doctype html><title>Order tea</title><h1>Order tea</h1>
<form onsubmit="echo.textContent = document.title = `Your word: ${word.value}`;
  thanks.textContent = `Thank you, ${who.value}: one ${tea.value} tea ${gift.checked}`; return false">
  <label>Name <input id=who required></label>
  <label>Password <input id=word type=password></label>
  <label>Tea <select id=tea><option>Green<option>Black</select></label>
  <label><input type=checkbox id=gift> Gift</label>
  <button><b>Send</b> order</button>
</form>
<table><tr><td>Ada<td><button onclick="thanks.textContent='deleted Ada'">Delete</button>
<tr><td>Grace<td><button onclick="thanks.textContent='deleted Grace'">Delete</button></table>
<p id=thanks role=status></p><p id=echo role=status></p>"""

TRAP = """<!doctype html><title>Trap</title>
<script>
  for (const kind of ["pointerdown", "click", "keydown", "input", "change", "focusout"])
    addEventListener(kind, (event) => event.stopImmediatePropagation(), true);
  Event.prototype.composedPath = () => [document.body];
  JSON.stringify = () => '{"kind": "click"}';
  Map.prototype.get = () => 1;
</script>
<form onsubmit="return false"><input name=addEventListener aria-label=Name>
  <input name=parentNode aria-label=Search></form>
<label id=label><input type=checkbox id=agree> Agree</label>
<button id=plain onpointerup="label.click(); label.click()">Plain</button>
<select id=tea><option>Green<option>Black</select>
<label><input type=radio name=size id=small> Small</label><label><input type=radio name=size> Large</label>
<div id=inside></div><iframe src=/frame></iframe><input id=note aria-label=Note>
<script>
  inside.attachShadow({ mode: "open" }).innerHTML = "<button style='width: 100%'>Inner</button>";
  function forge() {
    agree.click();
    label.click();
    plain.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
    plain.dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 1 }));
    document.forms[0].elements[0].focus();
    document.execCommand("insertText", false, "forged");
    document.forms[0].elements[0].blur();
    tea.value = "Black";
    tea.dispatchEvent(new Event("change", { bubbles: true }));
  }
</script>"""
GESTURES = """<!doctype html><title>Gestures</title><h1>Gestures</h1>
<style>#menu ul { display: none; position: absolute; left: 60px; top: 60px } #menu li:hover ul { display: block }
  ul { margin: 0; padding: 0; width: 200px }
  [role=slider] { width: 60px; background: silver }
  #card, #list, #pin, #board { width: 90px; background: silver }</style>
<script>const say = (text) => { log.textContent += `${text}, ` }</script>
<ul id=menu><li><span>File</span><ul><li><button onclick="say('saved as')">Save as</button></ul></ul>
<div id=tools><button>Tools</button></div>
<div id=card draggable=true>Card</div><section id=list aria-label=Done>Done</section>
<div id=pin>Pin</div><section id=board aria-label=Board>Board</section>
<button id=ctx>Row</button>
<div role=slider tabindex=0 aria-label=Volume aria-valuenow=50 aria-valuemin=0 aria-valuemax=100>Volume</div>
<label>Size <input id=size type=range min=0 max=10 value=2></label>
<label>Day <input id=day type=date></label>
<label>Tea <select id=tea><option>Green<option>Black<option>White</select></label>
<div id=text contenteditable role=textbox aria-label=Text></div>
<label>Invoice <input id=file type=file></label>
<button id=pick onclick="filed.click()">Pick</button><input id=filed type=file hidden onchange="say('picked')">
<div id=drawn role=button tabindex=0 aria-label=Drawn onkeydown="if (event.key === 'Enter') say('drawn')">Drawn</div>
<dialog id=box aria-label=Box>Box</dialog><canvas id=map width=80 height=20></canvas>
<div id=inner style='width: 150px'></div><p id=log role=status></p>
<script>
  tools.onmouseenter = () => setTimeout(() => {
    if (tools.children.length === 1) tools.insertAdjacentHTML("beforeend", "<button hidden>Wipe</button>");
    tools.children[1].hidden = false;
    tools.children[1].onclick = () => say("wiped");
  }, 30);
  card.ondragstart = (event) => event.dataTransfer.setData("text/plain", "card");
  list.ondragover = (event) => event.preventDefault();
  list.ondrop = (event) => { event.preventDefault(); say("dropped") };
  pin.onpointerdown = () => {
    onpointermove = (event) => { pin.style.transform = `translate(0, ${event.clientY - 150}px)` };
    onpointerup = (event) => {
      onpointermove = onpointerup = null;
      if (document.elementsFromPoint(event.clientX, event.clientY).includes(board)) say("pinned");
      pin.style.transform = "";
    };
  };
  ctx.oncontextmenu = (event) => { event.preventDefault(); say("menu") };
  const volume = document.querySelector("[role=slider]");
  const turn = (step) => volume.setAttribute("aria-valuenow", +volume.ariaValueNow + step);
  volume.onkeydown = (event) => { if (event.key === "ArrowRight") turn(5); if (event.key === "ArrowLeft") turn(-5) };
  for (const each of [size, tea]) each.onchange = () => say(each.value);
  file.onchange = () => say(file.files[0].name);
  addEventListener("keydown", (event) => {
    if (event.ctrlKey && event.key === "s") { event.preventDefault(); say("stored"); box.showModal() }
    if (event.key === "j" && event.target === document.body) event.preventDefault();
  });
  box.onclose = () => say("closed");
  map.onclick = () => say("map");
  inner.attachShadow({ mode: "closed" }).innerHTML =
    "<input aria-label=Inner><select aria-label=Kind><option>One<option>Two</select>";
</script>"""
LINKS = "<a id=open href=/next>Next</a>"
NEXT = """<button id=twice ondblclick="1">Twice</button><button id=ask onclick="confirm('Sure?')">Ask</button>"""
PAGES = {
    "/order": FORM,
    "/trap": TRAP,
    "/frame": "<button style='position: fixed; inset: 0'>Framed</button>",
    "/gestures": GESTURES,
    "/links": LINKS,
    "/next": NEXT,
}

LOADED = "() => new Promise((done) => document.readyState === 'complete' ? done() : addEventListener('load', done))"


@pytest.fixture
async def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[LoopbackApp]:
    monkeypatch.setenv("DISPLAY", ":none")
    (tmp_path / "files").mkdir()
    more: dict[str, object] = {"toolsets": ["browser", "flows"], "browser": {"flags": WINDOWS}}
    more["workspace"] = {"directory": str(tmp_path / "files")}
    site = loopback_app.build_page_site(PAGES)
    with chdir(tmp_path):
        async with loopback_app.open_loopback_app(tmp_path, site, more=more) as opened:
            yield opened


class Person:
    """Use mouse and keyboard in a window, as a real person's input arrives."""

    def __init__(self, page: BrowserPage) -> None:
        self.page = page

    async def click(self, selector: str, *, count: int = 1, button: MouseButton = "left") -> None:
        await self.page.dispatch_mouse("click", *await self.find(selector), count=count, button=button)

    async def move(self, selector: str) -> None:
        await self.page.dispatch_mouse("move", *await self.find(selector))

    async def drag(self, selector: str, goal: str) -> None:
        await drag_along(self.page, [await self.find(selector), await self.find(goal)])

    async def choose_file(self, selector: str, path: Path) -> None:
        found = await self.page.evaluate_handle_in("", "(selector) => document.querySelector(selector)", selector)
        await self.page.send("DOM.setFileInputFiles", {"files": [str(path)], "objectId": found.object_id})

    async def find(self, selector: str) -> tuple[float, float]:
        script = """async (selector) => {
          while (document.readyState !== "complete" || !document.querySelector(selector))
            await new Promise((done) => setTimeout(done, 5));
          const element = document.querySelector(selector);
          element.scrollIntoView({ block: "nearest" });
          const box = element.getBoundingClientRect();
          return [box.x + box.width / 2, box.y + box.height / 2] }"""
        x, y = await self.page.evaluate_in("", script, selector)
        return x, y

    async def type(self, text: str) -> None:
        for character in text:
            await self.page.dispatch_key(character)

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.page.dispatch_key(key)

    async def wait_for_text(self, text: str) -> None:
        with anyio.fail_after(EVENT_TIMEOUT_S):
            while text not in str(await self.run("() => document.body.innerText")):
                await anyio.sleep(0.01)

    async def run(self, script: str) -> object:
        return await self.page.evaluate_in("", script)


async def wait_for(page: BrowserPage, path: str) -> None:
    assert await page.loading.wait_until(
        lambda: page.url.endswith(path) and page.loading.navigating is None, EVENT_TIMEOUT_S
    )


def dialogs(shop: LoopbackApp) -> bool:
    return any(session.dialogs.open_dialog for session in shop.app.browsers.list_sessions())


async def record(
    shop: LoopbackApp, path: str, act: Callable[[Person], Awaitable[None]], *, closes: bool = False
) -> tuple[list[PerformedAction], list[str]]:
    """Run the recorder until the window closes or the command stops; return actions and printed lines."""
    recording, lines = await record_all(shop, path, act, closes=closes)
    return recording.actions, lines


async def record_all(
    shop: LoopbackApp, path: str, act: Callable[[Person], Awaitable[None]], *, closes: bool = False
) -> tuple[PersonRecording, list[str]]:
    lines: list[str] = []
    recordings: list[PersonRecording] = []
    stopped = anyio.Event()

    async def show() -> None:
        url, opened = f"{shop.site_url}{path}", shop.app.browsers
        recordings.append(await record_person(opened, "me", url, on_step=lines.append, is_stopped=stopped.is_set))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(show)
        while not (found := [each for each in shop.app.browsers.list_sessions() if each.url.endswith(path)]):
            await anyio.sleep(0.01)
        page = found[0].tabs.get_page(1)
        await page.evaluate_in("", LOADED)
        while not any(each.values.get("url", "").endswith(path) for each in found[0].actions.list_since()):
            await anyio.sleep(0.01)
        await act(Person(page))
        if closes:
            page.channel.send_and_forget("Page.close")
        stopped.set()
    return recordings[0], lines


async def save(shop: LoopbackApp, name: str, actions: list[PerformedAction]) -> str:
    """Save the recorded actions and return the flow's file."""
    store = FlowStore(shop.app.loaded.workspace, shop.app.loaded.settings.data_dir)
    await save_actions(store, ToolOptions(), Call(), name, actions)
    return store.read_text(Call(), name)


async def test_a_persons_actions_become_a_runnable_flow_without_passwords(shop: LoopbackApp):
    async def order(person: Person) -> None:
        await person.click("#who")
        await person.type("Ada")
        await person.press("Tab")
        await person.type("48151623")
        await person.click("#gift")
        await person.press("Shift+Tab", "ArrowDown")
        await person.click("button b")
        await person.click("tr:nth-child(2) button")

    actions, lines = await record(shop, "/order", order)
    text = await save(shop, "order", actions)
    secrets = shop.app.loaded.settings.data_dir / "flow-secrets"
    secrets.mkdir()
    (secrets / "OUTRIDER_FLOW_PASSWORD").write_text("other word")
    ran = await shop.app.call("runFlow", name="order", parameters={"name": "Grace"}, keepOpen=True)
    shown = await shop.app.call("snapshotPage", sessionId=ran.data["sessionId"])

    assert lines == [
        '1: fill textbox "Name": Ada',
        '2: fill textbox "Password": ●●●●●●●●',
        '3: check checkbox "Gift"',
        '4: select combobox "Tea": Black',
        '5: click button "Send order"',
        '6: click button "Delete"',
    ]
    assert "text: 'Thank you, ${name}: one ${tea} tea true'" in text
    assert "row: Grace" in text
    assert "order succeeded" in ran.text
    assert "deleted Grace" in shown.text
    (secrets / "OUTRIDER_FLOW_PASSWORD").unlink()
    files = [path for path in shop.app.loaded.workspace.rglob("*") if path.is_file()]
    assert not [path for path in files if b"48151623" in path.read_bytes()]


async def test_a_page_can_neither_forge_nor_hide_recorded_steps(shop: LoopbackApp):
    seen: list[object] = []

    async def use(person: Person) -> None:
        await person.run("() => forge()")
        seen.append(await person.run("() => Object.keys(window).filter((each) => /outrider/i.test(each))"))
        await person.click("#plain")
        await person.click("#agree")
        await person.click("[name=parentNode]")
        await person.type("tea")
        await person.press("Enter")
        await person.click("#small")
        await person.press("ArrowDown")
        await person.click("#inside")
        await person.click("iframe")
        await person.click("#note")
        await person.type("half")

    actions, lines = await record(shop, "/trap", use, closes=True)

    assert seen == [[]]
    assert [line.partition(": ")[2] for line in lines] == [
        'click button "Plain"',
        'check checkbox "Agree"',
        'fill textbox "Search": tea, Enter',
        'check radio "Small"',
        'check radio "Large"',
        'click button "Inner"',
        'click button "Framed"',
        'fill textbox "Note": half',
    ]
    assert len(actions) == 9
    framed = actions[7]
    assert ((framed.element or {})["frame"], framed.before.url) == (f"{shop.site_url}/frame", f"{shop.site_url}/trap")


async def test_addresses_tabs_dialogs_and_double_clicks_are_steps_and_links_are_not(shop: LoopbackApp):
    async def wander(person: Person) -> None:
        page, site = person.page, shop.site_url
        await person.click("#open")
        await wait_for(page, "/next")
        await person.click("#twice", count=2)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(person.click, "#ask")
            with anyio.fail_after(EVENT_TIMEOUT_S):
                while not dialogs(shop):
                    await anyio.sleep(0.01)
            await page.send("Page.handleJavaScriptDialog", {"accept": True})
        await page.send("Page.navigate", {"url": f"{site}/order?token=abc123", "transitionType": "typed"})
        await wait_for(page, "/order?token=abc123")
        await person.click("#who")
        await person.type("Eve")

    actions, lines = await record(shop, "/links", wander)
    text = await save(shop, "wander", actions)

    assert [line.partition(": ")[2].replace(shop.site_url, "") for line in lines] == [
        'click link "Next"',
        'click button "Twice"',
        'click button "Twice", twice',
        'click button "Ask"',
        "dialog: accept",
        "open /order?token=[removed]",
        'fill textbox "Name": Eve',
    ]
    assert text.index("dialog: accept") < text.index("name: Ask")
    assert "count: 2" in text
    assert "abc123" not in text


GESTURE_LINES = [
    'hover "File"',
    'click button "Save as"',
    'hover button "Tools"',
    'click button "Wipe"',
    'drag "Card" to region "Done"',
    'drag "Pin" to region "Board"',
    'right click button "Row"',
    'fill slider "Volume": 60',
    'fill slider "Size": 5',
    'fill date "Day": 2025-11-24',
    'select combobox "Tea": White',
    'fill textbox "Text": dear all',
    'upload file "Invoice": invoice.txt',
    'click button "Pick"',
    'upload button "Pick": invoice.txt',
    'press Enter in button "Drawn"',
    'press Control+s in button "Drawn"',
    'press Escape in dialog "Box"',
    'fill textbox "Inner": in',
    'select combobox "Kind": Two',
]


async def use_pointer(person: Person) -> None:
    await person.move("#map")
    await person.move("#menu span")
    await person.click("#menu button")
    await person.move("#tools > button")
    await person.click("#tools > button + button:not([hidden])")
    await person.drag("#card", "#list")
    await person.drag("#pin", "#board")
    await person.click("#ctx", button="right")
    await person.wait_for_text("menu")
    await person.click("[role=slider]")
    await person.press("ArrowRight", "ArrowRight")
    await person.click("#size")


async def use_keys(person: Person, invoice: Path) -> None:
    await person.press("Tab")
    await person.type("11242025")
    await person.press("Tab", "Tab")
    await person.type("Wh")
    await person.click("#text")
    await person.type("dear all")
    await person.choose_file("#file", invoice)
    await person.page.send("Page.setInterceptFileChooserDialog", {"enabled": True})
    await person.click("#pick")
    await person.choose_file("#filed", invoice)
    await person.page.send("Page.setInterceptFileChooserDialog", {"enabled": False})
    await person.run("() => drawn.focus()")
    await person.press("Enter", "Control+s", "Escape")
    await person.click("#inner")
    await person.type("in")
    await person.press("Tab")
    await person.type("T")
    await person.click("#map")
    await person.run("() => document.activeElement.blur()")
    await person.type("j")


async def test_drags_files_menus_sliders_and_shortcuts_are_steps_that_run_again(shop: LoopbackApp):
    invoice = shop.app.loaded.workspace / "files" / "invoice.txt"
    invoice.write_text("invoice")

    async def use(person: Person) -> None:
        await use_pointer(person)
        await use_keys(person, invoice)

    recording, lines = await record_all(shop, "/gestures", use)
    await save(shop, "gestures", recording.actions)
    ran = await shop.app.call("runFlow", name="gestures", keepOpen=True)
    shown = await shop.app.call("snapshotPage", sessionId=ran.data["sessionId"])
    assert [line.partition(": ")[2] for line in lines if line[0].isdigit()] == GESTURE_LINES
    assert recording.notes == [
        "the flow takes invoice.txt from the workspace: put it there, or change the parameter",
        "2 actions were not recorded: a press at a place of <canvas#map>; keys that were typed outside fields",
    ]
    assert "gestures succeeded: 20 steps" in ran.text
    values = ('= "60" (0–100)', '= "2025-11-24"', 'textbox "Inner" e', '= "in"', '= "Two"')
    assert not [each for each in values if each not in shown.text]
    assert "saved as, wiped, dropped, pinned, menu, 5, White, invoice.txt, picked, drawn, stored, closed," in shown.text


def test_the_command_refuses_a_taken_name_and_a_machine_without_a_display(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    flows = tmp_path / ".outrider" / "flows"
    flows.mkdir(parents=True)
    (flows / "order.yaml").write_text("flow: 1")

    taken = CliRunner().invoke(command, ["record", "order", "http://127.0.0.1:1/"])
    blind = CliRunner().invoke(command, ["record", "order", "http://127.0.0.1:1/", "--replace"])

    assert (taken.exit_code, blind.exit_code) == (2, 3)
    assert "flow order exists already" in taken.output
    assert "no display" in blind.output
    assert (flows / "order.yaml").read_text() == "flow: 1"
