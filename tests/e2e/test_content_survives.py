"""After kill -9 at any moment, acknowledged contents exist, and the index agrees with the rows.

`OUTRIDER_KILLS=200 pytest tests/e2e/test_content_survives.py` does two hundred rounds.
"""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from outrider.content.lexical.store_file import StoreFile
from outrider.content.search import SearchOptions
from outrider.content.stores import ContentStores
from outrider.core.database.database import Database
from support.processes.content_writer import CRASH_CALL
from support.processes.fork_server import ForkServer

pytestmark = pytest.mark.anyio
ROUNDS = int(os.environ.get("OUTRIDER_KILLS", "20"))
PROGRAM = Path(__file__).parents[1] / "support" / "processes" / "content_writer.py"
MIN_CHANGES = 5  # acknowledged changes before the kill, so that it does not only hit the start


@pytest.fixture(scope="module")
def fork_server() -> Generator[ForkServer]:
    needed = ("outrider.content.*", "outrider.core.database.*", "sqlalchemy.ext.asyncio", "aiosqlite", "numpy")
    made = ForkServer("support.processes.content_writer", *needed)
    yield made
    made.close()


def kill_writers(fork_server: ForkServer, folder: Path, seed: int, *, writers: int = 1) -> list[dict[str, Any]]:
    """Run writers until a moment drawn from the seed, kill them, and return their output."""
    chance = random.Random(seed)
    outputs = [folder / f"said-{seed}-{number}" for number in range(writers)]
    started = []
    for number, output in enumerate(outputs):
        with output.open("w") as file:
            started.append(fork_server.fork_process([str(folder), str(seed * 10 + number)], os.environ, folder, file))
    end = time.monotonic() + 60
    while any(output.read_text().count("\n") < MIN_CHANGES for output in outputs):
        assert time.monotonic() < end
        assert started[0].is_alive_after(0.01)
        assert all(process.is_alive_after(0) for process in started)
    assert started[0].is_alive_after(chance.random() * 0.15)
    for process in started:
        process.kill()
    said = [line for output in outputs for line in output.read_text().splitlines()]
    return [json.loads(line) for line in said if line.endswith("}")]


async def check_database(folder: Path, said: list[dict[str, Any]]) -> None:
    """Check that rows are whole, acknowledged changes exist, and searches find exactly the rows' texts."""
    database = Database.from_file(folder / "outrider.db")
    content = ContentStores(database, folder / "content")
    records = {each.id: each for each in (await content.list_records(CRASH_CALL, limit=1_000))[0]}
    deleted = {each["deleted"] for each in said if "deleted" in each}
    assert not deleted & records.keys()
    for each in said:
        if "kept" in each and each["kept"] not in deleted and (record := records.get(each["kept"])):
            assert record.version >= each["version"]
    owns = {}
    for record in records.values():
        text = (await content.read_lines(CRASH_CALL, record.id)).text
        assert len(text) == record.characters
        owns[text.split("\n")[0]] = record
    for own, record in list(owns.items())[:30]:
        found = await content.search(CRASH_CALL, own, SearchOptions(top_n=5))
        assert {hit.content_id for hit in found.hits} == {record.id}
        assert found.hits[0].chunk_id.startswith(f"{record.id}.{record.version}.")
    for each in said:
        if "own" in each and each["own"] not in owns:
            assert not (await content.search(CRASH_CALL, each["own"])).hits
    store = await content.get_store(CRASH_CALL)
    assert store.chunk_count == sum(each.chunk_count for each in records.values())
    await content.close()
    file = StoreFile(folder / "content" / "keywords", store.id)
    file.check_integrity()
    assert file.read_matches([], None)[1].chunks == store.chunk_count
    file.close()
    await database.close()


@pytest.mark.nightly
async def test_acknowledged_writes_survive_any_kill_and_the_index_matches(fork_server: ForkServer, tmp_path: Path):
    history: list[dict[str, Any]] = []
    for seed in range(ROUNDS):
        history += await anyio.to_thread.run_sync(kill_writers, fork_server, tmp_path, seed)
        await check_database(tmp_path, history[-200:])
    assert len(history) >= ROUNDS * MIN_CHANGES


@pytest.mark.nightly
async def test_two_processes_writing_the_same_store_are_killed_without_losses(fork_server: ForkServer, tmp_path: Path):
    for seed in range(100, 100 + max(ROUNDS // 6, 2)):
        shoot = partial(kill_writers, fork_server, tmp_path, seed, writers=2)
        said = await anyio.to_thread.run_sync(shoot)
        await check_database(tmp_path, said)


@pytest.mark.parametrize("size", [900_000, 1_700_000])
@pytest.mark.nightly
async def test_a_full_disk_is_a_clear_error_and_loses_nothing(tmp_path: Path, size: int):
    command = [sys.executable, PROGRAM, tmp_path, "1", str(size)]
    ended = await anyio.to_thread.run_sync(
        lambda: subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    )
    *said, error = [json.loads(line) for line in ended.stdout.splitlines()]
    assert error["code"] in {"database", "index"}
    assert "free space" in error["hint"]
    assert said
    await check_database(tmp_path, said)
