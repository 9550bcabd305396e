"""Blocks that a reader of the page passes over: signs of buttons, headings said twice, headings of nothing, and labels
of listings that say their language, as the fence does.
"""

from itertools import pairwise

from outrider.pages.extraction.blocks.code_listings import PRE_TAG_NUMBER, detect_code_language, is_language_label
from outrider.pages.extraction.blocks.page_blocks import TAG_NUMBERS, PageBlocks
from outrider.pages.extraction.markdown.block_context import HEADING_LEVELS, BlockContexts

BUTTON_SYMBOLS = frozenset(
    "\u25a2\u2610+\u2212\u2013\u2014|\u2022\u00b7\u00d7\u2715\u2716\u203a\u2039\u00bb\u00ab\u25bc\u25b2\u25be\u25b8\u25b4\u25c2/\u2039\u2193\u2191"
)
NON_PARAGRAPH_TAGS = frozenset(
    TAG_NUMBERS[tag] for tag in ("div", "button", "label", "summary", "custom")
)  # no paragraphs


def drop_redundant(page: PageBlocks, chosen: list[int]) -> list[int]:
    """The blocks without the signs of buttons, and without headings that say the same as one right before them, as
    cards that turn around have them.
    """
    shown = [number for number in chosen if len(page.texts[number]) > 2 or not _is_button_symbol(page, number)]
    kept = shown[:1]
    for before, number in pairwise(shown):
        same = page.texts[number] == page.texts[before]
        if not (same and _is_heading_block(page, number) and _is_heading_block(page, before)):
            kept.append(number)
    labels = _find_language_labels(page, kept) if page.has_listings else ()
    return [number for number in kept if number not in labels] if labels else kept


def _find_language_labels(page: PageBlocks, chosen: list[int]) -> set[int]:
    """The blocks that say no more than the language of a listing right before or behind them."""
    max_label_chars = 20  # characters of the name of a language
    found: set[int] = set()
    tags = [page.elements[page.rows[number][0]][1] for number in chosen]
    for at in [at for at, tag in enumerate(tags) if tag == PRE_TAG_NUMBER]:
        for near in (at - 1, at + 1):
            if (
                not 0 <= near < len(chosen)
                or tags[near] not in NON_PARAGRAPH_TAGS
                or len(page.texts[chosen[near]]) > max_label_chars
            ):
                continue
            if is_language_label(page.texts[chosen[near]], detect_code_language(page, page.rows[chosen[at]][0])):
                found.add(chosen[near])
    return found


def drop_footnote_headings(page: PageBlocks, chosen: list[int], told: list[int], contexts: BlockContexts) -> list[int]:
    """The blocks without headings of nothing but notes, which are told at the end, unless something else follows.

    Args:
        page: The blocks.
        chosen: Numbers of blocks, in order.
        told: Those of notes.
        contexts: Of the page's elements.
    """
    if not told:
        return chosen
    notes, ahead, kept = frozenset(told), 0, list[int]()
    for number, behind in zip(reversed(chosen), (-1, *reversed(chosen)), strict=False):
        level = contexts.get_context(page.rows[number][0]).level
        if not (level and behind in notes and 0 < ahead <= level):
            kept.append(number)
            ahead = ahead if number in notes else level
    return kept[::-1]


def _is_button_symbol(page: PageBlocks, number: int) -> bool:
    """Whether a block is a sign that opens or shuts something, stands between things, or is drawn by a font alone."""
    if all("\ue000" <= sign <= "\uf8ff" for sign in page.texts[number]):
        return True
    return (
        BUTTON_SYMBOLS.issuperset(page.texts[number]) and page.elements[page.rows[number][0]][1] in NON_PARAGRAPH_TAGS
    )


def _is_heading_block(page: PageBlocks, number: int) -> bool:
    return page.elements[page.rows[number][0]][1] in HEADING_LEVELS
