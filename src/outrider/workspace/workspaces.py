"""Map each session to its own directory.

Its name cannot be guessed.
"""

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
from outrider.workspace.settings import HOST_ROOTS, WorkspaceSettings

if TYPE_CHECKING:
    from outrider.core.keyset import Batch
    from outrider.workspace.files import WorkspaceFiles

WORKSPACE_KEY = re.compile(r"[0-9a-f]{32}")
LAST_USED_FILE = "used"  # empty; its modification time is the last use of the workspace
PROJECT_FILE = "project"  # the path of the folder that the session's host has offered


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
        protected: Paths that tools do not write, as `Jail` takes them.
    """

    key: str
    root: Path
    directory: Path
    quota: StorageQuota
    is_project: bool = False
    protected: tuple[str, ...] = ()

    @property
    def state(self) -> Path:
        """The folder for our own data about the session, which no path of a tool can reach."""
        return self.root / "state"

    @cached_property
    def files(self) -> "WorkspaceFiles":
        """The files of the workspace, jailed. Blocking: call it in a thread."""
        from outrider.workspace.files import WorkspaceFiles

        return WorkspaceFiles(self.directory, quota=self.quota, protected=self.protected)


class SessionWorkspaces:
    """The workspaces below `folder`: one per session, person and workspace of the host.

    With a `project`, a folder of the user, all sessions share its files; only our own data stays below `folder`.
    If the settings leave the folder to the host, each session has the one that its host offered last.
    """

    def __init__(self, folder: Path, settings: WorkspaceSettings, project: Path | None = None) -> None:
        self.folder = folder
        self.settings = settings
        self.project = project
        self._quotas: dict[tuple[str, bool], StorageQuota] = {}
        self._host_projects: dict[str, Path | None] = {}

    def ensure_workspace(self, call: Call) -> SessionWorkspace:
        """Return the workspace of the call's session, created if missing, and record its use. Raises Unavailable."""
        workspace = self.find_workspace(call)
        try:
            for folder in (workspace.directory, workspace.state):
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
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

    def choose_project(self, call: Call, folder: Path | None) -> bool:
        """Make a user's folder the workspace of the call's session; return whether that is a change. Blocking.

        None means the session's own folder. The choice is stored, because agents may continue in other processes.
        """
        key = self.ensure_workspace(call).key
        if self._find_host_project(key) == folder:
            return False
        file = self.folder / key / PROJECT_FILE
        if folder is None:
            file.unlink(missing_ok=True)
        else:
            draft = file.with_name(f"{PROJECT_FILE}.{os.getpid()}")
            draft.write_bytes(os.fsencode(folder))
            draft.replace(file)
        self._host_projects[key] = folder
        return True

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
        """Return the workspace of a key, regardless of its owner. Raises NotFound."""
        if not WORKSPACE_KEY.fullmatch(key) or not (self.folder / key).is_dir():
            raise NotFound(
                "this workspace does not exist", hint="it may have been deleted; choose another", code="no_workspace"
            )
        return self._build_workspace(key)

    def _build_workspace(self, key: str) -> SessionWorkspace:
        max_sessions = 1_000
        for sessions in (self._quotas, self._host_projects):
            if len(sessions) > max_sessions:
                sessions.clear()
        root, project = self.folder / key, self.project or self._find_host_project(key)
        is_project = project is not None
        max_bytes = None if is_project else self.settings.max_bytes
        quota = self._quotas.setdefault((key, is_project), StorageQuota(root, max_bytes))
        if project is None:
            return SessionWorkspace(key, root, root / "files", quota)
        return SessionWorkspace(key, root, project, quota, is_project=True, protected=tuple(self.settings.protected))

    def _find_host_project(self, key: str) -> Path | None:
        """Return the folder that the session's host has offered, if the settings leave the choice to hosts."""
        if self.settings.directory != HOST_ROOTS:
            return None
        if key not in self._host_projects:
            self._host_projects[key] = None
            with suppress(FileNotFoundError):
                self._host_projects[key] = Path(os.fsdecode((self.folder / key / PROJECT_FILE).read_bytes()))
        return self._host_projects[key]

    def purge_unused(self, keep_days: float = 30) -> int:
        """Delete the workspaces not used for this many days; return their number. Blocking.

        In the others, delete partial files that a killed process has left.
        """
        oldest = time.time() - keep_days * 86_400
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
