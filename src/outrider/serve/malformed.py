"""Reply to malformed JSON-RPC messages over stdio and HTTP (JSON-RPC 2.0, section 5.1)."""

import json
from http import HTTPStatus
from typing import Any

from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class MalformedMessageMiddleware:
    """Gives malformed messages over HTTP the same error as over stdio.

    The SDK would acknowledge a request with an unusable id like a notification. Only messages that are about to be
    acknowledged (202) or refused (400) are parsed a second time, so that other calls cost nothing.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body_parts: list[bytes] = []
        replaced = False

        async def receive_body() -> Message:
            message = await receive()
            body_parts.append(message.get("body", b""))
            return message

        async def send_response(message: Message) -> None:
            nonlocal replaced
            if message["type"] == "http.response.start":
                error = _find_body_error(message["status"], b"".join(body_parts))
                body_parts.clear()
                if replaced := error is not None:
                    text = error.model_dump_json(by_alias=True, exclude_unset=True)
                    await Response(text, HTTPStatus.BAD_REQUEST, media_type="application/json")(scope, receive, send)
            if not replaced:
                await send(message)

        await self._app(scope, receive_body, send_response)


def _find_body_error(status: int, body: bytes) -> JSONRPCError | None:
    """Return a better error than the SDK's for a response with that status, if there is one."""
    if status == HTTPStatus.ACCEPTED:
        return explain_invalid_id(body)
    if status != HTTPStatus.BAD_REQUEST:
        return None
    try:
        jsonrpc_message_adapter.validate_json(body, by_name=False)
    except ValueError:
        return explain_malformed_line(body.decode("utf-8", "replace"))
    return None  # the message is valid: something else is wrong


def explain_malformed_line(line: str) -> JSONRPCError | None:
    """Build the error for a line that is not a message; None for one that looks like a response.

    The error has the line's id if it has a usable one, else null.
    """
    expected_shape = 'a message has "jsonrpc": "2.0", a "method" and, to be answered, an "id" (text or a whole number)'
    hint = "send one JSON-RPC 2.0 message at a time"
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        return _build_error(None, PARSE_ERROR, f"Parse error: {error or 'too deep'}; {hint}")
    if not isinstance(message, dict):
        kind = "a batch" if isinstance(message, list) else "this"
        return _build_error(None, INVALID_REQUEST, f"Invalid Request: {kind} is not a message; {hint}")
    if "method" not in message and ("result" in message or "error" in message):
        return None
    return _build_error(_parse_request_id(message.get("id")), INVALID_REQUEST, f"Invalid Request: {expected_shape}")


def explain_invalid_id(text: str | bytes) -> JSONRPCError | None:
    """Build the error for a request whose id is unusable, so that its sender does not wait; else return None.

    A notification whose id is null is accepted: JSON-RPC 1.0 (section 1.3) wrote them so.
    """
    message = json.loads(text)
    if not isinstance(message, dict) or "id" not in message or "method" not in message:
        return None
    raw_id = message["id"]
    is_old_notification = raw_id is None and str(message["method"]).startswith("notifications/")
    if _parse_request_id(raw_id) is not None or is_old_notification:
        return None
    problem = f'"id" is {json.dumps(raw_id)[:100]}'
    hint = 'send text or a whole number there, or no "id" at all for a notification'
    return _build_error(None, INVALID_REQUEST, f"Invalid Request: {problem}; {hint}")


def _build_error(request_id: str | int | None, code: int, text: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=text))


def _parse_request_id(value: Any) -> str | int | None:
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None
