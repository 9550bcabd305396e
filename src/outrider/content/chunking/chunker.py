"""Split texts into overlapping passages along their structure, with exact positions.

Passages of 800 to 1,200 characters with up to 15 % overlap retrieved best. The splitter takes quadratic time in the
length of a line, so long lines are split here, at the ends of their sentences.
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

PASSAGE_CHARS = (800, 1_200)  # smallest and largest size to aim at
OVERLAP_CHARS = 180
SECTION_CHARS = 50_000  # a section ends at the next paragraph or heading outside of a fence
MARKDOWN_FENCE = re.compile(r" {0,3}(```+|~~~+)")
MARKDOWN_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$")


class TextSection(NamedTuple):
    """A part of the text; `is_long_line` if it is a line too long for the splitter."""

    start: int
    end: int
    is_long_line: bool

    def split_long_line(self, text: str) -> Iterator[tuple[int, int]]:
        """Split a long line into overlapping spans that end with a sentence or a word."""
        start, max_chars = self.start, PASSAGE_CHARS[1]
        while self.end - start > max_chars:
            end = start + len(cut_text(text[start : min(start + max_chars + 1, self.end)], max_chars).text)
            yield start, end
            blank = text.find(" ", end - OVERLAP_CHARS, end - 1)
            start = blank + 1 if blank != -1 else end - OVERLAP_CHARS // 2
        yield start, self.end


def chunk_text(text: str, *, markdown: bool = False) -> list[Chunk]:
    """Split a text into passages, in order.

    Together they cover every character, and each begins at or before the end of the one before. A fenced code block, a
    table or a paragraph stays in one piece where it fits.

    Args:
        text: A text of any length; line ends and control characters are kept.
        markdown: Whether its structure is Markdown.
    """
    lines, headings = LineIndex(text), HeadingIndex(text if markdown else "")
    chunks: list[Chunk] = []
    previous_end = 0
    for span in _iter_spans(text, markdown=markdown):
        # A CR is never separated from its LF, and passages leave no gaps.
        start, end = (offset + 1 if text[offset - 1 : offset + 1] == "\r\n" else offset for offset in span)
        if end <= previous_end:
            continue
        start, previous_end = min(start, previous_end), end
        passage = text[start:end]
        first_line, last_line = lines.find_line(start), lines.find_line(end - 1)
        heading = headings.find_path(start + len(passage) - len(passage.lstrip()))
        chunks.append(Chunk(len(chunks), start, end, first_line, last_line, passage, heading))
    return chunks


class HeadingIndex:
    """The headings of a Markdown text, by position."""

    def __init__(self, text: str) -> None:
        heading_chars = 100  # the rest of a heading is cut
        self._offsets: list[int] = []
        self._paths: list[str] = []
        stack: list[tuple[int, str]] = []
        for start, line, fenced in _iter_lines(text):
            heading = None if fenced else MARKDOWN_HEADING.match(line[: heading_chars * 4])
            if heading:
                level = len(heading[1])
                stack = [*(entry for entry in stack if entry[0] < level), (level, heading[2][:heading_chars])]
                self._offsets.append(start)
                self._paths.append(" > ".join(title for _, title in stack if title))

    def find_path(self, offset: int) -> str:
        """Return the path of headings above an offset, including one that begins there."""
        index = bisect_right(self._offsets, offset)
        return self._paths[index - 1] if index else ""


def _iter_lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield each line with its start, and whether it belongs to a fenced block."""
    fence, start = "", 0
    for end in [*(line_end.end() for line_end in LINE_END.finditer(text)), len(text)]:
        line = text[start:end].rstrip("\r\n")
        marker = MARKDOWN_FENCE.match(line)
        yield start, line, bool(fence or marker)
        if marker and not fence:
            fence = marker[1]
        elif marker and marker[1].startswith(fence):
            fence = ""
        start = end


def _iter_spans(text: str, *, markdown: bool) -> Iterator[tuple[int, int]]:
    """Yield start and end of each passage, before gaps are closed."""
    for section in _iter_sections(text, markdown=markdown):
        if section.is_long_line:
            yield from section.split_long_line(text)
        else:
            part = text[section.start : section.end]
            for offset, passage in _load_splitter(markdown=markdown).chunk_indices(part):
                yield section.start + offset, section.start + offset + len(passage)


def _iter_sections(text: str, *, markdown: bool) -> Iterator[TextSection]:
    """Divide the text into sections of a size that the splitter handles fast."""
    max_section_chars = 200_000  # a larger section ends at the next line
    long_line_chars = 2_500
    section_start = start = 0
    for start, line, fenced in _iter_lines(text):
        size = start - section_start
        at_boundary = not line.strip() or (markdown and line.startswith("#"))
        if len(line) > long_line_chars:
            if size:
                yield TextSection(section_start, start, is_long_line=False)
            line_end = LINE_END.match(text, start + len(line))
            section_start = line_end.end() if line_end else start + len(line)
            yield TextSection(start, section_start, is_long_line=True)
        elif size > max_section_chars or (size > SECTION_CHARS and at_boundary and not (markdown and fenced)):
            yield TextSection(section_start, start, is_long_line=False)
            section_start = start
    if section_start < len(text):
        yield TextSection(section_start, len(text), is_long_line=False)


@lru_cache(maxsize=2)
def _load_splitter(*, markdown: bool) -> "MarkdownSplitter | TextSplitter":
    return (MarkdownSplitter if markdown else TextSplitter)(PASSAGE_CHARS, overlap=OVERLAP_CHARS, trim=False)
