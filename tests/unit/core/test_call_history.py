"""The history of calls, on SQLite and on Postgres."""

import time
from collections.abc import AsyncGenerator
from dataclasses import replace
from itertools import count

import pytest

from outrider.core.call_history import FAILED_OUTCOME, CallFilter, CallHistory
from outrider.core.call_records import CallRecord, CallRecorder
from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.errors import InvalidInput, NotFound
from outrider.core.tool import Tool
from support.databases import postgres, sqlite

pytestmark = pytest.mark.anyio
NUMBERS = count(1)
KINDS = ["sqlite", pytest.param("postgres", marks=postgres.needs_postgres)]


async def do_nothing() -> str:
    return ""


def build_record(tool: str = "plant", outcome: str = "ok", message: str = "", **fields: object) -> CallRecord:
    """Build a tool call's record with these `fields`."""
    made = Tool(tool, tool, "", "read", do_nothing, toolset="garden")
    key = f"{next(NUMBERS):036}"
    record = CallRecord.from_call(made, Call(session="s"), {}, outcome, message, key=key, seconds=0.5, size=3)
    return replace(record, **fields)


@pytest.fixture(scope="module")
async def databases(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[dict[str, Database]]:
    """One of each kind, for all tests."""
    found = {
        "sqlite": Database.from_file(sqlite.create_migrated_file(tmp_path_factory.mktemp("history") / "outrider.db"))
    }
    if postgres.find_programs():
        found["postgres"] = Database(request.getfixturevalue("server").create_migrated_database())
    yield found
    for each in found.values():
        await each.close()


@pytest.fixture(params=KINDS)
async def database(request: pytest.FixtureRequest, databases: dict[str, Database]) -> Database:
    """An empty one."""
    found = databases[request.param]
    await CallRecorder(found).delete_expired(-60)
    return found


async def write_records(database: Database, *events: CallRecord) -> None:
    records = CallRecorder(database)
    for each in events:
        records.record(each)
    await records.flush()


async def test_a_list_is_read_in_parts_without_gaps_or_repetitions(database: Database):
    now = time.time()
    await write_records(database, *(build_record(message=str(number), at=now - number // 3) for number in range(25)))
    history, seen, after = CallHistory(database), [], ""
    while True:
        part = await history.list_batch(CallFilter(), after=after, limit=7)
        seen += [each.message for each in part.items]
        if not (after := part.after):
            break
    assert sorted(seen, key=int) == [str(number) for number in range(25)]
    assert [int(each) // 3 for each in seen] == sorted(int(each) // 3 for each in seen)


async def test_calls_are_found_by_any_of_their_attributes(database: Database):
    await write_records(
        database,
        build_record(message="1"),
        build_record("prune", message="2"),
        build_record(outcome="timeout", message="3"),
        build_record(outcome="asks", message="4"),
        build_record(message="5", provider="brave"),
        build_record(message="6", session="other"),
        build_record(message="7", arguments={"seed": "kale", "size": "größe"}),
    )
    history = CallHistory(database)
    for wanted, found in (
        (CallFilter(tool="prune"), {"2"}),
        (CallFilter(outcome=FAILED_OUTCOME), {"3"}),
        (CallFilter(outcome="asks"), {"4"}),
        (CallFilter(provider="brave"), {"5"}),
        (CallFilter(session="other"), {"6"}),
        (CallFilter(text="KALE"), {"7"}),
        (CallFilter(text="größe"), {"7"}),
        (CallFilter(text="100%"), set()),
        (CallFilter(tool="prune", outcome=FAILED_OUTCOME), set()),
        (CallFilter(since=time.time() + 60), set()),
    ):
        assert {each.message for each in (await history.list_batch(wanted)).items} == found, wanted


async def test_a_sample_reports_which_calls_failed(database: Database):
    await write_records(database, build_record(), build_record(outcome="timeout"), build_record(outcome="cancelled"))
    assert [each.outcome for each in await CallHistory(database).sample_calls(CallFilter()) if each.failed] == [
        "timeout"
    ]


async def test_a_call_is_found_by_its_id_alone(database: Database):
    made = build_record(message="mine")
    await write_records(database, made)
    assert await CallHistory(database).get_call(made.id) == made
    with pytest.raises(NotFound):
        await CallHistory(database).get_call("nothing")


async def test_an_invalid_cursor_is_refused(database: Database):
    with pytest.raises(InvalidInput, match="after"):
        await CallHistory(database).list_batch(CallFilter(), after="somewhere")


async def test_each_new_call_is_reported_once_even_with_an_earlier_time(database: Database):
    history = CallHistory(database)
    await write_records(database, build_record(message="before"))
    _, cursor = await history.list_new_calls("")
    seen: list[str] = []
    for number in range(5):  # each older than the previous one, as if another process wrote its records late
        await write_records(database, build_record(message=str(number), at=time.time() - number))
        fresh, cursor = await history.list_new_calls(cursor)
        seen += [each.message for each in fresh]
    assert seen == ["0", "1", "2", "3", "4"]
    assert (await history.list_new_calls(cursor))[0] == []


async def test_many_new_calls_are_reported_in_parts(database: Database):
    history = CallHistory(database)
    _, cursor = await history.list_new_calls("")
    await write_records(database, *(build_record(message=str(number)) for number in range(450)))
    seen: list[str] = []
    while found := (await history.list_new_calls(cursor))[0]:
        seen += [each.message for each in found]
        cursor = (await history.list_new_calls(cursor))[1]
    assert len(seen) == 450
    assert len(set(seen)) == 450


async def test_new_calls_are_reported_after_old_ones_were_deleted(database: Database):
    history, records = CallHistory(database), CallRecorder(database)
    await write_records(database, build_record(message="old", at=1.0), build_record(message="older", at=0.5))
    _, cursor = await history.list_new_calls("")
    await records.delete_expired(60)
    await write_records(database, build_record(message="new"))
    assert [each.message for each in (await history.list_new_calls(cursor))[0]] == ["new"]


@postgres.needs_postgres
async def test_a_record_waits_for_open_transactions_that_may_precede_it(databases: dict[str, Database]):
    database = databases["postgres"]
    history = CallHistory(database)
    await write_records(database, build_record(message="before"))
    _, cursor = await history.list_new_calls("")
    engine = await database.get_engine()
    async with engine.connect() as slow, slow.begin():
        await slow.exec_driver_sql("SELECT pg_current_xact_id()")
        await write_records(database, build_record(message="quick"))
        assert (await history.list_new_calls(cursor))[0] == []
    assert [each.message for each in (await history.list_new_calls(cursor))[0]] == ["quick"]
