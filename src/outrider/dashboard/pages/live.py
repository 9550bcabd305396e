"""Page Live: browser sessions of this process as live pictures."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from outrider.browser.live.screencast import SCREENCAST_QUALITIES
from outrider.core.errors import NotFound
from outrider.dashboard import render
from outrider.dashboard.access import ResourceOwner, can_view
from outrider.dashboard.live.connection import LiveConnection
from outrider.dashboard.live.hub import LiveHub
from outrider.dashboard.page import DashboardPage, get_services, get_viewer

CLOSE_NOT_ALLOWED, CLOSE_TRY_LATER = (
    1008,
    1013,
)  # WebSocket close codes (RFC 6455, section 7.4.1, and the IANA registry)
UNKNOWN_OWNER = (
    ResourceOwner()
)  # browser sessions do not record their workspace, so a viewer of a single workspace sees none


async def show_live(request: Request) -> Response:
    """Show all sessions, one of them enlarged."""
    room = _ensure_hub(request)
    await room.refresh()
    sessions = room.list_sessions() if can_view(request, UNKNOWN_OWNER) else []
    wanted_session = request.query_params.get("session", "")
    visible_sessions = [
        each
        for each in sessions
        if each["id"] == wanted_session or (not wanted_session and each["status"] != "elsewhere")
    ]
    chosen = visible_sessions[0] if visible_sessions else None
    return await render.render_page(
        request,
        "live.html",
        sessions=sessions,
        chosen=chosen,
        wanted=wanted_session,
        qualities=list(SCREENCAST_QUALITIES),
    )


async def show_health(request: Request) -> Response:
    """Return screencast statistics."""
    if not can_view(request, UNKNOWN_OWNER):
        raise NotFound("only the operator can see browser sessions", hint="ask the operator of this Outrider")
    return JSONResponse(_ensure_hub(request).serialize_health())


async def serve_socket(websocket: WebSocket) -> None:
    """Serve `/live/socket`; see `live.connection`."""
    room, viewer = _ensure_hub(websocket), get_viewer(websocket).browser
    await websocket.accept()
    if not can_view(websocket, UNKNOWN_OWNER):
        await websocket.close(CLOSE_NOT_ALLOWED, "these sessions are not yours to see")
        return
    if not room.connect_limiter.try_acquire(viewer):
        await websocket.close(CLOSE_TRY_LATER, "too many connections; wait a minute")
        return
    await LiveConnection(websocket, room, viewer).serve()


def _ensure_hub(connection: Request | WebSocket) -> LiveHub:
    """Return the shared hub, created at first use."""
    state = connection.app.state
    if not hasattr(state, "room"):
        state.room = LiveHub(get_services(connection))
    return state.room


LIVE_PAGE = DashboardPage(
    "live",
    "Live",
    10,
    (
        Route("/live", show_live, name="live"),
        Route("/live/health", show_health, name="live_health"),
        WebSocketRoute("/live/socket", serve_socket, name="live_socket"),
    ),
    key="l",
)
