"""Lines of a text, as editors count them: they end with LF, CRLF or a lone CR."""

import re
from bisect import bisect_right

LINE_END = re.compile(r"\r\n|\n|\r")


class LineIndex:
    """Where the lines of a text begin. The empty text has none; an end of line at its end begins none."""

    def __init__(self, text: str) -> None:
        starts = [0, *(found.end() for found in LINE_END.finditer(text))]
        if starts[-1] == len(text):
            starts.pop()
        self._starts = starts

    def __len__(self) -> int:
        return len(self._starts)

    def find_line(self, offset: int) -> int:
        """The number, from 1, of the line in which the character at `offset` lies."""
        return max(bisect_right(self._starts, offset), 1)

    def find_start(self, number: int) -> int:
        """Where that line begins. Raises IndexError if there is no such line."""
        return self._starts[number - 1]
