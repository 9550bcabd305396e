"""The learned lexicon: what the words of class and id attributes weigh, along each block's line of ancestors."""

from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from outrider.pages.content.judging.naming import Naming

Floats = NDArray[np.float32]
WINDOW = 6  # blocks on each side
COLUMNS = 7


def columns(naming: Naming, owner: NDArray[np.int64], words: Floats, weights: dict[str, float]) -> Floats:
    """The lexicon's columns of each block: its own sum, its neighbours', its surroundings' and the page's.

    Args:
        naming: The words of the page's names.
        owner: Of each block, its element.
        words: Of each block.
        weights: Of each name's word.

    Returns:
        A row for each of the seven columns.
    """

    def weighed(some: list[str]) -> Floats:
        # Python's floats are doubles: numpy takes five times as long to read them as anything else.
        return np.fromiter(map(weights.get, some, repeat(0.0)), np.float64, len(some)).astype(np.float32)

    own = naming.lines(weighed)[1].take(owner)
    count = len(own)
    found = np.empty((COLUMNS, count), np.float32)
    mass, size = _running(words * own), _running(words)
    mean = float(mass[-WINDOW - 1]) / max(1.0, float(size[-WINDOW - 1]))
    found[0] = own
    found[1, 1:], found[1, :1] = own[:-1], 0
    found[2, :-1], found[2, -1:] = own[1:], 0
    reach = 2 * WINDOW + 1
    found[3] = (mass[reach:] - mass[:-reach]) / np.maximum(size[reach:] - size[:-reach], 1)
    np.subtract(own, mean, out=found[4])
    found[5] = mean
    np.subtract(own, own.max(), out=found[6])
    return found


def _running(values: Floats) -> NDArray[np.float64]:
    """Running sums, continued by as many on both sides as a window reaches."""
    sums = np.zeros(len(values) + 1 + 2 * WINDOW)
    np.cumsum(values, out=sums[WINDOW + 1 : WINDOW + 1 + len(values)])
    sums[WINDOW + 1 + len(values) :] = sums[WINDOW + len(values)]
    return sums
