"""Choose the blocks to keep by the highest expected F1.

With p the probability of a block and n its words, the expected F1 of keeping a set K is about
2 Σ(p·n over K) / (Σ(n over K) + Σ(p·n over all)). For any size of K the best set is a prefix of the
blocks sorted by p (Lewis 1995, "Evaluating and optimizing autonomous text classification systems"). It is only as good
as the probabilities, which must come from a model trained on likelihood.

On unfamiliar templates a model overrates blocks of the margin, and the best threshold falls too low. So no block below
a floor is kept unless hardly anything else is left.

Inside the element that holds most of the content, doubtful blocks are kept too: in articles the floor is lower there,
and on other pages headings, items, rows, listings and links need less than a paragraph does. They need least in
documentation, whose generators put the text into a separate element. Figures: docs/reference/extraction.md.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.blocks.page_blocks import TAG_NUMBERS, PageBlocks
from outrider.pages.extraction.classify.complete_structures import MIN_RELATED_PROBABILITY, is_heading

MIN_FLOOR_BLOCKS = 12  # smaller pages have no margin, and no floor
STRUCTURE_TAGS = frozenset(TAG_NUMBERS[tag] for tag in ("li", "tr", "td", "th", "pre"))


class BlockSelection(NamedTuple):
    """The blocks to keep, their expected F1, and the threshold without a floor."""

    keep: NDArray[np.bool_]
    expected: float
    threshold: float


def select_blocks(probabilities: NDArray[Any], words: NDArray[Any], kind: str = "") -> BlockSelection:
    """Choose the blocks to keep on a page of this kind."""
    threshold_factor = 0.8  # of the best threshold, to keep more lists and links
    min_kept_words = 25  # the floor must leave this many words
    min_kept_share = 0.1  # and this share of the words above the threshold
    # The floor by kind of page; other kinds lose by one.
    min_probabilities = {"article": 0.6, "documentation": 0.6}
    if not len(probabilities):
        return BlockSelection(np.zeros(0, np.bool_), 0.0, 0.0)
    order = np.argsort(-probabilities, kind="stable")
    p, n = probabilities[order], words[order]
    gained = np.cumsum(p * n)
    expected = 2 * gained / (np.cumsum(n) + gained[-1] + 1e-9)
    threshold = threshold_factor * float(p[int(np.argmax(expected))])
    keep = probabilities >= threshold
    floor = min_probabilities.get(kind, 0.0) if len(order) >= MIN_FLOOR_BLOCKS else 0.0
    sure = keep & (probabilities >= floor)
    if float(words[sure].sum()) >= max(min_kept_words, min_kept_share * float(words[keep].sum())):
        keep = sure
    expected_words = float((probabilities * words)[keep].sum())
    expected_f1 = 2 * expected_words / (float(words[keep].sum()) + float(gained[-1]) + 1e-9)
    return BlockSelection(keep, expected_f1, threshold)


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
        min_probability = max(0.4, threshold)  # outside the main element the floor is higher
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
