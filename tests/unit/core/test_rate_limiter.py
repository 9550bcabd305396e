"""Rates apply to all processes on one Postgres, and to a single process elsewhere."""

import os
import subprocess
import time
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from outrider.core.database.database import Database
from outrider.core.rate_limiter import RateLimiter
from support.databases import postgres
from support.processes import python_source
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = pytest.mark.anyio
# Takes turns for two seconds, and prints the time of each by the machine's clock.
TAKER = """
import sys, time
import anyio
from outrider.core.database.database import Database
from outrider.core.rate_limiter import RateLimiter

async def main():
    database = Database(sys.argv[1])
    rates = RateLimiter(database)
    async with database.read():
        pass
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(int(sys.argv[2])):
        assert await rates.acquire("host", 20, 1)
        print(time.time(), flush=True)
    await database.close()
anyio.run(main)
"""


@pytest.fixture(params=["alone", "postgres"])
async def rates(request: pytest.FixtureRequest) -> AsyncGenerator[RateLimiter]:
    if request.param == "alone":
        yield RateLimiter(None)
        return
    database = Database(request.getfixturevalue("server").create_migrated_database())
    yield RateLimiter(database)
    await database.close()


async def measure_seconds(rates: RateLimiter, turns: int, calls: float, period: float, name: str = "host") -> float:
    started = time.monotonic()
    async with anyio.create_task_group() as tasks:
        for _ in range(turns):
            tasks.start_soon(rates.acquire, name, calls, period)
    return time.monotonic() - started


async def test_a_burst_passes_at_once_and_later_calls_are_spaced(rates: RateLimiter):
    assert await measure_seconds(rates, 10, 5, 1) > 0.95


async def test_rates_below_one_per_second_are_kept(rates: RateLimiter):
    assert await measure_seconds(rates, 3, 1, 0.4) > 0.75


async def test_names_do_not_wait_for_each_other(rates: RateLimiter):
    assert await rates.acquire("one", 1, 3600)
    with anyio.fail_after(EVENT_TIMEOUT_S):
        assert await rates.acquire("other", 1, 3600)


async def test_a_wait_beyond_the_limit_is_refused_and_reserves_nothing(rates: RateLimiter):
    assert await rates.acquire("host", 1, 2)
    assert not all([await rates.acquire("host", 1, 2, max_wait_s=0.0) for _ in range(20)])
    assert await rates.acquire("host", 1, 2, max_wait_s=30)


async def test_a_turn_that_comes_too_late_is_refused_without_waiting(rates: RateLimiter):
    assert await rates.acquire("host", 1, 3_600)
    with anyio.fail_after(EVENT_TIMEOUT_S):
        assert not await rates.acquire("host", 1, 3_600, max_wait_s=600)


async def test_a_caller_that_gives_up_leaves_its_turn_to_the_next():
    rates = RateLimiter(None)
    assert await rates.acquire("host", 1, 3_600)
    for _ in range(3):
        with anyio.move_on_after(0.01) as waiting:  # the second turn is in an hour, the third would be in two
            await rates.acquire("host", 1, 3_600, max_wait_s=4_000)
        assert waiting.cancelled_caught


async def test_two_processes_together_keep_the_rate(server: postgres.PostgresServer):
    address = server.create_migrated_database()
    each, rate = 25, 20
    command = python_source.build_command(TAKER, address, each)
    takers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
        for _ in range(2)
    ]
    for taker in takers:
        assert taker.stdout
        assert taker.stdout.readline() == "ready\n"
    for taker in takers:
        assert taker.stdin
        taker.stdin.write("go\n")
        taker.stdin.flush()
    printed = [taker.communicate(timeout=120)[0] for taker in takers]
    turns = sorted(float(line) for text in printed for line in text.split())
    assert len(turns) == 2 * each
    # The first `rate` turns come at once, the others at that rate, for any number of processes.
    assert turns[-1] - turns[0] > (2 * each - rate) / rate * 0.6  # half of it, if each process counted separately


async def test_without_its_server_the_process_counts_for_itself(server: postgres.PostgresServer):
    database = Database(server.create_migrated_database())
    rates = RateLimiter(database)
    assert await rates.acquire("host", 1, 0.2)
    await database.close()
    server.stop()
    try:
        with anyio.fail_after(EVENT_TIMEOUT_S):
            assert await rates.acquire("host", 1, 0.2)
            assert await rates.acquire("host", 1, 0.2)
    finally:
        server.start()
        await database.close()


async def test_with_sqlite_the_database_is_not_opened(tmp_path: Path):
    database = Database.from_file(tmp_path / "x.db")
    assert await RateLimiter(database).acquire("host", 5, 1)
    assert not (tmp_path / "x.db").exists()
