"""Detect which files an execution created, changed or deleted.

Snapshots before and after are compared.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from outrider.core.errors import OutriderError
from outrider.core.jail import PARTIAL_PREFIX
from outrider.workspace.files import WorkspaceFiles

MAX_SNAPSHOT_FILES = 50_000

FileFacts = tuple[int, int, int]  # size in bytes, modification time in ns, inode
FileSnapshot = dict[str, FileFacts]
MAX_IMAGE_BYTES = 2_000_000  # what hosts commonly accept


@dataclass(frozen=True)
class FileChange:
    """A file that differs; `size` is in bytes, 0 if it was deleted."""

    path: str
    change: Literal["created", "changed", "deleted"]
    size: int


def take_snapshot(directory: Path) -> FileSnapshot:
    """Return the files below a directory, by relative path; links are not followed. Blocking."""
    snapshot: FileSnapshot = {}
    for folder, _, names in os.walk(directory):
        for name in names:
            if name.startswith(PARTIAL_PREFIX):
                continue
            with suppress(OSError):
                facts = os.lstat(f"{folder}/{name}")
                path = os.path.relpath(f"{folder}/{name}", directory)
                snapshot[path] = (facts.st_size, facts.st_mtime_ns, facts.st_ino)
            if len(snapshot) >= MAX_SNAPSHOT_FILES:
                return snapshot
    return snapshot


def diff_snapshots(before: FileSnapshot, after: FileSnapshot) -> list[FileChange]:
    """Return the differences, by path. If a snapshot is cut off, only files in both are compared."""
    complete = len(before) < MAX_SNAPSHOT_FILES and len(after) < MAX_SNAPSHOT_FILES
    created = [FileChange(path, "created", after[path][0]) for path in after.keys() - before.keys() if complete]
    deleted = [FileChange(path, "deleted", 0) for path in before.keys() - after.keys() if complete]
    common = before.keys() & after.keys()
    changed = [FileChange(path, "changed", after[path][0]) for path in common if before[path] != after[path]]
    return sorted(created + deleted + changed, key=lambda change: change.path)


def is_over_quota(directory: Path, quota: int) -> bool:
    """Return whether a directory exceeds its limit of bytes or entries. Blocking."""
    max_entries = 200_000  # files and folders: each takes disk space beyond its size
    size = count = 0
    for folder, folders, names in os.walk(directory):
        count += len(folders) + len(names)
        for name in names:
            with suppress(OSError):
                size += os.lstat(f"{folder}/{name}").st_size
        if size > quota or count > max_entries:
            return True
    return False


@dataclass(frozen=True)
class ImageFile:
    """The content of an image file."""

    path: str
    data: bytes
    mime_type: str


def collect_images(files: WorkspaceFiles, changed: Iterable[FileChange]) -> list[ImageFile]:
    """Return the first few images among changed files that are not too large. Blocking."""
    suffixes = (".png", ".jpg", ".jpeg", ".gif", ".webp")
    max_images = 4
    images: list[ImageFile] = []
    for change in changed:
        fits = change.path.lower().endswith(suffixes) and 0 < change.size <= MAX_IMAGE_BYTES
        if fits and len(images) < max_images and (image := _read_image(files, change.path)):
            images.append(image)
    return images


def _read_image(files: WorkspaceFiles, path: str) -> ImageFile | None:
    """Return an image, recognized by its content; None for anything else."""
    signatures = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
    try:
        data = files.read_bytes(path)
    except OutriderError:  # deleted or replaced in the meantime
        return None
    mime_type = next((mime for start, mime in signatures.items() if data.startswith(start)), "")
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        mime_type = "image/webp"
    return ImageFile(path, data, mime_type) if mime_type and len(data) <= MAX_IMAGE_BYTES else None
