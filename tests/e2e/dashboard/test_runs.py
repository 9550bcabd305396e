"""Runs that start through MCP are watched, controlled, lost and found again in the dashboard."""

import asyncio
import secrets
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from mcp import Client

from outrider.agents.views.inbox import Inbox
from outrider.browser.process.browser import Browser
from support.apps import mcp_clients
from support.apps.agents_app import ScriptedChatModel, open_agents_app_over_model, serve_chat_model
from support.apps.dashboard_browser import DashboardSession, DashboardTab, open_dashboard
from support.apps.run_rows import build_model_step, build_run_row, build_tool_step, insert_rows
from support.fakes.cuttable_proxy import open_cuttable_proxy
from support.fakes.model_apis import ModelServer, ModelTurn, ScriptedRequest

pytestmark = pytest.mark.anyio
RUN_AGENTS: dict[str, dict[str, Any]] = {
    "speaker": {"toolsets": ["planning"]},
    "asker": {"toolsets": ["planning"], "stakes": {"create_goal": "high", "add_todo": "high"}},
    "boss": {"tools": ["run_sleeper"]},
    "sleeper": {},
    "failer": {"toolsets": ["planning"]},
}
GOAL = ("create_goal", {"goal": "boil water"})
TODO = ("add_todo", {"name": "fill the kettle"})


@dataclass
class Stage:
    """An app, the events that hold its model, and its dashboard."""

    office: DashboardSession
    client: Client
    model: ModelServer
    gates: dict[str, anyio.Event] = field(default_factory=dict)
    speaks: str = ""  # the event in the middle of the next response

    async def begin(self, agent: str, query: str = "Go.", mode: str = "background") -> str:
        """Start a run as a host."""
        said = await self.client.call_tool(f"run_{agent}", {"query": query, "mode": mode})
        return (said.meta or {})["outrider/run"]["runId"] if not said.is_error else ""

    async def answer(self, run: str) -> str:
        """Return the result that the host gets when it reconnects."""
        said = await self.client.call_tool("agent_run", {"runId": run, "waitSeconds": 20})
        return " ".join(
            getattr(item, "text", "") or getattr(item.resource, "text", "") for item in cast("Any", said.content)
        )

    async def reject_open_questions(self) -> None:
        waiting = [each.question.id for each in await Inbox(self.office.app.database).list_open()]
        if waiting:
            await self.decide(waiting, "rejected")

    async def decide(self, questions: list[str], decision: str, **given: str) -> dict[str, Any]:
        """Answer questions as another person who has the dashboard open."""
        origin = {"origin": self.office.server.base_url.rstrip("/")}
        async with self.office.open_http_client() as other:
            body = {"questions": questions, "decision": decision, **given}
            return (await other.post("/questions/answer", json=body, headers=origin)).json()

    def pause(self, name: str) -> anyio.Event:
        """Make the model stop in the middle of its next response."""
        self.speaks = name
        self.gates[name] = anyio.Event()  # a new one, in case the test is rerun
        return self.gates[name]

    def gate(self, name: str) -> anyio.Event:
        """Return an event that the model waits for."""
        return self.gates.setdefault(name, anyio.Event())


def choose_turn(dashboard_stage: Stage, asked: ScriptedRequest) -> ModelTurn:
    """Return each agent's next response."""
    name = next(each for each in RUN_AGENTS if f"You are {each}." in asked.text)
    words = "I will boil water now, and then make tea."
    first = {
        "speaker": ModelTurn(
            words, "Water first.", [GOAL, TODO], wait_between=dashboard_stage.gate(dashboard_stage.speaks)
        ),
        "asker": ModelTurn("I ask.", calls=[GOAL]),
        "boss": ModelTurn("I delegate.", calls=[("run_sleeper", {"query": "Sleep."})]),
        "sleeper": ModelTurn("Never said.", wait_before=dashboard_stage.gate("never")),
        "failer": ModelTurn("I begin.", calls=[TODO]),
    }
    if asked.turn_count == 0:
        return first[name]
    fails = name == "failer" and not dashboard_stage.gate("mended").is_set()
    return ModelTurn(status=404) if fails else ModelTurn(f"{name} is done.")


@pytest.fixture(scope="module")
async def shared_stage(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> AsyncGenerator[Stage]:
    home: Path = tmp_path_factory.mktemp("runs")
    server = ModelServer(lambda asked: choose_turn(made, asked))
    model = cast("ScriptedChatModel", server)
    async with (
        serve_chat_model(model) as flags,
        open_agents_app_over_model(home, model, flags, RUN_AGENTS) as service,
        mcp_clients.connect_client(service.app.build_server()) as client,
        open_dashboard(home, chromium, service.app) as office,
    ):
        made = Stage(office, client, server)
        yield made
        for gate in made.gates.values():
            gate.set()


@pytest.fixture
async def dashboard_stage(shared_stage: Stage) -> AsyncGenerator[Stage]:
    yield shared_stage
    await shared_stage.office.close_tabs()
    await shared_stage.reject_open_questions()  # the next test, or a rerun, must not see the failed run


async def mark_page(view: DashboardTab) -> None:
    """Mark the page, to detect whether it is loaded again."""
    await view.evaluate_js("window.stayed = true")


async def accept_dialogs(view: DashboardTab) -> None:
    """Accept every dialog of the page from now on."""

    def opening(_: Any) -> None:
        tasks.append(asyncio.ensure_future(view.page.send("Page.handleJavaScriptDialog", {"accept": True})))

    tasks: list[Any] = []
    view.page.channel.on("Page.javascriptDialogOpening", opening)


@pytest.mark.nightly
async def test_a_run_is_watched_word_by_word_without_loading_the_page_again(dashboard_stage: Stage):
    gate = dashboard_stage.pause("first words")
    view = await dashboard_stage.office.open_tab("/runs")
    await mark_page(view)
    run = await dashboard_stage.begin("speaker", "Make tea for <b>two</b>")
    await view.wait_for_text("Make tea for <b>two</b>")
    assert await view.evaluate_js("window.stayed")
    await view.wait_until(f"""document.querySelector("[id='{run}'] .task a")""")
    await view.pointer.click(f"[id='{run}'] .task a")
    await view.wait_for_text("Water first.")
    await view.wait_until("!document.getElementById('live').hidden")
    await mark_page(view)
    gate.set()
    await view.wait_for_text("speaker is done.")
    await view.wait_until("document.querySelectorAll('#steps .step').length === 2")
    await view.wait_until("document.getElementById('live').hidden")
    await view.wait_for_text("completed")
    text = await view.read_text()
    for words in (
        "Step 1",
        "Step 2",
        "I will boil water now",
        "fill the kettle",
        "boil water",
        "0 of 1 done",
    ):
        assert words in text, words
    assert await view.evaluate_js("window.stayed")
    assert view.page_errors == []


async def test_a_call_is_allowed_in_the_dashboard_and_the_host_gets_the_answer(dashboard_stage: Stage):
    view = await dashboard_stage.office.open_tab("/runs")
    assert await dashboard_stage.begin("asker", "Ask me", mode="run") == ""  # it waits for a person
    await view.wait_until("document.querySelector('[data-badge=questions]')?.textContent.startsWith('1')")
    await view.wait_until("document.title.startsWith('(1) ')")
    await view.open_path("/questions")
    text = await view.read_text()
    assert "asker wants to: " in text
    assert "boil water" in text
    await view.pointer.click("button[value=approved]")
    await view.wait_for_text("allowed once")
    await view.wait_for_text("No questions are waiting")
    run = (await Inbox(dashboard_stage.office.app.database).list_decided()).items[0].question.run_id
    await view.open_path(f"/runs/{run}")
    await view.wait_for_text("asker is done.")
    assert "asker is done." in await dashboard_stage.answer(run)
    assert not await view.evaluate_js("document.title.startsWith('(')")
    assert view.page_errors == []


@pytest.mark.nightly
async def test_a_call_is_rejected_on_the_runs_own_page_and_the_agent_reads_why(dashboard_stage: Stage):
    await dashboard_stage.begin("asker", "Ask me again", mode="run")
    (asked,) = await Inbox(dashboard_stage.office.app.database).list_open()
    view = await dashboard_stage.office.open_tab(f"/runs/{asked.question.run_id}")
    await view.forms.type("input[name=reason]", "the kettle is <i>broken</i>")
    await view.pointer.click("button[value=rejected]")
    await view.wait_for_text("asker is done.")
    await view.wait_for_text("They said: the kettle is <i>broken</i>")
    assert "broken" in dashboard_stage.model.requests[-1].results[-1]


@pytest.mark.nightly
async def test_a_late_answer_in_a_second_browser_names_who_answered_first(dashboard_stage: Stage):
    await dashboard_stage.begin("asker", "Ask us both", mode="run")
    first, second = await dashboard_stage.office.open_tab("/questions"), await dashboard_stage.office.open_tab("/calls")
    (asked,) = await Inbox(dashboard_stage.office.app.database).list_open()
    await first.pointer.click("button[value=approved]")
    await first.wait_for_text("No questions are waiting")
    (heard,) = (await dashboard_stage.decide([asked.question.id], "rejected", reason="too late"))["answered"]
    assert (heard["won"], heard["decision"]) == (False, "approved")
    await second.open_path(f"/questions?late={asked.question.id}")
    await second.wait_for_text("Somebody was faster")
    assert "dashboard (browser" in await second.read_text()


async def test_typed_text_is_kept_while_other_questions_change(dashboard_stage: Stage):
    await dashboard_stage.begin("asker", "One", mode="run")
    view = await dashboard_stage.office.open_tab("/questions")
    await view.forms.type("input[name=reason]", "because")
    await view.evaluate_js("document.querySelector('input[name=reason]').focus()")
    await dashboard_stage.begin("asker", "Two", mode="run")
    await view.wait_until("document.querySelectorAll('.question').length === 2")
    assert await view.evaluate_js("document.activeElement.value") == "because"
    waiting = [each.question.id for each in await Inbox(dashboard_stage.office.app.database).list_open()]
    assert len((await dashboard_stage.decide(waiting, "rejected"))["resumed"]) == 2
    await view.wait_for_text("No questions are waiting")
    await view.wait_for_text("answered elsewhere")


async def test_cancelling_reaches_child_runs(dashboard_stage: Stage):
    run = await dashboard_stage.begin("boss", "Delegate it")
    view = await dashboard_stage.office.open_tab(f"/runs/{run}")
    await view.wait_for_text("All runs of this task")
    await view.wait_until("document.querySelectorAll('.runs-tree .badge.info').length === 2")
    await accept_dialogs(view)
    await view.evaluate_js("document.querySelector('.button.danger').click()")
    await view.wait_until(
        "document.querySelectorAll('.runs-tree li').length === 2 && !document.querySelector('.runs-tree .info')"
    )
    assert (await view.read_text()).count("cancelled") >= 3


async def test_a_failed_run_is_resumed_where_it_failed(dashboard_stage: Stage):
    run = await dashboard_stage.begin("failer", "Fail first")
    view = await dashboard_stage.office.open_tab(f"/runs/{run}")
    await view.wait_for_text("HTTP 404")
    await view.wait_until("document.querySelector('.button.primary')")  # arrives with the end of the run
    dashboard_stage.gate("mended").set()
    await view.pointer.click(".button.primary")
    await view.wait_for_text("failer is done.")
    await view.wait_until("document.querySelectorAll('#steps .step').length === 2")
    assert "Attempt" in await view.read_text()


@pytest.mark.nightly
async def test_a_lost_connection_is_restored_without_missing_anything(dashboard_stage: Stage):
    gate = dashboard_stage.pause("after the break")
    async with open_cuttable_proxy(dashboard_stage.office.server.base_url) as cut:
        view = await dashboard_stage.office.open_tab("/calls")
        await view.open_path(
            dashboard_stage.office.server.sign_in_url.replace(dashboard_stage.office.server.base_url, cut.url)
        )
        run = await dashboard_stage.begin("speaker", "Make tea")
        await view.open_path(f"{cut.url}runs/{run}")
        await view.wait_for_text("Water first.")
        await mark_page(view)
        await cut.cut_connections()
        await view.wait_for_text("connection lost")
        gate.set()
        async for _ in dashboard_stage.office.app.runs.follow(run):
            pass
        cut.restore()
        await view.wait_for_text("speaker is done.")
        await view.wait_until("document.querySelectorAll('#steps .step').length === 2")
        await view.wait_until("document.getElementById('connection').textContent === 'live'")
        assert await view.evaluate_js("window.stayed")
        await view.open_path(f"{cut.url}runs/{run}")
        assert "speaker is done." in await view.read_text()


@pytest.mark.nightly
async def test_the_address_of_a_step_opens_it_in_a_long_run(dashboard_stage: Stage):
    steps = [build_model_step("run_long", number, f"Saying {number}.") for number in range(1, 90)]
    steps += [build_tool_step("run_long", number, "web_fetch", {"n": number}, "x" * 3_000) for number in range(1, 90)]
    await insert_rows(
        dashboard_stage.office.app.database, run=[build_run_row("run_long", query="A long run")], step=steps
    )
    view = await dashboard_stage.office.open_tab("/runs/run_long#step-70")
    await view.wait_until("location.search.includes('after=70') && document.querySelector('#step-70:target') !== null")
    assert "Saying 70." in await view.read_text()
    await view.pointer.click("#step-70 summary")
    await view.pointer.click("#step-70 [data-whole]")
    await view.wait_until("document.querySelector('#step-70 pre.whole')?.textContent.length === 3000")


@pytest.mark.nightly
async def test_two_runs_are_compared_by_choosing_them_in_the_list(dashboard_stage: Stage):
    view = await dashboard_stage.office.open_tab("/runs")
    assert await view.evaluate_js("document.getElementById('compare-button').disabled")
    await view.evaluate_js("[...document.querySelectorAll('.pick input')].slice(0, 2).forEach((each) => each.click())")
    await view.pointer.click("#compare-button")
    await view.wait_for_text("Two runs side by side")
    assert "of " in await view.read_text()
    assert view.page_errors == []


@pytest.mark.nightly
async def test_a_filtered_list_stays_filtered_after_reloading(dashboard_stage: Stage):
    name = f"Brew{secrets.token_hex(4)}"
    await dashboard_stage.begin("speaker", f"{name} for three")
    await dashboard_stage.begin("speaker", "Something else")
    view = await dashboard_stage.office.open_tab("/runs")
    await view.forms.type("input[type=search]", name, submit=True)
    await view.wait_until(f"location.search === '?q={name}'")
    await view.wait_until("document.querySelectorAll('tbody tr').length === 1")
    await view.evaluate_js("location.reload()")
    await view.wait_until("document.querySelectorAll('tbody tr').length === 1")
    assert await view.evaluate_js("document.querySelector('input[type=search]').value") == name
