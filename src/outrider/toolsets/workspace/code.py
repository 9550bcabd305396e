"""Tools that run code and commands in the session's workspace."""

import shlex
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import anyio
from pydantic import BaseModel, Field

from outrider.core.background import run_background
from outrider.core.context import Call
from outrider.core.errors import InvalidInput
from outrider.core.result import Result
from outrider.toolsets.workspace.code_results import (
    ExecutionReport,
    build_execution_result,
    build_input_result,
    build_output_result,
    build_poll_result,
    build_process_list,
    build_started_result,
)
from outrider.toolsets.workspace.files import workspace
from outrider.workspace import SessionWorkspace, SessionWorkspaces
from outrider.workspace.jobs import (
    BASH,
    build_python_job,
    build_python_kernel_job,
    build_shell_job,
    build_shell_kernel_job,
    build_typescript_job,
    build_typescript_kernel_job,
    check_working_folder,
)
from outrider.workspace.processes import Processes

if TYPE_CHECKING:
    from outrider.workspace.kernels.kernel import KernelLanguage
    from outrider.workspace.sandbox.job import Job

MAX_FOREGROUND_S = 300
MAX_QUEUE_WAIT_S = 300  # until a slot for a process is free, in addition

ScriptText = Annotated[str, Field(min_length=1, max_length=1_000_000, description="A whole script")]
CommandText = Annotated[str, Field(min_length=1, max_length=1_000)]
WorkingFolder = Annotated[str, Field(min_length=1, max_length=1_000, description="Relative to the workspace")]
TimeoutSeconds = Annotated[int, Field(ge=1, le=MAX_FOREGROUND_S, description="Seconds; sync only")]
ShellFolder = Annotated[
    str, Field(min_length=1, max_length=1_000, description="Relative to the workspace; the shell stays there")
]
RunMode = Annotated[Literal["sync", "async"], Field(description="async: in the background; returns a process_id")]
Reset = Annotated[bool, Field(description="Start a new interpreter, without earlier variables")]
ProcessId = Annotated[str, Field(min_length=1, max_length=100)]


InputText = Annotated[str, Field(max_length=100_000, description="End it with a newline if the program reads lines")]
EndInput = Annotated[bool, Field(description="Close its input afterwards")]


class Tail(BaseModel, extra="forbid", defer_build=True):
    """The end of a stream."""

    src: Literal["stdout", "stderr"] = "stdout"
    n: Annotated[int, Field(ge=1, le=100, description="Lines")] = 10


@workspace.tool(effect="act", title="Run Python", timeout=MAX_FOREGROUND_S + MAX_QUEUE_WAIT_S)
async def execute_python(
    workspaces: SessionWorkspaces,
    processes: Processes,
    call: Call,
    /,
    code: ScriptText,
    timeout: TimeoutSeconds = 30,  # noqa: ASYNC109 - it ends the program, not the waiting
    run_mode: RunMode = "sync",
    reset: Reset = False,
) -> Result:
    """Run Python in the session's interpreter, which keeps variables and imports; async runs start fresh.

    Returns output, the last expression's value, and pictures that it saves or draws.
    """
    session_workspace = await _get_workspace(workspaces, call)
    sandbox, directory = processes.sandbox, session_workspace.directory
    if run_mode == "async":
        job = await build_python_job(sandbox, directory, code)
        return await _start_job(processes, session_workspace, job, "python")
    cell = CellRequest("python", code, partial(build_python_kernel_job, sandbox, directory), timeout, reset)
    return await _run_cell(processes, call, session_workspace, cell)


@workspace.tool(effect="act", title="Run TypeScript", timeout=MAX_FOREGROUND_S + MAX_QUEUE_WAIT_S)
async def execute_typescript(
    workspaces: SessionWorkspaces,
    processes: Processes,
    call: Call,
    /,
    code: ScriptText,
    timeout: TimeoutSeconds = 30,  # noqa: ASYNC109
    run_mode: RunMode = "sync",
    reset: Reset = False,
) -> Result:
    """Run TypeScript or JavaScript in the session's Deno, which keeps variables and imports.

    Returns output and the last expression's value. For servers: run_mode=async, which starts fresh.
    """
    session_workspace = await _get_workspace(workspaces, call)
    sandbox, directory = processes.sandbox, session_workspace.directory
    if run_mode == "async":
        job = await build_typescript_job(sandbox, directory, code)
        return await _start_job(processes, session_workspace, job, "typescript")
    cell = CellRequest("typescript", code, partial(build_typescript_kernel_job, sandbox, directory), timeout, reset)
    return await _run_cell(processes, call, session_workspace, cell)


async def execute_shell(
    workspaces: SessionWorkspaces,
    processes: Processes,
    call: Call,
    /,
    command: CommandText,
    timeout: TimeoutSeconds = 30,  # noqa: ASYNC109
    working_dir: ShellFolder | None = None,
    run_mode: RunMode = "sync",
    reset: Reset = False,
) -> Result:
    """Run a command in the session's shell, which keeps its folder and variables.

    Servers and long work: run_mode=async, a new shell in working_dir; then poll_process.
    """
    if run_mode == "async" or not BASH.exists():
        return await _run_command(workspaces, processes, call, command, timeout, working_dir or ".", run_mode)
    _reject_nul(command)
    session_workspace = await _get_workspace(workspaces, call)
    directory = session_workspace.directory
    if working_dir:
        check_working_folder(directory, working_dir)
        command = f'cd -- "$OUTRIDER_WORKSPACE"/{shlex.quote(working_dir)} || exit\n{command}'
    cell = CellRequest("shell", command, partial(build_shell_kernel_job, processes.sandbox, directory), timeout, reset)
    return await _run_cell(processes, call, session_workspace, cell)


async def execute_windows_cmd(
    workspaces: SessionWorkspaces,
    processes: Processes,
    call: Call,
    /,
    command: CommandText,
    timeout: TimeoutSeconds = 30,  # noqa: ASYNC109
    working_dir: WorkingFolder = ".",
    run_mode: RunMode = "sync",
) -> Result:
    """Run a cmd.exe command in the workspace. Long work: run_mode=async, then poll_process."""
    return await _run_command(workspaces, processes, call, command, timeout, working_dir, run_mode)


_system_shell_tool = execute_windows_cmd if sys.platform == "win32" else execute_shell
workspace.tool(effect="act", title="Run a command", timeout=MAX_FOREGROUND_S + MAX_QUEUE_WAIT_S)(_system_shell_tool)


@workspace.tool(title="Check a process")
async def poll_process(
    workspaces: SessionWorkspaces, processes: Processes, call: Call, /, process_id: ProcessId, tail: Tail | None = None
) -> Result:
    """Show whether a background process still runs, its exit code, and the end of its output."""
    session_workspace = await _get_workspace(workspaces, call)
    tail = tail or Tail()
    return await build_poll_result(processes.get(session_workspace, process_id), tail.src, tail.n)


@workspace.tool(title="Read a process's output")
async def read_process_output(
    workspaces: SessionWorkspaces,
    processes: Processes,
    call: Call,
    /,
    process_id: ProcessId,
    stream: Literal["stdout", "stderr"] = "stdout",
    mode: Literal["tail", "head"] = "tail",
    lines: Annotated[int, Field(ge=1, le=100)] = 20,
) -> Result:
    """Read the first or last output lines of a background process."""
    session_workspace = await _get_workspace(workspaces, call)
    return build_output_result(processes.get(session_workspace, process_id), stream, mode, lines)


@workspace.tool(title="List processes")
async def list_processes(
    workspaces: SessionWorkspaces,
    processes: Processes,
    call: Call,
    /,
    status_filter: Literal["all", "running", "finished"] = "all",
) -> Result:
    """List this session's background processes."""
    session_workspace = await _get_workspace(workspaces, call)
    return build_process_list(processes.list(session_workspace), status_filter)


@workspace.tool(effect="write", title="Stop a process", stake="never_ask")
async def stop_process(
    workspaces: SessionWorkspaces, processes: Processes, call: Call, /, process_id: ProcessId
) -> Result:
    """Stop a background process and its children; kills them after three seconds."""
    session_workspace = await _get_workspace(workspaces, call)
    execution = processes.get(session_workspace, process_id)
    if execution.status == "running":
        await execution.process.stop()
    return await build_poll_result(execution, "stdout", 10)


@workspace.tool(effect="act", title="Write to a process")
async def write_process_input(
    workspaces: SessionWorkspaces,
    processes: Processes,
    call: Call,
    /,
    process_id: ProcessId,
    text: InputText = "",
    end: EndInput = False,
) -> Result:
    """Write to the standard input of a background process, such as an answer to its question."""
    session_workspace = await _get_workspace(workspaces, call)
    execution = processes.get(session_workspace, process_id)
    if execution.status != "running":
        raise InvalidInput("process_id: the process has ended", hint="start it again with run_mode=async")
    await execution.write_input(text.encode("utf-8", "surrogatepass"), end=end)
    return build_input_result(execution, text, end)


async def _run_command(
    workspaces: SessionWorkspaces,
    processes: Processes,
    call: Call,
    command: str,
    timeout: int,  # noqa: ASYNC109 - it ends the program, not the waiting
    working_dir: str,
    run_mode: Literal["sync", "async"],
) -> Result:
    _reject_nul(command)
    session_workspace = await _get_workspace(workspaces, call)
    job = await build_shell_job(processes.sandbox, session_workspace.directory, command, working_dir)
    return await _run_job(processes, call, session_workspace, job, command, timeout, run_mode)


def _reject_nul(command: str) -> None:
    if "\0" in command:
        raise InvalidInput("command: holds a NUL character", hint="leave it out; a script can write such bytes")


async def _run_job(
    processes: Processes,
    call: Call,
    session_workspace: SessionWorkspace,
    job: "Job",
    title: str,
    seconds: int,
    run_mode: Literal["sync", "async"],
) -> Result:
    if run_mode == "async":
        return await _start_job(processes, session_workspace, job, title)
    level = (await processes.sandbox.require_backend()).level
    async with _send_heartbeats(call, seconds):
        execution = await processes.run(session_workspace, job, title, seconds)
    problem = processes.sandbox.package_problem
    return await build_execution_result(ExecutionReport(execution, level, job.limits, seconds, problem))


async def _start_job(processes: Processes, session_workspace: SessionWorkspace, job: "Job", title: str) -> Result:
    """Run a job in the background."""
    level = (await processes.sandbox.require_backend()).level
    return build_started_result(await processes.start_background(session_workspace, job, title), level)


@dataclass(frozen=True)
class CellRequest:
    """Code for the session's interpreter; `build_job` builds the job of a new one."""

    language: "KernelLanguage"
    code: str
    build_job: Callable[[], Awaitable["Job"]]
    seconds: int
    reset: bool


async def _run_cell(processes: Processes, call: Call, session_workspace: SessionWorkspace, cell: CellRequest) -> Result:
    level = (await processes.sandbox.require_backend()).level
    async with _send_heartbeats(call, cell.seconds):
        execution = await processes.run_cell(
            session_workspace, cell.language, cell.code, cell.build_job, seconds=cell.seconds, reset=cell.reset
        )
    limits, problem = processes.sandbox.build_limits(), processes.sandbox.package_problem
    return await build_execution_result(ExecutionReport(execution, level, limits, cell.seconds, problem))


async def _get_workspace(workspaces: SessionWorkspaces, call: Call) -> SessionWorkspace:
    return await anyio.to_thread.run_sync(workspaces.ensure_workspace, call)


def _send_heartbeats(call: Call, seconds: float) -> AbstractAsyncContextManager[None]:
    """Report progress every 5 s while the block runs: hosts drop silent calls."""

    async def report_progress() -> None:
        interval_s = 5.0
        elapsed_s = 0.0
        while True:
            await anyio.sleep(interval_s)
            elapsed_s += interval_s
            await call.progress(min(elapsed_s, seconds), seconds, f"running for {elapsed_s:.0f} s")

    return run_background(report_progress)
