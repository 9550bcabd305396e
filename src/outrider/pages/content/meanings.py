"""What the words of class and id attributes mean, as vectors that were learned together with a network.

A block is described by the words on its whole line of ancestors, and by those of the three elements closest to it:
of each, the sum of the words' vectors over the root of their number. Words share the rows of one table by their
CRC-32, so that no list of them is kept; a row that no word of the training fell on is zero.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from outrider.pages.content.blocks import Blocks
from outrider.pages.content.lexicon import NAMES_LIMIT, name_words

Floats = NDArray[np.float32]
NEAREST = 3  # elements, the block's own first
AT_ONCE = 300  # elements' names that are summed at once: 2.4 MB where each holds as many words as are read


@lru_cache(maxsize=2_000)  # a page's; ten thousand would take 6 MB
def places(name: str, count: int) -> list[int]:
    """The rows, of a table of so many, that the words of a class or id stand in; remembered for its page."""
    return [crc32(word.encode()) % count for word in name_words(name)]


@dataclass(frozen=True, slots=True)
class Meanings:
    """A table of vectors, a row for each place; of halves, as it is stored, or of whole floats."""

    table: NDArray[np.floating]

    def columns(self, page: Blocks) -> Floats:
        """The vectors of each block: of its line of ancestors, then of the elements closest to it.

        The body's names count for nothing.
        """
        owners = [row[0] for row in page.rows]
        above = np.array([row[0] for row in page.elements])
        above[0] = 0
        own = self._own(page)
        near, up = own[owners], above[owners]
        for _ in range(NEAREST - 1):
            near += own[up]
            up = above[up]
        return np.hstack([_scaled(_gathered(own, above)[owners]), _scaled(near)])

    def _own(self, page: Blocks) -> Floats:
        """Of each element the sum of its words' vectors, and behind it how many words there are; none of the body."""
        number: dict[str, int] = {}
        which = [number.setdefault(names, len(number)) for names in page.names]
        told = list(number)
        parts = [self._sums(told[at : at + AT_ONCE]) for at in range(0, len(told), AT_ONCE)]
        found = np.concatenate(parts)[which]
        found[0] = 0
        return found

    def _sums(self, elements: list[str]) -> Floats:
        """Of each element's names the sum of the words' vectors, and how many words there are."""
        count, width = self.table.shape
        words = [[at for name in names[:NAMES_LIMIT].split() for at in places(name, count)] for names in elements]
        counts = np.array([len(each) for each in words])
        named, ends = counts > 0, np.cumsum(counts)
        found = np.zeros((len(words), width + 1), np.float32)
        found[:, width] = counts
        if named.any():
            rows = self.table[list(chain.from_iterable(words))].astype(np.float32)
            found[named, :width] = np.add.reduceat(rows, (ends - counts)[named], axis=0)
        return found


def _gathered(found: Floats, above: NDArray[np.int64]) -> Floats:
    """Sums over ancestors: each round adds what the ancestor gathered that is twice as far away as in the last."""
    while above.any():
        found = found + found[above]
        above = above[above]
    return found


def _scaled(sums: Floats) -> Floats:
    return sums[:, :-1] / np.sqrt(np.maximum(sums[:, -1:], 1))
