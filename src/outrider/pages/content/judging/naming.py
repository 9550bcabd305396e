"""The words of class and id attributes, element by element: what `lexicon` weighs and `meanings` knows vectors for."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from outrider.pages.content.walking.blocks import Blocks
from outrider.pages.content.walking.words import words_of

LIMIT = 400  # characters of one element's names
AT_ONCE = 300  # sets of names whose words are summed at once: 2.7 MB of vectors where each holds as many as are read
MOST = 40_000  # words of the names of a page, each set of them once, that are looked at
Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]


def name_words(name: str) -> list[str]:
    """The words of one class or id: its parts and the name as a whole, but for single letters."""
    return [word for word in words_of(name) if len(word) > 1]


@dataclass(frozen=True, slots=True)
class Naming:
    """The words of a page's names.

    Attributes:
        words: Those that occur, each once; single letters mean nothing.
        spelt: The words of each of the sets of names that occur, one after the other.
        ends: Where in these each of the sets begins, and the last ends.
        own: Of each element, the set of its own names.
        named: The share of elements that have names.
        above: Of each element the one around it, of those in the body the body, which is the first.
    """

    words: list[str]
    spelt: Numbers
    ends: Numbers
    own: Numbers
    named: float
    above: Numbers

    def lines(self, valued: Callable[[list[str]], Floats]) -> tuple[Floats, Floats]:
        """Sums of the words' values, a number or a row for each.

        Returns:
            Of each element the sum of its own words, and that of all words from the body down to it. The body's count
            for nothing.
        """
        found = _sums(valued(self.words), self.spelt, self.ends).take(self.own, 0)
        found[0] = 0
        return found, _gathered(found, self.above)


def naming_of(page: Blocks, parent: Numbers, holding: NDArray[np.bool_]) -> Naming:
    """The words of a page's names.

    Args:
        page: The blocks.
        parent: Of each element, the one around it.
        holding: Of each element, whether it holds blocks: others need no names.
    """
    sets, own = numbered(compress(page.names, holding.tolist()))
    parts, ends = _parts(sets)
    words, spelt = numbered(parts)
    named = 1 - page.names.count("") / len(page.names)
    owns = np.zeros(len(page.names), np.int64)
    owns[holding] = own
    return Naming([*words], spelt, ends, owns, named, np.maximum(parent, 0))


def numbered(texts: Iterable[str]) -> tuple[dict[str, int], Numbers]:
    """The number of each text that occurs, counted as they come, and that of each of these."""
    known: dict[str, int] = {}
    found = [known.setdefault(text, len(known)) for text in texts]
    return known, np.fromiter(found, np.int64, len(found))


def _parts(sets: Iterable[str]) -> tuple[list[str], Numbers]:
    """The words of each set of names, one after the other; where each begins and the last ends.

    What comes after more words than are looked at has none.
    """
    words: list[str] = []
    ends = [0]
    for names in sets:
        if len(words) < MOST:
            for name in names[:LIMIT].split():
                words += words_of(name)
        ends.append(len(words))
    return words, np.fromiter(ends, np.int64, len(ends))


def _sums(values: Floats, parts: Numbers, ends: Numbers) -> Floats:
    """Of each whole the sum of its parts' values."""
    found = np.zeros((len(ends) - 1, *values.shape[1:]), np.float32)
    for at in range(0, len(found), AT_ONCE):
        bounds = ends[at : at + AT_ONCE + 1]
        rows = values.take(parts[bounds[0] : bounds[-1]], 0)
        filled = (bounds[1:] > bounds[:-1]).nonzero()[0]
        if len(rows):
            found[at + filled] = np.add.reduceat(rows, bounds.take(filled) - bounds[0], axis=0)
    return found


def _gathered(found: Floats, above: Numbers) -> Floats:
    """Sums over ancestors: each round adds what the ancestor gathered that is twice as far away as in the last."""
    while above.any():
        found = found + found.take(above, 0)
        above = above.take(above)
    return found
