"""Add Outrider to a host's settings or remove it.

Everything else stays as it is.
"""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outrider.cli.hosts.catalogue import Host
from outrider.cli.hosts.editors import EDITORS, BrokenSettings, CannotKeep, Editor
from outrider.core.errors import InvalidInput

SERVER_NAME = "outrider"


@dataclass(frozen=True)
class SettingsChange:
    """The text of a file before and after a change; `before` is None for a new file."""

    path: Path
    before: str | None
    after: str

    @property
    def is_needed(self) -> bool:
        """Whether anything changes."""
        return (self.before or "") != self.after

    def write(self) -> Path | None:
        """Replace the file atomically and return the path of its backup. Raises InvalidInput."""
        target = self.path.resolve()  # settings may be links into a folder under version control
        backup = target.with_name(f"{target.name}.outrider-backup") if self.before is not None else None
        partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if backup:
                shutil.copy2(target, backup)
            try:
                partial.write_bytes(self.after.encode())
                if backup:
                    shutil.copymode(target, partial)
                partial.replace(target)
            finally:
                partial.unlink(missing_ok=True)
        except OSError as error:
            raise InvalidInput(f"{self.path} cannot be written: {error.strerror}") from error
        return backup


def plan_change(host: Host, path: Path, entry: Mapping[str, Any] | None) -> SettingsChange:
    """Return the change that sets Outrider's entry, or removes it if `entry` is None.

    Fields of an existing entry that `entry` does not have stay. Raises InvalidInput if the file is broken, or if it
    cannot be changed without losing something.
    """
    editor = EDITORS[host.file_format]
    before = _read_text(path)
    mark, text = ("\ufeff", before[1:]) if before and before.startswith("\ufeff") else ("", before or "")
    try:
        values = editor.parse(text)
    except BrokenSettings as error:
        raise InvalidInput(f"{path} is broken: {error}", hint="correct it and repeat; nothing was changed") from None
    if not isinstance(values, dict):
        raise InvalidInput(f"{path} is broken: line 1, column 1: not an object of settings", hint="nothing was changed")
    try:
        after = _edit(host, text, values, entry)
    except CannotKeep as error:
        snippet = editor.show(host.servers_key, SERVER_NAME, dict(entry or {}))
        hint = f"put this into {path} yourself:\n{snippet}" if entry else f"remove {SERVER_NAME} from {path} yourself"
        raise InvalidInput(f"{path} was not changed: {error}", hint=hint) from None
    return SettingsChange(path, before, mark + after)


def _edit(host: Host, text: str, values: dict[str, Any], entry: Mapping[str, Any] | None) -> str:
    """Return the changed text. Raises CannotKeep."""
    editor, key = EDITORS[host.file_format], host.servers_key
    servers = values.get(key) or {}
    if not isinstance(servers, dict):
        raise CannotKeep(f"{key} is not an object")
    existing = servers.get(SERVER_NAME)
    if entry is None:
        if existing is None and host.file_format != "yaml":  # YAML is not always parsed
            return text
        after = editor.remove(text, key, SERVER_NAME)
        servers = {name: each for name, each in servers.items() if name != SERVER_NAME}
    else:
        changes = _select_changes(existing, entry)
        if not changes:
            return text
        after = editor.set(text, key, SERVER_NAME, changes)
        servers = servers | {SERVER_NAME: (existing if isinstance(existing, dict) else {}) | changes}
    _compare(editor, after, values, key, servers)
    return after


def _select_changes(existing: Any, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields to write: all for a new entry, or changed fields that start the program for an existing one."""
    if not isinstance(existing, dict):
        return dict(entry)
    starting = {name: value for name, value in entry.items() if name in {"command", "cmd", "args", "type"}}
    return starting if any(existing.get(name) != value for name, value in starting.items()) else {}


def _compare(editor: Editor, text: str, values: dict[str, Any], key: str, servers: dict[str, Any]) -> None:
    """Check that a text changed only in its servers. Raises CannotKeep."""
    try:
        found = editor.parse(text)
    except BrokenSettings as error:
        raise CannotKeep(f"it is written in a way that cannot be extended ({error})") from None
    others = {name: value for name, value in values.items() if name != key}
    if values and ({name: value for name, value in found.items() if name != key} != others):
        raise CannotKeep("other settings would change")
    if found and (found.get(key) or {}) != servers:
        raise CannotKeep(f"its {key} are written in a way that cannot be changed safely")


def _read_text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8 (byte {error.start}); nothing was changed") from None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from None
