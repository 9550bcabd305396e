"""Match footnote references with the notes that they link to."""

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
MAX_NOTE_BLOCKS = 20


@dataclass(slots=True)
class Footnotes:
    """The footnotes of the chosen blocks.

    Attributes:
        labels: Label by the anchor that references link to.
        blocks: By label, the blocks of the note.
        backlink_ids: Anchors that notes link back to.
    """

    labels: dict[str, str] = field(default_factory=dict)
    blocks: dict[str, list[int]] = field(default_factory=dict)
    backlink_ids: set[str] = field(default_factory=set)


def collect_footnotes(page: PageBlocks, chosen: list[int]) -> Footnotes:
    """Return the footnotes whose references and notes were both chosen."""
    footnotes = Footnotes()
    if not page.anchors:
        return footnotes
    kept, note_blocks, tries_left = frozenset(chosen), set[int](), 500  # marks that may link to something else
    for number in filter(page.fragment_link_blocks.__contains__, chosen):
        for anchor, mark in _find_references(page, number):
            if anchor in footnotes.labels or number in note_blocks or not tries_left:
                continue
            blocks = [block for block in find_note(page, number, anchor, mark) if block in kept]
            if not blocks or not note_blocks.isdisjoint(blocks):
                tries_left -= 1
                continue
            label = "".join(filter(str.isalnum, mark))
            label = label if label and label not in footnotes.blocks else str(len(footnotes.blocks) + 1)
            label = label if label not in footnotes.blocks else f"n{len(footnotes.blocks) + 1}"
            footnotes.labels[anchor], footnotes.blocks[label] = label, blocks
            footnotes.backlink_ids.update(_list_backlinks(page, number, blocks))
            note_blocks.update(blocks)
    return footnotes


def find_note(page: PageBlocks, number: int, anchor: str, mark: str) -> list[int]:
    """Return the blocks of the note that a mark links to.

    The list is empty if the anchor is not a note's.

    An anchor is a note's by its name, by a link back to the block of the mark, or by a final arrow that links back. In
    the last two cases the mark must not begin its block: such a block is a note itself.
    """
    blocks = _find_definition(page, anchor)
    if number in blocks:
        return []
    if FOOTNOTE_ID.search(anchor):
        return blocks
    if page.texts[number].lstrip("[(^ ").startswith(mark):
        return []
    if _list_backlinks(page, number, blocks):
        return blocks
    last_pieces = page.pieces[blocks[-1]][-4:] if blocks else []  # a link has three
    has_backlink_arrow = any(
        piece.__class__ is tuple
        and piece[0] == PIECE_LINK
        and piece[1][:1] == "#"
        and BACKLINK_ARROWS.fullmatch(str(words))
        for piece, words in pairwise(last_pieces)
    )
    return blocks if has_backlink_arrow else []


def strip_note_mark(text: str, label: str) -> str:
    """Return the text of a note without its mark and the remains of links back."""
    mark = rf"\\?[\[(]?\s*(?:{re.escape(label)}|\\?[*\u2020\u2021\u00a7]+)\s*\\?[\])]?[.:]?(?=\s)"
    empty_backlink = r"\\?[\[(]\s*\\?[\])]|\\?\^(?!\w)"  # the remains of a link back, or its symbol
    start = re.match(rf"(?:{empty_backlink}|{mark}|[\s,])+", text)
    return re.sub(r"\s+(?:\(\s*\)|\\?\[\s*\\?\])$", "", text[start.end() :] if start else text)


def _list_backlinks(page: PageBlocks, number: int, blocks: list[int]) -> list[str]:
    """Return the anchors in block `number` that links in other blocks point to."""
    max_pieces = 500  # of each block
    anchors = [
        piece[1][1:]
        for block in blocks
        if block in page.fragment_link_blocks
        for piece in page.pieces[block][:max_pieces]
        if piece.__class__ is tuple and piece[0] == PIECE_LINK and piece[1][:1] == "#"
    ]
    return [anchor for anchor in anchors if page.anchors.get(anchor, -1) == number]


def _find_references(page: PageBlocks, number: int) -> list[tuple[str, str]]:
    """Return the anchors that marks in a block link to, with the marks."""
    references, pieces = [], page.pieces[number]
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
                references.append((piece[1][1:], mark[1]))
    return references


def _find_definition(page: PageBlocks, anchor: str) -> list[int]:
    """Return the blocks of an anchor's term, element or item.

    If there is none, return the block there.
    """
    max_ancestors = 4  # one of them may be the whole note
    block = page.anchors.get(anchor, -1)
    if not 0 <= block < len(page.texts):
        return []
    element, elements = page.rows[block][0], page.elements
    for _ in range(max_ancestors):
        if element < 0 or elements[element][5] != block:
            break
        parent, tag = elements[element][:2]
        if tag == DT_TAG:  # a term belongs to the definition after it
            after = element + 1
            while after < len(elements) and elements[after][0] >= element:
                after += 1
            is_detail = after < len(elements) and elements[after][:2] == (parent, DD_TAG)
            end = page.last[after if is_detail else element]
            return list(range(block, min(end, block + MAX_NOTE_BLOCKS)))
        if tag == ITEM_TAG or page.names[element].split(" ")[-1] == anchor:
            return list(range(block, min(page.last[element], block + MAX_NOTE_BLOCKS)))
        element = parent
    return [block]
