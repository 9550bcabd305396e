"""Nothing escapes from a sandbox: all known ways are tried from inside, at each level that claims to stop them.

If this machine lacks a level (no bubblewrap, namespaces forbidden), its tests are skipped with the reason.
"""

import ctypes
import json
import os
import platform
import shutil
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from outrider.workspace.sandbox.job import IsolationLevel, Job
from outrider.workspace.sandbox.launcher_backends import LandlockBackend, find_unused_uid
from outrider.workspace.sandbox.sandbox import Sandbox
from outrider.workspace.sandbox.seccomp import is_supported
from outrider.workspace.sandbox.settings import CodeSettings
from outrider.workspace.sandbox.syscalls import SUPPORTED_MACHINES, SYSCALL_NUMBERS
from support.processes import sandbox_escapes
from support.processes.sandboxes import skip_level

ESCAPES_SOURCE = Path(sandbox_escapes.__file__).read_bytes()
CANARY = "canary-3141592653"
libc = ctypes.CDLL(None, use_errno=True)

pytestmark = pytest.mark.skipif(not is_supported(), reason="there are sandboxes for Linux on x86-64 and ARM alone")


class World:
    """A readable workspace and its surroundings, so that only the sandbox keeps code inside."""

    def __init__(self, folder: Path, level: IsolationLevel) -> None:
        folder.chmod(0o755)
        self.workspace = folder / "workspaces" / "mine"
        self.other = folder / "workspaces" / "other"
        self.outside = Path(tempfile.mkdtemp(prefix="outside-", dir="/tmp"))
        self.workspace.mkdir(parents=True)
        self.other.mkdir()
        self.outside.chmod(0o777)
        self.uid = find_unused_uid(self.workspace)
        for name in ("secret", "writable", "victim-1", "victim-2"):
            self._open(self.outside / name)
        self._open(self.other / "theirs.txt")
        self.shared = self._open(Path("/dev/shm", f"outrider-{uuid.uuid4().hex}"))
        self.owned = self._open(self.outside / "owned")
        environ = {"PATH": os.environ["PATH"], "SECRET": CANARY}
        user = None if level == "none" else self.uid
        self.victim = subprocess.Popen(["sleep", "600"], user=user, process_group=0, env=environ)
        self.segment = 1 + uuid.uuid4().int % 0x7FFFFFF0
        self._segment_id = libc.shmget(self.segment, 4_096, 0o1666)
        self.listener = socket.create_server(("::ffff:127.0.0.1", 0), family=socket.AF_INET6, dualstack_ipv6=True)
        self.path_socket, self.abstract_socket = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        self.path_socket.bind(str(self.outside / "socket"))
        (self.outside / "socket").chmod(0o777)
        self.abstract = f"outrider-{uuid.uuid4().hex}"
        self.abstract_socket.bind("\0" + self.abstract)
        self.path_socket.listen()
        self.abstract_socket.listen()

    @staticmethod
    def _open(path: Path) -> Path:
        path.write_text("secret")
        path.chmod(0o666)
        return path

    def facts(self, level: IsolationLevel, wanted: list[str]) -> dict[str, Any]:
        machine = SUPPORTED_MACHINES.index(platform.machine())
        return {
            "level": level,
            "wanted": wanted,
            "calls": {
                name: numbers[machine] for name, numbers in SYSCALL_NUMBERS.items() if numbers[machine] is not None
            },
            "secret": str(self.outside / "secret"),
            "writable": str(self.outside / "writable"),
            "owned": str(self.owned),
            "outside": str(self.outside),
            "other": str(self.other),
            "data": str(self.workspace.parent),
            "shared": self.shared.name,
            "server": os.getpid(),
            "canary": CANARY,
            "victim": self.victim.pid,
            "segment": self.segment,
            "port": self.listener.getsockname()[1],
            "socket": str(self.outside / "socket"),
            "abstract": self.abstract,
        }

    def close(self) -> None:
        self.victim.kill()
        self.victim.wait()
        libc.shmctl(self._segment_id, 0, None)
        for each in (self.listener, self.path_socket, self.abstract_socket):
            each.close()
        self.shared.unlink(missing_ok=True)
        shutil.rmtree(self.outside)


@pytest.fixture(scope="module")
def shared_folder() -> Iterator[Path]:
    """A folder that every user can enter."""
    with tempfile.TemporaryDirectory(prefix="outrider-test-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="module")
def outcomes(shared_folder: Path) -> dict[str, dict[str, str]]:
    """Outcomes of the attempts by level, empty where the machine lacks the level."""
    return {}


def find_results(
    outcomes: dict[str, dict[str, str]], shared_folder: Path, level: IsolationLevel, abi: int | None = None
) -> dict[str, str]:
    key = f"{level}-{abi}"
    if key not in outcomes:
        (shared_folder / key).mkdir()
        world = World(shared_folder / key, level)
        try:
            outcomes[key] = anyio.run(run_attempts, world, level, abi)
        finally:
            world.close()
    return outcomes[key]


async def run_attempts(world: World, level: IsolationLevel, abi: int | None) -> dict[str, str]:
    """Run all attempts in one execution, each in its own process."""
    os.environ["OUTRIDER_CANARY"] = CANARY
    backends = [LandlockBackend(abi)] if abi else None
    sandbox = Sandbox(CodeSettings(isolation=level), backends=backends)
    found = await sandbox.detect_isolation()
    if found.backend is None:
        return {"": "; ".join(found.reasons.values())}
    python = await sandbox.resolve_python(world.workspace)
    wanted = sorted(sandbox_escapes.CONTROLS) if level == "none" else []
    job = Job(
        world.workspace,
        lambda inside: [str(python.executable), f"{inside.support}/escapes.py"],
        support_files={"escapes.py": ESCAPES_SOURCE, "facts.json": json.dumps(world.facts(level, wanted)).encode()},
        readable_paths=python.readable_paths,
    )
    running = await sandbox.start(job)
    await running.communicate(120)
    assert running.exit_code == 0, running.stderr.text
    if level != "none":
        assert world.victim.poll() is None
    return json.loads(running.stdout.text)


BY_LANDLOCK = [name for name in sandbox_escapes.ATTEMPTS if name not in sandbox_escapes.NAMESPACES_ONLY]
HELD_BY: list[tuple[IsolationLevel, int | None, str]] = [
    ("namespaces", None, name) for name in sandbox_escapes.ATTEMPTS
]
HELD_BY += [("landlock", None, name) for name in BY_LANDLOCK]
HELD_BY += [("landlock", 1, name) for name in BY_LANDLOCK]  # the version of Linux 5.13, whose filter then does more


def test_code_cannot_escape(subtests: pytest.Subtests, outcomes: dict[str, dict[str, str]], shared_folder: Path):
    for level, abi, name in HELD_BY:
        with subtests.test(level=level, abi=abi, name=name):
            result = find_results(outcomes, shared_folder, level, abi)
            if "" in result:
                skip_level(level, result[""])
            assert result[name].startswith("held:"), result[name]


def test_the_escape_attempts_work_without_a_sandbox(
    subtests: pytest.Subtests, outcomes: dict[str, dict[str, str]], shared_folder: Path
):
    for name in sorted(sandbox_escapes.CONTROLS):
        with subtests.test(name=name):
            assert find_results(outcomes, shared_folder, "none")[name].startswith("escaped:")
