"""Calls: every tool call with its outcome, time and size."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from outrider.core.events import Event
from outrider.dashboard import feed, render
from outrider.dashboard.house import House
from outrider.dashboard.page import Page, house_of


async def show(request: Request) -> Response:
    """The newest calls."""
    at = await feed.start(request, "calls")
    return await render.page(request, "calls.html", feed=at, events=await house_of(request).events.recent(50))


async def _changes(house: House, cursor: str) -> tuple[list[dict[str, Any]], str]:
    newest: list[Event] = await house.events.recent(100)
    if not cursor:
        return [], str(newest[0].at) if newest else "0"
    fresh = [event for event in reversed(newest) if event.at > float(cursor)]
    return [vars(event) for event in fresh], str(fresh[-1].at) if fresh else cursor


calls = Page("calls", "Calls", 40, (Route("/calls", show, name="calls"),), feeds={"calls": _changes}, key="c")
