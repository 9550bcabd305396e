"""Page Now: sessions, agents, questions, running calls and failures at a glance."""

import time
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from outrider.agents.views.inbox import Inbox
from outrider.agents.views.overview import RunOverview
from outrider.agents.views.run_list import RunFilter as WantedRuns
from outrider.core.call_history import FAILED_OUTCOME, CallFilter, CallHistory
from outrider.core.call_stats import bucket_calls, group_failures, summarize_calls
from outrider.dashboard import feed, render
from outrider.dashboard.access import get_allowed_workspace
from outrider.dashboard.calls import charts, provider_states
from outrider.dashboard.live.hub import LiveHub
from outrider.dashboard.page import DashboardPage, get_services
from outrider.dashboard.services import DashboardServices

HOUR_S = 3_600
COLUMN_COUNT, CHART_WIDTH = 60, 600  # one a minute
MAX_LIST_ENTRIES = 5  # entries of a list; the rest is on its own page


async def show_now(request: Request) -> Response:
    """Show the overview; viewers of a single workspace see only its calls."""
    at = await feed.get_feed_position(request, "calls", "runs", "questions")
    services, allowed_workspace = get_services(request), get_allowed_workspace(request)
    await services.events.flush()
    history, now = CallHistory(services.database), time.time()
    last_hour = CallFilter(since=now - HOUR_S, workspace=allowed_workspace)
    calls = await history.sample_calls(last_hour)
    values: dict[str, Any] = {
        "whole": summarize_calls("all", calls),
        "columns": charts.build_columns(bucket_calls(calls, now - HOUR_S, now, COLUMN_COUNT), CHART_WIDTH),
        "errors": group_failures(await history.list_failures(last_hour))[:MAX_LIST_ENTRIES],
        "failed": FAILED_OUTCOME,
    }
    if allowed_workspace is None:
        values |= await _collect_activity(request, services)
    return await render.render_page(
        request, "now.html", feed=at, shows_all_workspaces=allowed_workspace is None, hour=HOUR_S, **values
    )


async def _collect_activity(request: Request, services: DashboardServices) -> dict[str, Any]:
    """Collect sessions, runs, questions, providers and running calls."""
    states = [provider_states.describe_provider(each) for each in await services.search.list_providers()]
    # The hub that the page Live uses, created at first use
    state = request.app.state
    if not hasattr(state, "room"):
        state.room = LiveHub(get_services(request))
    room = state.room
    await room.refresh()
    sessions = room.list_sessions()
    runs = await RunOverview(services.database).list_trees(WantedRuns(status="open"), limit=MAX_LIST_ENTRIES + 1)
    questions = await Inbox(services.database).list_open(MAX_LIST_ENTRIES + 1)
    return {
        "sessions": sessions[:MAX_LIST_ENTRIES],
        "more_sessions": len(sessions) - MAX_LIST_ENTRIES,
        "runs": runs.items[:MAX_LIST_ENTRIES],
        "more_runs": len(runs.items) > MAX_LIST_ENTRIES,
        "questions": questions[:MAX_LIST_ENTRIES],
        "waiting": await Inbox(services.database).count_open(),
        "failing_providers": [each for each in provider_states.sort_by_urgency(states) if each.mark in ("bad", "warn")],
        "inflight_calls": services.events.inflight.calls[:MAX_LIST_ENTRIES],
    }


NOW_PAGE = DashboardPage("now", "Now", 0, (Route("/", show_now, name="now"),), key="n")
