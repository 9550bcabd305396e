"""Code's resources are bounded, and all its processes end with it."""

import gc
import os
import uuid
from collections.abc import AsyncGenerator, Generator

import anyio.lowlevel
import pytest

from outrider.workspace.quota import measure_size
from outrider.workspace.sandbox.job import ResourceLimits
from outrider.workspace.sandbox.rlimits import count_threads
from outrider.workspace.sandbox.sandbox import Sandbox
from outrider.workspace.sandbox.seccomp import is_supported
from support.busy_machine import scale_to_load
from support.processes.sandboxes import (
    ISOLATION_LEVELS,
    SandboxWorkspace,
    find_processes_with,
    open_sandbox,
    open_workspace,
)
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = pytest.mark.skipif(not is_supported(), reason="there are sandboxes for Linux on x86-64 and ARM alone")


@pytest.fixture(params=ISOLATION_LEVELS, scope="module")
async def sandbox(request: pytest.FixtureRequest) -> AsyncGenerator[Sandbox]:
    async with open_sandbox(request.param) as made:
        yield made


@pytest.fixture
def sandbox_workspace(sandbox: Sandbox) -> Generator[SandboxWorkspace]:
    with open_workspace(sandbox) as made:
        yield made


def require_process_limit(sandbox_workspace: SandboxWorkspace) -> None:
    """The number of root's own processes is not limited."""
    if sandbox_workspace.sandbox.settings.isolation == "none" and os.geteuid() == 0:
        pytest.skip("needs a user other than root, for whom the kernel has no such limit without isolation")


@pytest.fixture
def mark() -> str:
    """Return a unique number of seconds to sleep, by which processes can be found."""
    return f"60{uuid.uuid4().int % 1_000_000}"


async def wait_until_gone(mark: str) -> bool:
    with anyio.fail_after(EVENT_TIMEOUT_S):
        while find_processes_with(mark):
            await anyio.sleep(0.01)
    return True


async def test_a_fork_bomb_stops_at_the_limit(sandbox_workspace: SandboxWorkspace, mark: str):
    require_process_limit(sandbox_workspace)
    code = f"""
import subprocess
children = []
try:
    while len(children) < 1000:
        children.append(subprocess.Popen(["sleep", "{mark}"]))
except (BlockingIOError, OSError) as error:
    print(type(error).__name__)
print(len(children))
"""
    # Code that runs as the tests' user gets one more for each other process of the user that ends meanwhile.
    own_threads = count_threads(None) if os.geteuid() else 0
    ended = await sandbox_workspace.run_python(code, limits=ResourceLimits(processes=30))
    name, count = ended.stdout.text.split()
    assert name == "BlockingIOError"
    assert int(count) < 40 + own_threads
    assert await wait_until_gone(mark)


async def test_threads_count_as_processes(sandbox_workspace: SandboxWorkspace):
    require_process_limit(sandbox_workspace)
    code = """
import threading
try:
    for number in range(1000):
        threading.Thread(target=threading.Event().wait, daemon=True).start()
except RuntimeError as error:
    print(error)
"""
    ended = await sandbox_workspace.run_python(code, limits=ResourceLimits(processes=30))
    assert "can't start new thread" in ended.stdout.text


async def test_memory_of_one_process_is_bounded(sandbox_workspace: SandboxWorkspace):
    ended = await sandbox_workspace.run_python("x = bytearray(400_000_000)", limits=ResourceLimits(memory=200_000_000))
    assert ended.exit_code == 1
    assert "MemoryError" in ended.stderr.text


async def test_memory_of_many_processes_together_is_bounded(sandbox_workspace: SandboxWorkspace):
    code = """
import os, time
for _ in range(8):
    if not os.fork():
        kept = bytearray(os.urandom(1)) * 60_000_000
        time.sleep(60)
time.sleep(60)
"""
    ended = await sandbox_workspace.run_python(code, limits=ResourceLimits(memory=200_000_000))
    assert ended.end_reason == "memory"


async def test_shared_memory_is_bounded(sandbox_workspace: SandboxWorkspace):
    code = """
import mmap
kept = []
while True:
    kept.append(mmap.mmap(-1, 20_000_000))
    kept[-1].write(b"x" * 20_000_000)
"""
    ended = await sandbox_workspace.run_python(code, limits=ResourceLimits(memory=200_000_000))
    assert ended.exit_code != 0
    assert ended.end_reason in ("memory", "")


async def test_a_flood_of_output_is_read_and_mostly_dropped(sandbox_workspace: SandboxWorkspace):
    code = "import sys\nfor number in range(200_000): sys.stdout.write('%09d\\n' % number)"
    ended = await sandbox_workspace.run_python(code, limits=ResourceLimits(output_bytes=100_000))
    assert ended.exit_code == 0
    assert ended.stdout.total == 2_000_000
    assert ended.stdout.dropped > 1_800_000
    assert ended.stdout.text.startswith("000000000\n")
    assert ended.stdout.text.endswith("000199999\n")
    assert len(ended.stdout.text) < 200_000


async def test_endless_output_ends_at_the_time_limit(sandbox_workspace: SandboxWorkspace):
    ended = await sandbox_workspace.run_shell(
        "yes", seconds=scale_to_load(1), limits=ResourceLimits(output_bytes=100_000)
    )
    assert ended.end_reason == "timeout"
    assert ended.stdout.total > 100_000


async def test_one_file_is_bounded(sandbox_workspace: SandboxWorkspace):
    code = "open('big', 'wb').write(b'x' * 3_000_000)"
    ended = await sandbox_workspace.run_python(code, limits=ResourceLimits(file_bytes=1_000_000))
    assert "File too large" in ended.stderr.text
    assert (sandbox_workspace.directory / "big").stat().st_size <= 1_000_000


async def test_all_files_together_are_bounded(sandbox_workspace: SandboxWorkspace):
    code = """
number = 0
while True:
    number += 1
    with open(f"file-{number % 500}", "ab") as file:
        file.write(b"x" * 100_000)
"""
    ended = await sandbox_workspace.run_python(
        code, is_over_quota=lambda: measure_size(sandbox_workspace.directory) > 1_000_000
    )
    assert ended.end_reason == "disk"


async def test_temporary_files_are_bounded(sandbox_workspace: SandboxWorkspace):
    code = """
import os
for number in range(4000):
    with open(os.environ["TMPDIR"] + f"/{number}", "wb") as file:
        file.write(b"x" * 1_000_000)
"""
    ended = await sandbox_workspace.run_python(code)
    assert "No space left" in ended.stderr.text or ended.end_reason == "disk"


async def test_processor_time_is_bounded(sandbox_workspace: SandboxWorkspace):
    ended = await sandbox_workspace.run_shell("while :; do :; done", limits=ResourceLimits(cpu_seconds=1))
    assert ended.exit_code in (137, 152)
    assert ended.end_reason == ""


async def test_open_files_are_bounded(sandbox_workspace: SandboxWorkspace):
    ended = await sandbox_workspace.run_python("kept = [open('/dev/null') for _ in range(2000)]")
    assert "Too many open files" in ended.stderr.text


async def test_time_is_bounded_though_signals_are_ignored(sandbox_workspace: SandboxWorkspace, mark: str):
    ended = await sandbox_workspace.run_shell(
        f"trap '' TERM INT HUP; echo begun; sleep {mark}; sleep {mark}", seconds=scale_to_load(1)
    )
    assert ended.end_reason == "timeout"
    assert ended.stdout.text == "begun\n"
    assert await wait_until_gone(mark)


async def test_a_process_that_leaves_the_group_ends_with_it(sandbox_workspace: SandboxWorkspace, mark: str):
    code = f"""
import os, subprocess
if not os.fork():
    try:
        os.setsid()
    except PermissionError:
        pass
    if not os.fork():
        for stream in (0, 1, 2):
            os.close(stream)
        os.execvp("sleep", ["sleep", "{mark}"])
    os._exit(0)
os.wait()
print("left")
"""
    ended = await sandbox_workspace.run_python(code)
    assert ended.stdout.text == "left\n"
    assert await wait_until_gone(mark)


async def test_a_program_may_end_before_its_children(sandbox_workspace: SandboxWorkspace, mark: str):
    with anyio.fail_after(EVENT_TIMEOUT_S):
        ended = await sandbox_workspace.run_shell(f"sleep {mark} & echo started")
    assert ended.stdout.text == "started\n"
    assert ended.exit_code == 0
    assert await wait_until_gone(mark)


async def test_a_cancelled_call_leaves_nothing(sandbox_workspace: SandboxWorkspace, mark: str):
    with anyio.move_on_after(1):
        await sandbox_workspace.run_shell(f"sleep {mark}")
    assert await wait_until_gone(mark)


async def test_unread_input_does_not_block_the_program(sandbox_workspace: SandboxWorkspace):
    with anyio.fail_after(EVENT_TIMEOUT_S):
        ended = await sandbox_workspace.run_python("print('done')", stdin=b"x" * 5_000_000)
        gc.collect()  # asyncio reports unread errors when it drops them, and such reports fail the test
        await anyio.lowlevel.checkpoint()
    assert ended.stdout.text == "done\n"


async def test_broken_pipes_end_programs_as_they_do_elsewhere(sandbox_workspace: SandboxWorkspace):
    with anyio.fail_after(EVENT_TIMEOUT_S):
        ended = await sandbox_workspace.run_shell("yes | head -n 1; echo ${PIPESTATUS[0]}")
    assert ended.stdout.text == "y\n141\n"
