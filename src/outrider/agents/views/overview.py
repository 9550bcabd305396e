"""The runs of all sessions, for the person who runs the house: lists, trees, and what changes."""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from outrider.agents.evaluations import Evaluation
from outrider.agents.limits import RunUsage
from outrider.agents.run import ACTIVE_STATUSES, ENDED_STATUSES
from outrider.agents.tables import questions, runs
from outrider.agents.views.run_list import RunFilter, RunTree, load_evaluations_by_run, load_run_batch
from outrider.agents.views.run_summary import RunSummary, build_summary_query, parse_summary_row
from outrider.core.database.database import Database
from outrider.core.keyset import Batch, parse_cursor


@dataclass(frozen=True)
class RunBranch:
    """A run in its tree, with the runs that it began."""

    run: RunSummary
    children: "Sequence[RunBranch]" = ()

    @property
    def used(self) -> RunUsage:
        """What it and all below it have used."""
        return sum((each.used for each in self.children), self.run.used)

    @property
    def count(self) -> int:
        """How many runs it is."""
        return 1 + sum(each.count for each in self.children)

    def find_branch(self, run_id: str) -> "RunBranch | None":
        """The branch that begins with that run."""
        if self.run.id == run_id:
            return self
        return next((found for each in self.children if (found := each.find_branch(run_id))), None)


class RunOverview:
    """Looks at all runs in the database, whoever works on them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_trees(self, run_filter: RunFilter, *, after: str = "", limit: int = 30) -> Batch[RunTree]:
        """The newest trees first, a part at a time.

        Args:
            run_filter: Which.
            after: Where the part begins, from the part before.
            limit: How many.

        Raises:
            InvalidInput: `after` is no place in the list.
        """
        if after:
            parse_cursor(after)
        async with self._database.read() as connection:
            return await connection.run_sync(load_run_batch, run_filter, after, limit)

    async def list_agent_names(self) -> list[str]:
        """The names of all agents that have run."""
        async with self._database.read() as connection:
            names = await connection.execute(select(runs.c.agent).distinct().order_by(runs.c.agent).limit(200))
            return list(names.scalars())

    async def load_tree(self, root_run_id: str) -> RunBranch | None:
        """The tree of that outermost run, its runs in the order in which they began; None if there is none."""
        max_runs = 1_000  # runs of a tree that are shown
        query = (
            build_summary_query()
            .where(runs.c.root_run_id == root_run_id)
            .order_by(runs.c.created_at, runs.c.id)
            .limit(max_runs)
        )
        async with self._database.read() as connection:
            found = [parse_summary_row(row) for row in (await connection.execute(query)).mappings()]
        return _build_tree(found, root_run_id)

    async def list_conversation_runs(self, conversation_id: str, but: str, limit: int = 10) -> list[RunSummary]:
        """The other runs of a conversation, the newest first."""
        same = runs.c.conversation_id == conversation_id, runs.c.id != but
        query = build_summary_query().where(*same).order_by(runs.c.created_at.desc(), runs.c.id).limit(limit)
        async with self._database.read() as connection:
            return [parse_summary_row(row) for row in (await connection.execute(query)).mappings()]

    async def find_evaluation(self, run_id: str) -> "Evaluation | None":
        """The evaluation that the run works for."""
        async with self._database.read() as connection:
            return (await connection.run_sync(load_evaluations_by_run, [run_id])).get(run_id)

    async def list_changes(self, cursor: str) -> tuple[list[dict[str, Any]], str]:
        """The runs that changed after the cursor, and the cursor behind them; of an empty one where it is now.

        A run may come twice, and never not at all: what is written late, or by a clock that is behind by up to three
        seconds, still comes.
        """
        overlap_s = 3.0  # seconds that clocks and late commits may be apart
        since = float(cursor.partition("~")[0] or 0) if cursor else time.time()
        columns = (runs.c.id, runs.c.root_run_id, runs.c.status, runs.c.updated_at)
        recent = (
            runs.c.status.in_((*ACTIVE_STATUSES, "blocked", *ENDED_STATUSES)),
            runs.c.updated_at > since - overlap_s,
        )
        query = select(*columns).where(*recent).order_by(runs.c.updated_at).limit(500)
        async with self._database.read() as connection:
            rows = [dict(row) for row in (await connection.execute(query)).mappings()]
        newest = max([since, *(row["updated_at"] for row in rows)])
        behind = f"{newest!r}~{_hash_value([row for row in rows if row['updated_at'] > newest - overlap_s])}"
        return ([] if not cursor or behind.partition("~")[2] == cursor.partition("~")[2] else rows), behind

    async def compute_fingerprint(self, root_run_id: str) -> str:
        """Another whenever a run of the tree, or a question of it, has changed."""
        states = select(runs.c.id, runs.c.status, runs.c.updated_at).where(runs.c.root_run_id == root_run_id)
        asked = select(questions.c.id, questions.c.decision).where(questions.c.root_run_id == root_run_id)
        async with self._database.read() as connection:
            rows = [*(await connection.execute(states)), *(await connection.execute(asked))]
        return _hash_value(sorted(tuple(map(str, row)) for row in rows))


def _hash_value(value: Any) -> str:
    return hashlib.blake2s(repr(value).encode("utf-8", "replace"), digest_size=8).hexdigest()


def _build_tree(found: Sequence[RunSummary], root_id: str) -> RunBranch | None:
    """The tree of these runs. What has lost its parent hangs at the root."""
    known = {each.id for each in found}
    below: dict[str, list[RunSummary]] = {}
    for each in found:
        if each.id != root_id:
            parent = each.parent_run_id if each.parent_run_id in known else root_id
            below.setdefault(parent or root_id, []).append(each)

    def build_branch(run: RunSummary) -> RunBranch:
        return RunBranch(run, [build_branch(each) for each in below.get(run.id, ())])

    root = next((each for each in found if each.id == root_id), None)
    return build_branch(root) if root else None
