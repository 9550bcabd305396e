"""The answer to a line that is no message, so that its sender does not wait for ever (JSON-RPC 2.0, section 5.1)."""

import json
from typing import Any

from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError

MORE = "send one JSON-RPC 2.0 message a line"


def refusal(line: str) -> JSONRPCError | None:
    """The error for a line that no message could be made of; None for what looks like an answer, which gets none.

    Its id is that of the line where one can be found, else null.
    """
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        return _error(None, PARSE_ERROR, f"Parse error: {error or 'too deep'}; {MORE}")
    if not isinstance(message, dict):
        return _error(None, INVALID_REQUEST, f"Invalid Request: {_kind(message)} is no message; {MORE}")
    if "method" not in message and ("result" in message or "error" in message):
        return None
    wants = 'a message has "jsonrpc": "2.0", a "method" and, to be answered, an "id" (text or a whole number)'
    return _error(_id(message.get("id")), INVALID_REQUEST, f"Invalid Request: {wants}")


def _error(request: str | int | None, code: int, text: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=request, error=ErrorData(code=code, message=text))


def _kind(value: Any) -> str:
    return "a batch" if isinstance(value, list) else "this"


def _id(value: Any) -> str | int | None:
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None
