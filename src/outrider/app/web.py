"""What `outrider serve` answers over HTTP: MCP, and what stands beside it."""

from collections.abc import Callable

from sqlalchemy import text
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from outrider.app.app import App
from outrider.app.dashboard import Mounted
from outrider.app.door import gate, hosts, metadata
from outrider.core.errors import OutriderError
from outrider.serve.health import Check, ready
from outrider.serve.http import http_app
from outrider.serve.telemetry.incoming import Incoming


def web(app: App, *, draining: Callable[[], bool] = lambda: False) -> "Starlette":
    """The whole HTTP application of an open house; `state.dashboard` is the dashboard's place in it.

    Args:
        app: The house.
        draining: Whether the process is about to go, so that it should get no more calls.
    """
    chosen, dashboard, door = app.loaded.settings.serve, Mounted(app), gate(app)
    site = http_app(
        app.servers(),
        token="" if door else chosen.token,
        allowed_hosts=hosts(app),
        beside=[ready(_checks(app, draining)), *_hop(app), *metadata(app), *dashboard.routes],
        middleware=[*_traced(app), *door],
        stateless=app.database.shared if chosen.stateless is None else chosen.stateless,
    )
    site.state.dashboard = dashboard
    return site


def _hop(app: App) -> "list[BaseRoute]":
    """Where other replicas' calls come in."""
    return [app.neighbours.route(app.whole_toolbox())] if app.neighbours is not None else []


def _checks(app: App, draining: Callable[[], bool]) -> "dict[str, Check]":
    async def serving() -> str | None:
        return "shutting down" if draining() else None

    async def database() -> str | None:
        try:
            async with app.database.read() as connection:
                await connection.execute(text("SELECT 1"))
        except OutriderError as error:
            return error.message
        return None

    return {"serving": serving, "database": database}


def _traced(app: App) -> "list[Middleware]":
    if not app.loaded.settings.telemetry.endpoint:
        return []

    return [Middleware(Incoming)]
