"""Keep doubtful blocks inside of the element that holds most of the content.

Inside of an article's text the floor is lower, because there it drops last sections, lists of sources and tables, and
seldom the margin. On other pages, headings, items, rows, listings and links inside of that element need less than a
paragraph does, and least in documentation, whose generators put the text into an element of its own. Figures:
docs/reference/extraction.md.
"""

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.blocks.page_blocks import TAG_NUMBERS, PageBlocks
from outrider.pages.extraction.classify.complete_structures import MIN_RELATED_PROBABILITY, is_heading

STRUCTURE_TAGS = frozenset(TAG_NUMBERS[tag] for tag in ("li", "tr", "td", "th", "pre"))


def keep_doubtful_blocks(
    page: PageBlocks,
    keep: NDArray[np.bool_],
    probabilities: NDArray[np.float32],
    words: NDArray[np.float32],
    *,
    threshold: float,
    kind: str,
) -> None:
    """Set `keep` for doubtful blocks that belong to the content.

    Args:
        page: The blocks.
        keep: Per block, whether it is kept so far.
        probabilities: Per block.
        words: Per block.
        threshold: The probability from which blocks are kept without a floor.
        kind: The kind of the page.
    """
    if kind == "article":
        min_probability = max(0.4, threshold)  # outside of the main element the floor is higher
        keep[_find_doubtful_blocks(page, keep, probabilities, words, min_probability)] = True
    elif kind:
        min_probability = MIN_RELATED_PROBABILITY if kind == "documentation" else 0.6 * threshold
        min_probability = max(MIN_RELATED_PROBABILITY, min_probability)
        blocks = _find_doubtful_blocks(page, keep, probabilities, words, min_probability, between=True)
        for block in blocks.tolist():
            owner, linked_chars = page.rows[block][:2]
            is_structure = page.elements[owner][1] in STRUCTURE_TAGS or is_heading(page, block)
            if is_structure or 2 * linked_chars > len(page.texts[block]):
                keep[block] = True


def _find_doubtful_blocks(
    page: PageBlocks,
    keep: NDArray[np.bool_],
    probabilities: NDArray[np.float32],
    words: NDArray[np.float32],
    min_probability: float,
    *,
    between: bool = False,
) -> NDArray[np.intp]:
    """Return blocks in the main element that were left out though they reach `min_probability`.

    With `between`, only those between the first and last kept block.
    """
    chosen = np.flatnonzero(keep)
    doubtful = np.flatnonzero((probabilities >= min_probability) & ~keep)
    if not len(chosen) or not len(doubtful):
        return doubtful[:0]
    # The main element is the smallest one with most of the words. It has the block at half of them, too.
    min_share = 0.8
    sums = np.cumsum(words * probabilities * keep)
    required = min_share * float(sums[-1])
    element = page.rows[int(np.searchsorted(sums, sums[-1] / 2))][0]
    first, end = 0, len(sums)
    while element > 0:
        start, stop = page.elements[element][5], page.last[element]
        if float(sums[stop - 1]) - (float(sums[start - 1]) if start else 0.0) >= required:
            first, end = start, stop
            break
        element = page.elements[element][0]
    if between:
        first, end = max(first, int(chosen[0])), min(end, int(chosen[-1]))
    return doubtful[(doubtful >= first) & (doubtful < end)]
