"""Scheduled flows run once when due, even if processes die, and failures are reported."""

import html
import os
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from outrider.app import App, open_app
from outrider.core.background import run_background
from outrider.core.context import Call
from outrider.core.errors import OutriderError
from outrider.dashboard.server import DashboardServer
from outrider.flows.approvals import FlowApprovals
from outrider.flows.flow_runs import build_owner_key
from outrider.flows.flow_store import FlowStore
from outrider.settings import load
from support.apps.orders_site import OrdersSite
from support.databases import sqlite
from support.fakes import http_servers
from support.fakes.webhook_receiver import WebhookReceiver
from support.processes import outrider_command
from support.timeouts import PROCESS_TIMEOUT_S, SCENARIO_TIMEOUT_S

pytestmark = [pytest.mark.anyio, pytest.mark.time_limit(SCENARIO_TIMEOUT_S)]
DAY_S = 86_400
SECRET = "a-secret-of-the-webhook"
ORDER = """  - open: SITE/order
  - fill: Name
    text: ${name}
  - click: {role: button, name: Send}
    expect: {text: "Thanks, ${name}"}
    proof: {open: SITE/sent, text: "Order for ${name}", seconds: 2}
"""


@dataclass
class Shop:
    """A shop that takes orders, and a project whose flow orders there."""

    home: Path
    site: OrdersSite
    url: str
    hook: WebhookReceiver
    app: App

    def write_flow(self, steps: str = ORDER, name: str = "order", head: str = "name: {default: Ada}") -> None:
        file = self.home / ".outrider" / "flows" / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        top = f"flow: 1\nname: {name}\norigins: [{self.url}]\nparameters: {{{head}}}\nsteps:\n"
        file.write_text(top + steps.replace("SITE", self.url))

    async def schedule(self, name: str = "order", cron: str = "0 7 * * *", **more: Any) -> dict[str, Any]:
        return (await self.app.call("scheduleFlow", name=name, cron=cron, **more)).data

    async def let_time_pass(self) -> None:
        """Let three scheduled times pass without a run."""
        async with self.app.database.write() as connection:
            await connection.exec_driver_sql(f"UPDATE flow_schedules SET next_at = next_at - {3 * DAY_S + DAY_S}")

    async def list_runs(self) -> list[dict[str, Any]]:
        return (await self.app.call("listFlowRuns")).data["runs"]

    @asynccontextmanager
    async def open_another(self) -> AsyncGenerator[App]:
        """Another process of the same project, as far as the database can tell."""
        async with open_app(self.app.loaded) as app:
            yield app


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncGenerator[Shop]:
    site, hook = OrdersSite(), WebhookReceiver()
    async with http_servers.serve_app(site) as url, http_servers.serve_app(hook) as hook_url:
        values = {
            "toolsets": ["browser", "flows"],
            "egress": {"allow": [url.removeprefix("http://")]},
            "watches": {"notices": {"ops": {"webhook": hook_url, "secret_env": "HOOK"}}},
            "flows": {"notify": ["ops"]},
        }
        environ = {"HOOK": SECRET}
        loaded = load(values, environ=environ, home=tmp_path, workspace=tmp_path)
        async with open_app(sqlite.prepare_database(loaded)) as app:
            yield Shop(tmp_path, site, url, hook, app)


async def test_a_schedule_that_cannot_work_is_refused_with_its_reason(shop: Shop):
    shop.write_flow()
    shop.write_flow(name="needs", head="name: {}")
    shop.write_flow(name="secret", head="name: {secret: true}")
    wrong: dict[str, dict[str, Any]] = {
        "cron: 'every day' does not have five fields": {"cron": "every day"},
        "cron: '61' is not a field": {"cron": "61 * * * *"},
        f"cron: '*/{'9' * 60}' is not": {"cron": f"*/{'9' * 60} * * * *"},
        "cron: '0 0 31 2 *' matches no existing day": {"cron": "0 0 31 2 *"},
        "timezone: 'Mars/Olympus' is not a known time zone": {"timezone": "Mars/Olympus"},
        "timezone: '../../etc/passwd' is not": {"timezone": "../../etc/passwd"},
        "notify: no notice 'boss'": {"notify": ["boss"]},
        "name: no flow 'nothing'": {"name": "nothing"},
        "name": {"name": "needs"},
        "name is a secret, and schedules do not store secrets": {"name": "secret", "parameters": {"name": "hunter2"}},
    }
    for message, given in wrong.items():
        with pytest.raises(OutriderError) as raised:
            await shop.schedule(**given)
        assert message in raised.value.message, (message, raised.value.message)
    assert (await shop.app.call("listFlowSchedules")).data["schedules"] == []
    with pytest.raises(OutriderError, match="has no schedule"):
        await shop.app.call("unscheduleFlow", name="order")


@pytest.mark.nightly
async def test_missed_times_cause_a_single_run_and_only_failures_are_reported(shop: Shop):
    shop.write_flow()
    scheduled = await shop.schedule(timezone="Europe/Berlin", parameters={"name": "Eve"})
    assert scheduled["timezone"] == "Europe/Berlin"
    assert await shop.app.flow_scheduler.engine.run_due() == []
    await shop.let_time_pass()
    ended = await shop.app.flow_scheduler.engine.run_due()
    again = await shop.app.flow_scheduler.engine.run_due()

    assert ([run.state for run in ended], again) == (["done"], [])
    assert shop.site.ordered == {"Eve": 1}
    assert shop.hook.events == []
    assert (await shop.list_runs())[0]["scheduled"] is True
    listed = (await shop.app.call("listFlowSchedules")).data["schedules"][0]
    assert listed["nextAt"] == scheduled["nextAt"], "it is due tomorrow as before"

    shop.write_flow(ORDER.replace("name: Send}", "name: Send, attributes: {id: was-other}, under: Order}"))
    await shop.let_time_pass()
    assert [(run.state, run.healed) for run in await shop.app.flow_scheduler.engine.run_due()] == [("done", 1)]
    shop.write_flow("  - open: SITE/order\n  - click: {role: button, name: Gone}\n")
    await shop.let_time_pass()
    assert [run.state for run in await shop.app.flow_scheduler.engine.run_due()] == ["stopped"]
    (shop.home / ".outrider/flows/order.yaml").unlink()
    await shop.let_time_pass()
    await shop.app.flow_scheduler.engine.run_due()

    assert [(event["type"], event["signed"]) for event in shop.hook.events] == [
        ("flow.healed", True),
        ("flow.stopped", True),
        ("flow.stopped", True),
    ]
    assert [event["data"]["message"].partition(":")[0] for event in shop.hook.events] == [
        "",
        "not_found",
        "unknown_flow",
    ]
    await shop.app.call("unscheduleFlow", name="order")
    await shop.let_time_pass()
    assert await shop.app.flow_scheduler.engine.run_due() == []


async def test_a_step_that_asks_a_person_runs_unattended_only_in_the_approved_version(shop: Shop):
    shop.write_flow(ORDER.replace("    expect", "    ask: true\n    expect"))
    scheduled = await shop.schedule()
    assert "is not approved" in scheduled["notes"][0]
    program = FlowStore(shop.home, shop.home / ".outrider").load_program(Call(), "order")

    async def run() -> str:
        await shop.let_time_pass()
        return (await shop.app.flow_scheduler.engine.run_due())[0].message.partition(":")[0]

    before = await run()
    untouched = shop.site.ordered.copy()
    await FlowApprovals(shop.app.database).approve(build_owner_key(Call()), program, by="terminal")
    approved = await run()
    shop.write_flow(ORDER.replace("    expect", "    ask: true\n    note: changed\n    expect"))
    changed = await run()

    assert (before, approved, changed) == ("not_approved", "", "not_approved")
    assert (untouched, shop.site.ordered) == (Counter(), {"Ada": 1})
    assert [event["type"] for event in shop.hook.events] == ["flow.stopped", "flow.stopped"]


async def test_a_flow_with_an_added_site_does_not_run_unattended(shop: Shop):
    shop.write_flow()
    await shop.schedule()
    file = shop.home / ".outrider" / "flows" / "order.yaml"
    file.write_text(file.read_text().replace("origins: [", "origins: [http://elsewhere.example, "))
    await shop.let_time_pass()
    ended = await shop.app.flow_scheduler.engine.run_due()

    assert ended == []
    assert "was changed and now uses http://elsewhere.example" in (await shop.list_runs())[0]["message"]
    assert not shop.site.ordered


async def test_two_processes_make_one_run_and_a_replaced_schedule_is_a_new_one(shop: Shop):
    shop.write_flow()
    await shop.schedule()
    await shop.let_time_pass()
    async with shop.open_another() as other, anyio.create_task_group() as tasks:
        for app in (shop.app, other):
            tasks.start_soon(app.flow_scheduler.engine.run_due)
    assert shop.site.ordered == {"Ada": 1}

    schedules = shop.app.flow_scheduler.engine.schedules
    await shop.let_time_pass()
    (seen,) = await schedules.list_due()
    program = FlowStore(shop.home, shop.home / ".outrider").load_program(Call(), "order")
    await shop.app.call("unscheduleFlow", name="order")
    await shop.schedule(parameters={"name": "Bob"})
    assert await schedules.start_run(seen, program) is None, "what was seen is not there any more"


async def test_a_run_whose_process_died_before_it_started_is_made_by_another(shop: Shop):
    shop.write_flow()
    await shop.schedule()
    await shop.let_time_pass()
    schedules = shop.app.flow_scheduler.engine.schedules
    (seen,) = await schedules.list_due()
    program = FlowStore(shop.home, shop.home / ".outrider").load_program(Call(), "order")
    options = {"stateId": None, "waitSeconds": 10.0, "keepOpen": False, "withheld": {}}
    await schedules.start_run(replace(seen, options=options), program)  # and here it dies
    await shop.let_time_pass()
    async with shop.open_another() as other:
        ended = await other.flow_scheduler.engine.run_due()
    listed = (await shop.app.call("listFlowSchedules")).data["schedules"][0]

    assert [run.state for run in ended] == ["done"]
    assert shop.site.ordered == {"Ada": 1}
    assert "had not ended" in listed["problem"]


async def test_a_notice_that_cannot_be_signed_is_shown_with_its_remedy_beside_its_run(shop: Shop):
    shop.write_flow("  - open: SITE/order\n  - click: {role: button, name: Gone}\n")
    await shop.schedule()
    await shop.let_time_pass()
    loaded = replace(shop.app.loaded, environ={})
    async with open_app(loaded) as app:
        ended = await app.flow_scheduler.engine.run_due()
        listed = await app.call("listFlowRuns", name="order")
        dashboard = DashboardServer(app.dashboard_services())
        await dashboard.start()
        async with httpx2.AsyncClient(base_url=dashboard.base_url, timeout=PROCESS_TIMEOUT_S) as client:
            await client.get("/", params={"token": dashboard.sign_in_url.partition("token=")[2]})
            pages = [html.unescape((await client.get(path)).text) for path in ("/flows", f"/flows/runs/{ended[0].id}")]
        await dashboard.aclose()

    problem = "ops: the environment variable HOOK with the webhook's secret is not set; set it where Outrider starts"
    assert ended[0].notice_problems[0].startswith(problem)
    assert listed.data["runs"][0]["notices"][0].startswith(problem)
    assert f"notice not sent: {problem}" in listed.text
    assert all(problem in page for page in pages)
    assert shop.hook.events == []


async def test_a_serving_process_executes_due_runs_and_reports_failures(shop: Shop):
    shop.write_flow("  - open: SITE/order\n  - click: {role: button, name: Gone}\n")
    await shop.schedule()
    await shop.let_time_pass()
    async with run_background(shop.app.run_schedules):
        shop.app.flow_scheduler.engine.wake()
        await shop.hook.came.wait()
    assert shop.hook.events[0]["data"]["flow"] == "order"


@pytest.mark.nightly
async def test_the_commands_schedule_list_run_and_unschedule_flows(shop: Shop):
    shop.write_flow()
    # Without the shared process, which would run due flows before `run-due` does.
    environ = os.environ | {"HOME": str(shop.home), "OUTRIDER_DAEMON": "false"}
    environ["OUTRIDER_EGRESS__ALLOW"] = shop.url.removeprefix("http://")

    async def run(*words: str) -> tuple[int, str]:
        command = outrider_command.build_command("flow", *words)
        ended = await anyio.run_process(command, check=False, env=environ, cwd=shop.home)
        return ended.returncode, (ended.stdout + ended.stderr).decode()

    added = await run("schedule", "order", "name=Grace", "--cron", "0 7 * * *", "--timezone", "Europe/Berlin")
    listed = await run("schedules")
    wrong = await run("schedule", "order", "--cron", "0 0 30 2 *")
    await shop.let_time_pass()
    due = await run("run-due")
    removed = await run("unschedule", "order")
    empty = await run("schedules")

    assert added[0] == 0, added
    assert "order: 0 7 * * * (Europe/Berlin), next at 2" in listed[1]
    assert (wrong[0], "matches no existing day" in wrong[1]) == (2, True)
    assert (due[0], "1 run was due" in due[1]) == (0, True), due
    assert shop.site.ordered == {"Grace": 1}
    assert removed[0] == 0
    assert "No flow has a schedule" in empty[1]
