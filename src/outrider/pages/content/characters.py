"""Classes of characters by Unicode category: the same marks in every script."""

import unicodedata
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

LETTER, UPPER, DIGIT, IDEOGRAPH, SPACE, STOP, CLAUSE, MONEY, DIVIDER, OTHER = range(10)
CLASSES = 10
WORDY = IDEOGRAPH  # up to which words are made of them
ROW = 256  # characters whose classes are looked up together
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
    kinds = np.frombuffer(bytearray(codes.astype(np.uint8)).translate(_latin()), np.uint8)
    others = np.flatnonzero(codes >= ROW)
    if len(others):
        kinds[others] = _beyond(np.minimum(codes[others], PLANE - 1))
    return kinds


def _beyond(codes: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """The same of numbers of characters; only rows that occur are looked up, of which a page has a few."""
    table, known = _table()
    rows = codes // ROW
    for row in {*rows[~known[rows]].tolist()}:
        table[row] = np.frombuffer(_row(row), np.uint8)
        known[row] = True
    return table[rows, codes % ROW]


@lru_cache(maxsize=1)
def _table() -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """The classes of the basic plane by rows, and which of the rows are filled."""
    return np.zeros((PLANE // ROW, ROW), np.uint8), np.zeros(PLANE // ROW, np.bool_)


@lru_cache(maxsize=1)
def _latin() -> bytes:
    return _row(0)


def _row(number: int) -> bytes:
    """The classes of the characters of a row."""
    return bytes(_class(chr(code)) for code in range(number * ROW, (number + 1) * ROW))


def _class(character: str) -> int:
    for marks, kind in ((STOPS, STOP), (CLAUSES, CLAUSE), (DIVIDERS, DIVIDER)):
        if character in marks:
            return kind
    category = unicodedata.category(character)
    kind = BY_CATEGORY.get(category, LETTER if category[0] in "LMN" else OTHER)
    return IDEOGRAPH if kind == LETTER and any(low <= ord(character) < high for low, high in UNSPACED) else kind
