"""A person repairs a stopped flow on the dashboard with forms that need no script, and the run continues."""

import html
import re
from collections import Counter
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from outrider.app import App
from outrider.core.context import Call
from outrider.dashboard.server import DashboardServer
from outrider.flows.approvals import FlowApprovals
from outrider.flows.flow_runs import build_owner_key
from outrider.flows.flow_store import FlowStore
from support.apps import loopback_app
from support.fakes import http_servers
from support.fakes.model_apis import ModelServer, ModelTurn, play_turns
from support.timeouts import PROCESS_TIMEOUT_S

pytestmark = [pytest.mark.anyio, pytest.mark.time_limit(240)]
ORDER_HTML = """<h1>Order</h1><label>Name <input name=name></label>
<button onclick="document.querySelector('p').textContent = 'Thanks'">Buy &lt;b&gt;</button>
<button>Help</button><button>Help</button><p></p>"""
FLOW = """# How tea is ordered.
flow: 1
name: order
origins: [SITE]
steps:
  - open: SITE/
  - click: {role: button, name: Frobnicate}  # the main button
    expect: {text: Thanks, seconds: 3}
"""


@dataclass
class Office:
    """The dashboard of a project whose flow stops."""

    client: httpx2.AsyncClient
    app: App
    folder: Path
    site: str
    model: ModelServer

    def write(self, text: str) -> str:
        file = self.folder / ".outrider" / "flows" / "order.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("SITE", self.site))
        return file.read_text()

    def read(self, name: str = "order") -> str:
        return (self.folder / ".outrider" / "flows" / f"{name}.yaml").read_text()

    async def stop(self) -> str:
        """Run the flow until it stops; return the path of the run's page."""
        ran = await self.app.call("runFlow", name="order", waitSeconds=0.5)
        return f"/flows/runs/{ran.data['runId']}"

    async def show(self, path: str) -> str:
        return (await self.client.get(path, headers={"accept": "text/html"})).text

    async def send(self, path: str, form: str = "repair", **fields: str) -> tuple[int, str]:
        origin = {"origin": str(self.client.base_url).rstrip("/")}
        answer = await self.client.post(f"{path}/{form}", data=fields, headers=origin)
        return answer.status_code, answer.text

    async def wait_until_over(self, path: str, before: str = "") -> str:
        """Return the state of the run once it has changed and nothing works on the run."""
        state = "stopped"
        while state in ("due", "running", "stopped", before):
            state = await self.read_state(path)
        return state

    async def read_state(self, path: str) -> str:
        runs = (await self.app.call("listFlowRuns")).data["runs"]
        return next(run["state"] for run in runs if path.endswith(run["runId"]))


@pytest.fixture
async def office(tmp_path: Path) -> AsyncGenerator[Office]:
    site = loopback_app.build_page_site({"/": ORDER_HTML})
    model = ModelServer(play_turns(ModelTurn(text='{"ref": "e2"}')))
    async with http_servers.serve_app(model.build_app()) as model_url:
        profile = {"base_url": f"{model_url}/v1", "model": "scripted", "key": "sk-scripted"}
        models = {"profiles": {"mine": profile}, "default": ["mine"], "local": False}
        more = {"toolsets": ["browser", "flows"], "models": models}
        async with loopback_app.open_loopback_app(tmp_path, site, more=more) as loopback:
            server = DashboardServer(loopback.app.dashboard_services())
            await server.start()
            try:
                async with httpx2.AsyncClient(base_url=server.base_url, timeout=PROCESS_TIMEOUT_S) as client:
                    await client.get("/", params={"token": server.sign_in_url.partition("token=")[2]})
                    yield Office(client, loopback.app, tmp_path, loopback.site_url, model)
            finally:
                await server.aclose()


async def test_a_person_chooses_the_element_or_edits_the_step_and_the_run_continues(office: Office):
    before = office.write(FLOW)
    path = await office.stop()
    shown = await office.show(path)
    offered = [html.unescape(each) for each in re.findall(r'type="radio" name="element" value="([^"]*)"', shown)]
    wrong = Counter(
        [
            (await office.send(path, **fields))[0]
            for fields in (
                {"element": 'button "Nothing"'},
                {"element": 'button "Help"'},
                {"step": "click: Buy\nopen: /elsewhere"},
                {"step": "[" * 3_000},
                {"step": "click: &a {name: *a}"},
                {"step": "open: http://elsewhere.example:x/${secret}"},
                {"step": "flow: order"},
                {"step": "x: \0"},
                {},
            )
        ]
    )
    proposed = [(await office.send(path, "propose"))[0] for _ in range(4)]
    proposal = html.unescape(await office.show(path))
    unchanged = office.read()
    taken = await office.send(path, element='button "Buy <b>"')
    state = await office.wait_until_over(path)
    ended = await office.show(path)
    again = await office.send(path, element='button "Buy <b>"')

    assert offered == ['textbox "Name"', 'button "Buy <b>"'], "those of which there are several are not among them"
    assert wrong == {400: 9}
    assert "Let a model propose the element" in shown
    assert proposed == [303, 303, 303, 403], "one run asks a model three times at most"
    assert all(
        words in proposal
        for words in (
            'A model proposes button "Buy <b>"',
            "scripted read",
            "+  - click: {role: button, name: Buy <b>}",
        )
    ), proposal
    assert unchanged == before, "a proposal changes nothing"
    assert (taken[0], state) == (303, "done")
    assert "# How tea is ordered." in office.read(), "comments stay"
    assert office.read("order.v1") == before
    assert "-  - click: {role: button, name: Frobnicate}" in html.unescape(ended)
    assert again[0] == 403, "it has ended"
    await approve_edited_flow(office)


async def approve_edited_flow(office: Office) -> None:
    """Edit a step that asks a person, and approve the edited flow."""
    office.write(FLOW.replace("    expect", "    ask: true\n    expect"))
    await FlowApprovals(office.app.database).approve(
        build_owner_key(Call()),
        FlowStore(office.folder, office.folder / ".outrider").load_program(Call(), "order"),
        by="terminal",
    )
    path = await office.stop()
    edited = "click: {role: button, name: Buy <b>}\nexpect: {text: Thanks, seconds: 3}"
    taken = await office.send(path, step=edited)
    state = await office.wait_until_over(path)
    assert (taken[0], state) == (303, "waiting"), (
        "what was approved was another file, and a form takes no question away"
    )
    assert "ask: true" in office.read()
    await approve_waiting_run(office, path)


async def approve_waiting_run(office: Office, path: str) -> None:
    """Approve the flow of a waiting run, and let it ask again."""
    waiting = await office.show(path)
    digest = re.findall(r'name="digest" value="([0-9a-f]+)"', waiting)[0]
    refused = [
        (await office.send(path, "approve", name=name, digest=sent))[0]
        for name, sent in (("orders", digest), ("order", digest[:-1]), ("", ""))
    ]
    approved = await office.send(path, "approve", name="order", digest=digest)
    state = await office.wait_until_over(path, before="waiting")
    flow_page = await office.show("/flows/order")
    withdrawn = await office.send("/flows/order", "withdraw", owner="")
    assert "asks at a terminal" in waiting
    assert refused == [400, 403, 403]
    assert (approved[0], state) == (303, "done")
    assert "by dashboard (browser " in flow_page
    assert withdrawn[0] == 303
    assert "Let it ask again" not in await office.show("/flows/order")


async def test_a_model_that_finds_nothing_is_reported_beside_the_other_choices(office: Office):
    office.model.script = play_turns(ModelTurn(text='{"ref": null}'))
    office.write(FLOW)
    path = await office.stop()
    asked = await office.send(path, "propose")
    shown = html.unescape(await office.show(path))
    taken = await office.send(path, element='button "Buy <b>"')
    moving = await office.show(path)
    state = await office.wait_until_over(path)
    ended = await office.show(path)

    assert asked[0] == 303
    assert 'the model found no element for click button "Frobnicate"' in shown
    assert "Ask the model again" in shown
    assert "Use this element" in shown
    assert (taken[0], state) == (303, "done")
    assert "Why it stopped" not in moving, "the page does not say what is over"
    assert "data-live" not in ended
