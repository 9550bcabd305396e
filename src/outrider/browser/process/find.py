"""Find an installed Chrome, Chromium or Edge, or one that Playwright downloaded."""

import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from outrider.core.errors import NotConfigured

# On Debian this is the program itself, which starts sooner than the wrapper script in /usr/bin.
LINUX_PATHS = (
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/opt/microsoft/msedge/msedge",
    "/snap/bin/chromium",
)
MAC_PATHS = (
    "Google Chrome.app/Contents/MacOS/Google Chrome",
    "Chromium.app/Contents/MacOS/Chromium",
    "Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)


@dataclass(frozen=True)
class BrowserExecutable:
    """An installed browser: the program, and how it was found."""

    path: Path
    how: str


def find_browser(executable: str = "", environ: Mapping[str, str] | None = None) -> BrowserExecutable:
    """Find the browser to launch.

    Args:
        executable: A path or command from the settings; nothing else is considered then.
        environ: The environment; None means this process's.

    Raises:
        NotConfigured: No browser is installed, or the configured one does not exist.
    """
    install_hint = "run `outrider browser install`, or set OUTRIDER_BROWSER__EXECUTABLE"
    if executable:
        if (path := shutil.which(Path(executable).expanduser())) is None:
            raise NotConfigured(
                f"browser.executable: {executable} is not a program",
                code="no_browser",
                hint="correct it, or leave it empty to use an installed browser",
            )
        return BrowserExecutable(Path(path), "named in the settings")
    for candidate in _iter_candidates(os.environ if environ is None else environ):
        if os.access(candidate.path, os.X_OK) and candidate.path.is_file():
            return candidate
    raise NotConfigured("no Chrome, Chromium or Edge is installed", code="no_browser", hint=install_hint)


def _iter_candidates(environ: Mapping[str, str]) -> Iterator[BrowserExecutable]:
    command_names = (
        "chromium",
        "chromium-browser",
        "google-chrome-stable",
        "google-chrome",
        "chrome",
        "microsoft-edge-stable",
        "microsoft-edge",
    )
    for path in _iter_installed(environ):
        yield BrowserExecutable(path, "installed")
    for name in command_names:
        if path := shutil.which(name, path=environ.get("PATH")):
            yield BrowserExecutable(Path(path), "on the PATH")
    for path in _iter_downloaded(environ):
        yield BrowserExecutable(path, "downloaded by Playwright")


def _iter_installed(environ: Mapping[str, str]) -> Iterator[Path]:
    windows_paths = (
        "Google/Chrome/Application/chrome.exe",
        "Chromium/Application/chrome.exe",
        "Microsoft/Edge/Application/msedge.exe",
    )
    if sys.platform == "darwin":
        for folder in (Path("/Applications"), Path("~/Applications").expanduser()):
            yield from (folder / name for name in MAC_PATHS)
    elif sys.platform == "win32":
        folders = [environ.get(name) for name in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")]
        for folder in filter(None, folders):
            yield from (Path(folder) / name for name in windows_paths)
    else:
        yield from map(Path, LINUX_PATHS)


def _iter_downloaded(environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield Playwright's builds, newest first."""
    # The folders of Playwright's downloads (https://playwright.dev/docs/browsers) and the programs in them.
    playwright_folders = {"linux": "~/.cache/ms-playwright", "darwin": "~/Library/Caches/ms-playwright"}
    playwright_builds = (
        "chrome-linux*/chrome",
        "chrome-mac*/*.app/Contents/MacOS/*",
        "chrome-win*/chrome.exe",
        "chrome-*/headless_shell",
        "chrome-headless-shell-*/chrome-headless-shell*",
    )
    default = playwright_folders.get(sys.platform) or f"{environ.get('LOCALAPPDATA', '~')}/ms-playwright"
    folder = Path(environ.get("PLAYWRIGHT_BROWSERS_PATH") or default).expanduser()

    def rank_revision(build: Path) -> tuple[bool, int]:
        """Sort full browsers after the headless shell, then by revision number."""
        number = re.search(r"-(\d+)$", build.name)
        return "headless" not in build.name, int(number.group(1)) if number else 0

    revisions = sorted(folder.glob("chromium*-*"), key=rank_revision, reverse=True)
    for revision in revisions:
        for build in playwright_builds:
            yield from sorted(revision.glob(build))
