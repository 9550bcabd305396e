"""Index the lines of a text as editors count them: ended by LF, CRLF or a lone CR."""

import re
from bisect import bisect_right

LINE_END = re.compile(r"\r\n|\n|\r")


class LineIndex:
    """The offsets at which lines begin. The empty text has no lines; a line end at the very end begins none."""

    def __init__(self, text: str) -> None:
        starts = [0, *(line_end.end() for line_end in LINE_END.finditer(text))]
        if starts[-1] == len(text):
            starts.pop()
        self._starts = starts

    def __len__(self) -> int:
        return len(self._starts)

    def find_line(self, offset: int) -> int:
        """Return the number, from 1, of the line that contains the character at `offset`."""
        return max(bisect_right(self._starts, offset), 1)

    def find_start(self, number: int) -> int:
        """Return the offset at which a line begins. Raises IndexError if the line does not exist."""
        return self._starts[number - 1]
