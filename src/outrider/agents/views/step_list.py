"""What runs did, step by step, for people: a part at a time, whole where somebody asks for it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, Select, and_, case, func, or_, select

from outrider.agents.events.event import RunEvent
from outrider.agents.limits import RunUsage
from outrider.agents.tables import run_steps as steps
from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import InvalidInput, NotFound
from outrider.core.keyset import Batch


@dataclass(frozen=True)
class StepRow:
    """One row of a run's work: what a model said, or a tool call.

    Attributes:
        number: The request to the model that it belongs to, from 1.
        outcome: `ok`, an error's code, `asks` while a person is asked, `stopped`; None while it runs.
        text: What the model said, or what the agent got to read.
        thoughts: What the model thought before.
        calls: Names of the tools that the model called.
        files: What a call made: each with `id`, `title` and `content_type`.
        sources: What its citation references stand for.
    """

    run_id: str
    key: str
    number: int
    kind: str
    tool: str | None
    arguments: Any
    outcome: str | None
    seconds: float | None
    usage: RunUsage
    started_at: float
    ended_at: float | None
    text: str = ""
    thoughts: str = ""
    calls: Sequence[str] = ()
    files: Sequence[dict[str, Any]] = ()
    sources: dict[str, Any] = field(default_factory=dict)

    @property
    def is_tool(self) -> bool:
        """Whether it is a tool call."""
        return self.kind == "tool"


@dataclass(frozen=True)
class StepCounts:
    """How much a run has done: rows, tool calls among them, and the number of the last step."""

    rows: int
    tools: int
    last: int


class StepList:
    """The steps of all runs in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_batch(self, run_id: str, *, after: str = "", limit: int = 30) -> Batch[StepRow]:
        """Steps in order, a part at a time.

        Args:
            run_id: Whose.
            after: Where the part begins: from the part before, or a step's number for where that step begins.
            limit: How many rows.

        Raises:
            InvalidInput: `after` is no place among steps.
        """
        query = (
            _build_step_query()
            .where(steps.c.run_id == run_id, *_build_after_filter(after))
            .order_by(*_build_order())
            .limit(limit + 1)
        )
        async with self._database.read() as connection:
            rows = [_parse_row(row) for row in (await connection.execute(query)).mappings()]
        return Batch(_sort_rows(rows[:limit]), _place(rows[limit - 1]) if len(rows) > limit else "")

    async def find_last_batch(self, run_id: str, limit: int = 30) -> str:
        """The place at which the last `limit` rows begin; empty if that is the start."""
        columns = select(steps.c.number, steps.c.kind, steps.c.key).where(steps.c.run_id == run_id)
        query = columns.order_by(*(each.desc() for each in _build_order())).limit(1).offset(limit)
        async with self._database.read() as connection:
            row = (await connection.execute(query)).first()
        return f"{row[0]}~{row[1]}~{row[2]}" if row else ""

    async def load_step(self, run_id: str, key: str) -> StepRow:
        """One row, whole. Raises NotFound."""
        query = _build_step_query().where(steps.c.run_id == run_id, steps.c.key == to_storable_text(key, 200))
        async with self._database.read() as connection:
            row = (await connection.execute(query)).mappings().first()
        if row is None:
            raise NotFound("the run has no such step", hint="go back to the run")
        return _parse_row(row)

    async def count_steps(self, run_id: str) -> StepCounts:
        """How much there is."""
        tools = func.coalesce(func.sum(case((steps.c.kind == "tool", 1), else_=0)), 0)
        query = select(func.count(), tools, func.coalesce(func.max(steps.c.number), 0)).where(steps.c.run_id == run_id)
        async with self._database.read() as connection:
            return StepCounts(*(int(each) for each in (await connection.execute(query)).one()))

    async def load_outline(self, run_id: str) -> list[StepRow]:
        """The first thousand steps, without texts."""
        max_steps = 1_000  # steps of a run that a comparison looks at
        columns = [steps.c[name] for name in STEP_COLUMNS]
        query = select(*columns).where(steps.c.run_id == run_id).order_by(*_build_order()).limit(max_steps)
        async with self._database.read() as connection:
            return _sort_rows(
                [_parse_row(dict(row) | {"result": None}) for row in (await connection.execute(query)).mappings()]
            )

    async def find_unfinished_seq(self, run_id: str) -> int:
        """The number of the last event before what the model is saying now; 0 from the start."""
        from outrider.agents.tables import run_events as events

        query = select(events.c.seq).where(events.c.run_id == run_id, events.c.kind == "usage")
        async with self._database.read() as connection:
            return (await connection.execute(query.order_by(events.c.seq.desc()).limit(1))).scalar() or 0


STEP_COLUMNS = (
    "run_id",
    "key",
    "number",
    "kind",
    "tool",
    "arguments",
    "outcome",
    "seconds",
    "usage",
    "started_at",
    "ended_at",
)


def merge_text_events(events: Sequence[RunEvent]) -> list[dict[str, Any]]:
    """Events as changes for a page: pieces of the same text become one."""
    found: list[dict[str, Any]] = []
    for event in events:
        last = found[-1] if found else None
        is_text = event.kind in ("text", "thinking")
        if is_text and last and last["kind"] == event.kind and last["data"]["step"] == event.data["step"]:
            last["data"] = last["data"] | {"text": last["data"]["text"] + event.data["text"]}
            last["seq"] = event.seq
        else:
            found.append({"kind": event.kind, "seq": event.seq, "at": event.at, "data": event.data})
    return found


def _build_step_query() -> "Select[Any]":

    return select(*(steps.c[name] for name in STEP_COLUMNS), steps.c.result)


def _build_order() -> "Sequence[ColumnElement[Any]]":
    return steps.c.number, steps.c.kind, steps.c.key


def _place(row: StepRow) -> str:
    return f"{row.number}~{row.kind}~{row.key}"


def _build_after_filter(after: str) -> "Sequence[ColumnElement[bool]]":
    """What lies behind a place."""
    if not after:
        return ()
    number, kind, key = (*after.split("~", 2), "", "")[:3]
    if not number.isascii() or not number.isdigit() or len(number) > 9:
        raise InvalidInput("after: is no place among the steps", hint="begin at the start of the run")
    at = int(number)
    if not kind:
        return (steps.c.number >= at,)
    same = steps.c.number == at
    later = and_(same, steps.c.kind > to_storable_text(kind, 8))
    return (
        or_(steps.c.number > at, later, and_(same, steps.c.kind == kind, steps.c.key > to_storable_text(key, 200))),
    )


def _sort_rows(rows: Sequence[StepRow]) -> list[StepRow]:
    """As they happened within each step."""
    return sorted(rows, key=lambda row: (row.number, row.kind, row.started_at))


def _parse_row(row: "RowMapping | dict[str, Any]") -> StepRow:
    plain: dict[str, Any] = {name: row[name] for name in STEP_COLUMNS} | {"usage": RunUsage.from_dict(row["usage"])}
    return StepRow(
        **plain, **(_parse_model_result(row["result"]) if row["kind"] != "tool" else _parse_tool_result(row["result"]))
    )


def _parse_model_result(result: Any) -> dict[str, Any]:
    """Of a model's answer the words; what it called stands sealed in it, and open in the calls' own rows."""
    if not isinstance(result, dict):
        return {}
    if "stop" in result:
        return {"text": ": ".join(map(str, result["stop"]))}
    parts = (result.get("response") or {}).get("parts", [])
    texts = {kind: _joined(parts, kind) for kind in ("text", "thinking")}
    calls = [str(part.get("tool_name")) for part in parts if part.get("part_kind") == "tool-call"]
    return {"text": texts["text"] or str(result.get("text", "")), "thoughts": texts["thinking"], "calls": calls}


def _joined(parts: Sequence[dict[str, Any]], kind: str) -> str:
    return "\n".join(str(part.get("content", "")) for part in parts if part.get("part_kind") == kind)


def _parse_tool_result(result: Any) -> dict[str, Any]:
    if not isinstance(result, dict):
        return {}
    sources = result.get("sources") or {}
    return {"text": str(result.get("text", "")), "files": result.get("files") or [], "sources": sources}
