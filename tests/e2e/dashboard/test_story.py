"""The dashboard from beginning to end: one person, one agent, and a connection that breaks."""

import re
from pathlib import Path

import anyio
import pytest

import browser_site
from outrider.agents.run import Run
from outrider.browser.browser import Browser
from support.apps import agent_tools
from support.apps.agent_runs import Office, begin, office
from support.apps.dashboard_browser import Desk, View, desk
from support.fakes import http_servers
from support.fakes.cuttable_proxy import cut_through
from support.fakes.model_apis import Asked, Turn

pytestmark = pytest.mark.anyio
PATIENCE = 120
MAIL = "ada@example.org"
BOX = """(() => {
    const { x, y, width, height } = document.getElementById("screen").getBoundingClientRect();
    return [x, y, width, height];
})()"""
SESSION = re.compile(r"Session ([0-9a-f-]{36})")


@pytest.fixture(autouse=True)
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The toolset of `agent_tools`, installed as a plugin."""
    monkeypatch.syspath_prepend(agent_tools.install(tmp_path / "plugins"))


class Clerk:
    """A model that orders a present, and needs the address for it from a person."""

    def __init__(self, site: str) -> None:
        self.site = site
        self.may_type = anyio.Event()
        self.may_end = anyio.Event()

    def __call__(self, asked: Asked) -> Turn:
        found = SESSION.search(" ".join(asked.results))
        here = {"sessionId": found[1] if found else ""}
        turns = [
            Turn("I open the order form.", calls=[("createSession", {"url": f"{self.site}/form"})]),
            Turn("I look at it first.", calls=[("snapshotPage", here)]),
            Turn("I fill in the name.", calls=[("inputText", here | {"selector": "[name=name]", "text": "Ada"})],
                 until=self.may_type),
            Turn("I read what is there now.", calls=[("snapshotPage", here)]),
            Turn("I send the order.", calls=[("send", {"text": f"a present for {_address(asked)}"})]),
            Turn("Your present is on its way, Ada.", until=self.may_end),
        ]  # fmt: skip
        return turns[min(asked.turns, len(turns) - 1)]


def _address(asked: Asked) -> str:
    """The address that the agent has read from the page; only a person can have typed it there."""
    return MAIL if asked.results and MAIL in asked.results[-1] else "nobody"


async def test_a_person_watches_pauses_takes_over_approves_and_comes_back(home: Path, chromium: Browser):
    with anyio.fail_after(PATIENCE):
        async with http_servers.serve(browser_site.site()) as site:
            clerk = Clerk(site)
            egress = {"allow": [f"127.0.0.1:{site.rsplit(':', 1)[1]}"]}
            async with office(clerk, egress=egress) as at, desk(home, chromium, at.app) as rooms:
                await story(at, rooms, clerk)
    assert [line.partition(" ")[2] for line in agent_tools.lines(home)] == [f"a present for {MAIL}"]


async def story(at: Office, rooms: Desk, clerk: Clerk) -> None:
    """What happens, in order."""
    run = await begin(at.app, "Order a present for Ada.", toolsets=["browser", "ledger"], name="clerk")
    async with cut_through(rooms.listening.place) as cut:
        view = await rooms.open("/runs")
        view.place = cut.place
        await view.go(rooms.listening.address.replace(rooms.listening.place, cut.place))
        await watch(view, run)
        await take_over(rooms, view, clerk)
        await approve(view)
        await view.go(f"/runs/{run.id}")
        await view.sees(f"sent: a present for {MAIL}")
        await cut.cut()
        await view.sees("connection lost")
        clerk.may_end.set()
        assert (await at.end(run)).status == "completed"
        assert "on its way" not in await view.text()
        cut.mend()
        await view.sees("Your present is on its way, Ada.")
        await view.sees("completed")
        assert view.complaints == []
        await rooms.tidy()


async def watch(view: View, run: Run) -> None:
    """The person finds the run among all runs, then sees what its browser shows."""
    await view.go("/runs")
    await view.sees("Order a present for Ada.")
    await view.go(f"/runs/{run.id}")
    await view.sees("I look at it first.")
    await view.go("/live")
    await view.sees("Order form")
    await view.until("document.getElementById('screen').dataset.seq")


async def take_over(rooms: Desk, view: View, clerk: Clerk) -> None:
    """The person pauses the agent, types for it, and lets it go on."""
    await view.hands.click("#pause")
    await view.sees("Paused")
    clerk.may_type.set()
    await view.sees("Paused, the agent waits")
    await view.sees("I fill in the name.")
    await view.hands.click("#take")
    await view.sees("You have control")
    await type_into(rooms, view, "[name=email]", MAIL)
    await view.hands.click("#take")


async def approve(view: View) -> None:
    """The person is told that a question waits, reads what would be done, and allows it once."""
    await view.until("document.querySelector('[data-badge=questions]')")
    await view.hands.click(".pages a[data-key=q]")
    await view.sees(f"a present for {MAIL}")
    await view.hands.click("button[value=approved]")
    await view.sees("Nothing waits for you")


async def type_into(rooms: Desk, view: View, selector: str, text: str) -> None:
    """Clicks into a field where the picture shows it, and types."""
    session = rooms.app.browsers.list()[0]
    page = session.tabs.current
    assert page is not None
    middle = f"""() => {{
        const box = document.querySelector({selector!r}).getBoundingClientRect();
        return [(box.x + box.width / 2) / innerWidth, (box.y + box.height / 2) / innerHeight];
    }}"""
    across, down = await page.evaluate_in("", middle)
    box = await view.js(BOX)
    await view.page.mouse("click", box[0] + across * box[2], box[1] + down * box[3])
    inside = View(page, "")
    await inside.until(f"document.activeElement === document.querySelector({selector!r})")
    for letter in text:
        await view.page.key(letter)
    await inside.until(f"document.querySelector({selector!r}).value === {text!r}")
