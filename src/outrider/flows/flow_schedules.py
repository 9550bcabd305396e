"""Store schedules of flows, and start their runs (loads SQLAlchemy)."""

import hashlib
import uuid
from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import Connection, func, select

from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.errors import Refused
from outrider.core.notices.notice_queue import WAITING
from outrider.flows.flow_runs import StoredRun, build_lease, build_owner_key, build_run_row, insert_run, parse_run
from outrider.flows.flow_schedule import FlowSchedule, parse_schedule_row
from outrider.flows.program import FlowProgram
from outrider.flows.tables import flow_notices, flow_runs, flow_schedules

UNFINISHED = ("due", "running")


class FlowSchedules:
    """The schedules of the flows of one project.

    Args:
        database: Holds them.
        project: The folder of the project; empty for flows of a team.
    """

    def __init__(self, database: Database, project: str) -> None:
        self._database = database
        self._project = project

    async def save_schedule(self, schedule: FlowSchedule, max_schedules: int) -> FlowSchedule:
        """Store the schedule of a flow; it replaces an earlier one. Raises Refused, Unavailable."""
        now, owner = self._database.now(), build_owner_key(schedule.call)
        saved = replace(
            schedule,
            id=self._build_id(owner, schedule.flow),
            next_at=schedule.times.compute_next(now, 0.0),
            revision=uuid.uuid4().hex,
        )
        row = asdict(saved) | {
            "owner": owner,
            "project": self._project,
            "created_at": now,
            "notify": list(saved.notify),
        }
        others = (flow_schedules.c.owner == owner) & (flow_schedules.c.id != saved.id)
        count = select(func.count()).select_from(flow_schedules).where(others)
        upsert = self._database.build_upsert(flow_schedules, row, key="id")

        def write_row(connection: Connection) -> bool:
            if connection.execute(count).scalar_one() >= max_schedules:
                return False
            connection.execute(upsert)
            return True

        if not await self._database.run_transaction(write_row, write=True):
            message = f"there are {max_schedules} schedules already, the limit of flows.max_schedules"
            raise Refused(message, hint="remove one with unscheduleFlow", code="too_many_schedules")
        return saved

    async def list_schedules(self, call: Call) -> list[FlowSchedule]:
        """Return a caller's schedules of this project by name. Raises Unavailable."""
        own = flow_schedules.c.owner == build_owner_key(call)
        return await self._list_where(own, flow_schedules.c.flow)

    async def remove_schedule(self, call: Call, flow: str) -> bool:
        """Remove the schedule of a flow; return whether there was one. Raises Unavailable."""
        own = flow_schedules.c.id == self._build_id(build_owner_key(call), flow)
        async with self._database.write() as connection:
            return (await connection.execute(flow_schedules.delete().where(own))).rowcount > 0

    async def list_due(self) -> list[FlowSchedule]:
        """Return the due schedules of this project. Raises Unavailable."""
        return await self._list_where(flow_schedules.c.next_at <= self._database.now(), flow_schedules.c.next_at)

    async def find_next_due(self) -> float | None:
        """Return when the next run of this project is due; None without schedules. Raises Unavailable."""
        query = select(func.min(flow_schedules.c.next_at)).where(flow_schedules.c.project == self._project)
        async with self._database.read() as connection:
            return (await connection.execute(query)).scalar()

    async def start_run(
        self, schedule: FlowSchedule, program: FlowProgram | None, problem: str = ""
    ) -> StoredRun | None:
        """Store a due run and the time of the next one; any process of the project may then begin the run.

        Several missed times give a single run. Nothing is stored if another process was faster, or while an earlier run
        of the schedule has not ended.

        Args:
            schedule: The schedule as it was loaded when due.
            program: The flow; None if it could not be loaded.
            problem: Why the run cannot begin, which ends it at once.

        Raises Unavailable.
        """
        now = self._database.now()
        seen = (flow_schedules.c.id == schedule.id) & (flow_schedules.c.revision == schedule.revision)
        next_at, revision = schedule.times.compute_next(now, 0.0), uuid.uuid4().hex
        advance = flow_schedules.update().where(seen).values(next_at=next_at, revision=revision, problem="")
        earlier = flow_runs.select().where(flow_runs.c.schedule == schedule.id, flow_runs.c.state.in_(UNFINISHED))
        options = {**schedule.options, "notify": schedule.notify}
        row = build_run_row(schedule.call, schedule.flow, program, schedule.parameters, options) | build_lease(now)
        row |= {"schedule": schedule.id, "attempts": 0, "started_at": now, "lease_until": 0.0, "message": problem}
        row |= {"state": "stopped", "ended_at": now} if problem else {"state": "due", "ended_at": None}

        def write_run(connection: Connection) -> bool:
            if connection.execute(advance).rowcount != 1:
                return False
            if (running := connection.execute(earlier).mappings().first()) is not None:
                left_out = f"a run was skipped, because {running['id']} had not ended"
                changed = flow_schedules.update().where(flow_schedules.c.id == schedule.id)
                connection.execute(changed.values(problem=left_out))
                return False
            insert_run(connection, row)
            if problem and schedule.notify:
                notices = [{**WAITING, "run_id": row["id"], "name": name, "next_at": now} for name in schedule.notify]
                connection.execute(flow_notices.insert(), notices)
            return True

        return parse_run(row, now) if await self._database.run_transaction(write_run, write=True) else None

    async def list_pending(self) -> list[tuple[FlowSchedule, StoredRun]]:
        """Return scheduled runs that wait for a process, or whose process has ended. Raises Unavailable."""
        query = flow_runs.select().where(
            flow_runs.c.schedule.in_(select(flow_schedules.c.id).where(flow_schedules.c.project == self._project)),
            flow_runs.c.state.in_(UNFINISHED),
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(query.order_by(flow_runs.c.started_at))).mappings().all()
        now = self._database.now()
        runs = [run for row in rows if (run := parse_run(row, now)).state == "due" or run.is_interrupted]
        named = flow_schedules.c.id.in_({run.schedule for run in runs})
        schedules = {each.id: each for each in await self._list_where(named, flow_schedules.c.id)} if runs else {}
        return [(schedules[run.schedule], run) for run in runs if run.schedule in schedules]

    async def _list_where(self, condition: Any, order: Any) -> list[FlowSchedule]:
        own = flow_schedules.select().where(condition, flow_schedules.c.project == self._project).order_by(order)
        async with self._database.read() as connection:
            return [parse_schedule_row(row) for row in (await connection.execute(own)).mappings()]

    def _build_id(self, owner: str, flow: str) -> str:
        whole = f"{owner}\x1f{self._project}\x1f{flow}".encode("utf-8", "replace")
        return hashlib.sha256(whole).hexdigest()[:24]
