"""Give clients of older protocols session ids that every replica accepts.

Protocols before 2026-07-28 send a session id with each request (`Mcp-Session-Id`), and a server that does not know it
must answer 404, so that all calls would have to reach the replica that made the session. Here an id has no state: it is
created at the first request, accepted by every replica, and only distinguishes callers.
"""

from uuid import uuid4

from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SESSION_ID_HEADER = b"mcp-session-id"


class SessionIdMiddleware:
    """Adds session ids to an MCP endpoint that keeps no sessions."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        version = headers.get(MCP_PROTOCOL_VERSION_HEADER.encode(), b"").decode("latin-1")
        if version and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            await self._app(scope, receive, send)
        elif scope["method"] == "GET":  # opens a stream, which would stay empty (2025-11-25, basic/transports)
            await Response(status_code=405, headers={"Allow": "POST, DELETE"})(scope, receive, send)
        elif scope["method"] == "DELETE":
            await Response(status_code=200)(scope, receive, send)
        elif SESSION_ID_HEADER in headers:
            await self._app(scope, receive, send)
        else:

            async def send_with_session_id(message: Message) -> None:
                if message["type"] == "http.response.start" and message["status"] < 300:
                    MutableHeaders(scope=message)[SESSION_ID_HEADER.decode()] = uuid4().hex
                await send(message)

            await self._app(scope, receive, send_with_session_id)
