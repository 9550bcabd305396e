"""A run as lists and trees show it: light, without definition and history, of its task the beginning."""

import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import RowMapping, Select, func, select

from outrider.agents.limits import RunUsage
from outrider.agents.run import ACTIVE_STATUSES, ENDED_STATUSES, RunStatus
from outrider.agents.tables import runs


@dataclass(frozen=True)
class RunSummary:
    """A run as lists show it; `query` is cut, `seconds` is the time at work without waiting for people."""

    id: str
    parent_run_id: str | None
    parent_call_id: str | None
    root_run_id: str
    agent: str
    query: str
    status: RunStatus
    stop_reason: str | None
    attempt: int
    model: str | None
    usage: dict[str, Any]
    cost: float | None
    identity: str | None
    workspace: str
    session: str
    created_at: float
    started_at: float | None
    ended_at: float | None
    updated_at: float
    seconds: float | None

    @property
    def used(self) -> RunUsage:
        """What it has used itself."""
        return RunUsage.from_dict(self.usage)

    @property
    def has_ended(self) -> bool:
        """Whether it is over for good."""
        return self.status in ENDED_STATUSES

    @property
    def working(self) -> bool:
        """Whether somebody works on it, or should."""
        return self.status in ACTIVE_STATUSES

    @property
    def lasted(self) -> float | None:
        """Seconds from its beginning to its end, or to now; None before the beginning."""
        return None if self.started_at is None else (self.ended_at or time.time()) - self.started_at


def build_summary_query() -> "Select[Any]":
    """The query of them all."""
    max_chars = 400  # characters of a task that a list repeats
    derived = {"query": func.substr(runs.c.query, 1, max_chars), "seconds": runs.c.state["seconds"].as_float()}
    columns = [derived.get(name, runs.c.get(name)).label(name) for name in RunSummary.__dataclass_fields__]
    return select(*columns)


def parse_summary_row(row: "RowMapping") -> RunSummary:
    """What a row of `briefs` says."""
    return RunSummary(**row)
