"""Everything that waits for a person, whoever's run it is, and what people said before."""

import hashlib
from dataclasses import dataclass
from typing import Any

from sqlalchemy import RowMapping, Select, delete, func, or_, select

from outrider.agents.run import ENDED_STATUSES
from outrider.agents.tables import allowances, questions, runs
from outrider.core.database.database import Database, to_storable_text
from outrider.core.keyset import Batch, build_batch, format_cursor, order_newest_first
from outrider.core.questions import Question

MAX_OPEN_QUESTIONS = 200  # questions that one look shows


@dataclass(frozen=True)
class InboxQuestion:
    """A question, and of the outermost run above it what it is about and for whom it works."""

    question: Question
    root_agent: str
    root_query: str
    identity: str | None
    session: str
    workspace: str


@dataclass(frozen=True)
class Allowance:
    """What somebody has allowed once and for all: this agent may use this tool, for that person and workspace."""

    id: str
    workspace: str
    identity: str
    agent: str
    tool: str
    created_at: float


class Inbox:
    """The questions of all runs in the database. What belongs to a run that is over waits no more."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_open(self, limit: int = MAX_OPEN_QUESTIONS) -> list[InboxQuestion]:
        """What waits, those of one outermost run together, the oldest first."""
        query = _filter_open(_build_inbox_query()).order_by(questions.c.created_at, questions.c.id).limit(limit)
        async with self._database.read() as connection:
            found = [_parse_inbox_row(row) for row in (await connection.execute(query)).mappings()]
        first: dict[str, int] = {}
        for number, each in enumerate(found):
            first.setdefault(each.question.root_run_id, number)
        return sorted(found, key=lambda each: first[each.question.root_run_id])

    async def list_tree_questions(self, root_run_id: str) -> list[InboxQuestion]:
        """All questions of a tree of runs, decided or not, the oldest first."""
        query = _build_inbox_query().where(questions.c.root_run_id == root_run_id)
        async with self._database.read() as connection:
            rows = await connection.execute(
                query.order_by(questions.c.created_at, questions.c.id).limit(MAX_OPEN_QUESTIONS)
            )
            return [_parse_inbox_row(row) for row in rows.mappings()]

    async def count_open(self) -> int:
        """How many wait."""
        query = _filter_open(select(func.count(questions.c.id)).select_from(_join_runs()))
        async with self._database.read() as connection:
            return (await connection.execute(query)).scalar_one()

    async def list_decided(self, *, text: str = "", after: str = "", limit: int = 30) -> Batch[InboxQuestion]:
        """What was answered, the last first, a part at a time.

        Args:
            text: Only with this in agent, tool, message, or who answered, whatever its case.
            after: Where the part begins, from the part before.
            limit: How many.

        Raises:
            InvalidInput: `after` is no place in the list.
        """
        query = order_newest_first(_build_inbox_query(), questions.c.decided_at, questions.c.id, after).limit(limit + 1)
        query = query.where(questions.c.decided_at.is_not(None))
        if text:
            named = (questions.c.agent, questions.c.tool, questions.c.message, questions.c.decided_by)
            query = query.where(or_(*(each.icontains(to_storable_text(text, 200), autoescape=True) for each in named)))
        async with self._database.read() as connection:
            rows = list((await connection.execute(query)).mappings())
        return build_batch(rows, limit, _parse_inbox_row, lambda row: format_cursor(row["decided_at"], row["id"]))

    async def list_allowances(self, limit: int = 200) -> list[Allowance]:
        """What may be used unasked, the newest first."""
        query = select(allowances).order_by(allowances.c.created_at.desc(), allowances.c.id).limit(limit)
        async with self._database.read() as connection:
            return [Allowance(**row) for row in (await connection.execute(query)).mappings()]

    async def revoke_allowance(self, allowance_id: str) -> bool:
        """Takes an allowance back: the agent asks again. Whether there was one."""
        query = delete(allowances).where(allowances.c.id == to_storable_text(allowance_id, 40))
        async with self._database.write() as connection:
            return (await connection.execute(query)).rowcount > 0

    async def list_changes(self, cursor: str) -> tuple[list[dict[str, Any]], str]:
        """One change if other questions wait now than at the cursor, and the cursor of now."""
        columns = (questions.c.id, questions.c.root_run_id, questions.c.agent, questions.c.title, questions.c.tool)
        query = _filter_open(select(*columns).select_from(_join_runs())).order_by(
            questions.c.created_at, questions.c.id
        )
        async with self._database.read() as connection:
            rows = [dict(row) for row in (await connection.execute(query.limit(MAX_OPEN_QUESTIONS))).mappings()]
        now = hashlib.blake2s("\n".join(row["id"] for row in rows).encode(), digest_size=8).hexdigest()
        return ([{"open": len(rows), "questions": rows}] if cursor and cursor != now else []), now


def _join_runs() -> Any:
    return questions.join(runs, runs.c.id == questions.c.run_id)


def _filter_open(query: Any) -> Any:
    return query.where(questions.c.decision.is_(None), runs.c.status.not_in(ENDED_STATUSES))


def _build_inbox_query() -> "Select[Any]":

    root = runs.alias("root")
    about = {
        "conversation_id": runs.c.conversation_id,
        "message_id": runs.c.message_id,
        "root_agent": root.c.agent,
        "root_query": func.substr(root.c.query, 1, 400),
        "identity": root.c.identity,
        "session": root.c.session,
        "workspace": root.c.workspace,
    }
    columns = [column.label(name) for name, column in about.items()]
    source = _join_runs().join(root, root.c.id == questions.c.root_run_id)
    return select(questions, *columns).select_from(source)


def _parse_inbox_row(row: "RowMapping") -> InboxQuestion:
    facts = dict(row)
    about = {name: facts.pop(name) for name in ("root_agent", "root_query", "identity", "session", "workspace")}
    return InboxQuestion(question=Question(**facts), **about)
