"""Name the steps of a run: their numbers, and in loops the round and inner number."""

import re

from outrider.core.errors import InvalidInput

Position = tuple[int, ...]


def format_position(position: Position) -> str:
    """Format a position for people, such as `3.2.1`: step 3, round 2, inner step 1."""
    return ".".join(str(number) for number in position)


def parse_position(text: str | int, field: str = "fromStep") -> Position:
    """Read a position. Raises InvalidInput."""
    if not re.fullmatch(r"[1-9]\d{0,5}(\.[1-9]\d{0,5}){0,20}", str(text)):
        hint = "send the number of the answer's fromStep, such as 4 or 3.2.1"
        raise InvalidInput(f"{field}: {str(text)[:40]!r} is not a step", hint=hint)
    return tuple(int(number) for number in str(text).split("."))


def to_number(position: str) -> int | str:
    """Return the position of a plain step as a number, for programs."""
    return position if "." in position else int(position or 0)
