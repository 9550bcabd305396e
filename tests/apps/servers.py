"""Start an application's server on loopback, and end it with all processes that it has started."""

import http.client
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path


def find_port() -> int:
    """Return a free port of loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def run_server(
    command: Sequence[str | Path],
    url: str,
    *,
    folder: Path,
    environ: Mapping[str, str] | None = None,
    start_timeout_s: float = 400,
) -> Generator[str]:
    """Run a server, its log in `folder`, and yield its URL as soon as it answers.

    Raises:
        RuntimeError: it ended, or did not answer in time; the message holds the end of its log.
    """
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environ, stdout=output, stderr=output, stdin=subprocess.DEVNULL, process_group=0
        )
    try:
        wait_for_answer(process, lambda: _answers(url), log, start_timeout_s)
        yield url
    finally:
        end_process(process)


def wait_for_answer(process: subprocess.Popen[bytes], answers: Callable[[], bool], log: Path, timeout_s: float) -> None:
    """Return once a server answers.

    Raises:
        RuntimeError: it ended, or did not answer in time; the message holds the end of its log.
    """
    deadline = time.monotonic() + timeout_s
    while not answers():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"the server does not answer:\n{log.read_text(errors='replace')[-2_000:]}")
        time.sleep(0.1)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=30):
            return True
    except (urllib.error.HTTPError, http.client.BadStatusLine):  # the latter is a server of mail
        return True
    except OSError:
        return False


def end_process(process: subprocess.Popen[bytes]) -> None:
    """End the process group, by force after ten seconds."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(10)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
