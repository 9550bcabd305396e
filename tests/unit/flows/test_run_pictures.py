"""Pictures of the pages where runs stopped are limited, and are deleted with their runs."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from outrider.core.context import Call
from outrider.core.database.address import build_sqlite_url
from outrider.core.database.database import Database
from outrider.flows.flow_history import FlowHistory
from outrider.flows.flow_runs import FlowRuns, StopPage
from outrider.flows.program import FlowProgram, load_program
from outrider.flows.run import RunPicture
from support.databases import sqlite

pytestmark = pytest.mark.anyio
FLOW = "flow: 1\nname: order\norigins: [https://tea.example]\nsteps:\n  - open: https://tea.example/\n"
STOP = StopPage("1", "order 1", "", RunPicture(b"a picture", "image/png"))


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    found = Database(build_sqlite_url(sqlite.create_migrated_file(tmp_path / "outrider.db")))
    yield found
    await found.close()


@pytest.fixture
def program() -> FlowProgram:
    return load_program("order", lambda _: FLOW)


async def test_only_the_last_hundred_stopped_runs_keep_pictures_until_they_are_deleted(
    database: Database, program: FlowProgram
):
    runs, history = FlowRuns(database), FlowHistory(database)
    stopped = [await runs.create_run(Call(), program, {}, {}) for _ in range(102)]
    for run in stopped:
        await runs.end_run(run, run.lease, "stopped", stop_page=STOP)
    kept = [run for run in stopped if await history.has_picture(run.id)]
    lease = await runs.claim_run(await runs.load_run(Call(), stopped[-1].id))
    await runs.end_run(stopped[-1], lease, "done")
    is_outdated_kept = await history.has_picture(stopped[-1].id)
    async with database.write() as connection:
        await connection.exec_driver_sql("UPDATE flow_runs SET ended_at = 0")
    await runs.create_run(Call(), program, {}, {})  # the old runs have expired
    async with database.read() as connection:
        left = (await connection.exec_driver_sql("SELECT count(*) FROM flow_run_pictures")).scalar()

    assert kept == stopped[2:]
    assert not is_outdated_kept
    assert left == 0
