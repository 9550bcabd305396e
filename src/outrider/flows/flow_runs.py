"""Store runs of flows, so that another process can continue one."""

import hashlib
import uuid
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import anyio

from outrider.core.background import run_background
from outrider.core.context import Call
from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import NotFound, OutriderError, Refused
from outrider.core.process_holder import build_process_mark, is_process_gone
from outrider.flows.journal import StepJournal, StepRecord
from outrider.flows.program import FlowProgram
from outrider.flows.run import RunPicture

if TYPE_CHECKING:  # SQLAlchemy is loaded when a query is made
    from sqlalchemy import Connection, Select
    from sqlalchemy.ext.asyncio import AsyncConnection

RunState = Literal["due", "running", "waiting", "stopped", "done"]
LEASE_S = 30.0  # another machine's process without a heartbeat for so long is dead


@dataclass(frozen=True)
class StoredRun:
    """A run in the database.

    Attributes:
        id: Its id.
        owner: The key of its person in a workspace (`build_owner_key`).
        flow: The flow's name.
        version: The flow's version.
        sources: The files of all flows that it runs, by name.
        parameters: The caller's parameters, without secrets.
        options: The options of the call, for resuming.
        state: `due` until a schedule's run begins, `running`, `waiting` for a person, `stopped` or `done`.
        step: The current position.
        message: Why it stopped.
        browser_session: The browser session that it last ran in.
        is_interrupted: Whether its process ended in the middle.
        lease: The key of the process that works on it.
        session: The session of its caller.
        schedule: The schedule that started it; empty for a run that a person or a model started.
        attempts: How often a process has claimed it.
        healed: The number of changed elements that were recognized.
        outline: What the page showed where it stopped.
        place: The flow, and the place in its file, where it stopped: `order 3.1`.
        notice_problems: Why notices about its end were not sent, each with the notice's name before it.
    """

    id: str
    owner: str
    flow: str
    version: int
    sources: Mapping[str, str]
    parameters: Mapping[str, Any]
    options: Mapping[str, Any]
    state: RunState
    step: str
    message: str
    browser_session: str
    started_at: float
    ended_at: float | None
    is_interrupted: bool = False
    lease: str = ""
    session: str = ""
    schedule: str = ""
    attempts: int = 1
    healed: int = 0
    outline: str = ""
    place: str = ""
    notice_problems: tuple[str, ...] = ()

    @property
    def call(self) -> Call:
        """Its caller, without the access grant of a caller who signs in."""
        return Call(**self.options.get("caller", {"session": self.session}))

    @property
    def has_sign_in(self) -> bool:
        """Whether its caller signs in, so that only they can continue it."""
        return bool(self.options.get("signedIn"))


@dataclass(frozen=True)
class StopPage:
    """The step at which a run stopped, and what the page showed there; `place` is as in `StoredRun`."""

    step: str
    place: str
    outline: str
    picture: RunPicture | None = None


class FlowRuns:
    """The runs of all flows.

    Args:
        database: The database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create_run(
        self, call: Call, program: FlowProgram, parameters: Mapping[str, Any], options: Mapping[str, Any]
    ) -> StoredRun:
        """Store a new run, and forget those that ended long ago. Raises Unavailable."""
        now = self._database.now()
        row = build_run_row(call, program.flow.name, program, parameters, options) | {
            "started_at": now,
            **build_lease(now),
        }
        await self._database.run_transaction(lambda connection: insert_run(connection, row), write=True)
        return parse_run(row, now)

    async def load_run(self, call: Call, run_id: str) -> StoredRun:
        """Load one of the caller's runs. Raises NotFound, Unavailable."""
        from outrider.flows.tables import flow_runs

        query = flow_runs.select().where(flow_runs.c.id == run_id, flow_runs.c.owner == build_owner_key(call))
        async with self._database.read() as connection:
            runs = await read_runs(connection, query, self._database.now())
        if not runs:
            raise NotFound(f"runId: no run {run_id[:60]!r}", hint="listFlowRuns lists the runs", code="unknown_run")
        return runs[0]

    async def list_runs(self, call: Call, flow: str = "", limit: int = 20) -> list[StoredRun]:
        """List the caller's runs, newest first. Raises Unavailable."""
        from outrider.flows.tables import flow_runs

        query = flow_runs.select().where(flow_runs.c.owner == build_owner_key(call))
        query = query.where(flow_runs.c.flow == flow) if flow else query
        async with self._database.read() as connection:
            ordered = query.order_by(flow_runs.c.started_at.desc(), flow_runs.c.id).limit(limit)
            return await read_runs(connection, ordered, self._database.now())

    async def claim_run(self, run: StoredRun) -> str:
        """Take over a dead process's run; return the lease. Raises Refused, Unavailable."""
        values = build_lease(self._database.now())
        is_live = run.state == "running" and not run.is_interrupted
        changes = {**values, "state": "running", "message": "", "ended_at": None, "attempts": run.attempts + 1}
        if is_live or not await self._update_own(run.id, run.lease, **changes):
            hint = f"wait: listFlowRuns shows when it has ended; a dead process is noticed after {LEASE_S:g} s"
            raise Refused(f"runId: {run.id} is running", hint=hint, code="run_active", retry_after=LEASE_S)
        return str(values["lease"])

    @asynccontextmanager
    async def open_journal(
        self, run: StoredRun, lease: str, hide: Callable[[Any], Any]
    ) -> AsyncGenerator["DatabaseJournal"]:
        """Yield the journal of a run that this process has claimed.

        Its lease is renewed meanwhile.
        """
        from outrider.flows.tables import flow_run_steps as steps

        async with self._database.read() as connection:
            rows = (await connection.execute(steps.select().where(steps.c.run_id == run.id))).mappings().all()
        journal = DatabaseJournal(self._database, run.id, lease, hide, [StepRecord.from_row(row) for row in rows])
        async with run_background(lambda: self._renew_lease(run.id, lease)):
            yield journal

    async def end_run(
        self,
        run: StoredRun,
        lease: str,
        state: RunState,
        *,
        message: str = "",
        healed: int = 0,
        stop_page: StopPage | None = None,
    ) -> None:
        """Store the end of a run, and its notices if a schedule started it. Raises Unavailable."""
        from outrider.flows.run_endings import write_ending

        now = self._database.now()
        is_over = state in ("stopped", "done")
        values: dict[str, Any] = {"state": state, "message": to_storable_text(message, 2_000), "healed": healed}
        values |= {"step": stop_page.step} if stop_page and stop_page.step else {}
        outline = to_storable_text(stop_page.outline, 10_000) if stop_page else ""
        values |= {"outline": outline, "place": stop_page.place if stop_page else ""}
        values |= {"ended_at": now if is_over else None, "updated_at": now, "lease_until": 0.0}
        names = run.options.get("notify", ()) if state == "stopped" or (state == "done" and healed) else ()
        picture = stop_page.picture if stop_page else None

        def write_more(connection: "Connection") -> None:
            write_ending(connection, self._database, run.id, names, picture)

        with anyio.CancelScope(shield=True):
            await self._update_own(run.id, lease, write_more, **values)

    async def set_browser_session(self, run: StoredRun, lease: str, session_id: str) -> None:
        """Store the browser session of a run. Raises Unavailable."""
        await self._update_own(run.id, lease, browser_session=session_id)

    async def replace_sources(self, run: StoredRun, texts: Mapping[str, str], repair: Mapping[str, Any]) -> None:
        """Replace the flow files of a stopped run. Raises Refused if it is running already, Unavailable.

        Args:
            run: The run.
            texts: The files by the names of their flows.
            repair: A description of the change, for people; the last ones are kept in `options`.
        """
        max_repairs = 10
        repairs = [*run.options.get("repairs", ()), dict(repair)][-max_repairs:]
        options = {**run.options, "repairs": repairs}
        version = repair["version"] if repair["flow"] == run.flow else run.version
        changes = {"sources": {**run.sources, **texts}, "options": options, "version": version}
        if not await self._update_own(run.id, run.lease, **changes):
            raise Refused(f"runId: {run.id} is running", hint="listFlowRuns shows its outcome", code="run_active")

    async def set_option(self, run: StoredRun, name: str, value: object) -> None:
        """Store an option of a run that is not running. Raises Refused if it is running already, Unavailable."""
        if not await self._update_own(run.id, run.lease, options={**run.options, name: value}):
            raise Refused(f"runId: {run.id} is running", hint="listFlowRuns shows its outcome", code="run_active")

    async def _renew_lease(self, run_id: str, lease: str) -> None:
        while True:
            await anyio.sleep(LEASE_S / 3)
            try:
                await self._update_own(run_id, lease, lease_until=self._database.now() + LEASE_S)
            except OutriderError:
                continue  # the next record checks whether the run is still ours

    async def _update_own(
        self, run_id: str, lease: str, write_more: "Callable[[Connection], None] | None" = None, /, **values: object
    ) -> bool:
        """Change a run and its related rows; return False if another process has taken it over."""
        from outrider.flows.tables import flow_runs

        own = flow_runs.update().where(flow_runs.c.id == run_id, flow_runs.c.lease == lease).values(**values)

        def write_rows(connection: "Connection") -> bool:
            if connection.execute(own).rowcount != 1:
                return False
            if write_more:
                write_more(connection)
            return True

        return await self._database.run_transaction(write_rows, write=True)


class DatabaseJournal(StepJournal):
    """The journal of a run; each record is stored before the run continues."""

    def __init__(
        self, database: Database, run_id: str, lease: str, hide: Callable[[Any], Any], records: list[StepRecord]
    ) -> None:
        super().__init__(records)
        self._database, self._run_id, self._lease, self._hide = database, run_id, lease, hide

    async def write_record(self, record: StepRecord) -> None:
        """Store a step. Raises Refused if another process has taken the run over, Unavailable."""
        from outrider.flows.tables import flow_run_steps, flow_runs

        now = self._database.now()
        hidden = self._hide(asdict(record))
        texts = {name: to_storable_text(hidden[name], 4_000) for name in ("summary", "url", "matched")}
        row = {**hidden, **texts, "run_id": self._run_id, "at": now}
        insert = self._database.build_insert(flow_run_steps).values(row)
        changed = {name: insert.excluded[name] for name in row if name not in ("run_id", "position")}
        upsert = insert.on_conflict_do_update(index_elements=["run_id", "position"], set_=changed)
        own = flow_runs.update().where(flow_runs.c.id == self._run_id, flow_runs.c.lease == self._lease)
        own = own.values(step=record.position, updated_at=now, lease_until=now + LEASE_S)

        def write_rows(connection: "Connection") -> bool:
            if connection.execute(own).rowcount != 1:
                return False
            connection.execute(upsert)
            return True

        if not await self._database.run_transaction(write_rows, write=True):
            message = f"run {self._run_id} continues in another process"
            raise Refused(message, hint="listFlowRuns shows its outcome", code="run_taken")
        await super().write_record(record)


def build_owner_key(call: Call) -> str:
    """Return the key of the person whose flow data a call sees.

    It covers runs, schedules and approvals in the call's workspace.

    Person and workspace come from the sign-in, or else from the host. Callers without either are treated as one person.
    """
    names = (call.workspace or "", call.identity or "")
    return hashlib.sha256("\x1f".join(names).encode("utf-8", "replace")).hexdigest()


def describe_caller(call: Call) -> dict[str, Any]:
    """Return session, workspace and person of a call in their stored form."""
    return {"session": call.session, "workspace": call.workspace, "identity": call.identity}


def build_run_row(
    call: Call,
    name: str,
    program: FlowProgram | None,
    parameters: Mapping[str, Any],
    options: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the row of a new run, without times and lease; `program` is None if it cannot be loaded."""
    return {
        "id": f"run_{uuid.uuid4().hex[:20]}",
        "owner": build_owner_key(call),
        "session": to_storable_text(call.session, 200),
        "flow": name,
        "version": program.flow.version if program else 0,
        "sources": dict(program.texts) if program else {},
        "parameters": dict(parameters),
        "options": {**options, "caller": describe_caller(call), "signedIn": call.grant is not None},
        "state": "running",
        "step": "",
        "message": "",
        "browser_session": "",
        "schedule": "",
        "attempts": 1,
        "healed": 0,
        "outline": "",
        "place": "",
    }


def insert_run(connection: "Connection", row: Mapping[str, Any]) -> None:
    """Insert a new run, and delete those that ended long ago."""
    from outrider.flows.tables import flow_runs

    kept_s = 30 * 86_400.0
    connection.execute(flow_runs.delete().where(flow_runs.c.ended_at < row["started_at"] - kept_s))
    connection.execute(flow_runs.insert(), [dict(row)])


def build_lease(now: float) -> dict[str, Any]:
    """Return the columns that claim a run for this process."""
    lease = {"process": build_process_mark(), "lease": uuid.uuid4().hex, "lease_until": now + LEASE_S}
    return lease | {"updated_at": now}


async def read_runs(connection: "AsyncConnection", query: "Select[Any]", now: float) -> list[StoredRun]:
    """Return the runs that a query selects, each with the problems of its notices."""
    from outrider.flows.tables import flow_notices as notices

    rows = (await connection.execute(query)).mappings().all()
    failed = notices.select().where(notices.c.run_id.in_([row["id"] for row in rows]), notices.c.problem != "")
    problems: dict[str, list[str]] = {}
    for notice in (await connection.execute(failed.order_by(notices.c.name))).mappings():
        problems.setdefault(notice["run_id"], []).append(f"{notice['name']}: {notice['problem']}")
    return [replace(parse_run(row, now), notice_problems=tuple(problems.get(row["id"], ()))) for row in rows]


def parse_run(row: Mapping[Any, Any], now: float) -> StoredRun:
    """Return the run of a row."""
    is_dead = row["lease_until"] < now or is_process_gone(row["process"])
    names = ("id", "owner", "flow", "version", "sources", "parameters", "options", "state", "step", "message")
    names += ("browser_session", "started_at", "lease", "session", "schedule", "attempts", "healed", "outline", "place")
    values = {name: row[name] for name in names}
    is_interrupted = row["state"] == "running" and is_dead
    return StoredRun(**values, ended_at=row.get("ended_at"), is_interrupted=is_interrupted)
