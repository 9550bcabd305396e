"""Runs that somebody works on, and followers that write down what they hear."""

import time
from typing import Any

import anyio

from outrider.agents.events.event import RunEvent
from outrider.agents.events.stream import Streams
from outrider.agents.run import RunRows
from outrider.core.db import Database

PATIENCE = 30  # seconds


async def working(database: Database, name: str = "run_1", status: str = "running") -> str:
    """A run that somebody works on."""
    now = time.time()
    empty: dict[str, Any] = {key: {} for key in ("definition", "budgets", "usage", "state")}
    texts = dict.fromkeys(("answer", "thoughts", "query", "workspace"), "")
    fixed = {"id": name, "root_run_id": name, "conversation_id": "c", "message_id": "m", "agent": "a", "session": "s"}
    counts = {"attempt": 1, "depth": 0, "ancestors": [], "created_at": now, "updated_at": now}
    await RunRows(database).add(empty | texts | fixed | counts | {"status": status})
    return name


async def ended(database: Database, run: str) -> None:
    from outrider.agents.tables import runs

    await RunRows(database).change(runs.c.id == run, status="completed")


def said(events: list[RunEvent]) -> list[Any]:
    return [event.data.get("text") or event.data.get("status") or event.data.get("tool") for event in events]


def spoken(events: list[RunEvent]) -> str:
    return "".join(event.data["text"] for event in events if event.kind == "text")


async def heard(streams: Streams, run: str, into: list[RunEvent], after: int = 0) -> None:
    with anyio.fail_after(PATIENCE):
        async for event in streams.follow(run, after):
            into.append(event)  # noqa: PERF401 - to be seen while they come


async def until(events: list[RunEvent], count: int) -> None:
    with anyio.fail_after(PATIENCE):
        while len(events) < count:
            await anyio.lowlevel.checkpoint()
