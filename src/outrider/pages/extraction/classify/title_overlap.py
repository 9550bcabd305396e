"""How much of the title a block says, and how much of it is said there: of all blocks at once.

A page has a thousand words in short blocks, and to cut them out one by one took a tenth of all judging. Here words are
numbers, made of their letters in a few passes over the page as one array; that two words share theirs is as likely as
that one of sixteen million million numbers is drawn.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.blocks.character_classes import encode_code_points
from outrider.pages.extraction.blocks.code_point_table import CodePointTable

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]
MAX_WORD_LETTERS = 64  # of a word; further ones count as the first do
WORD_HASH_BITS = 44  # that tell a word
HASH_POWERS = np.cumprod(
    np.full(MAX_WORD_LETTERS, 0x9E3779B97F4A7C15, np.uint64)
)  # the golden ratio's digits: no word is special


def measure_title_overlap(title: str, texts: list[str]) -> tuple[Floats, Floats]:
    """Of each text the share of its words, each counted once, that the title has; and of the title's, that it has."""
    max_title_chars = 500  # characters of a title
    max_block_chars = 300  # characters of a block that is compared; longer ones say something else
    short = [text if len(text) < max_block_chars else "" for text in texts]
    words = _hash_line_words(["", title[:max_title_chars].replace("\n", " "), *short])
    line, number = words >> WORD_HASH_BITS, words & ((1 << WORD_HASH_BITS) - 1)
    sizes = np.bincount(line, minlength=len(texts) + 2)
    known = number[: sizes[1]]
    if not len(known):
        return np.zeros(len(texts), np.float32), np.zeros(len(texts), np.float32)
    same = known.take(known.searchsorted(number), mode="clip") == number
    both = np.bincount(line[same], minlength=len(texts) + 2)[2:].astype(np.float32)
    return both / np.maximum(sizes[2:], 1, dtype=np.float32), both / np.float32(len(known))


def _hash_line_words(lines: list[str]) -> Numbers:
    """The words of each line, each once, in order: the line's number, and in the lower bits the word's.

    The first line is empty, so that every word stands behind a break.
    """
    newline_code = 10  # between lines
    codes = encode_code_points("\n".join(lines))
    letters = _load_lowercase_plane().look_up(codes)
    inside = letters > 0
    starts = (inside[1:] > inside[:-1]).nonzero()[0] + 1
    if not len(starts):
        return starts
    words = (codes == newline_code).nonzero()[0].searchsorted(starts)
    words <<= WORD_HASH_BITS
    words |= (_hash_words(letters[starts[0] :], starts - starts[0]) >> np.uint64(64 - WORD_HASH_BITS)).view(np.int64)
    words.sort()
    first = np.empty(len(words), np.bool_)
    first[0] = True
    np.not_equal(words[1:], words[:-1], out=first[1:])
    return words[first]


def _hash_words(letters: NDArray[np.uint16], starts: Numbers) -> NDArray[np.uint64]:
    """A number for each word, which its letters and their places make up; between words stand zeros."""
    gaps = np.empty(len(starts), np.int64)
    np.subtract(starts[1:], starts[:-1], out=gaps[:-1])
    gaps[-1] = len(letters) - starts[-1]
    place = np.arange(len(letters))
    place -= starts.repeat(gaps)
    place &= MAX_WORD_LETTERS - 1
    numbers = HASH_POWERS.take(place, mode="wrap")
    numbers *= letters
    return np.add.reduceat(numbers, starts)


@lru_cache(maxsize=1)
def _load_lowercase_plane() -> CodePointTable:
    """The lower case of each character; 0 for what is no part of words."""
    return CodePointTable(_lowercase_code, np.uint16)


def _lowercase_code(code: int) -> int:
    character = chr(code)
    return ord(character.lower()[0]) if character.isalnum() or character == "_" else 0
