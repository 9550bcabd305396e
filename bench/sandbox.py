"""What a sandbox costs beside a bare interpreter, and what many executions at the same time take."""

import shutil
import subprocess
import tempfile
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio

from bench.figures import Measured, Part
from bench.processes import family, megabytes
from outrider.app import App, open_app
from outrider.core.context import Call
from outrider.settings import load
from outrider.workspace.jobs import build_python_job, build_typescript_job
from outrider.workspace.sandbox.sandbox import Sandbox
from outrider.workspace.sandbox.settings import CodeSettings

BARE, BARE_DENO, BARE_MANY = "python3", "deno", "64 bare interpreters"
OURS = "execute_python"
MANY = 64
HUNGRY = "kept = bytearray(50_000_000)\nimport time\ntime.sleep(0.5)\nprint(len(kept))"
PYTHON = shutil.which("python3", path="/usr/local/bin:/usr/bin") or ""  # one that every user may run
LEVELS = ("namespaces", "landlock")


def run(*, quick: bool) -> Part:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        starts, denos = anyio.run(_starts, Path(folder), 3 if quick else 21)
        seconds, memory = anyio.run(_many, Path(folder), 1 if quick else 3)
    return Part(
        "Sandbox",
        "An empty program, from its start until its end is known, at each level of isolation that this machine has. "
        f"Then {MANY} calls of `execute_python` at the same time, each holding 50 MB for half a second, beside as many "
        "bare interpreters. Memory is the highest total of all these processes at any moment, without the server's "
        "own. `code.parallel` is 8, the default; the other calls wait, which takes longer and limits memory.",
        [
            Measured("milliseconds of an empty Python program", BARE, starts, digits=1),
            Measured("milliseconds of an empty TypeScript program", BARE_DENO, denos, digits=1),
            Measured(f"megabytes of {MANY} executions", OURS, memory, digits=0),
            Measured(f"seconds for {MANY} executions", OURS, seconds),
        ],
    )


async def _starts(folder: Path, turns: int) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    python: dict[str, list[float]] = {BARE: []}
    deno: dict[str, list[float]] = {BARE_DENO: []}
    boxes = {level: Sandbox(CodeSettings.model_validate({"isolation": level, "python": PYTHON})) for level in LEVELS}
    boxes = {level: box for level, box in boxes.items() if (await box.detect_isolation()).backend}
    workspace = folder / "workspace"
    workspace.mkdir()
    script = folder / "empty.ts"
    script.write_text("")
    for turn in range(turns + 1):
        for level, box in boxes.items():
            found = (await box.resolve_python(workspace)).executable
            program = (await box.resolve_deno(workspace)).executable
            for into, name, command in ((python, BARE, [found, "-c", ""]), (deno, BARE_DENO, [program, "run", script])):
                if level == next(iter(boxes)):
                    _note(into, name, turn, await _timed(partial(anyio.run_process, [str(each) for each in command])))
            _note(
                python, level, turn, await _timed(partial(_execute, box, await build_python_job(box, workspace, " ")))
            )
            _note(
                deno, level, turn, await _timed(partial(_execute, box, await build_typescript_job(box, workspace, " ")))
            )
    return python, deno


def _note(into: dict[str, list[float]], name: str, turn: int, milliseconds: float) -> None:
    if turn:  # the first loads what every later one finds loaded
        into.setdefault(name, []).append(milliseconds)


async def _timed(work) -> float:
    started = time.perf_counter()
    await work()
    return (time.perf_counter() - started) * 1000


async def _execute(box: Sandbox, job) -> None:
    running = await box.start(job)
    await running.communicate(60)
    assert running.exit_code == 0, running.stderr.text


async def _many(folder: Path, turns: int) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    seconds: dict[str, list[float]] = {OURS: [], BARE_MANY: []}
    memory: dict[str, list[float]] = {OURS: [], BARE_MANY: []}
    flags = {"toolsets": ["workspace"], "tools": {"stakes": {"*": "never_ask"}}, "code": {"python": PYTHON}}
    async with open_app(load(flags, environ={}, home=folder, workspace=folder)) as app:
        python = str((await app.processes.sandbox.resolve_python(folder)).executable)
        works = {OURS: partial(_ours, app), BARE_MANY: partial(_bare, python)}
        for _ in range(turns):
            for name, work in works.items():
                peak: list[float] = [0.0]
                async with anyio.create_task_group() as group:
                    group.start_soon(_watch, peak)
                    seconds[name].append(await _timed(work) / 1000)
                    group.cancel_scope.cancel()
                memory[name].append(max(peak))
    return seconds, memory


async def _ours(app: App) -> None:
    async def one(number: int) -> None:
        found = await app.call("execute_python", Call(session=f"s{number}"), code=HUNGRY)
        assert found.data["stdout"] == "50000000\n", found.text

    async with anyio.create_task_group() as group:
        for number in range(MANY):
            group.start_soon(one, number)


async def _bare(python: str) -> None:
    async with anyio.create_task_group() as group:
        for _ in range(MANY):
            group.start_soon(partial(anyio.run_process, [python, "-c", HUNGRY], stderr=subprocess.PIPE))


async def _watch(peak: list[float]) -> None:
    import os

    while True:
        with suppress(OSError):
            everybody = await anyio.to_thread.run_sync(family, os.getpid())
            everybody.pop(os.getpid(), None)
            peak.append(await anyio.to_thread.run_sync(megabytes, everybody))
        await anyio.sleep(0.05)
