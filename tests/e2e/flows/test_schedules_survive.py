"""If a replica is killed, another one finishes its scheduled run; each order and notice happens once."""

import json
import os
import random
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from outrider.app import App, open_app
from outrider.core.context import Call
from outrider.settings import load
from support.apps.orders_site import OrdersSite
from support.databases import postgres, sqlite
from support.fakes import http_servers
from support.fakes.webhook_receiver import WebhookReceiver
from support.processes.fork_server import ForkedProcess, ForkServer

pytestmark = [pytest.mark.anyio, pytest.mark.nightly]
KILLS = int(os.environ.get("OUTRIDER_KILLS", "4"))
KILLS_TIMEOUT_S = 120 * (KILLS + 2)
NAMES = ("Ada", "Bob", "Cid")
# The button's id differs from the recorded one, and a successful run says so.
FLOW = """flow: 1
name: order
origins: [SITE]
parameters: {people: {columns: [name]}}
steps:
  - each: people
    steps:
      - open: SITE/order
      - fill: Name
        text: ${row.name}
      - click: {role: button, name: Send, under: Order, attributes: {id: another}}
        expect: {text: "Thanks, ${row.name}"}
        proof: {open: SITE/sent, text: "Order for ${row.name}", seconds: 2}
"""


@pytest.fixture(scope="module")
def fork_server() -> Generator[ForkServer]:
    parts = ("outrider.app.*", "outrider.flows.*", "outrider.browser.*", "outrider.toolsets.*")
    server = ForkServer("support.processes.flow_replica", *parts, "aiosqlite", "sqlalchemy.ext.asyncio", "psycopg")
    yield server
    server.close()


@dataclass
class Replicas:
    """Replicas of one project that run its flow when due; one of them is killed each time."""

    fork_server: ForkServer
    home: Path
    values: dict[str, Any]
    app: App
    site: OrdersSite
    hook: WebhookReceiver
    stack: ExitStack
    chance: random.Random = field(default_factory=lambda: random.Random(11))

    async def start(self) -> ForkedProcess:
        """Start a replica and wait until it looks for work."""
        path = self.home / "output"
        with path.open("w") as output:
            environ = os.environ | {"HOME": str(self.home)}
            process = self.fork_server.fork_process([json.dumps(self.values)], environ, self.home, output)
        self.stack.callback(process.kill)
        while not path.read_text():
            assert await anyio.to_thread.run_sync(process.is_alive_after, 0.05)
        return process

    async def make_due(self, number: int) -> None:
        """Make a schedule for three orders due."""
        people = [{"name": f"{each} {number}"} for each in NAMES]
        await self.app.call("scheduleFlow", name="order", cron="0 7 * * *", parameters={"people": people})
        async with self.app.database.write() as connection:
            await connection.exec_driver_sql("UPDATE flow_schedules SET next_at = 0")

    async def kill_at_some_moment(self, process: ForkedProcess, number: int) -> ForkedProcess:
        """Kill a replica in the middle of its run; return the other replica, which still runs."""
        while len(await self.list_runs()) <= number:
            assert await anyio.to_thread.run_sync(process.is_alive_after, 0.02)
        other = await self.start()
        if self.chance.random() < 0.5:
            before = self.site.ordered.total()
            while self.site.ordered.total() == before and not len(self.hook.events) > number:
                assert await anyio.to_thread.run_sync(process.is_alive_after, 0.002)
        else:
            await anyio.to_thread.run_sync(process.is_alive_after, self.chance.random() * 3)
        await anyio.to_thread.run_sync(process.kill)
        return other

    async def list_runs(self) -> Sequence[Any]:
        """Returns states and attempts of the runs of the schedule."""
        async with self.app.database.read() as connection:
            return (await connection.exec_driver_sql("SELECT state, attempts FROM flow_runs")).all()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_a_due_run_of_a_killed_replica_is_finished_by_another_and_reported_once(
    kind: str, tmp_path: Path, fork_server: ForkServer, request: pytest.FixtureRequest
):
    site, hook, expected, database = OrdersSite(), WebhookReceiver(), Counter[str](), ""
    if kind == "postgres":
        postgres.require_programs()
        database = request.getfixturevalue("server").create_migrated_database()
    async with http_servers.serve_app(site) as url, http_servers.serve_app(hook) as hook_url:
        values = {
            "toolsets": ["browser", "flows"],
            "egress": {"allow": [url.removeprefix("http://")]},
            "watches": {"notices": {"ops": {"webhook": hook_url}}},
            "flows": {"notify": ["ops"]},
            "database": database,
        }
        loaded = sqlite.prepare_database(load(values, environ={}, home=tmp_path, workspace=tmp_path))
        with anyio.fail_after(KILLS_TIMEOUT_S), ExitStack() as stack:
            async with open_app(loaded) as app:
                await app.call("saveFlow", Call(answer=True), name="order", file=FLOW.replace("SITE", url))
                replicas = Replicas(fork_server, tmp_path, values, app, site, hook, stack)
                process = await replicas.start()
                for number in range(KILLS):
                    await replicas.make_due(number)
                    process = await replicas.kill_at_some_moment(process, number)
                    await hook.wait_for(number + 1)
                    expected.update({f"{each} {number}": 1 for each in NAMES})
                    assert site.ordered == expected, number
                runs = await replicas.list_runs()
    # A receiver drops known ids, because a replica may die after sending a notice and before recording it.
    told = {event["id"]: event["type"] for event in hook.events}
    print(f"{kind}: {KILLS} kills, {sum(attempts > 1 for _, attempts in runs)} runs taken over, {len(told)} notices")
    assert [state for state, _ in runs] == ["done"] * KILLS
    assert max(attempts for _, attempts in runs) > 1
    assert list(told.values()) == ["flow.healed"] * KILLS
