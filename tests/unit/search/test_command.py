"""Other programs are bounded in time and output, and end with all processes that they start."""

import os
import sys
import threading
import time
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from outrider.core.errors import NotConfigured, Unavailable
from outrider.search.command import run_command
from support.busy_machine import scale_to_load
from support.timeouts import EVENT_TIMEOUT_S, PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio
CHILD = (
    "import subprocess, sys, time;"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
    "open('child', 'w').write(str(child.pid));"
)


async def run_python(folder: Path, source: str, *arguments: str, seconds: float = 30, most: int = 10_000_000):
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        program = [sys.executable, "-c", source, *arguments]
        return await run_command(
            program, seconds=seconds, environ={"ONLY": "this"}, folder=folder, max_output_bytes=most
        )


async def wait_until_gone(folder: Path) -> bool:
    """Wait until the program's child has ended; an uncollected one is a zombie."""
    stat = Path(f"/proc/{(folder / 'child').read_text()}/stat")
    with anyio.move_on_after(EVENT_TIMEOUT_S):
        while stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z":
            await anyio.sleep(0.01)
        return True
    return False


async def test_output_errors_and_exit_code_are_returned(tmp_path: Path):
    ended = await run_python(tmp_path, "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert (ended.code, ended.out, ended.err) == (3, "out\n", "err\n")


async def test_arguments_are_not_interpreted_by_a_shell(tmp_path: Path):
    nasty = "$(touch hacked) `id` ; rm -rf . | cat > x && 'y\" \\ *"
    ended = await run_python(tmp_path, "import sys; print(sys.argv[1])", nasty)
    assert ended.out == nasty + "\n"
    assert [each.name for each in tmp_path.iterdir()] == ["home"]


async def test_it_sees_only_the_environment_that_it_is_given(tmp_path: Path):
    ended = await run_python(tmp_path, "import os; print(sorted(set(os.environ) - {'LC_CTYPE'}))")
    assert ended.out == "['ONLY']\n"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc, which only Linux has")
async def test_a_timeout_ends_the_program_and_its_children(tmp_path: Path):
    with pytest.raises(Unavailable) as caught:
        await run_python(tmp_path, CHILD + "time.sleep(600)", seconds=scale_to_load(1))
    assert caught.value.code == "timeout"
    assert await wait_until_gone(tmp_path)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc, which only Linux has")
async def test_a_cancelled_call_ends_them_too(tmp_path: Path):
    async def ask() -> None:
        await run_python(tmp_path, CHILD + "time.sleep(600)")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        with anyio.fail_after(EVENT_TIMEOUT_S):
            while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text():
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
    assert await wait_until_gone(tmp_path)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc, which only Linux has")
async def test_a_call_that_is_cancelled_while_the_program_starts_ends_them_too(tmp_path: Path):
    async def ask() -> None:
        await run_python(tmp_path, CHILD + "time.sleep(600)")

    async with anyio.create_task_group() as tasks:
        children = Path(f"/proc/self/task/{threading.get_native_id()}/children")
        before = children.read_text()
        tasks.start_soon(ask)
        while children.read_text() == before:
            await anyio.lowlevel.checkpoint()
        deadline = time.monotonic() + EVENT_TIMEOUT_S
        # Nothing else can run meanwhile, so for the caller the program is still starting.
        while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text():
            assert time.monotonic() < deadline
        tasks.cancel_scope.cancel()
    assert await wait_until_gone(tmp_path)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc, which only Linux has")
async def test_a_child_that_keeps_the_streams_open_is_not_waited_for(tmp_path: Path):
    ended = await run_python(tmp_path, CHILD + "print('done', flush=True)", seconds=30)
    assert ended.out == "done\n"
    assert await wait_until_gone(tmp_path)


async def test_output_is_limited_while_it_arrives(tmp_path: Path):
    endless = "import sys\nwhile True: sys.stdout.write('x' * 100_000); sys.stderr.write('y' * 100_000)"
    with pytest.raises(Unavailable) as caught:
        await run_python(tmp_path, endless, most=3_000_000)
    assert caught.value.code == "bad_reply"
    assert "3 MB" in caught.value.message


async def test_output_up_to_the_limit_is_read_completely(tmp_path: Path):
    ended = await run_python(tmp_path, "print('x' * 999_999)", most=1_000_000)
    assert len(ended.out) == 1_000_000


async def test_a_missing_program_is_named(tmp_path: Path):
    with pytest.raises(NotConfigured) as caught:
        await run_command(["/no/such/thing", "x"], seconds=1, environ={}, folder=tmp_path)
    assert "thing cannot be run" in caught.value.message
    assert caught.value.code == "not_configured"


async def test_output_that_is_not_valid_utf8_is_still_read(tmp_path: Path):
    ended = await run_python(tmp_path, f"import os; os.write(1, {os.fsencode('ok')!r} + bytes([255]))")
    assert ended.out == "ok\ufffd"
