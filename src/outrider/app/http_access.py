"""Authentication for the HTTP server."""

from urllib.parse import urlsplit

from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from outrider.app.app import App
from outrider.core.errors import NotFound
from outrider.core.toolbox import Toolbox
from outrider.serve.auth import AuthMiddleware, build_metadata_routes
from outrider.serve.tool_names import resolve_tool


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
