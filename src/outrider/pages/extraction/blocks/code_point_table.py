"""A number for each character of Unicode's basic plane, told row by row as pages need them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROW_CODE_POINTS = 256  # characters that are told together
PLANE_CODE_POINTS = 65_536


class CodePointTable:
    """What a function says of characters, for arrays of their numbers; a page has characters of a few rows.

    Args:
        classify: The number of a character's number; below 256 for those of the first row.
        dtype: Of the numbers: numpy's unsigned integers.
    """

    def __init__(self, classify: Callable[[int], int], dtype: type[np.unsignedinteger[Any]]) -> None:
        self._classify = classify
        self._dtype = dtype
        self._latin = bytes(map(classify, range(ROW_CODE_POINTS)))
        self._table = np.zeros((PLANE_CODE_POINTS // ROW_CODE_POINTS, ROW_CODE_POINTS), dtype)
        self._known = np.zeros(PLANE_CODE_POINTS // ROW_CODE_POINTS, np.bool_)

    def look_up(self, codes: NDArray[np.uint16]) -> NDArray[Any]:
        """What is said of each; most characters of most pages stand in the first row, which bytes can translate."""
        latin = bytearray(codes.astype(np.uint8)).translate(self._latin)
        found = np.frombuffer(latin, np.uint8).astype(self._dtype, copy=False)
        others = np.flatnonzero(codes >= ROW_CODE_POINTS)
        if len(others):
            found[others] = self._look_up_other_rows(codes[others])
        return found

    def _look_up_other_rows(self, codes: NDArray[np.uint16]) -> NDArray[Any]:
        rows = codes // ROW_CODE_POINTS
        for row in {*rows[~self._known[rows]].tolist()}:
            self._table[row] = [
                self._classify(code) for code in range(row * ROW_CODE_POINTS, (row + 1) * ROW_CODE_POINTS)
            ]
            self._known[row] = True
        return self._table[rows, codes % ROW_CODE_POINTS]
