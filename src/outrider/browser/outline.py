"""The lines of a snapshot: what to keep of them, how much, and which speak of what."""

import re
from dataclasses import dataclass

from outrider.browser.scripts import REF

DEFAULT_CHARS = 12_000
LONGEST_LINE = 2_000
MENTION = re.compile(rf"(?<=[ <(\[])({REF.pattern})(?=[ >\])]|$)")


@dataclass(frozen=True)
class Piece:
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


def limited(lines: list[str], limit: int = DEFAULT_CHARS, offset: int = 0) -> Piece:
    """As many whole lines from `offset` on as fit into `limit` characters, at least one."""
    start = min(max(offset, 0), len(lines))
    end, size = start, 0
    while end < len(lines) and (end == start or size + len(lines[end]) + 1 <= limit):
        size += min(len(lines[end]), LONGEST_LINE) + 1
        end += 1
    kept = [line if len(line) <= max(limit, LONGEST_LINE) else f"{line[:LONGEST_LINE]}…" for line in lines[start:end]]
    return Piece("\n".join(kept), start, end - start, len(lines))


def mentioned(line: str) -> list[str]:
    """The references in a line, in order."""
    return [match.group(1) for match in MENTION.finditer(line)]


def depth(line: str) -> int:
    """How deep a line is nested."""
    return len(line) - len(line.lstrip(" "))


def interactive(lines: list[str]) -> list[str]:
    """The lines that something can be done with, under the headings and landmarks that they belong to."""
    kept = [bool(MENTION.search(line)) for line in lines]
    return _with_parents(lines, kept, headings=True)


def found(lines: list[str], text: str) -> list[str]:
    """The lines that hold a text, whatever its case, with what stands around them."""
    wanted = " ".join(text.casefold().split())
    return _with_parents(lines, [wanted in line.casefold() for line in lines], headings=True)


def _with_parents(lines: list[str], kept: list[bool], *, headings: bool) -> list[str]:
    chosen = list(kept)
    open_at: list[int] = []
    heading = -1
    for number, line in enumerate(lines):
        level = depth(line)
        while open_at and depth(lines[open_at[-1]]) >= level:
            open_at.pop()
        if kept[number]:
            for each in open_at:
                chosen[each] = True
            if headings and heading >= 0:
                chosen[heading] = True
        open_at.append(number)
        heading = number if line.lstrip().startswith("#") else heading
    return [line for line, keep in zip(lines, chosen, strict=True) if keep]
