"""Get the value of each case from the package's scripts and from Chromium itself."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import groupby
from pathlib import Path
from threading import Thread
from typing import Any

from evals.names.cases import Case, Suites
from outrider.browser.page.navigate import navigate_page
from outrider.browser.process.browser import Browser
from outrider.browser.process.launch import launch_browser
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.scripts import load_source

WORLD = "names"


# The scripts are one function; here it also returns the functions that compute names and search through shadow roots.
INSTALL_SCRIPT = """() => {
  globalThis.tested = (%s)();
  const find = (root, selector) => root.querySelector(selector)
    || [...root.querySelectorAll("*")].map((each) => each.shadowRoot && find(each.shadowRoot, selector)).find(Boolean);
  globalThis.pick = (selector, index) => index === null ? find(document, selector) : document.querySelectorAll(selector)[index];
}"""


LIST_SCRIPT = """(selector, kind) => [...document.querySelectorAll(selector)].map((element) =>
  [element.getAttribute(`data-expected${kind}`), element.dataset.testname || ""])"""


ASK_SCRIPT = """(selector, index, property) => {
  const element = pick(selector, index);
  return element ? tested[property](element) : "no such element";
}"""


@dataclass(frozen=True)
class Outcome:
    """A case with the package's answer and Chromium's."""

    case: Case
    ours: str
    chromium: str

    @property
    def passes(self) -> bool:
        """Return whether the package's answer is as expected."""
        return is_expected(self.case, self.ours)

    @property
    def chromium_passes(self) -> bool:
        """Return whether Chromium's answer is as expected."""
        return is_expected(self.case, self.chromium)


# The package's one-token words for roles, Chromium's internal ones, and roles with two names in the suites.
ROLE_SYNONYMS = {
    "header": "banner", "footer": "contentinfo", "nav": "navigation", "aside": "complementary", "img": "image",
    "date": "textbox", "time": "textbox", "Date": "textbox", "InputTime": "textbox", "presentation": "generic",
    "none": "generic", "": "generic", "canvas": "generic", "Canvas": "generic", "sectionfooter": "generic",
    "sectionheader": "generic", "LayoutTableCell": "generic",
}  # fmt: skip


def is_expected(case: Case, answer: str) -> bool:
    """Compare an answer with the expected one; roles by meaning."""
    if case.property != "role":
        return answer == case.expected
    return ROLE_SYNONYMS.get(answer, answer) == ROLE_SYNONYMS.get(case.expected, case.expected)


async def measure_cases(wpt: Path, suites: Suites) -> list[Outcome]:
    """Load every page once and ask for all of its cases."""
    exports_script = (
        "return { name: (element) => computeName(element), role: computeRole, description: computeDescription };\n}"
    )
    outcomes: list[Outcome] = []
    async with _open_page() as page, _serve_pages(wpt, suites.pages) as base:
        for address, cases in groupby(suites.cases, key=lambda case: case.page):
            await navigate_page(page, f"{base}/{address}")
            await page.main.evaluate(WORLD, INSTALL_SCRIPT % load_source().removesuffix("}").__add__(exports_script))
            for case in cases:
                outcomes += await _ask_cases(page, case)
    return outcomes


async def _ask_cases(page: BrowserPage, case: Case) -> list[Outcome]:
    if case.suite.startswith(("axe", "accname manual")):
        return [await _compare_answers(page, case, None)]
    kind = case.selector.removeprefix("[data-expected").removesuffix("]")
    found = await page.main.evaluate(WORLD, LIST_SCRIPT, case.selector, kind)
    wanted = [replace(case, expected=expected, title=title) for expected, title in found]
    return [await _compare_answers(page, each, index) for index, each in enumerate(wanted)]


async def _compare_answers(page: BrowserPage, case: Case, index: int | None) -> Outcome:
    ours = await page.main.evaluate(WORLD, ASK_SCRIPT, case.selector, index, case.property)
    return Outcome(case, ours or "", await _ask_chromium(page, case, index))


async def _ask_chromium(page: BrowserPage, case: Case, index: int | None) -> str:
    """Ask Chromium through the accessibility domain of the DevTools protocol."""
    handle = await page.main.evaluate_handle(WORLD, "(selector, index) => pick(selector, index)", case.selector, index)
    params = {"objectId": handle.object_id, "fetchRelatives": False}
    node: dict[str, Any] = (await page.send("Accessibility.getPartialAXTree", params))["nodes"][0]
    return str(node.get(case.property, {}).get("value", ""))


@asynccontextmanager
async def _open_page() -> AsyncGenerator[BrowserPage]:
    running = await launch_browser(proxy=None)
    try:
        browser = Browser(running.connection)
        await browser.start()
        page = await browser.new_page()
        metrics = {"width": 1000, "height": 700, "deviceScaleFactor": 1, "mobile": False}
        await page.send("Emulation.setDeviceMetricsOverride", metrics)
        yield page
    finally:
        await running.aclose()


class _Handler(SimpleHTTPRequestHandler):
    """Serves the files of a folder and pages from memory, without a log."""

    def __init__(self, *args: Any, pages: dict[str, str], **named: Any) -> None:
        self.pages = pages
        super().__init__(*args, **named)

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        own = self.pages.get(self.path.removeprefix("/"))
        if own is None:
            super().do_GET()
            return
        body = f"<!doctype html><meta charset=utf-8>{own}".encode()
        self.send_response(200)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@asynccontextmanager
async def _serve_pages(folder: Path, pages: dict[str, str]) -> AsyncGenerator[str]:
    handler = partial(_Handler, directory=str(folder), pages=pages)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
