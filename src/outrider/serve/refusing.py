"""What comes over HTTP and is no message is refused in the words and under the id that it is over stdio.

Requests whose id is none would be acknowledged like notifications. Only what is about to be acknowledged (202) or
refused (400) is looked at, so that calls cost no second reading.
"""

from http import HTTPStatus

from mcp_types import JSONRPCError, jsonrpc_message_adapter
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from outrider.serve.malformed import explain_invalid_id, explain_malformed_line


class MalformedMessageMiddleware:
    """In front of an MCP endpoint."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        parts: list[bytes] = []
        refused = False

        async def receive_body() -> Message:
            message = await receive()
            parts.append(message.get("body", b""))
            return message

        async def send_response(message: Message) -> None:
            nonlocal refused
            if message["type"] == "http.response.start":
                error = _find_body_error(message["status"], b"".join(parts))
                parts.clear()
                if refused := error is not None:
                    text = error.model_dump_json(by_alias=True, exclude_unset=True)
                    await Response(text, HTTPStatus.BAD_REQUEST, media_type="application/json")(scope, receive, send)
            if not refused:
                await send(message)

        await self._app(scope, receive_body, send_response)


def _find_body_error(status: int, body: bytes) -> JSONRPCError | None:
    """The error to answer with instead, if there is a better one."""
    if status == HTTPStatus.ACCEPTED:
        return explain_invalid_id(body)
    if status != HTTPStatus.BAD_REQUEST:
        return None
    try:
        jsonrpc_message_adapter.validate_json(body, by_name=False)
    except ValueError:
        return explain_malformed_line(body.decode("utf-8", "replace"))
    return None  # it is something else that is wrong
