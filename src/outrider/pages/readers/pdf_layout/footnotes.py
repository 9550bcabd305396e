"""Footnotes at the bottom of a PDF page, told by their small type and by the numbers that lead to them."""

import re
from dataclasses import dataclass, replace

from outrider.pages.readers.pdf_layout.blocks import PdfBlock
from outrider.pages.readers.pdf_layout.characters import SUPERSCRIPT_DIGITS
from outrider.pages.readers.pdf_layout.line import PdfLine

SUPERSCRIPT_CHARS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
PLAIN_DIGITS = str.maketrans(SUPERSCRIPT_CHARS, "0123456789")
NOTE_START = re.compile(rf"(\d{{1,3}}|[{SUPERSCRIPT_CHARS}]{{1,3}})(?:[.)]?\s+|(?=[^\W\d]|[\"'“‘(\[]))(?=\S)")
MAX_NOTE_SIZE_RATIO = 0.93  # than the text: what footnotes are set in
NOTE_AREA_SHARE = 0.6  # of a page's height, from its bottom on, where they stand


@dataclass
class PdfFootnote:
    """A footnote: its number as it is printed, and its blocks."""

    number: str
    blocks: list[PdfBlock]

    @property
    def text(self) -> str:
        """Its words without the number."""
        whole = "\n".join(block.full_text for block in self.blocks)
        return whole[found.end() :] if (found := NOTE_START.match(whole)) else whole


def split_footnotes(
    blocks: list[PdfBlock], body: float, ceiling: float, label: int
) -> tuple[list[PdfBlock], list[tuple[str, str]]]:
    """The blocks of a page without its footnotes, their numbers in the text as labels; and the notes by label.

    Args:
        blocks: In reading order.
        body: The size of type that most of the text has.
        ceiling: How high up on the page footnotes stand at most.
        label: The number of the first note.
    """
    start = next((at for at, block in enumerate(blocks) if _is_note_start(block, body, ceiling)), len(blocks))
    notes = _collect_notes(blocks[start:], body, ceiling)
    text, given = blocks[:start], list[tuple[str, str]]()
    after = (0, 0, 0)
    for number, note in enumerate(notes, label):
        found = _find_reference(text, note.number, after)
        if not found:
            return blocks, []
        text, after = _label_reference(text, found, str(number))
        given.append((str(number), note.text))
    return (text, given) if given else (blocks, [])


def _is_note_start(block: PdfBlock, body: float, ceiling: float) -> bool:
    return (
        block.kind in ("text", "item")
        and block.size <= MAX_NOTE_SIZE_RATIO * body
        and block.lines[0].top < ceiling
        and NOTE_START.match(block.full_text[:20]) is not None
    )


def _collect_notes(blocks: list[PdfBlock], body: float, ceiling: float) -> list[PdfFootnote]:
    """The notes that these blocks are; none if anything else stands among them."""
    notes: list[PdfFootnote] = []
    for block in blocks:
        found = NOTE_START.match(block.full_text[:20]) if _is_note_start(block, body, ceiling) else None
        number = found[1].translate(PLAIN_DIGITS) if found else ""
        if found and (not notes or int(number) == int(notes[-1].number) + 1):
            notes.append(PdfFootnote(number, [block]))
        elif notes and block.kind in ("text", "item") and block.size <= MAX_NOTE_SIZE_RATIO * body:
            notes[-1].blocks.append(block)
        else:
            return []
    return notes


CellPosition = tuple[int, int, int]  # block, line and cell
ReferenceMatch = tuple[CellPosition, int, int]


def _find_reference(blocks: list[PdfBlock], number: str, after: CellPosition) -> ReferenceMatch | None:
    """Where the text leads to a note; behind the place of the note before."""
    raised = number.translate(SUPERSCRIPT_DIGITS)
    before = r"(?<=[^\W\d_])", r"(?<=[^\W\d_][.,;:!?)”\"’])", r"(?<=[^\W\d_]\d[.,;:!?)])"
    plain = rf"(?:{'|'.join(before)}){number}(?!\w|\.\w)"
    for sign in (re.compile(rf"(?<!\d){raised}(?![{SUPERSCRIPT_CHARS}])"), re.compile(plain)):
        for at, block in enumerate(blocks):
            for row, line in enumerate(block.lines if block.kind in ("text", "item") else ()):
                for column, cell in enumerate(line.cells):
                    if (at, row, column) >= after and (found := sign.search(cell.text)):
                        return (at, row, column), found.start(), found.end()
    return None


def _label_reference(blocks: list[PdfBlock], found: ReferenceMatch, label: str) -> tuple[list[PdfBlock], CellPosition]:
    (at, row, column), start, end = found
    line = blocks[at].lines[row]
    text = line.cells[column].text
    cell = replace(line.cells[column], text=f"{text[:start]}[^{label}]{text[end:]}")
    made: PdfLine = replace(line, cells=(*line.cells[:column], cell, *line.cells[column + 1 :]))
    lines = [*blocks[at].lines[:row], made, *blocks[at].lines[row + 1 :]]
    return [*blocks[:at], replace(blocks[at], lines=lines), *blocks[at + 1 :]], found[0]
