"""Describe blocks by learned vectors for words of class and id.

A block is described by the words of all its ancestors, and by those of the three nearest elements: for each, the sum of
the words' vectors over the square root of their number. Words share the rows of one table by their CRC-32, so that no
word list is stored. Rows that no training word uses are zero.
"""

from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.classify.attribute_words import AttributeWords, split_name

Floats = NDArray[np.float32]


def hash_words(name: str, count: int) -> list[int]:
    """Return the table rows of the words of a class or id.

    The table has `count` rows.
    """
    return [crc32(word.encode()) % count for word in split_name(name)]


@dataclass(frozen=True, slots=True)
class NameVectors:
    """A table of vectors, in half precision as stored or in single precision."""

    table: NDArray[np.floating]

    def build_columns(self, naming: AttributeWords, owner: NDArray[np.int64]) -> Floats:
        """Build the vectors of each block: of all its ancestors, then of the nearest elements.

        Args:
            naming: The words of the page's class and id attributes, without the body's.
            owner: Per block, its element.

        Returns:
            One row for each column.
        """
        nearest_elements = 3  # the block's own first
        own, total = naming.sum_values(self._embed_words)
        near, element = own.take(owner, 0), owner
        for _ in range(nearest_elements - 1):
            element = naming.parents.take(element)
            near += own.take(element, 0)
        width = self.table.shape[1]
        columns = np.empty((2 * width, len(owner)), np.float32)
        _write_scaled(total.take(owner, 0).T, columns[:width])
        _write_scaled(near.T, columns[width:])
        return columns

    def _embed_words(self, words: list[str]) -> Floats:
        """Return the vector of each word followed by a one.

        The ones make sums count the words.
        """
        count, width = self.table.shape
        vectors = np.ones((len(words), width + 1), np.float32)
        rows = np.fromiter(map(crc32, map(str.encode, words)), np.int64, len(words)) % count
        vectors[:, :width] = self.table.take(rows, 0)
        vectors[np.fromiter(map(len, words), np.int64, len(words)) < 2] = 0
        return vectors


def _write_scaled(sums: Floats, out: Floats) -> None:
    """Divide sums of vectors by the square root of the word count, which is the last row."""
    np.divide(sums[:-1], np.sqrt(np.maximum(sums[-1], 1)), out=out)
