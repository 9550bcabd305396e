"""Starts a browser and says hello to it."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import anyio

from outrider.browser import flags
from outrider.browser.cdp import BrowserGone, Connection, Hung
from outrider.browser.find import Found, find_browser
from outrider.browser.pipe import PipeTransport
from outrider.browser.process import Process, spawn
from outrider.browser.profile import Profile, sweep
from outrider.core.errors import NotConfigured, Unavailable

START_SECONDS = 30.0
PATIENCE = 0.5  # seconds in which a browser may end by itself; its profile is thrown away in any case


@dataclass
class Running:
    """A browser that answers.

    Attributes:
        connection: The protocol, over the pipe.
        process: The process.
        profile: Its directory.
        found: Which program it is.
        version: As it calls itself, for instance `Chrome/156.0.1`.
        sandboxed: Whether Chromium's own sandbox is on.
    """

    connection: Connection
    process: Process
    profile: Profile
    found: Found
    version: str
    sandboxed: bool

    async def aclose(self) -> None:
        """Ends the browser with everything that it started, and removes its profile."""
        with anyio.CancelScope(shield=True):
            if self.connection.lost is None:
                self.connection.root.tell("Browser.close")
            await self.process.end(PATIENCE)
            await self.connection.aclose()
            await anyio.to_thread.run_sync(self.profile.remove)


async def launch(
    executable: str = "",
    *,
    headless: bool = True,
    sandbox: bool | None = None,
    proxy: str | None = flags.NOWHERE,
    extra: tuple[str, ...] = (),
    folder: Path | None = None,
) -> Running:
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
    await anyio.to_thread.run_sync(sweep, folder)
    profile = Profile(folder)
    arguments = flags.command_line(profile.path, headless=headless, sandbox=shut_in, proxy=proxy, extra=extra)
    try:
        process = spawn(found.path, arguments, profile.path)
    except BaseException:
        profile.remove()
        raise
    return await _greeted(process, profile, found, sandboxed=shut_in)


async def _greeted(process: Process, profile: Profile, found: Found, *, sandboxed: bool) -> Running:
    connection = Connection(PipeTransport(process.reading, process.writing))
    connection.start()
    running = Running(connection, process, profile, found, "", sandboxed)
    try:
        answer = await connection.send("Browser.getVersion", timeout=START_SECONDS)
    except (BrowserGone, Hung) as error:
        words = process.last_words()
        await running.aclose()
        raise _explained(found, words) from error
    except BaseException:
        process.kill()
        await running.aclose()
        raise
    running.version = str(answer.get("product", ""))
    return running


def _explained(found: Found, words: str) -> NotConfigured | Unavailable:
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
