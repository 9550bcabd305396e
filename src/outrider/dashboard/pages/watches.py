"""Page Watches: targets, schedules, changes and failures."""

from typing import get_args
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from outrider.core.errors import InvalidInput, NotFound
from outrider.dashboard import render
from outrider.dashboard.access import get_allowed_workspace
from outrider.dashboard.page import DashboardPage, build_route_path, get_services
from outrider.watches.watch import Watch, WatchFilter


async def show_watches(request: Request) -> Response:
    """Show the watches of all people, the last changed first."""
    page_size, max_offset = 50, 1_000_000
    text = request.query_params.get("q", "").strip()[:200]
    filters: tuple[WatchFilter, ...] = get_args(WatchFilter)
    watch_filter = next((each for each in filters if each == request.query_params.get("which")), "all")
    offset_text = request.query_params.get("offset", "")[:9]
    offset = min(int(offset_text), max_offset) if offset_text.isascii() and offset_text.isdigit() else 0
    found, total = [], 0
    if _may_see_watches(request):
        store = get_services(request).watcher.engine.store
        found, total = await store.list_watches(
            None, offset=offset, limit=page_size, text=text, watch_filter=watch_filter
        )
    links = {"older": offset + page_size if offset + page_size < total else None, "newest": 0 if offset else None}
    active_filters = {"q": text, "which": "" if watch_filter == "all" else watch_filter}
    urls = {
        name: f"{request.url.path}?{urlencode({**active_filters, 'offset': start})}"
        for name, start in links.items()
        if start is not None
    }
    return await render.render_page(
        request, "watches/watches.html", watches=found, total=total, text=text, which=watch_filter, urls=urls
    )


async def show_watch(request: Request) -> Response:
    """Show one watch with its last changes."""
    max_changes = 30
    watch = await _require_watch(request)
    store = get_services(request).watcher.engine.store
    changes = await store.list_changes(watch.owner, watch, since=0.0, limit=max_changes)
    return await render.render_page(request, "watches/watch.html", watch=watch, changes=changes)


async def set_watch_state(request: Request) -> Response:
    """Pause or resume a watch."""
    watch, form = await _require_watch(request), await request.form()
    engine = get_services(request).watcher.engine
    actions = {"paused": engine.pause_watch, "active": engine.resume_watch}
    new_state = str(form.get("state", ""))
    if new_state not in actions:
        raise InvalidInput("state: must be active or paused", hint="use the buttons of the page")
    if new_state != watch.state:
        await actions[new_state](watch)
    return RedirectResponse(build_route_path(request, "watch", watch=watch.id), 303)


async def _require_watch(request: Request) -> Watch:
    if not _may_see_watches(request):
        raise NotFound("no such watch")
    return await get_services(request).watcher.engine.store.load_watch(request.path_params["watch"])


def _may_see_watches(request: Request) -> bool:
    """Return whether the viewer sees all workspaces, because watches do not record theirs."""
    return get_allowed_workspace(request) is None


WATCHES_PAGE = DashboardPage(
    "watches",
    "Watches",
    45,
    (
        Route("/watches", show_watches, name="watches"),
        Route("/watches/{watch}", show_watch, name="watch"),
        Route("/watches/{watch}/state", set_watch_state, name="watch_state", methods=["POST"]),
    ),
    key="w",
)
