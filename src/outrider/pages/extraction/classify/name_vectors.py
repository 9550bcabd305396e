"""What the words of class and id attributes mean, as vectors that were learned together with a network.

A block is described by the words on its whole line of ancestors, and by those of the three elements closest to it:
of each, the sum of the words' vectors over the root of their number. Words share the rows of one table by their
CRC-32, so that no list of them is kept; a row that no word of the training fell on is zero.
"""

from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.classify.attribute_words import AttributeWords, split_name

Floats = NDArray[np.float32]


def hash_words(name: str, count: int) -> list[int]:
    """The rows, of a table of so many, that the words of a class or id stand in."""
    return [crc32(word.encode()) % count for word in split_name(name)]


@dataclass(frozen=True, slots=True)
class NameVectors:
    """A table of vectors, a row for each place; of halves, as it is stored, or of whole floats."""

    table: NDArray[np.floating]

    def build_columns(self, naming: AttributeWords, owner: NDArray[np.int64]) -> Floats:
        """The vectors of each block: of its line of ancestors, then of the elements closest to it.

        Args:
            naming: The words of the page's names, of which the body's count for nothing.
            owner: Of each block, its element.

        Returns:
            A row for each of the columns.
        """
        nearest_elements = 3  # elements, the block's own first
        own, whole = naming.sum_values(self._embed_words)
        near, up = own.take(owner, 0), owner
        for _ in range(nearest_elements - 1):
            up = naming.parents.take(up)
            near += own.take(up, 0)
        width = self.table.shape[1]
        found = np.empty((2 * width, len(owner)), np.float32)
        _write_scaled(whole.take(owner, 0).T, found[:width])
        _write_scaled(near.T, found[width:])
        return found

    def _embed_words(self, words: list[str]) -> Floats:
        """The vector of each word, and behind it a one, of which the sum says how many words there are."""
        count, width = self.table.shape
        found = np.ones((len(words), width + 1), np.float32)
        rows = np.fromiter(map(crc32, map(str.encode, words)), np.int64, len(words)) % count
        found[:, :width] = self.table.take(rows, 0)
        found[np.fromiter(map(len, words), np.int64, len(words)) < 2] = 0
        return found


def _write_scaled(sums: Floats, out: Floats) -> None:
    """Puts down sums over the root of how many they are of, which is the last row."""
    np.divide(sums[:-1], np.sqrt(np.maximum(sums[-1], 1)), out=out)
