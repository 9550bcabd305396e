"""Run flows on schedule, exactly once even if processes die.

It loads SQLAlchemy.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import anyio

from outrider.core.background import run_background
from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.errors import AnswerNeeded, OutriderError
from outrider.core.notices.notice_queue import NoticeQueue
from outrider.core.notices.notice_sender import NoticeSender
from outrider.core.notices.notifier import Notifier
from outrider.flows.flow_runs import FlowRuns, StoredRun, describe_caller
from outrider.flows.flow_schedule import FlowSchedule
from outrider.flows.flow_schedules import FlowSchedules
from outrider.flows.program import FlowProgram
from outrider.flows.run_notices import load_notice
from outrider.flows.settings import FlowsSettings
from outrider.flows.tables import flow_notices

log = logging.getLogger(__name__)
MAX_ATTEMPTS = 5  # of a run that crashes its process each time


class ScheduledWork(Protocol):
    """Prepares and executes scheduled runs."""

    async def prepare(self, schedule: FlowSchedule) -> tuple[FlowProgram, FlowSchedule]:
        """Return a flow, and the schedule with the parameters and options of its next run. Raises OutriderError."""
        ...

    def describe_reach(self, program: FlowProgram) -> list[str]:
        """Return the sites and the secrets of a flow, to which its schedule limits it."""
        ...

    async def require_approval(self, call: Call, program: FlowProgram) -> None:
        """Refuse a flow that asks a person and is not approved. Raises Refused."""
        ...

    async def run(self, call: Call, run: StoredRun) -> None:
        """Start or continue a stored run. Raises OutriderError, AnswerNeeded."""
        ...


class ScheduleEngine:
    """Runs the flows of one project when they are due.

    A run is stored before it begins, together with the time of the next one, so that it is neither lost nor made twice;
    its lease and journal decide which process continues it.

    Args:
        database: Holds schedules and runs.
        settings: Limits.
        project: The folder of the project; empty for flows of a team, which any process runs.
        notifier: Sends the notices of runs.
        work: Executes the runs.
        default_timezone: The time zone of schedules without one.

    Attributes:
        next_due: The due time of the next run at the last check; None without schedules.
    """

    def __init__(
        self,
        database: Database,
        settings: FlowsSettings,
        project: str,
        notifier: Notifier,
        work: ScheduledWork,
        *,
        default_timezone: str = "UTC",
    ) -> None:
        self._database = database
        self.work = work
        self._runs = FlowRuns(database)
        self._running = set[str]()
        self._wake_event = anyio.Event()
        self.settings = settings
        self.notifier = notifier
        self.default_timezone = default_timezone
        self.schedules = FlowSchedules(database, project)
        self.next_due: float | None = None
        queue = NoticeQueue(database, flow_notices, load_notice, database.now)
        self._sender = NoticeSender(queue, notifier, concurrency=2)

    def plan(
        self,
        call: Call,
        flow: str,
        *,
        cron: str,
        timezone: str,
        parameters: Mapping[str, Any],
        options: Mapping[str, Any],
        notify: Sequence[str] | None,
    ) -> FlowSchedule:
        """Return a schedule without storing it. Raises InvalidInput for a wrong cron line, time zone or notice."""
        names = list(dict.fromkeys(self.settings.notify if notify is None else notify))
        self.notifier.check_names(tuple(names))
        zone = timezone or self.default_timezone
        schedule = FlowSchedule(flow, cron, zone, parameters, options, names, describe_caller(call))
        _ = schedule.times  # parses the cron line
        return schedule

    def wake(self) -> None:
        """Check for due runs now."""
        self._wake_event.set()

    async def run_due(self) -> list[StoredRun]:
        """Execute all due runs one after another, send their notices, and return the ended runs."""
        await self._write_due_runs()
        pending = await self.schedules.list_pending()
        for schedule, run in pending:
            await self._run_and_record(schedule, run)
        await self._sender.send_due()
        return [await self._runs.load_run(schedule.call, run.id) for schedule, run in pending]

    async def run_forever(self) -> None:
        """Execute runs when they are due, until cancelled."""
        async with anyio.create_task_group() as tasks, run_background(self._sender.run_forever):
            await self._run_when_due(tasks)

    async def _run_when_due(self, tasks: anyio.abc.TaskGroup) -> None:
        max_running = 2
        max_pause_s, pause_s = 5.0, 5.0  # other processes may add schedules or die
        while True:
            self._wake_event = anyio.Event()
            try:
                await self._write_due_runs()
                pending = [each for each in await self.schedules.list_pending() if each[1].id not in self._running]
                for schedule, run in pending[: max(max_running - len(self._running), 0)]:
                    self._running.add(run.id)
                    tasks.start_soon(self._run_in_background, schedule, run)
                self.next_due = await self.schedules.find_next_due()
                wait_s = (self.next_due or 0.0) - self._database.now()
                pause_s = min(wait_s, max_pause_s) if wait_s > 0 else max_pause_s
            except OutriderError as error:
                log.warning("flows that are due could not be listed: %s", error)
            with anyio.move_on_after(pause_s):
                await self._wake_event.wait()

    async def _write_due_runs(self) -> None:
        """Store the due runs; a run that cannot begin is ended at once."""
        for schedule in await self.schedules.list_due():
            try:
                try:
                    program, prepared = await self.work.prepare(schedule)
                except OutriderError as error:
                    await self.schedules.start_run(schedule, None, f"{error.code}: {error.message}")
                else:
                    await self.schedules.start_run(prepared, program)
            except OutriderError as error:
                log.warning("the flow %s could not be started: %s", schedule.flow, error)

    async def _run_in_background(self, schedule: FlowSchedule, run: StoredRun) -> None:
        try:
            await self._run_and_record(schedule, run)
        except OutriderError as error:
            log.warning("the run %s could not be recorded: %s", run.id, error)
        finally:
            self._running.discard(run.id)
            self.wake()
            self._sender.wake()

    async def _run_and_record(self, schedule: FlowSchedule, run: StoredRun) -> None:
        """Execute a run, and end it if an error prevents that. Raises Unavailable."""
        if run.attempts >= MAX_ATTEMPTS:
            problem = f"the process died {run.attempts} times during this run"
            await self._runs.end_run(run, run.lease, "stopped", message=problem)
            return
        try:
            await self.work.run(schedule.call, run)
        except AnswerNeeded as question:
            await self._end_unfinished(schedule, run, f"not_approved: a person must be asked: {question.question}")
        except OutriderError as error:
            if error.code not in ("run_active", "run_taken"):
                await self._end_unfinished(schedule, run, f"{error.code}: {error.message}")
        except Exception:  # a bug here must not end the process, which serves others
            log.exception("the run %s has failed", run.id)
            await self._end_unfinished(schedule, run, "failed: a bug in Outrider; its log has the details")

    async def _end_unfinished(self, schedule: FlowSchedule, run: StoredRun, problem: str) -> None:
        stored = await self._runs.load_run(schedule.call, run.id)
        if stored.state in ("due", "waiting"):
            await self._runs.end_run(stored, stored.lease, "stopped", message=problem)
