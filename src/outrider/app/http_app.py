"""What `outrider serve` answers over HTTP: MCP, and what stands beside it."""

from collections.abc import Callable

from sqlalchemy import text
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from outrider.app.app import App
from outrider.app.dashboard import MountedDashboard
from outrider.app.http_access import build_auth_middleware, build_oauth_routes, list_allowed_hosts
from outrider.core.errors import OutriderError
from outrider.serve.health import HealthCheck, build_readiness_route
from outrider.serve.http import build_http_app
from outrider.serve.telemetry.tracing_middleware import TracingMiddleware


def build_served_app(app: App, *, draining: Callable[[], bool] = lambda: False) -> "Starlette":
    """The whole HTTP application of an open house; `state.dashboard` is the dashboard's place in it.

    Args:
        app: The house.
        draining: Whether the process is about to go, so that it should get no more calls.
    """
    chosen, dashboard, door = app.loaded.settings.serve, MountedDashboard(app), build_auth_middleware(app)
    site = build_http_app(
        app.build_servers(),
        token="" if door else chosen.token,
        allowed_hosts=list_allowed_hosts(app),
        extra_routes=[
            build_readiness_route(_build_health_checks(app, draining)),
            *_hop(app),
            *build_oauth_routes(app),
            *dashboard.routes,
        ],
        middleware=[*_build_tracing_middleware(app), *door],
        stateless=app.database.is_shared if chosen.stateless is None else chosen.stateless,
    )
    site.state.dashboard = dashboard
    return site


def _hop(app: App) -> "list[BaseRoute]":
    """Where other replicas' calls come in."""
    return [app.cluster.build_route(app.build_full_toolbox())] if app.cluster is not None else []


def _build_health_checks(app: App, draining: Callable[[], bool]) -> "dict[str, HealthCheck]":
    async def check_serving() -> str | None:
        return "shutting down" if draining() else None

    async def check_database() -> str | None:
        try:
            async with app.database.read() as connection:
                await connection.execute(text("SELECT 1"))
        except OutriderError as error:
            return error.message
        return None

    return {"serving": check_serving, "database": check_database}


def _build_tracing_middleware(app: App) -> "list[Middleware]":
    if not app.loaded.settings.telemetry.endpoint:
        return []

    return [Middleware(TracingMiddleware)]
