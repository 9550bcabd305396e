"""Drop blocks that readers skip: button symbols, repeated and empty headings, language labels."""

from itertools import pairwise

from outrider.pages.extraction.blocks.code_listings import PRE_TAG_NUMBER, detect_code_language, is_language_label
from outrider.pages.extraction.blocks.page_blocks import TAG_NUMBERS, PageBlocks
from outrider.pages.extraction.markdown.block_context import HEADING_LEVELS, BlockContexts

BUTTON_SYMBOLS = frozenset(
    "\u25a2\u2610+\u2212\u2013\u2014|\u2022\u00b7\u00d7\u2715\u2716\u203a\u2039\u00bb\u00ab\u25bc\u25b2\u25be\u25b8\u25b4\u25c2/\u2039\u2193\u2191"
)
NON_PARAGRAPH_TAGS = frozenset(TAG_NUMBERS[tag] for tag in ("div", "button", "label", "summary", "custom"))


def drop_redundant(page: PageBlocks, chosen: list[int]) -> list[int]:
    """Drop button symbols, labels of listings, and headings that repeat the one before, as flip cards have."""
    blocks = []
    for number in chosen:
        text, tag = page.texts[number], page.elements[page.rows[number][0]][1]
        is_icon = len(text) <= 2 and all("\ue000" <= character <= "\uf8ff" for character in text)  # of a font
        is_symbol = len(text) <= 2 and BUTTON_SYMBOLS.issuperset(text) and tag in NON_PARAGRAPH_TAGS
        if not is_icon and not is_symbol:
            blocks.append(number)
    kept = blocks[:1]
    for before, number in pairwise(blocks):
        is_repeated = page.texts[number] == page.texts[before]
        level = _get_heading_level(page, number)
        if not (is_repeated and level and level == _get_heading_level(page, before)):
            kept.append(number)
    labels = _find_language_labels(page, kept) if page.has_listings else ()
    return [number for number in kept if number not in labels] if labels else kept


def _find_language_labels(page: PageBlocks, chosen: list[int]) -> set[int]:
    """Return the blocks next to a listing that only name its language."""
    max_label_chars = 20
    labels: set[int] = set()
    tags = [page.elements[page.rows[number][0]][1] for number in chosen]
    for at in [at for at, tag in enumerate(tags) if tag == PRE_TAG_NUMBER]:
        for neighbor in (at - 1, at + 1):
            if not 0 <= neighbor < len(chosen) or tags[neighbor] not in NON_PARAGRAPH_TAGS:
                continue
            label = page.texts[chosen[neighbor]]
            if len(label) <= max_label_chars and is_language_label(
                label, detect_code_language(page, page.rows[chosen[at]][0])
            ):
                labels.add(chosen[neighbor])
    return labels


def drop_footnote_headings(
    page: PageBlocks, chosen: list[int], note_blocks: list[int], contexts: BlockContexts
) -> list[int]:
    """Drop headings above notes only, because notes are written at the end.

    Args:
        page: The blocks.
        chosen: Numbers of blocks, in order.
        note_blocks: The blocks of notes.
        contexts: The contexts of the page's elements.
    """
    if not note_blocks:
        return chosen
    notes, next_level, kept = frozenset(note_blocks), 0, list[int]()
    for number, following in zip(reversed(chosen), (-1, *reversed(chosen)), strict=False):
        level = contexts.get_context(page.rows[number][0]).level
        if not (level and following in notes and 0 < next_level <= level):
            kept.append(number)
            next_level = next_level if number in notes else level
    return kept[::-1]


def _get_heading_level(page: PageBlocks, number: int) -> int:
    return HEADING_LEVELS.get(page.elements[page.rows[number][0]][1], 0)
