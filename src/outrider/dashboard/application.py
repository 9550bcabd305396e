"""The dashboard as an ASGI application: pages, live updates and files, all behind one door."""

from collections.abc import Sequence
from http import HTTPStatus
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from outrider.core.discovery import find
from outrider.core.errors import InvalidInput, NotConfigured, NotFound, OutriderError, Refused, Unavailable
from outrider.dashboard import feed, files, pages, render
from outrider.dashboard.feed import Feeds
from outrider.dashboard.house import House
from outrider.dashboard.launch import Launch
from outrider.dashboard.page import Page
from outrider.dashboard.security import Door

STATIC = Path(__file__).parent / "static"
BODY_LIMIT = 1_000_000  # bytes that a form or an answer may have
STATUS: dict[type[OutriderError], int] = {
    InvalidInput: 400,
    Refused: 403,
    NotFound: 404,
    NotConfigured: 409,
    Unavailable: 503,
}


def dashboard_app(house: House, launch: Launch, *, hosts: Sequence[str] = ()) -> Starlette:
    """Everything; to be mounted anywhere, or served alone.

    Args:
        house: What is shown.
        launch: Who may look.
        hosts: Names under which it may be reached, besides loopback.
    """
    found = sorted(find(pages, Page), key=lambda page: page.order)
    app = Starlette(
        routes=[
            Route("/feed", feed.show, name="feed"),
            Mount("/static", Files(directory=STATIC), name="static"),
            *files.ROUTES,
            *(route for page in found for route in page.routes),
        ],
        middleware=[Middleware(Door, launch=launch, hosts=hosts)],
        exception_handlers={OutriderError: _problem, HTTPException: _missing},
        max_body_size=BODY_LIMIT,
    )
    app.state.house = house
    app.state.pages = found
    app.state.feeds = Feeds(house, {topic: source for page in found for topic, source in page.feeds.items()})
    return app


class Files(StaticFiles):
    """Our scripts and styles; looked after at each use, since an upgrade changes them."""

    def file_response(self, *args: object, **options: object) -> Response:
        answer = super().file_response(*args, **options)  # ty: ignore[invalid-argument-type]
        answer.headers["cache-control"] = "private, no-cache"
        return answer


async def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, OutriderError)
    status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 500)
    return await _said(request, error, status)


async def _missing(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    problem = NotFound(HTTPStatus(error.status_code).phrase, hint="go back, or choose a page above")
    return await _said(request, problem, error.status_code)


async def _said(request: Request, error: OutriderError, status: int) -> Response:
    """The error as a page for a person, as JSON for a script."""
    if "text/html" in request.headers.get("accept", ""):
        return await render.page(request, "error.html", status=status, error=error)
    return JSONResponse({"error": error.to_dict()}, status)
