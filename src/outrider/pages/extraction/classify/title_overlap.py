"""Measure how much each block's words overlap with the title.

Cutting out the words of all short blocks one by one is slow. Here words are numbers, hashed from their letters in a few
passes over the page as one array, with 44 bits to make collisions unlikely.
"""

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.blocks.character_classes import CodePointTable, encode_code_points

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]
MAX_WORD_LETTERS = 64  # further letters of a word count like the first ones
WORD_HASH_BITS = 44
# Powers of the golden ratio's digits, an arbitrary odd number.
HASH_POWERS = np.cumprod(np.full(MAX_WORD_LETTERS, 0x9E3779B97F4A7C15, np.uint64))
# Each character's lower case, with 0 for characters outside words.
LOWERCASE_PLANE = CodePointTable(
    lambda code: ord(chr(code).lower()[0]) if chr(code).isalnum() or chr(code) == "_" else 0, np.uint16
)


def measure_title_overlap(title: str, texts: list[str]) -> tuple[Floats, Floats]:
    """Return how much each text and the title overlap.

    That is the share of the text's distinct words in the title, and vice versa.
    """
    max_title_chars = 500
    max_block_chars = 300  # longer blocks are not titles
    short = [text if len(text) < max_block_chars else "" for text in texts]
    words = _hash_line_words(["", title[:max_title_chars].replace("\n", " "), *short])
    line, hashes = words >> WORD_HASH_BITS, words & ((1 << WORD_HASH_BITS) - 1)
    sizes = np.bincount(line, minlength=len(texts) + 2)
    title_hashes = hashes[: sizes[1]]
    if not len(title_hashes):
        return np.zeros(len(texts), np.float32), np.zeros(len(texts), np.float32)
    is_in_title = title_hashes.take(title_hashes.searchsorted(hashes), mode="clip") == hashes
    shared = np.bincount(line[is_in_title], minlength=len(texts) + 2)[2:].astype(np.float32)
    return shared / np.maximum(sizes[2:], 1, dtype=np.float32), shared / np.float32(len(title_hashes))


def _hash_line_words(lines: list[str]) -> Numbers:
    """Return the distinct words of each line in order, with the line's number in the upper bits.

    The first line is empty, so that every word follows a break.
    """
    codes = encode_code_points("\n".join(lines))
    letters = LOWERCASE_PLANE.look_up(codes)
    is_letter = letters > 0
    starts = (is_letter[1:] > is_letter[:-1]).nonzero()[0] + 1
    if not len(starts):
        return starts
    words = (codes == ord("\n")).nonzero()[0].searchsorted(starts)
    words <<= WORD_HASH_BITS
    # A word's hash comes from its letters and their places. Zeros separate words.
    letters, starts = letters[starts[0] :], starts - starts[0]
    position = np.arange(len(letters))
    position -= starts.repeat(np.diff(starts, append=len(letters)))
    position &= MAX_WORD_LETTERS - 1
    numbers = HASH_POWERS.take(position, mode="wrap")
    numbers *= letters
    words |= (np.add.reduceat(numbers, starts) >> np.uint64(64 - WORD_HASH_BITS)).view(np.int64)
    words.sort()
    first = np.empty(len(words), np.bool_)
    first[0] = True
    np.not_equal(words[1:], words[:-1], out=first[1:])
    return words[first]
