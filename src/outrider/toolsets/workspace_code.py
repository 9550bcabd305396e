"""Code and commands of a model, run in the session's workspace and kept in there."""

import sys
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Annotated, Literal

import anyio
from pydantic import BaseModel, Field

from outrider.core.beside import beside
from outrider.core.context import Call
from outrider.core.errors import InvalidInput
from outrider.core.result import Result
from outrider.toolsets.workspace import workspace
from outrider.toolsets.workspace_code_results import Report, begun, listed, polled, read, reported, stopped
from outrider.workspace import Workspace, Workspaces
from outrider.workspace.processes import Processes

if TYPE_CHECKING:
    from outrider.workspace.sandbox.job import Job

LONGEST = 300  # seconds in the foreground
WAITING = 300  # seconds that a call may stand in line besides
BEAT = 5.0  # seconds between two signs of life

Code = Annotated[str, Field(min_length=1, max_length=1_000_000, description="A whole script")]
Command = Annotated[str, Field(min_length=1, max_length=1_000)]
Folder = Annotated[str, Field(min_length=1, max_length=1_000, description="Relative to the workspace")]
Seconds = Annotated[int, Field(ge=1, le=LONGEST, description="Seconds; sync only")]
RunMode = Annotated[Literal["sync", "async"], Field(description="async: in the background; answers a process_id")]
ProcessId = Annotated[str, Field(min_length=1, max_length=100)]


class Tail(BaseModel, extra="forbid", defer_build=True):
    """The end of a stream."""

    src: Literal["stdout", "stderr"] = "stdout"
    n: Annotated[int, Field(ge=1, le=100, description="Lines")] = 10


@workspace.tool(effect="act", title="Run Python", timeout=LONGEST + WAITING)
async def execute_python(
    workspaces: Workspaces,
    processes: Processes,
    call: Call,
    /,
    code: Code,
    timeout: Seconds = 30,  # noqa: ASYNC109 - it ends the program, not the waiting
    run_mode: RunMode = "sync",
) -> Result:
    """Run Python in the workspace; print what you want to see. Pictures that it saves or plt.show() come back."""
    from outrider.workspace.scripts import python_job

    place = await _place(workspaces, call)
    job = await python_job(processes.sandbox, place.directory, code)
    return await _run(processes, call, place, job, "python", timeout, run_mode)


@workspace.tool(effect="act", title="Run TypeScript", timeout=LONGEST + WAITING)
async def execute_typescript(
    workspaces: Workspaces,
    processes: Processes,
    call: Call,
    /,
    code: Code,
    timeout: Seconds = 30,  # noqa: ASYNC109 - it ends the program, not the waiting
    run_mode: RunMode = "sync",
) -> Result:
    """Run TypeScript or JavaScript with Deno in the workspace; console.log what you want to see."""
    from outrider.workspace.scripts import typescript_job

    place = await _place(workspaces, call)
    job = await typescript_job(processes.sandbox, place.directory, code)
    return await _run(processes, call, place, job, "typescript", timeout, run_mode)


async def execute_shell(
    workspaces: Workspaces,
    processes: Processes,
    call: Call,
    /,
    command: Command,
    timeout: Seconds = 30,  # noqa: ASYNC109 - it ends the program, not the waiting
    working_dir: Folder = ".",
    run_mode: RunMode = "sync",
) -> Result:
    """Run a shell command in the workspace. Servers and other long work: run_mode=async, then poll_process."""
    return await _command(workspaces, processes, call, command, timeout, working_dir, run_mode)


async def execute_windows_cmd(
    workspaces: Workspaces,
    processes: Processes,
    call: Call,
    /,
    command: Command,
    timeout: Seconds = 30,  # noqa: ASYNC109 - it ends the program, not the waiting
    working_dir: Folder = ".",
    run_mode: RunMode = "sync",
) -> Result:
    """Run a cmd.exe command in the workspace. Long work: run_mode=async, then poll_process."""
    return await _command(workspaces, processes, call, command, timeout, working_dir, run_mode)


_of_this_system = execute_windows_cmd if sys.platform == "win32" else execute_shell
workspace.tool(effect="act", title="Run a command", timeout=LONGEST + WAITING)(_of_this_system)


@workspace.tool(title="Look at a process")
async def poll_process(
    workspaces: Workspaces, processes: Processes, call: Call, /, process_id: ProcessId, tail: Tail | None = None
) -> Result:
    """Whether a background process still runs, its exit code, and the end of its output."""
    place = await _place(workspaces, call)
    return await polled(processes.get(place, process_id), (tail or Tail()).src, (tail or Tail()).n)


@workspace.tool(title="Read a process's output")
async def read_process_output(
    workspaces: Workspaces,
    processes: Processes,
    call: Call,
    /,
    process_id: ProcessId,
    stream: Literal["stdout", "stderr"] = "stdout",
    mode: Literal["tail", "head"] = "tail",
    lines: Annotated[int, Field(ge=1, le=100)] = 20,
) -> Result:
    """The first or last lines that a background process has written."""
    place = await _place(workspaces, call)
    return read(processes.get(place, process_id), stream, mode, lines)


@workspace.tool(title="List processes")
async def list_processes(
    workspaces: Workspaces,
    processes: Processes,
    call: Call,
    /,
    status_filter: Literal["all", "running", "finished"] = "all",
) -> Result:
    """This session's background processes."""
    place = await _place(workspaces, call)
    return listed(processes.list(place), status_filter)


@workspace.tool(effect="write", title="Stop a process", stake="never_ask")
async def stop_process(workspaces: Workspaces, processes: Processes, call: Call, /, process_id: ProcessId) -> Result:
    """Stop a background process with all that it started: asked first, ended after three seconds."""
    place = await _place(workspaces, call)
    found = processes.get(place, process_id)
    if found.status == "running":
        await found.running.stop()
    return await stopped(found)


async def _command(
    workspaces: Workspaces,
    processes: Processes,
    call: Call,
    command: str,
    timeout: int,  # noqa: ASYNC109 - it ends the program, not the waiting
    working_dir: str,
    run_mode: Literal["sync", "async"],
) -> Result:
    from outrider.workspace.scripts import shell_job

    if "\0" in command:
        raise InvalidInput("command: holds a NUL character", hint="leave it out; a script can write such bytes")
    place = await _place(workspaces, call)
    job = await shell_job(processes.sandbox, place.directory, command, working_dir)
    return await _run(processes, call, place, job, command, timeout, run_mode)


async def _run(
    processes: Processes,
    call: Call,
    place: Workspace,
    job: "Job",
    title: str,
    seconds: int,
    run_mode: Literal["sync", "async"],
) -> Result:
    level = (await processes.sandbox.backend()).level
    if run_mode == "async":
        return begun(await processes.begin(place, job, title), level)
    async with _signs_of_life(call, seconds):
        execution = await processes.run(place, job, title, seconds)
    return await reported(Report(execution, level, job.limits, seconds))


async def _place(workspaces: Workspaces, call: Call) -> Workspace:
    return await anyio.to_thread.run_sync(workspaces.of, call)


def _signs_of_life(call: Call, seconds: float) -> AbstractAsyncContextManager[None]:
    """Tells the caller now and then that the code still runs: hosts give up on silence."""

    async def beat() -> None:
        spent = 0.0
        while True:
            await anyio.sleep(BEAT)
            spent += BEAT
            await call.progress(min(spent, seconds), seconds, f"running for {spent:.0f} s")

    return beside(beat)
