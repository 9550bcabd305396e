"""List the questions of all runs, earlier decisions and permanent allowances."""

import hashlib
from dataclasses import dataclass
from typing import Any

from sqlalchemy import RowMapping, Select, delete, func, or_, select

from outrider.agents.run_status import ENDED_STATUSES
from outrider.agents.tables import allowances, questions, runs
from outrider.core.database.database import Database, to_storable_text
from outrider.core.keyset import Batch, build_batch, format_cursor, order_newest_first
from outrider.core.questions import Question

MAX_OPEN_QUESTIONS = 200


@dataclass(frozen=True)
class InboxQuestion:
    """A question with the task and owner of its outermost run."""

    question: Question
    root_agent: str
    root_query: str
    identity: str | None
    session: str
    workspace: str


@dataclass(frozen=True)
class Allowance:
    """A person's permanent permission for an agent to use a tool.

    It holds in one workspace.
    """

    id: str
    workspace: str
    identity: str
    agent: str
    tool: str
    created_at: float


class Inbox:
    """The questions of all runs in the database; those of ended runs are not open."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_open(self, limit: int = MAX_OPEN_QUESTIONS) -> list[InboxQuestion]:
        """Return the open questions, grouped by outermost run, the oldest first."""
        query = _filter_open(_build_inbox_query()).order_by(questions.c.created_at, questions.c.id).limit(limit)
        async with self._database.read() as connection:
            found = [_parse_inbox_row(row) for row in (await connection.execute(query)).mappings()]
        positions: dict[str, int] = {}
        for position, item in enumerate(found):
            positions.setdefault(item.question.root_run_id, position)
        return sorted(found, key=lambda item: positions[item.question.root_run_id])

    async def list_tree_questions(self, root_run_id: str) -> list[InboxQuestion]:
        """Return the questions of a tree of runs, decided or not, the oldest first."""
        query = _build_inbox_query().where(questions.c.root_run_id == root_run_id)
        query = query.order_by(questions.c.created_at, questions.c.id).limit(MAX_OPEN_QUESTIONS)
        async with self._database.read() as connection:
            return [_parse_inbox_row(row) for row in (await connection.execute(query)).mappings()]

    async def count_open(self) -> int:
        """Return the number of open questions."""
        query = _filter_open(select(func.count(questions.c.id)).select_from(_join_runs()))
        async with self._database.read() as connection:
            return (await connection.execute(query)).scalar_one()

    async def list_decided(self, *, text: str = "", after: str = "", limit: int = 30) -> Batch[InboxQuestion]:
        """Return a page of decided questions, the last decision first.

        Args:
            text: Only questions with this text in agent, tool, message or the name of the decider, ignoring case.
            after: The cursor of the page before; empty for the first page.
            limit: The page size.

        Raises:
            InvalidInput: `after` is not a cursor of this list.
        """
        query = order_newest_first(_build_inbox_query(), questions.c.decided_at, questions.c.id, after).limit(limit + 1)
        query = query.where(questions.c.decided_at.is_not(None))
        if text:
            columns = (questions.c.agent, questions.c.tool, questions.c.message, questions.c.decided_by)
            pattern = to_storable_text(text, 200)
            query = query.where(or_(*(column.icontains(pattern, autoescape=True) for column in columns)))
        async with self._database.read() as connection:
            rows = list((await connection.execute(query)).mappings())
        return build_batch(rows, limit, _parse_inbox_row, lambda row: format_cursor(row["decided_at"], row["id"]))

    async def list_allowances(self, limit: int = 200) -> list[Allowance]:
        """Return the permanent allowances, the newest first."""
        query = select(allowances).order_by(allowances.c.created_at.desc(), allowances.c.id).limit(limit)
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).mappings().all()
        # A digest of the agent's definition follows the name.
        return [Allowance(**{**row, "agent": row["agent"].partition("#")[0]}) for row in rows]

    async def revoke_allowance(self, allowance_id: str) -> bool:
        """Revoke a permanent allowance, so that the agent asks again; return whether there was one."""
        query = delete(allowances).where(allowances.c.id == to_storable_text(allowance_id, 40))
        async with self._database.write() as connection:
            return (await connection.execute(query)).rowcount > 0

    async def list_changes(self, cursor: str) -> tuple[list[dict[str, Any]], str]:
        """Return one change if the open questions differ from those at the cursor, and the current cursor."""
        columns = (questions.c.id, questions.c.root_run_id, questions.c.agent, questions.c.title, questions.c.tool)
        query = _filter_open(select(*columns).select_from(_join_runs())).order_by(
            questions.c.created_at, questions.c.id
        )
        async with self._database.read() as connection:
            rows = [dict(row) for row in (await connection.execute(query.limit(MAX_OPEN_QUESTIONS))).mappings()]
        current = hashlib.blake2s("\n".join(row["id"] for row in rows).encode(), digest_size=8).hexdigest()
        return ([{"open": len(rows), "questions": rows}] if cursor and cursor != current else []), current


def _join_runs() -> Any:
    return questions.join(runs, runs.c.id == questions.c.run_id)


def _filter_open(query: Any) -> Any:
    return query.where(questions.c.decision.is_(None), runs.c.status.not_in(ENDED_STATUSES))


def _build_inbox_query() -> "Select[Any]":
    root = runs.alias("root")
    added_columns = {
        "conversation_id": runs.c.conversation_id,
        "message_id": runs.c.message_id,
        "root_agent": root.c.agent,
        "root_query": func.substr(root.c.query, 1, 400),
        "identity": root.c.identity,
        "session": root.c.session,
        "workspace": root.c.workspace,
    }
    columns = [column.label(name) for name, column in added_columns.items()]
    source = _join_runs().join(root, root.c.id == questions.c.root_run_id)
    return select(questions, *columns).select_from(source)


def _parse_inbox_row(row: "RowMapping") -> InboxQuestion:
    fields = dict(row)
    root = {name: fields.pop(name) for name in ("root_agent", "root_query", "identity", "session", "workspace")}
    return InboxQuestion(question=Question(**fields), **root)
