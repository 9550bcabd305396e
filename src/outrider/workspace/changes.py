"""Which files an execution has made, changed or removed: what is there before is compared with what is there after."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from outrider.workspace.jail import PARTIAL_PREFIX

MAX_SNAPSHOT_FILES = 50_000  # files that are looked at

FileFacts = tuple[int, int, int]  # size in bytes, last change of content in nanoseconds, inode
FileSnapshot = dict[str, FileFacts]


@dataclass(frozen=True)
class FileChange:
    """A file that differs: `size` is in bytes, 0 where it is gone."""

    path: str
    change: Literal["created", "changed", "deleted"]
    size: int


def take_snapshot(directory: Path) -> FileSnapshot:
    """What is there now, by path relative to the directory; links are not followed. Blocking."""
    seen: FileSnapshot = {}
    for path, facts in _iter_files(directory):
        seen[path] = (facts.st_size, facts.st_mtime_ns, facts.st_ino)
        if len(seen) >= MAX_SNAPSHOT_FILES:
            break
    return seen


def diff_snapshots(before: FileSnapshot, after: FileSnapshot) -> list[FileChange]:
    """What differs, by path. Where there are too many files to look at all, only what both looks saw."""
    whole = len(before) < MAX_SNAPSHOT_FILES and len(after) < MAX_SNAPSHOT_FILES
    made = [FileChange(path, "created", after[path][0]) for path in after.keys() - before.keys() if whole]
    gone = [FileChange(path, "deleted", 0) for path in before.keys() - after.keys() if whole]
    both = before.keys() & after.keys()
    other = [FileChange(path, "changed", after[path][0]) for path in both if before[path] != after[path]]
    return sorted(made + gone + other, key=lambda each: each.path)


def is_over_quota(directory: Path, quota: int) -> bool:
    """Whether there are more bytes or more entries below a directory than it may hold. Blocking."""
    max_entries = 200_000  # files and folders that a workspace may hold: each takes room that no size tells
    size = count = 0
    for folder, folders, names in os.walk(directory):
        count += len(folders) + len(names)
        for name in names:
            with suppress(OSError):
                size += os.lstat(f"{folder}/{name}").st_size
        if size > quota or count > max_entries:
            return True
    return False


def _iter_files(directory: Path) -> Iterator[tuple[str, os.stat_result]]:
    for folder, _, names in os.walk(directory):
        for name in names:
            if not name.startswith(PARTIAL_PREFIX):
                with suppress(OSError):
                    path = f"{folder}/{name}"
                    yield os.path.relpath(path, directory), os.lstat(path)
