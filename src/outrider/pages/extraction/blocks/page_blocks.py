"""Hold a page's blocks and their elements in flat lists.

All later stages work on these lists. A block is the content between two borders of block-level elements: a paragraph,
a heading, a list item, a table row, a listing (`tree_walker.py` finds them).
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
# Kinds of pieces other than text.
PIECE_OPEN, PIECE_LINK, PIECE_CLOSE, PIECE_BREAK, PIECE_IMAGE, PIECE_NEXT_CELL, PIECE_CODE_LINE = range(7)


class Formula(str):
    """Text that is LaTeX already."""

    __slots__ = ()


InlinePiece = str | tuple[int, Any]
Attributes = dict[str, str | None]


@dataclass(slots=True)
class PageBlocks:
    """The blocks and block-level elements of a page.

    Attributes:
        texts: Per block, its words with single spaces.
        pieces: Per block, its text as in the source, with marks for the Markdown writer.
        rows: Per block, the owning element, characters in links, and numbers of links, images, line breaks and marks,
            whether it is inside a link, and the category bits of its inline elements.
        elements: Per element, its parent, tag number, category bits, those of its ancestors without the body
            combined with its own, signature number, and the number of its first block.
        last: Per element, the number after its last block.
        names: Per element, its class and id.
        attributes: Attributes of the elements that the Markdown writer asks about.
        links: Per link, its address as written, the block it begins in, and its words.
        images: The attributes of each image.
        anchors: By id, the number of the block that follows it.
        times: By block, the machine-readable time that it states.
        first_link_words: By block, the words of its first link.
        fragment_link_blocks: The blocks with links to places in this page.
        rules: The blocks that follow a horizontal rule.
        embeds: By address, the block after an embed, the element that holds it, and its label.
        headings: The elements h1 and h2, in order.
        authors: The elements marked as naming an author.
        signed_authors: By element, the author that it declares.
        has_listings: Whether there are code listings.
        hidden_chars: Number of characters that are not shown.
        truncated: Whether the page was larger than the limits.
        has_overlay: Whether an overlay hid most of the page until a script removes it.
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
    """Yield parts of at most `blocks` blocks, each a page with shortened texts.

    A page within both limits is yielded unchanged.
    """
    max_ended_elements = 8_000  # pages of the development sets have at most 6,000 elements in all
    count = len(page.texts)
    if count <= blocks and sum(map(len, page.texts)) <= chars:
        yield page
        return
    for start in range(0, count, blocks):
        end = min(count, start + blocks)
        text_chars = chars // (end - start) + 1
        until = bisect_right(page.elements, end, key=lambda row: row[5])
        # Of the elements that ended in earlier parts only the last are kept: work and memory would grow with each part.
        recent_numbers = [
            number for number in range(until) if page.last[number] > start or number >= until - max_ended_elements
        ]
        numbers = {number: place for place, number in enumerate(recent_numbers)}
        elements = [page.elements[number] for number in recent_numbers]
        yield PageBlocks(
            texts=[text[:text_chars] for text in page.texts[start:end]],
            rows=[(numbers[row[0]], *row[1:]) for row in page.rows[start:end]],
            elements=[(numbers.get(row[0], -1), *row[1:5], max(row[5] - start, 0)) for row in elements],
            last=[min(max(page.last[number] - start, 0), end - start) for number in recent_numbers],
            names=[page.names[number] for number in recent_numbers],
        )
