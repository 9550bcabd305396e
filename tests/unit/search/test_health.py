import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.core.db import Database
from outrider.search.failures import HARMLESS, KINDS
from outrider.search.health import LONGEST, TRIAL, TRIP, Health, Ledger
from support.databases import sqlite

pytestmark = pytest.mark.anyio
OUTCOMES = st.lists(
    st.tuples(st.sampled_from(["ok", *KINDS]), st.floats(0, 500), st.none() | st.floats(0, 5_000)), max_size=30
)


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def after(*codes: str, health: Health | None = None, now: float = 0.0) -> Health:
    health = health or Health()
    for code in codes:
        health = health.succeeded(now, 1.0) if code == "ok" else health.failed(now, code)
    return health


@given(OUTCOMES)
def test_the_record_adds_up_whatever_happens(outcomes):
    health, now = Health(), 0.0
    for code, passed, wait in outcomes:
        now += passed
        health = health.succeeded(now, passed) if code == "ok" else health.failed(now, code, wait)
    assert health.successes == sum(code == "ok" for code, _, _ in outcomes)
    assert health.failures == sum(health.kinds.values()) == len(outcomes) - health.successes
    assert health.latency is None or 0 <= health.latency <= 500
    assert health.streak <= health.failures
    assert health.open_until is None or health.open_until >= 0


@given(OUTCOMES)
def test_a_success_closes_every_circuit(outcomes):
    health = Health()
    for code, passed, wait in outcomes:
        health = health.succeeded(0, passed) if code == "ok" else health.failed(0, code, wait)
    assert health.succeeded(0, 1.0).why_not(0) is None


@given(st.lists(st.sampled_from(sorted(HARMLESS)), max_size=20))
def test_what_is_not_the_providers_fault_opens_nothing(codes):
    assert after(*codes).why_not(0) is None


def test_the_circuit_opens_after_three_failures_in_a_row_and_longer_each_time():
    assert after("timeout", "timeout", "ok", "timeout", "timeout").why_not(0) is None
    pauses = [after(*["timeout"] * times).open_until or 0.0 for times in range(TRIP, TRIP + 12)]
    assert pauses[0] > 0
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST


@pytest.mark.parametrize("code", ["captcha", "blocked", "auth", "quota"])
def test_what_calling_again_cannot_cure_opens_it_at_once(code):
    why = after(code).why_not(1)
    assert why is not None
    assert why[0] == "circuit_open"
    assert code in why[1]


def test_a_limited_provider_rests_as_long_as_it_asked():
    health = Health().failed(100, "rate_limited", 17)
    assert health.why_not(116) == ("rate_limited", "it asked to wait another 1 seconds")
    assert health.why_not(117) is None


def test_after_the_pause_one_caller_tries_and_the_others_wait():
    health = after("captcha")
    later = (health.open_until or 0.0) + 1
    assert health.why_not(later) is None
    assert health.half_open(later)
    trying = health.trying(later)
    assert trying.why_not(later + TRIAL - 1) is not None
    assert trying.why_not(later + TRIAL) is None


async def test_processes_share_what_they_learn(tmp_path: Path):
    clock = Clock()
    here, there = (Database.file(sqlite.migrated(tmp_path / "x.db")) for _ in range(2))
    one, other = Ledger(here, clock), Ledger(there, clock)
    await one.change("brave", lambda health: health.failed(clock(), "captcha"))
    await other.change("brave", lambda health: health.failed(clock(), "timeout"))
    await other.change("you", lambda health: health.succeeded(clock(), 2.0, 99))
    known = await one.load()
    assert known["brave"].kinds == {"captcha": 1, "timeout": 1}
    assert known["you"].quota_left == 99
    assert one.get("brave").streak == 2
    await here.close()
    await there.close()


async def rename_table(database: Database, before: str, after: str) -> None:
    """Takes the ledger's table away, or gives it back: a database that is there and does not work."""
    from sqlalchemy import text

    async with database.write() as connection:
        await connection.execute(text(f"ALTER TABLE {before} RENAME TO {after}"))


async def test_without_a_database_the_ledger_goes_on_in_memory(tmp_path: Path, caplog):
    caplog.set_level(logging.WARNING)
    clock, database = Clock(), Database.file(sqlite.migrated(tmp_path / "x.db"))
    await rename_table(database, "search_health", "gone")
    ledger = Ledger(database, clock)
    for _ in range(3):
        await ledger.load()
        await ledger.change("brave", lambda health: health.failed(clock(), "timeout"))
        clock.now += 1_000
    assert ledger.get("brave").failures == 3
    assert caplog.text.count("memory only") == 1
    await database.close()


async def test_a_database_that_comes_back_does_not_undo_what_was_learned(tmp_path: Path):
    clock, database = Clock(), Database.file(sqlite.migrated(tmp_path / "x.db"))
    await rename_table(database, "search_health", "gone")
    ledger = Ledger(database, clock)
    await ledger.change("brave", lambda health: health.failed(clock(), "timeout"))
    await rename_table(database, "gone", "search_health")
    clock.now += 1_000
    await ledger.change("brave", lambda health: health.failed(clock(), "timeout"))
    assert (await ledger.load())["brave"].failures == 2
    await database.close()
