"""Serve many clients over streamable HTTP: all toolsets together and each alone."""

import hmac
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import anyio
from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from outrider import __version__
from outrider.core.errors import OutriderError
from outrider.serve.host_guard import ExactHostMiddleware, build_transport_security
from outrider.serve.malformed import MalformedMessageMiddleware
from outrider.serve.paths import MCP_PATH, requires_caller
from outrider.serve.problems import ProblemMiddleware
from outrider.serve.stateless import SessionIdMiddleware

# Returns a description of the problem, or None.
HealthCheck = Callable[[], Awaitable[str | None]]


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
    security = build_transport_security(allowed_hosts)
    managers = {
        path: StreamableHTTPSessionManager(server, security_settings=security, stateless=stateless)
        for path, server in servers.items()
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
        middleware=[
            Middleware(ProblemMiddleware),
            *middleware,
            *([Middleware(BearerTokenMiddleware, token=token)] if token else []),
        ],
        lifespan=run_lifespan,
    )


class BearerTokenMiddleware:
    """Requires the token for MCP and REST; other routes authorize their callers themselves.

    Args:
        app: The protected application.
        token: The token.
        credential: The placeholder for the token in hints.
    """

    def __init__(self, app: ASGIApp, token: str, credential: str = "<serve.token>") -> None:
        self._app = app
        self._hint = f"send the header Authorization: Bearer {credential}"
        self._expected_header = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and requires_caller(scope["path"]):
            sent_header = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(sent_header, self._expected_header):
                problem = {"error": "unauthorized", "hint": self._hint}
                await JSONResponse(problem, 401, {"WWW-Authenticate": "Bearer"})(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _build_path(name: str) -> str:
    return f"{MCP_PATH}/{name}" if name else MCP_PATH


def _build_not_found_handler(servers: Mapping[str, Server[Any]]) -> Any:
    async def serve_not_found(request: Request) -> Response:
        paths = ", ".join(_build_path(name) for name in servers)
        name = request.path_params["name"]
        return JSONResponse({"error": f"no toolset {name!r}", "hint": f"served here: {paths}"}, 404)

    return serve_not_found


def build_liveness_route() -> Route:
    """Build `/healthz`."""

    async def serve_liveness(_: Request) -> Response:
        return JSONResponse({"status": "ok", "version": __version__})

    return Route("/healthz", serve_liveness)


def build_readiness_route(checks: Mapping[str, HealthCheck]) -> Route:
    """Build `/readyz`, which answers 200 if all checks pass, else 503, with the result of each check."""

    async def serve_readiness(_: Request) -> Response:
        problems = {name: await _run_check(check) for name, check in checks.items()}
        failed = any(problems.values())
        results = {name: problem or "ok" for name, problem in problems.items()}
        return JSONResponse({"status": "not ready" if failed else "ready", "checks": results}, 503 if failed else 200)

    return Route("/readyz", serve_readiness)


async def _run_check(check: HealthCheck) -> str | None:
    timeout_s = 2.0
    with anyio.move_on_after(timeout_s):
        try:
            return await check()
        except OutriderError as error:
            return error.code
    return f"no answer within {timeout_s:g} seconds"
