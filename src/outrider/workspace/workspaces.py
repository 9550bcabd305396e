"""Map each session to a directory of its own, whose name cannot be guessed."""

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

WORKSPACE_KEY = re.compile(r"[0-9a-f]{32}")
LAST_USED_FILE = "used"  # empty; its modification time is the last use of the workspace


@dataclass(frozen=True)
class WorkspaceUsage:
    """A workspace and its last use, in seconds since the epoch."""

    key: str
    used_at: float


@dataclass(frozen=True)
class SessionWorkspace:
    """The files of one session.

    Attributes:
        key: Its name on disk, which does not reveal the owner.
        root: Its folder for our own data.
        directory: The folder that paths are relative to, and the only one that the model and its code can reach.
        quota: Limits the size of its files.
        is_project: Whether `directory` is a folder of the user, which outlives the session.
    """

    key: str
    root: Path
    directory: Path
    quota: StorageQuota
    is_project: bool = False

    @property
    def state(self) -> Path:
        """The folder for our own data about the session, which no path of a tool can reach."""
        return self.root / "state"

    @cached_property
    def files(self) -> "WorkspaceFiles":
        """The files of the workspace, jailed. Blocking: call it in a thread."""
        from outrider.workspace.files import WorkspaceFiles

        return WorkspaceFiles(self.directory, quota=self.quota)


class SessionWorkspaces:
    """The workspaces below `folder`: one per session, person and workspace of the host.

    With a `project`, a folder of the user, all sessions share its files; only our own data stays below `folder`.
    """

    def __init__(self, folder: Path, settings: WorkspaceSettings, project: Path | None = None) -> None:
        self.folder = folder
        self.settings = settings
        self.project = project
        self._quotas: dict[str, StorageQuota] = {}

    def ensure_workspace(self, call: Call) -> SessionWorkspace:
        """Return the workspace of the call's session, created if missing, and record its use. Raises Unavailable."""
        workspace = self.find_workspace(call)
        try:
            for folder in (workspace.directory, workspace.state):
                folder.mkdir(parents=True, exist_ok=True)
            (workspace.root / LAST_USED_FILE).touch()
        except OSError as error:
            raise Unavailable(
                f"the workspace cannot be created: {error.strerror}",
                code="storage",
                hint="the operator must check free space and permissions of data_dir",
            ) from error
        return workspace

    def find_workspace(self, call: Call) -> SessionWorkspace:
        """Return the workspace of the call's session, which may not exist on disk yet."""
        return self._build_workspace(derive_key(call.scope))

    def list_recent(
        self, *, keys: Collection[str] | None = None, after: str = "", limit: int = 50
    ) -> "Batch[WorkspaceUsage]":
        """Return the workspaces of all sessions, last used first, for the operator. Blocking.

        Args:
            keys: Only these workspaces.
            after: The cursor of the previous batch.
            limit: Maximum number of workspaces.

        Raises:
            InvalidInput: `after` is not a cursor.
        """
        from outrider.core.keyset import build_batch, format_cursor, parse_cursor

        usages = [
            (_read_last_used(folder), folder.name)
            for folder in self._iter_folders()
            if WORKSPACE_KEY.fullmatch(folder.name) and (keys is None or folder.name in keys)
        ]
        usages.sort(reverse=True)
        if after:
            position = parse_cursor(after)
            usages = [usage for usage in usages if usage < position]
        return build_batch(
            usages[: limit + 1],
            limit,
            lambda usage: WorkspaceUsage(usage[1], usage[0]),
            lambda usage: format_cursor(*usage),
        )

    def get_by_key(self, key: str) -> SessionWorkspace:
        """Return the workspace of a key, whoever owns it. Raises NotFound."""
        if not WORKSPACE_KEY.fullmatch(key) or not (self.folder / key).is_dir():
            raise NotFound(
                "this workspace does not exist", hint="it may have been deleted; choose another", code="no_workspace"
            )
        return self._build_workspace(key)

    def _build_workspace(self, key: str) -> SessionWorkspace:
        max_quotas = 1_000
        if len(self._quotas) > max_quotas:
            self._quotas.clear()
        root = self.folder / key
        max_bytes = None if self.project else self.settings.max_bytes
        quota = self._quotas.setdefault(key, StorageQuota(root, max_bytes))
        return SessionWorkspace(key, root, self.project or root / "files", quota, is_project=self.project is not None)

    def purge_unused(self) -> int:
        """Delete the workspaces not used for `keep_days`; return their number. Blocking.

        In the others, delete partial files that a killed process has left.
        """
        oldest = time.time() - self.settings.keep_days * 86_400
        unused = [folder for folder in self._iter_folders() if _read_last_used(folder) < oldest]
        for folder in unused:
            rmtree(folder, ignore_errors=True)
        for folder in self._iter_folders():
            _remove_partial_files(folder / "files")
        return len(unused)

    def _iter_folders(self) -> Iterator[Path]:
        with suppress(OSError):
            yield from [path for path in self.folder.iterdir() if path.is_dir()]


def derive_key(scope: str) -> str:
    """Return the name on disk of the workspace of a scope (`Call.scope`)."""
    return scope[:32]


def _remove_partial_files(root: Path) -> None:
    """Delete partial files that have not been written to for an hour; links are not followed."""
    from outrider.core.jail import PARTIAL_PREFIX

    oldest = time.time() - 3_600
    for _, _, names, folder in os.fwalk(root) if root.is_dir() else ():
        for name in names:
            if name.startswith(PARTIAL_PREFIX):
                with suppress(OSError):
                    if os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime < oldest:
                        os.unlink(name, dir_fd=folder)


def _read_last_used(folder: Path) -> float:
    """Return when a workspace was last used; now if that is unknown, so that it is not deleted."""
    with suppress(OSError):
        return (folder / LAST_USED_FILE).stat().st_mtime
    return time.time()
