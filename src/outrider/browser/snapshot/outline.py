"""The lines of a snapshot: what to keep of them, how much, and which speak of what."""

import re
from dataclasses import dataclass

from outrider.browser.protocol.scripts import REF_PATTERN

DEFAULT_SNAPSHOT_CHARS = 12_000
REF_MENTION_PATTERN = re.compile(rf"(?<=[ <(\[])({REF_PATTERN.pattern})(?=[ >\])]|$)")


@dataclass(frozen=True)
class OutlineSlice:
    """Some lines of an outline.

    Attributes:
        text: The lines, joined.
        offset: The number of the first one, from 0.
        shown: How many lines these are.
        total: How many there are in all.
    """

    text: str
    offset: int
    shown: int
    total: int

    @property
    def next_offset(self) -> int | None:
        """The line to read on from; None at the end."""
        end = self.offset + self.shown
        return end if end < self.total else None

    def __str__(self) -> str:
        if self.next_offset is None:
            return self.text
        left = self.total - self.next_offset
        return f"{self.text}\n… cut here, {left} more lines: read on with offset={self.next_offset}"


def limit_lines(lines: list[str], limit: int = DEFAULT_SNAPSHOT_CHARS, offset: int = 0) -> OutlineSlice:
    """As many whole lines from `offset` on as fit into `limit` characters, at least one."""
    max_line_chars = 2_000
    start = min(max(offset, 0), len(lines))
    end, size = start, 0
    while end < len(lines) and (end == start or size + len(lines[end]) + 1 <= limit):
        size += min(len(lines[end]), max_line_chars) + 1
        end += 1
    kept = [
        line if len(line) <= max(limit, max_line_chars) else f"{line[:max_line_chars]}…" for line in lines[start:end]
    ]
    return OutlineSlice("\n".join(kept), start, end - start, len(lines))


def find_refs(line: str) -> list[str]:
    """The references in a line, in order."""
    return [match.group(1) for match in REF_MENTION_PATTERN.finditer(line)]


def measure_depth(line: str) -> int:
    """How deep a line is nested."""
    return len(line) - len(line.lstrip(" "))


def filter_interactive(lines: list[str]) -> list[str]:
    """The lines that something can be done with, under the headings and landmarks that they belong to."""
    kept = [bool(REF_MENTION_PATTERN.search(line)) for line in lines]
    return _keep_with_parents(lines, kept, headings=True)


def filter_matching(lines: list[str], text: str) -> list[str]:
    """The lines that hold a text, whatever its case, with what stands around them."""
    wanted = " ".join(text.casefold().split())
    return _keep_with_parents(lines, [wanted in line.casefold() for line in lines], headings=True)


def _keep_with_parents(lines: list[str], kept: list[bool], *, headings: bool) -> list[str]:
    chosen = list(kept)
    open_at: list[int] = []
    heading = -1
    for number, line in enumerate(lines):
        level = measure_depth(line)
        while open_at and measure_depth(lines[open_at[-1]]) >= level:
            open_at.pop()
        if kept[number]:
            for each in open_at:
                chosen[each] = True
            if headings and heading >= 0:
                chosen[heading] = True
        open_at.append(number)
        heading = number if line.lstrip().startswith("#") else heading
    return [line for line, keep in zip(lines, chosen, strict=True) if keep]
