"""What people are asked and what they decided: once, from any process, however many answer at a time."""

import time
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from outrider.core.context import Call
from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import InvalidInput, NotFound
from outrider.core.questions import Decision, Question, QuestionAnswer, QuestionKind
from outrider.core.tool import Tool

if TYPE_CHECKING:
    from sqlalchemy import RowMapping, Select
    from sqlalchemy.ext.asyncio import AsyncConnection


class AskingRun(Protocol):
    """The run that has a question."""

    @property
    def id(self) -> str: ...
    @property
    def root_run_id(self) -> str: ...
    @property
    def agent(self) -> str: ...


class Questions:
    """The questions of all runs in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ask(
        self,
        run: AskingRun,
        call_id: str,
        *,
        kind: QuestionKind,
        tool: "Tool",
        arguments: Mapping[str, Any],
        stake: str | None,
        message: str,
        details: Mapping[str, Any] | None = None,
    ) -> Question:
        """Writes the question down; asked again for the same call of the same run it is the one from before."""
        from outrider.agents.tables import questions

        row = {
            "id": f"qst_{uuid.uuid4().hex}",
            "run_id": run.id,
            "root_run_id": run.root_run_id,
            "call_id": to_storable_text(call_id, 200),
            "agent": run.agent,
            "kind": kind,
            "toolset": tool.toolset,
            "tool": tool.name,
            "title": tool.title,
            "arguments": {name: _shown(tool, name, value) for name, value in arguments.items()},
            "stake": stake,
            "message": to_storable_text(message),
            "details": dict(details or {}),
            "created_at": time.time(),
            "reason": "",
        }
        once = self._database.build_insert(questions).values(row).on_conflict_do_nothing()
        async with self._database.write() as connection:
            await connection.execute(once)
            return await _load_question(connection, questions.c.run_id == run.id, questions.c.call_id == row["call_id"])

    async def get(self, question_id: str) -> Question:
        """The question. Raises NotFound."""
        from outrider.agents.tables import questions

        async with self._database.read() as connection:
            return await _load_question(connection, questions.c.id == to_storable_text(question_id, 200))

    async def list_pending(self, root_run_id: str) -> list[Question]:
        """What the run and all below it still wait for, the oldest first."""
        from outrider.agents.tables import questions

        query = _build_question_query().where(questions.c.root_run_id == root_run_id, questions.c.decision.is_(None))
        async with self._database.read() as connection:
            rows = await connection.execute(query.order_by(questions.c.created_at, questions.c.id))
            return [_parse_question(row) for row in rows.mappings()]

    async def decide(
        self, question_id: str, decision: Decision, *, reason: str = "", answer: Any = None, by: str = ""
    ) -> Question:
        """Decides the question, unless somebody has: then theirs stands, and is what comes back.

        `always_approved` also lets this agent use the tool unasked from now on, for the same person and workspace.
        Raises NotFound, and InvalidInput for a decision that does not fit the kind of question.
        """
        return (await self.decide_if_open(question_id, QuestionAnswer(decision, reason, answer), by=by))[0]

    async def decide_if_open(self, question_id: str, given: QuestionAnswer, *, by: str = "") -> tuple[Question, bool]:
        """As `decide`, and whether this was the answer that decided it."""
        from sqlalchemy import update

        from outrider.agents.tables import questions

        change = {
            "decision": given.decision,
            "reason": to_storable_text(given.reason, 2_000),
            "answer": given.value,
            "decided_by": to_storable_text(by, 200),
            "decided_at": time.time(),
        }
        key = questions.c.id == to_storable_text(question_id, 200)
        async with self._database.write() as connection:
            _check_decision(await _load_question(connection, key), given.decision)
            first = await connection.execute(
                update(questions).where(key, questions.c.decision.is_(None)).values(change)
            )
            decided = await _load_question(connection, key)
            if first.rowcount and given.decision == "always_approved":
                await self._save_allowance(connection, decided)
            return decided, first.rowcount == 1

    async def find_decision(self, run_id: str, call_id: str) -> Question | None:
        """The question of that call if there is one and it has been answered."""
        from outrider.agents.tables import questions

        query = _build_question_query().where(
            questions.c.run_id == run_id, questions.c.call_id == to_storable_text(call_id, 200)
        )
        async with self._database.read() as connection:
            row = (await connection.execute(query.where(questions.c.decision.is_not(None)))).mappings().first()
        return _parse_question(row) if row else None

    async def apply_answers(
        self, root_run_id: str, answers: Mapping[str, QuestionAnswer], *, by: str = ""
    ) -> list[Question]:
        """Decides those of the answers that are for questions of this run or below; returns what is still open."""
        for question in await self.list_pending(root_run_id):
            if question.id in answers:
                given = answers[question.id]
                await self.decide(question.id, given.decision, reason=given.reason, answer=given.value, by=by)
        return await self.list_pending(root_run_id)

    async def list_overruled(self, answers: Mapping[str, QuestionAnswer], *, by: str = "") -> list[Question]:
        """Those of the questions that somebody else had answered before: theirs stands, and these answers do not."""
        from outrider.agents.tables import questions

        query = _build_question_query().where(questions.c.id.in_(list(answers)), questions.c.decision.is_not(None))
        async with self._database.read() as connection:
            found = [_parse_question(row) for row in (await connection.execute(query)).mappings()]
        return [
            each
            for each in found
            if (each.decided_by, each.decision) != (to_storable_text(by, 200), answers[each.id].decision)
        ]

    async def is_always_allowed(self, call: Call, agent: str, tool: str) -> bool:
        """Whether the person behind the call let this agent use the tool (or every tool) once and for all."""
        any_tool = "*"
        from sqlalchemy import select

        from outrider.agents.tables import allowances

        query = select(allowances.c.id).where(
            allowances.c.workspace == to_storable_text(call.workspace or "", 200),
            allowances.c.identity == to_storable_text(call.identity or "", 200),
            allowances.c.agent == agent,
            allowances.c.tool.in_((tool, any_tool)),
        )
        async with self._database.read() as connection:
            return (await connection.execute(query.limit(1))).first() is not None

    async def revoke_allowance(self, call: Call, agent: str, tool: str) -> bool:
        """Takes an allowance back; whether there was one."""
        from sqlalchemy import delete

        from outrider.agents.tables import allowances

        query = delete(allowances).where(
            allowances.c.workspace == to_storable_text(call.workspace or "", 200),
            allowances.c.identity == to_storable_text(call.identity or "", 200),
            allowances.c.agent == agent,
            allowances.c.tool == tool,
        )
        async with self._database.write() as connection:
            return (await connection.execute(query)).rowcount > 0

    async def _save_allowance(self, connection: "AsyncConnection", question: Question) -> None:
        from sqlalchemy import select

        from outrider.agents.tables import allowances, runs

        whose = await connection.execute(select(runs.c.workspace, runs.c.identity).where(runs.c.id == question.run_id))
        run = whose.mappings().first()
        row = {
            "id": uuid.uuid4().hex,
            "workspace": run["workspace"] if run else "",
            "identity": (run["identity"] if run else None) or "",
            "agent": question.agent,
            "tool": question.tool,
            "created_at": time.time(),
        }
        await connection.execute(self._database.build_insert(allowances).values(row).on_conflict_do_nothing())


def _shown(tool: "Tool", name: str, value: Any) -> Any:
    return "(not kept)" if name in tool.private else value


def _check_decision(question: Question, decision: Decision) -> None:
    allowed_decisions: dict[QuestionKind, tuple[Decision, ...]] = {
        "approval": ("approved", "rejected", "always_approved"),
        "authentication": ("approved", "rejected"),
        "question": ("answered", "rejected"),
    }
    fitting = allowed_decisions[question.kind]
    if decision not in fitting:
        raise InvalidInput(
            f"decision: {decision!r} does not answer a question of kind {question.kind!r}",
            hint=f"say {', '.join(fitting[:-1])} or {fitting[-1]}",
        )


def _build_question_query() -> "Select[*tuple[Any, ...]]":
    """Questions with the conversation and message of their run."""
    from sqlalchemy import select

    from outrider.agents.tables import questions, runs

    place = (runs.c.conversation_id, runs.c.message_id)
    return select(questions, *place).join(runs, runs.c.id == questions.c.run_id, isouter=True)


async def _load_question(connection: "AsyncConnection", *where: Any) -> Question:
    row = (await connection.execute(_build_question_query().where(*where))).mappings().first()
    if row is None:
        raise NotFound("no such question", hint="it belongs to a run that is gone; call the agent again")
    return _parse_question(row)


def _parse_question(row: "RowMapping") -> Question:
    facts: dict[str, Any] = dict(row) | {name: row[name] or "" for name in ("conversation_id", "message_id")}
    return Question(**facts)
