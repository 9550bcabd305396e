"""Cutting a text into passages for searching: along its structure, overlapping, with exact places.

Passages are of 800 to 1,200 characters and overlap by up to 15 %, as measured best for retrieval; the
splitter parts 2.5 % of code fences (recursive ones 19 to 28 %). It takes the square of a line's length,
so long lines are cut here, at the ends of their sentences.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from semantic_text_splitter import MarkdownSplitter, TextSplitter

from outrider.content.cutting.chunk import Chunk
from outrider.content.cutting.lines import ENDS, Lines
from outrider.core.text import cut

SIZE = (800, 1_200)  # characters of a passage
OVERLAP = 180
LONG_LINE = 2_500  # characters beyond which a line is cut here
SECTION = 50_000  # characters after which a section ends at the next good place
MOST = 200_000  # and at the next line, good or not
FENCE = re.compile(r" {0,3}(```+|~~~+)")
HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$")
TITLE = 100  # characters of a heading that are kept


class Span(NamedTuple):
    """A part of the text, and whether it is (a part of) a line that is too long for the splitter."""

    start: int
    end: int
    long: bool


def chunks(text: str, *, markdown: bool = False) -> list[Chunk]:
    """The passages of a text, in order.

    Together they leave no character out, and each begins before or where the one before ends. A fence of
    code, a table or a paragraph stays in one piece where it fits.

    Args:
        text: Of any length; ends of lines and control characters stay as they are.
        markdown: Whether its structure is Markdown.
    """
    lines, headings = Lines(text), Headings(text if markdown else "")
    found: list[Chunk] = []
    for start, end in _joined(text, _pieces(text, markdown=markdown)):
        piece = text[start:end]
        place = lines.at(start), lines.at(end - 1)
        under = headings.at(start + len(piece) - len(piece.lstrip()))
        found.append(Chunk(len(found), start, end, *place, piece, under))
    return found


class Headings:
    """The headings of a Markdown text, and which of them a place stands under."""

    def __init__(self, text: str) -> None:
        self._places: list[int] = []
        self._paths: list[str] = []
        stack: list[tuple[int, str]] = []
        for start, line, fenced in _lines(text):
            found = None if fenced else HEADING.match(line[: TITLE * 4])
            if found:
                level = len(found[1])
                stack = [*(each for each in stack if each[0] < level), (level, found[2][:TITLE])]
                self._places.append(start)
                self._paths.append(" > ".join(title for _, title in stack if title))

    def at(self, offset: int) -> str:
        """The path of headings above a place, one that begins right there included."""
        index = bisect_right(self._places, offset)
        return self._paths[index - 1] if index else ""


def _lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """Each line with its start, and whether it lies within a fence or is one of its ends."""
    fence, start = "", 0
    for end in [*(found.end() for found in ENDS.finditer(text)), len(text)]:
        line = text[start:end].rstrip("\r\n")
        mark = FENCE.match(line)
        yield start, line, bool(fence or mark)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
        start = end


def _pieces(text: str, *, markdown: bool) -> Iterator[tuple[int, int]]:
    """Start and end of each passage, before neighbours are fitted together."""
    for span in _sections(text, markdown=markdown):
        if span.long:
            yield from _long(text, span)
        else:
            part = text[span.start : span.end]
            for offset, piece in _splitter(markdown=markdown).chunk_indices(part):
                yield span.start + offset, span.start + offset + len(piece)


def _sections(text: str, *, markdown: bool) -> Iterator[Span]:
    """The text in parts that the splitter takes in good time, parted between paragraphs and never within a fence."""
    begun = start = 0
    for start, line, fenced in _lines(text):
        size = start - begun
        open_place = not line.strip() or (markdown and line.startswith("#"))
        if len(line) > LONG_LINE:
            if size:
                yield Span(begun, start, long=False)
            begun = _after(text, start + len(line))
            yield Span(start, begun, long=True)
        elif size > MOST or (size > SECTION and open_place and not (markdown and fenced)):
            yield Span(begun, start, long=False)
            begun = start
    if begun < len(text):
        yield Span(begun, len(text), long=False)


def _after(text: str, end: int) -> int:
    found = ENDS.match(text, end)
    return found.end() if found else end


def _long(text: str, span: Span) -> Iterator[tuple[int, int]]:
    """A long line in pieces that end with a sentence or a word; each begins a little before the last one's end."""
    start = span.start
    while span.end - start > SIZE[1]:
        end = start + len(cut(text[start : min(start + SIZE[1] + 1, span.end)], SIZE[1]).text)
        yield start, end
        blank = text.find(" ", end - OVERLAP, end - 1)
        start = blank + 1 if blank != -1 else end - OVERLAP // 2
    yield start, span.end


def _joined(text: str, pieces: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The pieces without gaps between them, and no CRLF parted."""
    reached = 0
    for piece in pieces:
        start, end = (_whole(text, place) for place in piece)
        start = min(start, reached)
        if end > reached:
            yield start, end
            reached = end


def _whole(text: str, place: int) -> int:
    return place + 1 if text[place - 1 : place + 1] == "\r\n" else place


@lru_cache(maxsize=2)
def _splitter(*, markdown: bool) -> "MarkdownSplitter | TextSplitter":
    return (MarkdownSplitter if markdown else TextSplitter)(SIZE, overlap=OVERLAP, trim=False)
