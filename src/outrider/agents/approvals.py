"""Questions that runs ask people, and the decisions made on them.

A question is decided exactly once, from any process, however many people answer at the same time.
"""

import hashlib
import json
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
    """The run that asks a question."""

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
        """Save a question, or return the same call's earlier one.

        Args:
            run: The run that asks.
            call_id: The tool call that the question is about.
            kind: Approval of a call, a login, or an open question.
            tool: The tool of the call; the values of its private arguments are not saved.
            arguments: The arguments of the call.
            stake: The stake of the tool, for an approval.
            message: The question, for people.
            details: More about it; for a login the provider and scope.
        """
        from outrider.agents.tables import questions

        visible_arguments = {
            name: "(not kept)" if tool.is_private(name) else value for name, value in arguments.items()
        }
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
            "arguments": visible_arguments,
            "stake": stake,
            "message": to_storable_text(message),
            "details": dict(details or {}),
            "created_at": time.time(),
            "reason": "",
        }
        insert = self._database.build_insert(questions).values(row).on_conflict_do_nothing()
        async with self._database.write() as connection:
            await connection.execute(insert)
            return await _load_question(connection, questions.c.run_id == run.id, questions.c.call_id == row["call_id"])

    async def get(self, question_id: str) -> Question:
        """Return the question. Raises NotFound."""
        from outrider.agents.tables import questions

        async with self._database.read() as connection:
            return await _load_question(connection, questions.c.id == to_storable_text(question_id, 200))

    async def list_pending(self, root_run_id: str) -> list[Question]:
        """Return the undecided questions of a whole tree of runs, the oldest first."""
        from outrider.agents.tables import questions

        query = _build_question_query().where(questions.c.root_run_id == root_run_id, questions.c.decision.is_(None))
        async with self._database.read() as connection:
            rows = await connection.execute(query.order_by(questions.c.created_at, questions.c.id))
            return [_parse_question(row) for row in rows.mappings()]

    async def decide(
        self, question_id: str, decision: Decision, *, reason: str = "", answer: Any = None, by: str = ""
    ) -> Question:
        """Decide a question; an earlier decision remains and is returned instead.

        `always_approved` also lets this agent use the tool without asking from now on, for the same person and
        workspace, until its definition or the place of its file changes. Raises NotFound, and InvalidInput for a
        decision that does not fit the kind of question.
        """
        return (await self.decide_if_open(question_id, QuestionAnswer(decision, reason, answer), by=by))[0]

    async def decide_if_open(self, question_id: str, answer: QuestionAnswer, *, by: str = "") -> tuple[Question, bool]:
        """Decide a question like `decide`; also return whether this answer decided it."""
        from sqlalchemy import update

        from outrider.agents.tables import questions

        change = {
            "decision": answer.decision,
            "reason": to_storable_text(answer.reason, 2_000),
            "answer": answer.value,
            "decided_by": to_storable_text(by, 200),
            "decided_at": time.time(),
        }
        same_id = questions.c.id == to_storable_text(question_id, 200)
        async with self._database.write() as connection:
            _check_decision(await _load_question(connection, same_id), answer.decision)
            updated = await connection.execute(
                update(questions).where(same_id, questions.c.decision.is_(None)).values(change)
            )
            question = await _load_question(connection, same_id)
            if updated.rowcount and answer.decision == "always_approved":
                await self._save_allowance(connection, question)
            return question, updated.rowcount == 1

    async def find_decision(self, run_id: str, call_id: str) -> Question | None:
        """Return the question of a call if it has been decided."""
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
        """Apply the answers that belong to a tree of runs; return the questions that are still undecided.

        `answers` are keyed by question id.
        """
        for question in await self.list_pending(root_run_id):
            if question.id in answers:
                await self.decide_if_open(question.id, answers[question.id], by=by)
        return await self.list_pending(root_run_id)

    async def list_overruled(self, answers: Mapping[str, QuestionAnswer], *, by: str = "") -> list[Question]:
        """Return the questions that someone else decided before, differently from these answers."""
        from outrider.agents.tables import questions

        query = _build_question_query().where(questions.c.id.in_(list(answers)), questions.c.decision.is_not(None))
        async with self._database.read() as connection:
            decided = [_parse_question(row) for row in (await connection.execute(query)).mappings()]
        own_name = to_storable_text(by, 200)
        return [
            question
            for question in decided
            if (question.decided_by, question.decision) != (own_name, answers[question.id].decision)
        ]

    async def is_always_allowed(self, call: Call, agent: str, tool: str) -> bool:
        """Return whether the caller has permanently allowed the tool.

        The permission holds for the agent with this `build_agent_key`.
        """
        from sqlalchemy import select

        from outrider.agents.tables import allowances

        query = select(allowances.c.id).where(
            allowances.c.workspace == to_storable_text(call.workspace or "", 200),
            allowances.c.identity == to_storable_text(call.identity or "", 200),
            allowances.c.agent == agent,
            allowances.c.tool.in_((tool, "*")),  # "*" allows every tool
        )
        async with self._database.read() as connection:
            return (await connection.execute(query.limit(1))).first() is not None

    async def revoke_allowance(self, call: Call, agent: str, tool: str) -> bool:
        """Revoke a permanent allowance; return whether there was one."""
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

        owner = select(runs.c.workspace, runs.c.identity, runs.c.definition).where(runs.c.id == question.run_id)
        run = (await connection.execute(owner)).mappings().first()
        row = {
            "id": uuid.uuid4().hex,
            "workspace": run["workspace"] if run else "",
            "identity": (run["identity"] if run else None) or "",
            "agent": build_agent_key(question.agent, run["definition"] if run else {}),
            "tool": question.tool,
            "created_at": time.time(),
        }
        await connection.execute(self._database.build_insert(allowances).values(row).on_conflict_do_nothing())


def build_agent_key(name: str, definition: Mapping[str, Any]) -> str:
    """Return a key for an agent's definition and place, which its name does not identify.

    The key excludes the agent's tools: an allowance is for one tool, and the tools depend on the served toolsets.
    """
    max_name_chars = 31  # of the 64 that a row can hold
    fields = ("instructions", "origin", "place", "mcp")
    identity = json.dumps([name, *(definition.get(field) for field in fields)], sort_keys=True)
    return f"{name[:max_name_chars]}#{hashlib.sha256(identity.encode()).hexdigest()[:32]}"


def _check_decision(question: Question, decision: Decision) -> None:
    allowed_decisions: dict[QuestionKind, tuple[Decision, ...]] = {
        "approval": ("approved", "rejected", "always_approved"),
        "authentication": ("approved", "rejected"),
        "question": ("answered", "rejected"),
    }
    allowed = allowed_decisions[question.kind]
    if decision not in allowed:
        raise InvalidInput(
            f"decision: {decision!r} does not answer a question of kind {question.kind!r}",
            hint=f"use {', '.join(allowed[:-1])} or {allowed[-1]}",
        )


def _build_question_query() -> "Select[*tuple[Any, ...]]":
    """Select questions with the conversation and message of their run."""
    from sqlalchemy import select

    from outrider.agents.tables import questions, runs

    query = select(questions, runs.c.conversation_id, runs.c.message_id)
    return query.join(runs, runs.c.id == questions.c.run_id, isouter=True)


async def _load_question(connection: "AsyncConnection", *where: Any) -> Question:
    row = (await connection.execute(_build_question_query().where(*where))).mappings().first()
    if row is None:
        raise NotFound("this question no longer exists", hint="its run may have been deleted: call the agent again")
    return _parse_question(row)


def _parse_question(row: "RowMapping") -> Question:
    fields: dict[str, Any] = dict(row) | {name: row[name] or "" for name in ("conversation_id", "message_id")}
    return Question(**fields)
