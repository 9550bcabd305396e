"""List the steps of runs for people, and compare two runs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import zip_longest
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
    """A response of the model or a tool call.

    Attributes:
        number: The number of the model request that it belongs to, from 1.
        outcome: `ok`, an error's code, `asks` while a person is asked, `stopped`; None while it runs.
        text: The model's text, or the result of the call as the agent read it.
        thoughts: The model's thinking.
        calls: The names of the tools that the model called.
        files: Files that the call created, each with `id`, `title` and `content_type`.
        sources: Citations of the call's result by reference.
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
    """The numbers of rows and tool calls, and the last step's number."""

    rows: int
    tools: int
    last: int


class StepList:
    """The steps of all runs in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_batch(self, run_id: str, *, after: str = "", limit: int = 30) -> Batch[StepRow]:
        """Return a page of steps in order.

        Args:
            run_id: The run.
            after: The cursor of the page before, or the number of a step to start with that step.
            limit: The number of rows.

        Raises:
            InvalidInput: `after` is neither a cursor nor a number.
        """
        query = (
            _build_step_query()
            .where(steps.c.run_id == run_id, *_build_after_filter(after))
            .order_by(*_build_order())
            .limit(limit + 1)
        )
        async with self._database.read() as connection:
            rows = [_parse_row(row) for row in (await connection.execute(query)).mappings()]
        last = rows[limit - 1] if len(rows) > limit else None
        return Batch(_sort_rows(rows[:limit]), f"{last.number}~{last.kind}~{last.key}" if last else "")

    async def find_last_batch(self, run_id: str, limit: int = 30) -> str:
        """Return the cursor of the page with the last `limit` rows; empty if that is the first page."""
        columns = select(steps.c.number, steps.c.kind, steps.c.key).where(steps.c.run_id == run_id)
        query = columns.order_by(*(column.desc() for column in _build_order())).limit(1).offset(limit)
        async with self._database.read() as connection:
            row = (await connection.execute(query)).first()
        return f"{row[0]}~{row[1]}~{row[2]}" if row else ""

    async def load_step(self, run_id: str, key: str) -> StepRow:
        """Return a single step. Raises NotFound."""
        query = _build_step_query().where(steps.c.run_id == run_id, steps.c.key == to_storable_text(key, 200))
        async with self._database.read() as connection:
            row = (await connection.execute(query)).mappings().first()
        if row is None:
            raise NotFound("the run does not have this step", hint="open the run again")
        return _parse_row(row)

    async def count_steps(self, run_id: str) -> StepCounts:
        """Count the rows and tool calls of a run."""
        tools = func.coalesce(func.sum(case((steps.c.kind == "tool", 1), else_=0)), 0)
        query = select(func.count(), tools, func.coalesce(func.max(steps.c.number), 0)).where(steps.c.run_id == run_id)
        async with self._database.read() as connection:
            return StepCounts(*(int(value) for value in (await connection.execute(query)).one()))

    async def load_outline(self, run_id: str) -> list[StepRow]:
        """Return the first thousand steps without texts, to compare runs."""
        max_steps = 1_000
        columns = [steps.c[name] for name in STEP_COLUMNS]
        query = select(*columns).where(steps.c.run_id == run_id).order_by(*_build_order()).limit(max_steps)
        async with self._database.read() as connection:
            return _sort_rows(
                [_parse_row(dict(row) | {"result": None}) for row in (await connection.execute(query)).mappings()]
            )

    async def find_unfinished_seq(self, run_id: str) -> int:
        """Return the number of the last event before the model's current response, or 0."""
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
    """Return events as JSON; consecutive pieces of the same text become one event."""
    merged: list[dict[str, Any]] = []
    for event in events:
        last = merged[-1] if merged else None
        is_text = event.kind in ("text", "thinking")
        if is_text and last and last["kind"] == event.kind and last["data"]["step"] == event.data["step"]:
            last["data"] = last["data"] | {"text": last["data"]["text"] + event.data["text"]}
            last["seq"] = event.seq
        else:
            merged.append({"kind": event.kind, "seq": event.seq, "at": event.at, "data": event.data})
    return merged


def _build_step_query() -> "Select[Any]":
    return select(*(steps.c[name] for name in STEP_COLUMNS), steps.c.result)


def _build_order() -> "Sequence[ColumnElement[Any]]":
    return steps.c.number, steps.c.kind, steps.c.key


def _build_after_filter(after: str) -> "Sequence[ColumnElement[bool]]":
    """Return the condition for rows after a cursor `number~kind~key`, or from a step number on."""
    if not after:
        return ()
    number, kind, key = (*after.split("~", 2), "", "")[:3]
    if not number.isascii() or not number.isdigit() or len(number) > 9:
        raise InvalidInput("after: is not a position in the list of steps", hint="start at the beginning of the run")
    at = int(number)
    if not kind:
        return (steps.c.number >= at,)
    same_number = steps.c.number == at
    later_kind = and_(same_number, steps.c.kind > to_storable_text(kind, 8))
    later_key = and_(same_number, steps.c.kind == kind, steps.c.key > to_storable_text(key, 200))
    return (or_(steps.c.number > at, later_kind, later_key),)


def _sort_rows(rows: Sequence[StepRow]) -> list[StepRow]:
    """Sort the rows of each step in the order in which they started."""
    return sorted(rows, key=lambda row: (row.number, row.kind, row.started_at))


def _parse_row(row: "RowMapping | dict[str, Any]") -> StepRow:
    columns: dict[str, Any] = {name: row[name] for name in STEP_COLUMNS} | {"usage": RunUsage.from_dict(row["usage"])}
    result = row["result"]
    if not isinstance(result, dict):
        return StepRow(**columns)
    if row["kind"] == "tool":
        files, sources = result.get("files") or [], result.get("sources") or {}
        return StepRow(**columns, text=str(result.get("text", "")), files=files, sources=sources)
    return StepRow(**columns, **_parse_model_result(result))


def _parse_model_result(result: dict[str, Any]) -> dict[str, Any]:
    """Return text, thinking and called tools of a response; the calls' arguments have their own rows."""
    if "stop" in result:
        return {"text": ": ".join(map(str, result["stop"]))}
    parts = (result.get("response") or {}).get("parts", [])
    contents: dict[str, list[str]] = {"text": [], "thinking": []}
    for part in parts:
        if part.get("part_kind") in contents:
            contents[part["part_kind"]].append(str(part.get("content", "")))
    text, thoughts = ("\n".join(contents[kind]) for kind in ("text", "thinking"))
    calls = [str(part.get("tool_name")) for part in parts if part.get("part_kind") == "tool-call"]
    return {"text": text or str(result.get("text", "")), "thoughts": thoughts, "calls": calls}


@dataclass(frozen=True)
class StepPair:
    """Two corresponding steps of two runs; None where a run has no such step."""

    left: StepRow | None
    right: StepRow | None

    @property
    def differs(self) -> bool:
        """Whether tool, arguments or outcome differ."""
        if self.left is None or self.right is None:
            return True
        left, right = ((_describe_step(step), step.arguments, step.outcome) for step in (self.left, self.right))
        return left != right


def align_steps(left: Sequence[StepRow], right: Sequence[StepRow]) -> list[StepPair]:
    """Pair the steps of two runs in order, so that equal tools correspond.

    Steps between equal tools are paired one by one. The algorithm is Ratcliff/Obershelp, as in difflib.
    """
    matcher = SequenceMatcher(
        None, [_describe_step(step) for step in left], [_describe_step(step) for step in right], autojunk=False
    )
    pairs: list[StepPair] = []
    for _, left_start, left_end, right_start, right_end in matcher.get_opcodes():
        pairs += [StepPair(*pair) for pair in zip_longest(left[left_start:left_end], right[right_start:right_end])]
    return pairs


def _describe_step(step: StepRow) -> str:
    return f"tool {step.tool}" if step.is_tool else "model"
