"""Sandboxes for tests: each level in turn, skipped with the reason if this machine lacks it."""

import tempfile
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from outrider.workspace.jobs import build_python_job, build_shell_job
from outrider.workspace.sandbox.job import IsolationLevel, Job, ResourceLimits
from outrider.workspace.sandbox.sandbox import Sandbox
from outrider.workspace.sandbox.settings import CodeSettings

if TYPE_CHECKING:
    from outrider.workspace.sandbox.process import SandboxProcess

ISOLATION_LEVELS: tuple[IsolationLevel, ...] = ("namespaces", "landlock", "none")


@dataclass(frozen=True)
class SandboxWorkspace:
    """A sandbox of one level, and a workspace for it."""

    sandbox: Sandbox
    directory: Path

    async def run_python(
        self, code: str, *, seconds: float = 60, limits: ResourceLimits | None = None, **more: Any
    ) -> "SandboxProcess":
        """Run Python to its end."""
        job = await build_python_job(self.sandbox, self.directory, code)
        return await self.run_job(replace(job, limits=limits or job.limits, **more), seconds)

    async def run_shell(
        self, command: str, *, seconds: float = 60, limits: ResourceLimits | None = None
    ) -> "SandboxProcess":
        """Run a command to its end."""
        job = await build_shell_job(self.sandbox, self.directory, command)
        return await self.run_job(replace(job, limits=limits or job.limits), seconds)

    async def run_job(self, job: Job, seconds: float = 60) -> "SandboxProcess":
        running = await self.sandbox.start(job)
        await running.communicate(seconds)
        return running


def skip_level(level: IsolationLevel, reason: str) -> NoReturn:
    """Skip a test that needs this level of isolation, and name the remedy."""
    remedies = {
        "namespaces": "apt-get install bubblewrap, where user namespaces are allowed",
        "landlock": "a kernel with Landlock",
    }
    pytest.skip(f"needs {level} to isolate code ({reason}): {remedies.get(level, 'another machine')}")


@asynccontextmanager
async def open_sandbox(level: IsolationLevel, **settings: Any) -> AsyncGenerator[Sandbox]:
    """Open a sandbox of that level; skip the test if there is none."""
    sandbox = Sandbox(CodeSettings(isolation=level, **settings))
    found = await sandbox.detect_isolation()
    if found.backend is None:
        skip_level(level, "; ".join(found.reasons.values()))
    try:
        yield sandbox
    finally:
        await sandbox.close()


@contextmanager
def open_workspace(sandbox: Sandbox) -> Generator[SandboxWorkspace]:
    """Open a new workspace for it that every user can enter."""
    with tempfile.TemporaryDirectory(prefix="outrider-test-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        directory = Path(folder) / "workspace"
        directory.mkdir()
        yield SandboxWorkspace(sandbox, directory)


def find_processes_with(mark: str) -> list[int]:
    """Find processes of this machine with a word in their command line.

    They include launchers, whose specification is in hexadecimal digits, and processes that these have not started yet.
    """
    found = []
    words = (mark.encode(), mark.encode().hex().encode())
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            found += [int(entry.name)] if any(word in command for word in words) else []
    return found
