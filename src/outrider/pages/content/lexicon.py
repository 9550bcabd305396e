"""The learned lexicon: what the words of class and id attributes weigh, along each block's line of ancestors."""

from collections.abc import Collection
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from outrider.pages.content.blocks import Blocks
from outrider.pages.content.words import parts_of

NAMES_LIMIT = 400  # characters of one element's names
WINDOW = 6  # blocks on each side
COLUMNS = 7
MEMORY = 6_000  # names whose weights are remembered
OF_A_PAGE = 2_000  # names whose words are, since `meanings` asks for them again

_known: dict[str, float] = {}


@lru_cache(maxsize=OF_A_PAGE)
def name_words(name: str) -> Collection[str]:
    """The words of one class or id: the name as a whole, and its parts."""
    parts = parts_of(name)
    if len(parts) < 2:
        return [part for part in parts if len(part) > 1]
    found = {part for part in parts if len(part) > 1}
    found.add("".join(parts))
    return found


def columns(page: Blocks, words: NDArray[np.float32], weights: dict[str, float]) -> NDArray[np.float32]:
    """The lexicon's columns of each block: its own sum, its neighbours', its surroundings' and the page's.

    Args:
        page: The blocks.
        words: Of each block.
        weights: Of each name's word.
    """
    own = _sums(page, weights).astype(np.float32)[[row[0] for row in page.rows]]
    count = len(own)
    before, after = np.zeros_like(own), np.zeros_like(own)
    before[1:], after[:-1] = own[:-1], own[1:]
    number = np.arange(count)
    low, high = np.maximum(number - WINDOW, 0), np.minimum(number + WINDOW + 1, count)
    mass = np.concatenate(([0], np.cumsum(words * own)))
    size = np.concatenate(([0], np.cumsum(words)))
    around = (mass[high] - mass[low]) / np.maximum(size[high] - size[low], 1)
    mean = mass[-1] / max(1.0, float(size[-1]))
    found = [own, before, after, around, own - mean, np.full(count, mean), own - own.max()]
    return np.array(found, np.float32).T


def _sums(page: Blocks, weights: dict[str, float]) -> NDArray[np.float64]:
    """Of each element, the weights of its names and those of its ancestors; the body's count for nothing.

    Each round adds what the ancestor gathered that is twice as far away as in the round before.
    """
    own = {names: _sum_of(names, weights) for names in set(page.names)}
    found = np.array([own[names] for names in page.names])
    above = np.array([row[0] for row in page.elements])
    found[0] = above[0] = 0
    while above.any():
        found += found[above]
        above = above[above]
    return found


def _sum_of(names: str, weights: dict[str, float]) -> float:
    """The weights of an element's names together."""
    found = 0.0
    for name in names[:NAMES_LIMIT].split():
        found += _known[name] if name in _known else _weight(name, weights)
    return found


def _weight(name: str, weights: dict[str, float]) -> float:
    """The weight of one name; remembered, since pages share their makers' names."""
    if len(_known) > MEMORY:
        _known.clear()
    found = _known[name] = sum([weights[word] for word in name_words(name) if word in weights])
    return found
