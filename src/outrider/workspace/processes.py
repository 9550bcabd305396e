"""Run executions of a session, in the foreground or in the background."""

import asyncio
import time
import uuid
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

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
    """Running or finished code, and its changes to the workspace.

    Attributes:
        id: Identifies the execution in its session.
        title: Description by whoever started it.
        changed: Files that differ, once it has ended.
        poll_count: How often in a row its state was requested while it ran.
        has_too_many_files: The workspace has too many files to compare all; `changed` lacks created and deleted ones.
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


class Processes:
    """All executions in the sandbox. A session sees only its own."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self._background: dict[str, dict[str, Execution]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._slots = anyio.CapacityLimiter(sandbox.settings.parallel)

    async def run(self, workspace: SessionWorkspace, job: "Job", title: str, seconds: float) -> Execution:
        """Run a job to its end, for `seconds` at most; wait first if too many are running.

        Cancelling ends the job. In a workspace over its quota a job has a second to make room. Raises the errors of
        `Sandbox.start`.
        """
        async with self._slots:
            execution = await self._start_execution(workspace, job, title)
            await execution.run(seconds)
        return execution

    async def start_background(self, workspace: SessionWorkspace, job: "Job", title: str) -> Execution:
        """Start a job in the background. Raises Refused if the session has too many, and the errors of `run`."""
        max_finished = 50  # of each session
        max_age_s = 86_400.0
        limit = self.sandbox.settings.background
        if self.count_running(workspace) >= limit:
            raise Refused(
                f"{limit} background processes are running, which is the limit",
                hint="end one with stop_process first",
                code="processes",
            )
        execution = await self._start_execution(workspace, job, title)
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

    def get(self, workspace: SessionWorkspace, name: str) -> Execution:
        """Return a background process of this session. Raises NotFound."""
        execution = self._background.get(workspace.key, {}).get(name)
        if execution is None:
            raise NotFound(
                f"process_id: process {name[:100]!r} does not exist", hint="call list_processes to see the ids"
            )
        return execution

    def list(self, workspace: SessionWorkspace) -> list[Execution]:
        """Return the background processes of this session, newest last."""
        return list(self._background.get(workspace.key, {}).values())

    def count_running(self, workspace: SessionWorkspace) -> int:
        """Return how many processes of this session run in the background."""
        return sum(execution.status == "running" for execution in self.list(workspace))

    async def close(self) -> None:
        """End all processes."""
        for own in self._background.values():
            for execution in own.values():
                execution.process.kill("stopped")
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.sandbox.close()

    async def _start_execution(self, workspace: SessionWorkspace, job: "Job", title: str) -> Execution:
        from outrider.workspace.changes import is_over_quota, take_snapshot

        directory, max_bytes = workspace.directory, workspace.quota.max_bytes
        before = await anyio.to_thread.run_sync(take_snapshot, directory)
        if max_bytes is not None:
            job = replace(job, is_over_quota=lambda: is_over_quota(directory, max_bytes))
        job = replace(job, keeps_owner=workspace.is_project)
        return Execution(uuid.uuid4().hex[:8], title, workspace, await self.sandbox.start(job), before)
