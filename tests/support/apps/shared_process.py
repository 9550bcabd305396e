"""A person's home with hosts that share one process: a copy of the code, a plugin to observe it, and its end."""

import json
import os
import shutil
import signal
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
from mcp import StdioServerParameters

import outrider
from outrider.relay import daemon_socket, frames
from outrider.relay.daemon_paths import DaemonPaths, UntrustedDaemon

VERSION_LINE = f'__version__ = "{outrider.__version__}"'
# Reports events through one named pipe, and waits for another, so that tests need no timing.
PROBE_SOURCE = '''
import atexit, os
import anyio
from outrider import Toolset
from outrider.core.context import Call
from outrider.workspace import SessionWorkspaces

probe = Toolset("probe", "Shows where and for whom it runs.", default=True)
print("noise: imported")
atexit.register(print, "noise: exit")


async def waited(call: Call) -> str:
    told, release = (os.path.join(os.environ["HOME"], name) for name in ("told", "release"))
    async with await anyio.open_file(told, "w") as file:
        await file.write(f"began {os.getpid()}\\n")
    waiting = os.open(release, os.O_RDONLY | os.O_NONBLOCK)
    try:
        await anyio.wait_readable(waiting)
        return f"{os.read(waiting, 100).decode()} {os.getpid()}"
    except BaseException:
        with anyio.CancelScope(shield=True):
            async with await anyio.open_file(told, "w") as file:
                await file.write("cancelled\\n")
        raise
    finally:
        os.close(waiting)


@probe.tool(effect="read")
async def look(call: Call, /) -> str:
    """Wait, changing nothing."""
    return await waited(call)


@probe.tool(effect="write")
async def keep(call: Call, /) -> str:
    """Wait, changing something."""
    return await waited(call)


@probe.tool(effect="read")
async def echo(text: str) -> str:
    """Say it again."""
    return text


@probe.tool(effect="read")
async def stand(call: Call, workspaces: SessionWorkspaces, /) -> str:
    """Say where and for whom this runs."""
    print("noise: print")
    os.write(1, b"noise: the descriptor\\n")
    return f"{os.getpid()} {call.session} {workspaces.ensure_workspace(call).directory}"
'''


class HostUser:
    """A person: a home directory, and the code that their hosts start."""

    def __init__(self, home: Path, code: Path) -> None:
        self.home = home
        self.code = code
        self.socket_place = DaemonPaths(str(home / ".outrider"))
        for name in ("told", "release"):
            os.mkfifo(home / name)

    @property
    def host_environ(self) -> dict[str, str]:
        """Build the environment of hosts."""
        return {"HOME": str(self.home), "PATH": os.environ["PATH"], "PYTHONPATH": str(self.code)}

    @staticmethod
    def build_command(*arguments: str) -> list[str]:
        return [sys.executable, "-m", "outrider", *arguments]

    def build_host_parameters(
        self, *arguments: str, cwd: Path | None = None, environ: dict[str, str] | None = None
    ) -> StdioServerParameters:
        """Build the parameters with which a host starts `outrider mcp`."""
        program, *rest = self.build_command("mcp", "--toolsets", "probe", *arguments)
        return StdioServerParameters(
            command=program, args=rest, env=self.host_environ | (environ or {}), cwd=cwd or self.home
        )

    def query_shared_process(self, word: bytes) -> dict[str, Any]:
        """Return the shared process's status, or nothing after it has ended."""
        reader, answer = frames.FrameReader(), b"{}"
        try:
            connection = daemon_socket.connect_daemon(self.socket_place)
        except (daemon_socket.DaemonUnreachable, UntrustedDaemon, OSError):
            return {}
        with closing(connection), suppress(OSError):
            connection.sendall(frames.build_frame(frames.CONTROL_FRAME, word))
            while piece := connection.recv(daemon_socket.RECEIVE_BYTES):
                for kind, _, payload in reader.feed(piece):
                    answer = payload if kind == frames.OUTPUT_FRAME else answer
        return json.loads(answer)

    @property
    def shared_process_pid(self) -> int:
        """Return the id of the shared process; 0 if there is none."""
        return self.query_shared_process(b"status").get("process", 0)

    async def read_probe_report(self) -> str:
        """Read the next report of a waiting tool."""
        # Without a thread, because a timeout could not end it.
        reports, text = os.open(self.home / "told", os.O_RDONLY | os.O_NONBLOCK), b""
        try:
            await anyio.wait_readable(reports)
            while piece := os.read(reports, 1000):
                text += piece
                await anyio.wait_readable(reports)
        finally:
            os.close(reports)
        return text.decode().strip()

    async def release_probe(self, word: str) -> None:
        """Let the waiting tool continue."""
        async with await anyio.open_file(self.home / "release", "w") as file:
            await file.write(word)

    def read_logs(self) -> str:
        """Return all logs of the shared process."""
        return "".join(path.read_text() for path in sorted((self.home / ".outrider" / "logs").glob("*")))

    def install_version(self, version: str) -> None:
        """Install another version over the running one."""
        package = self.code / "outrider" / "__init__.py"
        package.write_text(package.read_text().replace(VERSION_LINE, f'__version__ = "{version}"'))


async def wait_for_exit(process: int) -> None:
    """Wait until a process has ended."""
    try:
        number = os.pidfd_open(process)
    except ProcessLookupError:
        return
    try:
        await anyio.wait_readable(number)
    finally:
        os.close(number)


def copy_package(folder: Path) -> Path:
    """Copy the package and the probe, so that tests have a copy that does not change."""
    shutil.copytree(Path(outrider.__file__).parent, folder / "outrider")
    described = folder / "probe-1.0.dist-info"
    described.mkdir()
    (folder / "probe.py").write_text(PROBE_SOURCE)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: probe\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text("[outrider.toolsets]\nprobe = probe:probe\n")
    return folder


@contextmanager
def start_host_user(home: Path, code: Path = Path(outrider.__file__).parents[1]) -> Generator[HostUser]:
    """Start a person whose process always ends with the test.

    A process ends when its code changes, so commands forked from this installation cannot share another's.
    """
    person = HostUser(home, code)
    try:
        yield person
    finally:
        process = person.shared_process_pid
        if process:
            os.kill(process, signal.SIGKILL)
