"""Blocks that a reader of the page passes over: signs of buttons, headings said twice, headings of nothing, and labels
of listings that say their language, as the fence does.
"""

from itertools import pairwise

from outrider.pages.content.walking.blocks import NUMBER, Blocks
from outrider.pages.content.walking.listing import PRE, language_of, names_language
from outrider.pages.content.writing.places import HEADINGS, Places

SIGNS = frozenset(
    "\u25a2\u2610+\u2212\u2013\u2014|\u2022\u00b7\u00d7\u2715\u2716\u203a\u2039\u00bb\u00ab\u25bc\u25b2\u25be\u25b8\u25b4\u25c2/\u2039\u2193\u2191"
)
LABEL = 20  # characters of the name of a language
FREE = frozenset(NUMBER[tag] for tag in ("div", "button", "label", "summary", "custom"))  # no paragraphs


def without_echoes(page: Blocks, chosen: list[int]) -> list[int]:
    """The blocks without the signs of buttons, and without headings that say the same as one right before them, as
    cards that turn around have them.
    """
    shown = [number for number in chosen if len(page.texts[number]) > 2 or not _is_sign(page, number)]
    kept = shown[:1]
    for before, number in pairwise(shown):
        same = page.texts[number] == page.texts[before]
        if not (same and _heads(page, number) and _heads(page, before)):
            kept.append(number)
    labels = _labels(page, kept) if page.coded else ()
    return [number for number in kept if number not in labels] if labels else kept


def _labels(page: Blocks, chosen: list[int]) -> set[int]:
    """The blocks that say no more than the language of a listing right before or behind them."""
    found: set[int] = set()
    tags = [page.elements[page.rows[number][0]][1] for number in chosen]
    for at in [at for at, tag in enumerate(tags) if tag == PRE]:
        for near in (at - 1, at + 1):
            if not 0 <= near < len(chosen) or tags[near] not in FREE or len(page.texts[chosen[near]]) > LABEL:
                continue
            if names_language(page.texts[chosen[near]], language_of(page, page.rows[chosen[at]][0])):
                found.add(chosen[near])
    return found


def without_emptied(page: Blocks, chosen: list[int], told: list[int], places: Places) -> list[int]:
    """The blocks without headings of nothing but notes, which are told at the end, unless something else follows.

    Args:
        page: The blocks.
        chosen: Numbers of blocks, in order.
        told: Those of notes.
        places: Of the page's elements.
    """
    if not told:
        return chosen
    notes, ahead, kept = frozenset(told), 0, list[int]()
    for number, behind in zip(reversed(chosen), (-1, *reversed(chosen)), strict=False):
        level = places.of(page.rows[number][0]).level
        if not (level and behind in notes and 0 < ahead <= level):
            kept.append(number)
            ahead = ahead if number in notes else level
    return kept[::-1]


def _is_sign(page: Blocks, number: int) -> bool:
    """Whether a block is a sign that opens or shuts something, stands between things, or is drawn by a font alone."""
    if all("\ue000" <= sign <= "\uf8ff" for sign in page.texts[number]):
        return True
    return SIGNS.issuperset(page.texts[number]) and page.elements[page.rows[number][0]][1] in FREE


def _heads(page: Blocks, number: int) -> bool:
    return page.elements[page.rows[number][0]][1] in HEADINGS
