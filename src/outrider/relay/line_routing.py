"""Parse lines of the host when a daemon leaves or is lost.

`json` is loaded only then.
"""


def route_line(line: bytes) -> tuple[bool, bool]:
    """Return whether a line goes to the leaving daemon, and whether it goes to the new one.

    Responses go to the leaving daemon, because it still has requests open; a cancellation may concern either.
    """
    message = _parse_message(line)
    method = message.get("method")
    if method is None:
        return True, False
    return method == "notifications/cancelled", True


def build_error_reply(line: bytes, reason: str) -> bytes:
    """Return an error line for a request that will not be answered any more; empty for other messages."""
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
