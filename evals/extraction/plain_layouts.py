"""Rewrite pages with the markup of older sites, because the corpora have few of these.

Such a page has no semantic elements, no structured data, and names that are not English words: tables or nested `div`
around everything, `<br>` for paragraphs, bold lines for headings. The choice is drawn from the page's id, so that it is
the same each time.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from zlib import crc32

from outrider.pages.extraction.blocks.page_blocks import TAG_NUMBERS, PageBlocks
from outrider.pages.extraction.classify.attribute_words import split_name
from outrider.pages.extraction.classify.signals import PageSignals

DIV_TAG, P_TAG, TD_TAG = TAG_NUMBERS["div"], TAG_NUMBERS["p"], TAG_NUMBERS["td"]
TABLE_LEVELS = tuple(TAG_NUMBERS[tag] for tag in ("table", "tr", "td"))
SYLLABLES = "ba ce do fi gu ha ke lo mi nu po ra si te vu wy za zo".split()  # noqa: SIM905 - more readable


@dataclass(frozen=True)
class Layout:
    """A rewriting of a page's markup.

    Attributes:
        tags: The new tag number for each replaced one.
        has_tables: Whether nested containers become tables, rows and cells in turn.
        has_breaks: Whether paragraphs become lines of their container.
        rename: Returns the name for a class or id, or "".
        has_signals: Whether description and structured data are kept.
    """

    tags: dict[int, int]
    has_tables: bool
    has_breaks: bool
    rename: Callable[[str], str]
    has_signals: bool


def draw_layout(page_id: str) -> Layout:
    """Draw the layout of a page."""
    semantic_tags = "section article main nav header footer aside figure figcaption hgroup details summary custom"
    chance = random.Random(crc32(page_id.encode()))
    tags = {TAG_NUMBERS[tag]: DIV_TAG for tag in semantic_tags.split()}
    for names, share in (("h1", 0.5), ("h2 h3", 0.3), ("h4 h5 h6", 0.3), ("ul ol li", 0.4), ("p", 0.3)):
        if chance.random() < share:
            tags |= {TAG_NUMBERS[tag]: DIV_TAG for tag in names.split()}
    salt, has_names = str(chance.random()), chance.random() < 0.6

    def rename(name: str) -> str:
        return " ".join(_invent_word(word, salt) for word in split_name(name)[:2]) if has_names else ""

    return Layout(tags, chance.random() < 0.5, chance.random() < 0.35, rename, chance.random() < 0.3)


def _invent_word(word: str, salt: str) -> str:
    number = crc32(f"{salt}{word}".encode())
    return "".join(SYLLABLES[(number >> 5 * at) % len(SYLLABLES)] for at in range(2 + number % 3))


def rewrite_layout(page: PageBlocks, signals: PageSignals, layout: Layout) -> tuple[PageBlocks, PageSignals]:
    """Return a page and its signals with other markup around the same blocks."""
    names = [" ".join(filter(None, map(layout.rename, name.split()[:4]))) for name in page.names]
    elements: list[tuple[int, ...]] = []
    signatures: dict[tuple[int, int, str], int] = {}
    depths: list[int] = []  # of containers outside of paragraphs and lists
    for (parent, tag, _, _, _, first), name in zip(page.elements, names, strict=True):
        depths.append(depths[parent] + 1 if elements else 0)
        new = layout.tags.get(tag, tag)
        if layout.has_tables and new == DIV_TAG and depths[-1]:
            new = TABLE_LEVELS[(depths[-1] - 1) % len(TABLE_LEVELS)]
        above = elements[parent][4] if elements else 0
        signature = signatures.setdefault((above, new, name), len(signatures) + 1)
        elements.append((parent, new, 0, 0, signature, first))
    rows = [(_find_owner(page, row[0], layout), *row[1:7], 0) for row in page.rows]
    rewritten = replace(page, elements=elements, names=names, rows=rows)
    if layout.has_signals:
        return rewritten, replace(signals, path_bits=0)
    return rewritten, replace(signals, description="", json_ld="", schema_bits=0, og_type=0, path_bits=0)


def _find_owner(page: PageBlocks, element: int, layout: Layout) -> int:
    """Return the element around a block; paragraphs may be lines of it."""
    parent, tag = page.elements[element][:2]
    return parent if layout.has_breaks and tag == P_TAG and parent >= 0 else element
