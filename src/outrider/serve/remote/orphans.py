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
    pids = [int(folder.name) for folder in Path("/proc").glob("[0-9]*") if variable in _read_environment(folder)]
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return len(pids)


def _read_environment(process: Path) -> list[bytes]:
    try:
        return (process / "environ").read_bytes().split(b"\0")
    except OSError:  # the process belongs to another user, or has ended
        return []
