"""Cut and filter the lines of an outline."""

import re
from dataclasses import dataclass

from outrider.browser.protocol.refs import REF_PATTERN, unescape_refs

DEFAULT_SNAPSHOT_CHARS = 12_000
REF_MENTION_PATTERN = re.compile(rf"(?<=[ <(\[])({REF_PATTERN.pattern})(?=[ >\])]|$)")


@dataclass(frozen=True)
class OutlineSlice:
    """Consecutive lines of an outline.

    Attributes:
        text: The lines, joined.
        offset: The index of the first one.
        shown: How many lines there are in the slice.
        total: How many lines the outline has.
    """

    text: str
    offset: int
    shown: int
    total: int

    @property
    def next_offset(self) -> int | None:
        """The index of the next line; None at the end."""
        end = self.offset + self.shown
        return end if end < self.total else None

    def __str__(self) -> str:
        if self.next_offset is None:
            return self.text
        remaining = self.total - self.next_offset
        return f"{self.text}\n… cut here, {remaining} more lines: read on with offset={self.next_offset}"


def limit_lines(lines: list[str], limit: int = DEFAULT_SNAPSHOT_CHARS, offset: int = 0) -> OutlineSlice:
    """Return the whole lines from `offset` that fit into `limit` characters, at least one."""
    max_line_chars = 2_000
    longest = max(limit, max_line_chars)
    if any(len(line) > longest for line in lines):
        lines = [piece for line in lines for piece in split_line(line, longest, max_line_chars)]
    start = min(max(offset, 0), len(lines))
    end, size = start, 0
    while end < len(lines) and (end == start or size + len(lines[end]) + 1 <= limit):
        size += min(len(lines[end]), max_line_chars) + 1
        end += 1
    return OutlineSlice("\n".join(lines[start:end]), start, end - start, len(lines))


def split_line(line: str, longest: int, size: int) -> list[str]:
    """Split a line of more than `longest` characters into pieces of about `size`, between words where it has some."""
    pieces, start, prefix = [], 0, ""
    while len(line) > longest and len(line) - start > size:
        end = line.rfind(" ", start + size // 2, start + size)
        is_word_cut = end < 0
        if is_word_cut:
            # The ellipses keep what begins or ends in a word from looking like a reference.
            end = start + size
        pieces.append(f"{prefix}{line[start:end]}{'…' if is_word_cut else ''}")
        start, prefix = end + (not is_word_cut), "…" if is_word_cut else "… "
    return [*pieces, prefix + line[start:]]


def cut_line(line: str, limit: int) -> str:
    """Return the beginning of a line, without half a reference: the beginning of `e12` is another element's."""
    return re.sub(r"(?<![A-Za-z0-9_])[ef][a-z]*[0-9]*$", "", line[:limit]) + "…"


def find_refs(line: str) -> list[str]:
    """Return the references in a line, in order."""
    return [match.group(1) for match in REF_MENTION_PATTERN.finditer(line)]


def measure_depth(line: str) -> int:
    """Return the nesting depth of a line."""
    return len(line) - len(line.lstrip(" "))


def filter_interactive(lines: list[str]) -> list[str]:
    """Return the lines of actionable elements, with their headings and landmarks."""
    return _select_with_context(lines, [bool(REF_MENTION_PATTERN.search(line)) for line in lines])


def filter_matching(lines: list[str], text: str) -> list[str]:
    """Return the lines that contain a text in any case, with their headings and landmarks."""
    wanted = " ".join(text.casefold().split())
    matches = [wanted in line.casefold() or wanted in unescape_refs(line).casefold() for line in lines]
    return _select_with_context(lines, matches)


def _select_with_context(lines: list[str], matches: list[bool]) -> list[str]:
    """Return the matching lines, the lines that they are nested in, and the heading before each."""
    selected = list(matches)
    parents: list[int] = []
    heading: int | None = None
    for number, line in enumerate(lines):
        level = measure_depth(line)
        while parents and measure_depth(lines[parents[-1]]) >= level:
            parents.pop()
        if matches[number]:
            for context_line in (*parents, *([] if heading is None else [heading])):
                selected[context_line] = True
        parents.append(number)
        heading = number if line.lstrip().startswith("#") else heading
    return [line for line, is_selected in zip(lines, selected, strict=True) if is_selected]
