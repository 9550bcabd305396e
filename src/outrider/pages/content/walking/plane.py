"""A number for each character of Unicode's basic plane, told row by row as pages need them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROW = 256  # characters that are told together
PLANE = 65_536


class Plane:
    """What a function says of characters, for arrays of their numbers; a page has characters of a few rows.

    Args:
        tell: The number of a character's number; below 256 for those of the first row.
        kind: Of the numbers: numpy's unsigned integers.
    """

    def __init__(self, tell: Callable[[int], int], kind: type[np.unsignedinteger[Any]]) -> None:
        self._tell = tell
        self._kind = kind
        self._latin = bytes(map(tell, range(ROW)))
        self._table = np.zeros((PLANE // ROW, ROW), kind)
        self._known = np.zeros(PLANE // ROW, np.bool_)

    def of(self, codes: NDArray[np.uint16]) -> NDArray[Any]:
        """What is said of each; most characters of most pages stand in the first row, which bytes can translate."""
        latin = bytearray(codes.astype(np.uint8)).translate(self._latin)
        found = np.frombuffer(latin, np.uint8).astype(self._kind, copy=False)
        others = np.flatnonzero(codes >= ROW)
        if len(others):
            found[others] = self._beyond(codes[others])
        return found

    def _beyond(self, codes: NDArray[np.uint16]) -> NDArray[Any]:
        rows = codes // ROW
        for row in {*rows[~self._known[rows]].tolist()}:
            self._table[row] = [self._tell(code) for code in range(row * ROW, (row + 1) * ROW)]
            self._known[row] = True
        return self._table[rows, codes % ROW]
