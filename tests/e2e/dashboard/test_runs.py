"""Runs in the dashboard, in a real browser: begun through MCP, watched, steered, lost and found again."""

import asyncio
import secrets
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from mcp import Client

from outrider.agents.oversight.inbox import Inbox
from outrider.browser.browser import Browser
from support.apps import mcp_clients
from support.apps.agents_app import Model, living, serving
from support.apps.dashboard_browser import Desk, View, desk
from support.apps.run_rows import called, fill, run_row, said
from support.fakes.cuttable_proxy import cut_through
from support.fakes.model_apis import Asked, ModelServer, Turn

pytestmark = pytest.mark.anyio
AGENTS: dict[str, dict[str, Any]] = {
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
    """A house, the model's gates, and the dashboard that shows it."""

    office: Desk
    client: Client
    model: ModelServer
    gates: dict[str, anyio.Event] = field(default_factory=dict)
    speaks: str = ""  # the gate in the middle of what is said next

    async def begin(self, agent: str, query: str = "Go.", mode: str = "background") -> str:
        """A run that a host begins."""
        said = await self.client.call_tool(f"run_{agent}", {"query": query, "mode": mode})
        return (said.meta or {})["outrider/run"]["runId"] if not said.is_error else ""

    async def answer(self, run: str) -> str:
        """What the host gets of it when it comes back."""
        said = await self.client.call_tool("agent_run", {"runId": run, "waitSeconds": 20})
        return " ".join(
            getattr(item, "text", "") or getattr(item.resource, "text", "") for item in cast("Any", said.content)
        )

    def pause(self, name: str) -> anyio.Event:
        """Lets the model stop in the middle of what it says next."""
        self.speaks = name
        self.gates[name] = anyio.Event()  # a new one, should the test be run again
        return self.gates[name]

    def gate(self, name: str) -> anyio.Event:
        """Something that the model waits for."""
        return self.gates.setdefault(name, anyio.Event())


def plays(stage: Stage, asked: Asked) -> Turn:
    """What each agent says next."""
    name = next(each for each in AGENTS if f"You are {each}." in asked.text)
    words = "I will boil water now, and then make tea."
    first = {
        "speaker": Turn(words, "Water first.", [GOAL, TODO], between=stage.gate(stage.speaks)),
        "asker": Turn("I ask.", calls=[GOAL]),
        "boss": Turn("I delegate.", calls=[("run_sleeper", {"query": "Sleep."})]),
        "sleeper": Turn("Never said.", until=stage.gate("never")),
        "failer": Turn("I begin.", calls=[TODO]),
    }
    if asked.turns == 0:
        return first[name]
    fails = name == "failer" and not stage.gate("mended").is_set()
    return Turn(status=404) if fails else Turn(f"{name} is done.")


@pytest.fixture(scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> AsyncGenerator[Stage]:
    home: Path = tmp_path_factory.mktemp("runs")
    server = ModelServer(lambda asked: plays(made, asked))
    model = cast("Model", server)
    async with (
        serving(model) as flags,
        living(home, model, flags, AGENTS) as house,
        mcp_clients.connected(house.app.server()) as client,
        desk(home, chromium, house.app) as office,
    ):
        made = Stage(office, client, server)
        yield made
        for gate in made.gates.values():
            gate.set()


async def stay(view: View) -> None:
    """Marks the page, so that it is seen whether it was loaded again."""
    await view.js("window.stayed = true")


async def accepts(view: View) -> None:
    """From now on every question of the page itself is answered with yes."""

    def opening(_: Any) -> None:
        tasks.append(asyncio.ensure_future(view.page.send("Page.handleJavaScriptDialog", {"accept": True})))

    tasks: list[Any] = []
    view.page.channel.on("Page.javascriptDialogOpening", opening)


async def test_a_run_is_watched_word_by_word_without_loading_the_page_again(stage: Stage):
    gate = stage.pause("first words")
    view = await stage.office.open("/runs")
    await stay(view)
    run = await stage.begin("speaker", "Make tea for <b>two</b>")
    await view.sees("Make tea for <b>two</b>")
    assert await view.js("window.stayed")
    await view.until(f"""document.querySelector("[id='{run}'] .task a")""")
    await view.hands.click(f"[id='{run}'] .task a")
    await view.sees("Water first.")
    await view.until("!document.getElementById('live').hidden")
    await stay(view)
    gate.set()
    await view.sees("speaker is done.")
    await view.until("document.querySelectorAll('#steps .step').length === 2")
    await view.until("document.getElementById('live').hidden")
    await view.sees("completed")
    text = await view.text()
    for words in (
        "Step 1",
        "Step 2",
        "I will boil water now",
        "fill the kettle",
        "boil water",
        "0 of 1 done",
    ):
        assert words in text, words
    assert await view.js("window.stayed")
    assert view.complaints == []
    await stage.office.tidy()


async def test_a_call_is_allowed_in_the_dashboard_and_the_host_gets_the_answer(stage: Stage):
    view = await stage.office.open("/runs")
    assert await stage.begin("asker", "Ask me", mode="run") == ""  # it waits for a person
    await view.until("document.querySelector('[data-badge=questions]')?.textContent.startsWith('1')")
    await view.until("document.title.startsWith('(1) ')")
    await view.go("/questions")
    text = await view.text()
    assert "asker wants to: " in text
    assert "boil water" in text
    await view.hands.click("button[value=approved]")
    await view.sees("allowed once")
    await view.sees("Nothing waits for you")
    run = (await Inbox(stage.office.app.database).decided()).items[0].question.run_id
    await view.go(f"/runs/{run}")
    await view.sees("asker is done.")
    assert "asker is done." in await stage.answer(run)
    assert not await view.js("document.title.startsWith('(')")
    assert view.complaints == []
    await stage.office.tidy()


async def test_a_call_is_rejected_on_the_runs_own_page_and_the_agent_reads_why(stage: Stage):
    await stage.begin("asker", "Ask me again", mode="run")
    (asked,) = await Inbox(stage.office.app.database).open()
    view = await stage.office.open(f"/runs/{asked.question.run_id}")
    await view.fields.type("input[name=reason]", "the kettle is <i>broken</i>")
    await view.hands.click("button[value=rejected]")
    await view.sees("asker is done.")
    await view.sees("They said: the kettle is <i>broken</i>")
    assert "broken" in stage.model.asked[-1].results[-1]
    await stage.office.tidy()


async def test_who_answers_in_a_second_browser_is_told_who_was_faster(stage: Stage):
    await stage.begin("asker", "Ask us both", mode="run")
    first, second = await stage.office.open("/questions"), await stage.office.open("/calls")
    async with stage.office.client() as slow:
        (asked,) = await Inbox(stage.office.app.database).open()
        await first.hands.click("button[value=approved]")
        await first.sees("Nothing waits for you")
        given = {"questions": [asked.question.id], "decision": "rejected", "reason": "too late"}
        origin = {"origin": stage.office.listening.place.rstrip("/")}
        heard = (await slow.post("/questions/answer", json=given, headers=origin)).json()["answered"][0]
    assert (heard["won"], heard["decision"]) == (False, "approved")
    await second.go(f"/questions?late={asked.question.id}")
    await second.sees("Somebody was faster")
    assert "dashboard (browser" in await second.text()
    await stage.office.tidy()


async def test_what_somebody_writes_stays_while_other_questions_come_and_go(stage: Stage):
    await stage.begin("asker", "One", mode="run")
    view = await stage.office.open("/questions")
    await view.fields.type("input[name=reason]", "because")
    await view.js("document.querySelector('input[name=reason]').focus()")
    await stage.begin("asker", "Two", mode="run")
    await view.until("document.querySelectorAll('.question').length === 2")
    assert await view.js("document.activeElement.value") == "because"
    waiting = [each.question.id for each in await Inbox(stage.office.app.database).open()]
    async with stage.office.client() as other:
        origin = {"origin": stage.office.listening.place.rstrip("/")}
        given = {"questions": waiting, "decision": "rejected"}
        assert len((await other.post("/questions/answer", json=given, headers=origin)).json()["resumed"]) == 2
    await view.sees("Nothing waits for you")
    await view.sees("answered elsewhere")
    await stage.office.tidy()


async def test_cancelling_reaches_what_the_run_has_begun(stage: Stage):
    run = await stage.begin("boss", "Delegate it")
    view = await stage.office.open(f"/runs/{run}")
    await view.sees("All runs of this task")
    await view.until("document.querySelectorAll('.runs-tree .badge.info').length === 2")
    await accepts(view)
    await view.js("document.querySelector('.button.danger').click()")
    await view.until(
        "document.querySelectorAll('.runs-tree li').length === 2 && !document.querySelector('.runs-tree .info')"
    )
    assert (await view.text()).count("cancelled") >= 3
    await stage.office.tidy()


async def test_a_failed_run_is_begun_again_where_it_failed(stage: Stage):
    run = await stage.begin("failer", "Fail first")
    view = await stage.office.open(f"/runs/{run}")
    await view.sees("HTTP 404")
    stage.gate("mended").set()
    await view.hands.click(".button.primary")
    await view.sees("failer is done.")
    await view.until("document.querySelectorAll('#steps .step').length === 2")
    assert "Attempt" in await view.text()
    await stage.office.tidy()


async def test_a_lost_connection_comes_back_and_nothing_is_missing(stage: Stage):
    gate = stage.pause("after the break")
    async with cut_through(stage.office.listening.place) as cut:
        view = await stage.office.open("/calls")
        await view.go(stage.office.listening.address.replace(stage.office.listening.place, cut.place))
        run = await stage.begin("speaker", "Make tea")
        await view.go(f"{cut.place}runs/{run}")
        await view.sees("Water first.")
        await stay(view)
        await cut.cut()
        await view.sees("connection lost")
        gate.set()
        async for _ in stage.office.app.runs.follow(run):
            pass
        cut.mend()
        await view.sees("speaker is done.")
        await view.until("document.querySelectorAll('#steps .step').length === 2")
        await view.until("document.getElementById('connection').textContent === 'live'")
        assert await view.js("window.stayed")
        await view.go(f"{cut.place}runs/{run}")
        assert "speaker is done." in await view.text()
        await stage.office.tidy()


async def test_the_address_of_a_step_leads_there_in_a_long_run(stage: Stage):
    steps = [said("run_long", number, f"Saying {number}.") for number in range(1, 90)]
    steps += [called("run_long", number, "web_fetch", {"n": number}, "x" * 3_000) for number in range(1, 90)]
    await fill(stage.office.app.database, run=[run_row("run_long", query="A long run")], step=steps)
    view = await stage.office.open("/runs/run_long#step-70")
    await view.until("location.search.includes('after=70') && document.querySelector('#step-70:target') !== null")
    assert "Saying 70." in await view.text()
    await view.hands.click("#step-70 summary")
    await view.hands.click("#step-70 [data-whole]")
    await view.until("document.querySelector('#step-70 pre.whole')?.textContent.length === 3000")
    await stage.office.tidy()


async def test_two_runs_are_compared_by_choosing_them_in_the_list(stage: Stage):
    view = await stage.office.open("/runs")
    assert await view.js("document.getElementById('compare-button').disabled")
    await view.js("[...document.querySelectorAll('.pick input')].slice(0, 2).forEach((each) => each.click())")
    await view.hands.click("#compare-button")
    await view.sees("Two runs side by side")
    assert "of " in await view.text()
    assert view.complaints == []
    await stage.office.tidy()


async def test_a_list_that_is_filtered_stays_so_when_it_is_loaded_again(stage: Stage):
    name = f"Brew{secrets.token_hex(4)}"
    await stage.begin("speaker", f"{name} for three")
    await stage.begin("speaker", "Something else")
    view = await stage.office.open("/runs")
    await view.fields.type("input[type=search]", name, submit=True)
    await view.until(f"location.search === '?q={name}'")
    await view.until("document.querySelectorAll('tbody tr').length === 1")
    await view.js("location.reload()")
    await view.until("document.querySelectorAll('tbody tr').length === 1")
    assert await view.js("document.querySelector('input[type=search]').value") == name
    await stage.office.tidy()
