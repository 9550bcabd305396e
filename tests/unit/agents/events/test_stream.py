"""Events of runs: told at once where they happen, complete and in order everywhere else."""

import anyio
import pytest

from outrider.agents.events.event import RunEvent
from outrider.agents.events.stream import Streams
from outrider.core.db import Database
from outrider.core.errors import NotFound
from support.apps.run_streams import ended, heard, said, spoken, until, working

pytestmark = pytest.mark.anyio


async def test_followers_here_and_elsewhere_hear_all_in_order_and_stop_at_the_end(database: Database):
    run, here, there = await working(database), Streams(database), Streams(database)
    ours: list[RunEvent] = []
    theirs: list[RunEvent] = []
    await here.open(run)
    await here.append(run, [("status", {"status": "running"})])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(heard, here, run, ours)
        tasks.start_soon(heard, there, run, theirs)
        for word in ("What ", "is ", "said ", "word ", "by ", "word."):
            here.say(run, "text", {"text": word, "step": 1})
            await anyio.lowlevel.checkpoint()
        await until(ours, 2)
        here.say(run, "tool_started", {"tool": "look"})
        await here.flush()
        await ended(database, run)
        await here.append(run, [("status", {"status": "completed"})])
    here.shut(run)
    assert spoken(ours) == spoken(theirs) == "What is said word by word."
    assert said(ours)[-2:] == said(theirs)[-2:] == ["look", "completed"]
    numbers = [event.seq for event in theirs]
    assert numbers == [event.seq for event in ours] == list(range(1, len(numbers) + 1))
    await here.close()
    await there.close()


async def test_an_event_of_another_process_goes_before_those_that_are_not_written_yet(database: Database):
    run, here, there = await working(database), Streams(database, gather=5.0), Streams(database)
    ours: list[RunEvent] = []
    await here.open(run)
    await here.append(run, [("status", {"status": "running"})])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(heard, here, run, ours)
        await until(ours, 1)
        here.say(run, "text", {"text": "unwritten", "step": 1})
        await there.append(run, [("status", {"status": "cancelled"})])
        await here.flush()
        await ended(database, run)
    written = await there.read(run)
    assert said(written) == ["running", "cancelled", "unwritten"]
    assert [event.seq for event in written] == [1, 2, 3]
    assert sorted(map(str, said(ours))) == ["cancelled", "running", "unwritten"], "each once"
    await here.close()


async def test_who_comes_later_hears_what_has_been_and_who_comes_again_only_what_is_new(database: Database):
    run, here = await working(database), Streams(database, gather=5.0)
    await here.open(run)
    await here.append(run, [("tool_started", {"tool": str(number)}) for number in range(700)])
    here.say(run, "text", {"text": "told and not written", "step": 1})
    late: list[RunEvent] = []
    again: list[RunEvent] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(heard, here, run, late)
        tasks.start_soon(heard, here, run, again, 699)
        await until(late, 700)
        await ended(database, run)
        await here.append(run, [("status", {"status": "completed"})])
    assert [event.seq for event in late] == list(range(1, 703))
    assert said(again) == ["699", "told and not written", "completed"]
    await here.close()


async def test_a_run_that_rests_already_is_told_and_nobody_waits(database: Database):
    run, here = await working(database), Streams(database)
    await here.append(run, [("status", {"status": "running"}), ("status", {"status": "blocked"})])
    await ended(database, run)
    events: list[RunEvent] = []
    await heard(here, run, events)
    assert said(events) == ["running", "blocked"]
    with pytest.raises(NotFound):
        await heard(here, "run_none", [])
    await here.close()


async def test_events_of_many_runs_are_written_together_and_none_is_lost(database: Database):
    here, names = Streams(database), [await working(database, f"run_{number}") for number in range(20)]
    for name in names:
        await here.open(name)
    for number in range(30):
        for name in names:
            here.say(name, "text", {"text": f"{name}:{number} ", "step": number})
        await anyio.lowlevel.checkpoint()
    await here.flush()
    for name in names:
        events = await here.read(name)
        assert spoken(events) == "".join(f"{name}:{number} " for number in range(30))
    await here.close()


async def test_nobody_is_left_waiting_when_the_house_is_closed(database: Database):
    run, here = await working(database), Streams(database)
    await here.append(run, [("status", {"status": "running"})])
    events: list[RunEvent] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(heard, here, run, events)
        await until(events, 1)
        await here.close()
    assert said(events) == ["running"]
