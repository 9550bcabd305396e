"""Looking back at calls, on the laptop's database and on the servers'."""

import time
from collections.abc import AsyncGenerator
from dataclasses import replace
from itertools import count

import pytest

from outrider.core.context import Call
from outrider.core.db import Database
from outrider.core.errors import InvalidInput, NotFound
from outrider.core.events import Event, Events
from outrider.core.history import FAILED, History, Wanted
from outrider.core.tool import Tool
from support.databases import postgres, sqlite

pytestmark = pytest.mark.anyio
NUMBERS = count(1)
PROGRAMS = postgres.found()
KINDS = ["sqlite", pytest.param("postgres", marks=pytest.mark.skipif(PROGRAMS is None, reason="no Postgres here"))]


async def nothing() -> str:
    return ""


def event(tool: str = "plant", outcome: str = "ok", message: str = "", **fields: object) -> Event:
    """A call of a tool; `fields` are of the record."""
    made = Tool(tool, tool, "", "read", nothing, toolset="garden")
    key = f"{next(NUMBERS):036}"
    record = Event.of(made, Call(session="s"), {}, outcome, message, key=key, seconds=0.5, size=3)
    return replace(record, **fields)


@pytest.fixture(scope="module")
async def databases(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[dict[str, Database]]:
    """One of each kind, for all tests."""
    found = {"sqlite": Database.file(sqlite.migrated(tmp_path_factory.mktemp("history") / "outrider.db"))}
    if PROGRAMS:
        found["postgres"] = Database(request.getfixturevalue("server").migrated())
    yield found
    for each in found.values():
        await each.close()


@pytest.fixture(params=KINDS)
async def database(request: pytest.FixtureRequest, databases: dict[str, Database]) -> Database:
    """An empty one."""
    found = databases[request.param]
    await Events(found).sweep(-60)
    return found


async def written(database: Database, *events: Event) -> None:
    records = Events(database)
    for each in events:
        records.record(each)
    await records.flush()


async def test_a_list_comes_in_parts_without_gap_or_repetition(database: Database):
    now = time.time()
    await written(database, *(event(message=str(number), at=now - number // 3) for number in range(25)))
    history, seen, after = History(database), [], ""
    while True:
        part = await history.page(Wanted(), after=after, limit=7)
        seen += [each.message for each in part.items]
        if not (after := part.after):
            break
    assert sorted(seen, key=int) == [str(number) for number in range(25)]
    assert [int(each) // 3 for each in seen] == sorted(int(each) // 3 for each in seen)


async def test_calls_are_found_by_what_is_known_of_them(database: Database):
    await written(
        database,
        event(message="1"),
        event("prune", message="2"),
        event(outcome="timeout", message="3"),
        event(outcome="asks", message="4"),
        event(message="5").answered_by("brave"),
        event(message="6", session="other"),
        event(message="7", arguments={"seed": "kale", "size": "größe"}),
    )
    history = History(database)
    for wanted, found in (
        (Wanted(tool="prune"), {"2"}),
        (Wanted(outcome=FAILED), {"3"}),
        (Wanted(outcome="asks"), {"4"}),
        (Wanted(provider="brave"), {"5"}),
        (Wanted(session="other"), {"6"}),
        (Wanted(text="KALE"), {"7"}),
        (Wanted(text="größe"), {"7"}),
        (Wanted(text="100%"), set()),
        (Wanted(tool="prune", outcome=FAILED), set()),
        (Wanted(since=time.time() + 60), set()),
    ):
        assert {each.message for each in (await history.page(wanted)).items} == found, wanted


async def test_a_sample_knows_what_failed(database: Database):
    await written(database, event(), event(outcome="timeout"), event(outcome="cancelled"))
    assert [each.outcome for each in await History(database).sample(Wanted()) if each.failed] == ["timeout"]


async def test_a_call_is_found_by_its_id_and_none_by_another(database: Database):
    made = event(message="mine")
    await written(database, made)
    assert await History(database).get(made.id) == made
    with pytest.raises(NotFound):
        await History(database).get("nothing")


async def test_a_place_that_is_none_is_refused(database: Database):
    with pytest.raises(InvalidInput, match="after"):
        await History(database).page(Wanted(), after="somewhere")


async def test_what_arrives_is_told_once_and_in_full_however_late_its_time(database: Database):
    history = History(database)
    await written(database, event(message="before"))
    _, cursor = await history.arrived("")
    seen: list[str] = []
    for number in range(5):  # each older than the one before, as when another process writes its records late
        await written(database, event(message=str(number), at=time.time() - number))
        fresh, cursor = await history.arrived(cursor)
        seen += [each.message for each in fresh]
    assert seen == ["0", "1", "2", "3", "4"]
    assert (await history.arrived(cursor))[0] == []


async def test_many_that_arrive_at_once_come_in_parts(database: Database):
    history = History(database)
    _, cursor = await history.arrived("")
    await written(database, *(event(message=str(number)) for number in range(450)))
    seen: list[str] = []
    while found := (await history.arrived(cursor))[0]:
        seen += [each.message for each in found]
        cursor = (await history.arrived(cursor))[1]
    assert len(seen) == 450
    assert len(set(seen)) == 450


async def test_after_a_sweep_what_is_new_is_told(database: Database):
    history, records = History(database), Events(database)
    await written(database, event(message="old", at=1.0), event(message="older", at=0.5))
    _, cursor = await history.arrived("")
    await records.sweep(60)
    await written(database, event(message="new"))
    assert [each.message for each in (await history.arrived(cursor))[0]] == ["new"]


@pytest.mark.skipif(PROGRAMS is None, reason="no Postgres here")
async def test_a_record_that_an_open_transaction_may_still_precede_waits(databases: dict[str, Database]):
    database = databases["postgres"]
    history = History(database)
    await written(database, event(message="before"))
    _, cursor = await history.arrived("")
    engine = await database.engine()
    async with engine.connect() as slow, slow.begin():
        await slow.exec_driver_sql("SELECT pg_current_xact_id()")
        await written(database, event(message="quick"))
        assert (await history.arrived(cursor))[0] == []
    assert [each.message for each in (await history.arrived(cursor))[0]] == ["quick"]
