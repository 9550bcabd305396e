"""Look up a number for each character, computed lazily in rows of 256."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROW_CODE_POINTS = 256
PLANE_CODE_POINTS = 65_536


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
