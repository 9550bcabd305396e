"""Change members of JSON text and keep the rest unchanged.

Comments and trailing commas stay.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
TRAILING_COMMA = re.compile(r'"(?:\\.|[^"\\])*"|,(?=\s*[}\]])')
NOT_SPACE = re.compile(r"\S")


class NotAnObject(ValueError):
    """A member that should be an object is something else."""


def parse_json(text: str, *, comments: bool) -> Any:
    """Return the value of JSON, or of JSON with comments and trailing commas. Raises json.JSONDecodeError."""
    return json.loads(_hide(TRAILING_COMMA, _hide(COMMENT, text)) if comments else text)


def set_member(text: str, path: tuple[str, ...], value: Any) -> str:
    """Return the text of an object with the member at `path` set; missing objects on the way are made.

    The text must be valid. Raises NotAnObject.
    """
    found = _find_object(text, 0)
    for number, key in enumerate(path):
        member = found.members.get(key)
        if member is None:
            for name in reversed(path[number + 1 :]):
                value = {name: value}
            return _insert_member(text, found, key, value)
        if number + 1 < len(path):
            found = _find_object(text, member.start, name=key)
    if parse_json(text[member.start : member.end], comments=True) == value:
        return text
    indent = _get_line_indent(text, member.key)
    return text[: member.start] + _format_value(text, value, indent) + text[member.end :]


def remove_member(text: str, path: tuple[str, ...]) -> str:
    """Return the text without the member at `path`. Raises KeyError if it is not there."""
    found = _find_object(text, 0)
    for key in path[:-1]:
        found = _find_object(text, found.members[key].start)
    names = [*found.members]
    number = names.index(path[-1])
    member = found.members[path[-1]]
    start, end = len(text[: member.key].rstrip()), max(member.end, member.comma + 1)
    after = text[end:]
    before = text[:start]
    if member.comma < 0 and number:  # the last member: its predecessor has the comma
        comma = found.members[names[number - 1]].comma
        before = before[:comma] + before[comma + 1 :]
    if not before[found.start + 1 :].strip() and after.lstrip().startswith("}"):
        return before[: found.start + 1] + after.lstrip()
    return before + after


@dataclass(frozen=True)
class _Member:
    """Positions of a member: its key, its value's start and end, and the comma after it (-1 if there is none)."""

    key: int
    start: int
    end: int
    comma: int


@dataclass(frozen=True)
class _Object:
    start: int
    end: int
    members: dict[str, _Member]


def _hide(pattern: re.Pattern[str], text: str) -> str:
    """Replace matches by spaces of the same length; strings and line ends stay."""
    return pattern.sub(lambda found: found[0] if found[0][0] == '"' else re.sub(r"[^\n]", " ", found[0]), text)


def _find_object(text: str, start: int, name: str = "the file") -> _Object:
    """Find the members of the object that begins at `start`."""
    hidden = _hide(COMMENT, text)
    values = _hide(TRAILING_COMMA, hidden)
    decoder = json.JSONDecoder()
    opening = _skip_space(values, start)
    if values[opening : opening + 1] != "{":
        raise NotAnObject(f"{name} is not an object")
    members: dict[str, _Member] = {}
    position = _skip_space(values, opening + 1)
    while values[position] != "}":
        key, after = decoder.raw_decode(values, position)
        value_start = _skip_space(values, values.index(":", after) + 1)
        _, end = decoder.raw_decode(values, value_start)
        comma = _skip_space(hidden, end)
        comma = comma if hidden[comma] == "," else -1
        members[key] = _Member(position, value_start, end, comma)
        position = _skip_space(values, comma + 1 if comma >= 0 else end)
    return _Object(opening, position, members)


def _skip_space(text: str, position: int) -> int:
    found = NOT_SPACE.search(text, position)
    return found.start() if found else len(text)


def _insert_member(text: str, found: _Object, key: str, value: Any) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    last = [*found.members.values()][-1] if found.members else None
    outer = _get_line_indent(text, found.start)
    if last and "\n" not in text[found.start : found.end]:
        member = f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        return f"{text[: last.end]}, {member}{text[last.end :]}"
    indent = _get_line_indent(text, last.key) if last else outer + _get_unit(text)
    member = f"{newline}{indent}{json.dumps(key)}: {_format_value(text, value, indent)}"
    end = len(text[: found.end].rstrip())  # after comments that follow the last member
    closing = text[end:] if last or "\n" in text[end : found.end] else f"{newline}{outer}{text[found.end :]}"
    if last and last.comma < 0:
        return f"{text[: last.end]},{text[last.end : end]}{member}{closing}"
    return f"{text[:end]}{member}{',' if last else ''}{closing}"


def _format_value(text: str, value: Any, indent: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = json.dumps(value, ensure_ascii=False, indent=_get_unit(text)).splitlines()
    return f"{newline}{indent}".join(lines)


def _get_unit(text: str) -> str:
    """Return the indentation of one level: that of the first indented line, or two spaces."""
    found = re.search(r'^([ \t]+)"', text, re.MULTILINE)
    return found[1] if found else "  "


def _get_line_indent(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip())]
