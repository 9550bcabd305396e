"""The browser's process: started with two pipes of ours as its descriptors 3 and 4, and ended for certain."""

import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import anyio

from outrider.core.errors import NotConfigured, Unavailable


@dataclass
class BrowserProcess:
    """A running browser, and our ends of its pipes.

    Attributes:
        pid: Its process, which leads a group of its own.
        reading: Its messages to us.
        writing: Ours to it.
        log_path: The file that it writes its complaints to.
    """

    pid: int
    reading: int
    writing: int
    log_path: Path
    status: int | None = None

    def has_ended(self) -> bool:
        """Whether it is over; collects it if so."""
        if self.status is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:
                pid, status = self.pid, 0
            self.status = status if pid else None
        return self.status is not None

    async def terminate(self, patience: float) -> None:
        """Waits so many seconds for it to end by itself, then kills it and all that it started."""
        with anyio.move_on_after(patience):
            await self._wait_for_exit()
        with anyio.CancelScope(shield=True):
            self.kill()
            with anyio.move_on_after(5):
                await self._wait_for_exit()

    def kill(self) -> None:
        """Kills the whole group; harmless when it is over."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def read_last_output(self) -> str:
        """The end of what it complained about."""
        max_chars = 2_000  # characters of its last words that are kept
        with suppress(OSError):
            return self.log_path.read_text(errors="replace")[-max_chars:].strip()
        return ""

    async def _wait_for_exit(self) -> None:
        poll_interval_s = 0.01  # seconds between two looks at whether it has ended
        while not self.has_ended():  # noqa: ASYNC110 - there is no event for it on every platform
            await anyio.sleep(poll_interval_s)


def spawn_browser(program: Path, arguments: list[str], folder: Path) -> BrowserProcess:
    """Starts the browser; its own temporary files go into the folder too. Raises NotConfigured or Unavailable."""
    if sys.platform == "win32":
        raise NotConfigured(
            "a browser cannot be started on Windows yet", hint="start one yourself and set `browser.cdp_url`"
        )
    words = folder / "words.log"
    theirs_in, ours_out = _open_pipe()
    ours_in, theirs_out = _open_pipe()
    try:
        pid = _spawn_process(program, arguments, words, theirs_in, theirs_out)
    except OSError as error:
        os.close(ours_in)
        os.close(ours_out)
        raise Unavailable(f"{program} does not start: {error.strerror}", code="browser_start") from error
    finally:
        os.close(theirs_in)
        os.close(theirs_out)
    return BrowserProcess(pid, ours_in, ours_out, words)


def _spawn_process(program: Path, arguments: list[str], log_path: Path, reading: int, writing: int) -> int:
    """posix_spawn, because a fork of a big process with threads is slow and unsafe."""
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, str(log_path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        (os.POSIX_SPAWN_DUP2, reading, 3),
        (os.POSIX_SPAWN_DUP2, writing, 4),
    ]
    own = {
        "TMPDIR": str(_choose_temp_folder(log_path.parent)),
        "BREAKPAD_DUMP_LOCATION": str(log_path.parent / "crashes"),
    }
    environ = os.environ | own
    return os.posix_spawn(program, [str(program), *arguments], environ, file_actions=actions, setpgroup=0)


def _choose_temp_folder(folder: Path) -> Path:
    """Where the browser puts its socket: a killed one leaves it there, and its path must fit into 104 bytes."""
    max_path_bytes = 104 - len("/org.chromium.Chromium.123456/SingletonSocket") - 1  # sockaddr_un of macOS and the BSDs
    own = folder / "tmp"
    if len(os.fsencode(own)) > max_path_bytes:
        return Path("/tmp")  # noqa: S108 - the browser makes a folder of its own in it
    own.mkdir(exist_ok=True)
    return own


def _open_pipe() -> tuple[int, int]:
    first_descriptor = 10  # our ends lie above the descriptors that the browser expects
    import fcntl

    ends = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, first_descriptor) for end in ends]
    for end in ends:
        os.close(end)
    return high[0], high[1]
