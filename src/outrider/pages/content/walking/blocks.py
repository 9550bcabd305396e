"""The blocks of a page, with what stands around them, in flat lists: what all later stages work on.

A block is what stands between two borders of block-level elements: a paragraph, a heading, an item, a
row of a table, a listing (see `walk.py`, which finds them).
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

TAGS = (  # noqa: SIM905 - order is the model's: append only
    "p li h1 h2 h3 h4 h5 h6 td th tr pre blockquote div dt dd figcaption summary label button caption article section "
    "main nav header footer aside form ul ol dl table tbody thead tfoot figure details dialog fieldset body address "
    "center legend menu hgroup option textarea select optgroup custom"
).split()
NUMBER: dict[str, int] = {tag: number for number, tag in enumerate(TAGS)}
CELLS = frozenset({NUMBER["td"], NUMBER["th"]})
OPEN, LINKED, CLOSE, BREAK, IMAGE, NEXT_CELL, LINE = range(7)  # what a piece of a block is, when it is no text


class Formula(str):
    """Text that is LaTeX already."""

    __slots__ = ()


Piece = str | tuple[int, Any]
Given = dict[str, str | None]


@dataclass(slots=True)
class Blocks:
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
        given: Attributes of the elements that the renderer asks about.
        links: Of each link: address as written, number of the block that it begins in, words.
        images: The attributes of each picture.
        anchors: Of each id, the number of the block that follows it.
        times: Of each block in which a time is told, the time as machines read it.
        named: Of each block with links, the words of the first.
        jumps: The blocks in which links to places in the page begin.
        rules: The blocks before which a rule is drawn.
        embeds: What is embedded, by its address: the number of the block behind it, the element that holds it, words.
        headings: The elements that are headings of the first two levels, in order.
        authors: The elements that are marked as naming an author.
        signed: Of each element that says who wrote what it holds, the name.
        coded: Whether there are listings.
        hidden: Characters that are not shown.
        cut: Whether the page was larger than is looked at.
        curtain: Whether a script would have shown the page.
    """

    texts: list[str] = field(default_factory=list)
    pieces: list[list[Piece]] = field(default_factory=list)
    rows: list[tuple[int, ...]] = field(default_factory=list)
    elements: list[tuple[int, ...]] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    given: dict[int, Given] = field(default_factory=dict)
    links: list[tuple[str, int, str]] = field(default_factory=list)
    images: list[Given] = field(default_factory=list)
    anchors: dict[str, int] = field(default_factory=dict)
    times: dict[int, str] = field(default_factory=dict)
    named: dict[int, str] = field(default_factory=dict)
    jumps: set[int] = field(default_factory=set)
    rules: set[int] = field(default_factory=set)
    embeds: dict[str, tuple[int, int, str]] = field(default_factory=dict)
    headings: list[int] = field(default_factory=list)
    authors: set[int] = field(default_factory=set)
    signed: dict[int, str] = field(default_factory=dict)
    coded: bool = False
    hidden: int = 0
    cut: bool = False
    curtain: bool = False


def parts_of(page: Blocks, blocks: int, chars: int) -> Iterator[Blocks]:
    """The page in parts of at most so many blocks, each as if it were a page; of long texts only how blocks begin."""
    count = len(page.texts)
    if count <= blocks and sum(map(len, page.texts)) <= chars:
        yield page
        return
    for start in range(0, count, blocks):
        end = min(count, start + blocks)
        yield _part(page, start, end, chars // (end - start) + 1)


def _part(page: Blocks, start: int, end: int, chars: int) -> Blocks:
    """The blocks from one number to another, of each text so many characters."""
    until = bisect_right(page.elements, end, key=lambda row: row[5])
    return Blocks(
        texts=[text[:chars] for text in page.texts[start:end]],
        rows=page.rows[start:end],
        elements=_moved(page.elements[:until], start),
        last=[min(max(last - start, 0), end - start) for last in page.last[:until]],
        names=page.names[:until],
    )


def _moved(elements: list[tuple[int, ...]], start: int) -> list[tuple[int, ...]]:
    """The elements as they stand in a part that begins with a block: those that begin before it, at its beginning."""
    if not start:
        return elements
    return [
        (up, tag, own, all_bits, signature, first - start if first > start else 0)
        for up, tag, own, all_bits, signature, first in elements
    ]
