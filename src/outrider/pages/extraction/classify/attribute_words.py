"""The words of class and id attributes, element by element: what `lexicon` weighs and `meanings` knows vectors for."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.blocks.class_words import split_class_name
from outrider.pages.extraction.blocks.page_blocks import PageBlocks

MAX_NAME_CHARS = 400  # characters of one element's names
MAX_NAME_WORDS = 40_000  # words of the names of a page, each set of them once, that are looked at
Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]


def split_name(name: str) -> list[str]:
    """The words of one class or id: its parts and the name as a whole, but for single letters."""
    return [word for word in split_class_name(name) if len(word) > 1]


@dataclass(frozen=True, slots=True)
class AttributeWords:
    """The words of a page's names.

    Attributes:
        words: Those that occur, each once; single letters mean nothing.
        word_numbers: The words of each of the sets of names that occur, one after the other.
        ends: Where in these each of the sets begins, and the last ends.
        name_sets: Of each element, the set of its own names.
        named_share: The share of elements that have names.
        parents: Of each element the one around it, of those in the body the body, which is the first.
    """

    words: list[str]
    word_numbers: Numbers
    ends: Numbers
    name_sets: Numbers
    named_share: float
    parents: Numbers

    def sum_values(self, get_values: Callable[[list[str]], Floats]) -> tuple[Floats, Floats]:
        """Sums of the words' values, a number or a row for each.

        Returns:
            Of each element the sum of its own words, and that of all words from the body down to it. The body's count
            for nothing.
        """
        found = _sum_parts(get_values(self.words), self.word_numbers, self.ends).take(self.name_sets, 0)
        found[0] = 0
        return found, _sum_ancestors(found, self.parents)


def build_attribute_words(page: PageBlocks, parent: Numbers, has_blocks: NDArray[np.bool_]) -> AttributeWords:
    """The words of a page's names.

    Args:
        page: The blocks.
        parent: Of each element, the one around it.
        has_blocks: Of each element, whether it holds blocks: others need no names.
    """
    sets, own = number_texts(compress(page.names, has_blocks.tolist()))
    parts, ends = _split_name_sets(sets)
    words, spelt = number_texts(parts)
    named = 1 - page.names.count("") / len(page.names)
    owns = np.zeros(len(page.names), np.int64)
    owns[has_blocks] = own
    return AttributeWords([*words], spelt, ends, owns, named, np.maximum(parent, 0))


def number_texts(texts: Iterable[str]) -> tuple[dict[str, int], Numbers]:
    """The number of each text that occurs, counted as they come, and that of each of these."""
    known: dict[str, int] = {}
    found = [known.setdefault(text, len(known)) for text in texts]
    return known, np.fromiter(found, np.int64, len(found))


def _split_name_sets(sets: Iterable[str]) -> tuple[list[str], Numbers]:
    """The words of each set of names, one after the other; where each begins and the last ends.

    What comes after more words than are looked at has none.
    """
    words: list[str] = []
    ends = [0]
    for names in sets:
        if len(words) < MAX_NAME_WORDS:
            for name in names[:MAX_NAME_CHARS].split():
                words += split_class_name(name)
        ends.append(len(words))
    return words, np.fromiter(ends, np.int64, len(ends))


def _sum_parts(values: Floats, parts: Numbers, ends: Numbers) -> Floats:
    """Of each whole the sum of its parts' values."""
    batch_size = (
        300  # sets of names whose words are summed at once: 2.7 MB of vectors where each holds as many as are read
    )
    found = np.zeros((len(ends) - 1, *values.shape[1:]), np.float32)
    for at in range(0, len(found), batch_size):
        bounds = ends[at : at + batch_size + 1]
        rows = values.take(parts[bounds[0] : bounds[-1]], 0)
        filled = (bounds[1:] > bounds[:-1]).nonzero()[0]
        if len(rows):
            found[at + filled] = np.add.reduceat(rows, bounds.take(filled) - bounds[0], axis=0)
    return found


def _sum_ancestors(found: Floats, parents: Numbers) -> Floats:
    """Sums over ancestors: each round adds what the ancestor gathered that is twice as far away as in the last."""
    while parents.any():
        found = found + found.take(parents, 0)
        parents = parents.take(parents)
    return found
