"""Now: what is going on, on one page: sessions, agents, questions, calls under way, and what fails."""

import time
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from outrider.agents.oversight.inbox import Inbox
from outrider.agents.oversight.overview import Overview
from outrider.agents.oversight.run_list import Wanted as WantedRuns
from outrider.core.figures import groups, spans, spread
from outrider.core.history import FAILED, History, Wanted
from outrider.dashboard import feed, render
from outrider.dashboard.calls import drawing, providers
from outrider.dashboard.house import House
from outrider.dashboard.live.room import Room
from outrider.dashboard.page import Page, house_of
from outrider.dashboard.reach import only_workspace

HOUR = 3_600
COLUMNS, WIDTH = 60, 600  # one a minute
MOST = 5  # entries of a list: the page of its own has the rest


async def show(request: Request) -> Response:
    """Everything at a glance; of who may see one workspace alone, its calls."""
    at = await feed.start(request, "calls", "runs", "questions")
    house, only = house_of(request), only_workspace(request)
    values = await _calls(house, only)
    if only is None:
        values |= await _work(request, house)
    return await render.page(request, "now.html", feed=at, whole_house=only is None, hour=HOUR, **values)


async def _calls(house: House, only: str | None) -> dict[str, Any]:
    await house.events.flush()
    history, now = History(house.database), time.time()
    wanted = Wanted(since=now - HOUR, workspace=only)
    calls = await history.sample(wanted)
    return {
        "whole": spread("all", calls),
        "columns": drawing.columns(spans(calls, now - HOUR, now, COLUMNS), WIDTH),
        "errors": groups(await history.failures(wanted))[:MOST],
        "failed": FAILED,
    }


async def _work(request: Request, house: House) -> dict[str, Any]:
    """What people steer: sessions, runs, questions, providers, calls under way."""
    states = [providers.state(each) for each in await house.search.status()]
    room = _room(request)
    await room.look()
    sessions = room.sessions()
    runs = await Overview(house.database).listed(WantedRuns(status="open"), limit=MOST + 1)
    questions = await Inbox(house.database).open(MOST + 1)
    return {
        "sessions": sessions[:MOST],
        "more_sessions": len(sessions) - MOST,
        "runs": runs.items[:MOST],
        "more_runs": len(runs.items) > MOST,
        "questions": questions[:MOST],
        "waiting": await Inbox(house.database).count(),
        "troubled": [each for each in providers.by_use(states) if each.mark in ("bad", "warn")],
        "underway": house.events.underway.calls[:MOST],
    }


def _room(request: Request) -> Room:
    """The one that the page Live uses too; made by the first who looks."""
    state = request.app.state
    if not hasattr(state, "room"):
        state.room = Room(house_of(request))
    return state.room


now = Page("now", "Now", 0, (Route("/", show, name="now"),), key="n")
