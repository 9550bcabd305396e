"""When the server dies, at whatever moment, what it has started dies with it."""

import signal
import subprocess
import sys
import uuid
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from outrider.workspace.sandbox.backend import SandboxBackend
from outrider.workspace.sandbox.job import IsolationLevel, Job
from outrider.workspace.sandbox.launcher_backends import LandlockBackend, NoIsolationBackend
from outrider.workspace.sandbox.seccomp import is_supported
from support.processes.sandboxes import ISOLATION_LEVELS, find_processes_with, open_sandbox, open_workspace

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
MOMENTS = (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.15, 0.3)  # seconds after the first start


@pytest.fixture(params=ISOLATION_LEVELS)
async def folder(request: pytest.FixtureRequest) -> AsyncGenerator[tuple[IsolationLevel, Path]]:
    async with open_sandbox(request.param) as sandbox:
        with open_workspace(sandbox) as box:
            yield request.param, box.directory


async def test_nothing_outlives_a_server_that_is_killed(folder: tuple[IsolationLevel, Path]):
    level, directory = folder
    marks = [f"61{uuid.uuid4().int % 1_000_000}" for _ in MOMENTS]
    for mark, moment in zip(marks, MOMENTS, strict=True):
        command = [sys.executable, "-c", SERVER, level, str(directory), mark]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout
            assert server.stdout.readline() == "starting\n"
            await anyio.sleep(moment)
            server.send_signal(signal.SIGKILL)
    with anyio.fail_after(30):
        while any(map(find_processes_with, marks)):
            await anyio.sleep(0.01)


@pytest.mark.parametrize("backend", [LandlockBackend(), NoIsolationBackend()], ids=lambda backend: backend.level)
async def test_code_that_is_let_go_of_before_it_has_a_group_of_its_own_ends(backend: SandboxBackend, tmp_path: Path):
    if why := backend.describe_missing():
        pytest.skip(f"this machine has no {backend.level}: {why}")
    for _ in range(5):
        plan = backend.build_plan(Job(tmp_path, lambda _: ["/bin/sleep", "600"]), None, None)
        plan.release()
        subprocess.run(plan.command, env=plan.environ, pass_fds=plan.child_fds, input=b"go\n", timeout=30, check=False)
        plan.close()
