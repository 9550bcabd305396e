"""Which blocks to keep: the cut with the highest expected F1.

With p the probability of a block and n its words, the expected F1 of keeping a set K is about
2 Σ(p·n over K) / (Σ(n over K) + Σ(p·n over all)). For any size of K the best set is a prefix of the
blocks sorted by p (Lewis 1995, "Evaluating and optimizing autonomous text classification systems"). It is
as good as the probabilities are: they must come from a model that was trained on likelihood.

On templates unlike those that it learned from, a model gives blocks of the margin too much, and the best threshold
sinks below what any reader would keep. So no block that is less likely than a floor is kept, unless hardly anything
else is left. On 120 pages of other corpora (old news, portals, ten languages) this is worth .046 of F1. On five folds
of sites of the large corpus articles gain .0007, and all pages lose .0007 (standard error .0009): those that are taken
for articles, and are none. On documentation with listings it would cost .006.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MIN_FLOOR_BLOCKS = 12  # blocks from which a page has a margin, and a floor


class BlockSelection(NamedTuple):
    """The blocks to keep, the F1 expected of them, and the likelihood from which they would be kept without a floor."""

    keep: NDArray[np.bool_]
    expected: float
    threshold: float


def select_blocks(probabilities: NDArray[Any], words: NDArray[Any], kind: str = "") -> BlockSelection:
    """The blocks to keep on a page of this kind."""
    threshold_factor = 0.8  # of the best threshold: costs .0003 of F1 on grouped folds, and keeps more lists and links
    min_kept_words = 25  # words that it must leave, too
    min_kept_share = 0.1  # of the words above the best threshold: what the floor must leave
    # Likelihood of the least likely block that is kept, by the kind of page; other kinds lose by a floor.
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
    hit = float((probabilities * words)[keep].sum())
    return BlockSelection(keep, 2 * hit / (float(words[keep].sum()) + float(gained[-1]) + 1e-9), threshold)
