"""What it costs to be watched: how old a picture and an input are, what they use, and how much slower the agent is."""

import asyncio
import json
import random
import tempfile
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from bench.figures import Measured, Part
from bench.peers import outrider
from bench.processes import family
from bench.server import TICKS, Server
from bench.sites import PageHandler
from outrider.browser.page.navigate import navigate_page
from outrider.browser.process.browser import Browser
from outrider.browser.process.context import open_context
from outrider.browser.process.launch import launch_browser
from outrider.browser.protocol.page import BrowserPage
from outrider.dashboard.address import list_running

TOKEN = "0123456789abcdef" * 2
WATCHED, UNWATCHED = "watched", "not watched"
PICTURE, INPUT = "page changes → picture drawn", "click in the dashboard → event on the page"
TURNS, EVENTS, SECONDS = 9, 120, 10.0
STEPS = 12  # clicks of the agent's task
LEVELS = 8
# The colour tells which change it is; the last ones can be asked for.
PAGE = f"""<!doctype html><html lang=en><head><meta charset=utf-8><title>Lights</title>
<style>body {{ margin: 0; font: 20px sans-serif }} #light {{ width: 1200px; height: 500px }}</style></head><body>
<div id=light></div><button id=bump onclick="count.textContent = 1 + +count.textContent">Bump</button>
<output id=count>0</output><label>Name <input id=name></label>
<script>
globalThis.changes = []; globalThis.presses = [];
addEventListener('mousedown', () => presses.push(Date.now()), true);
globalThis.change = () => {{
  const level = (changes.length + 1) % {LEVELS};
  light.style.background = `rgb(${{level * 30}}, ${{level * 30}}, ${{level * 30}})`;
  changes.push(Date.now());
}};
</script></body></html>"""
# When which level was drawn, one picture of the window later: that is when it can be seen.
SEEN = f"""() => {{
  const canvas = document.getElementById('screen'), context = canvas.getContext('2d');
  globalThis.seen = []; globalThis.pressed = []; let last = -1;
  new MutationObserver(() => {{
    const level = Math.round(context.getImageData(canvas.width / 2, 100, 1, 1).data[0] / 30) % {LEVELS};
    if (level !== last) {{ last = level; requestAnimationFrame(() => seen.push([level, Date.now()])); }}
  }}).observe(canvas, {{attributes: true, attributeFilter: ['data-seq']}});
  canvas.addEventListener('pointerdown', () => pressed.push(Date.now()), true);
}}"""

POINT = """() => {
  const box = document.getElementById('screen').getBoundingClientRect();
  return [box.x + box.width / 2, box.y + 40];
}"""


def run(*, quick: bool) -> Part:
    turns, events, seconds = (2, 10, 2.0) if quick else (TURNS, EVENTS, SECONDS)
    with site() as url, House(url) as house:
        tables, remarks = asyncio.run(_measured(house, turns, events, seconds))
    return Part("Dashboard: live sessions", METHOD, tables, remarks)


METHOD = (
    "`outrider mcp` with its dashboard on loopback. One Chromium is the session, and another one on the same machine "
    "shows the dashboard at 1280 × 800 and medium quality. A picture's age is the time from the script that changes "
    "the page to the first picture of it in the dashboard's window. An input's age is the time from the event in the "
    "dashboard to the event in the page. Processor time is that of Outrider and of the sessions' browser, while the "
    "page changes ten times a second; the viewer's browser is not counted. The agent's task is a navigation, "
    "snapshots, typing and clicks over MCP, watched and not watched in turns; here the viewer's browser takes its "
    "share of the machine."
)


class House(Server):
    """`outrider mcp` in a home of its own."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        environ = {
            "HOME": self.folder.name,
            "OUTRIDER_DATA_DIR": self.folder.name,
            "OUTRIDER_DASHBOARD__TOKEN": TOKEN,
            "OUTRIDER_EGRESS__ALLOW": f'["{url.removeprefix("http://")}"]',
            "OUTRIDER_TOOLS__STAKES": '{"inject_javascript": "never_ask"}',
        }
        super().__init__(outrider("--toolsets", "browser,browser_script"), **environ)

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self.folder.cleanup()

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """A tool's answer."""
        answer = self.request("tools/call", {"name": tool, "arguments": arguments})
        assert not answer.get("isError"), answer
        return answer

    def open(self) -> str:
        """A session on the page."""
        return self.call("createSession", url=self.url)["structuredContent"]["sessionId"]

    def js(self, session: str, code: str) -> Any:
        """What a script returns in a session's page."""
        text = self.call("inject_javascript", sessionId=session, script=code)["content"][0]["text"]
        return json.loads(next(line for line in text.splitlines() if not line.startswith("<")))

    @property
    def place(self) -> str:
        """Where the dashboard is, with its token."""
        deadline = time.monotonic() + 60
        while not (found := list_running(Path(self.folder.name))):
            assert time.monotonic() < deadline, "there is no dashboard"
            time.sleep(0.05)
        return found[0].place

    def used(self) -> tuple[float, float]:
        """Processor seconds so far: of Outrider alone, and of the browsers below it."""
        below = sum(_cpu(each) for each in family(self.pid) if each != self.pid)
        return _cpu(self.pid), below


class Handler(PageHandler):
    def page(self) -> str:
        return PAGE


@contextmanager
def site() -> Generator[str]:
    """The page."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@asynccontextmanager
async def person() -> AsyncGenerator[Browser]:
    """The browser of whoever watches."""
    running_now = await launch_browser(proxy=None)
    try:
        browser = Browser(running_now.connection)
        await browser.start()
        yield browser
    finally:
        await running_now.aclose()


@asynccontextmanager
async def watching(browser: Browser, place: str, session: str) -> AsyncGenerator[BrowserPage]:
    """A window on a live session, with a picture."""
    context, page = await open_context(browser, None)
    metrics = {"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    await page.send("Emulation.setDeviceMetricsOverride", metrics)
    await navigate_page(page, f"{place}live?session={session}&token={TOKEN}")
    await _until(page, "document.getElementById('screen').dataset.seq && !document.getElementById('take').disabled")
    try:
        yield page
    finally:
        await context.aclose()


async def _measured(house: House, turns: int, events: int, seconds: float) -> tuple[list[Measured], str]:
    async with person() as browser:
        session = house.open()
        ages = {PICTURE: await _pictures(house, browser, session, events)}
        ages[INPUT] = await _inputs(house, browser, session, events)
        used = await _used(house, browser, seconds)
        took = await _tasks(house, browser, session, turns)
    age = Measured("milliseconds", PICTURE, ages, 0)
    work = Measured("percent of a core", "Outrider, no viewer", used, 1)
    task = Measured("seconds of the agent's task", UNWATCHED, took)
    late = "; ".join(f"{name}: {_late(values):.0f} ms" for name, values in ages.items())
    return [age, work, task], f"95th percentile: {late}."


async def _pictures(house: House, browser: Browser, session: str, events: int) -> list[float]:
    """How old each change was when it could be seen."""
    async with watching(browser, house.place, session) as page:
        await page.evaluate_in("", SEEN)
        found: list[float] = []
        for _ in range(events):
            already = await page.evaluate_in("", "() => seen.length")
            await asyncio.to_thread(house.js, session, "change()")
            await _until(page, f"seen.length > {already}")
            await asyncio.sleep(random.uniform(0.02, 0.08))
        changed = await asyncio.to_thread(house.js, session, "return changes")
        seen = await page.evaluate_in("", "() => seen")
        for number, at in enumerate(changed[-events:], len(changed) - events + 1):
            drawn = next((when for level, when in seen if level == number % LEVELS and when >= at), None)
            found += [drawn - at] if drawn is not None else []
        return found


async def _inputs(house: House, browser: Browser, session: str, events: int) -> list[float]:
    """How long each press was on its way to the page."""
    async with watching(browser, house.place, session) as page:
        await page.evaluate_in("", SEEN)
        await page.evaluate_in("", "() => document.getElementById('take').click()")
        await _until(page, "document.activeElement.id === 'keys'")
        x, y = await page.evaluate_in("", POINT)
        for _ in range(events):
            await page.dispatch_mouse("click", x, y)
            await asyncio.sleep(random.uniform(0.02, 0.08))
        pressed = await page.evaluate_in("", "() => pressed")
        await page.evaluate_in("", "() => document.getElementById('take').click()")
        await _until(page, "document.getElementById('state').textContent === 'Watching'")
    heard = await asyncio.to_thread(house.js, session, "return presses")
    assert len(heard) == len(pressed) == events, (len(heard), len(pressed))
    return [float(late - early) for early, late in zip(pressed, heard, strict=True)]


async def _used(house: House, browser: Browser, seconds: float) -> dict[str, list[float]]:
    """Percent of a core while pages change ten times a second, of Outrider and of the sessions' browser."""
    sessions = [house.open() for _ in range(4)]
    for each in sessions:
        house.js(each, "setInterval(change, 100)")
    found = {}
    for name, watched in (("no viewer", 0), ("one session watched", 1), ("four sessions watched", 4)):
        pages = [watching(browser, house.place, each) for each in sessions[:watched]]
        for each in pages:
            await each.__aenter__()
        ours, theirs = await _spent(house, seconds)
        found[f"Outrider, {name}"], found[f"the sessions' browser, {name}"] = [ours], [theirs]
        for each in pages:
            await each.__aexit__(None, None, None)
    for each in sessions:
        house.call("closeSession", sessionId=each)
    return found


async def _spent(house: House, seconds: float) -> tuple[float, float]:
    before, began = house.used(), time.perf_counter()
    await asyncio.sleep(seconds)
    after, passed = house.used(), time.perf_counter() - began
    return 100 * (after[0] - before[0]) / passed, 100 * (after[1] - before[1]) / passed


async def _tasks(house: House, browser: Browser, session: str, turns: int) -> dict[str, list[float]]:
    """The same task in turns, watched and not watched."""
    took: dict[str, list[float]] = {UNWATCHED: [], WATCHED: []}
    await asyncio.to_thread(_task, house, session)
    for _ in range(turns):
        took[UNWATCHED].append(await asyncio.to_thread(_task, house, session))
        async with watching(browser, house.place, session):
            took[WATCHED].append(await asyncio.to_thread(_task, house, session))
    return took


def _task(house: House, session: str) -> float:
    began = time.perf_counter()
    house.call("navigateToUrl", sessionId=session, url=house.url)
    house.call("snapshotPage", sessionId=session)
    house.call("inputText", sessionId=session, selector="#name", text="Ada Lovelace")
    for _ in range(STEPS):
        house.call("clickElement", sessionId=session, selector="#bump")
    house.call("snapshotPage", sessionId=session)
    return time.perf_counter() - began


async def _until(page: BrowserPage, condition: str) -> None:
    look = f"""() => new Promise((done) => {{
        const look = () => {{ if ({condition}) done(true); else setTimeout(look, 5); }};
        look();
    }})"""
    await page.evaluate_in("", look, timeout=60)


def _late(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


def _cpu(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS
