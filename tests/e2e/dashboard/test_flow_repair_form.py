"""A person repairs a stopped flow on the dashboard, with forms that need no script, and its run goes on."""

import html
import re
from collections import Counter
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import anyio
import httpx2
import pytest

from outrider.app import App
from outrider.core.context import Call
from outrider.dashboard.server import DashboardServer
from outrider.flows.approvals import FlowApprovals
from outrider.flows.flow_store import FlowStore
from support.apps import loopback_app

pytestmark = pytest.mark.anyio
PATIENCE = 240
PAGE = """<h1>Order</h1><label>Name <input name=name></label>
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

    def write(self, text: str) -> str:
        file = self.folder / ".outrider" / "flows" / "order.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("SITE", self.site))
        return file.read_text()

    def read(self, name: str = "order") -> str:
        return (self.folder / ".outrider" / "flows" / f"{name}.yaml").read_text()

    async def stop(self) -> str:
        """Runs the flow until it stops; the path of the run's page."""
        ran = await self.app.call("runFlow", name="order", waitSeconds=0.5)
        return f"/flows/runs/{ran.data['runId']}"

    async def show(self, path: str) -> str:
        return (await self.client.get(path, headers={"accept": "text/html"})).text

    async def send(self, path: str, **fields: str) -> tuple[int, str]:
        origin = {"origin": str(self.client.base_url).rstrip("/")}
        answer = await self.client.post(f"{path}/repair", data=fields, headers=origin)
        return answer.status_code, answer.text

    async def wait_until_over(self, path: str) -> str:
        """Returns the state of the run, once nothing works on it."""
        state = "stopped"
        while state in ("running", "stopped"):
            state = await self.read_state(path)
        return state

    async def read_state(self, path: str) -> str:
        runs = (await self.app.call("listFlowRuns")).data["runs"]
        return next(run["state"] for run in runs if path.endswith(run["runId"]))


@pytest.fixture
async def office(tmp_path: Path) -> AsyncGenerator[Office]:
    site = loopback_app.build_page_site({"/": PAGE})
    async with loopback_app.open_loopback_app(tmp_path, site, more={"toolsets": ["browser", "flows"]}) as loopback:
        server = DashboardServer(loopback.app.dashboard_services())
        await server.start()
        try:
            async with httpx2.AsyncClient(base_url=server.base_url, timeout=60) as client:
                await client.get("/", params={"token": server.sign_in_url.partition("token=")[2]})
                with anyio.fail_after(PATIENCE):
                    yield Office(client, loopback.app, tmp_path, loopback.site_url)
        finally:
            await server.aclose()


async def test_a_person_chooses_the_element_or_edits_the_step_and_the_run_goes_on(office: Office):
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
    unchanged = office.read()
    taken = await office.send(path, element='button "Buy <b>"')
    state = await office.wait_until_over(path)
    ended = await office.show(path)
    again = await office.send(path, element='button "Buy <b>"')

    assert offered == ['textbox "Name"', 'button "Buy <b>"'], "those of which there are several are not among them"
    assert wrong == {400: 9}
    assert unchanged == before
    assert (taken[0], state) == (303, "done")
    assert "# How tea is ordered." in office.read(), "comments stay"
    assert office.read("order.v1") == before
    assert "-  - click: {role: button, name: Frobnicate}" in html.unescape(ended)
    assert again[0] == 403, "it has ended"

    office.write(FLOW.replace("    expect", "    ask: true\n    expect"))
    await FlowApprovals(office.app.database).approve(
        Call(), FlowStore(office.folder, office.folder / ".outrider").load_program(Call(), "order")
    )
    path = await office.stop()
    edited = "click: {role: button, name: Buy <b>}\nexpect: {text: Thanks, seconds: 3}"
    taken = await office.send(path, step=edited)
    state = await office.wait_until_over(path)
    assert (taken[0], state) == (303, "waiting"), (
        "what was approved was another file, and a form takes no question away"
    )
    assert "ask: true" in office.read()
    assert "asks at a terminal" in await office.show(path)
