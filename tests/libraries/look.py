"""Compare the outlines with the visible words and controls of the pages: `make libraries`."""

import argparse
import re
import sys
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
from tests.libraries.library import Library, bundle, find_libraries

from failures.failure_site import PAGE_FOLDER, load_url
from outrider.browser.process.browser import Browser
from outrider.browser.process.launch import launch_browser
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.refs import unescape_refs
from outrider.browser.protocol.scripts import ISOLATED_WORLD, PageScripts
from outrider.browser.snapshot.outline import find_refs
from outrider.browser.snapshot.snapshot import Snapshotter

ORACLE = (PAGE_FOLDER / "gallery" / "oracle.js").read_text("utf-8")
JUDGE = f"(refs) => ({ORACLE})((each) => refs.some((ref) => outrider.elementOf(ref) === each))"
WORD = re.compile(r"[^\W_]+")
DRAWING_TIME_S = 1.0


@dataclass(frozen=True)
class Seen:
    """How much of a page its outline shows.

    Attributes:
        words: Number of visible words and of those in fields.
        lost: Words that the outline lacks.
        operable: Number of elements that can be operated.
        unreferred: The markup of operable elements without a reference.
    """

    library: str
    words: int
    lost: list[str]
    operable: int
    unreferred: list[str]


def main() -> int:
    libraries = find_libraries()
    options = argparse.ArgumentParser(prog="python -m tests.libraries.look", description=__doc__)
    options.add_argument("libraries", nargs="*", choices=[[], *libraries], help="all if none is named")
    given = options.parse_args()
    seen = anyio.run(_look_at_all, [libraries[name] for name in given.libraries or libraries])
    print("\n".join(format_table(seen)))
    return any(each.lost or each.unreferred for each in seen)


async def _look_at_all(libraries: list[Library]) -> list[Seen]:
    seen = []
    async with open_page() as page:
        for library in libraries:
            bundle(library.folder)
            with library.serve() as server:
                seen.append(each := await look_at(library.name, page, server.url))
            print(f"{each.library}: lost {each.lost}, without a reference {each.unreferred}", flush=True)
    return seen


@asynccontextmanager
async def open_page() -> AsyncGenerator[BrowserPage]:
    """Launch a browser and yield its page."""
    running = await launch_browser(proxy=None)
    try:
        browser = Browser(running.connection)
        await browser.start()
        yield await browser.new_page()
    finally:
        await running.aclose()


async def look_at(name: str, page: BrowserPage, url: str) -> Seen:
    """Open a page and compare its outline with the page itself."""
    await load_url(page, url)
    await anyio.sleep(DRAWING_TIME_S)  # fonts and measured layouts
    snapshot = await Snapshotter(page, PageScripts(page)).take_snapshot("full", limit=1_000_000)
    refs = [ref for line in snapshot.piece.text.split("\n") for ref in find_refs(line)]
    told = await page.evaluate_in(ISOLATED_WORLD, JUDGE, refs)
    lost = Counter(told["words"]) - Counter(WORD.findall(unescape_refs(snapshot.piece.text).lower()))
    return Seen(name, len(told["words"]), sorted(lost.elements()), told["operable"], told["unreferred"])


def format_table(seen: list[Seen]) -> list[str]:
    """Return the rows of a table in Markdown: one per library, and their sum."""
    head = ["| library | words | in the outline | operable elements | with a reference |", "|---|---:|---:|---:|---:|"]
    return [*head, *(_format_row(each.library, [each]) for each in seen), _format_row("all", seen)]


def _format_row(name: str, seen: list[Seen]) -> str:
    words, operable = sum(each.words for each in seen), sum(each.operable for each in seen)
    shown = words - sum(len(each.lost) for each in seen)
    referred = operable - sum(len(each.unreferred) for each in seen)
    return f"| {name} | {words} | {shown} | {operable} | {referred} |"


if __name__ == "__main__":
    sys.exit(main())
