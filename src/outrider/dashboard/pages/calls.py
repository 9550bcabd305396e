"""Calls: the record of every tool call, how fast and large they are, how providers do, and what goes wrong."""

import time
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from outrider.core.errors import NotFound
from outrider.core.figures import groups, spans, spread, spreads
from outrider.core.history import FAILED, SAMPLE, History, Taken, Wanted
from outrider.dashboard import feed, render
from outrider.dashboard.calls import drawing, providers
from outrider.dashboard.calls.asked import PERIODS, SECONDS, Asked, asked
from outrider.dashboard.house import House
from outrider.dashboard.page import Change, Page, house_of
from outrider.dashboard.reach import Owner, may_see, only_workspace

ROWS = 100
COLUMNS, WIDTH = 60, 600  # of the calls over time
GROUPS = 100  # kinds of errors that are shown


async def show(request: Request) -> Response:
    """The record, the newest first; with `part=rows` only the list."""
    history, wanted = await _history(request), asked(request)
    at = await feed.start(request, "calls")
    after = request.query_params.get("after", "")
    part = await history.page(_wanted(request), after=after, limit=ROWS)
    values: dict[str, Any] = {"events": part.items, "asked": wanted, "older": part.after, "after": after}
    if request.query_params.get("part") == "rows":
        return render.fragment(request, "calls/rows.html", **values)
    return await _page(request, "calls", feed=at, choices=await _choices(request), **values)


async def show_speed(request: Request) -> Response:
    """Waiting times and sizes, by tool and by who answered."""
    at, wanted = await feed.start(request, "calls"), asked(request)
    calls = await (await _history(request)).sample(_wanted(request))
    tools, answered = spreads(calls, lambda call: call.tool), spreads(calls, lambda call: call.provider)
    return await _page(
        request,
        "speed",
        feed=at,
        asked=wanted,
        whole=spread("all", calls),
        columns=drawing.columns(_over_time(calls, wanted), WIDTH),
        tables=(("tool", "Tools", tools), ("provider", "Providers that answered", answered)),
        seconds=drawing.of_seconds([*tools, *answered]),
        sizes=drawing.of_sizes([*tools, *answered]),
        cut=len(calls) == SAMPLE,
    )


async def show_providers(request: Request) -> Response:
    """Which search providers work, and which are left alone."""
    at = await feed.start(request, "calls")
    states = [providers.state(each) for each in await house_of(request).search.status()]
    return await _page(request, "providers", feed=at, asked=asked(request), states=providers.by_use(states))


async def show_errors(request: Request) -> Response:
    """Failures by code and by the shape of their message."""
    at, wanted = await feed.start(request, "calls"), asked(request)
    found = groups(
        await (await _history(request)).failures(replace(_wanted(request), outcome=wanted.outcome or FAILED))
    )
    return await _page(
        request, "errors", feed=at, asked=wanted, groups=found[:GROUPS], more=len(found) - GROUPS, failed=FAILED
    )


async def show_call(request: Request) -> Response:
    """One call."""
    event = await (await _history(request)).get(request.path_params["call"])
    if not may_see(request, Owner(event.workspace, event.identity)):
        raise NotFound("no such call", hint="choose another")
    return await _page(request, "call", event=event, asked=Asked())


def _wanted(request: Request) -> Wanted:
    return replace(asked(request).wanted, workspace=only_workspace(request))


async def _history(request: Request) -> History:
    """The record, with the calls of this moment."""
    house = house_of(request)
    await house.events.flush()
    return History(house.database)


async def _page(request: Request, name: str, **values: Any) -> Response:
    frame: dict[str, Any] = {"section": name, "periods": PERIODS}
    return await render.page(request, f"calls/{name}.html", **frame, **values)


async def _choices(request: Request) -> dict[str, list[str]]:
    """What there is to filter by: what the newest calls were."""
    calls = await (await _history(request)).sample(Wanted(workspace=only_workspace(request)))
    names = {
        "tool": {call.tool for call in calls},
        "provider": {call.provider for call in calls if call.provider},
        "outcome": {call.outcome for call in calls},
    }
    return {name: sorted(each) for name, each in names.items()}


def _over_time(calls: list[Taken], wanted: Asked) -> list[Any]:
    """From the chosen period's beginning, or from the oldest call."""
    now = time.time()
    oldest = calls[-1].at if calls else now
    begin = now - SECONDS[wanted.period] if wanted.period in SECONDS else min(oldest, now - 60)
    return spans(calls, begin, now, COLUMNS)


async def _changes(house: House, cursor: str) -> tuple[list[Change], str]:
    """That there were calls, and what came of them: the page asks for what it shows."""
    fresh, cursor = await History(house.database).arrived(cursor)
    return [{"id": event.id, "tool": event.tool, "outcome": event.outcome} for event in fresh], cursor


calls = Page(
    "calls",
    "Calls",
    40,
    (
        Route("/calls", show, name="calls"),
        Route("/calls/speed", show_speed, name="calls_speed"),
        Route("/calls/providers", show_providers, name="calls_providers"),
        Route("/calls/errors", show_errors, name="calls_errors"),
        Route("/calls/{call}", show_call, name="call"),
    ),
    feeds={"calls": _changes},
    key="c",
)
