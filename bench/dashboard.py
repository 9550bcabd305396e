"""Measure live sessions: the age of pictures and inputs, and how much viewers slow an agent."""

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

from bench.page_servers import PageHandler
from bench.peers import build_outrider_command
from bench.process_tree import find_processes
from bench.stdio_server import TICKS_PER_SECOND, StdioServer
from bench.tables import Comparison, Part
from outrider.browser.page.navigate import navigate_page
from outrider.browser.process.browser import Browser
from outrider.browser.process.context import open_context
from outrider.browser.process.launch import launch_browser
from outrider.browser.protocol.page import BrowserPage
from outrider.dashboard.address import list_running

DASHBOARD_TOKEN = "0123456789abcdef" * 2
WATCHED, NOT_WATCHED = "watched", "not watched"
PICTURE, INPUT = "page changes → picture drawn", "click in the dashboard → event on the page"
TURN_COUNT, EVENT_COUNT, LOAD_SECONDS = 9, 120, 10.0
GREY_LEVELS = 8
# The colour encodes the number of the change; the last ones can be queried.
PAGE_HTML = f"""<!doctype html><html lang=en><head><meta charset=utf-8><title>Lights</title>
<style>body {{ margin: 0; font: 20px sans-serif }} #light {{ width: 1200px; height: 500px }}</style></head><body>
<div id=light></div><button id=bump onclick="count.textContent = 1 + +count.textContent">Bump</button>
<output id=count>0</output><label>Name <input id=name></label>
<script>
globalThis.changes = []; globalThis.presses = [];
addEventListener('mousedown', () => presses.push(Date.now()), true);
globalThis.change = () => {{
  const level = (changes.length + 1) % {GREY_LEVELS};
  light.style.background = `rgb(${{level * 30}}, ${{level * 30}}, ${{level * 30}})`;
  changes.push(Date.now());
}};
</script></body></html>"""
# The time of each level, one animation frame after it was drawn, when it is visible.
RECORD_PICTURES_SCRIPT = f"""() => {{
  const canvas = document.getElementById('screen'), context = canvas.getContext('2d');
  globalThis.seen = []; globalThis.pressed = []; let last = -1;
  new MutationObserver(() => {{
    const level = Math.round(context.getImageData(canvas.width / 2, 100, 1, 1).data[0] / 30) % {GREY_LEVELS};
    if (level !== last) {{ last = level; requestAnimationFrame(() => seen.push([level, Date.now()])); }}
  }}).observe(canvas, {{attributes: true, attributeFilter: ['data-seq']}});
  canvas.addEventListener('pointerdown', () => pressed.push(Date.now()), true);
}}"""


FIND_POINT_SCRIPT = """() => {
  const box = document.getElementById('screen').getBoundingClientRect();
  return [box.x + box.width / 2, box.y + 40];
}"""


def run(*, quick: bool) -> Part:
    method = (
        "`outrider mcp` with its dashboard on loopback. One Chromium runs the session, and another one on the same "
        "machine shows the dashboard at 1280 × 800 and medium quality. A picture's age is the time from the script "
        "that changes the page to the first picture of it in the dashboard's window. An input's age is the time from "
        "the event in the dashboard to the event in the page. Processor time is that of Outrider and of the "
        "sessions' browser, while the page changes ten times a second; the viewer's browser is not counted. The "
        "agent's task is a navigation, snapshots, typing and clicks over MCP, watched and not watched in turns; here "
        "the viewer's browser takes its share of the machine."
    )
    turns, events, seconds = (2, 10, 2.0) if quick else (TURN_COUNT, EVENT_COUNT, LOAD_SECONDS)
    with serve_page() as url, DashboardServer(url) as server:
        tables, remarks = asyncio.run(_measure_all(server, turns, events, seconds))
    return Part("Dashboard: live sessions", method, tables, remarks)


class DashboardServer(StdioServer):
    """`outrider mcp` with its own home folder."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        environ = {
            "HOME": self.folder.name,
            "OUTRIDER_DATA_DIR": self.folder.name,
            "OUTRIDER_DASHBOARD__TOKEN": DASHBOARD_TOKEN,
            "OUTRIDER_EGRESS__ALLOW": f'["{url.removeprefix("http://")}"]',
            "OUTRIDER_TOOLS__STAKES": '{"inject_javascript": "never_ask"}',
        }
        super().__init__(build_outrider_command("--toolsets", "browser,browser_script"), **environ)

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self.folder.cleanup()

    def call_tool(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its answer."""
        answer = self.send_request("tools/call", {"name": tool, "arguments": arguments})
        assert not answer.get("isError"), answer
        return answer

    def create_session(self) -> str:
        """Open a session on the page, and return its id."""
        return self.call_tool("createSession", url=self.url)["structuredContent"]["sessionId"]

    def run_script(self, session: str, code: str) -> Any:
        """Run a script in a session's page, and return its result."""
        text = self.call_tool("inject_javascript", sessionId=session, script=code)["content"][0]["text"]
        return json.loads(next(line for line in text.splitlines() if not line.startswith("<")))

    @property
    def dashboard_url(self) -> str:
        """Return the dashboard's address."""
        deadline = time.monotonic() + 60
        while not (found := list_running(Path(self.folder.name))):
            assert time.monotonic() < deadline, "the dashboard did not start in 60 s"
            time.sleep(0.05)
        return found[0].place

    def read_cpu_by_part(self) -> tuple[float, float]:
        """Return the CPU seconds so far of Outrider, and of the browsers below it."""
        below = sum(_read_process_cpu(each) for each in find_processes(self.pid) if each != self.pid)
        return _read_process_cpu(self.pid), below


class LightsHandler(PageHandler):
    def build_page(self) -> str:
        return PAGE_HTML


@contextmanager
def serve_page() -> Generator[str]:
    """Serve the page; yields its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), LightsHandler) as site:
        Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{site.server_port}"
        site.shutdown()


@asynccontextmanager
async def launch_viewer() -> AsyncGenerator[Browser]:
    """Launch the viewer's browser."""
    running_now = await launch_browser(proxy=None)
    try:
        browser = Browser(running_now.connection)
        await browser.start()
        yield browser
    finally:
        await running_now.aclose()


@asynccontextmanager
async def open_live_view(browser: Browser, place: str, session: str) -> AsyncGenerator[BrowserPage]:
    """Open a live session, and wait for its first picture."""
    context, page = await open_context(browser, None)
    metrics = {"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    await page.send("Emulation.setDeviceMetricsOverride", metrics)
    await navigate_page(page, f"{place}live?session={session}&token={DASHBOARD_TOKEN}")
    await _wait_until(
        page, "document.getElementById('screen').dataset.seq && !document.getElementById('take').disabled"
    )
    try:
        yield page
    finally:
        await context.aclose()


async def _measure_all(
    server: DashboardServer, turns: int, events: int, seconds: float
) -> tuple[list[Comparison], str]:
    async with launch_viewer() as browser:
        session = server.create_session()
        ages = {PICTURE: await _measure_picture_ages(server, browser, session, events)}
        ages[INPUT] = await _measure_input_ages(server, browser, session, events)
        used = await _measure_load(server, browser, seconds)
        duration = await _measure_tasks(server, browser, session, turns)
    age = Comparison("milliseconds", PICTURE, ages, 0)
    work = Comparison("percent of a core", "Outrider, no viewer", used, 1)
    task = Comparison("seconds of the agent's task", NOT_WATCHED, duration)
    late = "; ".join(f"{name}: {_compute_percentile_95(values):.0f} ms" for name, values in ages.items())
    return [age, work, task], f"95th percentile: {late}."


async def _measure_picture_ages(server: DashboardServer, browser: Browser, session: str, events: int) -> list[float]:
    """Return the age in milliseconds at which each change could be seen."""
    async with open_live_view(browser, server.dashboard_url, session) as page:
        await page.evaluate_in("", RECORD_PICTURES_SCRIPT)
        found: list[float] = []
        for _ in range(events):
            already = await page.evaluate_in("", "() => seen.length")
            await asyncio.to_thread(server.run_script, session, "change()")
            await _wait_until(page, f"seen.length > {already}")
            await asyncio.sleep(random.uniform(0.02, 0.08))
        changed = await asyncio.to_thread(server.run_script, session, "return changes")
        seen = await page.evaluate_in("", "() => seen")
        for number, at in enumerate(changed[-events:], len(changed) - events + 1):
            drawn = next((when for level, when in seen if level == number % GREY_LEVELS and when >= at), None)
            found += [drawn - at] if drawn is not None else []
        return found


async def _measure_input_ages(server: DashboardServer, browser: Browser, session: str, events: int) -> list[float]:
    """Return the milliseconds that each press took to the page."""
    async with open_live_view(browser, server.dashboard_url, session) as page:
        await page.evaluate_in("", RECORD_PICTURES_SCRIPT)
        await page.evaluate_in("", "() => document.getElementById('take').click()")
        await _wait_until(page, "document.activeElement.id === 'keys'")
        x, y = await page.evaluate_in("", FIND_POINT_SCRIPT)
        for _ in range(events):
            await page.dispatch_mouse("click", x, y)
            await asyncio.sleep(random.uniform(0.02, 0.08))
        pressed = await page.evaluate_in("", "() => pressed")
        await page.evaluate_in("", "() => document.getElementById('take').click()")
        await _wait_until(page, "document.getElementById('state').textContent === 'Watching'")
    heard = await asyncio.to_thread(server.run_script, session, "return presses")
    assert len(heard) == len(pressed) == events, (len(heard), len(pressed))
    return [float(late - early) for early, late in zip(pressed, heard, strict=True)]


async def _measure_load(server: DashboardServer, browser: Browser, seconds: float) -> dict[str, list[float]]:
    """Return the percentage of a core while pages change ten times a second."""
    sessions = [server.create_session() for _ in range(4)]
    for each in sessions:
        server.run_script(each, "setInterval(change, 100)")
    found = {}
    for name, watched in (("no viewer", 0), ("one session watched", 1), ("four sessions watched", 4)):
        pages = [open_live_view(browser, server.dashboard_url, each) for each in sessions[:watched]]
        for each in pages:
            await each.__aenter__()
        ours, theirs = await _measure_cpu_share(server, seconds)
        found[f"Outrider, {name}"], found[f"the sessions' browser, {name}"] = [ours], [theirs]
        for each in pages:
            await each.__aexit__(None, None, None)
    for each in sessions:
        server.call_tool("closeSession", sessionId=each)
    return found


async def _measure_cpu_share(server: DashboardServer, seconds: float) -> tuple[float, float]:
    before, started = server.read_cpu_by_part(), time.perf_counter()
    await asyncio.sleep(seconds)
    after, passed = server.read_cpu_by_part(), time.perf_counter() - started
    return 100 * (after[0] - before[0]) / passed, 100 * (after[1] - before[1]) / passed


async def _measure_tasks(server: DashboardServer, browser: Browser, session: str, turns: int) -> dict[str, list[float]]:
    """Measure the same task in turns, watched and not watched."""
    duration: dict[str, list[float]] = {NOT_WATCHED: [], WATCHED: []}
    await asyncio.to_thread(_run_task, server, session)
    for _ in range(turns):
        duration[NOT_WATCHED].append(await asyncio.to_thread(_run_task, server, session))
        async with open_live_view(browser, server.dashboard_url, session):
            duration[WATCHED].append(await asyncio.to_thread(_run_task, server, session))
    return duration


def _run_task(server: DashboardServer, session: str) -> float:
    clicks_per_task = 12  # clicks of the agent's task
    started = time.perf_counter()
    server.call_tool("navigateToUrl", sessionId=session, url=server.url)
    server.call_tool("snapshotPage", sessionId=session)
    server.call_tool("inputText", sessionId=session, selector="#name", text="Ada Lovelace")
    for _ in range(clicks_per_task):
        server.call_tool("clickElement", sessionId=session, selector="#bump")
    server.call_tool("snapshotPage", sessionId=session)
    return time.perf_counter() - started


async def _wait_until(page: BrowserPage, condition: str) -> None:
    look = f"""() => new Promise((done) => {{
        const look = () => {{ if ({condition}) done(true); else setTimeout(look, 5); }};
        look();
    }})"""
    await page.evaluate_in("", look, timeout=60)


def _compute_percentile_95(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


def _read_process_cpu(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND
