"""Parts of a file, as a client asks for them (RFC 9110, section 14)."""

import re

SINGLE_RANGE = re.compile(r"bytes=(\d*)-(\d*)", re.ASCII)


class RangeNotSatisfiable(Exception):
    """Nothing of what was asked for is there (416)."""


def parse_range(header: str | None, size: int) -> tuple[int, int] | None:
    """The first byte and the one behind the last; None for the whole file.

    What is no range, or several at once, may be answered with the whole file. Raises Unsatisfiable.
    """
    found = SINGLE_RANGE.fullmatch((header or "").strip())
    if found is None or found.group(0) == "bytes=-":
        return None
    first, last = found.groups()
    if not first:
        start, stop = max(size - int(last), 0), size
    else:
        start, stop = int(first), min(int(last) + 1, size) if last else size
        if last and int(last) < start:
            return None
    if start >= size or start >= stop:
        raise RangeNotSatisfiable
    return start, stop
