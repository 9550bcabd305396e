"""Where each session's files are: a directory of its own, that nobody finds by guessing names."""

import os
import re
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

from outrider.core.context import Call
from outrider.core.errors import NotFound, Unavailable
from outrider.workspace.quota import StorageQuota
from outrider.workspace.settings import WorkspaceSettings

if TYPE_CHECKING:
    from outrider.core.keyset import Batch
    from outrider.workspace.files import WorkspaceFiles

HOUR_S, DAY_S = 3_600, 86_400
WORKSPACE_KEY = re.compile(r"[0-9a-f]{32}")
LAST_USED_FILE = "used"  # an empty file; when it was changed is when the workspace was last used


@dataclass(frozen=True)
class WorkspaceUsage:
    """A workspace and when it was last used, in seconds since the epoch."""

    key: str
    used_at: float


@dataclass(frozen=True)
class SessionWorkspace:
    """The files of one session.

    Attributes:
        key: What it is known by on disk; says nothing about who owns it.
        root: Its own folder. Only `directory` in it is for the model and its code.
        quota: What its files may take.
    """

    key: str
    root: Path
    quota: StorageQuota

    @property
    def directory(self) -> Path:
        """What paths are relative to, and what code may see and change."""
        return self.root / "files"

    @property
    def state(self) -> Path:
        """For what we keep about the session beside its files: no path of a tool leads there."""
        return self.root / "state"

    @cached_property
    def files(self) -> "WorkspaceFiles":
        """Its files, jailed. Blocking: call in a thread."""
        from outrider.workspace.files import WorkspaceFiles

        return WorkspaceFiles(self.directory, quota=self.quota)


class SessionWorkspaces:
    """The workspaces below `folder`: one for each session of a person in a workspace of the host."""

    def __init__(self, folder: Path, settings: WorkspaceSettings) -> None:
        self.folder = folder
        self.settings = settings
        self._quotas: dict[str, StorageQuota] = {}

    def ensure_workspace(self, call: Call) -> SessionWorkspace:
        """The workspace of the call's session, made if it is missing, and noted as used now. Raises Unavailable."""
        found = self.find_workspace(call)
        try:
            for folder in (found.directory, found.state):
                folder.mkdir(parents=True, exist_ok=True)
            (found.root / LAST_USED_FILE).touch()
        except OSError as error:
            raise Unavailable(
                f"the workspace cannot be made: {error.strerror}",
                code="storage",
                hint="the operator checks free space and permissions of data_dir",
            ) from error
        return found

    def find_workspace(self, call: Call) -> SessionWorkspace:
        """The workspace of the call's session, as it is; it may not have been made yet."""
        return self._build_workspace(derive_key(call.scope))

    def list_recent(
        self, *, keys: Collection[str] | None = None, after: str = "", limit: int = 50
    ) -> "Batch[WorkspaceUsage]":
        """The workspaces of all sessions, for the person who runs the house: the last used first. Blocking.

        Args:
            keys: Only of these.
            after: Where the part begins, from the part before.
            limit: How many.

        Raises:
            InvalidInput: `after` is no place in the list.
        """
        from outrider.core.keyset import build_batch, format_cursor, parse_cursor

        wanted = [
            place
            for place in self._iter_folders()
            if WORKSPACE_KEY.fullmatch(place.name) and (keys is None or place.name in keys)
        ]
        found = sorted(((_read_last_used(place), place.name) for place in wanted), reverse=True)
        rest = [each for each in found if each < parse_cursor(after)] if after else found
        return build_batch(
            rest[: limit + 1], limit, lambda each: WorkspaceUsage(each[1], each[0]), lambda each: format_cursor(*each)
        )

    def get_by_key(self, key: str) -> SessionWorkspace:
        """The workspace of that key, whosever it is. Raises NotFound."""
        if not WORKSPACE_KEY.fullmatch(key) or not (self.folder / key).is_dir():
            raise NotFound("there is no such workspace", hint="it may have gone; choose another", code="no_workspace")
        return self._build_workspace(key)

    def _build_workspace(self, key: str) -> SessionWorkspace:
        return SessionWorkspace(key, self.folder / key, self._room(key))

    def _room(self, key: str) -> StorageQuota:
        max_quotas = 1_000  # whose sizes are remembered
        if len(self._quotas) > max_quotas:
            self._quotas.clear()
        return self._quotas.setdefault(key, StorageQuota(self.folder / key, int(self.settings.max_mb * 1_000_000)))

    def purge_unused(self) -> int:
        """Removes the workspaces that nobody has used for `keep_days`; returns how many went. Blocking.

        In those that stay it removes what was being written when the process was killed.
        """
        old = [
            place
            for place in self._iter_folders()
            if _read_last_used(place) < time.time() - self.settings.keep_days * DAY_S
        ]
        for place in old:
            rmtree(place, ignore_errors=True)
        for place in self._iter_folders():
            _remove_partial_files(place / "files")
        return len(old)

    def _iter_folders(self) -> Iterator[Path]:
        with suppress(OSError):
            yield from [place for place in self.folder.iterdir() if place.is_dir()]


def derive_key(scope: str) -> str:
    """What the workspace of a scope (`Call.scope`) is known by on disk."""
    return scope[:32]


def _remove_partial_files(root: Path) -> None:
    """Removes what nobody has written to for an hour and never got its name; links are not followed."""
    from outrider.workspace.jail import PARTIAL_PREFIX

    for _, _, names, descriptor in os.fwalk(root) if root.is_dir() else ():
        for name in names:
            with suppress(OSError):
                if (
                    name.startswith(PARTIAL_PREFIX)
                    and os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mtime < time.time() - HOUR_S
                ):
                    os.unlink(name, dir_fd=descriptor)


def _read_last_used(place: Path) -> float:
    with suppress(OSError):
        return (place / LAST_USED_FILE).stat().st_mtime
    return time.time()
