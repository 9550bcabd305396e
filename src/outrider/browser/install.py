"""Getting a browser onto this machine with what it has for that: its packages, else Playwright's build."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from outrider.browser.find import Found, find_browser
from outrider.core.errors import NotConfigured, OutriderError, Unavailable

SECONDS = 900
OS_RELEASE = Path("/etc/os-release")
MANUAL = "install Google Chrome, Chromium or Microsoft Edge, or set OUTRIDER_BROWSER__EXECUTABLE"


@dataclass(frozen=True)
class Way:
    """One way to install a browser: what to run, one after the other, and what it is called."""

    title: str
    commands: tuple[tuple[str, ...], ...]


def install(say: Callable[[str], None] = lambda _: None, *, again: bool = False) -> Found:
    """Installs a browser, unless there is one.

    Args:
        say: Hears each command before it runs.
        again: Installs even where a browser is found.

    Returns:
        The browser that will be used.

    Raises:
        NotConfigured: There is no way to install one here; the hint says what a person can do.
        Unavailable: Every way failed.
    """
    if not again and (found := _present()):
        return found
    failed: list[str] = []
    for way in ways():
        failure = _go(way, say)
        if failure is None and (found := _present()):
            return found
        failed.append(f"{way.title}: {failure or 'no browser is there afterwards'}")
    if not failed:
        raise NotConfigured("no browser can be installed from here", code="no_browser", hint=MANUAL)
    raise Unavailable("; ".join(failed), code="install", hint=MANUAL)


def ways(os_release: Path = OS_RELEASE) -> Iterator[Way]:
    """What could be tried on this machine, best first."""
    # Ubuntu's package of that name only asks for a snap, which does not run in containers.
    if _system(os_release) == "debian" and shutil.which("apt-get") and _rights() is not None:
        apt = (*(_rights() or ()), "apt-get")
        packages = ("chromium", "fonts-liberation")
        commands = ((*apt, "update", "-q"), (*apt, "install", "-y", "-q", "--no-install-recommends", *packages))
        yield Way("Debian's chromium", commands)
    if importlib.util.find_spec("playwright"):
        yield Way("Playwright's Chromium", ((sys.executable, "-m", "playwright", "install", "chromium"),))
    elif npx := shutil.which("npx"):
        yield Way("Playwright's Chromium", ((npx, "--yes", "playwright@1", "install", "chromium"),))


def _present() -> Found | None:
    try:
        return find_browser()
    except OutriderError:
        return None


def _system(os_release: Path) -> str:
    """`debian` for Debian itself, or what else the system calls itself."""
    try:
        lines = os_release.read_text(encoding="utf-8").splitlines()
    except OSError:
        return sys.platform
    fields = dict(line.split("=", 1) for line in lines if "=" in line)
    return fields.get("ID", "").strip('"').lower()


def _rights() -> tuple[str, ...] | None:
    """What to put before a command of the system's administrator; None when we may not."""
    if os.geteuid() == 0:
        return ()
    sudo = shutil.which("sudo")
    if sudo is None:
        return None
    allowed = subprocess.run([sudo, "-n", "true"], capture_output=True, check=False).returncode == 0  # noqa: S603
    return (sudo, "-n") if allowed else None


def _go(way: Way, say: Callable[[str], None]) -> str | None:
    """Runs the commands; what went wrong, or None."""
    environ = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in way.commands:
        say(" ".join(command))
        try:
            run = subprocess.run(  # noqa: S603
                command, env=environ, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False, timeout=SECONDS
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        if run.returncode:
            return f"{command[0]} ended with {run.returncode}"
    return None
