"""Run executions of a session, in the foreground or in the background."""

import asyncio
import time
import uuid
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

import anyio

from outrider.core.errors import NotFound, Refused
from outrider.workspace.kernels.pool import KernelPool
from outrider.workspace.sandbox.sandbox import Sandbox
from outrider.workspace.workspaces import SessionWorkspace

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from outrider.workspace.changes import FileChange, FileSnapshot
    from outrider.workspace.kernels.kernel import Cell, KernelLanguage
    from outrider.workspace.sandbox.job import Job
    from outrider.workspace.sandbox.process import SandboxProcess

ProcessT = TypeVar("ProcessT", bound="SandboxProcess | Cell")
ExecutionStatus = Literal["running", "finished", "failed", "killed"]


@dataclass
class Execution(Generic[ProcessT]):
    """Running or finished code, and its changes to the workspace.

    It is a separate process, or a cell in the session's interpreter.

    Attributes:
        id: Identifies the execution in its session.
        title: Description by the caller that started it.
        changed: Files that differ, once it has ended.
        poll_count: How often in a row its state was requested while it ran.
        has_too_many_files: The workspace has too many files to compare all; `changed` lacks created and deleted ones.
    """

    id: str
    title: str
    workspace: SessionWorkspace
    process: ProcessT
    snapshot_before: "FileSnapshot"
    started_at: float = field(default_factory=time.time)
    changed: "list[FileChange]" = field(default_factory=list)
    poll_count: int = 0
    has_too_many_files: bool = False

    @property
    def status(self) -> ExecutionStatus:
        if self.process.exit_code is None:
            return "running"
        if self.process.end_reason:
            return "killed"
        return "finished" if self.process.exit_code == 0 else "failed"

    async def run(self, seconds: float) -> None:
        """Run to the end, for `seconds` at most, and record the changed files."""
        from outrider.workspace.changes import MAX_SNAPSHOT_FILES, diff_snapshots, take_snapshot

        def find_changes() -> "list[FileChange]":
            after = take_snapshot(self.workspace.directory)
            self.has_too_many_files = max(len(self.snapshot_before), len(after)) >= MAX_SNAPSHOT_FILES
            return diff_snapshots(self.snapshot_before, after)

        try:
            await self.process.communicate(seconds)
        finally:
            with anyio.CancelScope(shield=True):
                self.changed = await anyio.to_thread.run_sync(find_changes)


class BackgroundExecution(Execution["SandboxProcess"]):
    """A background execution, whose standard input stays open."""

    async def write_input(self, data: bytes, *, end: bool = False) -> None:
        """Write to its standard input, and close it with `end`. Raises Refused if it is closed or full."""
        timeout_s = 5.0
        is_written = False
        with anyio.move_on_after(timeout_s) as scope:
            is_written = await self.process.write_stdin(data)
            if end:
                await self.process.close_stdin()
        if scope.cancelled_caught:
            raise Refused(
                f"the process has read only a part of the text within {timeout_s:g} s",
                hint="poll_process shows what it does; write less at a time",
                code="input_full",
            )
        if not is_written and (data or not end):
            raise Refused(
                "the process has closed its standard input, or it was closed by an earlier call",
                hint="start the program again with run_mode=async",
                code="input_closed",
            )


class Processes:
    """All executions in the sandbox. A session sees only its own."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.kernels = KernelPool(sandbox)
        self._background: dict[str, dict[str, BackgroundExecution]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._slots = anyio.CapacityLimiter(sandbox.settings.parallel)

    async def run(
        self, workspace: SessionWorkspace, job: "Job", title: str, seconds: float
    ) -> "Execution[SandboxProcess]":
        """Run a job to its end, for `seconds` at most; wait first if too many are running.

        Cancelling ends the job. In a workspace over its quota, a job has a second to free space. Raises the errors of
        `Sandbox.start`.
        """
        async with self._slots:
            execution = Execution(*await self._start_job(workspace, job, title))
            await execution.run(seconds)
        return execution

    async def run_cell(
        self,
        workspace: SessionWorkspace,
        language: "KernelLanguage",
        code: str,
        build_job: "Callable[[], Awaitable[Job]]",
        *,
        seconds: float,
        reset: bool = False,
    ) -> "Execution[Cell]":
        """Run code in the session's interpreter for a language, for `seconds` at most; start one if there is none.

        Calls of one session wait for one another. `reset` begins with a new interpreter. Like `run` otherwise.
        """
        from outrider.workspace.changes import take_snapshot

        async def build_kernel_job() -> "Job":
            return self._fit_to_workspace(workspace, await build_job())

        async with (
            self._slots,
            self.kernels.open_cell(workspace.key, language, code, build_kernel_job, reset) as cell,
        ):
            before = await anyio.to_thread.run_sync(take_snapshot, workspace.directory)
            execution = Execution(uuid.uuid4().hex[:8], language, workspace, cell, before)
            await execution.run(seconds)
        return execution

    async def start_background(self, workspace: SessionWorkspace, job: "Job", title: str) -> BackgroundExecution:
        """Start a job in the background. Raises Refused if the session has too many, and the errors of `run`."""
        max_running, max_finished = 20, 50  # per session
        max_age_s = 86_400.0
        if self.count_running(workspace) >= max_running:
            raise Refused(
                f"{max_running} background processes are running, which is the limit",
                hint="end one with stop_process first",
                code="processes",
            )
        # Without given input, it can be written to while it runs.
        job = replace(job, keeps_stdin=not job.stdin)
        execution = BackgroundExecution(*await self._start_job(workspace, job, title))
        own = self._background.setdefault(workspace.key, {})
        own[execution.id] = execution
        finished = [other for other in own.values() if other.status != "running"]
        for old in finished[:-max_finished]:
            del own[old.id]
        # The event loop holds only weak references to tasks.
        task = asyncio.get_running_loop().create_task(execution.run(max_age_s))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return execution

    def get(self, workspace: SessionWorkspace, name: str) -> BackgroundExecution:
        """Return a background process of this session. Raises NotFound."""
        execution = self._background.get(workspace.key, {}).get(name)
        if execution is None:
            raise NotFound(
                f"process_id: process {name[:100]!r} does not exist", hint="call list_processes to see the ids"
            )
        return execution

    def list(self, workspace: SessionWorkspace) -> "Sequence[BackgroundExecution]":
        """Return the background processes of this session, newest last."""
        return list(self._background.get(workspace.key, {}).values())

    def count_running(self, workspace: SessionWorkspace) -> int:
        """Return how many processes of this session run in the background."""
        return sum(execution.status == "running" for execution in self.list(workspace))

    async def close(self) -> None:
        """End all processes and interpreters."""
        await self.kernels.close()
        for own in self._background.values():
            for execution in own.values():
                execution.process.kill("stopped")
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.sandbox.close()

    async def _start_job(
        self, workspace: SessionWorkspace, job: "Job", title: str
    ) -> "tuple[str, str, SessionWorkspace, SandboxProcess, FileSnapshot]":
        """Start a job and return the fields of its execution."""
        from outrider.workspace.changes import take_snapshot

        before = await anyio.to_thread.run_sync(take_snapshot, workspace.directory)
        process = await self.sandbox.start(self._fit_to_workspace(workspace, job))
        return uuid.uuid4().hex[:8], title, workspace, process, before

    def _fit_to_workspace(self, workspace: SessionWorkspace, job: "Job") -> "Job":
        """Return the job with the workspace's quota and owner."""
        from outrider.workspace.changes import is_over_quota

        directory, max_bytes = workspace.directory, workspace.quota.max_bytes
        if max_bytes is not None:
            job = replace(job, is_over_quota=lambda: is_over_quota(directory, max_bytes))
        return replace(job, keeps_owner=workspace.is_project)
