"""Summaries of runs for lists and trees."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, func, select

from outrider.agents.limits import RunUsage
from outrider.agents.run_status import ACTIVE_STATUSES, ENDED_STATUSES, RunStatus
from outrider.agents.tables import runs


@dataclass(frozen=True)
class RunSummary:
    """A run without its definition and history.

    Attributes:
        query: The beginning of the task.
        seconds: Working time, not counting waits for people.
    """

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
        """Its own usage."""
        return RunUsage.from_dict(self.usage)

    @property
    def has_ended(self) -> bool:
        """Whether it has finally ended."""
        return self.status in ENDED_STATUSES

    @property
    def working(self) -> bool:
        """Whether it is queued or running."""
        return self.status in ACTIVE_STATUSES

    @property
    def lasted(self) -> float | None:
        """Seconds from its start to its end or to now; None before it has started."""
        return None if self.started_at is None else (self.ended_at or time.time()) - self.started_at


def build_summary_query() -> "Select[Any]":
    """Select the columns of `RunSummary` for all runs."""
    max_chars = 400  # of the task
    derived = {"query": func.substr(runs.c.query, 1, max_chars), "seconds": runs.c.state["seconds"].as_float()}
    columns = [derived.get(name, runs.c.get(name)).label(name) for name in RunSummary.__dataclass_fields__]
    return select(*columns)


def parse_summary_row(row: Mapping[str, Any]) -> RunSummary:
    """Return the summary in a row of `build_summary_query`."""
    return RunSummary(**row)
