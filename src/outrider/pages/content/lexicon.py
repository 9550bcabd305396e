"""The learned lexicon: what the words of class and id attributes weigh, along each block's line of ancestors."""

import re

import numpy as np
from numpy.typing import NDArray

from outrider.pages.content.blocks import Blocks

PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\dA-Za-z_]+")
NAMES_LIMIT = 400  # characters of one element's names
WINDOW = 6  # blocks on each side
COLUMNS = 7


MEMORY = 20_000  # names whose weights are remembered

_known: dict[str, float] = {}


def name_words(name: str) -> frozenset[str]:
    """The words of one class or id: the name as a whole, and its parts."""
    parts = [part.lower() for part in PARTS.findall(name)]
    found = {part for part in parts if len(part) > 1}
    if len(parts) > 1:
        found.add("".join(parts))
    return frozenset(found)


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
    return np.column_stack([own, before, after, around, own - mean, np.full(count, mean), own - own.max()]).astype(
        np.float32
    )


def _sums(page: Blocks, weights: dict[str, float]) -> NDArray[np.float64]:
    """Of each element, the weights of its names and those of its ancestors; the body's count for nothing.

    Each round adds what the ancestor gathered that is twice as far away as in the round before.
    """
    own = {names: sum([_weight(name, weights) for name in names[:NAMES_LIMIT].split()]) for names in set(page.names)}
    found = np.array([own[names] for names in page.names])
    above = np.array([row[0] for row in page.elements])
    found[0] = above[0] = 0
    while above.any():
        found += found[above]
        above = above[above]
    return found


def _weight(name: str, weights: dict[str, float]) -> float:
    """The weight of one name; remembered, since pages share their makers' names."""
    found = _known.get(name)
    if found is None:
        if len(_known) > MEMORY:
            _known.clear()
        found = _known[name] = sum([weights.get(word, 0.0) for word in name_words(name)])
    return found
