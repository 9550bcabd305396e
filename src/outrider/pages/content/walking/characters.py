"""Classes of characters by Unicode category: the same marks in every script."""

import unicodedata
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from outrider.pages.content.walking.plane import PLANE, Plane

LETTER, UPPER, DIGIT, IDEOGRAPH, SPACE, STOP, CLAUSE, MONEY, DIVIDER, OTHER = range(10)
CLASSES = 10
WORDY = IDEOGRAPH  # up to which words are made of them
STOPS, CLAUSES, DIVIDERS = ".!?。！？…؟।｡", ",;:、，；：،", "|/»›•·«‹→←–—"
# Radicals, kana, ideographs of the basic plane, and Thai: scripts that set no spaces between words.
UNSPACED = ((0x2E80, 0x2FE0), (0x3040, 0x3100), (0x3400, 0xA000), (0xF900, 0xFB00), (0x0E00, 0x0E80))
BY_CATEGORY = {
    "Lu": UPPER, "Lt": UPPER, "Nd": DIGIT, "Sc": MONEY, "Zs": SPACE, "Zl": SPACE, "Zp": SPACE, "Cc": SPACE,
}  # fmt: skip


def classes(text: str) -> NDArray[np.uint8]:
    """The class of each character; what lies beyond the basic plane counts as its last character does."""
    return _classes().of(codes_of(text))


def codes_of(text: str) -> NDArray[np.uint16]:
    """The number of each character; what lies beyond the basic plane counts as its last character."""
    codes = np.frombuffer(text.encode("utf-16-le", "replace"), np.uint16)
    if len(codes) == len(text):
        return codes
    wide = np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32)
    return np.minimum(wide, PLANE - 1).astype(np.uint16)


@lru_cache(maxsize=1)
def _classes() -> Plane:
    return Plane(lambda code: _class(chr(code)), np.uint8)


def _class(character: str) -> int:
    for marks, kind in ((STOPS, STOP), (CLAUSES, CLAUSE), (DIVIDERS, DIVIDER)):
        if character in marks:
            return kind
    category = unicodedata.category(character)
    kind = BY_CATEGORY.get(category, LETTER if category[0] in "LMN" else OTHER)
    return IDEOGRAPH if kind == LETTER and any(low <= ord(character) < high for low, high in UNSPACED) else kind
