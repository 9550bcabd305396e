"""Parse range requests (RFC 9110, section 14)."""

import re

SINGLE_RANGE = re.compile(r"bytes=(\d*)-(\d*)", re.ASCII)


class RangeNotSatisfiable(Exception):
    """The range is outside of the file (416)."""


def parse_range(header: str | None, size: int) -> tuple[int, int] | None:
    """Return the first byte and the one past the last, or None for the whole file.

    An invalid range, or several at once, may be answered with the whole file. Raises RangeNotSatisfiable.
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
