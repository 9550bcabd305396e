"""Weigh the words of class and id attributes along each block's ancestors."""

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
    """Build the lexicon's columns: a block's own sum, its neighbours', its surroundings' and the page's.

    Args:
        naming: The words of the page's class and id attributes.
        owner: Per block, its element.
        words: Per block.
        weights: The weight of each word.

    Returns:
        One row for each of the seven columns.
    """

    def get_weights(names: list[str]) -> Floats:
        # Python's floats are doubles, which numpy reads five times as fast as it converts them.
        return np.fromiter(map(weights.get, names, repeat(0.0)), np.float64, len(names)).astype(np.float32)

    own = naming.sum_values(get_weights)[1].take(owner)
    count = len(own)
    columns = np.empty((LEXICON_COLUMNS, count), np.float32)
    mass, size = _build_running_sums(words * own), _build_running_sums(words)
    mean = float(mass[-WINDOW_BLOCKS - 1]) / max(1.0, float(size[-WINDOW_BLOCKS - 1]))
    columns[0] = own
    columns[1, 1:], columns[1, :1] = own[:-1], 0
    columns[2, :-1], columns[2, -1:] = own[1:], 0
    window = 2 * WINDOW_BLOCKS + 1
    columns[3] = (mass[window:] - mass[:-window]) / np.maximum(size[window:] - size[:-window], 1)
    np.subtract(own, mean, out=columns[4])
    columns[5] = mean
    np.subtract(own, np.max(own), out=columns[6])
    return columns


def _build_running_sums(values: Floats) -> NDArray[np.float64]:
    """Return running sums, continued on both sides as far as a window reaches."""
    sums = np.zeros(len(values) + 1 + 2 * WINDOW_BLOCKS)
    np.cumsum(values, out=sums[WINDOW_BLOCKS + 1 : WINDOW_BLOCKS + 1 + len(values)])
    sums[WINDOW_BLOCKS + 1 + len(values) :] = sums[WINDOW_BLOCKS + len(values)]
    return sums
