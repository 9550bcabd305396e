"""A team's flows are rows in Postgres: every replica has them, and each caller sees only their own."""

import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from outrider.app import App, open_app
from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, OutriderError
from outrider.core.grant import Grant
from outrider.flows.approvals import FlowApprovals
from outrider.flows.flow_runs import build_owner_key
from outrider.settings import load
from support.apps.orders_site import OrdersSite
from support.databases import postgres
from support.fakes import http_servers
from support.processes import outrider_command
from support.timeouts import SCENARIO_TIMEOUT_S

pytestmark = [pytest.mark.anyio, pytest.mark.time_limit(SCENARIO_TIMEOUT_S * 4), postgres.needs_postgres]
ORDER = """flow: 1
name: order
description: Order tea
origins: [SITE]
parameters: {name: {default: Ada}}
steps:
  # the form
  - open: SITE/order
  - fill: Name
    text: ${name}
  - click: {role: button, name: Send}
    expect: {text: "Thanks, ${name}"}
"""


@dataclass
class Team:
    """Two replicas with one Postgres and no folder in common, and a shop that takes orders."""

    folder: Path
    site: OrdersSite
    url: str
    database: str
    apps: list[App]

    @property
    def order(self) -> str:
        return ORDER.replace("SITE", self.url)

    def build_settings(self) -> dict[str, Any]:
        allowed = [self.url.removeprefix("http://")]
        return {"toolsets": ["browser", "flows"], "database": self.database, "egress": {"allow": allowed}}

    async def run_command(self, *words: str) -> tuple[int, str]:
        """Run the command in an empty folder, as on another machine."""
        home = self.folder / "terminal"
        home.mkdir(exist_ok=True)
        environ = os.environ | {"HOME": str(home), "OUTRIDER_DATABASE": self.database, "OUTRIDER_DAEMON": "false"}
        environ["OUTRIDER_EGRESS__ALLOW"] = self.url.removeprefix("http://")
        ended = await anyio.run_process(
            outrider_command.build_command("flow", *words), check=False, env=environ, cwd=home
        )
        return ended.returncode, (ended.stdout + ended.stderr).decode()

    def list_flow_files(self) -> list[Path]:
        return [each for each in self.folder.rglob("*.yaml") if "flows" in each.parts]


@pytest.fixture
async def team(tmp_path: Path, server: postgres.PostgresServer) -> AsyncGenerator[Team]:
    site, database = OrdersSite(), server.create_migrated_database()
    async with http_servers.serve_app(site) as url, AsyncExitStack() as stack:
        made = Team(tmp_path, site, url, database, [])
        for name in ("first", "second"):
            home = tmp_path / name
            home.mkdir()
            loaded = load(made.build_settings(), environ={}, home=home, workspace=home)
            made.apps.append(await stack.enter_async_context(open_app(loaded)))
        yield made
    server.drop_database(database)


async def test_a_flow_saved_by_one_replica_is_listed_run_repaired_and_deleted_by_another(team: Team):
    first, second = team.apps
    session = (await first.call("createSession", url=f"{team.url}/order")).data["sessionId"]
    await first.call("inputText", sessionId=session, selector="[name=name]", text="Ada")
    await first.call("clickElement", sessionId=session, selector="button=Send")
    saved = await first.call("saveFlow", sessionId=session, name="order", description="Order tea")
    await first.call("closeSession", sessionId=session)
    listed = (await second.call("listFlows")).data["flows"]
    ran = await second.call("runFlow", name="order", parameters={"name": "Grace"})
    shown = (await first.call("showFlow", name="order")).text
    renamed = shown[shown.index("flow: 1") : shown.rindex("\n<")].replace("name: Send", "name: Archive")
    await second.call("saveFlow", Call(answer=True), name="order", file=renamed, replace=True)
    stopped = await first.call("runFlow", name="order", waitSeconds=1, keepOpen=False)
    repaired = await second.call("repairFlow", runId=stopped.data["runId"], element='button "Send"')
    resumed = await first.call("runFlow", name="order")
    versions = (await first.call("showFlow", name="order", version="all")).text
    oldest = (await first.call("showFlow", name="order", version=1)).text
    await second.call("deleteFlow", name="order")
    assert "path" not in saved.data
    assert [(each["name"], each["description"]) for each in listed] == [("order", "Order tea")]
    assert ran.data["ok"], ran.text
    assert stopped.data["reason"] == "not_found", stopped.text
    assert repaired.data["version"] == 3
    assert resumed.data["ok"], resumed.text
    assert team.site.ordered == {"Ada": 2, "Grace": 1}
    assert [line[:9] for line in versions.splitlines() if line.startswith("Version")] == [
        "Version 3",
        "Version 2",
        "Version 1",
    ]
    assert "+version: 2" in versions
    assert "name: Send" in oldest
    assert team.list_flow_files() == []
    assert (await first.call("listFlows")).data["flows"] == []


@pytest.mark.nightly
async def test_callers_may_have_flows_of_the_same_name_and_do_not_see_each_others(team: Team):
    first, second = team.apps
    ann, bob = (Call(workspace="acme", identity=name, grant=Grant("tok")) for name in ("ann", "bob"))
    guest = Call(workspace="other", identity="ann", grant=Grant("tok"))
    for call, words in ((ann, "tea for Ann"), (bob, "tea for Bob")):
        await first.call(
            "saveFlow", replace(call, answer=True), name="order", file=team.order.replace("Order tea", words)
        )
    for call, words in ((ann, "tea for Ann"), (bob, "tea for Bob")):
        assert words in (await second.call("showFlow", call, name="order")).text
    for call in (guest, Call(), Call(workspace="acme", identity="bob2", grant=Grant("tok"))):
        assert (await second.call("listFlows", call)).data["flows"] == []
        for tool, more in (("showFlow", {"version": 1}), ("deleteFlow", {}), ("runFlow", {})):
            with pytest.raises(OutriderError, match="no flow 'order'"):
                await second.call(tool, call, name="order", **more)
    await second.call("deleteFlow", bob, name="order")
    assert "tea for Ann" in (await first.call("showFlow", ann, name="order")).text


async def test_people_named_by_a_host_have_their_own_flows_and_approvals(team: Team):
    first, second = team.apps
    ann, bob = (Call(workspace="acme", identity=name, answer=True) for name in ("ann", "bob"))
    asking = team.order.replace("    expect", "    ask: true\n    expect")
    approvals = FlowApprovals(first.database)
    for call in (ann, bob):
        await first.call("saveFlow", call, name="order", file=asking)
    program = await anyio.to_thread.run_sync(second.flow_store.load_program, ann, "order")
    await approvals.approve(build_owner_key(ann), program, by="ann")

    assert (await second.call("runFlow", replace(ann, answer=None), name="order")).data["ok"]
    with pytest.raises(AnswerNeeded):
        await second.call("runFlow", replace(bob, answer=None), name="order")
    await approvals.approve(build_owner_key(bob), program, by="bob")
    assert await approvals.is_approved(build_owner_key(ann), program), "his approval takes nobody's away"
    for call, states in ((ann, ["done"]), (bob, ["waiting"]), (Call(), [])):
        assert [run["state"] for run in (await first.call("listFlowRuns", call)).data["runs"]] == states
    assert (await first.call("listFlows", Call())).data["flows"] == [], "a host that names no one has its own"


async def test_of_two_simultaneous_saves_neither_is_lost_silently(team: Team):
    await team.apps[0].call("saveFlow", Call(answer=True), name="order", file=team.order)
    accepted, refused = {"Order tea"}, []

    async def save(app: App, words: str) -> None:
        try:
            await app.call(
                "saveFlow", Call(answer=True), name="order", file=team.order.replace("Order tea", words), replace=True
            )
            accepted.add(words)
        except OutriderError as error:
            refused.append(error.code)

    for number in range(8):
        async with anyio.create_task_group() as tasks:
            for place, app in enumerate(team.apps):
                tasks.start_soon(save, app, f"tea {number} of {place}")
    kept = await anyio.to_thread.run_sync(team.apps[1].flow_store.list_versions, Call(), "order")
    assert {each.text.partition("description: ")[2].partition("\n")[0] for each in kept} == accepted
    assert [each.version for each in kept] == list(range(len(accepted), 0, -1))
    assert set(refused) <= {"flow_changed"}
    assert len(accepted) + len(refused) == 17


async def test_the_terminal_moves_flows_between_files_and_rows(team: Team):
    home = team.folder / "terminal"
    home.mkdir()
    (home / "order.yaml").write_text(team.order)
    saved = await team.run_command("save", "order.yaml")
    again = await team.run_command("save", "order.yaml")
    ran = await team.run_command("run", "order", "name=Grace")
    exported = await team.run_command("export", "order", "--to", "yaml")
    tested = await team.run_command("export", "order")
    assert saved == (0, "Saved order: 3 steps, version 1.\n")
    assert again[0] == 2
    assert "exists already" in again[1]
    assert ran[0] == 0, ran[1]
    assert exported == (0, team.order)
    assert "page.goto" in tested[1]
    assert "# the form" in (await team.apps[0].call("showFlow", name="order")).text
    assert team.list_flow_files() == []


@pytest.mark.nightly
async def test_any_remaining_replica_runs_a_schedule(team: Team):
    first, second = team.apps
    await first.call("saveFlow", Call(answer=True), name="order", file=team.order)
    await first.call("scheduleFlow", name="order", cron="0 7 * * *", parameters={"name": "Grace"})
    async with second.database.write() as connection:
        await connection.exec_driver_sql("UPDATE flow_schedules SET next_at = next_at - 259200")
    ended = await second.flow_scheduler.engine.run_due()
    assert [run.state for run in ended] == ["done"], ended
    assert team.site.ordered == {"Grace": 1}
    assert [each["name"] for each in (await second.call("listFlowSchedules")).data["schedules"]] == ["order"]
