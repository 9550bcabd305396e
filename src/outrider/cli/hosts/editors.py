"""Read, change and show a server's entry in each settings format."""

import json
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from outrider.cli.hosts import json_text, toml_text, yaml_text
from outrider.cli.hosts.catalogue import FileFormat

Entry = dict[str, Any]


class BrokenSettings(ValueError):
    """The text is not in its format; the message names line and column."""


class CannotKeep(ValueError):
    """The text cannot be changed without losing something."""


@dataclass(frozen=True)
class Editor:
    """The editor of one settings format.

    Attributes:
        parse: Returns the values of a text. Raises BrokenSettings.
        set: Returns the text with an entry (text, key of the servers, name, entry). Raises CannotKeep.
        remove: Returns the text without an entry that is there (text, key of the servers, name). Raises CannotKeep.
        show: Returns the text for a person to paste (key of the servers, name, entry).
    """

    parse: Callable[[str], Any]
    set: Callable[[str, str, str, Entry], str]
    remove: Callable[[str, str, str], str]
    show: Callable[[str, str, Entry], str]


def _build_json_editor(*, comments: bool) -> Editor:
    def parse_text(text: str) -> Any:
        try:
            return json_text.parse_json(text, comments=comments) if text.strip() else {}
        except json.JSONDecodeError as error:
            raise BrokenSettings(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
        except RecursionError:
            raise BrokenSettings("line 1, column 1: nested too deeply") from None

    def set_entry(text: str, key: str, name: str, entry: Entry) -> str:
        text = text if text.strip() else "{}\n"
        existing = parse_text(text).get(key) or {}
        if not isinstance(existing, dict) or not isinstance(existing.get(name, {}), dict):
            raise CannotKeep(f"{key} or {key}.{name} is not an object")
        if name not in existing:
            return _set_json(text, (key, name), entry)
        for field, value in entry.items():
            text = _set_json(text, (key, name, field), value)
        return text

    return Editor(
        parse_text,
        set_entry,
        lambda text, key, name: json_text.remove_member(text, (key, name)),
        lambda key, name, entry: json.dumps({key: {name: entry}}, indent=2, ensure_ascii=False) + "\n",
    )


def _set_json(text: str, path: tuple[str, ...], value: Any) -> str:
    try:
        return json_text.set_member(text, path, value)
    except json_text.NotAnObject as error:
        raise CannotKeep(str(error)) from None


def _parse_toml(text: str) -> Any:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.match(r"(.*) \(at (line \d+, column \d+)\)$", str(error))
        last_line = text.count("\n") + 1
        raise BrokenSettings(f"{found[2]}: {found[1]}" if found else f"line {last_line}, column 1: {error}") from None


def _parse_yaml(text: str) -> Any:
    """Return the values; without PyYAML, only whether there is an entry, as its text."""
    if tab := yaml_text.check_indentation(text):
        raise BrokenSettings(f"line {tab[0]}, column {tab[1]}: a tab is used to indent, but YAML requires spaces")
    if not find_spec("yaml"):
        return {}
    import yaml  # of the extra `agents`

    try:
        return yaml.safe_load(text) or {}
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "line 1, column 1"
        raise BrokenSettings(f"{place}: {error.problem}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise BrokenSettings(f"line 1, column 1: {error}") from None


def _set_yaml(text: str, key: str, name: str, entry: Entry) -> str:
    try:
        existing = yaml_text.read_entry(text, key, name)
        changed = yaml_text.set_entry(text, key, name, entry)
    except yaml_text.NotBlockStyle as error:
        raise CannotKeep(str(error)) from None
    if existing is not None and changed != text:
        raise CannotKeep(f"{key}.{name} already exists with other values")
    return changed


def _remove_yaml(text: str, key: str, name: str) -> str:
    try:
        return yaml_text.remove_entry(text, key, name)
    except yaml_text.NotBlockStyle as error:
        raise CannotKeep(str(error)) from None


EDITORS: dict[FileFormat, Editor] = {
    "json": _build_json_editor(comments=False),
    "jsonc": _build_json_editor(comments=True),
    "toml": Editor(
        _parse_toml,
        lambda text, key, name, entry: toml_text.set_table(text, (key, name), entry),
        lambda text, key, name: toml_text.remove_table(text, (key, name)),
        lambda key, name, entry: toml_text.set_table("", (key, name), entry),
    ),
    "yaml": Editor(_parse_yaml, _set_yaml, _remove_yaml, yaml_text.format_entry),
}
