"""Serve many clients over streamable HTTP: all toolsets together and each alone."""

import hmac
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from outrider.serve.health import build_liveness_route
from outrider.serve.malformed import MalformedMessageMiddleware
from outrider.serve.stateless import SessionIdMiddleware

MCP_PATH = "/mcp"


def build_http_app(
    servers: Mapping[str, Server[Any]],
    *,
    token: str = "",
    allowed_hosts: tuple[str, ...] = (),
    extra_routes: Sequence[BaseRoute] = (),
    middleware: Sequence[Middleware] = (),
    stateless: bool = False,
) -> Starlette:
    """Build the HTTP application.

    Args:
        servers: Servers by their path below `/mcp` (empty for all toolsets together).
        token: The bearer token that callers must send; empty accepts every local caller.
        allowed_hosts: Host headers accepted besides loopback (DNS-rebinding protection).
        extra_routes: Further routes, which authorize their callers themselves.
        middleware: Middleware before the check of the token, outermost first.
        stateless: Whether calls of one client may reach several processes; then no sessions are kept.
    """
    managers = {
        path: _build_session_manager(server, allowed_hosts, stateless=stateless) for path, server in servers.items()
    }
    routes = []
    for path, manager in managers.items():
        endpoint: ASGIApp = ExactHostMiddleware(MalformedMessageMiddleware(StreamableHTTPASGIApp(manager)))
        routes.append(Route(_build_path(path), SessionIdMiddleware(endpoint) if stateless else endpoint))

    @asynccontextmanager
    async def run_lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with AsyncExitStack() as stack:
            for manager in managers.values():
                await stack.enter_async_context(manager.run())
            yield

    return Starlette(
        routes=[
            build_liveness_route(),
            *extra_routes,
            *routes,
            Route(f"{MCP_PATH}/{{name}}", _build_not_found_handler(servers), methods=["GET", "POST", "DELETE"]),
        ],
        middleware=[*middleware, *([Middleware(BearerTokenMiddleware, token=token)] if token else [])],
        lifespan=run_lifespan,
    )


def is_mcp_path(path: str) -> bool:
    """Return whether a path is that of an MCP endpoint."""
    return path == MCP_PATH or path.startswith(f"{MCP_PATH}/")


class BearerTokenMiddleware:
    """Requires the token for MCP; other routes authorize their callers themselves."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected_header = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and is_mcp_path(scope["path"]):
            sent_header = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(sent_header, self._expected_header):
                problem = {"error": "unauthorized", "hint": "send the header Authorization: Bearer <serve.token>"}
                await JSONResponse(problem, 401, {"WWW-Authenticate": "Bearer"})(scope, receive, send)
                return
        await self._app(scope, receive, send)


class ExactHostMiddleware:
    """Refuses a Host or Origin that is not exactly a host with a port; the SDK compares only what precedes the port."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        host_pattern = r"(?:\[[0-9A-Fa-f:.]+\]|[\w.-]+)(?::\d{1,5})?"
        patterns = {b"host": host_pattern, b"origin": rf"(?:https?://{host_pattern}|null)"}
        for name, value in scope["headers"]:
            if name in patterns and not re.fullmatch(patterns[name], value.decode("latin-1"), re.ASCII):
                problem = {"error": f"invalid header {name.decode()}", "hint": "send a host, or a host with its port"}
                await JSONResponse(problem, 421 if name == b"host" else 403)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _build_session_manager(
    server: Server[Any], allowed_hosts: tuple[str, ...], *, stateless: bool
) -> StreamableHTTPSessionManager:
    loopback_hosts = ("127.0.0.1", "localhost", "[::1]")
    hosts = [f"{host}:*" for host in loopback_hosts] + list(loopback_hosts) + list(allowed_hosts)
    origins = [f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True, allowed_hosts=hosts, allowed_origins=origins
    )
    return StreamableHTTPSessionManager(server, security_settings=security, stateless=stateless)


def _build_path(name: str) -> str:
    return f"{MCP_PATH}/{name}" if name else MCP_PATH


def _build_not_found_handler(servers: Mapping[str, Server[Any]]) -> Any:
    async def serve_not_found(request: Request) -> Response:
        paths = ", ".join(_build_path(name) for name in servers)
        name = request.path_params["name"]
        return JSONResponse({"error": f"no toolset {name!r}", "hint": f"served here: {paths}"}, 404)

    return serve_not_found
