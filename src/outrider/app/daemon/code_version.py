"""Detect changes of the code on disk, and compare versions."""

import hashlib
import os
import re
from pathlib import Path

import outrider

VERSION_NUMBER = re.compile(r"\d+")
PACKAGE_ROOT = Path(outrider.__file__).parent


def fingerprint_code(root: Path = PACKAGE_ROOT) -> str:
    """Return a digest of the code files' names, sizes and times.

    The times are those of modification.
    """
    files: list[tuple[str, int, int]] = []
    folders = [str(root)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name == "__pycache__":
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    stat = entry.stat()
                    files.append((entry.path, stat.st_size, stat.st_mtime_ns))
    digest = hashlib.blake2s(digest_size=16)
    for name, size, modified in sorted(files):
        digest.update(f"{name}\0{size}\0{modified}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def is_newer_version(version: str, than: str) -> bool:
    """Return whether a release is newer than another, by its numbers."""
    return _parse_version(version) > _parse_version(than)


def _parse_version(version: str) -> list[int]:
    return [int(number) for number in VERSION_NUMBER.findall(version)]
