"""Classes of characters by Unicode category: the same marks in every script."""

import unicodedata
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

LETTER, UPPER, DIGIT, IDEOGRAPH, SPACE, STOP, CLAUSE, MONEY, DIVIDER, OTHER = range(10)
CLASSES = 10
WORDY = IDEOGRAPH  # up to which words are made of them
LATIN = 256
PLANE = 65_536
STOPS, CLAUSES, DIVIDERS = ".!?。！？…؟।｡", ",;:、，；：،", "|/»›•·«‹→←–—"
# Radicals, kana, ideographs of the basic plane, and Thai: scripts that set no spaces between words.
UNSPACED = ((0x2E80, 0x2FE0), (0x3040, 0x3100), (0x3400, 0xA000), (0xF900, 0xFB00), (0x0E00, 0x0E80))
BY_CATEGORY = {
    "Lu": UPPER, "Lt": UPPER, "Nd": DIGIT, "Sc": MONEY, "Zs": SPACE, "Zl": SPACE, "Zp": SPACE, "Cc": SPACE,
}  # fmt: skip


def classes(text: str) -> NDArray[np.uint8]:
    """The class of each character; what lies beyond the basic plane counts as its last character does."""
    codes = np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32)
    table = _table()
    kinds = np.frombuffer(bytearray(codes.astype(np.uint8)).translate(table[:LATIN].tobytes()), np.uint8)
    others = np.flatnonzero(codes >= LATIN)
    kinds[others] = table[np.minimum(codes[others], PLANE - 1)]
    return kinds


@lru_cache(maxsize=1)
def _table() -> NDArray[np.uint8]:
    categories = [*map(unicodedata.category, map(chr, range(PLANE)))]
    known = {category: _class(category) for category in set(categories)}
    table = np.array([known[category] for category in categories], np.uint8)
    for low, high in UNSPACED:
        table[low:high][table[low:high] == LETTER] = IDEOGRAPH
    for marks, kind in ((STOPS, STOP), (CLAUSES, CLAUSE), (DIVIDERS, DIVIDER)):
        table[[ord(mark) for mark in marks]] = kind
    return table


def _class(category: str) -> int:
    return BY_CATEGORY.get(category, LETTER if category[0] in "LMN" else OTHER)
