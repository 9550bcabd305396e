"""Choose the blocks to keep by the highest expected F1.

With p the probability of a block and n its words, the expected F1 of keeping a set K is about
2 Σ(p·n over K) / (Σ(n over K) + Σ(p·n over all)). For any size of K the best set is a prefix of the
blocks sorted by p (Lewis 1995, "Evaluating and optimizing autonomous text classification systems"). It is only as good
as the probabilities, which must come from a model trained on likelihood.

On unfamiliar templates a model overrates blocks of the margin, and the best threshold falls too low. So no block below
a floor is kept unless hardly anything else is left. Figures: docs/reference/extraction.md.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MIN_FLOOR_BLOCKS = 12  # smaller pages have no margin, and no floor


class BlockSelection(NamedTuple):
    """The blocks to keep, their expected F1, and the threshold without a floor."""

    keep: NDArray[np.bool_]
    expected: float
    threshold: float


def select_blocks(probabilities: NDArray[Any], words: NDArray[Any], kind: str = "") -> BlockSelection:
    """Choose the blocks to keep on a page of this kind."""
    threshold_factor = 0.8  # of the best threshold, to keep more lists and links
    min_kept_words = 25  # the floor must leave so many words
    min_kept_share = 0.1  # and so much of the words above the threshold
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
