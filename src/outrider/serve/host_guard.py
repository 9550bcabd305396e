"""Refuse requests for other hosts and from foreign web pages (DNS rebinding)."""

import re

from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send


def build_transport_security(allowed_hosts: tuple[str, ...]) -> TransportSecuritySettings:
    """Return the SDK's settings for loopback and the given Host headers."""
    loopback_hosts = ("127.0.0.1", "localhost", "[::1]")
    hosts = [f"{host}:*" for host in loopback_hosts] + list(loopback_hosts) + list(allowed_hosts)
    origins = [f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts]
    return TransportSecuritySettings(enable_dns_rebinding_protection=True, allowed_hosts=hosts, allowed_origins=origins)


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


class KnownHostMiddleware:
    """Refuses a Host or Origin that is neither loopback nor allowed, as the SDK does for MCP.

    Args:
        app: The protected application.
        security: The accepted hosts and origins.
    """

    def __init__(self, app: ASGIApp, security: TransportSecuritySettings) -> None:
        self._app = ExactHostMiddleware(app)
        self._security = TransportSecurityMiddleware(security)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = await self._security.validate_request(Request(scope))
        await (refusal or self._app)(scope, receive, send)
