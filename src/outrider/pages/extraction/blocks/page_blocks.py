"""The blocks of a page, with what stands around them, in flat lists: what all later stages work on.

A block is what stands between two borders of block-level elements: a paragraph, a heading, an item, a
row of a table, a listing (see `walk.py`, which finds them).
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

BLOCK_TAGS = (  # noqa: SIM905 - order is the model's: append only
    "p li h1 h2 h3 h4 h5 h6 td th tr pre blockquote div dt dd figcaption summary label button caption article section "
    "main nav header footer aside form ul ol dl table tbody thead tfoot figure details dialog fieldset body address "
    "center legend menu hgroup option textarea select optgroup custom"
).split()
TAG_NUMBERS: dict[str, int] = {tag: number for number, tag in enumerate(BLOCK_TAGS)}
CELL_TAG_NUMBERS = frozenset({TAG_NUMBERS["td"], TAG_NUMBERS["th"]})
PIECE_OPEN, PIECE_LINK, PIECE_CLOSE, PIECE_BREAK, PIECE_IMAGE, PIECE_NEXT_CELL, PIECE_CODE_LINE = range(
    7
)  # what a piece of a block is, when it is no text


class Formula(str):
    """Text that is LaTeX already."""

    __slots__ = ()


InlinePiece = str | tuple[int, Any]
Attributes = dict[str, str | None]


@dataclass(slots=True)
class PageBlocks:
    """What the walk found.

    Attributes:
        texts: Of each block, its words with single spaces.
        pieces: Of each block, its text as it stood, with marks for the renderer.
        rows: Of each block: owning element, characters in links, links, images, line breaks, marks, whether
            inside of a link, category bits of the inline elements' classes.
        elements: Of each block-level element: parent, number of its tag, its category bits, those of its
            ancestors but the body with its own, number of its signature, number of the first block in it.
        last: Of each element, the number behind its last block.
        names: Of each element, its class and id.
        attributes: Attributes of the elements that the renderer asks about.
        links: Of each link: address as written, number of the block that it begins in, words.
        images: The attributes of each picture.
        anchors: Of each id, the number of the block that follows it.
        times: Of each block in which a time is told, the time as machines read it.
        first_link_words: Of each block with links, the words of the first.
        fragment_link_blocks: The blocks in which links to places in the page begin.
        rules: The blocks before which a rule is drawn.
        embeds: What is embedded, by its address: the number of the block behind it, the element that holds it, words.
        headings: The elements that are headings of the first two levels, in order.
        authors: The elements that are marked as naming an author.
        signed_authors: Of each element that says who wrote what it holds, the name.
        has_listings: Whether there are listings.
        hidden_chars: Characters that are not shown.
        truncated: Whether the page was larger than is looked at.
        has_overlay: Whether a script would have shown the page.
    """

    texts: list[str] = field(default_factory=list)
    pieces: list[list[InlinePiece]] = field(default_factory=list)
    rows: list[tuple[int, ...]] = field(default_factory=list)
    elements: list[tuple[int, ...]] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    attributes: dict[int, Attributes] = field(default_factory=dict)
    links: list[tuple[str, int, str]] = field(default_factory=list)
    images: list[Attributes] = field(default_factory=list)
    anchors: dict[str, int] = field(default_factory=dict)
    times: dict[int, str] = field(default_factory=dict)
    first_link_words: dict[int, str] = field(default_factory=dict)
    fragment_link_blocks: set[int] = field(default_factory=set)
    rules: set[int] = field(default_factory=set)
    embeds: dict[str, tuple[int, int, str]] = field(default_factory=dict)
    headings: list[int] = field(default_factory=list)
    authors: set[int] = field(default_factory=set)
    signed_authors: dict[int, str] = field(default_factory=dict)
    has_listings: bool = False
    hidden_chars: int = 0
    truncated: bool = False
    has_overlay: bool = False


def iter_parts(page: PageBlocks, blocks: int, chars: int) -> Iterator[PageBlocks]:
    """The page in parts of at most so many blocks, each as if it were a page; of long texts only how blocks begin."""
    count = len(page.texts)
    if count <= blocks and sum(map(len, page.texts)) <= chars:
        yield page
        return
    for start in range(0, count, blocks):
        end = min(count, start + blocks)
        yield _slice_blocks(page, start, end, chars // (end - start) + 1)


def _slice_blocks(page: PageBlocks, start: int, end: int, chars: int) -> PageBlocks:
    """The blocks from one number to another, of each text so many characters."""
    until = bisect_right(page.elements, end, key=lambda row: row[5])
    return PageBlocks(
        texts=[text[:chars] for text in page.texts[start:end]],
        rows=page.rows[start:end],
        elements=_shift_elements(page.elements[:until], start),
        last=[min(max(last - start, 0), end - start) for last in page.last[:until]],
        names=page.names[:until],
    )


def _shift_elements(elements: list[tuple[int, ...]], start: int) -> list[tuple[int, ...]]:
    """The elements as they stand in a part that begins with a block: those that begin before it, at its beginning."""
    if not start:
        return elements
    return [
        (up, tag, own, all_bits, signature, first - start if first > start else 0)
        for up, tag, own, all_bits, signature, first in elements
    ]
