"""Test that followers get every event once and in order."""

import anyio
import pytest

from outrider.agents.events.event import RunEvent
from outrider.agents.events.stream import EventStreams
from outrider.core.database.database import Database
from outrider.core.errors import NotFound
from support.apps.run_streams import (
    add_active_run,
    collect_stream,
    complete_run,
    join_event_text,
    list_event_values,
    wait_for_events,
)

pytestmark = pytest.mark.anyio


async def test_local_and_remote_followers_get_all_events_in_order(database: Database):
    run, here, there = await add_active_run(database), EventStreams(database), EventStreams(database)
    ours: list[RunEvent] = []
    theirs: list[RunEvent] = []
    await here.open_run(run)
    await here.append(run, [("status", {"status": "running"})])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(collect_stream, here, run, ours)
        tasks.start_soon(collect_stream, there, run, theirs)
        for word in ("What ", "is ", "said ", "word ", "by ", "word."):
            here.publish(run, "text", {"text": word, "step": 1})
            await anyio.lowlevel.checkpoint()
        await wait_for_events(ours, 2)
        here.publish(run, "tool_started", {"tool": "look"})
        await here.flush()
        await complete_run(database, run)
        await here.append(run, [("status", {"status": "completed"})])
    here.close_run(run)
    assert join_event_text(ours) == join_event_text(theirs) == "What is said word by word."
    assert list_event_values(ours)[-2:] == list_event_values(theirs)[-2:] == ["look", "completed"]
    numbers = [event.seq for event in theirs]
    assert numbers == [event.seq for event in ours] == list(range(1, len(numbers) + 1))
    await here.close()
    await there.close()


async def test_an_event_of_another_process_precedes_events_not_yet_written(database: Database):
    run, here, there = await add_active_run(database), EventStreams(database, gather=5.0), EventStreams(database)
    ours: list[RunEvent] = []
    await here.open_run(run)
    await here.append(run, [("status", {"status": "running"})])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(collect_stream, here, run, ours)
        await wait_for_events(ours, 1)
        here.publish(run, "text", {"text": "unwritten", "step": 1})
        await there.append(run, [("status", {"status": "cancelled"})])
        await here.flush()
        await complete_run(database, run)
    written = await there.read(run)
    assert list_event_values(written) == ["running", "cancelled", "unwritten"]
    assert [event.seq for event in written] == [1, 2, 3]
    assert sorted(map(str, list_event_values(ours))) == ["cancelled", "running", "unwritten"], "each once"
    await here.close()


async def test_a_late_follower_gets_all_events_and_a_returning_one_only_new_events(database: Database):
    run, here = await add_active_run(database), EventStreams(database, gather=5.0)
    await here.open_run(run)
    await here.append(run, [("tool_started", {"tool": str(number)}) for number in range(700)])
    here.publish(run, "text", {"text": "told and not written", "step": 1})
    late: list[RunEvent] = []
    again: list[RunEvent] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(collect_stream, here, run, late)
        tasks.start_soon(collect_stream, here, run, again, 699)
        await wait_for_events(late, 700)
        await complete_run(database, run)
        await here.append(run, [("status", {"status": "completed"})])
    assert [event.seq for event in late] == list(range(1, 703))
    assert list_event_values(again) == ["699", "told and not written", "completed"]
    await here.close()


async def test_following_a_finished_run_returns_its_events_at_once(database: Database):
    run, here = await add_active_run(database), EventStreams(database)
    await here.append(run, [("status", {"status": "running"}), ("status", {"status": "blocked"})])
    await complete_run(database, run)
    events: list[RunEvent] = []
    await collect_stream(here, run, events)
    assert list_event_values(events) == ["running", "blocked"]
    with pytest.raises(NotFound):
        await collect_stream(here, "run_none", [])
    await here.close()


async def test_events_of_many_runs_are_written_together_and_none_is_lost(database: Database):
    here, names = EventStreams(database), [await add_active_run(database, f"run_{number}") for number in range(20)]
    for name in names:
        await here.open_run(name)
    for number in range(30):
        for name in names:
            here.publish(name, "text", {"text": f"{name}:{number} ", "step": number})
        await anyio.lowlevel.checkpoint()
    await here.flush()
    for name in names:
        events = await here.read(name)
        assert join_event_text(events) == "".join(f"{name}:{number} " for number in range(30))
    await here.close()


async def test_closing_the_app_releases_waiting_followers(database: Database):
    run, here = await add_active_run(database), EventStreams(database)
    await here.append(run, [("status", {"status": "running"})])
    events: list[RunEvent] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(collect_stream, here, run, events)
        await wait_for_events(events, 1)
        await here.close()
    assert list_event_values(events) == ["running"]
