"""Measure what it costs to store each step of an agent."""

import asyncio
import importlib
import sqlite3
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.peers import ROOT
from bench.tables import Comparison
from outrider.agents.run import Run, RunStore
from outrider.agents.steps import RunSteps
from outrider.core.database.database import Database

SQLITE_ROW, SQLITE_STEP, POSTGRES_STEP = "a row by sqlite3 itself", "a step in SQLite", "a step in Postgres"
STEP_COUNT = 300
STEP_RESULT = "It was seen that nothing has changed. " * 20


StepCost = tuple[float, float]  # total milliseconds, and CPU milliseconds of this process


def compare_durable_steps(turns: int) -> list[Comparison]:
    """Compare steps, each stored by two transactions, with rows of the same size."""
    found: dict[str, list[StepCost]] = {SQLITE_ROW: [], SQLITE_STEP: []}
    with tempfile.TemporaryDirectory() as folder, _start_postgres() as address:
        for turn in range(turns):
            found[SQLITE_ROW].append(_time_sqlite_rows(Path(folder) / f"row{turn}.db"))
            found[SQLITE_STEP].append(
                asyncio.run(_time_run_steps(f"sqlite+aiosqlite:///{folder}/steps{turn}.db", turn))
            )
            if address:
                found.setdefault(POSTGRES_STEP, []).append(asyncio.run(_time_run_steps(address, turn)))
    wall = {name: [duration[0] for duration in every] for name, every in found.items()}
    cpu = {name: [duration[1] for duration in every] for name, every in found.items()}
    return [
        Comparison("wall milliseconds of a durable step", SQLITE_ROW, wall),
        Comparison("CPU milliseconds of a durable step", SQLITE_ROW, cpu),
    ]


def _time_sqlite_rows(path: Path) -> StepCost:
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("CREATE TABLE steps (run TEXT, key TEXT, result TEXT, PRIMARY KEY (run, key))")
    started = time.perf_counter(), time.process_time()
    for number in range(STEP_COUNT):
        connection.execute("INSERT INTO steps VALUES (?, ?, ?)", ("run", str(number), STEP_RESULT))
    duration = _measure_step_cost(started)
    connection.close()
    return duration


def _measure_step_cost(began: StepCost) -> StepCost:
    wall, cpu = time.perf_counter() - began[0], time.process_time() - began[1]
    return wall * 1_000 / STEP_COUNT, cpu * 1_000 / STEP_COUNT


async def _time_run_steps(url: str, turn: int) -> StepCost:
    database = Database(url)
    try:
        run, steps = await _add_run(database, turn), RunSteps(database, "bench")
        await steps.start_step(run, "first", 0, "look", {})
        started = time.perf_counter(), time.process_time()
        for number in range(STEP_COUNT):
            await steps.start_step(run, f"call_{number}", number, "look", {"text": "again"})
            await steps.finish_step(
                run, f"call_{number}", outcome="ok", seconds=0.0, result={"text": STEP_RESULT, "sources": {}}
            )
        return _measure_step_cost(started)
    finally:
        await database.close()


async def _add_run(database: Database, turn: int) -> Run:
    """Add a run that this process works on."""
    now, name = time.time(), f"run_{turn}"
    empty: dict[str, Any] = {name: {} for name in ("definition", "budgets", "usage", "state")}
    texts = dict.fromkeys(("answer", "thoughts", "query", "workspace"), "")
    fixed = {
        "id": name,
        "root_run_id": name,
        "conversation_id": "c",
        "message_id": "m",
        "agent": "bench",
        "session": "s",
    }
    counts = {"attempt": 1, "depth": 0, "ancestors": [], "created_at": now, "updated_at": now}
    made, _ = await RunStore(database).add_run(
        empty | texts | fixed | counts | {"status": "running", "executor": "bench"}
    )
    return made


@contextmanager
def _start_postgres() -> Generator[str]:
    """Start a server, and yield an empty database's address, or "" without Postgres."""
    sys.path.insert(0, str(ROOT / "tests"))
    postgres = importlib.import_module("support.databases.postgres")
    programs = postgres.find_programs()
    if programs is None:
        yield ""
        return
    with postgres.start_empty_database(programs) as url:
        yield url
