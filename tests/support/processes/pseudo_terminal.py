"""Run commands in a pseudo terminal."""

import os
import pty
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress


def run_in_terminal(
    command: Sequence[str], environ: Mapping[str, str], answer: bytes = b"", question: bytes = b"[y/N]"
) -> tuple[int, str]:
    """Run a command in a terminal, answer its question, and return its exit code and output."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, env=environ, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # the terminal is gone when the command has ended
            while piece := os.read(ours, 4_096):
                if question in piece:
                    os.write(ours, answer)
                shown += piece
    os.close(ours)
    return process.returncode, shown.decode()
