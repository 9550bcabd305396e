"""Plays tasks: several sessions at once of one browser, each episode from a fixed seed."""

import tempfile
import time
from collections import deque
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

from evals.miniwob import solvers
from evals.miniwob.player import SOLVERS, Player, ToolError
from evals.miniwob.site import served
from evals.miniwob.truth import Truth, measure
from outrider.app import App, open_app
from outrider.browser.session.session import Session
from outrider.settings import load

SEED = "7"
AT_ONCE = 4
DRAWN = 0.15  # seconds after the start of an episode in which its pictures come: without them buttons have no size
SECONDS = 20.0  # for one episode; the page itself counts from 60 on down
# What stands beside the task (rewards, a clock, a canvas that draws each press) is the test's own and is put away.
BEGIN = """(seed) => {
  Math.seedrandom(seed);
  core.EPISODE_MAX_TIME = 60000;
  core.startEpisodeReal();
  core.hideDisplay();
  document.getElementById('click-canvas').style.display = 'none';
}"""
REWARD = "() => WOB_DONE_GLOBAL ? WOB_RAW_REWARD_GLOBAL : null"
ENOUGH = 0.9  # of a reward of at most 1: what is graded by nearness or pace never gives all of it
solvers.load()


@dataclass(frozen=True)
class Played:
    """How an episode went.

    Attributes:
        task: Its name.
        solved: The page has given the full reward.
        seconds: How long it took.
        why: What went wrong.
        truth: How much of the page its first snapshot showed.
    """

    task: str
    solved: bool
    seconds: float
    why: str
    truth: Truth | None


async def play(
    tasks: Iterable[str], *, seed: str = SEED, at_once: int = AT_ONCE, measured: bool = True
) -> list[Played]:
    """Plays the tasks, sorted by name afterwards."""
    waiting, done = deque(tasks), []

    async def work(seat: Seat) -> None:
        while waiting:
            done.append(await _played(seat, waiting.popleft(), seed, measured=measured))

    with served() as url:
        async with _opened(url) as (app, client), anyio.create_task_group() as group:
            for _ in range(at_once):
                group.start_soon(work, await _seated(app, client, url))
    return sorted(done, key=lambda each: each.task)


@dataclass(frozen=True)
class Seat:
    """A player, the session of the browser behind it, and the address of the tasks."""

    player: Player
    session: Session
    url: str

    async def evaluate(self, world: str, function: str, *args: object) -> Any:
        """For the referee only."""
        async with self.session.acquire_page() as page:
            return await page.evaluate_in(world, function, *args)


@asynccontextmanager
async def _opened(url: str) -> AsyncGenerator[tuple[App, Client]]:
    with tempfile.TemporaryDirectory() as folder:
        values = {"toolsets": ["browser"], "egress": {"allow": [url.removeprefix("http://")]}}
        loaded = load(values, environ={}, home=Path(folder), workspace=Path(folder))
        async with open_app(loaded) as app, Client(app.build_server()) as client:
            yield app, client


async def _seated(app: App, client: Client, url: str) -> Seat:
    opened = await client.call_tool("createSession", {"url": f"{url}/miniwob/click-test.html", "viewport": "800x600"})
    assert opened.structured_content, opened
    player = Player(client, opened.structured_content["sessionId"])
    session = next(each for each in app.browsers.list_sessions() if each.id == player.session)
    return Seat(player, session, url)


async def _played(seat: Seat, task: str, seed: str, *, measured: bool) -> Played:
    await seat.player.call("navigateToUrl", url=f"{seat.url}/miniwob/{task}.html")
    await seat.evaluate("", BEGIN, seed)
    await anyio.sleep(DRAWN)
    truth = await measure(seat.evaluate, (await seat.player.look()).text) if measured else None
    begun = time.monotonic()
    why = await _tried(seat.player, task)
    reward = await seat.evaluate("", REWARD)
    why = why or f"reward {reward}"
    return Played(task, (reward or -1.0) >= ENOUGH, time.monotonic() - begun, why, truth)


async def _tried(player: Player, task: str) -> str:
    solver = SOLVERS.get(task)
    if solver is None:
        return "nobody knows how"
    try:
        with anyio.fail_after(SECONDS):
            await solver(player, await player.read_goal())
    except TimeoutError:
        return "out of time"
    except (ToolError, LookupError, ValueError, AttributeError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
    return ""
