"""The dashboard as an ASGI application: pages, live updates and files."""

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

from outrider.core.discovery import discover_instances
from outrider.core.errors import InvalidInput, NotConfigured, NotFound, OutriderError, Refused, Unavailable
from outrider.dashboard import feed, files, pages, render
from outrider.dashboard.feed import TopicFeeds
from outrider.dashboard.page import DashboardPage
from outrider.dashboard.security import SecurityMiddleware
from outrider.dashboard.services import DashboardServices
from outrider.dashboard.sign_in_tokens import SignInTokens
from outrider.dashboard.viewer import build_token_check

STATUS_BY_ERROR: dict[type[OutriderError], int] = {
    InvalidInput: 400,
    Refused: 403,
    NotFound: 404,
    NotConfigured: 409,
    Unavailable: 503,
}


def build_dashboard_app(services: DashboardServices, launch: SignInTokens, *, hosts: Sequence[str] = ()) -> Starlette:
    """Build the application, to be mounted or served alone.

    Args:
        services: The services behind the pages.
        launch: Decides who may sign in.
        hosts: Host names to accept, besides loopback.
    """
    static_folder = Path(__file__).parent / "static"
    max_body_bytes = 1_000_000  # bytes of a form or an answer
    found = sorted(discover_instances(pages, DashboardPage), key=lambda page: page.order)
    app = Starlette(
        routes=[
            Route("/feed", feed.stream_feed, name="feed"),
            Mount("/static", StaticAssets(directory=static_folder), name="static"),
            *files.FILE_ROUTES,
            *(route for page in found for route in page.routes),
        ],
        middleware=[
            Middleware(SecurityMiddleware, launch=launch, hosts=hosts, find_holder=build_token_check(services.database))
        ],
        exception_handlers={OutriderError: _handle_error, HTTPException: _handle_http_error},
        max_body_size=max_body_bytes,
    )
    app.state.services = services
    app.state.pages = found
    app.state.feeds = TopicFeeds(services, {topic: source for page in found for topic, source in page.feeds.items()})
    return app


class StaticAssets(StaticFiles):
    """Built-in scripts and styles, read again when an upgrade changes them."""

    def file_response(self, *args: object, **options: object) -> Response:
        answer = super().file_response(*args, **options)  # ty: ignore[invalid-argument-type]
        answer.headers["cache-control"] = "private, no-cache"
        return answer


async def _handle_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, OutriderError)
    status = next((code for kind, code in STATUS_BY_ERROR.items() if isinstance(error, kind)), 500)
    return await _render_error(request, error, status)


async def _handle_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    problem = NotFound(HTTPStatus(error.status_code).phrase, hint="go back, or choose a page above")
    return await _render_error(request, problem, error.status_code)


async def _render_error(request: Request, error: OutriderError, status: int) -> Response:
    """Render the error as a page for people, as JSON for scripts."""
    if "text/html" in request.headers.get("accept", ""):
        return await render.render_page(request, "error.html", status=status, error=error)
    return JSONResponse({"error": error.to_dict()}, status)
