"""Start the browser's process, and end it with all its children.

Two pipes carry CDP.
"""

import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import anyio

from outrider.core.errors import NotConfigured, Unavailable
from outrider.relay.child_environment import DESKTOP_PREFIXES, select_child_environment


@dataclass
class BrowserProcess:
    """A browser process and this side's ends of its pipes.

    Attributes:
        pid: Its process id; it leads its own process group.
        reading: Descriptor of its messages.
        writing: Descriptor for messages to it.
        log_path: The file with its standard error output.
    """

    pid: int
    reading: int
    writing: int
    log_path: Path
    status: int | None = None

    def has_ended(self) -> bool:
        """Return whether it has ended; reap it if so."""
        if self.status is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:
                pid, status = self.pid, 0
            self.status = status if pid else None
        return self.status is not None

    async def terminate(self, patience: float) -> None:
        """Wait `patience` seconds for it to end, then kill it and its children."""
        with anyio.move_on_after(patience):
            await self._wait_for_exit()
        with anyio.CancelScope(shield=True):
            self.kill()
            with anyio.move_on_after(5):
                await self._wait_for_exit()

    def kill(self) -> None:
        """Kill the whole process group and the crash reporters; does nothing when they have ended."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        for pid in self._find_crash_reporters():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)

    def _find_crash_reporters(self) -> list[int]:
        """Return the processes that left the group to report crashes (Linux only).

        They end by themselves, unless they wait for a renderer that was killed before they could look at it. Chromium
        156 without them (`--disable-crashpad-for-testing`) loses its network service.
        """
        option = f"--database={_build_crash_folder(self.log_path)}".encode()
        reporters = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it has ended
                if option in (process / "cmdline").read_bytes().split(b"\0"):
                    reporters.append(int(process.name))
        return reporters

    def read_last_output(self) -> str:
        """Return the end of its standard error output."""
        max_chars = 2_000
        with suppress(OSError):
            return self.log_path.read_text(errors="replace")[-max_chars:].strip()
        return ""

    async def _wait_for_exit(self) -> None:
        poll_interval_s = 0.01
        while not self.has_ended():  # noqa: ASYNC110 - there is no event for it on every platform
            await anyio.sleep(poll_interval_s)


def spawn_browser(program: Path, arguments: list[str], folder: Path) -> BrowserProcess:
    """Start the browser; its temporary files go into the folder too. Raises NotConfigured or Unavailable."""
    if sys.platform == "win32":
        raise NotConfigured(
            "a browser cannot be started on Windows yet", hint="start one yourself and set `browser.cdp_urls`"
        )
    log_path = folder / "stderr.log"
    browser_reading, own_writing = _open_pipe()
    own_reading, browser_writing = _open_pipe()
    try:
        pid = _spawn_process(program, arguments, log_path, browser_reading, browser_writing)
    except OSError as error:
        os.close(own_reading)
        os.close(own_writing)
        raise Unavailable(f"{program} does not start: {error.strerror}", code="browser_start") from error
    finally:
        os.close(browser_reading)
        os.close(browser_writing)
    return BrowserProcess(pid, own_reading, own_writing, log_path)


def _spawn_process(program: Path, arguments: list[str], log_path: Path, reading: int, writing: int) -> int:
    """Start the program by posix_spawn.

    Forking a big process with threads would be slow and unsafe.
    """
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, str(log_path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        (os.POSIX_SPAWN_DUP2, reading, 3),
        (os.POSIX_SPAWN_DUP2, writing, 4),
    ]
    # A killed browser leaves its socket, whose path is limited to 104 bytes (sockaddr_un of macOS and the BSDs).
    max_path_bytes = 104 - len("/org.chromium.Chromium.123456/SingletonSocket") - 1
    temp_folder = log_path.parent / "tmp"
    if len(os.fsencode(temp_folder)) > max_path_bytes:
        temp_folder = Path("/tmp")  # noqa: S108 - the browser creates its own folder there
    else:
        temp_folder.mkdir(exist_ok=True)
    own = {"TMPDIR": str(temp_folder), "BREAKPAD_DUMP_LOCATION": str(_build_crash_folder(log_path))}
    environ = select_child_environment(dict(os.environ), *DESKTOP_PREFIXES) | own
    return os.posix_spawn(program, [str(program), *arguments], environ, file_actions=actions, setpgroup=0)


def _build_crash_folder(log_path: Path) -> Path:
    return log_path.parent / "crashes"


def _open_pipe() -> tuple[int, int]:
    first_descriptor = 10  # above 3 and 4, which the browser expects
    import fcntl  # missing on Windows

    ends = os.pipe()
    reading, writing = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, first_descriptor) for end in ends)
    for end in ends:
        os.close(end)
    return reading, writing
