"""Launch a browser with an empty profile and connect to it."""

import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import anyio

from outrider.browser.process import flags
from outrider.browser.process.find import BrowserExecutable, find_browser
from outrider.browser.process.process import BrowserProcess, spawn_browser
from outrider.browser.protocol.cdp import BrowserGone, CdpConnection, CommandTimeout
from outrider.browser.protocol.pipe import PipeTransport
from outrider.core.errors import NotConfigured, Unavailable

PROFILE_PREFIX = "outrider-browser-"
LOCK_FILE_NAME = ".owner"


class BrowserProfile:
    """A new profile directory, locked while this process lives.

    Attributes:
        path: The directory.
    """

    def __init__(self, parent: Path | None = None) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=PROFILE_PREFIX, dir=parent))
        self._lock = os.open(self.path / LOCK_FILE_NAME, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        _lock_file(self._lock)

    def remove(self) -> None:
        """Remove the directory with all of the browser's files."""
        shutil.rmtree(self.path, ignore_errors=True)
        with suppress(OSError):
            os.close(self._lock)


def remove_stale_profiles(parent: Path | None = None) -> int:
    """Remove the profiles whose process has ended; return how many."""
    folder = parent or Path(tempfile.gettempdir())
    return sum(_remove_if_stale(path) for path in folder.glob(f"{PROFILE_PREFIX}*"))


def _remove_if_stale(path: Path) -> bool:
    try:
        lock = os.open(path / LOCK_FILE_NAME, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False  # being created just now, or another user's
    try:
        _lock_file(lock)
    except OSError:
        return False
    else:
        shutil.rmtree(path, ignore_errors=True)
        return True
    finally:
        os.close(lock)


def _lock_file(descriptor: int) -> None:
    """Lock the file for this process. Raises OSError when another has it."""
    import fcntl  # missing on Windows

    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@dataclass
class RunningBrowser:
    """A launched browser that answers.

    Attributes:
        connection: The CDP connection over pipes.
        process: Its process.
        profile: Its profile directory.
        found: The program.
        version: Product and version, for instance `Chrome/156.0.1`.
        sandboxed: Whether Chromium's own sandbox is on.
    """

    connection: CdpConnection
    process: BrowserProcess
    profile: BrowserProfile
    found: BrowserExecutable
    version: str
    sandboxed: bool

    async def aclose(self) -> None:
        """End the browser with all its processes and remove its profile."""
        exit_grace_s = 0.5  # short, because the profile is deleted anyway
        with anyio.CancelScope(shield=True):
            if self.connection.lost is None:
                self.connection.root.send_and_forget("Browser.close")
            await self.process.terminate(exit_grace_s)
            await self.connection.aclose()
            await anyio.to_thread.run_sync(self.profile.remove)


async def launch_browser(
    executable: str = "",
    *,
    headless: bool = True,
    sandbox: bool | None = None,
    proxy: str | None = flags.DISCARD_PROXY_URL,
    extra: tuple[str, ...] = (),
    folder: Path | None = None,
) -> RunningBrowser:
    """Launch a browser with an empty profile.

    Args:
        executable: The program; empty means the first that is installed.
        headless: Without windows.
        sandbox: Whether Chromium's sandbox is on; None means wherever it works.
        proxy: The proxy for traffic outside sessions; None for direct connections.
        extra: Further flags.
        folder: The parent of the profile; None means the system's temporary folder.

    Raises:
        NotConfigured: No browser, no display for a window, or no sandbox.
        Unavailable: It does not start.
    """
    found = find_browser(executable)
    if not headless and not flags.has_display():
        raise NotConfigured(
            "no display for a window",
            code="no_display",
            hint="open it headless, or start Outrider where there is a display",
        )
    sandboxed = flags.can_sandbox() if sandbox is None else sandbox
    await anyio.to_thread.run_sync(remove_stale_profiles, folder)
    profile = BrowserProfile(folder)
    arguments = flags.build_command_line(profile.path, headless=headless, sandbox=sandboxed, proxy=proxy, extra=extra)
    try:
        process = spawn_browser(found.path, arguments, profile.path)
    except BaseException:
        profile.remove()
        raise
    return await _connect_browser(process, profile, found, sandboxed=sandboxed)


async def _connect_browser(
    process: BrowserProcess, profile: BrowserProfile, found: BrowserExecutable, *, sandboxed: bool
) -> RunningBrowser:
    start_timeout_s = 30.0
    connection = CdpConnection(PipeTransport(process.reading, process.writing))
    connection.start()
    running = RunningBrowser(connection, process, profile, found, "", sandboxed)
    try:
        answer = await connection.send("Browser.getVersion", timeout=start_timeout_s)
    except (BrowserGone, CommandTimeout) as error:
        output = process.read_last_output()
        await running.aclose()
        raise _explain_start_failure(found, output) from error
    except BaseException:
        process.kill()
        await running.aclose()
        raise
    running.version = str(answer.get("product", ""))
    return running


def _explain_start_failure(found: BrowserExecutable, output: str) -> NotConfigured | Unavailable:
    if "sandbox" in output.lower():
        return NotConfigured(
            f"{found.path} cannot create its sandbox here",
            code="no_sandbox",
            hint="the operator must allow unprivileged user namespaces, or set `browser.sandbox` to false",
        )
    last_line = output.splitlines()[-1][:300] if output else "it printed nothing"
    free_bytes = shutil.disk_usage("/tmp").free  # noqa: S108 - only its size is read
    hint = "install what it lacks, or another browser: `outrider browser install --again`"
    hint = "free disk space for its profile" if free_bytes < 50_000_000 else hint
    return Unavailable(f"{found.path} ended before it answered: {last_line}", code="browser_start", hint=hint)
