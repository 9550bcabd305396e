"""Processes that the server has started die with it, at any moment."""

import os
import random
import signal
import subprocess
import sys
import uuid
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from outrider.workspace.sandbox.backend import SandboxBackend
from outrider.workspace.sandbox.bubblewrap import BubblewrapBackend
from outrider.workspace.sandbox.job import IsolationLevel, Job
from outrider.workspace.sandbox.launcher_backends import LandlockBackend, NoIsolationBackend, find_unused_uid
from outrider.workspace.sandbox.seccomp import is_supported
from support.processes.sandboxes import ISOLATION_LEVELS, find_processes_with, open_sandbox, open_workspace, skip_level
from support.timeouts import EVENT_TIMEOUT_S, PROCESS_TIMEOUT_S

pytestmark = pytest.mark.skipif(not is_supported(), reason="there are sandboxes for Linux on x86-64 and ARM alone")
SERVER = """
import anyio, sys
from pathlib import Path
from outrider.workspace.sandbox.job import Job
from outrider.workspace.sandbox.sandbox import Sandbox
from outrider.workspace.sandbox.settings import CodeSettings

async def main(level, folder, mark):
    sandbox = Sandbox(CodeSettings(isolation=level))
    command = f"sleep {mark} & setsid sleep {mark} & sleep {mark}"
    await sandbox.require_backend()
    async with anyio.create_task_group() as group:
        for _ in range(3):
            print("starting", flush=True)
            running = await sandbox.start(Job(Path(folder), lambda _: ["/bin/sh", "-c", command]))
            group.start_soon(running.communicate, 600)
        print("started", flush=True)

anyio.run(main, *sys.argv[1:])
"""
# Seconds after the first start; `make test-kills` kills two hundred.
KILL_DELAYS_S = [random.uniform(0, 0.3) for _ in range(int(os.environ.get("OUTRIDER_KILLS", "12")))]


LEVELS = [pytest.param(level, marks=pytest.mark.nightly) for level in ISOLATION_LEVELS[1:]]


@pytest.fixture(params=[ISOLATION_LEVELS[0], *LEVELS])
async def folder(request: pytest.FixtureRequest) -> AsyncGenerator[tuple[IsolationLevel, Path]]:
    async with open_sandbox(request.param) as sandbox:
        with open_workspace(sandbox) as box:
            yield request.param, box.directory


async def test_nothing_outlives_a_server_that_is_killed(folder: tuple[IsolationLevel, Path]):
    level, directory = folder
    marks = [f"61{uuid.uuid4().int % 1_000_000}" for _ in KILL_DELAYS_S]
    for mark, delay in zip(marks, KILL_DELAYS_S, strict=True):
        command = [sys.executable, "-c", SERVER, level, str(directory), mark]
        with start_process(command) as server:
            assert server.stdout
            assert server.stdout.readline() == "starting\n"
            await anyio.sleep(delay)
            server.send_signal(signal.SIGKILL)
    with anyio.fail_after(EVENT_TIMEOUT_S):
        while any(map(find_processes_with, marks)):
            await anyio.sleep(0.01)


KERNEL_SERVER = """
import anyio, sys
from pathlib import Path
from functools import partial
from outrider.workspace.jobs import build_python_kernel_job
from outrider.workspace.kernels.pool import KernelPool
from outrider.workspace.sandbox.sandbox import Sandbox
from outrider.workspace.sandbox.settings import CodeSettings

async def main(level, folder, mark):
    sandbox = Sandbox(CodeSettings(isolation=level))
    code = f"import subprocess; process = subprocess.Popen(['sleep', '{mark}'])"
    build_job = partial(build_python_kernel_job, sandbox, Path(folder))
    async with KernelPool(sandbox).open_cell("session", "python", code, build_job, False) as cell:
        await cell.communicate(60)
    print("idle", flush=True)
    await anyio.sleep(600)

anyio.run(main, *sys.argv[1:])
"""


async def test_an_idle_interpreter_and_its_children_end_with_a_killed_server(
    folder: tuple[IsolationLevel, Path],
):
    level, directory = folder
    mark = f"63{uuid.uuid4().int % 1_000_000}"
    command = [sys.executable, "-c", KERNEL_SERVER, level, str(directory), mark]
    with start_process(command) as server:
        assert server.stdout
        assert server.stdout.readline() == "idle\n"
        assert len(find_processes_with(mark)) > 1
        server.send_signal(signal.SIGKILL)
    with anyio.fail_after(EVENT_TIMEOUT_S):
        while find_processes_with(mark):
            await anyio.sleep(0.01)


async def test_a_server_that_dies_before_bubblewrap_has_mapped_its_user_leaves_nothing(tmp_path: Path):
    backend = BubblewrapBackend()
    if why := backend.describe_missing():
        skip_level("namespaces", why)
    mark = f"62{uuid.uuid4().int % 1_000_000}"
    tmp_path.chmod(0o755)
    plan = backend.build_plan(Job(tmp_path, lambda _: ["/bin/sleep", mark]), find_unused_uid(tmp_path), None)
    info_write = plan.child_fds[0]
    fill_pipe(info_write)  # bubblewrap reports its child's PID there, just before it lets the child continue
    with start_process(
        plan.command, env=plan.environ, pass_fds=plan.child_fds, stdin=subprocess.PIPE, start_new_session=True
    ) as launcher:
        with anyio.fail_after(PROCESS_TIMEOUT_S):
            while len(find_bubblewraps(mark)) < 2:  # its own process and its first in the namespace
                if launcher.poll() is not None:
                    skip_level("namespaces", "bubblewrap does not start")
                await anyio.sleep(0.01)
        plan.release()  # like the kernel when the server dies
        with anyio.fail_after(EVENT_TIMEOUT_S):
            while find_processes_with(mark):
                await anyio.sleep(0.01)
    plan.close()


@contextmanager
def start_process(command: Sequence[str], **options: Any) -> Generator[subprocess.Popen[str]]:
    """Start a process that is killed at the end, so that a failing test does not wait for it."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def find_bubblewraps(mark: str) -> set[int]:
    """Find bubblewrap's processes by the hexadecimal mark in the command lines of launcher and children."""
    return set(find_processes_with(mark)) - set(find_processes_with(mark.encode().hex()))


def fill_pipe(descriptor: int) -> None:
    os.set_blocking(descriptor, False)
    try:
        while True:
            os.write(descriptor, b" " * 4_096)
    except BlockingIOError:
        os.set_blocking(descriptor, True)


@pytest.mark.parametrize("backend", [LandlockBackend(), NoIsolationBackend()], ids=lambda backend: backend.level)
async def test_code_released_before_it_has_its_own_group_ends(backend: SandboxBackend, tmp_path: Path):
    if why := backend.describe_missing():
        skip_level(backend.level, why)
    for _ in range(5):
        plan = backend.build_plan(Job(tmp_path, lambda _: ["/bin/sleep", "600"]), None, None)
        plan.release()
        subprocess.run(
            plan.command,
            env=plan.environ,
            pass_fds=plan.child_fds,
            input=b"go\n",
            timeout=PROCESS_TIMEOUT_S,
            check=False,
        )
        plan.close()
