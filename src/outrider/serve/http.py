"""Serves many clients over streamable HTTP: every toolset together and each alone."""

import hmac
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

from outrider.serve.health import alive
from outrider.serve.refusing import Unread
from outrider.serve.stateless import NamedSessions

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
PATH = "/mcp"


def http_app(
    servers: Mapping[str, Server[Any]],
    *,
    token: str = "",
    allowed_hosts: tuple[str, ...] = (),
    beside: Sequence[BaseRoute] = (),
    middleware: Sequence[Middleware] = (),
    stateless: bool = False,
) -> Starlette:
    """The HTTP application.

    Args:
        servers: Path below `/mcp` (empty for all toolsets together) to its server.
        token: What callers must send as `Authorization: Bearer …`; empty lets every local caller in.
        allowed_hosts: Host headers accepted besides loopback (DNS-rebinding protection).
        beside: What else is served; it decides by itself who may call.
        middleware: What every request passes before the token is looked at, outermost first.
        stateless: Whether calls of one client may land on several processes: no sessions are kept then, of no protocol.
    """
    managers = {path: _manager(server, allowed_hosts, stateless=stateless) for path, server in servers.items()}
    routes = [Route(_path(path), _endpoint(manager)) for path, manager in managers.items()]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with AsyncExitStack() as stack:
            for manager in managers.values():
                await stack.enter_async_context(manager.run())
            yield

    return Starlette(
        routes=[
            alive(),
            *beside,
            *routes,
            Route(f"{PATH}/{{name}}", _unknown(servers), methods=["GET", "POST", "DELETE"]),
        ],
        middleware=[*middleware, *([Middleware(BearerGate, token=token)] if token else [])],
        lifespan=lifespan,
    )


class BearerGate:
    """Lets only callers with the token through to MCP; what is served beside it has a door of its own."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._guards(scope["path"]) or self._holds(scope):
            await self._app(scope, receive, send)
            return
        problem = {"error": "unauthorized", "hint": "send the header Authorization: Bearer <serve.token>"}
        await JSONResponse(problem, 401, {"WWW-Authenticate": "Bearer"})(scope, receive, send)

    def _guards(self, path: str) -> bool:
        return path == PATH or path.startswith(f"{PATH}/")

    def _holds(self, scope: Scope) -> bool:
        sent = dict(scope["headers"]).get(b"authorization", b"")
        return hmac.compare_digest(sent, self._expected)


def _endpoint(manager: StreamableHTTPSessionManager) -> ASGIApp:
    app = Unread(StreamableHTTPASGIApp(manager))
    return NamedSessions(app) if manager.stateless else app


def _manager(server: Server[Any], allowed_hosts: tuple[str, ...], *, stateless: bool) -> StreamableHTTPSessionManager:
    hosts = [f"{host}:*" for host in LOOPBACK] + list(LOOPBACK) + list(allowed_hosts)
    origins = [f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True, allowed_hosts=hosts, allowed_origins=origins
    )
    return StreamableHTTPSessionManager(server, security_settings=security, stateless=stateless)


def _path(name: str) -> str:
    return f"{PATH}/{name}" if name else PATH


def _unknown(servers: Mapping[str, Server[Any]]) -> Any:
    async def answer(request: Request) -> Response:
        known = [_path(name) for name in servers]
        wanted = request.path_params["name"]
        return JSONResponse({"error": f"no toolset {wanted!r}", "hint": f"served here: {', '.join(known)}"}, 404)

    return answer
