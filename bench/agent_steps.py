"""What it costs to write a step of an agent down, so that another process could go on after it."""

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

from bench.figures import Measured
from bench.peers import ROOT
from outrider.agents.run import Run, RunStore
from outrider.agents.steps import RunSteps
from outrider.core.database.database import Database

ROW, SQLITE, POSTGRES = "a row by sqlite3 itself", "a step in SQLite", "a step in Postgres"
STEPS = 300
TEXT = "It was seen that nothing has changed. " * 20


Took = tuple[float, float]  # milliseconds in all, and of this process's processor


def durable(turns: int) -> list[Measured]:
    """A step, begun and ended by two transactions as tools are, beside a row of the same weight."""
    found: dict[str, list[Took]] = {ROW: [], SQLITE: []}
    with tempfile.TemporaryDirectory() as folder, _postgres() as address:
        for turn in range(turns):
            found[ROW].append(_row(Path(folder) / f"row{turn}.db"))
            found[SQLITE].append(asyncio.run(_steps(f"sqlite+aiosqlite:///{folder}/steps{turn}.db", turn)))
            if address:
                found.setdefault(POSTGRES, []).append(asyncio.run(_steps(address, turn)))
    wall = {name: [took[0] for took in every] for name, every in found.items()}
    cpu = {name: [took[1] for took in every] for name, every in found.items()}
    return [
        Measured("wall milliseconds of a durable step", ROW, wall),
        Measured("CPU milliseconds of a durable step", ROW, cpu),
    ]


def _row(path: Path) -> Took:
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("CREATE TABLE steps (run TEXT, key TEXT, result TEXT, PRIMARY KEY (run, key))")
    began = time.perf_counter(), time.process_time()
    for number in range(STEPS):
        connection.execute("INSERT INTO steps VALUES (?, ?, ?)", ("run", str(number), TEXT))
    took = _since(began)
    connection.close()
    return took


def _since(began: Took) -> Took:
    wall, cpu = time.perf_counter() - began[0], time.process_time() - began[1]
    return wall * 1_000 / STEPS, cpu * 1_000 / STEPS


async def _steps(url: str, turn: int) -> Took:
    database = Database(url)
    try:
        run, steps = await _run(database, turn), RunSteps(database, "bench")
        await steps.start_step(run, "first", 0, "look", {})
        began = time.perf_counter(), time.process_time()
        for number in range(STEPS):
            await steps.start_step(run, f"call_{number}", number, "look", {"text": "again"})
            await steps.finish_step(
                run, f"call_{number}", outcome="ok", seconds=0.0, result={"text": TEXT, "sources": {}}
            )
        return _since(began)
    finally:
        await database.close()


async def _run(database: Database, turn: int) -> Run:
    """A run that this process is said to work on."""
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
def _postgres() -> Generator[str]:
    """An empty database of a server of our own; empty text where none is installed."""
    sys.path.insert(0, str(ROOT / "tests"))
    postgres = importlib.import_module("postgres")
    programs = postgres.found()
    if programs is None:
        yield ""
        return
    with postgres.running(programs) as url:
        yield url
