"""Change one entry of a YAML mapping and keep the rest unchanged.

It is a mapping of mappings; comments stay.

Block style only, as hosts write it. PyYAML, which loses comments, is not needed.
"""

import json
import re
from collections.abc import Mapping
from typing import Any


class NotBlockStyle(ValueError):
    """The mapping does not have one key per line."""


def check_indentation(text: str) -> tuple[int, int] | None:
    """Return line and column of the first tab that indents, which YAML forbids."""
    for number, line in enumerate(text.splitlines(), 1):
        indent = line[: len(line) - len(line.lstrip())]
        if "\t" in indent and line.strip():
            return number, indent.index("\t") + 1
    return None


def set_entry(text: str, mapping: str, name: str, values: Mapping[str, Any]) -> str:
    """Return the text with `mapping.name` set to `values`. Raises NotBlockStyle."""
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    start = _find_mapping(lines, mapping)
    if start is None:
        return "".join([*lines, f"{mapping}:\n", *_format_entry("  ", name, values)])
    indent = _get_child_indent(lines, start)
    if block := _find_entry(lines, start, indent, name):
        lines[block[0] : block[1]] = _format_entry(indent, name, values)
    else:
        lines[start + 1 : start + 1] = _format_entry(indent, name, values)
    return "".join(lines)


def read_entry(text: str, mapping: str, name: str) -> str | None:
    """Return the lines of `mapping.name`, or None. Raises NotBlockStyle."""
    lines = text.splitlines(keepends=True)
    start = _find_mapping(lines, mapping)
    block = None if start is None else _find_entry(lines, start, _get_child_indent(lines, start), name)
    return "".join(lines[slice(*block)]) if block else None


def remove_entry(text: str, mapping: str, name: str) -> str:
    """Return the text without `mapping.name`; a mapping that is empty then becomes `{}`. Raises NotBlockStyle."""
    lines = text.splitlines(keepends=True)
    start = _find_mapping(lines, mapping)
    if start is None or not (block := _find_entry(lines, start, _get_child_indent(lines, start), name)):
        return text
    del lines[block[0] : block[1]]
    if not any(line.strip() and line[0] in " \t-" for line in lines[start + 1 : start + 2]):
        lines[start] = lines[start].replace(":", ": {}", 1)
    return "".join(lines)


def format_entry(mapping: str, name: str, values: Mapping[str, Any]) -> str:
    """Return the mapping with one entry as text."""
    return "".join([f"{mapping}:\n", *_format_entry("  ", name, values)])


def _find_mapping(lines: list[str], mapping: str) -> int | None:
    for number, line in enumerate(lines):
        if re.match(rf"""["']?{re.escape(mapping)}["']?\s*:""", line):
            value = line.partition(":")[2].partition(" #")[0].strip()
            if value == "{}":
                lines[number] = f"{mapping}:\n"
            elif value:
                raise NotBlockStyle(f"{mapping} does not have one key per line")
            return number
    return None


def _get_child_indent(lines: list[str], start: int) -> str:
    for line in lines[start + 1 :]:
        if line.strip() and not line.lstrip().startswith("#"):
            indent = line[: len(line) - len(line.lstrip())]
            return indent or "  "
    return "  "


def _find_entry(lines: list[str], start: int, indent: str, name: str) -> tuple[int, int] | None:
    header = re.compile(rf"""{indent}["']?{re.escape(name)}["']?\s*:""")
    for number in range(start + 1, len(lines)):
        line = lines[number]
        if line.strip() and not line.startswith((indent, "#")):
            return None  # the mapping has ended
        if header.match(line):
            end = number + 1
            while end < len(lines) and lines[end].startswith(f"{indent} "):
                end += 1
            return number, end
    return None


def _format_entry(indent: str, name: str, values: Mapping[str, Any]) -> list[str]:
    # JSON is YAML, so values need no YAML quoting.
    fields = [f"{indent}  {key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items()]
    return [f"{indent}{name}:\n", *fields]
