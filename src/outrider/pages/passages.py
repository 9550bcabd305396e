"""Split Markdown into passages, and passages into sentences.

Passages are ranked: each has a few hundred characters under the same headings. Sentence groups of them are shown.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from outrider.core.text import cut_text

TARGET_PASSAGE_CHARS = 700  # blocks are joined up to this, and split beyond twice this
HEADING_LINE = re.compile(r"(#{1,6}) +(.+)")
HEADING_WITH_SPACE = re.compile(HEADING_LINE.pattern + r"\s*")
PARAGRAPH_BREAK = re.compile(r"\n{2,}")
TABLE_HEADER = re.compile(r"^(\|[^\n]{1,600})\n\|(?: *:?-{3,}:? *\|)+ *$", re.MULTILINE)
# A lower-case letter after a full stop continues the sentence, as after `e.g.`.
SENTENCE_END = re.compile(r"\n+|[.!?][\"')\]*_]{0,3} +(?=[^a-z ])|[。！？]")


@dataclass(frozen=True, slots=True)
class DocumentPassage:
    """A piece of text, its headings, and the continued table's header."""

    start: int
    end: int
    headings: tuple[str, ...]
    columns: str = ""


def split_passages(markdown: str, code_blocks: Sequence[tuple[int, int]]) -> list[DocumentPassage]:
    """Split a text into passages of a few hundred characters.

    They do not cross headings, and omit nothing.

    Args:
        markdown: The text.
        code_blocks: Those of the text, as `find_code_blocks` returns them.
    """
    result: list[DocumentPassage] = []
    path: list[tuple[int, str]] = []
    start: int | None = None
    headings: tuple[str, ...] = ()
    max_headings = 30_000  # further ones are treated as text, because each begins a passage
    for begin, end in _iter_blocks(markdown):
        if end <= begin or markdown[begin:end].isspace():
            continue
        heading = HEADING_LINE.match(markdown, begin, end)
        code = bisect_left(code_blocks, (begin, 0)) - 1  # the last code block before this place
        if (code >= 0 and begin < code_blocks[code][1]) or len(result) > max_headings:
            heading = None
        if start is not None and (heading or end - start > TARGET_PASSAGE_CHARS):
            start = None
        if heading:
            level = len(heading[1])
            path = [*(above for above in path if above[0] < level), (level, heading[2])]
        if heading:
            titles = tuple(text for _, text in path)
            headings = headings if titles == headings else titles  # equal ones in a row are one object
        if start is not None:
            result[-1] = DocumentPassage(start, end, headings)
        else:
            result.append(DocumentPassage(begin, end, headings))
            start = begin
    return [piece for passage in result for piece in _split_passage(markdown, passage)]


def split_sentences(
    markdown: str, passage: DocumentPassage, code_blocks: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Split a passage into groups of sentences or lines: start and end of each.

    Short sentences are joined, a heading stays with the text below it, and a code block is not split.

    Args:
        markdown: The text that the passage is a part of.
        passage: The passage.
        code_blocks: Those of the text, as `find_code_blocks` returns them.
    """
    group_chars, min_rest_chars = 150, 75  # a rest is a part of the group before it
    groups: list[tuple[int, int]] = []
    start = previous = passage.start
    heading = HEADING_WITH_SPACE.match(markdown, passage.start, passage.end)
    text_start = heading.end() if heading else passage.start
    ends = [match.end() for match in SENTENCE_END.finditer(markdown, passage.start, passage.end)]
    if code_blocks:
        ends = [end for end in ends if not _is_in_code(code_blocks, end)]
    for end in (*ends, passage.end):
        is_long = end - start > group_chars and passage.end - previous > min_rest_chars
        if is_long and previous > max(start, text_start):
            groups.append((start, previous))
            start = previous
        previous = end
    return [*groups, (start, passage.end)]


def _is_in_code(code_blocks: Sequence[tuple[int, int]], place: int) -> bool:
    block = bisect_right(code_blocks, (place, 0)) - 1  # the last one that starts before this place
    return block >= 0 and place < code_blocks[block][1]


def _iter_blocks(markdown: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each block between empty lines."""
    begin = 0
    for match in PARAGRAPH_BREAK.finditer(markdown):
        yield begin, match.start()
        begin = match.end()
    yield begin, len(markdown)


def _split_passage(markdown: str, passage: DocumentPassage) -> list[DocumentPassage]:
    """Split a passage into parts of about the target size.

    Parts end at line ends, unless a line is longer.
    """
    if passage.end - passage.start <= 2 * TARGET_PASSAGE_CHARS:
        return [passage]
    header = TABLE_HEADER.search(markdown, passage.start, passage.end)
    pieces, start = [], passage.start
    while start < passage.end:
        end = passage.end
        if end - start > TARGET_PASSAGE_CHARS:  # cut after the last line that fits, or the first line, or within it
            target_end, max_end = start + TARGET_PASSAGE_CHARS, start + 2 * TARGET_PASSAGE_CHARS
            end = markdown.rfind("\n", start, target_end) + 1 or markdown.find("\n", start, max_end) + 1
            if end <= start:
                line = markdown[start : min(passage.end, max_end)]
                end = start + len(cut_text(line, TARGET_PASSAGE_CHARS).text)
        columns = header[1] if header and markdown.startswith("|", start) else ""
        pieces.append(DocumentPassage(start, end, passage.headings, columns))
        start = end
    return pieces
