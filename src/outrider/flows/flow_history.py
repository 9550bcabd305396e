"""List flows with their versions, and runs with their steps (loads SQLAlchemy)."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select

from outrider.core.database.database import Database
from outrider.core.errors import NotFound
from outrider.flows.flow_files import SavedFlow
from outrider.flows.flow_runs import StoredRun, read_runs
from outrider.flows.flow_schedule import FlowSchedule, parse_schedule_row
from outrider.flows.journal import StepRecord
from outrider.flows.positions import parse_position
from outrider.flows.repair import compare_files
from outrider.flows.run import RunPicture
from outrider.flows.tables import flow_run_pictures, flow_run_steps, flow_runs, flow_schedules


@dataclass(frozen=True)
class FlowSummary:
    """A flow in a list: its last run, and the number of stored runs."""

    last_run: StoredRun
    runs: int


@dataclass(frozen=True)
class FlowVersion:
    """A saved or executed version of a flow.

    Attributes:
        version: Its number.
        digest: The beginning of its fingerprint.
        first_at: When it first ran, or when it was saved if it never ran.
        runs: How many of the shown runs used it.
        difference: Its difference from the previous version; empty for the first one.
    """

    version: int
    digest: str
    first_at: float
    runs: int
    difference: str


class FlowHistory:
    """The runs of all people's flows.

    Args:
        database: Holds the runs.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_flows(self) -> list[FlowSummary]:
        """Return the flows that have run, the latest first. Raises Unavailable."""
        max_flows = 200
        # Two people can have flows of the same name.
        own = [flow_runs.c.owner, flow_runs.c.flow]
        place = func.row_number().over(partition_by=own, order_by=flow_runs.c.started_at.desc())
        count = func.count().over(partition_by=own)
        columns = [flow_runs.c.id, flow_runs.c.started_at, place.label("place"), count.label("runs")]
        numbered = select(*columns).subquery()
        last = select(numbered).where(numbered.c.place == 1).order_by(numbered.c.started_at.desc()).limit(max_flows)
        async with self._database.read() as connection:
            counts = {row.id: row.runs for row in await connection.execute(last)}
            query = flow_runs.select().where(flow_runs.c.id.in_(counts)).order_by(flow_runs.c.started_at.desc())
            runs = await read_runs(connection, query, self._database.now())
        return [FlowSummary(run, counts[run.id]) for run in runs]

    async def list_schedules(self, owner: str = "", flow: str = "") -> list[FlowSchedule]:
        """Return the schedules, of one flow of an owner or of all. Raises Unavailable."""
        query = flow_schedules.select().order_by(flow_schedules.c.next_at)
        query = query.where(flow_schedules.c.owner == owner, flow_schedules.c.flow == flow) if flow else query
        async with self._database.read() as connection:
            return [parse_schedule_row(row) for row in (await connection.execute(query)).mappings()]

    async def list_runs(self, owner: str, flow: str) -> list[StoredRun]:
        """Return the latest runs of an owner's flow, newest first. Raises Unavailable."""
        max_runs = 50
        own = (flow_runs.c.owner == owner) & (flow_runs.c.flow == flow)
        query = flow_runs.select().where(own).order_by(flow_runs.c.started_at.desc()).limit(max_runs)
        async with self._database.read() as connection:
            return await read_runs(connection, query, self._database.now())

    async def load_run(self, run_id: str) -> tuple[StoredRun, list[StepRecord]]:
        """Return a run with its steps in their order. Raises NotFound, Unavailable."""
        async with self._database.read() as connection:
            runs = await read_runs(connection, flow_runs.select().where(flow_runs.c.id == run_id), self._database.now())
            steps = flow_run_steps.select().where(flow_run_steps.c.run_id == run_id)
            records = (await connection.execute(steps)).mappings().all()
        if not runs:
            raise NotFound("no such run", hint="runs are kept for 30 days")
        ordered = sorted(records, key=lambda each: parse_position(each["position"]))
        return runs[0], [StepRecord.from_row(each) for each in ordered]

    async def has_picture(self, run_id: str) -> bool:
        """Return whether a picture of the page where the run stopped is stored. Raises Unavailable."""
        query = select(flow_run_pictures.c.run_id).where(flow_run_pictures.c.run_id == run_id)
        async with self._database.read() as connection:
            return (await connection.execute(query)).first() is not None

    async def load_picture(self, run_id: str) -> RunPicture:
        """Return the picture of the page where a run stopped. Raises NotFound, Unavailable."""
        table = flow_run_pictures
        query = select(table.c.data, table.c.mime_type).where(table.c.run_id == run_id)
        async with self._database.read() as connection:
            row = (await connection.execute(query)).first()
        if row is None:
            raise NotFound("no such picture", hint="pictures of the last 100 stopped runs are kept")
        return RunPicture(*row)


def list_versions(runs: Sequence[StoredRun], saved: Sequence[SavedFlow] = ()) -> list[FlowVersion]:
    """Return the versions of a flow that have run or are stored, newest first."""
    seen = [(run.version, run.started_at, 1, run.sources[run.flow]) for run in runs if run.flow in run.sources]
    seen += [(each.version, each.saved_at, 0, each.text) for each in saved]
    texts = {text: min((each[0], not each[2], each[1]) for each in seen if each[3] == text) for *_, text in seen}
    versions: list[FlowVersion] = []
    text_before: str | None = None
    for text, (version, _, first_at) in sorted(texts.items(), key=lambda each: (each[1][0], each[1][2])):
        difference = "" if text_before is None else compare_files(text_before, text)
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        count = sum(each[2] for each in seen if each[3] == text)
        versions.append(FlowVersion(version, digest, first_at, count, difference))
        text_before = text
    return versions[::-1]
