"""What needs a line's meaning: only when a daemon leaves or is lost, so JSON is loaded only then."""


def route_line(line: bytes) -> tuple[bool, bool]:
    """While one daemon leaves and another is there: whether the line is for the leaving one, and for the new one.

    Answers belong to who asked, which is the one that still works on something; a cancellation may concern either.
    """
    message = _parse_message(line)
    method = message.get("method")
    if method is None:
        return True, False
    return method == "notifications/cancelled", True


def build_error_reply(line: bytes, reason: str) -> bytes:
    """The error for a request that nobody will answer any more, with its line end; nothing for what is no request."""
    import json

    message = _parse_message(line)
    if "method" not in message or message.get("id") is None:
        return b""
    error = {"code": -32000, "message": f"{reason}; restart the server, then try again"}
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}).encode() + b"\n"


def _parse_message(line: bytes) -> dict[str, object]:
    import json

    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}
