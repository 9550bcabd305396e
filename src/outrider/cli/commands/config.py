"""`outrider config`: show settings with their origin, and change those of `~/.outrider/settings.json`."""

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from outrider.cli.command_group import HelpfulGroup
from outrider.cli.hosts.json_text import NotAnObject, remove_member, set_member
from outrider.cli.options import add_serving_options, load_settings
from outrider.cli.output import print_json, print_line, print_notes
from outrider.core.errors import InvalidInput, NotFound
from outrider.settings import Settings, load
from outrider.settings.layers import parse_text_value, read_settings_object, set_value

RESTART_NOTE = "new commands use it; restart hosts and servers that are running"


@contextmanager
def lock_settings_file() -> Generator[None]:
    """Wait until no other command changes the user's file.

    Otherwise each would undo the other's change.
    """
    folder = _get_path().parent
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be created: {error.strerror}") from None
    if sys.platform == "win32":
        yield
        return
    import fcntl  # missing on Windows

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@click.group(cls=HelpfulGroup)
def command() -> None:
    """Show and change settings."""


@command.command()
@click.argument("section", default="")
@add_serving_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(section: str, sets: tuple[str, ...], *, as_json: bool, **flags: str | None) -> None:
    """Print every effective value, or those of SECTION, with its origin; secrets are masked."""
    settings = load_settings(sets, **flags)
    rows = [row for row in settings.list_rows() if f"{row[0]}.".startswith(f"{section}." if section else "")]
    if not rows:
        raise NotFound(f"no setting {section!r}", hint="`outrider config schema` lists every setting")
    if as_json:
        print_json({name: {"value": value, "origin": origin} for name, value, origin in rows})
    else:
        width = max(len(name) for name, _, _ in rows)
        for name, value, origin in rows:
            print_line(f"{name:<{width}}  {value}  {click.style(f'({origin})', dim=True)}")
    print_notes(settings.warnings)


@command.command()
def schema() -> None:
    """Print the JSON Schema of ~/.outrider/settings.json."""
    print_json(Settings.model_json_schema())


@command.command("set")
@click.argument("name")
@click.argument("value")
def set_setting(name: str, value: str) -> None:
    """Set a setting in ~/.outrider/settings.json; VALUE - reads standard input.

    Lists are separated by commas: outrider config set search.order brave,tavily
    """
    value = sys.stdin.read().strip() if value == "-" else value
    with lock_settings_file():
        _save_value(name, parse_text_value(value, Settings, tuple(name.split("."))))


@command.command("add")
@click.argument("name")
@click.argument("values", nargs=-1, required=True)
@lock_settings_file()
def add_to_list(name: str, values: tuple[str, ...]) -> None:
    """Append VALUES to a list in ~/.outrider/settings.json.

    For instance: outrider config add egress.allow intranet.example
    """
    existing: Any = load(environ={}, workspace=Path.home()).settings.model_dump(mode="json")
    for section in name.split("."):
        existing = existing.get(section, []) if isinstance(existing, dict) else None
    if not isinstance(existing, list):
        raise InvalidInput(f"setting {name!r} is not a list", hint=f"outrider config set {name} VALUE")
    _save_value(name, [*existing, *(each for each in dict.fromkeys(values) if each not in existing)])


@command.command("unset")
@click.argument("name")
@lock_settings_file()
def unset_setting(name: str) -> None:
    """Remove a setting from ~/.outrider/settings.json, so that its default holds."""
    place = tuple(name.split("."))
    read_settings_object(_get_path())  # an error with line and column if it is malformed
    try:
        path = _edit_file(lambda text: remove_member(text, place))
    except (KeyError, ValueError):
        raise NotFound(f"{name} is not set in {_get_path()}", hint="`outrider config show` says where it is") from None
    print_line(f"{name} is removed from {path}; {RESTART_NOTE}")


def _save_value(name: str, value: Any) -> None:
    """Write a value to the user's file, if the settings are valid with it. Raises InvalidInput."""
    place = tuple(name.split("."))
    values = read_settings_object(_get_path())
    set_value(values, place, value)
    applied = load(values, environ={}, workspace=Path.home()).origins
    if not any(setting[: len(place)] == place for setting in applied):
        raise InvalidInput(f"setting {name!r} no longer exists: its value is fixed", hint="nothing was changed")
    try:
        path = _edit_file(lambda text: set_member(text, place, value))
    except NotAnObject as error:
        raise InvalidInput(f"{_get_path()}: {error}", hint="correct the file; nothing was changed") from None
    print_line(f"{name} is set in {path}; {RESTART_NOTE}")
    if (origin := load_settings().origins.get(place)) not in {None, str(_get_path())}:
        print_notes([f"here the value from the {origin} is used instead"])


def _edit_file(edit: Callable[[str], str]) -> Path:
    """Replace the text of the user's file atomically, and return its path."""
    path = _get_path().resolve()  # it may be a link into a folder under version control
    source = path.read_bytes() if path.exists() else b"{}\n"
    # Editors on Windows write other line ends, which are kept.
    newline = "\r\n" if b"\r\n" in source else "\n"
    text = source.decode("utf-8-sig").replace("\r\n", "\n")
    edited = edit(text if text.strip() else "{}\n")
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        partial.touch(mode=0o600)  # settings may hold keys
        partial.write_text(edited, encoding="utf-8", newline=newline)
        partial.replace(path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from None
    finally:
        partial.unlink(missing_ok=True)
    return path


def _get_path() -> Path:
    return Path.home() / ".outrider" / "settings.json"
