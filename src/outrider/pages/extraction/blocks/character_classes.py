"""Classify characters by Unicode category, independent of the script."""

import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROW_CODE_POINTS = 256
PLANE_CODE_POINTS = 65_536
LETTER, UPPER, DIGIT, IDEOGRAPH, SPACE, SENTENCE_END, CLAUSE_MARK, CURRENCY, SEPARATOR, OTHER_CHARACTER = range(10)
CLASS_COUNT = 10
LAST_WORD_CLASS = IDEOGRAPH  # words consist of the classes up to this one


class CodePointTable:
    """Table of a function over the code points of the basic plane.

    Rows are computed when a page first needs one, since a page uses few of them.

    Args:
        classify: Returns the number of a code point, below 256 for those of the first row.
        dtype: Unsigned integer type of the numbers.
    """

    def __init__(self, classify: Callable[[int], int], dtype: type[np.unsignedinteger[Any]]) -> None:
        self._classify = classify
        self._dtype = dtype
        self._latin = bytes(map(classify, range(ROW_CODE_POINTS)))
        self._table = np.zeros((PLANE_CODE_POINTS // ROW_CODE_POINTS, ROW_CODE_POINTS), dtype)
        self._known = np.zeros(PLANE_CODE_POINTS // ROW_CODE_POINTS, np.bool_)

    def look_up(self, codes: NDArray[np.uint16]) -> NDArray[Any]:
        """Return the number of each code point."""
        # Most characters are in the first row, which `bytes.translate` handles fastest.
        latin = bytearray(codes.astype(np.uint8)).translate(self._latin)
        numbers = np.frombuffer(latin, np.uint8).astype(self._dtype, copy=False)
        others = np.flatnonzero(codes >= ROW_CODE_POINTS)
        if len(others):
            other_codes = codes[others]
            rows = other_codes // ROW_CODE_POINTS
            for row in {*rows[~self._known[rows]].tolist()}:
                start = row * ROW_CODE_POINTS
                self._table[row] = [self._classify(code) for code in range(start, start + ROW_CODE_POINTS)]
                self._known[row] = True
            numbers[others] = self._table[rows, other_codes % ROW_CODE_POINTS]
        return numbers


def classify_characters(text: str) -> NDArray[np.uint8]:
    """Return the class of each character.

    Characters beyond the basic plane are treated as the plane's last character.
    """
    return CLASS_TABLE.look_up(encode_code_points(text))


def encode_code_points(text: str) -> NDArray[np.uint16]:
    """Return the code point of each character, capped at the end of the basic plane."""
    codes = np.frombuffer(text.encode("utf-16-le", "replace"), np.uint16)
    if len(codes) == len(text):
        return codes
    wide = np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32)
    return np.minimum(wide, PLANE_CODE_POINTS - 1).astype(np.uint16)


def _classify_character(code: int) -> int:
    character = chr(code)
    punctuation = ((".!?。！？…؟।｡", SENTENCE_END), (",;:、，；：،", CLAUSE_MARK), ("|/»›•·«‹→←–—", SEPARATOR))
    for marks, character_class in punctuation:
        if character in marks:
            return character_class
    category = unicodedata.category(character)
    class_by_category = {
        "Lu": UPPER, "Lt": UPPER, "Nd": DIGIT, "Sc": CURRENCY, "Zs": SPACE, "Zl": SPACE, "Zp": SPACE, "Cc": SPACE,
    }  # fmt: skip
    character_class = class_by_category.get(category, LETTER if category[0] in "LMN" else OTHER_CHARACTER)
    if character_class != LETTER:
        return character_class
    # Radicals, kana, ideographs of the basic plane, and Thai: scripts without spaces between words.
    unspaced_scripts = ((0x2E80, 0x2FE0), (0x3040, 0x3100), (0x3400, 0xA000), (0xF900, 0xFB00), (0x0E00, 0x0E80))
    return IDEOGRAPH if any(low <= code < high for low, high in unspaced_scripts) else LETTER


CLASS_TABLE = CodePointTable(_classify_character, np.uint8)
