"""One evaluation of a website, as every process sees it: a row, and a row for each thing that was seen."""

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from outrider.core.context import Call
from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import NotFound

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

EvaluationMode = Literal["compact", "dev"]
EvaluationStatus = Literal["running", "success", "partial", "failed"]
EvaluationStopReason = Literal["done", "gave_up", "budget", "steps", "blocked_page", "no_model", "error", "cancelled"]
RecordKind = Literal["agent", "console", "network", "screenshot"]
EVENT_KINDS: tuple[RecordKind, ...] = ("agent", "console", "network")
MAX_RECORDS = 10_000  # records that one question returns


@dataclass(frozen=True)
class Evaluation:
    """One evaluation.

    Attributes:
        id: Its name for callers (`session_id`), and the owner of its browser session.
        session: The conversation of whoever asked.
        run_id: The agent's run; None where steps were given.
        limits: `budget_s`, `max_steps`, `step_timeout_s`; None where there is none.
        output_schema: JSON Schema of the structured answer.
        claim: What the agent said at its end: `success`, `result`, `obstacle`, `data`.
        answer: The report, once it has ended.
    """

    id: str
    tool_call_id: str
    workspace: str
    session: str
    identity: str | None
    run_id: str | None
    url: str
    task: str
    mode: EvaluationMode
    limits: dict[str, Any]
    output_schema: dict[str, Any] | None
    claim: dict[str, Any] | None
    status: EvaluationStatus
    stop_reason: EvaluationStopReason | None
    answer: dict[str, Any] | None
    created_at: float
    ended_at: float | None

    def is_visible_to(self, call: Call) -> bool:
        """Whether the caller may know of it: its id is a secret, but not across tenants and named persons."""
        same_person = self.identity is None or self.identity == call.identity
        return same_person and self.workspace == to_storable_text(call.workspace or "", 200)


@dataclass(frozen=True)
class EvaluationRecord:
    """One thing that was seen; `at` is in seconds since the epoch.

    Attributes:
        type: Of a screenshot `agent_step` or `stream_sample`; else empty.
        step: The agent's step that it belongs to; 0 is the arrival.
        url: Without user, query and fragment.
        artifact_id: A screenshot's picture; None if none could be taken.
    """

    evaluation_id: str
    kind: RecordKind
    step: int
    summary: str
    url: str = ""
    has_error: bool = False
    type: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    artifact_id: str | None = None
    at: float = field(default_factory=time.time)
    id: str = field(default_factory=lambda: str(uuid.uuid4()))

    def to_row(self) -> dict[str, Any]:
        """As the database takes it."""
        summary_chars = 1_000
        return vars(self) | {
            "summary": to_storable_text(self.summary, summary_chars),
            "url": to_storable_text(self.url, 1_000),
        }


class Evaluations:
    """All evaluations in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self,
        call: Call,
        *,
        url: str,
        task: str,
        mode: EvaluationMode,
        limits: dict[str, Any],
        output_schema: dict[str, Any] | None = None,
    ) -> Evaluation:
        """Writes down that an evaluation begins."""
        from outrider.agents.evaluations.tables import evaluations

        begun = Evaluation(
            id=str(uuid.uuid4()),
            tool_call_id=str(uuid.uuid4()),
            workspace=to_storable_text(call.workspace or "", 200),
            session=to_storable_text(call.session, 200),
            identity=call.identity,
            run_id=None,
            url=to_storable_text(url),
            task=to_storable_text(task),
            mode=mode,
            limits=limits,
            output_schema=output_schema,
            claim=None,
            status="running",
            stop_reason=None,
            answer=None,
            created_at=time.time(),
            ended_at=None,
        )
        row = {name: value for name, value in vars(begun).items() if value is not None}
        async with self._database.write() as connection:
            await connection.execute(evaluations.insert(), [row])
        return begun

    async def find(self, evaluation_id: str) -> Evaluation | None:
        """The evaluation of that id, whoever asks."""
        from outrider.agents.evaluations.tables import evaluations

        found = await self._list_evaluations(evaluations.c.id == to_storable_text(evaluation_id, 200))
        return found[0] if found else None

    async def get(self, evaluation_id: str | None, call: Call) -> Evaluation:
        """The evaluation of that id, or the caller's last one. Raises NotFound."""
        from outrider.agents.evaluations.tables import evaluations

        if evaluation_id is None:
            mine = evaluations.c.session == to_storable_text(call.session, 200)
            found = [each for each in await self._list_evaluations(mine, limit=20) if each.is_visible_to(call)]
            if not found:
                raise NotFound("there is no evaluation yet", code="unknown_session", hint="call web_eval_agent first")
            return found[0]
        known = await self.find(evaluation_id)
        if known is None or not known.is_visible_to(call):
            raise NotFound(
                f"session_id: no evaluation {evaluation_id[:60]!r}",
                code="unknown_session",
                hint="use the session_id of a web_eval_agent answer, or leave it out for your last one",
            )
        return known

    async def update(self, evaluation_id: str, **values: Any) -> None:
        """Changes columns of an evaluation."""
        await self._update_row(evaluation_id, values)

    async def finish(self, evaluation_id: str, **values: Any) -> bool:
        """Ends it; False if it had ended before, which then stands."""
        from outrider.agents.evaluations.tables import evaluations

        return await self._update_row(
            evaluation_id, values | {"ended_at": time.time()}, evaluations.c.status == "running"
        )

    async def save_records(self, records: Sequence[EvaluationRecord]) -> None:
        """Keeps what was seen."""
        from outrider.agents.evaluations.tables import evaluation_records

        if not records:
            return
        async with self._database.write() as connection:
            await connection.execute(evaluation_records.insert(), [each.to_row() for each in records])

    async def list_records(
        self,
        evaluation_id: str,
        kinds: Sequence[RecordKind],
        *,
        since: float | None = None,
        has_error: bool | None = None,
        type: str | None = None,  # noqa: A002 - the column's name
        limit: int = MAX_RECORDS,
    ) -> list[EvaluationRecord]:
        """What was seen, the newest first."""
        from sqlalchemy import select

        from outrider.agents.evaluations.tables import evaluation_records as table

        wanted: list[ColumnElement[bool]] = [table.c.evaluation_id == evaluation_id, table.c.kind.in_(kinds)]
        wanted += [table.c.at >= since] if since is not None else []
        wanted += [table.c.has_error.is_(has_error)] if has_error is not None else []
        wanted += [table.c.type == type] if type is not None else []
        query = select(table).where(*wanted).order_by(table.c.at.desc(), table.c.step.desc()).limit(limit)
        async with self._database.read() as connection:
            return [EvaluationRecord(**row) for row in (await connection.execute(query)).mappings()]

    async def count_records(self, evaluation_id: str) -> dict[str, int]:
        """How many records there are: by kind, of screenshots by type, and of events in `total`."""
        from sqlalchemy import func, select

        from outrider.agents.evaluations.tables import evaluation_records as table

        query = (
            select(table.c.kind, table.c.type, func.count())
            .where(table.c.evaluation_id == evaluation_id)
            .group_by(table.c.kind, table.c.type)
        )
        async with self._database.read() as connection:
            found = {
                kind if kind != "screenshot" else type_: many for kind, type_, many in await connection.execute(query)
            }
        names = (*EVENT_KINDS, "agent_step", "stream_sample")
        return {name: found.get(name, 0) for name in names} | {"total": sum(found.get(name, 0) for name in EVENT_KINDS)}

    async def find_time_span(self, evaluation_id: str) -> tuple[float | None, float | None]:
        """When the oldest and the newest event were."""
        from sqlalchemy import func, select

        from outrider.agents.evaluations.tables import evaluation_records as table

        query = select(func.min(table.c.at), func.max(table.c.at)).where(
            table.c.evaluation_id == evaluation_id, table.c.kind.in_(EVENT_KINDS)
        )
        async with self._database.read() as connection:
            first, last = (await connection.execute(query)).one()
        return first, last

    async def find_last_step(self, evaluation_id: str) -> int:
        """The number of the last step; -1 before the first."""
        from sqlalchemy import func, select

        from outrider.agents.evaluations.tables import evaluation_records as table

        query = select(func.max(table.c.step)).where(table.c.evaluation_id == evaluation_id, table.c.kind == "agent")
        async with self._database.read() as connection:
            last = (await connection.execute(query)).scalar_one()
        return -1 if last is None else last

    async def delete_expired(self, keep_seconds: float) -> int:
        """Removes evaluations older than that, with their records; returns how many. Raises Unavailable."""
        from sqlalchemy import delete, select

        from outrider.agents.evaluations.tables import evaluation_records, evaluations

        old = evaluations.c.created_at < time.time() - keep_seconds
        gone = select(evaluations.c.id).where(old)
        async with self._database.write() as connection:
            await connection.execute(delete(evaluation_records).where(evaluation_records.c.evaluation_id.in_(gone)))
            return (await connection.execute(delete(evaluations).where(old))).rowcount

    async def _list_evaluations(self, *conditions: "ColumnElement[bool]", limit: int = 1) -> list[Evaluation]:
        from sqlalchemy import select

        from outrider.agents.evaluations.tables import evaluations

        query = select(evaluations).where(*conditions).order_by(evaluations.c.created_at.desc()).limit(limit)
        async with self._database.read() as connection:
            return [Evaluation(**row) for row in (await connection.execute(query)).mappings()]

    async def _update_row(self, evaluation_id: str, values: dict[str, Any], *conditions: "ColumnElement[bool]") -> bool:
        from sqlalchemy import update

        from outrider.agents.evaluations.tables import evaluations

        query = update(evaluations).where(evaluations.c.id == evaluation_id, *conditions).values(values)
        async with self._database.write() as connection:
            return (await connection.execute(query)).rowcount == 1
