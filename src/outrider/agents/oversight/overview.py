"""The runs of all sessions, for the person who runs the house: lists, trees, and what changes."""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from outrider.agents.evaluations import Evaluation
from outrider.agents.limits import Usage
from outrider.agents.oversight.brief import Brief, brief, briefs
from outrider.agents.oversight.run_list import Tree, Wanted, evaluations_of, part_of
from outrider.agents.run import ENDED, WORKING
from outrider.agents.tables import questions, runs
from outrider.core.db import Database
from outrider.core.keyset import Batch, read_mark

MOST = 1_000  # runs of a tree that are shown
OVERLAP = 3.0  # seconds that clocks and late commits may be apart


@dataclass(frozen=True)
class Branch:
    """A run in its tree, with the runs that it began."""

    run: Brief
    below: "Sequence[Branch]" = ()

    @property
    def used(self) -> Usage:
        """What it and all below it have used."""
        return sum((each.used for each in self.below), self.run.used)

    @property
    def count(self) -> int:
        """How many runs it is."""
        return 1 + sum(each.count for each in self.below)

    def find(self, run_id: str) -> "Branch | None":
        """The branch that begins with that run."""
        if self.run.id == run_id:
            return self
        return next((found for each in self.below if (found := each.find(run_id))), None)


class Overview:
    """Looks at all runs in the database, whoever works on them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def listed(self, wanted: Wanted, *, after: str = "", limit: int = 30) -> Batch[Tree]:
        """The newest trees first, a part at a time.

        Args:
            wanted: Which.
            after: Where the part begins, from the part before.
            limit: How many.

        Raises:
            InvalidInput: `after` is no place in the list.
        """
        if after:
            read_mark(after)
        async with self._database.read() as connection:
            return await connection.run_sync(part_of, wanted, after, limit)

    async def agents(self) -> list[str]:
        """The names of all agents that have run."""
        async with self._database.read() as connection:
            names = await connection.execute(select(runs.c.agent).distinct().order_by(runs.c.agent).limit(200))
            return list(names.scalars())

    async def tree(self, root_run_id: str) -> Branch | None:
        """The tree of that outermost run, its runs in the order in which they began; None if there is none."""
        query = briefs().where(runs.c.root_run_id == root_run_id).order_by(runs.c.created_at, runs.c.id).limit(MOST)
        async with self._database.read() as connection:
            found = [brief(row) for row in (await connection.execute(query)).mappings()]
        return _grown(found, root_run_id)

    async def others(self, conversation_id: str, but: str, limit: int = 10) -> list[Brief]:
        """The other runs of a conversation, the newest first."""
        same = runs.c.conversation_id == conversation_id, runs.c.id != but
        query = briefs().where(*same).order_by(runs.c.created_at.desc(), runs.c.id).limit(limit)
        async with self._database.read() as connection:
            return [brief(row) for row in (await connection.execute(query)).mappings()]

    async def evaluation_of(self, run_id: str) -> "Evaluation | None":
        """The evaluation that the run works for."""
        async with self._database.read() as connection:
            return (await connection.run_sync(evaluations_of, [run_id])).get(run_id)

    async def changed(self, cursor: str) -> tuple[list[dict[str, Any]], str]:
        """The runs that changed after the cursor, and the cursor behind them; of an empty one where it is now.

        A run may come twice, and never not at all: what is written late, or by a clock that is behind by up to three
        seconds, still comes.
        """
        since = float(cursor.partition("~")[0] or 0) if cursor else time.time()
        columns = (runs.c.id, runs.c.root_run_id, runs.c.status, runs.c.updated_at)
        recent = runs.c.status.in_((*WORKING, "blocked", *ENDED)), runs.c.updated_at > since - OVERLAP
        query = select(*columns).where(*recent).order_by(runs.c.updated_at).limit(500)
        async with self._database.read() as connection:
            rows = [dict(row) for row in (await connection.execute(query)).mappings()]
        newest = max([since, *(row["updated_at"] for row in rows)])
        behind = f"{newest!r}~{_digest([row for row in rows if row['updated_at'] > newest - OVERLAP])}"
        return ([] if not cursor or behind.partition("~")[2] == cursor.partition("~")[2] else rows), behind

    async def standing(self, root_run_id: str) -> str:
        """Another whenever a run of the tree, or a question of it, has changed."""
        states = select(runs.c.id, runs.c.status, runs.c.updated_at).where(runs.c.root_run_id == root_run_id)
        asked = select(questions.c.id, questions.c.decision).where(questions.c.root_run_id == root_run_id)
        async with self._database.read() as connection:
            rows = [*(await connection.execute(states)), *(await connection.execute(asked))]
        return _digest(sorted(tuple(map(str, row)) for row in rows))


def _digest(value: Any) -> str:
    return hashlib.blake2s(repr(value).encode("utf-8", "replace"), digest_size=8).hexdigest()


def _grown(found: Sequence[Brief], root_id: str) -> Branch | None:
    """The tree of these runs. What has lost its parent hangs at the root."""
    known = {each.id for each in found}
    below: dict[str, list[Brief]] = {}
    for each in found:
        if each.id != root_id:
            parent = each.parent_run_id if each.parent_run_id in known else root_id
            below.setdefault(parent or root_id, []).append(each)

    def grow(run: Brief) -> Branch:
        return Branch(run, [grow(each) for each in below.get(run.id, ())])

    root = next((each for each in found if each.id == root_id), None)
    return grow(root) if root else None
