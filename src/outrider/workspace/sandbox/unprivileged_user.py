"""Who sandboxed code is: nobody in particular where the server is root, and else the server's own user."""

import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

FIRST_UID, UID_COUNT = (
    61_184,
    4_336,
)  # users that no file belongs to; systemd takes its dynamic ones from here (uids.md)
SANDBOX_UIDS = range(FIRST_UID, FIRST_UID + UID_COUNT)


def find_unused_uid(directory: Path) -> int | None:
    """The user that code in this workspace runs as: one for each, none that the machine knows; None if not root."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    import pwd

    known = {entry.pw_uid for entry in pwd.getpwall()}
    start = zlib.crc32(os.fsencode(directory))
    return next(uid for step in range(UID_COUNT) if (uid := FIRST_UID + (start + step) % UID_COUNT) not in known)


def chown_tree(directory: Path, uid: int) -> None:
    """Gives a tree to a user, without following links. Files with further names elsewhere stay whose they are."""
    os.chown(directory, uid, uid)
    for folder, name, facts in _iter_entries(directory):
        if facts.st_uid != uid and (stat.S_ISDIR(facts.st_mode) or facts.st_nlink == 1):
            with suppress(FileNotFoundError):
                os.chown(name, uid, uid, dir_fd=folder, follow_symlinks=False)


def _iter_entries(directory: Path) -> Iterator[tuple[int, str, os.stat_result]]:
    for _, folders, names, descriptor in os.fwalk(directory):
        for name in (*folders, *names):
            with suppress(FileNotFoundError):
                yield descriptor, name, os.stat(name, dir_fd=descriptor, follow_symlinks=False)
