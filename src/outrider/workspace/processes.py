"""Executions of a session: in the foreground, and in the background for as long as the server lives."""

import asyncio
import time
import uuid
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import anyio

from outrider.core.errors import NotFound, Refused
from outrider.workspace.sandbox.sandbox import Sandbox
from outrider.workspace.workspaces import SessionWorkspace

if TYPE_CHECKING:
    from outrider.workspace.changes import FileChange, FileSnapshot
    from outrider.workspace.sandbox.job import Job
    from outrider.workspace.sandbox.process import SandboxProcess

ExecutionStatus = Literal["running", "finished", "failed", "killed"]


@dataclass
class Execution:
    """Code that runs or has run, and what it did to the workspace.

    Attributes:
        id: What a session knows it by.
        title: What it is, in the words of who began it.
        changed: Files that differ, once it is over.
        poll_count: How often in a row it was asked for while it ran.
        has_too_many_files: There are too many files to look at all; `changed` then lacks those that were made or removed.
    """

    id: str
    title: str
    workspace: SessionWorkspace
    process: "SandboxProcess"
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
        """Runs to the end, and sees what has changed."""
        try:
            await self.process.communicate(seconds)
        finally:
            with anyio.CancelScope(shield=True):
                self.changed = await anyio.to_thread.run_sync(self._find_changes)

    def _find_changes(self) -> "list[FileChange]":
        from outrider.workspace.changes import MAX_SNAPSHOT_FILES, diff_snapshots, take_snapshot

        after = take_snapshot(self.workspace.directory)
        self.has_too_many_files = max(len(self.snapshot_before), len(after)) >= MAX_SNAPSHOT_FILES
        return diff_snapshots(self.snapshot_before, after)


class Processes:
    """Everything that runs. A session sees only its own, by its workspace.

    Args:
        sandbox: Runs it.
        quota: Bytes that the files of one workspace may take.
    """

    def __init__(self, sandbox: Sandbox, *, quota: int) -> None:
        self.sandbox = sandbox
        self._quota = quota
        self._background: dict[str, dict[str, Execution]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._slots = anyio.CapacityLimiter(sandbox.settings.parallel)

    async def run(self, workspace: SessionWorkspace, job: "Job", title: str, seconds: float) -> Execution:
        """Runs a job to its end, or for so many seconds; waits first where too many run.

        Cancelled, it ends the job. In a workspace that is full it has a second to make room. Raises what
        `Sandbox.start` raises.
        """
        async with self._slots:
            execution = await self._start_execution(workspace, job, title)
            await execution.run(seconds)
        return execution

    async def start_background(self, workspace: SessionWorkspace, job: "Job", title: str) -> Execution:
        """Starts a job in the background. Raises Refused where the session has too many, and as `run`."""
        hour_s = 3_600
        max_finished = 50  # of each session
        most = self.sandbox.settings.background
        if self.count_running(workspace) >= most:
            raise Refused(
                f"{most} background processes run already", hint="stop_process one of them first", code="processes"
            )
        execution = await self._start_execution(workspace, job, title)
        own = self._background.setdefault(workspace.key, {})
        own[execution.id] = execution
        for old in [each for each in own.values() if each.status != "running"][:-max_finished]:
            del own[old.id]
        self._keep(execution.run(self.sandbox.settings.background_hours * hour_s))
        return execution

    def get(self, workspace: SessionWorkspace, name: str) -> Execution:
        """A background process of this session. Raises NotFound."""
        found = self._background.get(workspace.key, {}).get(name)
        if found is None:
            raise NotFound(f"process_id: no process {name[:100]!r}", hint="list_processes shows those of this session")
        return found

    def list(self, workspace: SessionWorkspace) -> list[Execution]:
        """The background processes of this session, the newest last."""
        return list(self._background.get(workspace.key, {}).values())

    def count_running(self, workspace: SessionWorkspace) -> int:
        """How many of this session run in the background."""
        return sum(each.status == "running" for each in self.list(workspace))

    async def close(self) -> None:
        """Ends all that runs."""
        for own in self._background.values():
            for execution in own.values():
                execution.process.kill("stopped")
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.sandbox.close()

    async def _start_execution(self, workspace: SessionWorkspace, job: "Job", title: str) -> Execution:
        from outrider.workspace.changes import take_snapshot

        before = await anyio.to_thread.run_sync(take_snapshot, workspace.directory)
        running = await self.sandbox.start(replace(job, is_over_quota=self._full(workspace)))
        return Execution(uuid.uuid4().hex[:8], title, workspace, running, before)

    def _full(self, place: SessionWorkspace) -> Callable[[], bool]:
        from outrider.workspace.changes import is_over_quota

        return lambda: is_over_quota(place.directory, self._quota)

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
