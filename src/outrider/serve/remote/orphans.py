"""Processes that a program has started and left behind: they are known by a mark in their environment."""

import os
import signal
from contextlib import suppress
from pathlib import Path

TOKEN_VARIABLE = "OUTRIDER_MCP_SERVER"  # noqa: S105


def kill_orphans(token: str) -> int:
    """Ends every process that carries the token in its environment, wherever it has moved; how many there were.

    Systems without /proc have only what the SDK does: it ends the group of a program that does not end by itself.
    """
    proc_folder = Path("/proc")
    mark = f"{TOKEN_VARIABLE}={token}".encode()
    found = [int(each.name) for each in proc_folder.glob("[0-9]*") if mark in _read_environment(each)]
    for pid in found:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return len(found)


def _read_environment(process: Path) -> list[bytes]:
    try:
        return (process / "environ").read_bytes().split(b"\0")
    except OSError:  # of somebody else, or gone
        return []
