"""Compare browser tools with those of other MCP servers, on the same Chromium and pages."""

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median
from typing import Any

from bench.browser_memory import count_leftover_processes, measure_parked_session, measure_sessions
from bench.browser_peers import CONTENDERS, Contender, Outrider, Playwright
from bench.page_servers import run_site
from bench.tables import Comparison, Part
from outrider.core.text import count_tokens

OUTRIDER = Outrider.name
PAGE_PATHS = ("/form", "/article", "/table", "/spa", "/frames", "/login", "/shop")
TURNS = 7


@dataclass(frozen=True)
class PageGrid:
    """A figure of each contender on each page, with its ratio to the baseline."""

    what: str
    baseline: str
    values: Mapping[str, Mapping[str, Sequence[float]]]
    digits: int = 0

    def render_table(self) -> str:
        """Render the grid as Markdown."""
        pages = list(next(iter(self.values.values())))
        lines = [f"| {self.what} | {' | '.join(pages)} |", f"|---|{'---:|' * len(pages)}"]
        for name, found in self.values.items():
            lines.append(f"| {name} | {' | '.join(self._render_cell(name, page) for page in found)} |")
        return "\n".join(lines)

    def _render_cell(self, name: str, page: str) -> str:
        values = self.values[name][page]
        return f"{median(values):,.{self.digits}f} ({self.compute_ratio(name, page):.2f})" if values else ""

    def compute_ratio(self, name: str, page: str) -> float:
        """Divide the median by that of the baseline."""
        return median(self.values[name][page]) / median(self.values[self.baseline][page])


def run(*, quick: bool) -> Part:
    method = (
        "Four MCP servers over stdio with their defaults, headless, on the same Chromium. They take turns on the "
        "same pages: a registration form, an article of 108 paragraphs, a table of 2,000 rows with three controls "
        "each, a board that a script draws, frames with a shadow root, a sign-in, and a shop of 48 products. Tokens "
        "are those of the answers' text in the o200k vocabulary. Snapshots show the whole page unless noted. "
        "Outrider returns the table in parts: its time is that of the first part, and its tokens are those of all "
        "parts. Numbers in brackets are ratios."
    )
    session_count = 20
    turns = 2 if quick else TURNS
    with run_site("bench.browser_site") as url:
        with ExitStack() as stack:
            started = [stack.enter_context(kind(url)) for kind in CONTENDERS]
            tables: list[Any] = [*compare_snapshots(started, turns), *compare_actions(started, turns)]
            tables += [compare_walks(started), compare_tool_lists(started)]
            kept = describe_visible_words(started)
        if sys.platform.startswith("linux"):
            tables += compare_memory(url, 3 if quick else session_count)
            remains = ", ".join(f"{name} {count}" for name, count in count_leftover_processes(url).items())
            kept += f"\n\nProcesses still running five seconds after `kill -9` of the server: {remains}."
    return Part("Browser", method, tables, kept)


def compare_snapshots(started: Sequence[Contender], turns: int) -> list[PageGrid]:
    """Measure how long snapshots take and how long they are."""
    outrider_viewport = "outrider mcp, viewport"
    looks = {each.name: each.take_snapshot for each in started} | {
        outrider_viewport: _find_outrider(started).take_viewport_snapshot
    }
    by_name = {each.name: each for each in started} | {outrider_viewport: _find_outrider(started)}
    duration: dict[str, dict[str, list[float]]] = {name: {} for name in looks}
    long: dict[str, dict[str, list[float]]] = {name: {} for name in looks}
    for page in PAGE_PATHS:
        for each in started:
            each.open_page(page)
        for turn in range(min(turns, 3) + 1 if page == "/table" else turns + 1):
            for name, look in looks.items():
                text = look()
                if turn:  # the first snapshot installs the scripts
                    duration[name].setdefault(page, []).append(by_name[name].took)
                    long[name].setdefault(page, []).append(count_tokens(text))
        whole = count_tokens(_find_outrider(started).take_full_snapshot())
        long[OUTRIDER][page] = [whole]
    return [
        PageGrid("milliseconds of a snapshot", OUTRIDER, duration, 1),
        PageGrid("tokens of a snapshot", OUTRIDER, long),
    ]


def _find_outrider(started: Sequence[Contender]) -> Outrider:
    return next(each for each in started if isinstance(each, Outrider))


def compare_actions(started: Sequence[Contender], turns: int) -> list[Comparison | PageGrid]:
    """Measure how long actions take and how long their answers are."""
    outrider_unsettled = "outrider mcp, settle: false"
    kinds: dict[str, Callable[[Contender], str]] = {
        "go to the form": lambda each: each.open_page("/form"),
        "click a button": lambda each: each.click_control("Bump"),
        "type into a field": lambda each: each.fill_field("Street", "Long Lane"),
        "screenshot": lambda each: each.take_screenshot(),
    }
    duration: dict[str, dict[str, list[float]]] = {each.name: {kind: [] for kind in kinds} for each in started}
    long: dict[str, dict[str, list[float]]] = {each.name: {} for each in started}
    quick: list[float] = []
    for turn in range(turns + 1):
        for each in started:
            each.open_page("/login")
            for kind, act in kinds.items():
                answer, took_now = act(each), each.took
                if kind.startswith("go"):
                    each.take_snapshot()
                if turn:
                    duration[each.name][kind].append(took_now)
                    if kind.startswith(("click", "type")):
                        long[each.name].setdefault(kind, []).append(count_tokens(answer))
        ours = _find_outrider(started)
        ours.click_control("Bump", settle=False)
        quick.append(ours.took)
    duration[outrider_unsettled] = {kind: quick[1:] if kind.startswith("click") else [] for kind in kinds}
    return [
        PageGrid("milliseconds of an action", OUTRIDER, duration, 1),
        PageGrid("tokens of its answer", OUTRIDER, long),
    ]


def compare_walks(started: Sequence[Contender]) -> Comparison:
    """Count the tokens of a purchase, with the necessary snapshots."""
    return Comparison(
        "tokens of a walk through the shop",
        OUTRIDER,
        {each.name: [_count_walk_tokens(each)] for each in started},
        digits=0,
    )


def _count_walk_tokens(each: Contender) -> int:
    def count_answer_tokens(said: str) -> int:
        return count_tokens(said) + (0 if each.shows else count_tokens(each.take_snapshot()))

    total = count_tokens(each.open_page("/shop")) + count_tokens(
        each.take_viewport_snapshot() if isinstance(each, Outrider) else each.take_snapshot()
    )
    total += count_answer_tokens(each.submit_form("Search the shop", "lamp"))
    total += count_answer_tokens(each.click_control("Winter lamp 12"))
    total += count_answer_tokens(each.click_control("Add to cart"))
    return total + count_answer_tokens(each.click_control("Checkout"))


def compare_tool_lists(started: Sequence[Contender]) -> Comparison:
    """Count the tokens of the tools' descriptions."""
    counted = {
        each.name: [
            float(count_tokens(json.dumps(each.server.list_tools(), ensure_ascii=False, separators=(",", ":"))))
        ]
        for each in started
    }
    return Comparison("tokens of the tools", OUTRIDER, counted, digits=0)


def describe_visible_words(started: Sequence[Contender]) -> str:
    """Describe the share of a page's rendered words that a snapshot shows, and the tokens of the words alone."""
    browser = next(each for each in started if isinstance(each, Playwright))
    shares, alone = [], []
    ours = _find_outrider(started)
    for page in PAGE_PATHS:
        browser.open_page(page)
        ours.open_page(page)
        answer = browser.read_visible_text()
        rendered = next(line for line in answer.split("\n") if line.startswith('"'))
        visible = _count_words(text := json.loads(rendered))
        alone.append(f"{page} {count_tokens(text):,}")
        untold = visible - _count_words(ours.take_full_snapshot())
        shares.append(f"{page} {1 - untold.total() / visible.total():.2%}")
    return (
        f"Share of the visible words in Outrider's snapshots: {', '.join(shares)}.\n\n"
        f"Tokens of the visible text alone, without a reference, role or value: {', '.join(alone)}."
    )


def _count_words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))


def compare_memory(url: str, count: int) -> list[Comparison]:
    """Measure the memory of many sessions, and of one that is parked."""
    memory = {name: [value] for name, value in measure_sessions(url, count).items()}
    return [
        Comparison(f"megabytes of {count} sessions with the form", OUTRIDER, memory, digits=0),
        Comparison(
            "megabytes of one more session that is parked",
            OUTRIDER,
            {OUTRIDER: [measure_parked_session(url)]},
            digits=1,
        ),
    ]
