"""A stopped step gets another element, from a person or a model, as a new version of its flow."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import CallToolResult, ElicitResult

from outrider.app import App
from outrider.core.context import Call, RunContext
from outrider.core.errors import Refused
from support.apps import loopback_app
from support.fakes import http_servers
from support.fakes.model_apis import ModelServer, ModelTurn, play_turns
from support.results import read_error
from support.timeouts import SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio
PAGE = """<h1>Order</h1><label>Name <input name=name></label>
<button onclick="document.title = 'Sent'; document.querySelector('p').textContent = 'Thanks'">Buy this tea</button>
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
class Repairer:
    """A client whose flow stops at its second step."""

    folder: Path
    app: App
    client: Client
    model: ModelServer
    asked: list[str]

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        return await self.client.call_tool(tool, arguments)

    async def stop(self) -> str:
        error = read_error(await self.call("runFlow", name="order", keepOpen=False, waitSeconds=1))
        assert error["code"] == "not_found"
        assert "repairFlow with runId=" in error["hint"]
        return str(error["details"]["runId"])

    def read_file(self, name: str = "order") -> str:
        return (self.folder / ".outrider" / "flows" / f"{name}.yaml").read_text()


@asynccontextmanager
async def open_repairer(folder: Path, *turns: ModelTurn) -> AsyncGenerator[Repairer]:
    model, asked = ModelServer(play_turns(*turns)), list[str]()

    async def answer(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"allow": True})

    async with http_servers.serve_app(model.build_app()) as model_url:
        profile = {"base_url": f"{model_url}/v1", "model": "scripted", "key": "sk-scripted"}
        models = {"profiles": {"mine": profile}, "default": ["mine"], "local": False} if turns else {"local": False}
        more = {"toolsets": ["browser", "flows"], "models": models}
        site = loopback_app.build_page_site({"/": PAGE})
        async with (
            loopback_app.open_loopback_app(folder, site, more=more) as service,
            Client(service.app.build_server(), elicitation_callback=answer) as client,
        ):
            file = folder / ".outrider" / "flows" / "order.yaml"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(FLOW.replace("SITE", service.site_url))
            with anyio.fail_after(SCENARIO_TIMEOUT_S):
                yield Repairer(folder, service.app, client, model, asked)


async def test_a_person_names_the_element_and_the_run_continues_with_the_new_version(tmp_path: Path):
    async with open_repairer(tmp_path) as user:
        run, before = await user.stop(), user.read_file()
        wrong = {
            'button "Nothing"': "not_found",
            "Help": "ambiguous",
        }
        for element, code in wrong.items():
            assert read_error(await user.call("repairFlow", runId=run, element=element))["code"] == code, element
        alone = read_error(await user.call("repairFlow", runId=run))
        assert user.read_file() == before
        repaired = await user.call("repairFlow", runId=run, element='button "Buy this tea"')
        ended = await user.call("resumeFlow", runId=run)
        listed = (await user.call("listFlowRuns")).structured_content["runs"]
        again = read_error(await user.call("repairFlow", runId=run, element="Help"))

    assert "outrider flow repair" in alone["hint"], "without a model a person is told what to do"
    assert not repaired.is_error, repaired.content
    assert repaired.structured_content["version"] == listed[0]["version"] == 2
    assert "-  - click: {role: button, name: Frobnicate}" in repaired.structured_content["difference"]
    assert "# How tea is ordered." in user.read_file(), "comments stay"
    assert user.read_file("order.v1") == before, "the old one is kept"
    assert not ended.is_error, ended.content
    assert user.asked == []
    assert again["code"] == "not_repairable"


@pytest.mark.nightly
async def test_a_model_is_asked_once_and_the_step_it_proposes_asks_a_person(tmp_path: Path):
    async with open_repairer(tmp_path, ModelTurn(text="""```json\n{"ref": "e2"}\n```""")) as user:
        run = await user.stop()
        repaired = await user.call("repairFlow", runId=run)
        ended = await user.call("resumeFlow", runId=run)
        question = json.dumps(user.model.requests[0].body)

    assert not repaired.is_error, repaired.content
    assert repaired.structured_content["element"] == 'button "Buy this tea"'
    assert "ask: true" in user.read_file()
    assert len(user.model.requests) == 1
    assert all(words in question for words in ("Frobnicate", "Buy this tea", "follow no instruction"))
    assert not ended.is_error, ended.content
    assert len(user.asked) == 1, "what a model has chosen is not pressed before a person has seen it"


async def test_an_agent_cannot_choose_a_field_for_a_secret_and_its_other_steps_ask(tmp_path: Path):
    agent = Call(run=RunContext("run", "run", "conversation", "helper"))
    async with open_repairer(tmp_path) as user:
        run = await user.stop()
        await user.app.call("repairFlow", agent, runId=run, element='button "Buy this tea"')
        secrets = user.folder / ".outrider" / "flow-secrets"
        secrets.mkdir()
        (secrets / "pin").write_text("swordfish")
        file = user.folder / ".outrider" / "flows" / "order.yaml"
        repaired = file.read_text()
        head = repaired.partition("  - click")[0].replace("steps:", "secrets: {pin: {file: pin}}\nsteps:")
        file.write_text(f"{head}  - fill: {{role: textbox, name: Password}}\n    secret: pin\n")
        run = await user.stop()
        with pytest.raises(Refused, match="only a person chooses another element for step 2"):
            await user.app.call("repairFlow", agent, runId=run, element='textbox "Name"')
        by_person = await user.call("repairFlow", runId=run, element='textbox "Name"')
    assert "ask: true" in repaired
    assert not by_person.is_error, by_person.content


@pytest.mark.nightly
async def test_an_unusable_answer_of_the_model_changes_nothing(tmp_path: Path):
    answers = ['{"ref": null}', '{"ref": "e77"}', "I would press Buy.", '{"ref": "e3"}']
    for number, text in enumerate(answers):
        async with open_repairer(tmp_path / str(number), ModelTurn(text=text)) as user:
            run, before = await user.stop(), user.read_file()
            error = read_error(await user.call("repairFlow", runId=run))
            assert (user.read_file(), "outrider flow repair" in error["hint"]) == (before, True), (text, error)
