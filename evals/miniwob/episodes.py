"""Play tasks in several sessions of one browser, each episode from a fixed seed."""

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
from evals.miniwob.coverage import Coverage, measure_coverage
from evals.miniwob.player import SOLVERS, Player, ToolError
from evals.miniwob.site import serve_tasks
from outrider.app import App, open_app
from outrider.browser.session.session import Session
from outrider.settings import load

DEFAULT_SEED = "7"
SESSION_COUNT = 4
# Elements next to the task (rewards, a clock, a canvas that draws each press) belong to the test and are removed.
START_EPISODE = """(seed) => {
  Math.seedrandom(seed);
  core.EPISODE_MAX_TIME = 60000;
  core.startEpisodeReal();
  core.hideDisplay();
  document.getElementById('click-canvas').style.display = 'none';
}"""
solvers.load_solvers()


@dataclass(frozen=True)
class Episode:
    """The outcome of an episode.

    Attributes:
        task: Its name.
        solved: Whether the page has given the full reward.
        seconds: How long it took.
        why: The reason of a failure.
        coverage: How much of the page its first snapshot showed.
    """

    task: str
    solved: bool
    seconds: float
    why: str
    coverage: Coverage | None


async def play_tasks(
    tasks: Iterable[str], *, seed: str = DEFAULT_SEED, at_once: int = SESSION_COUNT, measured: bool = True
) -> list[Episode]:
    """Play the tasks; returns the episodes sorted by name."""
    waiting, done = deque(tasks), []

    async def play_waiting(seat: EpisodePlayer) -> None:
        while waiting:
            done.append(await _play_episode(seat, waiting.popleft(), seed, measured=measured))

    with serve_tasks() as url:
        async with _open_client(url) as (app, client), anyio.create_task_group() as group:
            for _ in range(at_once):
                group.start_soon(play_waiting, await _open_player(app, client, url))
    return sorted(done, key=lambda each: each.task)


@dataclass(frozen=True)
class EpisodePlayer:
    """A player, the browser session behind it, and the address of the tasks."""

    player: Player
    session: Session
    url: str

    async def evaluate_script(self, world: str, function: str, *args: object) -> Any:
        """Run a script as the referee."""
        async with self.session.acquire_page() as page:
            return await page.evaluate_in(world, function, *args)


@asynccontextmanager
async def _open_client(url: str) -> AsyncGenerator[tuple[App, Client]]:
    with tempfile.TemporaryDirectory() as folder:
        values = {"toolsets": ["browser"], "egress": {"allow": [url.removeprefix("http://")]}}
        loaded = load(values, environ={}, home=Path(folder), workspace=Path(folder))
        async with open_app(loaded) as app, Client(app.build_server()) as client:
            yield app, client


async def _open_player(app: App, client: Client, url: str) -> EpisodePlayer:
    opened = await client.call_tool("createSession", {"url": f"{url}/miniwob/click-test.html", "viewport": "800x600"})
    assert opened.structured_content, opened
    player = Player(client, opened.structured_content["sessionId"])
    session = next(each for each in app.browsers.list_sessions() if each.id == player.session)
    return EpisodePlayer(player, session, url)


async def _play_episode(seat: EpisodePlayer, task: str, seed: str, *, measured: bool) -> Episode:
    min_reward = 0.9  # of at most 1, which tasks graded by distance or speed never give
    read_reward = "() => WOB_DONE_GLOBAL ? WOB_RAW_REWARD_GLOBAL : null"
    draw_time_s = 0.15  # until the pictures of an episode have loaded, without which buttons have no size
    await seat.player.call_tool("navigateToUrl", url=f"{seat.url}/miniwob/{task}.html")
    await seat.evaluate_script("", START_EPISODE, seed)
    await anyio.sleep(draw_time_s)
    coverage = (
        await measure_coverage(seat.evaluate_script, (await seat.player.take_snapshot()).text) if measured else None
    )
    started = time.monotonic()
    why = await _solve_task(seat.player, task)
    reward = await seat.evaluate_script("", read_reward)
    why = why or f"reward {reward}"
    return Episode(task, (reward or -1.0) >= min_reward, time.monotonic() - started, why, coverage)


async def _solve_task(player: Player, task: str) -> str:
    episode_timeout_s = 20.0  # for one episode; the page itself allows 60
    solver = SOLVERS.get(task)
    if solver is None:
        return "no solver"
    try:
        with anyio.fail_after(episode_timeout_s):
            await solver(player, await player.read_goal())
    except TimeoutError:
        return "out of time"
    except (ToolError, LookupError, ValueError, AttributeError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
    return ""
