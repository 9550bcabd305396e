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
from outrider.workspace.room import Room
from outrider.workspace.settings import WorkspaceSettings

if TYPE_CHECKING:
    from outrider.core.keyset import Batch
    from outrider.workspace.files import Files

HOUR, DAY = 3_600, 86_400
MOST_ROOMS = 1_000  # whose sizes are remembered
KEY = re.compile(r"[0-9a-f]{32}")
USED = "used"  # an empty file; when it was changed is when the workspace was last used


@dataclass(frozen=True)
class UsedWorkspace:
    """A workspace and when it was last used, in seconds since the epoch."""

    key: str
    used_at: float


@dataclass(frozen=True)
class Workspace:
    """The files of one session.

    Attributes:
        key: What it is known by on disk; says nothing about who owns it.
        place: Its own folder. Only `directory` in it is for the model and its code.
        room: What its files may take.
    """

    key: str
    place: Path
    room: Room

    @property
    def directory(self) -> Path:
        """What paths are relative to, and what code may see and change."""
        return self.place / "files"

    @property
    def state(self) -> Path:
        """For what we keep about the session beside its files: no path of a tool leads there."""
        return self.place / "state"

    @cached_property
    def files(self) -> "Files":
        """Its files, jailed. Blocking: call in a thread."""
        from outrider.workspace.files import Files

        return Files(self.directory, room=self.room)


class Workspaces:
    """The workspaces below `folder`: one for each session of a person in a workspace of the host."""

    def __init__(self, folder: Path, settings: WorkspaceSettings) -> None:
        self.folder = folder
        self.settings = settings
        self._rooms: dict[str, Room] = {}

    def of(self, call: Call) -> Workspace:
        """The workspace of the call's session, made if it is missing, and noted as used now. Raises Unavailable."""
        found = self.find(call)
        try:
            for folder in (found.directory, found.state):
                folder.mkdir(parents=True, exist_ok=True)
            (found.place / USED).touch()
        except OSError as error:
            raise Unavailable(
                f"the workspace cannot be made: {error.strerror}",
                code="storage",
                hint="the operator checks free space and permissions of data_dir",
            ) from error
        return found

    def find(self, call: Call) -> Workspace:
        """The workspace of the call's session, as it is; it may not have been made yet."""
        return self._workspace(key_of(call.scope))

    def listed(
        self, *, keys: Collection[str] | None = None, after: str = "", limit: int = 50
    ) -> "Batch[UsedWorkspace]":
        """The workspaces of all sessions, for the person who runs the house: the last used first. Blocking.

        Args:
            keys: Only of these.
            after: Where the part begins, from the part before.
            limit: How many.

        Raises:
            InvalidInput: `after` is no place in the list.
        """
        from outrider.core.keyset import batch, mark, read_mark

        wanted = [
            place for place in self._places() if KEY.fullmatch(place.name) and (keys is None or place.name in keys)
        ]
        found = sorted(((_used_at(place), place.name) for place in wanted), reverse=True)
        rest = [each for each in found if each < read_mark(after)] if after else found
        return batch(rest[: limit + 1], limit, lambda each: UsedWorkspace(each[1], each[0]), lambda each: mark(*each))

    def at(self, key: str) -> Workspace:
        """The workspace of that key, whosever it is. Raises NotFound."""
        if not KEY.fullmatch(key) or not (self.folder / key).is_dir():
            raise NotFound("there is no such workspace", hint="it may have gone; choose another", code="no_workspace")
        return self._workspace(key)

    def _workspace(self, key: str) -> Workspace:
        return Workspace(key, self.folder / key, self._room(key))

    def _room(self, key: str) -> Room:
        if len(self._rooms) > MOST_ROOMS:
            self._rooms.clear()
        return self._rooms.setdefault(key, Room(self.folder / key, int(self.settings.max_mb * 1_000_000)))

    def sweep(self) -> int:
        """Removes the workspaces that nobody has used for `keep_days`; returns how many went. Blocking.

        In those that stay it removes what was being written when the process was killed.
        """
        old = [place for place in self._places() if _used_at(place) < time.time() - self.settings.keep_days * DAY]
        for place in old:
            rmtree(place, ignore_errors=True)
        for place in self._places():
            _remove_partial(place / "files")
        return len(old)

    def _places(self) -> Iterator[Path]:
        with suppress(OSError):
            yield from [place for place in self.folder.iterdir() if place.is_dir()]


def key_of(scope: str) -> str:
    """What the workspace of a scope (`Call.scope`) is known by on disk."""
    return scope[:32]


def _remove_partial(root: Path) -> None:
    """Removes what nobody has written to for an hour and never got its name; links are not followed."""
    from outrider.workspace.jail import PARTIAL

    for _, _, names, descriptor in os.fwalk(root) if root.is_dir() else ():
        for name in names:
            with suppress(OSError):
                if (
                    name.startswith(PARTIAL)
                    and os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mtime < time.time() - HOUR
                ):
                    os.unlink(name, dir_fd=descriptor)


def _used_at(place: Path) -> float:
    with suppress(OSError):
        return (place / USED).stat().st_mtime
    return time.time()
