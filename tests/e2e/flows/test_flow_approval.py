"""Steps with high stakes ask in each run, unless a person has approved exactly these files."""

import os
import pty
import re
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.types import CallToolResult, ElicitResult

from outrider.core.context import Call
from outrider.core.grant import Grant
from outrider.dashboard.server import DashboardServer
from support.apps import identity_app, loopback_app
from support.apps.mcp_clients import FormAnswerer
from support.fakes import http_servers
from support.processes import outrider_command
from support.results import read_error
from support.timeouts import PROCESS_TIMEOUT_S, SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio
SHOP = """<title>Shop</title><h1>Shop</h1><button onclick="document.title += 1">Buy</button>
<button onclick="if (confirm('Delete all?')) document.querySelector('p').textContent = 'Deleted'">Delete</button><p></p>
<button onclick="setTimeout(() => prompt('Why?'), 300)">Later</button>"""


class Shopper:
    """A client who is asked before steps, and the terminal of the same person."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = ""
        self.asked: list[str] = []
        self.allows = True
        self.client: Client

    async def answer(self, context: Any, params: Any) -> ElicitResult:
        self.asked.append(params.message)
        return ElicitResult(action="accept", content={"allow": self.allows})

    def write(self, steps: str, name: str = "buy") -> None:
        file = self.folder / ".outrider" / "flows" / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"flow: 1\nname: {name}\norigins: [{self.url}]\nsteps:\n{steps.replace('SITE', self.url)}")

    async def run(self, name: str = "buy", **more: Any) -> CallToolResult:
        with anyio.fail_after(SCENARIO_TIMEOUT_S):
            return await self.client.call_tool("runFlow", {"name": name, "keepOpen": False, **more})

    async def type_command(self, *words: str, answer: str = "") -> str:
        """Run a command at a terminal and answer its question; return its output."""
        command, environ = outrider_command.build_command(*words), os.environ | {"HOME": str(self.folder)}
        ours, theirs = pty.openpty()
        with anyio.fail_after(SCENARIO_TIMEOUT_S):
            process = subprocess.Popen(
                command, stdin=theirs, stdout=theirs, stderr=theirs, env=environ, cwd=self.folder
            )
            os.close(theirs)
            os.write(ours, f"{answer}\n".encode())
            shown = await anyio.to_thread.run_sync(read_to_end, ours)
            await anyio.to_thread.run_sync(process.wait)
        os.close(ours)
        return shown


def read_to_end(terminal: int) -> str:
    pieces = []
    while True:
        try:
            pieces.append(os.read(terminal, 65_536))
        except OSError:  # the other side is closed
            return b"".join(pieces).decode()
        if not pieces[-1]:
            return b"".join(pieces).decode()


@pytest.fixture
async def shopper(tmp_path: Path) -> AsyncGenerator[Shopper]:
    site, person = loopback_app.build_page_site({"/": SHOP}), Shopper(tmp_path)
    with chdir(tmp_path):
        async with (
            loopback_app.open_loopback_app(tmp_path, site, more={"toolsets": ["browser", "flows"]}) as service,
            Client(service.app.build_server(), elicitation_callback=person.answer) as client,
        ):
            person.client, person.url = client, service.site_url
            yield person


async def test_an_approved_flow_asks_again_only_after_its_file_or_one_it_runs_changes(shopper: Shopper):
    steps = "  - open: SITE/\n  - click: Buy\n    ask: true\n"
    shopper.write(steps, "inner")
    shopper.write("  - flow: inner\n")
    counts: list[int] = []

    async def count_questions() -> None:
        before = len(shopper.asked)
        result = await shopper.run()
        assert not result.is_error, result.content
        counts.append(len(shopper.asked) - before)

    await count_questions()
    declined = await shopper.type_command("flow", "approve", "buy", answer="yes")
    await count_questions()
    approved = await shopper.type_command("flow", "approve", "buy", answer="buy")
    await count_questions()
    shopper.write(f"{steps}    note: changed\n", "inner")
    await count_questions()
    shopper.write(steps, "inner")
    await count_questions()
    await shopper.type_command("flow", "unapprove", "buy")
    await count_questions()
    piped = await anyio.run_process(
        outrider_command.build_command("flow", "approve", "buy"),
        input=b"buy\n",
        check=False,
        env=os.environ | {"HOME": str(shopper.folder)},
        cwd=shopper.folder,
    )
    tools = {tool.name for tool in (await shopper.client.list_tools()).tools}

    assert counts == [1, 1, 0, 1, 0, 1]
    assert "Nothing was approved" in declined
    assert "Approved buy" in approved
    assert "(ask)" in approved
    assert shopper.url in approved
    assert (piped.returncode, b"at a terminal" in piped.stderr) == (2, True)
    assert not {name for name in tools if "pprove" in name}


async def test_a_flow_that_a_model_wrote_is_saved_only_with_consent_and_never_approved(shopper: Shopper):
    shopper.write("  - open: SITE/\n  - click: Buy\n    ask: true\n")
    kept = shopper.folder / ".outrider" / "flows" / "buy.yaml"
    text = kept.read_text()
    await shopper.type_command("flow", "approve", "buy", answer="buy")
    await shopper.run()
    assert shopper.asked == [], "it was approved"

    await shopper.client.call_tool("deleteFlow", {"name": "buy"})
    shopper.allows = False
    refused = await shopper.client.call_tool("saveFlow", {"name": "buy", "file": text})
    assert (read_error(refused)["kind"], kept.exists()) == ("refused", False)
    shopper.allows = True
    await shopper.client.call_tool("saveFlow", {"name": "buy", "file": text})
    assert kept.read_text() == text
    assert all(f"buy acts on {shopper.url}" in question and "click" in question for question in shopper.asked)
    await shopper.run()
    assert len(shopper.asked) == 3, "two for saving, and one for its step although the very same file was approved"

    (shopper.folder / "mine.yaml").write_text(text.replace("name: buy", "name: mine"))
    assert "Saved mine" in await shopper.type_command("flow", "save", "mine.yaml"), "a person's command is consent"


async def test_an_unanswered_dialog_stops_the_flow_with_its_own_reason(shopper: Shopper):
    start, press = "  - open: SITE/\n", "  - click: Delete\n"
    expect = "    expect: {text: Deleted, seconds: 2}\n"
    cases = {
        start + press + expect: "unexpected_dialog",
        start + press: "unexpected_dialog",
        f"{start}  - click: Later\n    expect: {{text: Deleted, seconds: 1}}\n": "unexpected_dialog",
        f"{start}  - dialog: accept\n{press}{expect}": "",
        f"{start}  - dialog: dismiss\n{press}": "",
    }
    for steps, reason in cases.items():
        shopper.write(steps)
        result = await shopper.run()
        assert (read_error(result)["code"] if result.is_error else "") == reason, (steps, result.content)
    shopper.write(start + press + expect)
    error = read_error(await shopper.run(keepOpen=True))
    assert "a confirm dialog asks 'Delete all?'" in error["message"]
    assert error["details"]["fromStep"] == 2
    again = await shopper.client.call_tool("resumeFlow", {"runId": error["details"]["runId"]})
    assert read_error(again)["code"] == "unexpected_dialog", "the dismissed press is tried again"


@pytest.mark.nightly
async def test_a_dialog_that_was_dismissed_while_recording_is_dismissed_again(shopper: Shopper):
    opened = await shopper.client.call_tool("createSession", {"url": f"{shopper.url}/"})
    session = opened.structured_content["sessionId"]
    await shopper.client.call_tool("clickElement", {"sessionId": session, "selector": "button=Delete"})
    await shopper.client.call_tool("saveFlow", {"name": "recorded", "sessionId": session})
    ran = await shopper.run("recorded")
    assert "dialog: dismiss" in (shopper.folder / ".outrider/flows/recorded.yaml").read_text()
    assert not ran.is_error, ran.content


@dataclass
class Team:
    """People who sign in, the operator's dashboard, and a shop."""

    app: identity_app.ServedApp
    operator: httpx2.AsyncClient
    shop: str
    folder: Path

    def write(self, person: str, note: str = "none") -> None:
        folder = Call(workspace="acme", identity=person, grant=Grant("")).owner_folder
        file = self.folder / "data" / "flows" / folder / "buy.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        steps = f"  - open: {self.shop}/\n  - click: Buy\n    ask: true\n    note: {note}\n"
        file.write_text(f"flow: 1\nname: buy\norigins: [{self.shop}]\nsteps:\n{steps}")

    async def run_twice(self, token: str, form: FormAnswerer) -> None:
        async with self.app.connect_client(token, answer_form=form) as client:
            ran = [await client.call_tool("runFlow", {"name": "buy", "keepOpen": False}) for _ in range(2)]
        assert not any(each.is_error for each in ran), ran

    async def show(self, path: str) -> str:
        return (await self.operator.get(path, headers={"accept": "text/html"})).text


@asynccontextmanager
async def open_team(folder: Path) -> AsyncGenerator[Team]:
    async with http_servers.serve_app(loopback_app.build_page_site({"/": SHOP})) as shop:
        more = {"toolsets": ["browser", "flows"], "egress": {"allow": [shop.removeprefix("http://")]}}
        async with identity_app.open_served_app(folder, data_dir=str(folder / "data"), **more) as app:
            dashboard = DashboardServer(app.app.dashboard_services())
            await dashboard.start()
            try:
                origin = {"origin": dashboard.base_url.rstrip("/")}
                async with httpx2.AsyncClient(
                    base_url=dashboard.base_url, timeout=PROCESS_TIMEOUT_S, headers=origin
                ) as operator:
                    await sign_in_by_name(operator, app)
                    with anyio.fail_after(SCENARIO_TIMEOUT_S):
                        yield Team(app, operator, shop, folder)
            finally:
                await dashboard.aclose()


async def sign_in_by_name(operator: httpx2.AsyncClient, app: identity_app.ServedApp) -> None:
    """Sign in with a token issued for the dashboard; only the form accepts it."""
    for_tools = await app.issue_token("olga", "acme")
    record, token = await app.app.identity().tokens.create("olga", toolsets=["dashboard"])
    revoked, ended = await app.app.identity().tokens.create("olga", toolsets=["dashboard"])
    _, for_viewing = await app.app.identity().tokens.create("olga", role="viewer", toolsets=["dashboard"])
    in_address = await operator.get("/", params={"token": token})
    codes = [
        (await operator.post("/signin", data={"token": each})).status_code for each in (for_tools, for_viewing, ended)
    ]
    await app.app.identity().tokens.revoke(revoked.id)
    lost = await operator.get("/flows")
    again = await operator.post("/signin", data={"token": ended})
    signed_in = await operator.post("/signin", data={"token": token})
    assert [in_address.status_code, *codes, lost.status_code, again.status_code, signed_in.status_code] == [
        401,
        401,
        401,
        303,
        401,
        401,
        303,
    ]
    assert not [each for each in (token, record.id) if each in str(signed_in.headers)]


async def test_people_who_sign_in_approve_flows_separately_in_a_form(tmp_path: Path):
    async with open_team(tmp_path) as team:
        lasting = {person: FormAnswerer(lambda fields: dict.fromkeys(fields, True)) for person in ("ann", "bob")}
        once = FormAnswerer(lambda _: {"allow": True})
        tokens = {person: await team.app.issue_token(person, "acme") for person in lasting}
        for person, form in lasting.items():
            team.write(person)
            await team.run_twice(tokens[person], form)
        team.write("ann", "changed")
        await team.run_twice(tokens["ann"], once)
        refused = await approve_on_the_dashboard(team, tokens["ann"])
        links = re.findall(r'href="[^"]*(/flows/buy\?owner=[0-9a-f]{64})"', await team.show("/flows"))
        shown = {name: page for page in [await team.show(link) for link in links] for name in lasting if name in page}
        mixed = await team.show("/flows/buy")
        decided = [(each.person, each.action) for each in await team.app.app.identity().audit.list_recent()]

    offered = lasting["ann"].forms[0].requested_schema
    assert [len(form.forms) for form in (*lasting.values(), once)] == [1, 1, 2], "one's approval is for nobody else"
    assert offered["required"] == ["allow"]
    assert f"acts on {team.shop}" in offered["properties"]["always"]["description"]
    assert (refused["code"], "resumeFlow with runId=" in refused["hint"]) == ("consent_needed", True), refused
    assert "outrider flow approve" not in refused["hint"], "a terminal has no flows of people who sign in"
    assert len(links) == 2, "each has a flow of that name"
    assert ("of ann in acme" in shown["ann"], "by olga (dashboard)" in shown["ann"]) == (True, True)
    assert ("of bob in acme" in shown["bob"], "by olga" in shown["bob"]) == (True, False)
    assert "no such flow" in mixed, "the operator has none of that name"
    assert ("olga", "flow.approve") in decided


async def approve_on_the_dashboard(team: Team, token: str) -> dict[str, Any]:
    """Run the flow over REST, which cannot ask, and continue after an approval; return REST's first answer."""
    headers = {"authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(base_url=team.app.url, headers=headers, timeout=PROCESS_TIMEOUT_S) as rest:
        refused = (await rest.post("/v1/tools/runFlow", json={"name": "buy", "keepOpen": False})).json()
        run = refused["details"]["runId"]
        shown = await team.show(f"/flows/runs/{run}")
        digest = shown.partition('name="digest" value="')[2].partition('"')[0]
        sent = await team.operator.post(f"/flows/runs/{run}/approve", data={"name": "buy", "digest": digest})
        ended = await rest.post("/v1/tools/resumeFlow", json={"runId": run})
    assert "a caller who signs in" in shown
    assert (sent.status_code, ended.status_code) == (303, 200), ended.text
    return refused
