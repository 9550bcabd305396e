"""Completion in a real shell at a terminal, with the Tab key."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

SHELLS = {
    "bash": (["--norc", "--noprofile", "-i"], 'eval "$(outrider completion bash)"'),
    "zsh": (["-f", "-i"], 'autoload -U compinit; compinit -u -D; eval "$(outrider completion zsh)"'),
    "fish": (["-i"], "outrider completion fish | source"),
}
TAKE_TERMINAL = (  # as its controlling terminal, which fish requires
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
# The typed text, and the line after the Tab key.
COMPLETIONS = {
    "outrider browser snaps": "snapshot ",
    "outrider call web_sea": "web_search ",
    "outrider call web_search num": "num_results=",
    "outrider call web_search query=x mode=im": "mode=image ",
    "outrider install lms": "lmstudio ",
}


@pytest.mark.parametrize("shell", SHELLS)
def test_the_tab_key_completes_commands_tools_and_values(shell: str, tmp_path: Path):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"needs {shell}: apt-get install {shell}")
    outrider = tmp_path / "outrider"
    outrider.write_text(f'#!/bin/sh\nexec {sys.executable} -m outrider "$@"\n')
    outrider.chmod(0o755)
    environ = {"HOME": str(tmp_path), "PATH": f"{tmp_path}:{os.environ['PATH']}", "TERM": "dumb"}
    options, setup = SHELLS[shell]
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", TAKE_TERMINAL, program, *options],
        env=environ,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        try:
            type_and_wait(ours, f"{setup}; echo rea''dy\n", "ready")
            for typed, completed in COMPLETIONS.items():
                shown = type_and_wait(ours, f"{typed}\t", f"{typed.rpartition(' ')[0]} {completed}")
                assert not shown.endswith("= ")
                os.write(ours, b"\x15")  # Control+U deletes the line
        finally:
            process.kill()
    os.close(ours)


def type_and_wait(terminal: int, typed: str, awaited: str) -> str:
    """Type into a terminal and return its content once it contains the awaited text."""
    deadline = time.monotonic() + 60
    os.write(terminal, typed.encode())
    shown = ""
    while awaited not in shown:
        readable, _, _ = select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))
        assert readable, f"{awaited!r} is not shown after {typed!r}: {shown!r}"
        shown += os.read(terminal, 65_536).decode("utf-8", "replace").replace("\a", "")
    return shown
