"""Compare sandbox start-up with bare interpreters, and measure many executions at once."""

import shutil
import subprocess
import tempfile
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio

from bench.process_tree import find_processes, sum_memory_mb
from bench.tables import Comparison, Part
from outrider.app import App, open_app
from outrider.core.context import Call
from outrider.settings import load
from outrider.workspace.jobs import build_python_job, build_typescript_job
from outrider.workspace.sandbox.sandbox import Sandbox
from outrider.workspace.sandbox.settings import CodeSettings

PYTHON, DENO, BARE_INTERPRETERS = "python3", "deno", "64 bare interpreters"
EXECUTE_PYTHON = "execute_python"
EXECUTION_COUNT = 64
HOLD_MEMORY_CODE = "kept = bytearray(50_000_000)\nimport time\ntime.sleep(0.5)\nprint(len(kept))"
PYTHON_FILE = shutil.which("python3", path="/usr/local/bin:/usr/bin") or ""  # an interpreter that every user may run
ISOLATION_LEVELS = ("namespaces", "landlock")


def run(*, quick: bool) -> Part:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        starts, denos = anyio.run(_measure_starts, Path(folder), 3 if quick else 21)
        seconds, memory = anyio.run(_measure_parallel_executions, Path(folder), 1 if quick else 3)
    return Part(
        "Sandbox",
        "An empty program is timed from its start until its end is noticed, at each isolation level of this machine. "
        f"Then {EXECUTION_COUNT} calls of `execute_python` run at the same time, each holding 50 MB for half a "
        "second, compared with as many bare interpreters. Memory is the highest total of all these processes at any "
        "moment, without the server's own. `code.parallel` is 8, the default; the other calls wait, which takes "
        "longer and limits memory.",
        [
            Comparison("milliseconds of an empty Python program", PYTHON, starts, digits=1),
            Comparison("milliseconds of an empty TypeScript program", DENO, denos, digits=1),
            Comparison(f"megabytes of {EXECUTION_COUNT} executions", EXECUTE_PYTHON, memory, digits=0),
            Comparison(f"seconds for {EXECUTION_COUNT} executions", EXECUTE_PYTHON, seconds),
        ],
    )


async def _measure_starts(folder: Path, turns: int) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    python: dict[str, list[float]] = {PYTHON: []}
    deno: dict[str, list[float]] = {DENO: []}
    boxes = {
        level: Sandbox(CodeSettings.model_validate({"isolation": level, "python": PYTHON_FILE}))
        for level in ISOLATION_LEVELS
    }
    boxes = {level: box for level, box in boxes.items() if (await box.detect_isolation()).backend}
    workspace = folder / "workspace"
    workspace.mkdir()
    script = folder / "empty.ts"
    script.write_text("")
    for turn in range(turns + 1):
        for level, box in boxes.items():
            found = (await box.resolve_python(workspace)).executable
            program = (await box.resolve_deno(workspace)).executable
            for into, name, command in ((python, PYTHON, [found, "-c", ""]), (deno, DENO, [program, "run", script])):
                if level == next(iter(boxes)):
                    _add_time(
                        into, name, turn, await _time_work(partial(anyio.run_process, [str(each) for each in command]))
                    )
            _add_time(
                python,
                level,
                turn,
                await _time_work(partial(_run_job, box, await build_python_job(box, workspace, " "))),
            )
            _add_time(
                deno,
                level,
                turn,
                await _time_work(partial(_run_job, box, await build_typescript_job(box, workspace, " "))),
            )
    return python, deno


def _add_time(into: dict[str, list[float]], name: str, turn: int, milliseconds: float) -> None:
    if turn:  # the first turn loads the modules
        into.setdefault(name, []).append(milliseconds)


async def _time_work(work) -> float:
    started = time.perf_counter()
    await work()
    return (time.perf_counter() - started) * 1000


async def _run_job(box: Sandbox, job) -> None:
    running = await box.start(job)
    await running.communicate(60)
    assert running.exit_code == 0, running.stderr.text


async def _measure_parallel_executions(
    folder: Path, turns: int
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    seconds: dict[str, list[float]] = {EXECUTE_PYTHON: [], BARE_INTERPRETERS: []}
    memory: dict[str, list[float]] = {EXECUTE_PYTHON: [], BARE_INTERPRETERS: []}
    flags = {"toolsets": ["workspace"], "tools": {"stakes": {"*": "never_ask"}}, "code": {"python": PYTHON_FILE}}
    async with open_app(load(flags, environ={}, home=folder, workspace=folder)) as app:
        python = str((await app.processes.sandbox.resolve_python(folder)).executable)
        works = {
            EXECUTE_PYTHON: partial(_run_tool_executions, app),
            BARE_INTERPRETERS: partial(_run_bare_interpreters, python),
        }
        for _ in range(turns):
            for name, work in works.items():
                peak: list[float] = [0.0]
                async with anyio.create_task_group() as group:
                    group.start_soon(_sample_memory, peak)
                    seconds[name].append(await _time_work(work) / 1000)
                    group.cancel_scope.cancel()
                memory[name].append(max(peak))
    return seconds, memory


async def _run_tool_executions(app: App) -> None:
    async def execute_code(number: int) -> None:
        found = await app.call("execute_python", Call(session=f"s{number}"), code=HOLD_MEMORY_CODE)
        assert found.data["stdout"] == "50000000\n", found.text

    async with anyio.create_task_group() as group:
        for number in range(EXECUTION_COUNT):
            group.start_soon(execute_code, number)


async def _run_bare_interpreters(python: str) -> None:
    async with anyio.create_task_group() as group:
        for _ in range(EXECUTION_COUNT):
            group.start_soon(partial(anyio.run_process, [python, "-c", HOLD_MEMORY_CODE], stderr=subprocess.PIPE))


async def _sample_memory(peak: list[float]) -> None:
    import os

    while True:
        with suppress(OSError):
            everybody = await anyio.to_thread.run_sync(find_processes, os.getpid())
            everybody.pop(os.getpid(), None)
            peak.append(await anyio.to_thread.run_sync(sum_memory_mb, everybody))
        await anyio.sleep(0.05)
