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

from outrider.content.chunking.chunk import Chunk
from outrider.content.chunking.line_index import LINE_END, LineIndex
from outrider.core.text import cut_text

PASSAGE_CHARS = (800, 1_200)  # characters of a passage
OVERLAP_CHARS = 180
SECTION_CHARS = 50_000  # characters after which a section ends at the next good place
MARKDOWN_FENCE = re.compile(r" {0,3}(```+|~~~+)")
MARKDOWN_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$")


class TextSection(NamedTuple):
    """A part of the text, and whether it is (a part of) a line that is too long for the splitter."""

    start: int
    end: int
    is_long_line: bool


def chunk_text(text: str, *, markdown: bool = False) -> list[Chunk]:
    """The passages of a text, in order.

    Together they leave no character out, and each begins before or where the one before ends. A fence of
    code, a table or a paragraph stays in one piece where it fits.

    Args:
        text: Of any length; ends of lines and control characters stay as they are.
        markdown: Whether its structure is Markdown.
    """
    lines, headings = LineIndex(text), HeadingIndex(text if markdown else "")
    found: list[Chunk] = []
    for start, end in _close_gaps(text, _iter_pieces(text, markdown=markdown)):
        piece = text[start:end]
        place = lines.find_line(start), lines.find_line(end - 1)
        under = headings.find_path(start + len(piece) - len(piece.lstrip()))
        found.append(Chunk(len(found), start, end, *place, piece, under))
    return found


class HeadingIndex:
    """The headings of a Markdown text, and which of them a place stands under."""

    def __init__(self, text: str) -> None:
        heading_chars = 100  # characters of a heading that are kept
        self._places: list[int] = []
        self._paths: list[str] = []
        stack: list[tuple[int, str]] = []
        for start, line, fenced in _iter_lines(text):
            found = None if fenced else MARKDOWN_HEADING.match(line[: heading_chars * 4])
            if found:
                level = len(found[1])
                stack = [*(each for each in stack if each[0] < level), (level, found[2][:heading_chars])]
                self._places.append(start)
                self._paths.append(" > ".join(title for _, title in stack if title))

    def find_path(self, offset: int) -> str:
        """The path of headings above a place, one that begins right there included."""
        index = bisect_right(self._places, offset)
        return self._paths[index - 1] if index else ""


def _iter_lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """Each line with its start, and whether it lies within a fence or is one of its ends."""
    fence, start = "", 0
    for end in [*(found.end() for found in LINE_END.finditer(text)), len(text)]:
        line = text[start:end].rstrip("\r\n")
        mark = MARKDOWN_FENCE.match(line)
        yield start, line, bool(fence or mark)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
        start = end


def _iter_pieces(text: str, *, markdown: bool) -> Iterator[tuple[int, int]]:
    """Start and end of each passage, before neighbours are fitted together."""
    for span in _iter_sections(text, markdown=markdown):
        if span.is_long_line:
            yield from _split_long_line(text, span)
        else:
            part = text[span.start : span.end]
            for offset, piece in _load_splitter(markdown=markdown).chunk_indices(part):
                yield span.start + offset, span.start + offset + len(piece)


def _iter_sections(text: str, *, markdown: bool) -> Iterator[TextSection]:
    """The text in parts that the splitter takes in good time, parted between paragraphs and never within a fence."""
    max_section_chars = 200_000  # and at the next line, good or not
    long_line_chars = 2_500  # characters beyond which a line is cut here
    begun = start = 0
    for start, line, fenced in _iter_lines(text):
        size = start - begun
        open_place = not line.strip() or (markdown and line.startswith("#"))
        if len(line) > long_line_chars:
            if size:
                yield TextSection(begun, start, is_long_line=False)
            begun = _after(text, start + len(line))
            yield TextSection(start, begun, is_long_line=True)
        elif size > max_section_chars or (size > SECTION_CHARS and open_place and not (markdown and fenced)):
            yield TextSection(begun, start, is_long_line=False)
            begun = start
    if begun < len(text):
        yield TextSection(begun, len(text), is_long_line=False)


def _after(text: str, end: int) -> int:
    found = LINE_END.match(text, end)
    return found.end() if found else end


def _split_long_line(text: str, span: TextSection) -> Iterator[tuple[int, int]]:
    """A long line in pieces that end with a sentence or a word; each begins a little before the last one's end."""
    start = span.start
    while span.end - start > PASSAGE_CHARS[1]:
        end = start + len(cut_text(text[start : min(start + PASSAGE_CHARS[1] + 1, span.end)], PASSAGE_CHARS[1]).text)
        yield start, end
        blank = text.find(" ", end - OVERLAP_CHARS, end - 1)
        start = blank + 1 if blank != -1 else end - OVERLAP_CHARS // 2
    yield start, span.end


def _close_gaps(text: str, pieces: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The pieces without gaps between them, and no CRLF parted."""
    reached = 0
    for piece in pieces:
        start, end = (_move_past_crlf(text, place) for place in piece)
        start = min(start, reached)
        if end > reached:
            yield start, end
            reached = end


def _move_past_crlf(text: str, place: int) -> int:
    return place + 1 if text[place - 1 : place + 1] == "\r\n" else place


@lru_cache(maxsize=2)
def _load_splitter(*, markdown: bool) -> "MarkdownSplitter | TextSplitter":
    return (MarkdownSplitter if markdown else TextSplitter)(PASSAGE_CHARS, overlap=OVERLAP_CHARS, trim=False)
