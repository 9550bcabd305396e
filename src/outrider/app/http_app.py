"""Build the HTTP application of `outrider serve`: MCP, REST, health checks and dashboard."""

from collections.abc import Callable
from urllib.parse import urlsplit

from sqlalchemy import text
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from outrider.app.app import App
from outrider.app.dashboard import MountedDashboard
from outrider.core.errors import NotFound, OutriderError
from outrider.core.toolbox import Toolbox
from outrider.serve.auth import AuthMiddleware, build_metadata_routes
from outrider.serve.host_guard import build_transport_security
from outrider.serve.http import HealthCheck, build_http_app, build_readiness_route
from outrider.serve.rest.routes import build_rest_routes
from outrider.serve.telemetry.tracing_middleware import TracingMiddleware
from outrider.serve.tool_names import resolve_tool


def build_served_app(app: App, *, draining: Callable[[], bool] = lambda: False) -> Starlette:
    """Return the HTTP application of an open app; its `state.dashboard` is the mounted dashboard.

    Args:
        app: The application.
        draining: Returns whether the process is about to end, so that it should get no more calls.
    """
    settings, dashboard = app.loaded.settings.serve, MountedDashboard(app)
    auth_middleware = build_auth_middleware(app)
    tracing_middleware = [Middleware(TracingMiddleware)] if app.loaded.settings.telemetry.endpoint else []
    cluster_routes = [app.cluster.build_route(app.build_full_toolbox())] if app.cluster is not None else []
    http_app = build_http_app(
        app.build_servers(),
        token="" if auth_middleware else settings.token,
        allowed_hosts=list_allowed_hosts(app),
        extra_routes=[
            build_readiness_route(_build_health_checks(app, draining)),
            *cluster_routes,
            *build_oauth_routes(app),
            *build_rest_interface(app, requires_token=bool(auth_middleware or settings.token)),
            *dashboard.routes,
        ],
        middleware=[*tracing_middleware, *auth_middleware],
        stateless=app.database.is_shared if settings.stateless is None else settings.stateless,
    )
    http_app.state.dashboard = dashboard
    return http_app


def build_rest_interface(app: App, *, requires_token: bool) -> list[BaseRoute]:
    """Return the REST routes to an app's tools.

    The application authenticates the callers.
    """
    return build_rest_routes(
        app.toolbox,
        app.artifacts,
        build_transport_security(list_allowed_hosts(app)),
        approvals=app.build_approvals(),
        assistant=app.loaded.settings.assistant,
        requires_token=requires_token,
    )


def _build_health_checks(app: App, draining: Callable[[], bool]) -> dict[str, HealthCheck]:
    async def check_serving() -> str | None:
        return "shutting down" if draining() else None

    async def check_database() -> str | None:
        try:
            async with app.database.read() as connection:
                # SQLite answers from its memory, or without a table, even if the file is damaged.
                if not app.database.is_shared:
                    await connection.execute(text("PRAGMA shrink_memory"))
                await connection.execute(text("SELECT 1 FROM replicas LIMIT 1"))
        except OutriderError as error:
            return error.message
        return None

    return {"serving": check_serving, "database": check_database}


class ServedToolsets:
    """Finds toolsets by the names in requests."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._paths = {
            name: each.name for each in toolbox.toolsets.values() for name in (each.name, *each.aliases) if name
        }

    def find_by_path(self, path: str) -> str | None:
        """Return the toolset that is served alone at a path below `/mcp/`."""
        return self._paths.get(path)

    async def find_by_tool(self, tool: str) -> str | None:
        """Return the toolset of a tool's name as hosts send it."""
        try:
            return (await resolve_tool(tool, self._toolbox)).toolset
        except NotFound:
            return None


def build_auth_middleware(app: App) -> list[Middleware]:
    """Return the middleware that authenticates callers, if the settings enable it."""
    if not app.loaded.settings.identity.is_enabled:
        return []
    token = app.loaded.settings.serve.token
    return [Middleware(AuthMiddleware, identity=app.identity(), token=token, toolsets=ServedToolsets(app.toolbox))]


def build_oauth_routes(app: App) -> list[BaseRoute]:
    """Return the metadata routes that name the identity provider to clients, if there is one."""
    provider = app.identity().provider if app.loaded.settings.identity.is_enabled else None
    if provider is None:
        return []
    return build_metadata_routes(provider.settings.resource, provider.settings.issuer, provider.known_scopes)


def list_allowed_hosts(app: App) -> tuple[str, ...]:
    """Return the Host headers to accept besides loopback: those of the settings and of our public address."""
    settings = app.loaded.settings
    public_host = urlsplit(settings.identity.oauth.resource).netloc if settings.identity.oauth.issuer else ""
    return (*settings.serve.allowed_hosts, *([public_host] if public_host else []))
