"""Footnotes: references in the text and the paragraphs that they lead to."""

import re
from dataclasses import dataclass, field

from outrider.pages.content.blocks import CLOSE, LINKED, NUMBER, Blocks

ITEM = NUMBER["li"]
MARK = re.compile(r"[\[(]?\s*(\d{1,3}|[a-z]|[*\u2020\u2021\u00a7]{1,3})\s*[\])]?")
NOTE = re.compile(
    r"(?:^|[-_:.])(?:user-content-)?(?:fn|ftn|edn|foot|end|note|cite|ref|sdfootnote|reference)", re.IGNORECASE
)
BACK = re.compile(
    r"#(?:user-content-)?(?:cite_?ref|fn_?-?ref|_?(?:foot|end)note-?_?ref|_(?:ftn|edn)ref|fnr)", re.IGNORECASE
)
ARROWS = re.compile(r"[\u2191\u21a9\u2934\u23ce\u21b5^\ufe0e\ufe0f\s]+")


@dataclass(slots=True)
class Footnotes:
    """The footnotes of the chosen blocks.

    Attributes:
        labels: The label of each by the place in the page that a reference names.
        blocks: The blocks of each label's text.
    """

    labels: dict[str, str] = field(default_factory=dict)
    blocks: dict[str, list[int]] = field(default_factory=dict)


def footnotes_of(page: Blocks, chosen: list[int]) -> Footnotes:
    """The footnotes whose references and texts were chosen both."""
    found = Footnotes()
    if not page.anchors:
        return found
    kept, taken = frozenset(chosen), set[int]()
    for number in filter(page.jumps.__contains__, chosen):
        for place, mark in _references(page, number):
            if place in found.labels or not NOTE.search(place):
                continue
            blocks = [each for each in _definition(page, page.anchors.get(place, -1)) if each in kept]
            if blocks and number not in blocks and taken.isdisjoint(blocks):
                label = mark if mark.isdigit() and mark not in found.blocks else str(len(found.blocks) + 1)
                label = label if label not in found.blocks else f"n{len(found.blocks) + 1}"
                found.labels[place], found.blocks[label] = label, blocks
                taken.update(blocks)
    return found


def _references(page: Blocks, number: int) -> list[tuple[str, str]]:
    """The places in the page that marks in a block lead to, and the marks."""
    found, pieces = [], page.pieces[number]
    for at, piece in enumerate(pieces):
        if piece.__class__ is tuple and piece[0] == LINKED and piece[1][:1] == "#" and not BACK.match(piece[1]):
            words = ""
            for inner in pieces[at + 1 : at + 8]:
                if isinstance(inner, str):
                    words += inner
                elif inner == (CLOSE, None) and words:
                    break
            if mark := MARK.fullmatch(words.strip()):
                found.append((piece[1][1:], mark[1]))
    return found


def _definition(page: Blocks, block: int) -> list[int]:
    """The blocks of the item that a block begins, or the block alone."""
    if not 0 <= block < len(page.texts):
        return []
    at = page.rows[block][0]
    for _ in range(4):
        if at < 0:
            break
        if page.elements[at][1] == ITEM and page.elements[at][5] == block:
            return list(range(block, min(page.last[at], block + 20)))
        at = page.elements[at][0]
    return [block]
