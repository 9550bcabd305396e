"""Split the class and id attributes of a page's elements into words.

`lexicon` has weights for these words, and `name_vectors` has vectors.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.blocks.class_words import split_class_name
from outrider.pages.extraction.blocks.page_blocks import PageBlocks

MAX_NAME_CHARS = 400  # of one element
MAX_NAME_WORDS = 40_000  # of the distinct attributes of a page
Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]


def split_name(name: str) -> list[str]:
    """Return the words of one class or id, separate and joined.

    Single letters are left out.
    """
    return [word for word in split_class_name(name) if len(word) > 1]


@dataclass(frozen=True, slots=True)
class AttributeWords:
    """The words of a page's class and id attributes.

    Attributes:
        words: The distinct words. Single letters have no meaning.
        word_numbers: The words of each distinct attribute, one after the other.
        ends: Where the words of each distinct attribute begin, and where the last end.
        name_sets: Per element, the number of its attribute.
        named_share: Share of the elements with names.
        parents: Per element, its parent. The body is its own parent.
    """

    words: list[str]
    word_numbers: Numbers
    ends: Numbers
    name_sets: Numbers
    named_share: float
    parents: Numbers

    def sum_values(self, get_values: Callable[[list[str]], Floats]) -> tuple[Floats, Floats]:
        """Sum the words' values, a number or a row for each word.

        Returns:
            Per element, the sum of its own words and the sum of all words on the way to it, without the body's.
        """
        batch_size = 300  # attributes summed at once, which limits the memory for their vectors
        values = get_values(self.words)
        set_sums = np.zeros((len(self.ends) - 1, *values.shape[1:]), np.float32)
        for at in range(0, len(set_sums), batch_size):
            bounds = self.ends[at : at + batch_size + 1]
            rows = values.take(self.word_numbers[bounds[0] : bounds[-1]], 0)
            filled = (bounds[1:] > bounds[:-1]).nonzero()[0]
            if len(rows):
                set_sums[at + filled] = np.add.reduceat(rows, bounds.take(filled) - bounds[0], axis=0)
        sums = set_sums.take(self.name_sets, 0)
        sums[0] = 0
        inherited, parents = sums, self.parents
        while parents.any():  # each round adds the sum of an ancestor twice as far away
            inherited = inherited + inherited.take(parents, 0)
            parents = parents.take(parents)
        return sums, inherited


def build_attribute_words(page: PageBlocks, parent: Numbers, has_blocks: NDArray[np.bool_]) -> AttributeWords:
    """Build the words of a page's class and id attributes.

    Args:
        page: The blocks.
        parent: Per element, its parent.
        has_blocks: Per element, whether it holds blocks. Others need no names.
    """
    sets, numbers = number_texts(compress(page.names, has_blocks.tolist()))
    parts: list[str] = []  # the words of each attribute, one after the other
    ends = [0]
    for names in sets:
        if len(parts) < MAX_NAME_WORDS:  # attributes after the limit of a page have no words
            for name in names[:MAX_NAME_CHARS].split():
                parts += split_class_name(name)
        ends.append(len(parts))
    words, word_numbers = number_texts(parts)
    named_share = 1 - page.names.count("") / len(page.names)
    name_sets = np.zeros(len(page.names), np.int64)
    name_sets[has_blocks] = numbers
    end_offsets = np.fromiter(ends, np.int64, len(ends))
    return AttributeWords([*words], word_numbers, end_offsets, name_sets, named_share, np.maximum(parent, 0))


def number_texts(texts: Iterable[str]) -> tuple[dict[str, int], Numbers]:
    """Return the distinct texts, numbered in order of appearance, and the number of each text."""
    number_by_text: dict[str, int] = {}
    numbers = [number_by_text.setdefault(text, len(number_by_text)) for text in texts]
    return number_by_text, np.fromiter(numbers, np.int64, len(numbers))
