"""Test that counters shared by processes never exceed their limit."""

import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest

from outrider.core.database.database import Database
from outrider.identity.counters import QuotaCounters
from support.databases import sqlite
from support.timeouts import EVENT_TIMEOUT_S, PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio
END = int(time.time()) + 3_600


@pytest.fixture
async def open_replicas(tmp_path: Path) -> AsyncGenerator[list[QuotaCounters]]:
    """Three processes' counters, as far as the database can tell."""
    async with AsyncExitStack() as stack:
        databases = [Database.from_file(sqlite.create_migrated_file(tmp_path / "a.db")) for _ in range(3)]
        for each in databases:
            stack.push_async_callback(each.close)
        yield [QuotaCounters(each) for each in databases]


async def count_calls(counters: QuotaCounters, tries: int, limit: int, name: str = "x", ends: int = END) -> int:
    return sum([await counters.count_one(name, ends, limit) for _ in range(tries)])


@pytest.mark.parametrize("limit", [1, 7, 99, 250, 5_000])
async def test_replicas_together_never_exceed_the_limit_and_come_close_to_it(
    open_replicas: list[QuotaCounters], limit: int
):
    done: list[int] = []

    async def work(counters: QuotaCounters) -> None:
        done.append(await count_calls(counters, limit, limit))

    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with anyio.create_task_group() as tasks:
            for each in open_replicas:
                tasks.start_soon(work, each)
    assert limit - 2 * max(1, min(50, limit // 100)) < sum(done) <= limit


async def test_one_replica_gets_exactly_the_limit(open_replicas: list[QuotaCounters]):
    assert await count_calls(open_replicas[0], 130, 123) == 123


async def test_windows_and_names_are_counted_apart(open_replicas: list[QuotaCounters]):
    assert await count_calls(open_replicas[0], 5, 2) == 2
    assert await count_calls(open_replicas[0], 5, 2, ends=END + 60) == 2
    assert await count_calls(open_replicas[0], 5, 2, name="y") == 2


async def test_calls_at_once_in_one_process_are_counted_once_each(open_replicas: list[QuotaCounters]):
    got: list[bool] = []

    async def one() -> None:
        got.append(await open_replicas[0].count_one("x", END, 10))

    with anyio.fail_after(EVENT_TIMEOUT_S):
        async with anyio.create_task_group() as tasks:
            for _ in range(40):
                tasks.start_soon(one)
    assert sum(got) == 10


async def test_a_slot_is_reserved_before_work_starts_and_can_be_released(open_replicas: list[QuotaCounters]):
    first, second, _ = open_replicas
    assert await first.reserve("runs", 2, lambda _: 0)
    assert await second.reserve("runs", 2, lambda _: 0)
    assert not await first.reserve("runs", 2, lambda _: 0)
    await second.release("runs")
    assert not await first.reserve("runs", 2, lambda _: 1)
    assert await first.reserve("runs", 2, lambda _: 0)


async def test_a_slot_reserved_by_a_dead_process_is_free_after_a_minute(tmp_path: Path):
    now = time.time()
    database = Database.from_file(sqlite.create_migrated_file(tmp_path / "b.db"))
    try:
        counters = QuotaCounters(database, clock=lambda: now)
        assert await counters.reserve("runs", 1, lambda _: 0)
        assert not await counters.reserve("runs", 1, lambda _: 0)
        now += 61
        assert await counters.reserve("runs", 1, lambda _: 0)
    finally:
        await database.close()
