"""Footnotes: references in the text and the paragraphs that they lead to."""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from outrider.pages.content.walking.blocks import CLOSE, LINKED, NUMBER, Blocks

ITEM, TERM, DETAIL = NUMBER["li"], NUMBER["dt"], NUMBER["dd"]
MARK = re.compile(r"[\[(]?\s*([^\W\d_]{0,5}\.?\s?\d{1,3}|[a-z]|[*\u2020\u2021\u00a7]{1,3})\s*[\])]?")
NOTE = re.compile(
    r"(?:^|[-_:.])(?:user-content-)?(?:fn|ftn|edn|foot|end|note|cite|ref|sdfootnote|reference)", re.IGNORECASE
)
BACK = re.compile(
    r"#(?:user-content-)?(?:cite_?ref|fn_?-?ref|_?(?:foot|end)note-?_?ref|_(?:ftn|edn)ref|fnr)", re.IGNORECASE
)
ARROWS = re.compile(r"[\u2191\u21a9\u2934\u23ce\u21b5^\ufe0e\ufe0f\s]+")
EMPTY = r"\\?[\[(]\s*\\?[\])]|\\?\^(?!\w)"  # where a link back was, or a sign for it
LAST = re.compile(r"\s+(?:\(\s*\)|\\?\[\s*\\?\])$")  # the same at the end
ABOVE = 4  # elements around the beginning of a note that may be all of it
BLOCKS, PIECES = 20, 500  # of a note, and of each block of it
ENDING = 4  # pieces at the end of a note, of which a link back has three
REJECTED = 500  # marks that lead to no note, after which no more are followed


@dataclass(slots=True)
class Footnotes:
    """The footnotes of the chosen blocks.

    Attributes:
        labels: The label of each by the place in the page that a reference names.
        blocks: The blocks of each label's text.
        backs: The places that notes lead back to.
    """

    labels: dict[str, str] = field(default_factory=dict)
    blocks: dict[str, list[int]] = field(default_factory=dict)
    backs: set[str] = field(default_factory=set)


def footnotes_of(page: Blocks, chosen: list[int]) -> Footnotes:
    """The footnotes whose references and texts were chosen both."""
    found = Footnotes()
    if not page.anchors:
        return found
    kept, taken, left = frozenset(chosen), set[int](), REJECTED
    for number in filter(page.jumps.__contains__, chosen):
        for place, mark in _references(page, number):
            if place in found.labels or number in taken or not left:
                continue
            blocks = [each for each in note_of(page, number, place, mark) if each in kept]
            if blocks and taken.isdisjoint(blocks):
                label = _label(mark, found)
                found.labels[place], found.blocks[label] = label, blocks
                found.backs.update(_backs(page, number, blocks))
                taken.update(blocks)
            else:
                left -= 1
    return found


def note_of(page: Blocks, number: int, place: str, mark: str) -> list[int]:
    """The blocks of the note that a mark in a block leads to; none if the place is no note's.

    It is one by its name, or because a link in it leads back to where the mark stands, which then begins no block: what
    begins with a mark that leads elsewhere is a note itself. Or it ends with an arrow back to anywhere.
    """
    blocks = _definition(page, place)
    if number in blocks:
        return []
    if NOTE.search(place):
        return blocks
    begins = page.texts[number].lstrip("[(^ ").startswith(mark)
    return blocks if not begins and (_backs(page, number, blocks) or _returns(page, blocks)) else []


def without_mark(text: str, label: str) -> str:
    """The text of a note without the mark that it begins with, and what is left of links back."""
    mark = rf"\\?[\[(]?\s*(?:{re.escape(label)}|\\?[*\u2020\u2021\u00a7]+)\s*\\?[\])]?[.:]?(?=\s)"
    found = re.match(rf"(?:{EMPTY}|{mark}|[\s,])+", text)
    return LAST.sub("", text[found.end() :] if found else text)


def _label(mark: str, found: Footnotes) -> str:
    label = "".join(filter(str.isalnum, mark))
    label = label if label and label not in found.blocks else str(len(found.blocks) + 1)
    return label if label not in found.blocks else f"n{len(found.blocks) + 1}"


def _backs(page: Blocks, number: int, blocks: list[int]) -> list[str]:
    """The places in a block that links in other blocks lead to."""
    jumps = [
        piece[1][1:]
        for block in blocks
        if block in page.jumps
        for piece in page.pieces[block][:PIECES]
        if piece.__class__ is tuple and piece[0] == LINKED and piece[1][:1] == "#"
    ]
    return [place for place in jumps if page.anchors.get(place, -1) == number]


def _returns(page: Blocks, blocks: list[int]) -> bool:
    """Whether the last of these blocks ends with an arrow that leads to another place in the page."""
    end = page.pieces[blocks[-1]][-ENDING:] if blocks else []
    return any(
        piece.__class__ is tuple and piece[0] == LINKED and piece[1][:1] == "#" and ARROWS.fullmatch(str(words))
        for piece, words in pairwise(end)
    )


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


def _definition(page: Blocks, place: str) -> list[int]:
    """The blocks of the element that bears a name, of the item that begins there, or the block there alone."""
    block = page.anchors.get(place, -1)
    if not 0 <= block < len(page.texts):
        return []
    at, elements = page.rows[block][0], page.elements
    for _ in range(ABOVE):
        if at < 0 or elements[at][5] != block:
            break
        if elements[at][1] == TERM:
            return _defined(page, at)
        if elements[at][1] == ITEM or page.names[at].split(" ")[-1] == place:
            return list(range(block, min(page.last[at], block + BLOCKS)))
        at = elements[at][0]
    return [block]


def _defined(page: Blocks, term: int) -> list[int]:
    """The blocks of a term and of the definition behind it."""
    elements, after = page.elements, term + 1
    while after < len(elements) and elements[after][0] >= term:
        after += 1
    is_detail = after < len(elements) and elements[after][:2] == (elements[term][0], DETAIL)
    start, end = elements[term][5], page.last[after if is_detail else term]
    return list(range(start, min(end, start + BLOCKS)))
