"""Footnotes at the bottom of a PDF page, told by their small type and by the numbers that lead to them."""

import re
from dataclasses import dataclass, replace

from outrider.pages.readers.parts.pdf.layout import Block
from outrider.pages.readers.parts.pdf.line import Line
from outrider.pages.readers.parts.pdf.lines import SUPERSCRIPT

RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
PLAIN = str.maketrans(RAISED, "0123456789")
BEGINS = re.compile(rf"(\d{{1,3}}|[{RAISED}]{{1,3}})(?:[.)]?\s+|(?=[^\W\d]|[\"'“‘(\[]))(?=\S)")
SMALLER = 0.93  # than the text: what footnotes are set in
LOWER = 0.6  # of a page's height, from its bottom on, where they stand


@dataclass
class Note:
    """A footnote: its number as it is printed, and its blocks."""

    number: str
    blocks: list[Block]

    @property
    def text(self) -> str:
        """Its words without the number."""
        whole = "\n".join(block.whole for block in self.blocks)
        return whole[found.end() :] if (found := BEGINS.match(whole)) else whole


def parted(blocks: list[Block], body: float, ceiling: float, label: int) -> tuple[list[Block], list[tuple[str, str]]]:
    """The blocks of a page without its footnotes, their numbers in the text as labels; and the notes by label.

    Args:
        blocks: In reading order.
        body: The size of type that most of the text has.
        ceiling: How high up on the page footnotes stand at most.
        label: The number of the first note.
    """
    start = next((at for at, block in enumerate(blocks) if _is_note(block, body, ceiling)), len(blocks))
    notes = _notes(blocks[start:], body, ceiling)
    text, given = blocks[:start], list[tuple[str, str]]()
    after = (0, 0, 0)
    for number, note in enumerate(notes, label):
        found = _referred(text, note.number, after)
        if not found:
            return blocks, []
        text, after = _labelled(text, found, str(number))
        given.append((str(number), note.text))
    return (text, given) if given else (blocks, [])


def _is_note(block: Block, body: float, ceiling: float) -> bool:
    return (
        block.kind in ("text", "item")
        and block.size <= SMALLER * body
        and block.lines[0].top < ceiling
        and BEGINS.match(block.whole[:20]) is not None
    )


def _notes(blocks: list[Block], body: float, ceiling: float) -> list[Note]:
    """The notes that these blocks are; none if anything else stands among them."""
    notes: list[Note] = []
    for block in blocks:
        found = BEGINS.match(block.whole[:20]) if _is_note(block, body, ceiling) else None
        number = found[1].translate(PLAIN) if found else ""
        if found and (not notes or int(number) == int(notes[-1].number) + 1):
            notes.append(Note(number, [block]))
        elif notes and block.kind in ("text", "item") and block.size <= SMALLER * body:
            notes[-1].blocks.append(block)
        else:
            return []
    return notes


Place = tuple[int, int, int]  # block, line and cell
Found = tuple[Place, int, int]


def _referred(blocks: list[Block], number: str, after: Place) -> Found | None:
    """Where the text leads to a note; behind the place of the note before."""
    raised = number.translate(SUPERSCRIPT)
    before = r"(?<=[^\W\d_])", r"(?<=[^\W\d_][.,;:!?)”\"’])", r"(?<=[^\W\d_]\d[.,;:!?)])"
    plain = rf"(?:{'|'.join(before)}){number}(?!\w|\.\w)"
    for sign in (re.compile(rf"(?<!\d){raised}(?![{RAISED}])"), re.compile(plain)):
        for at, block in enumerate(blocks):
            for row, line in enumerate(block.lines if block.kind in ("text", "item") else ()):
                for column, cell in enumerate(line.cells):
                    if (at, row, column) >= after and (found := sign.search(cell.text)):
                        return (at, row, column), found.start(), found.end()
    return None


def _labelled(blocks: list[Block], found: Found, label: str) -> tuple[list[Block], Place]:
    (at, row, column), start, end = found
    line = blocks[at].lines[row]
    text = line.cells[column].text
    cell = replace(line.cells[column], text=f"{text[:start]}[^{label}]{text[end:]}")
    made: Line = replace(line, cells=(*line.cells[:column], cell, *line.cells[column + 1 :]))
    lines = [*blocks[at].lines[:row], made, *blocks[at].lines[row + 1 :]]
    return [*blocks[:at], replace(blocks[at], lines=lines), *blocks[at + 1 :]], found[0]
