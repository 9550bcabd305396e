"""Install a browser by the system's packages or Playwright."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from outrider.browser.process.find import BrowserExecutable, find_browser
from outrider.core.errors import NotConfigured, OutriderError, Unavailable

OS_RELEASE_PATH = Path("/etc/os-release")


@dataclass(frozen=True)
class InstallMethod:
    """One way to install a browser: its title, and the commands to run one after the other."""

    title: str
    commands: tuple[tuple[str, ...], ...]


def install_browser(say: Callable[[str], None] = lambda _: None, *, again: bool = False) -> BrowserExecutable:
    """Install a browser, unless there is one.

    Args:
        say: Called with each command before it runs.
        again: Install even if a browser is found.

    Returns:
        The browser that will be used.

    Raises:
        NotConfigured: None of the methods works here; the hint says what a person can do.
        Unavailable: Every method failed.
    """
    manual_hint = "install Google Chrome, Chromium or Microsoft Edge, or set OUTRIDER_BROWSER__EXECUTABLE"
    if not again and (found := _find_installed()):
        return found
    failed: list[str] = []
    for method in iter_install_methods():
        failure = _run_method(method, say)
        if failure is None and (found := _find_installed()):
            return found
        failed.append(f"{method.title}: {failure or 'it ended, but no browser is installed'}")
    if not failed:
        raise NotConfigured("no browser can be installed from here", code="no_browser", hint=manual_hint)
    raise Unavailable("; ".join(failed), code="install", hint=manual_hint)


def iter_install_methods(os_release: Path = OS_RELEASE_PATH) -> Iterator[InstallMethod]:
    """Yield the methods for this machine, best first."""
    # Ubuntu's package of that name only installs a snap, which does not run in containers.
    sudo_prefix = _find_privilege_prefix()
    if _detect_system(os_release) == "debian" and shutil.which("apt-get") and sudo_prefix is not None:
        apt = (*sudo_prefix, "apt-get")
        packages = ("chromium", "fonts-liberation")
        commands = ((*apt, "update", "-q"), (*apt, "install", "-y", "-q", "--no-install-recommends", *packages))
        yield InstallMethod("Debian's chromium", commands)
    if importlib.util.find_spec("playwright"):
        yield InstallMethod("Playwright's Chromium", ((sys.executable, "-m", "playwright", "install", "chromium"),))
    elif npx := shutil.which("npx"):
        yield InstallMethod("Playwright's Chromium", ((npx, "--yes", "playwright@1", "install", "chromium"),))


def _find_installed() -> BrowserExecutable | None:
    try:
        return find_browser()
    except OutriderError:
        return None


def _detect_system(os_release: Path) -> str:
    """Return the system's ID in os-release, such as `debian`, or the platform without one."""
    try:
        lines = os_release.read_text(encoding="utf-8").splitlines()
    except OSError:
        return sys.platform
    fields = dict(line.split("=", 1) for line in lines if "=" in line)
    return fields.get("ID", "").strip('"').lower()


def _find_privilege_prefix() -> tuple[str, ...] | None:
    """Return the prefix that runs a command as administrator; None when that is not allowed."""
    if os.geteuid() == 0:
        return ()
    sudo = shutil.which("sudo")
    if sudo is None:
        return None
    allowed = subprocess.run([sudo, "-n", "true"], capture_output=True, check=False).returncode == 0  # noqa: S603
    return (sudo, "-n") if allowed else None


def _run_method(method: InstallMethod, say: Callable[[str], None]) -> str | None:
    """Run the commands; return the error, or None."""
    timeout_s = 900
    environ = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in method.commands:
        say(" ".join(command))
        try:
            run = subprocess.run(  # noqa: S603
                command, env=environ, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False, timeout=timeout_s
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        if run.returncode:
            return f"{command[0]} ended with {run.returncode}"
    return None
