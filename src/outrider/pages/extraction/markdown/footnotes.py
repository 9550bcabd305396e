"""Footnotes: references in the text and the paragraphs that they lead to."""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from outrider.pages.extraction.blocks.page_blocks import PIECE_CLOSE, PIECE_LINK, TAG_NUMBERS, PageBlocks

ITEM_TAG, DT_TAG, DD_TAG = TAG_NUMBERS["li"], TAG_NUMBERS["dt"], TAG_NUMBERS["dd"]
FOOTNOTE_MARK = re.compile(r"[\[(]?\s*([^\W\d_]{0,5}\.?\s?\d{1,3}|[a-z]|[*\u2020\u2021\u00a7]{1,3})\s*[\])]?")
FOOTNOTE_ID = re.compile(
    r"(?:^|[-_:.])(?:user-content-)?(?:fn|ftn|edn|foot|end|note|cite|ref|sdfootnote|reference)", re.IGNORECASE
)
BACKLINK_HREF = re.compile(
    r"#(?:user-content-)?(?:cite_?ref|fn_?-?ref|_?(?:foot|end)note-?_?ref|_(?:ftn|edn)ref|fnr)", re.IGNORECASE
)
BACKLINK_ARROWS = re.compile(r"[\u2191\u21a9\u2934\u23ce\u21b5^\ufe0e\ufe0f\s]+")
EMPTY_BACKLINK = r"\\?[\[(]\s*\\?[\])]|\\?\^(?!\w)"  # where a link back was, or a sign for it
TRAILING_BACKLINK = re.compile(r"\s+(?:\(\s*\)|\\?\[\s*\\?\])$")  # the same at the end
MAX_NOTE_BLOCKS, MAX_NOTE_PIECES = 20, 500  # of a note, and of each block of it


@dataclass(slots=True)
class Footnotes:
    """The footnotes of the chosen blocks.

    Attributes:
        labels: The label of each by the place in the page that a reference names.
        blocks: The blocks of each label's text.
        backlink_ids: The places that notes lead back to.
    """

    labels: dict[str, str] = field(default_factory=dict)
    blocks: dict[str, list[int]] = field(default_factory=dict)
    backlink_ids: set[str] = field(default_factory=set)


def collect_footnotes(page: PageBlocks, chosen: list[int]) -> Footnotes:
    """The footnotes whose references and texts were chosen both."""
    max_rejected_marks = 500  # marks that lead to no note, after which no more are followed
    found = Footnotes()
    if not page.anchors:
        return found
    kept, taken, left = frozenset(chosen), set[int](), max_rejected_marks
    for number in filter(page.fragment_link_blocks.__contains__, chosen):
        for place, mark in _find_references(page, number):
            if place in found.labels or number in taken or not left:
                continue
            blocks = [each for each in find_note(page, number, place, mark) if each in kept]
            if blocks and taken.isdisjoint(blocks):
                label = _assign_label(mark, found)
                found.labels[place], found.blocks[label] = label, blocks
                found.backlink_ids.update(_list_backlinks(page, number, blocks))
                taken.update(blocks)
            else:
                left -= 1
    return found


def find_note(page: PageBlocks, number: int, anchor: str, mark: str) -> list[int]:
    """The blocks of the note that a mark in a block leads to; none if the place is no note's.

    It is one by its name, or because a link in it leads back to where the mark stands, which then begins no block: what
    begins with a mark that leads elsewhere is a note itself. Or it ends with an arrow back to anywhere.
    """
    blocks = _find_definition(page, anchor)
    if number in blocks:
        return []
    if FOOTNOTE_ID.search(anchor):
        return blocks
    begins = page.texts[number].lstrip("[(^ ").startswith(mark)
    return blocks if not begins and (_list_backlinks(page, number, blocks) or _ends_with_backlink(page, blocks)) else []


def strip_note_mark(text: str, label: str) -> str:
    """The text of a note without the mark that it begins with, and what is left of links back."""
    mark = rf"\\?[\[(]?\s*(?:{re.escape(label)}|\\?[*\u2020\u2021\u00a7]+)\s*\\?[\])]?[.:]?(?=\s)"
    found = re.match(rf"(?:{EMPTY_BACKLINK}|{mark}|[\s,])+", text)
    return TRAILING_BACKLINK.sub("", text[found.end() :] if found else text)


def _assign_label(mark: str, found: Footnotes) -> str:
    label = "".join(filter(str.isalnum, mark))
    label = label if label and label not in found.blocks else str(len(found.blocks) + 1)
    return label if label not in found.blocks else f"n{len(found.blocks) + 1}"


def _list_backlinks(page: PageBlocks, number: int, blocks: list[int]) -> list[str]:
    """The places in a block that links in other blocks lead to."""
    jumps = [
        piece[1][1:]
        for block in blocks
        if block in page.fragment_link_blocks
        for piece in page.pieces[block][:MAX_NOTE_PIECES]
        if piece.__class__ is tuple and piece[0] == PIECE_LINK and piece[1][:1] == "#"
    ]
    return [place for place in jumps if page.anchors.get(place, -1) == number]


def _ends_with_backlink(page: PageBlocks, blocks: list[int]) -> bool:
    """Whether the last of these blocks ends with an arrow that leads to another place in the page."""
    last_pieces = 4  # pieces at the end of a note, of which a link back has three
    end = page.pieces[blocks[-1]][-last_pieces:] if blocks else []
    return any(
        piece.__class__ is tuple
        and piece[0] == PIECE_LINK
        and piece[1][:1] == "#"
        and BACKLINK_ARROWS.fullmatch(str(words))
        for piece, words in pairwise(end)
    )


def _find_references(page: PageBlocks, number: int) -> list[tuple[str, str]]:
    """The places in the page that marks in a block lead to, and the marks."""
    found, pieces = [], page.pieces[number]
    for at, piece in enumerate(pieces):
        if (
            piece.__class__ is tuple
            and piece[0] == PIECE_LINK
            and piece[1][:1] == "#"
            and not BACKLINK_HREF.match(piece[1])
        ):
            words = ""
            for inner in pieces[at + 1 : at + 8]:
                if isinstance(inner, str):
                    words += inner
                elif inner == (PIECE_CLOSE, None) and words:
                    break
            if mark := FOOTNOTE_MARK.fullmatch(words.strip()):
                found.append((piece[1][1:], mark[1]))
    return found


def _find_definition(page: PageBlocks, anchor: str) -> list[int]:
    """The blocks of the element that bears a name, of the item that begins there, or the block there alone."""
    max_ancestors = 4  # elements around the beginning of a note that may be all of it
    block = page.anchors.get(anchor, -1)
    if not 0 <= block < len(page.texts):
        return []
    at, elements = page.rows[block][0], page.elements
    for _ in range(max_ancestors):
        if at < 0 or elements[at][5] != block:
            break
        if elements[at][1] == DT_TAG:
            return _list_definition_blocks(page, at)
        if elements[at][1] == ITEM_TAG or page.names[at].split(" ")[-1] == anchor:
            return list(range(block, min(page.last[at], block + MAX_NOTE_BLOCKS)))
        at = elements[at][0]
    return [block]


def _list_definition_blocks(page: PageBlocks, term: int) -> list[int]:
    """The blocks of a term and of the definition behind it."""
    elements, after = page.elements, term + 1
    while after < len(elements) and elements[after][0] >= term:
        after += 1
    is_detail = after < len(elements) and elements[after][:2] == (elements[term][0], DD_TAG)
    start, end = elements[term][5], page.last[after if is_detail else term]
    return list(range(start, min(end, start + MAX_NOTE_BLOCKS)))
