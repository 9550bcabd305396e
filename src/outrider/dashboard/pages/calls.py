"""Page Calls: call records, speed and size, providers, errors."""

import time
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from outrider.core.call_history import FAILED_OUTCOME, MAX_SAMPLE_CALLS, CallFilter, CallHistory
from outrider.core.call_stats import bucket_calls, group_failures, summarize_calls, summarize_calls_by
from outrider.core.errors import NotFound
from outrider.dashboard import feed, render
from outrider.dashboard.access import ResourceOwner, can_view, get_allowed_workspace
from outrider.dashboard.calls import charts, provider_states
from outrider.dashboard.page import DashboardPage, FeedChange, get_services
from outrider.dashboard.services import DashboardServices

COLUMN_COUNT, CHART_WIDTH = 60, 600  # of the calls over time
DAY_S = 86_400
PERIOD_TITLES = {"": "Any time", "hour": "Last hour", "day": "Last day", "week": "Last week"}
PERIOD_SECONDS = {"hour": 3_600, "day": DAY_S, "week": 7 * DAY_S}


async def show_calls(request: Request) -> Response:
    """Show call records, newest first; with `part=rows` only the rows."""
    max_rows = 100
    history, call_query = await _open_history(request), parse_call_query(request)
    at = await feed.get_feed_position(request, "calls")
    after = request.query_params.get("after", "")
    part = await history.list_batch(_build_call_filter(request), after=after, limit=max_rows)
    values: dict[str, Any] = {"events": part.items, "asked": call_query, "older": part.after, "after": after}
    if request.query_params.get("part") == "rows":
        return render.render_fragment(request, "calls/rows.html", **values)
    # The filters offer what occurs in the newest calls.
    calls = await (await _open_history(request)).sample_calls(CallFilter(workspace=get_allowed_workspace(request)))
    names = {
        "tool": {call.tool for call in calls},
        "provider": {call.provider for call in calls if call.provider},
        "outcome": {call.outcome for call in calls},
    }
    return await _render_calls_page(
        request, "calls", feed=at, choices={name: sorted(each) for name, each in names.items()}, **values
    )


async def show_speed(request: Request) -> Response:
    """Show durations and sizes by tool and provider."""
    at, call_query = await feed.get_feed_position(request, "calls"), parse_call_query(request)
    calls = await (await _open_history(request)).sample_calls(_build_call_filter(request))
    tools, answered = (
        summarize_calls_by(calls, lambda call: call.tool),
        summarize_calls_by(calls, lambda call: call.provider),
    )
    # From the period's start, or from the oldest call
    now = time.time()
    oldest = calls[-1].at if calls else now
    begin = now - PERIOD_SECONDS[call_query.period] if call_query.period in PERIOD_SECONDS else min(oldest, now - 60)
    return await _render_calls_page(
        request,
        "speed",
        feed=at,
        asked=call_query,
        whole=summarize_calls("all", calls),
        columns=charts.build_columns(bucket_calls(calls, begin, now, COLUMN_COUNT), CHART_WIDTH),
        tables=(("tool", "Tools", tools), ("provider", "Providers that answered", answered)),
        seconds=charts.build_time_scale([*tools, *answered]),
        sizes=charts.build_size_scale([*tools, *answered]),
        cut=len(calls) == MAX_SAMPLE_CALLS,
    )


async def show_providers(request: Request) -> Response:
    """Show which search providers work and which are paused."""
    at = await feed.get_feed_position(request, "calls")
    states = [provider_states.describe_provider(each) for each in await get_services(request).search.list_providers()]
    return await _render_calls_page(
        request, "providers", feed=at, asked=parse_call_query(request), states=provider_states.sort_by_urgency(states)
    )


async def show_errors(request: Request) -> Response:
    """Show failures by code and message pattern."""
    max_groups = 100  # kinds of errors to show
    at, call_query = await feed.get_feed_position(request, "calls"), parse_call_query(request)
    found = group_failures(
        await (await _open_history(request)).list_failures(
            replace(_build_call_filter(request), outcome=call_query.outcome or FAILED_OUTCOME)
        )
    )
    return await _render_calls_page(
        request,
        "errors",
        feed=at,
        asked=call_query,
        groups=found[:max_groups],
        more=len(found) - max_groups,
        failed=FAILED_OUTCOME,
    )


async def show_call(request: Request) -> Response:
    """Show one call."""
    event = await (await _open_history(request)).get_call(request.path_params["call"])
    if not can_view(request, ResourceOwner(event.workspace, event.identity)):
        raise NotFound("no such call", hint="choose another")
    return await _render_calls_page(request, "call", event=event, asked=CallQuery())


def _build_call_filter(request: Request) -> CallFilter:
    return replace(parse_call_query(request).call_filter, workspace=get_allowed_workspace(request))


async def _open_history(request: Request) -> CallHistory:
    """Open the call history with all records flushed."""
    services = get_services(request)
    await services.events.flush()
    return CallHistory(services.database)


async def _render_calls_page(request: Request, name: str, **values: Any) -> Response:
    frame: dict[str, Any] = {"section": name, "periods": PERIOD_TITLES}
    return await render.render_page(request, f"calls/{name}.html", **frame, **values)


async def _read_changes(services: DashboardServices, cursor: str) -> tuple[list[FeedChange], str]:
    """Report new calls and their outcomes; the page fetches the rows itself."""
    fresh, cursor = await CallHistory(services.database).list_new_calls(cursor)
    return [{"id": event.id, "tool": event.tool, "outcome": event.outcome} for event in fresh], cursor


CALLS_PAGE = DashboardPage(
    "calls",
    "Calls",
    40,
    (
        Route("/calls", show_calls, name="calls"),
        Route("/calls/speed", show_speed, name="calls_speed"),
        Route("/calls/providers", show_providers, name="calls_providers"),
        Route("/calls/errors", show_errors, name="calls_errors"),
        Route("/calls/{call}", show_call, name="call"),
    ),
    feeds={"calls": _read_changes},
    key="c",
)


@dataclass(frozen=True)
class CallQuery:
    """The filters; empty ones match everything. `q` is text, `period` is one of PERIODS."""

    q: str = ""
    tool: str = ""
    toolset: str = ""
    provider: str = ""
    outcome: str = ""
    session: str = ""
    period: str = ""

    @property
    def call_filter(self) -> CallFilter:
        """The filter for the call history."""
        since = time.time() - PERIOD_SECONDS[self.period] if self.period in PERIOD_SECONDS else 0.0
        return CallFilter(self.tool, self.toolset, self.provider, self.outcome, self.session, self.q, since)

    def query(self, **changed: Any) -> str:
        """Return the filters as a query string with `?`; `changed` overrides values."""
        values = {name: value for name, value in (vars(self) | changed).items() if value}
        return f"?{urlencode(values)}" if values else ""


def parse_call_query(request: Request) -> CallQuery:
    """Parse the filters of a request."""
    max_filter_chars = 200  # characters of a filter
    params = request.query_params
    return CallQuery(**{each.name: params.get(each.name, "").strip()[:max_filter_chars] for each in fields(CallQuery)})
