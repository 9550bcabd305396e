"""The words of class and id attributes, element by element: what `lexicon` weighs and `meanings` knows vectors for."""

from array import array
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outrider.pages.content.blocks import Blocks
from outrider.pages.content.words import words_of

LIMIT = 400  # characters of one element's names
AT_ONCE = 300  # names whose words are summed at once: 2.7 MB of vectors where each holds as many as are read
MOST = 20_000  # names of a page, and words in them, that are looked at
Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]


def name_words(name: str) -> list[str]:
    """The words of one class or id: its parts and the name as a whole, but for single letters."""
    return [word for word in words_of(name) if len(word) > 1]


@dataclass(frozen=True, slots=True)
class Naming:
    """The words of a page's names.

    Attributes:
        words: Those of each of the names that occur, one after the other; single letters mean nothing.
        ends: Where in these each of the names begins, and the last ends.
        which: The names of each of the sets that occur, one after the other.
        sets: Where in these each of the sets begins, and the last ends.
        own: Of each element, the set of its own names.
        named: The share of elements that have names.
        above: Of each element the one around it, of those in the body the body, which is the first.
    """

    words: list[str]
    ends: Numbers
    which: Numbers
    sets: Numbers
    own: Numbers
    named: float
    above: Numbers

    def lines(self, valued: Callable[[list[str]], Floats]) -> tuple[Floats, Floats]:
        """Sums of the words' values, a number or a row for each.

        Returns:
            Of each element the sum of its own words, and that of all words from the body down to it. The body's count
            for nothing.
        """
        names = _sums(self.ends, lambda start, end: valued(self.words[start:end]))
        found = _sums(self.sets, lambda start, end: names.take(self.which[start:end], 0)).take(self.own, 0)
        found[0] = 0
        return found, _gathered(found, self.above)


def naming_of(page: Blocks, parent: Numbers, holding: list[bool]) -> Naming:
    """The words of a page's names.

    Args:
        page: The blocks.
        parent: Of each element, the one around it.
        holding: Of each element, whether it holds blocks: others need no names.
    """
    sets: dict[str, int] = {}
    own = [sets.setdefault(each, len(sets)) if held else 0 for each, held in zip(page.names, holding, strict=True)]
    names: dict[str, int] = {}
    which, words, ends, in_sets = array("q"), [], [0], [0]
    for each in sets:
        if len(names) < MOST:
            which.extend([names.setdefault(name, len(names)) for name in each[:LIMIT].split()])
        in_sets.append(len(which))
    for name in names:
        if len(words) < MOST:
            words += words_of(name)
        ends.append(len(words))
    named = 1 - page.names.count("") / len(page.names)
    return Naming(
        words, _numbers(ends), np.frombuffer(which, np.int64), _numbers(in_sets), _numbers(own), named,
        np.maximum(parent, 0),
    )  # fmt: skip


def _numbers(values: list[int]) -> Numbers:
    return np.fromiter(values, np.int64, len(values))


def _sums(ends: Numbers, values: Callable[[int, int], Floats]) -> Floats:
    """Of each group the sum of its values, of which those from one number to another are asked for."""
    parts = []
    for at in range(0, max(1, len(ends) - 1), AT_ONCE):
        bounds = ends[at : at + AT_ONCE + 1]
        rows = values(int(bounds[0]), int(bounds[-1]))
        found = np.zeros((len(bounds) - 1, *rows.shape[1:]), np.float32)
        filled = bounds[1:] > bounds[:-1]
        if len(rows):
            found[filled] = np.add.reduceat(rows, bounds[:-1][filled] - bounds[0], axis=0)
        parts.append(found)
    return np.concatenate(parts) if len(parts) > 1 else parts[0]


def _gathered(found: Floats, above: Numbers) -> Floats:
    """Sums over ancestors: each round adds what the ancestor gathered that is twice as far away as in the last."""
    while above.any():
        found = found + found.take(above, 0)
        above = above.take(above)
    return found
