"""The user that sandboxed code runs as: an otherwise unused one if the server is root, else the server's own."""

import os
import stat
import zlib
from contextlib import suppress
from pathlib import Path

from outrider.workspace.sandbox.job import IsolationLevel

# A range in which no file has an owner: systemd takes its dynamic users from it (its docs/UIDS-GIDS.md).
FIRST_UID, UID_COUNT = 61_184, 4_336
SANDBOX_UIDS = range(FIRST_UID, FIRST_UID + UID_COUNT)


def find_unused_uid(directory: Path) -> int | None:
    """Return the user for code in this workspace, one per workspace and unknown to the system; None if not root."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    import pwd

    known = {entry.pw_uid for entry in pwd.getpwall()}
    start = zlib.crc32(os.fsencode(directory))
    return next(uid for step in range(UID_COUNT) if (uid := FIRST_UID + (start + step) % UID_COUNT) not in known)


def find_owner_uid(directory: Path, level: IsolationLevel, unused_uid: int) -> int | None:
    """Return the user for code in a folder whose files keep their owner; None for the server's own, root.

    Namespaces confine root as well. Landlock does not, so there code can only read a folder of root.
    """
    owner = directory.stat().st_uid
    if owner:
        return owner
    return None if level == "namespaces" else unused_uid


def chown_tree(directory: Path, uid: int) -> None:
    """Give a tree to a user, without following links; files with hard links keep their owner: they may lie outside."""
    os.chown(directory, uid, uid)
    for _, folders, names, descriptor in os.fwalk(directory):
        for name in (*folders, *names):
            with suppress(FileNotFoundError):
                facts = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                if facts.st_uid != uid and (stat.S_ISDIR(facts.st_mode) or facts.st_nlink == 1):
                    os.chown(name, uid, uid, dir_fd=descriptor, follow_symlinks=False)
