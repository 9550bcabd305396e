"""Runs of flows continue after their process is killed, and no step is repeated or skipped."""

import json
import os
import random
from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.flows.flow_file import parse_flow
from outrider.flows.flow_store import FlowStore
from support.apps.orders_site import OrdersSite
from support.databases import postgres, sqlite
from support.fakes import http_servers
from support.processes.fork_server import ForkedProcess, ForkServer

pytestmark = pytest.mark.anyio
KILLS = int(os.environ.get("OUTRIDER_KILLS", "2"))
KILLS_TIMEOUT_S = 120 * (KILLS + 4)
NAMES = ("Ada", "Bob", "Cid", "Dan")
STEPS = """  - each: people
    steps:
      - open: SITE/order
      - fill: Name
        text: ${row.name}
      - click: {role: button, name: Send}
        expect: {text: "Thanks, ${row.name}"}
        proof: {open: SITE/sent, text: "Order for ${row.name}", seconds: 2}
      - open: SITE/sent
      - extract: {page: true, columns: {title: {selector: h1}, who: {value: "${row.name}"}}}
"""


@pytest.fixture(scope="module")
def fork_server() -> Generator[ForkServer]:
    parts = ("outrider.app.*", "outrider.flows.*", "outrider.browser.*", "outrider.toolsets.*")
    server = ForkServer("support.processes.flow_worker", *parts, "aiosqlite", "sqlalchemy.ext.asyncio", "psycopg")
    yield server
    server.close()


@dataclass
class KillableRun:
    """A flow that several processes run in succession.

    Attributes:
        home: The folder of its project and data.
        database: The address of its database; empty for a file in the home.
    """

    fork_server: ForkServer
    home: Path
    site: OrdersSite
    url: str
    database: str
    kills: int = 0
    chance: random.Random = field(default_factory=lambda: random.Random(7))

    async def save_flow(self, name: str, steps: str) -> None:
        """Save it as a file, or on Postgres as a row."""
        head = f"flow: 1\nname: {name}\norigins: [{self.url}]\nparameters: {{people: {{columns: [name]}}}}\n"
        file = f"{head}steps:\n{steps.replace('SITE', self.url)}"
        database = Database(self.database) if self.database else Database.from_file(self.home / "unused.db")
        store = FlowStore(self.home, self.home / ".outrider", database=database)
        await anyio.to_thread.run_sync(lambda: store.save_flow(Call(), parse_flow(file, name), file=file))
        await database.close()

    async def run_once(self, name: str, *, is_killed: bool) -> dict[str, Any]:
        """Let a process run the flow until it ends, or is killed at some moment or when an order arrives."""
        given = json.dumps({"people": [{"name": f"{each} {name}"} for each in NAMES]})
        path = self.home / "output"
        environ = os.environ | {"HOME": str(self.home)}
        with path.open("w") as output:
            process = self.fork_server.fork_process([self.url, self.database, name, given], environ, self.home, output)
        try:
            await self.wait_for_line(process, path, 1)
            if not is_killed:
                await self.wait_for_line(process, path, 2)
            elif self.chance.random() < 0.5:
                await self.wait_for_order(process)
            else:
                await anyio.to_thread.run_sync(process.is_alive_after, self.chance.random() * 8)
        finally:
            await anyio.to_thread.run_sync(process.kill)
        self.kills += is_killed
        return json.loads(path.read_text().splitlines()[-1])

    async def wait_for_line(self, process: ForkedProcess, path: Path, count: int) -> None:
        while len(path.read_text().splitlines()) < count:
            if not await anyio.to_thread.run_sync(process.is_alive_after, 0.05):
                break

    async def wait_for_order(self, process: ForkedProcess) -> None:
        before = self.site.ordered.total()
        while self.site.ordered.total() == before:
            if not await anyio.to_thread.run_sync(process.is_alive_after, 0.002):
                break


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgres", marks=pytest.mark.nightly)])
@pytest.mark.nightly
async def test_killed_runs_continue_and_place_every_order_once(
    kind: str, tmp_path: Path, fork_server: ForkServer, request: pytest.FixtureRequest
):
    database = ""
    if kind == "postgres":
        postgres.require_programs()
        database = request.getfixturevalue("server").create_migrated_database()
    else:
        sqlite.create_migrated_file(tmp_path / ".outrider" / "outrider.db")
    site, expected = OrdersSite(), Counter[str]()
    with anyio.fail_after(KILLS_TIMEOUT_S):
        async with http_servers.serve_app(site) as url:
            run = KillableRun(fork_server, tmp_path, site, url, database)
            while run.kills < KILLS:
                name = f"order-{run.kills}"
                await run.save_flow(name, STEPS)
                expected.update({f"{each} {name}": 1 for each in NAMES})
                ended: dict[str, Any] = {}
                for _ in range(4):
                    ended = await run.run_once(name, is_killed=run.kills < KILLS)
                    if ended["state"] != "open":
                        break
                if ended["state"] == "open":
                    ended = await run.run_once(name, is_killed=False)
                assert ended["state"] == "done", ended
                assert site.ordered == expected


@pytest.mark.nightly
async def test_a_press_with_unknown_outcome_is_left_to_a_person(tmp_path: Path, fork_server: ForkServer):
    sqlite.create_migrated_file(tmp_path / ".outrider" / "outrider.db")
    steps = STEPS.partition("        proof")[0]
    site = OrdersSite()
    with anyio.fail_after(KILLS_TIMEOUT_S):
        async with http_servers.serve_app(site) as url:
            run = KillableRun(fork_server, tmp_path, site, url, "", chance=random.Random(1))
            await run.save_flow("blind", steps)
            assert run.chance.random() < 0.5
            run.chance.seed(1)
            await run.run_once("blind", is_killed=True)
            stopped = await run.run_once("blind", is_killed=False)
    assert stopped["state"] == "stopped"
    assert "unknown_effect" in stopped["text"]
    assert "unknownStep=done or again" in stopped["text"]
    assert site.ordered == {"Ada blind": 1}
