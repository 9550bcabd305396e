"""Kill processes that an ended MCP server left behind."""

import os
import signal
from contextlib import suppress
from pathlib import Path

TOKEN_VARIABLE = "OUTRIDER_MCP_SERVER"  # noqa: S105


def kill_orphans(token: str) -> int:
    """Kill every process with the token in its environment, also in other process groups; return their number.

    On systems without /proc only the SDK's own cleanup applies: it ends the program's process group.
    """
    variable = f"{TOKEN_VARIABLE}={token}".encode()
    pids: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # the process belongs to another user, or has ended
            if variable in (folder / "environ").read_bytes().split(b"\0"):
                pids.append(int(folder.name))
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return len(pids)
