"""Lists, trees and changes of the runs of all sessions."""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from outrider.agents.evaluations import Evaluation
from outrider.agents.limits import RunUsage
from outrider.agents.live_usage import load_live_usage, load_step_changes, merge_usage
from outrider.agents.run_status import ACTIVE_STATUSES, ENDED_STATUSES
from outrider.agents.tables import questions, runs
from outrider.agents.views.run_list import RunFilter, RunTree, load_evaluations_by_run, load_run_batch
from outrider.agents.views.run_summary import RunSummary, build_summary_query, parse_summary_row
from outrider.core.database.database import Database
from outrider.core.keyset import Batch, parse_cursor


@dataclass(frozen=True)
class RunBranch:
    """A run in its tree, with the runs that it started."""

    run: RunSummary
    children: "Sequence[RunBranch]" = ()

    @property
    def used(self) -> RunUsage:
        """The usage of the run and all runs below it."""
        return sum((child.used for child in self.children), self.run.used)

    @property
    def count(self) -> int:
        """The number of runs in the branch."""
        return 1 + sum(child.count for child in self.children)

    def find_branch(self, run_id: str) -> "RunBranch | None":
        """Return the branch that starts with a run."""
        if self.run.id == run_id:
            return self
        return next((branch for child in self.children if (branch := child.find_branch(run_id))), None)


class RunOverview:
    """Reads the runs of all processes from the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_trees(self, run_filter: RunFilter, *, after: str = "", limit: int = 30) -> Batch[RunTree]:
        """Return a page of trees, the newest first.

        Args:
            run_filter: Which trees to list.
            after: The cursor of the page before; empty for the first page.
            limit: The page size.

        Raises:
            InvalidInput: `after` is not a cursor of this list.
        """
        if after:
            parse_cursor(after)
        async with self._database.read() as connection:
            return await connection.run_sync(load_run_batch, run_filter, after, limit)

    async def list_agent_names(self) -> list[str]:
        """Return the names of all agents that have run."""
        async with self._database.read() as connection:
            names = await connection.execute(select(runs.c.agent).distinct().order_by(runs.c.agent).limit(200))
            return list(names.scalars())

    async def load_tree(self, root_run_id: str) -> RunBranch | None:
        """Return the tree of an outermost run in order of creation."""
        max_runs = 1_000
        query = (
            build_summary_query()
            .where(runs.c.root_run_id == root_run_id)
            .order_by(runs.c.created_at, runs.c.id)
            .limit(max_runs)
        )
        async with self._database.read() as connection:
            live = await connection.run_sync(load_live_usage, runs.c.root_run_id == root_run_id)
            rows = (await connection.execute(query)).mappings()
            found = [parse_summary_row(merge_usage(row, live)) for row in rows]
        # Runs whose parent is missing become children of the root.
        ids = {run.id for run in found}
        children: dict[str, list[RunSummary]] = {}
        for run in found:
            if run.id != root_run_id:
                parent_id = run.parent_run_id if run.parent_run_id in ids else root_run_id
                children.setdefault(parent_id or root_run_id, []).append(run)

        def build_branch(run: RunSummary) -> RunBranch:
            return RunBranch(run, [build_branch(child) for child in children.get(run.id, ())])

        root = next((run for run in found if run.id == root_run_id), None)
        return build_branch(root) if root else None

    async def list_conversation_runs(self, conversation_id: str, but: str, limit: int = 10) -> list[RunSummary]:
        """Return the runs of a conversation except the run `but`, the newest first."""
        is_other = runs.c.conversation_id == conversation_id, runs.c.id != but
        query = build_summary_query().where(*is_other).order_by(runs.c.created_at.desc(), runs.c.id).limit(limit)
        async with self._database.read() as connection:
            return [parse_summary_row(dict(row)) for row in (await connection.execute(query)).mappings()]

    async def find_evaluation(self, run_id: str) -> Evaluation | None:
        """Return the evaluation that the run belongs to, if any."""
        async with self._database.read() as connection:
            return (await connection.run_sync(load_evaluations_by_run, [run_id])).get(run_id)

    async def list_changes(self, cursor: str) -> tuple[list[dict[str, Any]], str]:
        """Return the runs changed after the cursor, and the next cursor.

        A run that took a step has changed too. An empty cursor starts now.

        A run can be returned twice, but no change is lost if clocks differ or commits are late by up to three seconds.
        """
        overlap_s = 3.0
        since = float(cursor.partition("~")[0] or 0) if cursor else time.time()
        columns = (runs.c.id, runs.c.root_run_id, runs.c.status, runs.c.updated_at)
        recent = (
            runs.c.status.in_((*ACTIVE_STATUSES, "blocked", *ENDED_STATUSES)),
            runs.c.updated_at > since - overlap_s,
        )
        query = select(*columns).where(*recent).order_by(runs.c.updated_at).limit(500)
        async with self._database.read() as connection:
            rows = [dict(row) for row in (await connection.execute(query)).mappings()]
            rows += await connection.run_sync(load_step_changes, since - overlap_s)
        newest = max([since, *(row["updated_at"] for row in rows)])
        overlap = _hash_value([row for row in rows if row["updated_at"] > newest - overlap_s])
        has_changes = bool(cursor) and overlap != cursor.partition("~")[2]
        return (rows if has_changes else []), f"{newest!r}~{overlap}"

    async def compute_fingerprint(self, root_run_id: str) -> str:
        """Return a text that changes with the tree's runs and questions."""
        run_states = select(runs.c.id, runs.c.status, runs.c.updated_at).where(runs.c.root_run_id == root_run_id)
        decisions = select(questions.c.id, questions.c.decision).where(questions.c.root_run_id == root_run_id)
        async with self._database.read() as connection:
            rows = [*(await connection.execute(run_states)), *(await connection.execute(decisions))]
        return _hash_value(sorted(tuple(map(str, row)) for row in rows))


def _hash_value(value: Any) -> str:
    return hashlib.blake2s(repr(value).encode("utf-8", "replace"), digest_size=8).hexdigest()
