import json
import logging
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.core.call_records import CallRecord, CallRecorder
from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.errors import Unavailable
from outrider.core.tool import Tool
from support.timeouts import EVENT_TIMEOUT_S


async def do_nothing() -> str:
    return ""


TOOL = Tool("plant", "Plant", "", "read", do_nothing, toolset="garden")
Write = Callable[..., CallRecord]


def build_record(
    message: str = "", *, session: str = "s", arguments: dict[str, Any] | None = None, **call: Any
) -> CallRecord:
    about = Call(session=session, **call)
    return CallRecord.from_call(TOOL, about, arguments or {}, "ok", message, key=str(uuid4()), seconds=0.5, size=3)


@pytest.fixture
async def events(database: Database) -> CallRecorder:
    return CallRecorder(database)


async def list_messages(events: CallRecorder, limit: int = 50, session: str | None = None) -> list[str]:
    return [each.message for each in await events.list_recent(limit, session=session)]


async def test_a_record_is_read_back_unchanged(events: CallRecorder):
    given = build_record("done", arguments={"seed": "kale", "rows": [1, 2]}, assistant="a", thread="t", identity="i")
    events.record(given)
    assert await events.list_recent() == [given]


async def test_the_newest_come_first_and_no_more_than_asked_for(events: CallRecorder):
    for number in range(5):
        events.record(build_record(str(number)))
    assert await list_messages(events, 3) == ["4", "3", "2"]


async def test_records_of_one_session_can_be_listed(events: CallRecorder):
    events.record(build_record("mine", session="me"))
    events.record(build_record("yours", session="you"))
    assert await list_messages(events, session="me") == ["mine"]
    assert await list_messages(events, session="nobody") == []


async def test_records_are_written_together_a_moment_later(database: Database):
    events, reader = CallRecorder(database), CallRecorder(database)
    with anyio.fail_after(EVENT_TIMEOUT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(events.write_forever)
            for number in range(3):
                events.record(build_record(str(number)))
            assert await list_messages(reader) == []
            while not (written := await list_messages(reader)):
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
    assert written == ["2", "1", "0"]


async def test_writing_continues_for_later_records(database: Database):
    events, reader = CallRecorder(database), CallRecorder(database)
    with anyio.fail_after(EVENT_TIMEOUT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(events.write_forever)
            for number in range(2):
                events.record(build_record(str(number)))
                while len(await list_messages(reader)) <= number:
                    await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()


async def test_records_wait_for_an_unusable_database_with_one_log_entry(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    (tmp_path / "data").touch()
    database = Database.from_file(tmp_path / "data" / "outrider.db")
    events = CallRecorder(database)
    for number in range(3):
        events.record(build_record(str(number)))
        await events.flush()
    with pytest.raises(Unavailable):
        await events.list_recent()
    assert [record.getMessage().split(":")[0] for record in caplog.records] == ["call records wait in memory"]
    (tmp_path / "data").unlink()
    events.record(build_record("3"))
    assert await list_messages(events) == ["3", "2", "1", "0"]
    await database.close()


@pytest.mark.nightly
async def test_each_new_failure_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    folder = tmp_path / "data"
    for name in ("a", "b"):
        database = Database.from_file(folder / f"{name}.db")
        events = CallRecorder(database)
        folder.touch()
        events.record(build_record("first"))
        await events.flush()
        folder.unlink()
        await events.flush()
        await database.close()
        folder.rename(tmp_path / f"was {name}")
    assert len(caplog.records) == 2


async def test_a_record_that_was_written_by_a_cancelled_flush_is_not_written_twice(database: Database):
    first, second = CallRecorder(database), CallRecorder(database)
    same = build_record("once")
    first.record(same)
    await first.flush()
    second.record(same)
    second.record(build_record("new"))
    await second.flush()
    assert await list_messages(second) == ["new", "once"]


async def test_expired_records_are_deleted(events: CallRecorder):
    events.record(build_record("old"))
    await events.flush()
    assert await events.delete_expired(3600) == 0
    assert await events.delete_expired(0) == 1
    assert await list_messages(events) == []


async def test_flushing_at_the_same_time_writes_each_record_once(events: CallRecorder):
    async with anyio.create_task_group() as tasks:
        for number in range(10):
            events.record(build_record(str(number)))
            tasks.start_soon(events.flush)
    assert len(await list_messages(events)) == 10


async def test_long_arguments_and_messages_are_cut(events: CallRecorder):
    events.record(build_record("m" * 50_000, arguments={"text": "x" * 50_000}))
    kept = (await events.list_recent())[0]
    assert len(kept.message) == 1_000
    assert list(kept.arguments) == ["cut"]
    assert kept.arguments["cut"].startswith('{"text": "xxx')
    assert len(kept.arguments["cut"]) == 2_000


def build_endless_value() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["self"] = value
    return value


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ({"a": math.nan, "b": -math.inf}, {"a": "NaN", "b": "-Infinity"}),
        ({"path": Path("a")}, {"path": "a"}),
        ({"nul": "a\0b", "half": "a\ud800b"}, {"nul": "a\ufffdb", "half": "a?b"}),
        ({"key": {(1, 2): 3}}, {"cut": "1 arguments that are not JSON"}),
        (build_endless_value(), {"cut": "1 arguments that are not JSON"}),
    ],
    ids=["no numbers", "object", "odd letters", "odd keys", "endless"],
)
async def test_arguments_that_no_database_accepts_are_recorded_approximately(
    events: CallRecorder, arguments: dict[str, Any], kept: dict[str, Any]
):
    events.record(build_record(arguments=arguments))
    assert (await events.list_recent())[0].arguments == kept


async def test_a_call_with_invalid_characters_does_not_stop_other_records(events: CallRecorder):
    events.record(build_record("a\ud800\0", session="s\ud800" * 500, thread="t" * 500))
    events.record(build_record("plain"))
    assert await list_messages(events) == ["plain", "a?\ufffd"]
    odd = (await events.list_recent())[1]
    assert (len(odd.session), len(odd.thread or "")) == (200, 200)
    assert await list_messages(events, session="s\ud800" * 500) == ["a?\ufffd"]


@given(st.dictionaries(st.text(), st.text() | st.floats() | st.lists(st.text(st.characters()))))
def test_any_arguments_are_recorded_as_short_valid_json(arguments: dict[str, Any]):
    kept = build_record(arguments=arguments).arguments
    text = json.dumps(kept, ensure_ascii=False, allow_nan=False)
    assert len(text) <= 2 * 2_000 + 20
    assert "\0" not in text
    assert text.encode()


async def test_successful_writes_are_not_logged(events: CallRecorder, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.INFO, logger="outrider"):
        events.record(build_record())
        await events.flush()
    assert caplog.records == []
