"""The learned lexicon: what the words of class and id attributes weigh, along each block's line of ancestors."""

from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.classify.attribute_words import AttributeWords

Floats = NDArray[np.float32]
WINDOW_BLOCKS = 6  # blocks on each side
LEXICON_COLUMNS = 7


def build_lexicon_columns(
    naming: AttributeWords, owner: NDArray[np.int64], words: Floats, weights: dict[str, float]
) -> Floats:
    """The lexicon's columns of each block: its own sum, its neighbours', its surroundings' and the page's.

    Args:
        naming: The words of the page's names.
        owner: Of each block, its element.
        words: Of each block.
        weights: Of each name's word.

    Returns:
        A row for each of the seven columns.
    """

    def get_weights(some: list[str]) -> Floats:
        # Python's floats are doubles: numpy takes five times as long to read them as anything else.
        return np.fromiter(map(weights.get, some, repeat(0.0)), np.float64, len(some)).astype(np.float32)

    own = naming.sum_values(get_weights)[1].take(owner)
    count = len(own)
    found = np.empty((LEXICON_COLUMNS, count), np.float32)
    mass, size = _build_running_sums(words * own), _build_running_sums(words)
    mean = float(mass[-WINDOW_BLOCKS - 1]) / max(1.0, float(size[-WINDOW_BLOCKS - 1]))
    found[0] = own
    found[1, 1:], found[1, :1] = own[:-1], 0
    found[2, :-1], found[2, -1:] = own[1:], 0
    reach = 2 * WINDOW_BLOCKS + 1
    found[3] = (mass[reach:] - mass[:-reach]) / np.maximum(size[reach:] - size[:-reach], 1)
    np.subtract(own, mean, out=found[4])
    found[5] = mean
    np.subtract(own, own.max(), out=found[6])
    return found


def _build_running_sums(values: Floats) -> NDArray[np.float64]:
    """Running sums, continued by as many on both sides as a window reaches."""
    sums = np.zeros(len(values) + 1 + 2 * WINDOW_BLOCKS)
    np.cumsum(values, out=sums[WINDOW_BLOCKS + 1 : WINDOW_BLOCKS + 1 + len(values)])
    sums[WINDOW_BLOCKS + 1 + len(values) :] = sums[WINDOW_BLOCKS + len(values)]
    return sums
