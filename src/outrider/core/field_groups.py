"""Understand several fields that together mean one parameter: coordinates, sizes, lines and pages."""

import re
from collections.abc import Callable
from typing import Any, TypeGuard

# Takes the fields of a tool, and values by their normalized names.
Fields = frozenset[str]
Unknown = dict[str, Any]
Understood = dict[str, Any]


def read_points(fields: Fields, unknown: Unknown) -> Understood:
    """Return `x` and `y`, or two such pairs, as points."""
    starts = _take_numbers(unknown, ("startx", "starty")) or _take_numbers(unknown, ("fromx", "fromy"))
    ends = _take_numbers(unknown, ("endx", "endy")) or _take_numbers(unknown, ("tox", "toy"))
    points = [starts, ends] if starts and ends else [_take_numbers(unknown, ("x", "y"))]
    if points == [None] or not fields & {"points", "at"}:
        return {}
    if "points" in fields:
        return {"points": points}
    return {"at": points[0]} if len(points) == 1 else {}


def read_scrolling(fields: Fields, unknown: Unknown) -> Understood:
    """Return distances to the right and down as a direction and an amount."""
    if not {"direction", "amount"} <= fields and "wheel" not in fields:
        return {}
    own_names = () if "wheel" in fields else ("x", "y")  # these place the mouse
    right = next((unknown[name] for name in ("deltax", "dx", *own_names[:1]) if is_number(unknown.get(name))), 0)
    down = next((unknown[name] for name in ("deltay", "dy", *own_names[1:]) if is_number(unknown.get(name))), 0)
    if "wheel" in fields:
        return {"wheel": [right, down]} if right or down else {}
    if bool(right) == bool(down):
        return {}
    direction = ("down" if down > 0 else "up") if down else ("right" if right > 0 else "left")
    return {"direction": direction, "amount": abs(round(down or right))}


def read_chord(fields: Fields, unknown: Unknown) -> Understood:
    """Return a key with the keys held down, as `Control+a`."""
    key, modifiers = unknown.get("key"), unknown.get("modifiers")
    is_chord = isinstance(key, str) and isinstance(modifiers, list) and all(isinstance(each, str) for each in modifiers)
    return {"key": "+".join([*modifiers, key])} if is_chord and "key" in fields else {}


def read_size(fields: Fields, unknown: Unknown) -> Understood:
    """Return a width and a height as `1200x800`."""
    size = _take_numbers(unknown, ("width", "height"))
    return {"viewport": f"{size[0]}x{size[1]}"} if size and "viewport" in fields else {}


def read_lines(fields: Fields, unknown: Unknown) -> Understood:
    """Return a range of lines in any usual form.

    For instance `10-40`, `[10, 40]`, or a first line and a count.
    """
    pair = next(
        (each for each in (("start_line", "end_line"), ("from_line", "to_line")) if fields.issuperset(each)), None
    )
    if pair is None:
        return {}
    spans = [unknown[name] for name in ("lines", "linerange", "viewrange", "range") if name in unknown]
    counts = [unknown[name] for name in ("limit", "head", "numlines", "linecount") if type(unknown.get(name)) is int]
    if len(counts) == 1 and not spans and 0 < counts[0] < 1e9:
        first = max(unknown.get(pair[0], unknown.get("offset", 1)), 1)
        return {pair[0]: first, pair[1]: first + counts[0] - 1} | ({"offset": 0} if "offset" in unknown else {})
    if len(spans) == 1:
        numbers = re.findall(r"[0-9]{1,9}", spans[0][:40]) if isinstance(spans[0], str) else spans[0]
        is_span = isinstance(numbers, list) and len(numbers) == 2 and all(str(each).isdigit() for each in numbers)
        return dict(zip(pair, map(int, numbers), strict=True)) if is_span else {}
    return {}


def read_target(fields: Fields, unknown: Unknown) -> Understood:
    """Return a role with a name, or the text of an element, as a selector."""
    role, name, text = (unknown.get(each) for each in ("role", "name", "text"))
    if "selector" not in fields or unknown.keys() & fields & {"name", "text"}:
        return {}
    if isinstance(role, str) and isinstance(name, str):
        return {"selector": f"{role}={name}"}
    return {"selector": f"text={text}"} if isinstance(text, str) and "text" not in fields else {}


def read_page(fields: Fields, unknown: Unknown) -> Understood:
    """Return the number of a page of size `limit` as an offset in the list."""
    page, limit = unknown.get("page"), unknown.get("limit", unknown.get("pagesize", 100))
    if "pagination" not in fields or type(page) is not int or type(limit) is not int or not 0 < page < 1e6:
        return {}
    return {"pagination": {"limit": limit, "offset": (page - 1) * limit}}


def _take_numbers(unknown: Unknown, names: tuple[str, str]) -> list[float] | None:
    numbers = [value for name in names if is_number(value := unknown.get(name))]
    return numbers if len(numbers) == len(names) else None


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a JSON value is a number; true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


# Each reader with the fields that it reads.
GROUP_READERS: tuple[tuple[Callable[[Fields, Unknown], Understood], frozenset[str]], ...] = (
    (read_scrolling, frozenset({"deltax", "deltay", "dx", "dy", "x", "y"})),
    (read_points, frozenset({"x", "y", "startx", "starty", "endx", "endy", "fromx", "fromy", "tox", "toy"})),
    (read_chord, frozenset({"modifiers"})),
    (read_size, frozenset({"width", "height"})),
    (read_lines, frozenset({"lines", "linerange", "viewrange", "range", "limit", "head", "numlines", "linecount"})),
    (read_target, frozenset({"role", "name", "text"})),
    (read_page, frozenset({"page", "limit", "pagesize"})),
)
