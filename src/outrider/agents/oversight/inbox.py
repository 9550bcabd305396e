"""Everything that waits for a person, whoever's run it is, and what people said before."""

import hashlib
from dataclasses import dataclass
from typing import Any

from sqlalchemy import RowMapping, Select, delete, func, or_, select

from outrider.agents.run import ENDED
from outrider.agents.tables import allowances, questions, runs
from outrider.core.db import Database, storable
from outrider.core.keyset import Batch, batch, mark, newest
from outrider.core.questions import Question

MOST_OPEN = 200  # questions that one look shows


@dataclass(frozen=True)
class Asked:
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

    async def open(self, limit: int = MOST_OPEN) -> list[Asked]:
        """What waits, those of one outermost run together, the oldest first."""
        query = _waiting(_asked()).order_by(questions.c.created_at, questions.c.id).limit(limit)
        async with self._database.read() as connection:
            found = [_made(row) for row in (await connection.execute(query)).mappings()]
        first: dict[str, int] = {}
        for number, each in enumerate(found):
            first.setdefault(each.question.root_run_id, number)
        return sorted(found, key=lambda each: first[each.question.root_run_id])

    async def of_tree(self, root_run_id: str) -> list[Asked]:
        """All questions of a tree of runs, decided or not, the oldest first."""
        query = _asked().where(questions.c.root_run_id == root_run_id)
        async with self._database.read() as connection:
            rows = await connection.execute(query.order_by(questions.c.created_at, questions.c.id).limit(MOST_OPEN))
            return [_made(row) for row in rows.mappings()]

    async def count(self) -> int:
        """How many wait."""
        query = _waiting(select(func.count(questions.c.id)).select_from(_places()))
        async with self._database.read() as connection:
            return (await connection.execute(query)).scalar_one()

    async def decided(self, *, text: str = "", after: str = "", limit: int = 30) -> Batch[Asked]:
        """What was answered, the last first, a part at a time.

        Args:
            text: Only with this in agent, tool, message, or who answered, whatever its case.
            after: Where the part begins, from the part before.
            limit: How many.

        Raises:
            InvalidInput: `after` is no place in the list.
        """
        query = newest(_asked(), questions.c.decided_at, questions.c.id, after).limit(limit + 1)
        query = query.where(questions.c.decided_at.is_not(None))
        if text:
            named = (questions.c.agent, questions.c.tool, questions.c.message, questions.c.decided_by)
            query = query.where(or_(*(each.icontains(storable(text, 200), autoescape=True) for each in named)))
        async with self._database.read() as connection:
            rows = list((await connection.execute(query)).mappings())
        return batch(rows, limit, _made, lambda row: mark(row["decided_at"], row["id"]))

    async def allowances(self, limit: int = 200) -> list[Allowance]:
        """What may be used unasked, the newest first."""
        query = select(allowances).order_by(allowances.c.created_at.desc(), allowances.c.id).limit(limit)
        async with self._database.read() as connection:
            return [Allowance(**row) for row in (await connection.execute(query)).mappings()]

    async def withdraw(self, allowance_id: str) -> bool:
        """Takes an allowance back: the agent asks again. Whether there was one."""
        query = delete(allowances).where(allowances.c.id == storable(allowance_id, 40))
        async with self._database.write() as connection:
            return (await connection.execute(query)).rowcount > 0

    async def changed(self, cursor: str) -> tuple[list[dict[str, Any]], str]:
        """One change if other questions wait now than at the cursor, and the cursor of now."""
        columns = (questions.c.id, questions.c.root_run_id, questions.c.agent, questions.c.title, questions.c.tool)
        query = _waiting(select(*columns).select_from(_places())).order_by(questions.c.created_at, questions.c.id)
        async with self._database.read() as connection:
            rows = [dict(row) for row in (await connection.execute(query.limit(MOST_OPEN))).mappings()]
        now = hashlib.blake2s("\n".join(row["id"] for row in rows).encode(), digest_size=8).hexdigest()
        return ([{"open": len(rows), "questions": rows}] if cursor and cursor != now else []), now


def _places() -> Any:
    return questions.join(runs, runs.c.id == questions.c.run_id)


def _waiting(query: Any) -> Any:
    return query.where(questions.c.decision.is_(None), runs.c.status.not_in(ENDED))


def _asked() -> "Select[Any]":

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
    source = _places().join(root, root.c.id == questions.c.root_run_id)
    return select(questions, *columns).select_from(source)


def _made(row: "RowMapping") -> Asked:
    facts = dict(row)
    about = {name: facts.pop(name) for name in ("root_agent", "root_query", "identity", "session", "workspace")}
    return Asked(question=Question(**facts), **about)
