"""The dashboard from beginning to end: one person, one agent, and a connection that breaks."""

import re
from pathlib import Path

import anyio
import pytest

import browser_site
from outrider.agents.run import Run
from outrider.browser.process.browser import Browser
from support.apps import agent_tools
from support.apps.agent_runs import ScriptedApp, open_scripted_app, start_run
from support.apps.dashboard_browser import DashboardSession, DashboardTab, open_dashboard
from support.fakes import http_servers
from support.fakes.cuttable_proxy import open_cuttable_proxy
from support.fakes.model_apis import ModelTurn, ScriptedRequest
from support.timeouts import SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio
MAIL = "ada@example.org"
BOX = """(() => {
    const { x, y, width, height } = document.getElementById("screen").getBoundingClientRect();
    return [x, y, width, height];
})()"""
SESSION = re.compile(r"Session ([0-9a-f-]{36})")


@pytest.fixture(autouse=True)
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The toolset of `agent_tools`, installed as a plugin."""
    monkeypatch.syspath_prepend(agent_tools.install_plugin(tmp_path / "plugins"))


class Clerk:
    """A model that orders a present, and needs an address from a person for it."""

    def __init__(self, site: str) -> None:
        self.site = site
        self.may_type = anyio.Event()
        self.may_end = anyio.Event()

    def __call__(self, asked: ScriptedRequest) -> ModelTurn:
        found = SESSION.search(" ".join(asked.results))
        here = {"sessionId": found[1] if found else ""}
        turns = [
            ModelTurn("I open the order form.", calls=[("createSession", {"url": f"{self.site}/form"})]),
            ModelTurn("I look at it first.", calls=[("snapshotPage", here)]),
            ModelTurn("I fill in the name.", calls=[("inputText", here | {"selector": "[name=name]", "text": "Ada"})],
                 wait_before=self.may_type),
            ModelTurn("I read what is there now.", calls=[("snapshotPage", here)]),
            ModelTurn("I send the order.", calls=[("send", {"text": f"a present for {_address(asked)}"})]),
            ModelTurn("Your present is on its way, Ada.", wait_before=self.may_end),
        ]  # fmt: skip
        return turns[min(asked.turn_count, len(turns) - 1)]


def _address(asked: ScriptedRequest) -> str:
    """The address that the agent has read from the page; only a person can have typed it there."""
    return MAIL if asked.results and MAIL in asked.results[-1] else "nobody"


async def test_a_person_watches_pauses_takes_over_approves_and_returns(home: Path, chromium: Browser):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with http_servers.serve_app(browser_site.build_site()) as site:
            clerk = Clerk(site)
            egress = {"allow": [f"127.0.0.1:{site.rsplit(':', 1)[1]}"]}
            async with open_scripted_app(clerk, egress=egress) as at, open_dashboard(home, chromium, at.app) as rooms:
                await tell_story(at, rooms, clerk)
    assert [line.partition(" ")[2] for line in agent_tools.read_ledger_lines(home)] == [f"a present for {MAIL}"]


async def tell_story(at: ScriptedApp, rooms: DashboardSession, clerk: Clerk) -> None:
    """The events, in order."""
    run = await start_run(at.app, "Order a present for Ada.", toolsets=["browser", "ledger"], name="clerk")
    async with open_cuttable_proxy(rooms.server.base_url) as cut:
        view = await rooms.open_tab("/runs")
        view.base_url = cut.url
        await view.open_path(rooms.server.sign_in_url.replace(rooms.server.base_url, cut.url))
        await watch_run(view, run)
        await take_over(rooms, view, clerk)
        await approve_question(view)
        await view.open_path(f"/runs/{run.id}")
        await view.wait_for_text(f"sent: a present for {MAIL}")
        await cut.cut_connections()
        await view.wait_for_text("connection lost")
        clerk.may_end.set()
        assert (await at.wait_for_end(run)).status == "completed"
        assert "on its way" not in await view.read_text()
        cut.restore()
        await view.wait_for_text("Your present is on its way, Ada.")
        await view.wait_for_text("completed")
        assert view.page_errors == []
        await rooms.close_tabs()


async def watch_run(view: DashboardTab, run: Run) -> None:
    """The person finds the run among all runs, then watches its browser."""
    await view.open_path("/runs")
    await view.wait_for_text("Order a present for Ada.")
    await view.open_path(f"/runs/{run.id}")
    await view.wait_for_text("I look at it first.")
    await view.open_path("/live")
    await view.wait_for_text("Order form")
    await view.wait_until("document.getElementById('screen').dataset.seq")


async def take_over(rooms: DashboardSession, view: DashboardTab, clerk: Clerk) -> None:
    """The person pauses the agent, types for it, and lets it continue."""
    await view.pointer.click("#pause")
    await view.wait_for_text("Paused")
    clerk.may_type.set()
    await view.wait_for_text("Paused, the agent is waiting")
    await view.wait_for_text("I fill in the name.")
    await view.pointer.click("#take")
    await view.wait_for_text("You have control")
    await type_into(rooms, view, "[name=email]", MAIL)
    await view.pointer.click("#take")


async def approve_question(view: DashboardTab) -> None:
    """The person is notified of a question, reads the action, and allows it once."""
    await view.wait_until("document.querySelector('[data-badge=questions]')")
    await view.pointer.click(".pages a[data-key=q]")
    await view.wait_for_text(f"a present for {MAIL}")
    await view.pointer.click("button[value=approved]")
    await view.wait_for_text("No questions are waiting")


async def type_into(rooms: DashboardSession, view: DashboardTab, selector: str, text: str) -> None:
    """Click a field at its place in the picture, and type."""
    session = rooms.app.browsers.list_sessions()[0]
    page = session.tabs.current
    assert page is not None
    middle = f"""() => {{
        const box = document.querySelector({selector!r}).getBoundingClientRect();
        return [(box.x + box.width / 2) / innerWidth, (box.y + box.height / 2) / innerHeight];
    }}"""
    across, down = await page.evaluate_in("", middle)
    box = await view.evaluate_js(BOX)
    await view.page.dispatch_mouse("click", box[0] + across * box[2], box[1] + down * box[3])
    inside = DashboardTab(page, "")
    await inside.wait_until(f"document.activeElement === document.querySelector({selector!r})")
    for letter in text:
        await view.page.dispatch_key(letter)
    await inside.wait_until(f"document.querySelector({selector!r}).value === {text!r}")
