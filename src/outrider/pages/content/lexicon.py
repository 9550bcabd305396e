"""The learned lexicon: what the words of class and id attributes weigh, along each block's line of ancestors."""

import re

import numpy as np
from numpy.typing import NDArray

from outrider.pages.content.blocks import Blocks

PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\dA-Za-z_]+")
NAMES_LIMIT = 400  # characters of one element's names
WINDOW = 6  # blocks on each side
COLUMNS = 7


def name_words(names: str) -> frozenset[str]:
    """The words of an element's class and id: each name as a whole, and its parts."""
    found = set()
    for name in names[:NAMES_LIMIT].split():
        parts = [part.lower() for part in PARTS.findall(name)]
        found.update(part for part in parts if len(part) > 1)
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
    own = np.array(_sums(page, weights), np.float32)[page.owner]
    count = len(own)
    before, after = np.zeros_like(own), np.zeros_like(own)
    before[1:], after[:-1] = own[:-1], own[1:]
    number = np.arange(count)
    low, high = np.maximum(number - WINDOW, 0), np.minimum(number + WINDOW + 1, count)
    mass = np.concatenate(([0], np.cumsum(words * own)))
    size = np.concatenate(([0], np.cumsum(words)))
    around = (mass[high] - mass[low]) / np.maximum(size[high] - size[low], 1)
    mean = mass[-1] / max(1.0, float(size[-1]))
    return np.column_stack([own, before, after, around, own - mean, np.full(count, mean), own - own.max()]).astype(np.float32)


def _sums(page: Blocks, weights: dict[str, float]) -> list[float]:
    """Of each element, the weights of its names and those of its ancestors; the body's count for nothing."""
    known: dict[str, float] = {"": 0.0}
    found: list[float] = []
    for names, up in zip(page.names, page.parent, strict=True):
        if up < 0:
            found.append(0.0)
            continue
        weight = known.get(names)
        if weight is None:
            weight = known[names] = sum(weights.get(word, 0.0) for word in name_words(names))
        found.append(found[up] + weight)
    return found
