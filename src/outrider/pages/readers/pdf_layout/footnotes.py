"""Find footnotes of a PDF page.

Small type and the numbers that refer to them identify them.
"""

import re
from dataclasses import dataclass, replace

from outrider.pages.readers.pdf_layout.blocks import PdfBlock
from outrider.pages.readers.pdf_layout.characters import SUPERSCRIPT_DIGITS

SUPERSCRIPT_CHARS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
PLAIN_DIGITS = str.maketrans(SUPERSCRIPT_CHARS, "0123456789")
NOTE_START = re.compile(rf"(\d{{1,3}}|[{SUPERSCRIPT_CHARS}]{{1,3}})(?:[.)]?\s+|(?=[^\W\d]|[\"'“‘(\[]))(?=\S)")
MAX_NOTE_SIZE_RATIO = 0.93  # of a footnote's type size to that of the text
NOTE_AREA_SHARE = 0.6  # of a page's height, from the bottom, where footnotes can begin


@dataclass
class PdfFootnote:
    """A footnote: its printed number, and its blocks."""

    number: str
    blocks: list[PdfBlock]

    @property
    def text(self) -> str:
        """The text without the number."""
        text = "\n".join(block.full_text for block in self.blocks)
        number = NOTE_START.match(text)
        return text[number.end() :] if number else text


def split_footnotes(
    blocks: list[PdfBlock], body: float, ceiling: float, label: int
) -> tuple[list[PdfBlock], list[tuple[str, str]]]:
    """Return the blocks without footnotes, references replaced by labels; and the notes' labels and texts.

    A page on which a note lacks its reference is returned unchanged.

    Args:
        blocks: The page's blocks in reading order.
        body: The type size of most of the text, in points.
        ceiling: The greatest height at which footnotes can begin, in points.
        label: The label of the first note.
    """
    start = next((index for index, block in enumerate(blocks) if _is_note_start(block, body, ceiling)), len(blocks))
    notes = _collect_notes(blocks[start:], body, ceiling)
    text, labelled = blocks[:start], list[tuple[str, str]]()
    after = (0, 0, 0)
    for number, note in enumerate(notes, label):
        reference = _find_reference(text, note.number, after)
        if not reference:
            return blocks, []
        after, begin, end = reference
        index, row, column = after
        line = text[index].lines[row]
        words = line.cells[column].text
        cell = replace(line.cells[column], text=f"{words[:begin]}[^{number}]{words[end:]}")
        line = replace(line, cells=(*line.cells[:column], cell, *line.cells[column + 1 :]))
        lines = [*text[index].lines[:row], line, *text[index].lines[row + 1 :]]
        text = [*text[:index], replace(text[index], lines=lines), *text[index + 1 :]]
        labelled.append((str(number), note.text))
    return (text, labelled) if labelled else (blocks, [])


def _is_note_start(block: PdfBlock, body: float, ceiling: float) -> bool:
    return (
        block.kind in ("text", "item")
        and block.size <= MAX_NOTE_SIZE_RATIO * body
        and block.lines[0].top < ceiling
        and NOTE_START.match(block.full_text[:20]) is not None
    )


def _collect_notes(blocks: list[PdfBlock], body: float, ceiling: float) -> list[PdfFootnote]:
    """Return the notes in these blocks; none if anything else is among them."""
    notes: list[PdfFootnote] = []
    for block in blocks:
        start = NOTE_START.match(block.full_text[:20]) if _is_note_start(block, body, ceiling) else None
        number = start[1].translate(PLAIN_DIGITS) if start else ""
        if start and (not notes or int(number) == int(notes[-1].number) + 1):
            notes.append(PdfFootnote(number, [block]))
        elif notes and block.kind in ("text", "item") and block.size <= MAX_NOTE_SIZE_RATIO * body:
            notes[-1].blocks.append(block)
        else:
            return []
    return notes


CellPosition = tuple[int, int, int]  # block, line and cell
ReferenceMatch = tuple[CellPosition, int, int]  # with start and end in the cell's text


def _find_reference(blocks: list[PdfBlock], number: str, after: CellPosition) -> ReferenceMatch | None:
    """Return the first reference to a note after a position: raised digits, else digits after a word."""
    raised = number.translate(SUPERSCRIPT_DIGITS)
    before = r"(?<=[^\W\d_])", r"(?<=[^\W\d_][.,;:!?)”\"’])", r"(?<=[^\W\d_]\d[.,;:!?)])"
    plain = rf"(?:{'|'.join(before)}){number}(?!\w|\.\w)"
    for pattern in (re.compile(rf"(?<!\d){raised}(?![{SUPERSCRIPT_CHARS}])"), re.compile(plain)):
        for index, block in enumerate(blocks):
            for row, line in enumerate(block.lines if block.kind in ("text", "item") else ()):
                for column, cell in enumerate(line.cells):
                    if (index, row, column) >= after and (match := pattern.search(cell.text)):
                        return (index, row, column), match.start(), match.end()
    return None
