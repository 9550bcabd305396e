"""Starts a browser and says hello to it."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import anyio

from outrider.browser.process import flags
from outrider.browser.process.find import BrowserExecutable, find_browser
from outrider.browser.process.process import BrowserProcess, spawn_browser
from outrider.browser.process.profile import BrowserProfile, remove_stale_profiles
from outrider.browser.protocol.cdp import BrowserGone, CdpConnection, CommandTimeout
from outrider.browser.protocol.pipe import PipeTransport
from outrider.core.errors import NotConfigured, Unavailable


@dataclass
class RunningBrowser:
    """A browser that answers.

    Attributes:
        connection: The protocol, over the pipe.
        process: The process.
        profile: Its directory.
        found: Which program it is.
        version: As it calls itself, for instance `Chrome/156.0.1`.
        sandboxed: Whether Chromium's own sandbox is on.
    """

    connection: CdpConnection
    process: BrowserProcess
    profile: BrowserProfile
    found: BrowserExecutable
    version: str
    sandboxed: bool

    async def aclose(self) -> None:
        """Ends the browser with everything that it started, and removes its profile."""
        exit_grace_s = 0.5  # seconds in which a browser may end by itself; its profile is thrown away in any case
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
    """Starts a browser with an empty profile.

    Args:
        executable: Which one; the default is the first that is installed.
        headless: Without windows.
        sandbox: Whether Chromium's sandbox is on; None: wherever it can be.
        proxy: Where traffic of no session goes; None lets it out directly.
        extra: Further flags.
        folder: Where the profile is made; default: the system's temporary folder.

    Raises:
        NotConfigured: There is no browser, no display, or no sandbox.
        Unavailable: It does not start.
    """
    found = find_browser(executable)
    if not headless and not flags.has_display():
        raise NotConfigured(
            "there is no display for a window",
            code="no_display",
            hint="open it headless, or start Outrider where there is a display",
        )
    shut_in = flags.can_sandbox() if sandbox is None else sandbox
    await anyio.to_thread.run_sync(remove_stale_profiles, folder)
    profile = BrowserProfile(folder)
    arguments = flags.build_command_line(profile.path, headless=headless, sandbox=shut_in, proxy=proxy, extra=extra)
    try:
        process = spawn_browser(found.path, arguments, profile.path)
    except BaseException:
        profile.remove()
        raise
    return await _connect_browser(process, profile, found, sandboxed=shut_in)


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
        words = process.read_last_output()
        await running.aclose()
        raise _explain_start_failure(found, words) from error
    except BaseException:
        process.kill()
        await running.aclose()
        raise
    running.version = str(answer.get("product", ""))
    return running


def _explain_start_failure(found: BrowserExecutable, words: str) -> NotConfigured | Unavailable:
    if "sandbox" in words.lower():
        return NotConfigured(
            f"{found.path} cannot build its sandbox here",
            code="no_sandbox",
            hint="allow unprivileged user namespaces, or set `browser.sandbox` to false",
        )
    last = words.splitlines()[-1][:300] if words else "it said nothing"
    free = shutil.disk_usage("/tmp").free  # noqa: S108 - only its size is asked for
    hint = "free space for its profile" if free < 50_000_000 else "try `outrider doctor`"
    return Unavailable(f"{found.path} ended before it answered: {last}", code="browser_start", hint=hint)
