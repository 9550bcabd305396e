"""Complete sections: the headline above the text, signatures of functions, single gaps.

The headline of documentation, services and listings is a few short lines above the first kept block. It is kept only if
the text has other headings, listings or terms, and none of those lines has a date, because news is classified as
documentation now and then, and its references leave headlines out. A lone heading at the end is dropped on the kinds of
pages that gain by it. Figures: docs/reference/extraction.md.
"""

import re
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.blocks.page_blocks import TAG_NUMBERS, PageBlocks
from outrider.pages.extraction.classify.complete_structures import MIN_RELATED_PROBABILITY, find_heading, is_heading

DOCUMENTATION = "documentation"
H1_TAG, H2_TAG, H3_TAG = TAG_NUMBERS["h1"], TAG_NUMBERS["h2"], TAG_NUMBERS["h3"]
STRUCTURE_TAGS = frozenset({TAG_NUMBERS["pre"], TAG_NUMBERS["dt"]})
DATE_PATTERN = re.compile(r"\d{4}|\d:\d\d|\d[/.-]\d{1,2}[/.-]\d\d")
# A name with its arguments or its type, after modifiers: `static int abs(int a)`, `member :: Char -> Bool`
SIGNATURE_PATTERN = re.compile(
    r"(?:[^\W\d][\w.@$<>\[\]*&]* ){0,4}[^\W\d][\w.$!?]*\u200b?(?:\[[^\]]{0,80}\])?(?:\(| :: \S)"
)
INTERACTIVE_TAGS = frozenset(TAG_NUMBERS[tag] for tag in ("button", "nav", "form", "aside", "footer", "label"))


def complete_sections(page: PageBlocks, chosen: list[int], probabilities: NDArray[np.float32], kind: str) -> list[int]:
    """Add what the sections of the chosen blocks need, and drop a trailing heading."""
    if not chosen:
        return chosen
    added = set(_find_signatures(page, chosen))
    if added or kind in (DOCUMENTATION, "article"):  # references of names and types are also classified as articles
        added.update(_find_api_reference(page, probabilities))
    if kind == DOCUMENTATION:
        min_gap_probability = 0.4  # of a single block between two chosen ones
        gaps = [before + 1 for before, after in pairwise(chosen) if after - before == 2]
        gaps = [block for block in gaps if probabilities[block] >= min_gap_probability]
        added.update(block for block in gaps if not DATE_PATTERN.search(page.texts[block]))
    if kind in (DOCUMENTATION, "service", "listing"):
        added.update(_find_headline(page, chosen, probabilities, lowest=H3_TAG if kind == DOCUMENTATION else H2_TAG))
    if added:
        chosen = sorted(added.union(chosen))
    if kind in (DOCUMENTATION, "forum", "listing", "collection") and len(chosen) > 1:
        ends_with_heading = is_heading(page, chosen[-1]) and not is_heading(page, chosen[-2])
        return chosen[:-1] if ends_with_heading else chosen
    return chosen


def _find_headline(
    page: PageBlocks, chosen: list[int], probabilities: NDArray[np.float32], *, lowest: int
) -> list[int]:
    """Return the headline above the first chosen block; on documentation with the possible content between them."""
    min_line_probability = 0.5  # of a line that belongs to the text, though it is below the floor
    first = chosen[0]
    headline = _find_nearest_headline(page, first, probabilities < min_line_probability, lowest)
    if headline < 0:
        return []
    if _find_common_ancestor(page, headline, first) <= 0:
        # Without a common element, only the single h1 of a page is a headline of this text.
        h1_count = sum([row[1] == H1_TAG for row in page.elements])
        if _get_heading_tag(page, headline) != H1_TAG or h1_count != 1:
            return []
    between = [block for block in range(headline + 1, first) if probabilities[block] >= MIN_RELATED_PROBABILITY]
    if not any(probabilities[block] >= min_line_probability for block in between) and not any(
        page.elements[page.rows[block][0]][1] in STRUCTURE_TAGS or is_heading(page, block) for block in chosen
    ):
        return []
    if lowest != H3_TAG:
        return [headline]
    # Lines of links lead to the sections.
    return [headline, *[block for block in between if 2 * page.rows[block][1] <= len(page.texts[block])]]


def _find_nearest_headline(page: PageBlocks, first: int, is_unlikely: NDArray[np.bool_], lowest: int) -> int:
    """Return the highest heading in the few short lines above a block, or -1."""
    max_distance, max_line_chars = 6, 100
    headline = -1
    if _get_heading_tag(page, first) == H1_TAG:
        return headline
    for block in range(first - 1, max(-1, first - 1 - max_distance), -1):
        tag, text = _get_heading_tag(page, block), page.texts[block]
        if 0 < tag <= lowest:
            if headline < 0 or tag < _get_heading_tag(page, headline):
                headline = block
            if tag == H1_TAG:
                break
        elif (len(text) > max_line_chars and is_unlikely[block]) or DATE_PATTERN.search(text):
            break
    return headline


def _find_signatures(page: PageBlocks, chosen: list[int]) -> list[int]:
    """Return blocks right after chosen headings of one word, in the same element, that repeat this word."""
    min_name_chars = 3
    max_signature_chars = 300
    signatures, texts, count = list[int](), page.texts, len(page.texts)
    for block in chosen:
        name = texts[block]
        if " " in name or len(name) < min_name_chars or block + 1 == count:
            continue
        following = texts[block + 1]
        if (
            name in following
            and len(name) < len(following) <= max_signature_chars
            and (heading := find_heading(page, block)) >= 0
        ):
            owner, parent = page.rows[block + 1][0], page.elements[heading][0]
            if parent in (owner, page.elements[owner][0]):
                signatures.append(block + 1)
    return signatures


def _find_api_reference(page: PageBlocks, probabilities: NDArray[np.float32]) -> list[int]:
    """Return the possible content of an API reference from its headline on.

    It ends with the element that holds all signatures. Its short lines look like a margin to the model, because the
    training corpus has hardly any such page.
    """
    min_signatures, min_signature_share = 2, 0.1  # of the blocks
    min_probability = 0.01  # lower in menus and indexes of the whole manual
    max_signature_chars = 1_000
    possible = [block for block in np.flatnonzero(probabilities >= min_probability).tolist() if _is_text(page, block)]
    starts = [(block, page.texts[block][:max_signature_chars]) for block in possible]
    signatures = [block for block, text in starts if ("(" in text or "::" in text) and SIGNATURE_PATTERN.match(text)]
    if len(signatures) < min_signatures:
        return []
    headlines = [block for block in possible if _get_heading_tag(page, block) == H1_TAG]
    container = _find_common_ancestor(page, signatures[0], signatures[-1])
    start = page.elements[container][5]
    start = min(start, headlines[0]) if len(headlines) == 1 else start
    blocks = [block for block in possible if start <= block < page.last[container]]
    return blocks if len(signatures) >= min_signature_share * len(blocks) else []


def _is_text(page: PageBlocks, block: int) -> bool:
    """Return whether a block is in no button, form or navigation."""
    element = page.rows[block][0]
    while element > 0 and page.elements[element][1] not in INTERACTIVE_TAGS:
        element = page.elements[element][0]
    return element <= 0


def _find_common_ancestor(page: PageBlocks, one: int, other: int) -> int:
    """Return the innermost element that holds both blocks."""
    element, last = page.rows[one][0], page.rows[other][0]
    while element > 0 and not (page.elements[element][5] <= other < page.last[element] and element <= last):
        element = page.elements[element][0]
    return max(element, 0)


def _get_heading_tag(page: PageBlocks, block: int) -> int:
    """Return the tag of the heading that a block is in, or 0."""
    heading = find_heading(page, block)
    return page.elements[heading][1] if heading >= 0 else 0
