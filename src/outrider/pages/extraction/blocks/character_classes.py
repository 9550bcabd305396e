"""Classes of characters by Unicode category: the same marks in every script."""

import unicodedata
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.blocks.code_point_table import PLANE_CODE_POINTS, CodePointTable

LETTER, UPPER, DIGIT, IDEOGRAPH, SPACE, SENTENCE_END, CLAUSE_MARK, CURRENCY, SEPARATOR, OTHER_CHARACTER = range(10)
CLASS_COUNT = 10
LAST_WORD_CLASS = IDEOGRAPH  # up to which words are made of them
SENTENCE_END_CHARS, CLAUSE_CHARS, SEPARATOR_CHARS = ".!?。！？…؟।｡", ",;:、，；：،", "|/»›•·«‹→←–—"
# Radicals, kana, ideographs of the basic plane, and Thai: scripts that set no spaces between words.
UNSPACED_SCRIPT_RANGES = ((0x2E80, 0x2FE0), (0x3040, 0x3100), (0x3400, 0xA000), (0xF900, 0xFB00), (0x0E00, 0x0E80))
CLASS_BY_CATEGORY = {
    "Lu": UPPER, "Lt": UPPER, "Nd": DIGIT, "Sc": CURRENCY, "Zs": SPACE, "Zl": SPACE, "Zp": SPACE, "Cc": SPACE,
}  # fmt: skip


def classify_characters(text: str) -> NDArray[np.uint8]:
    """The class of each character; what lies beyond the basic plane counts as its last character does."""
    return _build_class_table().look_up(encode_code_points(text))


def encode_code_points(text: str) -> NDArray[np.uint16]:
    """The number of each character; what lies beyond the basic plane counts as its last character."""
    codes = np.frombuffer(text.encode("utf-16-le", "replace"), np.uint16)
    if len(codes) == len(text):
        return codes
    wide = np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32)
    return np.minimum(wide, PLANE_CODE_POINTS - 1).astype(np.uint16)


@lru_cache(maxsize=1)
def _build_class_table() -> CodePointTable:
    return CodePointTable(lambda code: _classify_character(chr(code)), np.uint8)


def _classify_character(character: str) -> int:
    for marks, kind in ((SENTENCE_END_CHARS, SENTENCE_END), (CLAUSE_CHARS, CLAUSE_MARK), (SEPARATOR_CHARS, SEPARATOR)):
        if character in marks:
            return kind
    category = unicodedata.category(character)
    kind = CLASS_BY_CATEGORY.get(category, LETTER if category[0] in "LMN" else OTHER_CHARACTER)
    return (
        IDEOGRAPH
        if kind == LETTER and any(low <= ord(character) < high for low, high in UNSPACED_SCRIPT_RANGES)
        else kind
    )
