"""Drive the program `agent-browser` (npm).

It opens result pages and describes them as text.

Its commands answer with one line of JSON: `{"success", "data", "error"}`. Each session has its own name, folder and
background process, so that it does not affect other pages, and leaves no files or processes.
"""

import json
import os
import re
import secrets
import shutil
import signal
import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from outrider.core.errors import OutriderError
from outrider.search import command
from outrider.search.failures import build_failure
from outrider.search.outline import OutlineLine, parse_snapshot
from outrider.search.settings import AgentBrowserSettings

PACKAGE_NAME = "agent-browser"
PINNED_VERSION = "0.41.2"  # that npm installs; its output is tested
COMMAND_TIMEOUT_S = 30.0
# Variables with which npm reaches its registry. Installing is not browsing, and does not pass the guard.
NPM_VARIABLE = re.compile(r"npm_config_.*|https?_proxy|no_proxy|node_extra_ca_certs", re.IGNORECASE)
DAEMON_NOT_STARTED = re.compile(r"daemon failed to start", re.IGNORECASE)
ProgramVersion = tuple[int, int, int]


@dataclass(frozen=True)
class PageOutline:
    """A page's address after redirects, and its outline."""

    url: str
    lines: list[OutlineLine]


class AgentBrowser:
    """The program, found or installed at its first use.

    Args:
        settings: The operator's; without a command the program is not used.
        folder: Where npm installs it if the command is `npm`.
        engines: Names of the engines whose result pages it opens, in that order.
        proxy_url: Returns the guarded proxy for its browser, with credentials; without one it is not used.
        executable: Returns the browser that it drives; "" leaves the choice to the program.
        environ: The source of `PATH` and the like.
    """

    def __init__(
        self,
        settings: AgentBrowserSettings,
        folder: Path,
        *,
        engines: Sequence[str],
        proxy_url: Callable[[], str | None],
        executable: Callable[[], str],
        environ: Mapping[str, str],
    ) -> None:
        self._settings = settings
        self._folder = folder
        self.engines = engines
        self._proxy_url = proxy_url
        self._executable = executable
        self._environ = environ
        self._prepared: tuple[str, ProgramVersion] | None = None
        self._prepare_lock = anyio.Lock()

    def explain_unavailable(self) -> str:
        """Return why it cannot be used; "" if it can."""
        if not self._settings.command:
            return "it is not set up (`search.agent_browser.command` is empty)"
        if self._find_program() is None and not self._settings.may_install:
            return f"the program {self._settings.command!r} was not found"
        return "" if self._proxy_url() else "no guarded proxy is running"

    @property
    def instructions(self) -> str:
        """How a person installs it."""
        package = f"{PACKAGE_NAME}@{PINNED_VERSION}"
        return (
            f"run `npm install -g {package}` and `{PACKAGE_NAME} install`, then set `search.agent_browser.command` to "
            f"`{PACKAGE_NAME}`, or to `npm`, which installs it"
        )

    @asynccontextmanager
    async def open_session(self) -> AsyncGenerator["AgentBrowserSession"]:
        """Open a session with its own name, and end all of its processes afterwards.

        Raises `not_configured` if the program is missing, too old, or cannot be installed.
        """
        async with self._prepare_lock:
            if self._prepared is None:
                found = self._find_program() or await self._install_package()
                self._prepared = (found, await self._check_version(found))
            program, version = self._prepared
        with tempfile.TemporaryDirectory(prefix="outrider-", ignore_cleanup_errors=True) as folder:
            path = Path(folder)
            environ = self._build_environment(path, version)
            session = AgentBrowserSession(program, f"outrider-{secrets.token_hex(6)}", path, environ)
            try:
                yield session
            finally:
                with anyio.CancelScope(shield=True):
                    await session.close()

    def _find_program(self) -> str | None:
        if not self._settings.may_install:
            return shutil.which(str(Path(self._settings.command).expanduser()), path=self._environ.get("PATH"))
        own = self._installed_path()
        return str(own) if own.exists() else None

    def _installed_path(self) -> Path:
        return self._folder / PINNED_VERSION / "node_modules" / ".bin" / PACKAGE_NAME

    async def _check_version(self, program: str) -> ProgramVersion:
        """Return the version. Raises `not_configured` if it is too old or not the one that was installed."""
        timeout_s = 5.0
        min_version = (0, 15, 0)  # older snapshots have an unknown format
        self._folder.mkdir(parents=True, exist_ok=True)
        result = await command.run_command(
            [program, "--version"], seconds=timeout_s, environ=self._copy_environment(), folder=self._folder
        )
        match = re.search(r"(\d+)\.(\d+)\.(\d+)", result.out)
        if result.code or match is None:
            output = (result.err or result.out).strip()[:200] or "no output"
            message = f"{program} does not report its version: {output}"
            raise build_failure("not_configured", message, hint=self.instructions)
        version = (int(match[1]), int(match[2]), int(match[3]))
        if version < min_version:
            message = f"{PACKAGE_NAME} {match[0]} is too old: {'.'.join(map(str, min_version))} or later is needed"
            raise build_failure("not_configured", message, hint=self.instructions)
        if self._settings.may_install and match[0] != PINNED_VERSION:
            message = f"{PACKAGE_NAME} {PINNED_VERSION} was installed, but it reports version {match[0]}"
            raise build_failure("not_configured", message, hint=self.instructions)
        return version

    async def _install_package(self) -> str:
        """Install the pinned version into our folder, if the settings allow it; the package's scripts do not run."""
        browser_timeout_s = 120.0
        install_timeout_s = 60.0
        if not self._settings.may_install:
            raise build_failure(
                "not_configured", f"the program {self._settings.command!r} was not found", hint=self.instructions
            )
        npm = shutil.which("npm", path=self._environ.get("PATH"))
        if npm is None:
            raise build_failure(
                "not_configured", f"{PACKAGE_NAME} cannot be installed: npm was not found", hint=self.instructions
            )
        installed = self._installed_path()
        target = self._folder / PINNED_VERSION
        target.mkdir(parents=True, exist_ok=True)
        package = f"{PACKAGE_NAME}@{PINNED_VERSION}"
        arguments = ["install", "--prefix", str(target), "--ignore-scripts", "--no-audit", "--no-fund", "--", package]
        await self._run_installer([npm, *arguments], install_timeout_s, target)
        if not installed.exists():
            raise build_failure("not_configured", f"npm did not install {installed.name}", hint=self.instructions)
        if not self._executable():
            await self._run_installer([str(installed), "install"], browser_timeout_s, target)
        return str(installed)

    async def _run_installer(self, program: list[str], seconds: float, folder: Path) -> None:
        environ = self._copy_environment() | {
            name: self._environ[name] for name in self._environ if NPM_VARIABLE.fullmatch(name)
        }
        try:
            result = await command.run_command(program, seconds=seconds, environ=environ, folder=folder)
        except OutriderError as error:
            raise type(error)(error.message, code=error.code, hint=self.instructions) from None
        if result.code:
            output = (result.err or result.out).strip()[-300:]
            program_name = Path(program[0]).name
            message = f"{PACKAGE_NAME} could not be installed ({program_name} exited with {result.code}): {output}"
            raise build_failure("not_configured", message, hint=self.instructions)

    def _copy_environment(self) -> dict[str, str]:
        # A fixed list, so that none of our keys is passed on.
        passed_names = (
            "PATH",
            "HOME",
            "LANG",
            "LC_ALL",
            "TMPDIR",
            "XDG_RUNTIME_DIR",
            "DISPLAY",
            "SSL_CERT_FILE",
        )
        return {name: self._environ[name] for name in passed_names if name in self._environ}

    def _build_environment(self, folder: Path, version: ProgramVersion) -> dict[str, str]:
        """Return the environment of all commands of a session; other flags would restart the browser."""
        resolver_flag = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"
        # As for our own browser: WebRTC, QUIC and DNS prefetching would bypass the proxy.
        base_flags = ("--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--disable-quic")
        idle_timeout_ms = 120_000  # its background process then ends by itself, in case ours is killed
        newline_flags_version = (0, 41, 0)  # known to accept browser flags with commas
        flags = [*base_flags, *((resolver_flag,) if version >= newline_flags_version else ())]
        # Chromium does not sandbox processes of root.
        flags += ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        executable = self._executable()
        return self._copy_environment() | {
            "AGENT_BROWSER_SOCKET_DIR": str(folder),
            "AGENT_BROWSER_PROXY": self._proxy_url() or "",
            "AGENT_BROWSER_PROXY_BYPASS": "<-loopback>",
            "AGENT_BROWSER_ARGS": "\n".join(flags),
            "AGENT_BROWSER_IDLE_TIMEOUT_MS": str(idle_timeout_ms),
            **({"AGENT_BROWSER_EXECUTABLE_PATH": executable} if executable else {}),
        }


class AgentBrowserSession:
    """A browser session that opens one page after the other."""

    def __init__(self, program: str, name: str, folder: Path, environ: Mapping[str, str]) -> None:
        self._program = program
        self._name = name
        self._folder = folder
        self._environ = environ
        self._is_started = False

    async def open_page(self, url: str) -> PageOutline:
        """Open an address and return the page's outline.

        Raises `timeout`, `bad_reply` for more than 10 MB or anything but JSON, `unavailable` for its own failures.
        """
        if not self._is_started:
            # The first page of a new browser is sometimes lost to an error page, so an empty one goes first.
            await self._open_url("about:blank")
            self._is_started = True
        await self._open_url(url)
        outline = await self._take_snapshot(url)
        if outline.lines:
            return outline
        await self._open_url(url)
        return await self._take_snapshot(url)

    async def read_html(self) -> str:
        """Return the HTML of the current page. Raises as `open_page` does."""
        html = (await self._run_command("get", "html", "html")).get("html")
        if not isinstance(html, str):
            raise build_failure("bad_reply", f"{PACKAGE_NAME} get answered without HTML")
        return html

    async def close(self) -> None:
        """End all processes of the session, first by asking and then by killing them."""
        close_timeout_s = 5.0
        with suppress(Exception):
            await self._run_command("close", seconds=close_timeout_s)
        for file in self._folder.glob("*.pid"):
            with suppress(OSError, ValueError):
                _kill_process_tree(int(file.read_text()))
        # A process that was slow to start may have been started twice, and the file only names the second.
        for pid in _find_folder_processes(str(self._folder)):
            _kill_process_tree(pid)

    async def _take_snapshot(self, url: str) -> PageOutline:
        data = await self._run_command("snapshot", "-u")
        text, origin = data.get("snapshot"), data.get("origin")
        if not isinstance(text, str):
            raise build_failure("bad_reply", f"{PACKAGE_NAME} snapshot answered without a snapshot")
        return PageOutline(origin if isinstance(origin, str) and origin else url, parse_snapshot(text))

    async def _open_url(self, url: str) -> None:
        try:
            await self._run_command("open", url)
        except Exception as error:
            # It waits five seconds for its background process, which may be too short on a busy machine.
            if not DAEMON_NOT_STARTED.search(str(error)):
                raise
            await self._run_command("open", url)

    async def _run_command(self, *words: str, seconds: float = COMMAND_TIMEOUT_S) -> dict[str, Any]:
        program = [self._program, *words, "--json", "--session", self._name]
        result = await command.run_command(program, seconds=seconds, environ=self._environ, folder=self._folder)
        reply = _parse_reply(result.out)
        if reply is None:
            output = (result.err or result.out).strip()[:200] or "no output"
            code = "unavailable" if result.code else "bad_reply"
            problem = f"exited with {result.code}" if result.code else "answered without JSON"
            raise build_failure(code, f"{PACKAGE_NAME} {words[0]} {problem}: {output}")
        if not reply.get("success"):
            reason = " ".join(str(reply.get("error") or "no reason given").split())[:200]
            raise build_failure("unavailable", f"{PACKAGE_NAME} {words[0]} failed: {reason}")
        data = reply.get("data")
        return data if isinstance(data, dict) else {}


def _parse_reply(output: str) -> dict[str, Any] | None:
    """Return the last line that is a JSON object, because notices may precede it."""
    for line in reversed(output.strip().splitlines()):
        with suppress(ValueError, RecursionError):
            value = json.loads(line)
            if isinstance(value, dict):
                return value
    return None


def _find_folder_processes(folder: str) -> list[int]:
    """Return the processes whose environment names the session's folder; none without /proc."""
    entry, pids = os.fsencode(f"AGENT_BROWSER_SOCKET_DIR={folder}"), []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError, ValueError):
            if entry in environ.read_bytes().split(b"\0"):
                pids.append(int(environ.parent.name))
    return pids


def _kill_process_tree(leader: int) -> None:
    """Kill a background process and its whole session.

    The browser leads its own group in it.
    """
    if leader <= 1:
        return
    pids = [leader]
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[3]) == leader:  # the session, sixth field of proc(5)
                pids.append(int(stat.parent.name))
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
