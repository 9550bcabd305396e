"""The answer to a line that is no message, so that its sender does not wait for ever (JSON-RPC 2.0, section 5.1)."""

import json
from typing import Any

from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError


def explain_malformed_line(line: str) -> JSONRPCError | None:
    """The error for a line that no message could be made of; None for what looks like an answer, which gets none.

    Its id is that of the line where one can be found, else null.
    """
    expected_shape = 'a message has "jsonrpc": "2.0", a "method" and, to be answered, an "id" (text or a whole number)'
    hint = "send one JSON-RPC 2.0 message at a time"
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        return _build_error(None, PARSE_ERROR, f"Parse error: {error or 'too deep'}; {hint}")
    if not isinstance(message, dict):
        return _build_error(None, INVALID_REQUEST, f"Invalid Request: {_kind(message)} is no message; {hint}")
    if "method" not in message and ("result" in message or "error" in message):
        return None
    return _build_error(_parse_request_id(message.get("id")), INVALID_REQUEST, f"Invalid Request: {expected_shape}")


def explain_invalid_id(text: str | bytes) -> JSONRPCError | None:
    """The error for what reads like a notification but has an id, so that its sender waits; None for a notification.

    A notification whose id is null is taken for what it is: JSON-RPC 1.0 (section 1.3) wrote them so.
    """
    template = 'Invalid Request: "id" is {}; send text or a whole number there, or no "id" at all for a notification'
    message = json.loads(text)
    if not isinstance(message, dict) or "id" not in message or "method" not in message:
        return None
    named = message["id"]
    if _parse_request_id(named) is not None or (named is None and str(message["method"]).startswith("notifications/")):
        return None
    return _build_error(None, INVALID_REQUEST, template.format(json.dumps(named)[:100]))


def _build_error(request: str | int | None, code: int, text: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=request, error=ErrorData(code=code, message=text))


def _kind(value: Any) -> str:
    return "a batch" if isinstance(value, list) else "this"


def _parse_request_id(value: Any) -> str | int | None:
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None
