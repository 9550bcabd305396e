"""Change one table of TOML text and keep the rest unchanged.

Comments stay.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

HEADER = re.compile(r"^\s*\[")


def set_table(text: str, path: tuple[str, str], values: Mapping[str, Any]) -> str:
    """Set the values of the table `[a.b]`.

    A missing table is added at the end.

    Only values on one line are found, so compare the outcome before using it.
    """
    lines = text.splitlines(keepends=True)
    block = _find_block(lines, path, subtables=False)
    assignments = {name: f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in values.items()}
    if block is None:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{gap}[{path[0]}.{path[1]}]\n{''.join(assignments.values())}"
    body = lines[block[0] + 1 : block[1]]
    changed = [assignments.get(line.partition("=")[0].strip(), line) for line in body]
    missing = [line for line in assignments.values() if line not in changed]
    return "".join([*lines[: block[0] + 1], *missing, *changed, *lines[block[1] :]])


def remove_table(text: str, path: tuple[str, str]) -> str:
    """Return the text without the table `[a.b]` and the tables in it."""
    lines = text.splitlines(keepends=True)
    while block := _find_block(lines, path, subtables=True):
        start = block[0] - 1 if block[0] and not lines[block[0] - 1].strip() else block[0]
        del lines[start : block[1]]
    return "".join(lines)


def _find_block(lines: list[str], path: tuple[str, str], *, subtables: bool) -> tuple[int, int] | None:
    """Return the first and last line of a table.

    Blank lines and comments before the next table do not belong to it.
    """
    first, second = (f"""(?:{re.escape(name)}|"{re.escape(name)}"|'{re.escape(name)}')""" for name in path)
    rest = r"(?:\..+)?" if subtables else ""
    header = re.compile(rf"^\s*\[\s*{first}\s*\.\s*{second}\s*{rest}\]\s*(?:#.*)?$")
    start = next((number for number, line in enumerate(lines) if header.match(line.rstrip())), None)
    if start is None:
        return None
    end = next((number for number in range(start + 1, len(lines)) if HEADER.match(lines[number])), len(lines))
    while end > start + 1 and re.match(r"\s*(#|$)", lines[end - 1]):
        end -= 1
    return start, end
