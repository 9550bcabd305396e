"""The words of class and id attributes, element by element: what `lexicon` weighs and `meanings` knows vectors for."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outrider.pages.content.blocks import Blocks
from outrider.pages.content.words import words_of

LIMIT = 400  # characters of one element's names
AT_ONCE = 300  # names whose words are summed at once: 2.7 MB of vectors where each holds as many as are read
Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]


def name_words(name: str) -> set[str]:
    """The words of one class or id: the name as a whole, and its parts, but for single letters."""
    return {word for word in words_of(name) if len(word) > 1}


@dataclass(frozen=True, slots=True)
class Naming:
    """The words of a page's names.

    Attributes:
        words: Every word that occurs.
        which: Which of these make up the names that occur, one after the other.
        ends: Where in these each of the names begins, and the last ends.
        names: Of each element, which of these names are its own.
        named: The share of elements that have names.
        above: Of each element the one around it, of those in the body the body, which is the first.
    """

    words: list[str]
    which: Numbers
    ends: Numbers
    names: Numbers
    named: float
    above: Numbers

    def lines(self, values: Floats) -> tuple[Floats, Floats]:
        """Sums of the words' values, given a row for each word, or a number.

        Returns:
            Of each element the sum of its own words, and that of all words from the body down to it. The body's count
            for nothing.
        """
        count = len(self.ends) - 1
        sums = np.zeros((count, *values.shape[1:]), np.float32)
        for at in range(0, count, AT_ONCE):
            ends = self.ends[at : at + AT_ONCE + 1]
            named = ends[1:] > ends[:-1]
            if named.any():
                rows = values.take(self.which[ends[0] : ends[-1]], 0)
                sums[at : at + AT_ONCE][named] = np.add.reduceat(rows, ends[:-1][named] - ends[0], axis=0)
        own = sums.take(self.names, 0)
        own[0] = 0
        return own, _gathered(own, self.above)


def naming_of(page: Blocks, parent: Numbers) -> Naming:
    """The words of a page's names, by the elements around each element."""
    names: dict[str, int] = {}
    numbers = [names.setdefault(each, len(names)) for each in page.names]
    words: dict[str, int] = {}
    known: dict[str, set[int]] = {}
    which: list[int] = []
    ends = [0]
    for each in names:
        for name in each[:LIMIT].split():
            found = known.get(name)
            if found is None:
                found = known[name] = {words.setdefault(word, len(words)) for word in words_of(name) if len(word) > 1}
            which += found
        ends.append(len(which))
    own, named = np.array(numbers), sum(map(bool, page.names)) / len(page.names)
    return Naming(list(words), np.array(which, np.int64), np.array(ends), own, named, np.maximum(parent, 0))


def _gathered(found: Floats, above: Numbers) -> Floats:
    """Sums over ancestors: each round adds what the ancestor gathered that is twice as far away as in the last."""
    while above.any():
        found = found + found.take(above, 0)
        above = above.take(above)
    return found
