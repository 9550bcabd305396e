"""Lock an SQLite file against all other processes, even if damaged.

Open connections keep shared locks on fixed bytes of the file and, in WAL mode, of its `-shm` file
(sqlite.org/src/file/src/os.h, sqlite.org/walformat.html#the_wal_index_file_format), so holding those bytes exclusively
proves that the database is unused, and keeps it so.
"""

import fcntl
import struct
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from outrider.core.errors import Refused

SHARED_START, SHARED_LENGTH = 0x4000_0002, 510  # in the file: one byte of them is locked by each reader
SHM_LOCKS_START, SHM_LOCKS_LENGTH = 120, 9  # in `-shm`: the writer's is the first, an open connection's the last


@contextmanager
def hold_exclusively(path: Path) -> Generator[IO[bytes]]:
    """Hold the file until the block ends; yield it open, because closing another handle would drop the lock.

    Raises Refused with the number of a process that has the database open.
    """
    with ExitStack() as stack:
        opened = stack.enter_context(path.open("r+b"))
        regions = [(opened, SHARED_START, SHARED_LENGTH)]
        shm = path.with_name(f"{path.name}-shm")
        if shm.exists():
            regions.append((stack.enter_context(shm.open("r+b")), SHM_LOCKS_START, SHM_LOCKS_LENGTH))
        for file, start, length in regions:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, length, start)
            except OSError:
                holder = _find_holder(file, start, length)
                raise Refused(
                    f"{describe_process(holder)} has the database open",
                    hint="stop every outrider and other program that uses it (`outrider daemon stop`), then try again",
                    code="database_in_use",
                    details={"pid": holder} if holder else {},
                ) from None
        yield opened


def find_writer(path: Path) -> int | None:
    """Return the process that holds the write lock; None if there is none, or if the system does not say."""
    shm = path.with_name(f"{path.name}-shm")
    if not shm.exists():
        return None
    with shm.open("rb") as file:
        return _find_holder(file, SHM_LOCKS_START, 1)


def describe_process(pid: int | None) -> str:
    """Describe the process, with its command's name if the system provides it."""
    if pid is None:
        return "another process"
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    except OSError:
        command = ""
    return f"process {pid} ({command[:80]})" if command else f"process {pid}"


def _find_holder(file: IO[bytes], start: int, length: int) -> int | None:
    if sys.platform != "linux":  # the structure differs elsewhere
        return None
    flock = struct.Struct("hhqqi4x")  # fcntl(2): type, whence, start, length, pid
    lock_request = flock.pack(fcntl.F_WRLCK, 0, start, length, 0)
    try:
        kind, _, _, _, pid = flock.unpack(fcntl.fcntl(file, fcntl.F_GETLK, lock_request))
    except OSError:
        return None
    return pid if kind != fcntl.F_UNLCK and pid > 0 else None
