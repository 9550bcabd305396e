"""Test that notifications deliver events between processes on Postgres."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from sqlalchemy import Connection, text

from outrider.agents.events.event import RunEvent
from outrider.agents.events.event_log import EventLog
from outrider.agents.events.stream import EventStreams, EventWriter
from outrider.core.database.database import Database
from support.apps.run_streams import (
    add_active_run,
    collect_stream,
    complete_run,
    join_event_text,
    list_event_values,
    wait_for_events,
)
from support.databases import postgres
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = pytest.mark.anyio
LONG_TEXT = "ä long word " * 2_000  # more than a notification holds


class CountingDatabase(Database):
    """A database that counts its queries."""

    asked = 0

    async def run_transaction(self, work: Callable[[Connection], Any], *, write: bool) -> Any:
        self.asked += 1
        return await super().run_transaction(work, write=write)


@asynccontextmanager
async def stream_pair(
    server: postgres.PostgresServer,
) -> AsyncGenerator[tuple[EventStreams, EventStreams, Database, CountingDatabase]]:
    """Two processes' streams on one database."""
    address = server.create_migrated_database()
    databases = Database(address), CountingDatabase(address)
    streams = EventStreams(databases[0]), EventStreams(databases[1])
    yield *streams, *databases
    for each in (*streams, *databases):
        await each.close()


async def wait_until_connected(streams: EventStreams) -> None:
    with anyio.fail_after(EVENT_TIMEOUT_S):
        while not streams.notifier.is_connected:
            await anyio.sleep(0.01)


async def test_a_remote_follower_gets_all_events_in_order_including_oversized_ones(
    server: postgres.PostgresServer,
):
    async with stream_pair(server) as (here, there, database, _), anyio.create_task_group() as tasks:
        run = await add_active_run(database)
        await here.open_run(run)
        theirs: list[RunEvent] = []
        tasks.start_soon(collect_stream, there, run, theirs)
        await wait_until_connected(there)
        pen = EventWriter(here, run)
        for step, words in enumerate(("short ", LONG_TEXT, "again ", "end")):
            pen.write("text", {"step": step, "text": words})
            await pen.flush()
        await wait_for_events(theirs, 4)
        await here.append(run, [("status", {"status": "completed", "attempt": 1})])
        await complete_run(database, run)
    assert join_event_text(theirs) == f"short {LONG_TEXT}again end"
    assert list_event_values(theirs)[-1] == "completed"
    assert [event.seq for event in theirs] == [1, 2, 3, 4, 5]


async def test_pushed_events_are_not_read_from_the_table(server: postgres.PostgresServer):
    async with stream_pair(server) as (here, there, database, elsewhere), anyio.create_task_group() as tasks:
        run = await add_active_run(database)
        await here.open_run(run)
        theirs: list[RunEvent] = []
        tasks.start_soon(collect_stream, there, run, theirs)
        await wait_until_connected(there)
        before = elsewhere.asked
        for step in range(50):
            here.publish(run, "text", {"step": step, "text": f"{step} "})
            await here.flush()
            await wait_for_events(theirs, step + 1)
        asked = elsewhere.asked - before
        await here.append(run, [("status", {"status": "completed", "attempt": 1})])
        await complete_run(database, run)
    assert asked < 50, "fifty events came with rings, and the table was only looked at now and then"


async def test_gaps_between_notifications_are_filled_from_the_table(server: postgres.PostgresServer):
    async with stream_pair(server) as (here, there, database, _), anyio.create_task_group() as tasks:
        run = await add_active_run(database)
        theirs: list[RunEvent] = []
        tasks.start_soon(collect_stream, there, run, theirs)
        await wait_until_connected(there)
        silent = "INSERT INTO run_events (run_id, seq, at, kind, data) VALUES (:run, 1, 0, 'text', :data)"
        async with database.write() as connection:
            await connection.execute(text(silent), {"run": run, "data": '{"step": 1, "text": "unheard "}'})
        await here.append(run, [("text", {"step": 2, "text": "heard"})])
        await wait_for_events(theirs, 2)
        await here.append(run, [("status", {"status": "completed", "attempt": 1})])
        await complete_run(database, run)
    assert join_event_text(theirs) == "unheard heard"


async def test_concurrent_appends_are_all_stored_with_consecutive_numbers(server: postgres.PostgresServer):
    async with stream_pair(server) as (here, there, database, _):
        run = await add_active_run(database)
        with anyio.fail_after(EVENT_TIMEOUT_S):
            async with anyio.create_task_group() as tasks:
                for number in range(40):
                    streams = (here, there)[number % 2]
                    tasks.start_soon(streams.append, run, [("status", {"status": "running", "attempt": number})])
        events = await EventLog(database).read(run, 0)
    assert [event.seq for event in events] == list(range(1, 41))
    assert {event.data["attempt"] for event in events} == set(range(40))
