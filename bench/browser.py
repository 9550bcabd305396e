"""The browser's tools beside those of the browsers' MCP servers, on the same Chromium and the same local pages."""

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median
from typing import Any

from bench.browser_memory import leftovers, parked, sessions
from bench.browser_peers import CONTENDERS, Contender, Outrider, Playwright
from bench.figures import Measured, Part
from bench.sites import served_by
from outrider.core.text import count_tokens

OURS = Outrider.name
VIEW = "outrider mcp, viewport"
PAGES = ("/form", "/article", "/table", "/spa", "/frames", "/login", "/shop")
UNSETTLED = "outrider mcp, settle: false"
SESSIONS = 20
TURNS = 7


@dataclass(frozen=True)
class Grid:
    """A figure of each contender on each page, with the ratio to the yardstick's in brackets."""

    what: str
    yardstick: str
    values: Mapping[str, Mapping[str, Sequence[float]]]
    digits: int = 0

    def table(self) -> str:
        """Markdown."""
        pages = list(next(iter(self.values.values())))
        lines = [f"| {self.what} | {' | '.join(pages)} |", f"|---|{'---:|' * len(pages)}"]
        for name, found in self.values.items():
            lines.append(f"| {name} | {' | '.join(self._cell(name, page) for page in found)} |")
        return "\n".join(lines)

    def _cell(self, name: str, page: str) -> str:
        values = self.values[name][page]
        return f"{median(values):,.{self.digits}f} ({self.ratio(name, page):.2f})" if values else ""

    def ratio(self, name: str, page: str) -> float:
        """The median against the yardstick's."""
        return median(self.values[name][page]) / median(self.values[self.yardstick][page])


def run(*, quick: bool) -> Part:
    turns = 2 if quick else TURNS
    with served_by("bench.browser_site") as url:
        with ExitStack() as stack:
            started = [stack.enter_context(kind(url)) for kind in CONTENDERS]
            tables: list[Any] = [*seen(started, turns), *acted(started, turns)]
            tables += [walked(started), described(started)]
            kept = text_kept(started)
        if sys.platform.startswith("linux"):
            tables += held(url, 3 if quick else SESSIONS)
            remains = ", ".join(f"{name} {count}" for name, count in leftovers(url).items())
            kept += f"\n\nProcesses still running five seconds after `kill -9` of the server: {remains}."
    return Part("Browser", METHOD, tables, kept)


METHOD = (
    "Four MCP servers over stdio with their defaults, headless, on the same Chromium. They take turns on the same "
    "pages: a registration form, an article of 108 paragraphs, a table of 2,000 rows with three controls each, a "
    "board that a script draws, frames with a shadow root, a sign-in, and a shop of 48 products. Tokens are those of "
    "the answers' text in the o200k vocabulary. A snapshot is of the whole page unless noted. Outrider returns the "
    "table in parts: its time is that of the first part, and its tokens are those of all parts. Numbers in brackets "
    "are ratios."
)


def seen(started: Sequence[Contender], turns: int) -> list[Grid]:
    """How long snapshots take and how long they are."""
    looks = {each.name: each.look for each in started} | {VIEW: _outrider(started).view}
    by_name = {each.name: each for each in started} | {VIEW: _outrider(started)}
    took: dict[str, dict[str, list[float]]] = {name: {} for name in looks}
    long: dict[str, dict[str, list[float]]] = {name: {} for name in looks}
    for page in PAGES:
        for each in started:
            each.go(page)
        for turn in range(min(turns, 3) + 1 if page == "/table" else turns + 1):
            for name, look in looks.items():
                text = look()
                if turn:  # the first look brings the scripts
                    took[name].setdefault(page, []).append(by_name[name].took)
                    long[name].setdefault(page, []).append(count_tokens(text))
        whole = count_tokens(_outrider(started).look_on())
        long[OURS][page] = [whole]
    return [Grid("milliseconds of a snapshot", OURS, took, 1), Grid("tokens of a snapshot", OURS, long)]


def _outrider(started: Sequence[Contender]) -> Outrider:
    return next(each for each in started if isinstance(each, Outrider))


def acted(started: Sequence[Contender], turns: int) -> list[Measured | Grid]:
    """How long actions take, and how long the answers are."""
    kinds: dict[str, Callable[[Contender], str]] = {
        "go to the form": lambda each: each.go("/form"),
        "click a button": lambda each: each.click("Bump"),
        "type into a field": lambda each: each.fill("Street", "Long Lane"),
        "screenshot": lambda each: each.shot(),
    }
    took: dict[str, dict[str, list[float]]] = {each.name: {kind: [] for kind in kinds} for each in started}
    long: dict[str, dict[str, list[float]]] = {each.name: {} for each in started}
    quick: list[float] = []
    for turn in range(turns + 1):
        for each in started:
            each.go("/login")
            for kind, act in kinds.items():
                said, took_now = act(each), each.took
                if kind.startswith("go"):
                    each.look()
                if turn:
                    took[each.name][kind].append(took_now)
                    if kind.startswith(("click", "type")):
                        long[each.name].setdefault(kind, []).append(count_tokens(said))
        ours = _outrider(started)
        ours.click("Bump", settle=False)
        quick.append(ours.took)
    took[UNSETTLED] = {kind: quick[1:] if kind.startswith("click") else [] for kind in kinds}
    return [Grid("milliseconds of an action", OURS, took, 1), Grid("tokens of its answer", OURS, long)]


def walked(started: Sequence[Contender]) -> Measured:
    """A walk through the shop, looking wherever an answer does not show what has come of a step."""
    return Measured("tokens of a walk through the shop", OURS, {each.name: [_walk(each)] for each in started}, digits=0)


def _walk(each: Contender) -> int:
    def told(said: str) -> int:
        return count_tokens(said) + (0 if each.shows else count_tokens(each.look()))

    total = count_tokens(each.go("/shop")) + count_tokens(each.view() if isinstance(each, Outrider) else each.look())
    total += told(each.submit("Search the shop", "lamp"))
    total += told(each.click("Winter lamp 12"))
    total += told(each.click("Add to cart"))
    return total + told(each.click("Checkout"))


def described(started: Sequence[Contender]) -> Measured:
    """What the tools' descriptions cost in every conversation."""
    counted = {
        each.name: [float(count_tokens(json.dumps(each.server.tools(), ensure_ascii=False, separators=(",", ":"))))]
        for each in started
    }
    return Measured("tokens of the tools", OURS, counted, digits=0)


def text_kept(started: Sequence[Contender]) -> str:
    """The share of a page's words that a snapshot says; the words are what the browser itself renders."""
    browser = next(each for each in started if isinstance(each, Playwright))
    shares = []
    ours = _outrider(started)
    for page in PAGES:
        browser.go(page)
        ours.go(page)
        said = browser.text()
        rendered = next(line for line in said.split("\n") if line.startswith('"'))
        visible = _words(json.loads(rendered))
        untold = visible - _words(ours.look_on())
        shares.append(f"{page} {1 - untold.total() / visible.total():.2%}")
    return f"Share of the visible words in Outrider's snapshots: {', '.join(shares)}."


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))


def held(url: str, count: int) -> list[Measured]:
    """Memory, and what is left after a kill."""
    memory = {name: [value] for name, value in sessions(url, count).items()}
    return [
        Measured(f"megabytes of {count} sessions with the form", OURS, memory, digits=0),
        Measured("megabytes of one more session that is parked", OURS, {OURS: [parked(url)]}, digits=1),
    ]
