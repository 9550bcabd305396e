"""Pieces of Markdown that can be read by themselves: code that was cut is fenced again, rows have their heading."""

import re
from dataclasses import dataclass

from outrider.core.text import TextSlice, cut_text

CODE_FENCE = re.compile(r"^([ \t>]{0,40})(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})([^`\n]{0,100})$", re.MULTILINE)
TABLE_RULE = re.compile(r"^[ \t>]{0,40}\|(?: *:?-{3,}:? *\|)+[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class MarkdownFrame:
    """What stands before and behind a piece so that it is well-formed; each may be empty."""

    before: str = ""
    after: str = ""

    def wrap(self, piece: str) -> str:
        """The piece in its frame."""
        return f"{self.before}{piece}{self.after}"


def find_markdown_frame(markdown: str, start: int, end: int) -> MarkdownFrame:
    """The frame of `markdown[start:end]`: the fence and the table's heading that it lies in, said again."""
    opened = _find_open_fence(markdown, start)
    closed = _find_open_fence(markdown, end)
    before = f"{opened.group(0).strip()}\n" if opened else _find_table_heading(markdown, start)
    if not closed:
        return MarkdownFrame(before)
    line = "" if markdown[max(start, end - 1) : end] == "\n" else "\n"
    return MarkdownFrame(before, f"{line}{closed[1] if not opened else ''}{closed[2]}")


def find_code_blocks(markdown: str) -> list[tuple[int, int]]:
    """Begin and end of each listing between fences; one that is never closed goes to the end."""
    found: list[tuple[int, int]] = []
    opened: re.Match[str] | None = None
    for line in CODE_FENCE.finditer(markdown):
        if opened is None:
            opened = line
        elif _is_closing_fence(line, opened):
            found.append((opened.start(), line.end()))
            opened = None
    return [*found, (opened.start(), len(markdown))] if opened else found


def _is_closing_fence(line: re.Match[str], opened: re.Match[str]) -> bool:
    return line[2].startswith(opened[2]) and not line[3].strip()


def cut_markdown(markdown: str, limit: int, offset: int = 0) -> tuple[TextSlice, str]:
    """A piece as `cut` makes it, and the piece in its frame, which is no longer than `limit` characters either.

    The pieces join to the whole, their frames do not count for offsets. Where the frame would take half of the limit
    there is none.
    """
    piece = cut_text(markdown, limit, offset)
    whole = find_markdown_frame(markdown, piece.offset, piece.offset + len(piece.text))
    room = limit - len(whole.before) - len(whole.after)
    if room * 2 < limit:
        return piece, piece.text
    while len(whole.wrap(piece.text)) > limit and room * 2 >= limit:
        piece = cut_text(markdown, room, offset)
        whole = find_markdown_frame(markdown, piece.offset, piece.offset + len(piece.text))
        room -= 8
    shown = whole.wrap(piece.text)
    return (piece, shown) if len(shown) <= limit else (piece, piece.text)


def _find_open_fence(markdown: str, place: int) -> re.Match[str] | None:
    """The line that opened the fence in which a place lies, if it lies in one."""
    opened: re.Match[str] | None = None
    if markdown.find("```", 0, place) < 0 and markdown.find("~~~", 0, place) < 0:
        return None
    for line in CODE_FENCE.finditer(markdown, 0, place):
        if line.end() >= place and place < len(markdown) and markdown[place - 1 : place] != "\n":
            break  # the place is in the very line
        if opened is None:
            opened = line
        elif _is_closing_fence(line, opened):
            opened = None
    return opened


def _find_table_heading(markdown: str, place: int) -> str:
    """The heading and the rule of the table whose further rows begin at a place; empty if none do."""
    max_heading_chars = 600  # of a table's heading that are worth saying again
    if (
        not 0 < place < len(markdown)
        or markdown[place - 1] != "\n"
        or not markdown[place:].lstrip(" \t>").startswith("|")
    ):
        return ""
    begin = markdown.rfind("\n\n", 0, place) + 2 if "\n\n" in markdown[:place] else 0
    rule = TABLE_RULE.search(markdown, begin, place)
    if rule is None:
        return ""
    head = markdown[markdown.rfind("\n", 0, max(rule.start() - 1, 0)) + 1 : rule.end()].strip("\n")
    return f"{head}\n" if len(head) <= max_heading_chars and rule.end() < place else ""
