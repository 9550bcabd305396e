"""Add active runs to the database."""

import time
from typing import Any

import anyio

from outrider.agents.events.event import RunEvent
from outrider.agents.events.stream import EventStreams
from outrider.agents.run import RunStore
from outrider.core.database.database import Database
from support.timeouts import EVENT_TIMEOUT_S


async def add_active_run(database: Database, name: str = "run_1", status: str = "running") -> str:
    """Add an active run."""
    now = time.time()
    empty: dict[str, Any] = {key: {} for key in ("definition", "budgets", "usage", "state")}
    texts = dict.fromkeys(("answer", "thoughts", "query", "workspace"), "")
    fixed = {"id": name, "root_run_id": name, "conversation_id": "c", "message_id": "m", "agent": "a", "session": "s"}
    counts = {"attempt": 1, "depth": 0, "ancestors": [], "created_at": now, "updated_at": now}
    await RunStore(database).add_run(empty | texts | fixed | counts | {"status": status})
    return name


async def complete_run(database: Database, run: str) -> None:
    from outrider.agents.tables import runs

    await RunStore(database).update_runs(runs.c.id == run, status="completed")


def list_event_values(events: list[RunEvent]) -> list[Any]:
    return [event.data.get("text") or event.data.get("status") or event.data.get("tool") for event in events]


def join_event_text(events: list[RunEvent]) -> str:
    return "".join(event.data["text"] for event in events if event.kind == "text")


async def collect_stream(streams: EventStreams, run: str, into: list[RunEvent], after: int = 0) -> None:
    with anyio.fail_after(EVENT_TIMEOUT_S):
        async for event in streams.follow(run, after):
            into.append(event)  # noqa: PERF401 - to be seen while they come


async def wait_for_events(events: list[RunEvent], count: int) -> None:
    with anyio.fail_after(EVENT_TIMEOUT_S):
        while len(events) < count:
            await anyio.lowlevel.checkpoint()
