"""Live: the browser sessions of this process as moving pictures, to be paused and taken over."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from outrider.browser.screencast import QUALITIES
from outrider.core.errors import NotFound
from outrider.dashboard import render
from outrider.dashboard.live.connection import Connection
from outrider.dashboard.live.room import Room
from outrider.dashboard.page import Page, house_of, viewer_of
from outrider.dashboard.reach import Owner, may_see

NOT_ALLOWED, TRY_LATER = 1008, 1013  # WebSocket close codes (RFC 6455, section 7.4.1, and the IANA registry)
NOBODY = Owner()  # browser sessions do not say of which workspace they are: who may see one alone sees none


async def show(request: Request) -> Response:
    """All sessions, and one of them large."""
    room = _room(request)
    await room.look()
    sessions = room.sessions() if may_see(request, NOBODY) else []
    wanted = request.query_params.get("session", "")
    shown = [each for each in sessions if each["id"] == wanted or (not wanted and each["status"] != "elsewhere")]
    chosen = shown[0] if shown else None
    return await render.page(
        request, "live.html", sessions=sessions, chosen=chosen, wanted=wanted, qualities=list(QUALITIES)
    )


async def health(request: Request) -> Response:
    """How the pictures come along."""
    if not may_see(request, NOBODY):
        raise NotFound("there are no sessions here", hint="use the dashboard of whoever runs this Outrider")
    return JSONResponse(_room(request).health())


async def socket(websocket: WebSocket) -> None:
    """`/live/socket`: see `live.connection`."""
    room, viewer = _room(websocket), viewer_of(websocket)
    await websocket.accept()
    if not may_see(websocket, NOBODY):
        await websocket.close(NOT_ALLOWED, "these sessions are not yours to see")
        return
    if not room.connects.take(viewer):
        await websocket.close(TRY_LATER, "too many connections; wait a minute")
        return
    await Connection(websocket, room, viewer).run()


def _room(connection: Request | WebSocket) -> Room:
    """Made by the first who looks."""
    state = connection.app.state
    if not hasattr(state, "room"):
        state.room = Room(house_of(connection))
    return state.room


live = Page(
    "live",
    "Live",
    10,
    (
        Route("/live", show, name="live"),
        Route("/live/health", health, name="live_health"),
        WebSocketRoute("/live/socket", socket, name="live_socket"),
    ),
    key="l",
)
