import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.core.database.database import Database
from outrider.search.failures import ERROR_CLASSES, REQUEST_FAILURES
from outrider.search.health import FAILURE_THRESHOLD, MAX_PAUSE_S, TRIAL_S, ProviderHealth
from outrider.search.health_ledger import HealthLedger
from support.databases import sqlite

pytestmark = pytest.mark.anyio
OUTCOMES = st.lists(
    st.tuples(st.sampled_from(["ok", *ERROR_CLASSES]), st.floats(0, 500), st.none() | st.floats(0, 5_000)), max_size=30
)


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def build_health(*codes: str, health: ProviderHealth | None = None, now: float = 0.0) -> ProviderHealth:
    health = health or ProviderHealth()
    for code in codes:
        health = health.record_success(now, 1.0) if code == "ok" else health.record_failure(now, code)
    return health


@given(OUTCOMES)
def test_success_and_failure_counts_always_add_up(outcomes):
    health, now = ProviderHealth(), 0.0
    for code, passed, wait in outcomes:
        now += passed
        health = health.record_success(now, passed) if code == "ok" else health.record_failure(now, code, wait)
    assert health.successes == sum(code == "ok" for code, _, _ in outcomes)
    assert health.failures == sum(health.kinds.values()) == len(outcomes) - health.successes
    assert health.latency is None or 0 <= health.latency <= 500
    assert health.streak <= health.failures
    assert health.open_until is None or health.open_until >= 0


@given(OUTCOMES)
def test_a_success_closes_every_circuit(outcomes):
    health = ProviderHealth()
    for code, passed, wait in outcomes:
        health = health.record_success(0, passed) if code == "ok" else health.record_failure(0, code, wait)
    assert health.record_success(0, 1.0).find_block(0) is None


@given(st.lists(st.sampled_from(sorted(REQUEST_FAILURES)), max_size=20))
def test_failures_that_are_not_the_providers_fault_open_no_circuit(codes):
    assert build_health(*codes).find_block(0) is None


def test_the_circuit_opens_after_three_failures_in_a_row_and_longer_each_time():
    assert build_health("timeout", "timeout", "ok", "timeout", "timeout").find_block(0) is None
    pauses = [
        build_health(*["timeout"] * times).open_until or 0.0
        for times in range(FAILURE_THRESHOLD, FAILURE_THRESHOLD + 12)
    ]
    assert pauses[0] > 0
    assert pauses == sorted(pauses)
    assert pauses[-1] == MAX_PAUSE_S


@pytest.mark.parametrize("code", ["captcha", "blocked", "auth", "quota"])
def test_failures_that_a_retry_cannot_fix_open_the_circuit_at_once(code):
    why = build_health(code).find_block(1)
    assert why is not None
    assert why[0] == "circuit_open"
    assert code in why[1]


def test_a_rate_limited_provider_pauses_as_long_as_it_asked():
    health = ProviderHealth().record_failure(100, "rate_limited", 17)
    assert health.find_block(116) == ("rate_limited", "it asked for a pause of another 1 seconds")
    assert health.find_block(117) is None


def test_after_the_pause_one_caller_tries_and_the_others_wait():
    health = build_health("captcha")
    later = (health.open_until or 0.0) + 1
    assert health.find_block(later) is None
    assert health.is_half_open(later)
    trying = health.begin_trial(later)
    assert trying.find_block(later + TRIAL_S - 1) is not None
    assert trying.find_block(later + TRIAL_S) is None


async def test_processes_share_health_records(tmp_path: Path):
    clock = Clock()
    here, there = (Database.from_file(sqlite.create_migrated_file(tmp_path / "x.db")) for _ in range(2))
    one, other = HealthLedger(here, clock), HealthLedger(there, clock)
    await one.update("brave", lambda health: health.record_failure(clock(), "captcha"))
    await other.update("brave", lambda health: health.record_failure(clock(), "timeout"))
    await other.update("you", lambda health: health.record_success(clock(), 2.0, 99))
    known = await one.load()
    assert known["brave"].kinds == {"captcha": 1, "timeout": 1}
    assert known["you"].quota_left == 99
    assert one.get("brave").streak == 2
    await here.close()
    await there.close()


async def rename_table(database: Database, before: str, after: str) -> None:
    """Remove or restore the ledger's table, so that the database is reachable but does not work."""
    from sqlalchemy import text

    async with database.write() as connection:
        await connection.execute(text(f"ALTER TABLE {before} RENAME TO {after}"))


async def test_without_a_database_the_ledger_continues_in_memory(tmp_path: Path, caplog):
    caplog.set_level(logging.WARNING)
    clock, database = Clock(), Database.from_file(sqlite.create_migrated_file(tmp_path / "x.db"))
    await rename_table(database, "search_health", "gone")
    ledger = HealthLedger(database, clock)
    for _ in range(3):
        await ledger.load()
        await ledger.update("brave", lambda health: health.record_failure(clock(), "timeout"))
        clock.now += 1_000
    assert ledger.get("brave").failures == 3
    assert caplog.text.count("memory only") == 1
    await database.close()


async def test_a_returning_database_does_not_erase_newer_records(tmp_path: Path):
    clock, database = Clock(), Database.from_file(sqlite.create_migrated_file(tmp_path / "x.db"))
    await rename_table(database, "search_health", "gone")
    ledger = HealthLedger(database, clock)
    await ledger.update("brave", lambda health: health.record_failure(clock(), "timeout"))
    await rename_table(database, "gone", "search_health")
    clock.now += 1_000
    await ledger.update("brave", lambda health: health.record_failure(clock(), "timeout"))
    assert (await ledger.load())["brave"].failures == 2
    await database.close()
