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
from outrider.workspace.workspaces import Workspace

if TYPE_CHECKING:
    from outrider.workspace.changes import Changed, Seen
    from outrider.workspace.sandbox.job import Job
    from outrider.workspace.sandbox.running import Running

Status = Literal["running", "finished", "failed", "killed"]
FINISHED_KEPT = 50  # of each session
HOUR = 3_600


@dataclass
class Execution:
    """Code that runs or has run, and what it did to the workspace.

    Attributes:
        id: What a session knows it by.
        title: What it is, in the words of who began it.
        changed: Files that differ, once it is over.
        polls: How often in a row it was asked for while it ran.
        countless: There are too many files to look at all; `changed` then lacks those that were made or removed.
    """

    id: str
    title: str
    place: Workspace
    running: "Running"
    before: "Seen"
    started_at: float = field(default_factory=time.time)
    changed: "list[Changed]" = field(default_factory=list)
    polls: int = 0
    countless: bool = False

    @property
    def status(self) -> Status:
        if self.running.exit_code is None:
            return "running"
        if self.running.why:
            return "killed"
        return "finished" if self.running.exit_code == 0 else "failed"

    async def run(self, seconds: float) -> None:
        """Runs to the end, and sees what has changed."""
        try:
            await self.running.run(seconds)
        finally:
            with anyio.CancelScope(shield=True):
                self.changed = await anyio.to_thread.run_sync(self._changed)

    def _changed(self) -> "list[Changed]":
        from outrider.workspace.changes import MOST, changes, look

        after = look(self.place.directory)
        self.countless = max(len(self.before), len(after)) >= MOST
        return changes(self.before, after)


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

    async def run(self, place: Workspace, job: "Job", title: str, seconds: float) -> Execution:
        """Runs a job to its end, or for so many seconds; waits first where too many run.

        Cancelled, it ends the job. In a workspace that is full it has a second to make room. Raises what
        `Sandbox.start` raises.
        """
        async with self._slots:
            execution = await self._begin(place, job, title)
            await execution.run(seconds)
        return execution

    async def begin(self, place: Workspace, job: "Job", title: str) -> Execution:
        """Starts a job in the background. Raises Refused where the session has too many, and as `run`."""
        most = self.sandbox.settings.background
        if self.count(place) >= most:
            raise Refused(
                f"{most} background processes run already", hint="stop_process one of them first", code="processes"
            )
        execution = await self._begin(place, job, title)
        own = self._background.setdefault(place.key, {})
        own[execution.id] = execution
        for old in [each for each in own.values() if each.status != "running"][:-FINISHED_KEPT]:
            del own[old.id]
        self._keep(execution.run(self.sandbox.settings.background_hours * HOUR))
        return execution

    def get(self, place: Workspace, name: str) -> Execution:
        """A background process of this session. Raises NotFound."""
        found = self._background.get(place.key, {}).get(name)
        if found is None:
            raise NotFound(f"process_id: no process {name[:100]!r}", hint="list_processes shows those of this session")
        return found

    def list(self, place: Workspace) -> list[Execution]:
        """The background processes of this session, the newest last."""
        return list(self._background.get(place.key, {}).values())

    def count(self, place: Workspace) -> int:
        """How many of this session run in the background."""
        return sum(each.status == "running" for each in self.list(place))

    async def close(self) -> None:
        """Ends all that runs."""
        for own in self._background.values():
            for execution in own.values():
                execution.running.kill("stopped")
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.sandbox.close()

    async def _begin(self, place: Workspace, job: "Job", title: str) -> Execution:
        from outrider.workspace.changes import look

        before = await anyio.to_thread.run_sync(look, place.directory)
        running = await self.sandbox.start(replace(job, full=self._full(place)))
        return Execution(uuid.uuid4().hex[:8], title, place, running, before)

    def _full(self, place: Workspace) -> Callable[[], bool]:
        from outrider.workspace.changes import too_much

        return lambda: too_much(place.directory, self._quota)

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
