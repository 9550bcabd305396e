"""Evaluations of websites and the records collected during them."""

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from outrider.agents.start_keys import ClaimedKey, StartKey, StartKeys, require_same_request
from outrider.core.context import Call
from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import NotFound

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

EvaluationMode = Literal["compact", "dev"]
EvaluationStatus = Literal["running", "success", "partial", "failed"]
EvaluationStopReason = Literal["done", "gave_up", "budget", "steps", "blocked_page", "no_model", "error", "cancelled"]
RecordKind = Literal["agent", "console", "network", "screenshot"]
EVENT_KINDS: tuple[RecordKind, ...] = ("agent", "console", "network")
MAX_RECORDS = 10_000  # returned by one query


@dataclass(frozen=True)
class Evaluation:
    """An evaluation of a website.

    Attributes:
        id: The id for callers (`session_id`); it also owns the browser session.
        session: The caller's session.
        run_id: The agent's run; None if the caller gave the steps.
        limits: `budget_s`, `max_steps` and `step_timeout_s`; a value of None means no limit.
        output_schema: JSON Schema of the structured answer.
        claim: The agent's own conclusion: `success`, `result`, `obstacle`, `data`.
        answer: The report, once the evaluation has ended.
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
        """Return whether the caller may see it.

        Knowing the id is enough for anonymous evaluations, but only within the same workspace.
        """
        same_person = self.identity is None or self.identity == call.identity
        return same_person and self.workspace == to_storable_text(call.workspace or "", 200)


@dataclass(frozen=True)
class EvaluationRecord:
    """An event or screenshot of an evaluation; `at` is in seconds since the epoch.

    Attributes:
        type: `agent_step` or `stream_sample` for a screenshot, else empty.
        step: The agent's step that it belongs to; 0 is the first page load.
        url: The page's URL without user, query and fragment.
        artifact_id: The image of a screenshot; None if it could not be taken.
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
        """Return the columns of the record, with long texts cut."""
        summary, url = to_storable_text(self.summary, 1_000), to_storable_text(self.url, 1_000)
        return vars(self) | {"summary": summary, "url": url}


class Evaluations:
    """All evaluations in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._start_keys = StartKeys(database, "evaluation")

    async def create(
        self,
        call: Call,
        *,
        url: str,
        task: str,
        mode: EvaluationMode,
        limits: dict[str, Any],
        output_schema: dict[str, Any] | None = None,
        start_key: StartKey | None = None,
    ) -> tuple[Evaluation, bool]:
        """Save a new evaluation in status `running`; return it with True.

        Returns the earlier evaluation with False if the same idempotency key added one before. Raises InvalidInput if
        the key came with another request.
        """
        from outrider.agents.evaluations.tables import evaluations

        evaluation = Evaluation(
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
        row = {name: value for name, value in vars(evaluation).items() if value is not None}

        def insert_evaluation(connection: "Connection") -> ClaimedKey | None:
            claimed = self._start_keys.claim_key(connection, start_key, evaluation.id) if start_key else None
            if claimed is None:
                connection.execute(evaluations.insert(), [row])
            return claimed

        claimed = await self._database.run_transaction(insert_evaluation, write=True)
        if claimed is None or start_key is None:
            return evaluation, True
        return await self.get(require_same_request(claimed, start_key).started_id, call), False

    async def find(self, evaluation_id: str) -> Evaluation | None:
        """Return the evaluation, regardless of the caller."""
        from outrider.agents.evaluations.tables import evaluations

        found = await self._list_evaluations(evaluations.c.id == to_storable_text(evaluation_id, 200))
        return found[0] if found else None

    async def get(self, evaluation_id: str | None, call: Call) -> Evaluation:
        """Return an evaluation, or the caller's last one for None. Raises NotFound."""
        from outrider.agents.evaluations.tables import evaluations

        if evaluation_id is None:
            in_session = evaluations.c.session == to_storable_text(call.session, 200)
            recent = await self._list_evaluations(in_session, limit=20)
            last = next((evaluation for evaluation in recent if evaluation.is_visible_to(call)), None)
            if last is None:
                raise NotFound(
                    "you have not started an evaluation yet", code="unknown_session", hint="call web_eval_agent first"
                )
            return last
        evaluation = await self.find(evaluation_id)
        if evaluation is None or not evaluation.is_visible_to(call):
            raise NotFound(
                f"session_id: evaluation {evaluation_id[:60]!r} does not exist",
                code="unknown_session",
                hint="use the session_id of a web_eval_agent answer, or leave it out for your last one",
            )
        return evaluation

    async def update(self, evaluation_id: str, **values: Any) -> None:
        """Change columns of an evaluation."""
        await self._update_row(evaluation_id, values)

    async def finish(self, evaluation_id: str, **values: Any) -> bool:
        """End an evaluation; return False and change nothing if it has ended before."""
        from outrider.agents.evaluations.tables import evaluations

        return await self._update_row(
            evaluation_id, values | {"ended_at": time.time()}, evaluations.c.status == "running"
        )

    async def save_records(self, records: Sequence[EvaluationRecord]) -> None:
        """Save records."""
        from outrider.agents.evaluations.tables import evaluation_records

        if not records:
            return
        async with self._database.write() as connection:
            await connection.execute(evaluation_records.insert(), [record.to_row() for record in records])

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
        """Return the matching records, the newest first."""
        from sqlalchemy import select

        from outrider.agents.evaluations.tables import evaluation_records as table

        conditions: list[ColumnElement[bool]] = [table.c.evaluation_id == evaluation_id, table.c.kind.in_(kinds)]
        conditions += [table.c.at >= since] if since is not None else []
        conditions += [table.c.has_error.is_(has_error)] if has_error is not None else []
        conditions += [table.c.type == type] if type is not None else []
        query = select(table).where(*conditions).order_by(table.c.at.desc(), table.c.step.desc()).limit(limit)
        async with self._database.read() as connection:
            return [EvaluationRecord(**row) for row in (await connection.execute(query)).mappings()]

    async def count_records(self, evaluation_id: str) -> dict[str, int]:
        """Count events by kind, screenshots by type, and all events.

        The last number is `total`.
        """
        from sqlalchemy import func, select

        from outrider.agents.evaluations.tables import evaluation_records as table

        query = (
            select(table.c.kind, table.c.type, func.count())
            .where(table.c.evaluation_id == evaluation_id)
            .group_by(table.c.kind, table.c.type)
        )
        async with self._database.read() as connection:
            rows = list(await connection.execute(query))
        found = {type_ if kind == "screenshot" else kind: count for kind, type_, count in rows}
        counts = {name: found.get(name, 0) for name in (*EVENT_KINDS, "agent_step", "stream_sample")}
        return counts | {"total": sum(counts[kind] for kind in EVENT_KINDS)}

    async def find_time_span(self, evaluation_id: str) -> tuple[float | None, float | None]:
        """Return the times of the oldest and the newest event, in seconds since the epoch."""
        from sqlalchemy import func, select

        from outrider.agents.evaluations.tables import evaluation_records as table

        query = select(func.min(table.c.at), func.max(table.c.at)).where(
            table.c.evaluation_id == evaluation_id, table.c.kind.in_(EVENT_KINDS)
        )
        async with self._database.read() as connection:
            first, last = (await connection.execute(query)).one()
        return first, last

    async def find_last_step(self, evaluation_id: str) -> int:
        """Return the number of the last step, or -1 before the first one."""
        from sqlalchemy import func, select

        from outrider.agents.evaluations.tables import evaluation_records as table

        query = select(func.max(table.c.step)).where(table.c.evaluation_id == evaluation_id, table.c.kind == "agent")
        async with self._database.read() as connection:
            last = (await connection.execute(query)).scalar_one()
        return -1 if last is None else last

    async def delete_expired(self, keep_seconds: float) -> int:
        """Delete old evaluations with their records; return their number. Raises Unavailable."""
        from sqlalchemy import delete, select

        from outrider.agents.evaluations.tables import evaluation_records as records
        from outrider.agents.evaluations.tables import evaluations

        is_expired = evaluations.c.created_at < time.time() - keep_seconds
        expired_ids = select(evaluations.c.id).where(is_expired)
        async with self._database.write() as connection:
            await connection.execute(delete(records).where(records.c.evaluation_id.in_(expired_ids)))
            return (await connection.execute(delete(evaluations).where(is_expired))).rowcount

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
