"""Reply to malformed JSON-RPC messages over stdio and HTTP.

JSON-RPC 2.0, section 5.1.
"""

import json
from contextlib import AsyncExitStack
from http import HTTPStatus
from typing import Any
from weakref import WeakValueDictionary

import anyio
from mcp.server.transport_security import DEFAULT_MAX_REQUEST_BODY_SIZE
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from outrider.serve.stateless import SESSION_ID_HEADER
from outrider.serve.surrogates import replace_surrogate_escapes


class MalformedMessageMiddleware:
    """Treats messages over HTTP like messages over stdio.

    Malformed ones get the same error; the SDK would acknowledge a request with an unusable id like a notification. Lone
    surrogates are replaced. Requests of one session under the same id wait for each other, because the SDK sends only
    the last one's answer.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._locks: WeakValueDictionary[tuple[bytes, str | int], anyio.Lock] = WeakValueDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        message = await _receive_whole_body(receive)
        body = message.get("body", b"")
        received = [message]

        async def receive_body() -> Message:
            return received.pop() if received else await receive()

        session = dict(scope["headers"]).get(SESSION_ID_HEADER)
        request_id = _read_request_id(body) if session else None
        async with AsyncExitStack() as stack:
            if session and request_id is not None:
                lock = self._locks.setdefault((session, request_id), anyio.Lock())
                await stack.enter_async_context(lock)
            await self._app(scope, receive_body, _explain_refusals(scope, receive, send, body))


async def _receive_whole_body(receive: Receive) -> Message:
    """Return the body as one message; one over the SDK's limit is returned in part, for the SDK to refuse."""
    message = await receive()
    if message["type"] != "http.request":
        return message
    body = bytearray(message.get("body", b""))
    while message.get("more_body") and len(body) <= DEFAULT_MAX_REQUEST_BODY_SIZE:
        message = await receive()
        if message["type"] != "http.request":
            return message
        body += message.get("body", b"")
    text = body.decode("utf-8", "surrogateescape")
    repaired = replace_surrogate_escapes(text).encode("utf-8", "surrogateescape")
    return {"type": "http.request", "body": repaired, "more_body": message.get("more_body", False)}


def _read_request_id(body: bytes) -> str | int | None:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None
    is_request = isinstance(message, dict) and "method" in message
    return _parse_request_id(message.get("id")) if is_request else None


def _explain_refusals(scope: Scope, receive: Receive, send: Send, body: bytes) -> Send:
    """Return a `send` that explains the SDK's replies to malformed messages."""
    replaced = False

    async def send_response(message: Message) -> None:
        nonlocal replaced
        if message["type"] == "http.response.start":
            error = _find_body_error(message["status"], body)
            if replaced := error is not None:
                text = error.model_dump_json(by_alias=True, exclude_unset=True)
                await Response(text, HTTPStatus.BAD_REQUEST, media_type="application/json")(scope, receive, send)
        if not replaced:
            await send(message)

    return send_response


def _find_body_error(status: int, body: bytes) -> JSONRPCError | None:
    """Return a better error than the SDK's for a response with that status, if possible."""
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
