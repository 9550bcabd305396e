"""A run as lists and trees show it: light, without definition and history, of its task the beginning."""

import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import RowMapping, Select, func, select

from outrider.agents.limits import Usage
from outrider.agents.run import ENDED, WORKING, Status
from outrider.agents.tables import runs

SHOWN = 400  # characters of a task that a list repeats


@dataclass(frozen=True)
class Brief:
    """A run as lists show it; `query` is cut, `seconds` is the time at work without waiting for people."""

    id: str
    parent_run_id: str | None
    parent_call_id: str | None
    root_run_id: str
    agent: str
    query: str
    status: Status
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
    def used(self) -> Usage:
        """What it has used itself."""
        return Usage.of(self.usage)

    @property
    def ended(self) -> bool:
        """Whether it is over for good."""
        return self.status in ENDED

    @property
    def working(self) -> bool:
        """Whether somebody works on it, or should."""
        return self.status in WORKING

    @property
    def lasted(self) -> float | None:
        """Seconds from its beginning to its end, or to now; None before the beginning."""
        return None if self.started_at is None else (self.ended_at or time.time()) - self.started_at


def briefs() -> "Select[Any]":
    """The query of them all."""
    derived = {"query": func.substr(runs.c.query, 1, SHOWN), "seconds": runs.c.state["seconds"].as_float()}
    columns = [derived.get(name, runs.c.get(name)).label(name) for name in Brief.__dataclass_fields__]
    return select(*columns)


def brief(row: "RowMapping") -> Brief:
    """What a row of `briefs` says."""
    return Brief(**row)
