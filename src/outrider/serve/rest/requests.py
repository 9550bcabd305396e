"""Read REST requests: the caller, the arguments, and the wanted form of the answer."""

from typing import Any, Literal

from mcp.server.transport_security import DEFAULT_MAX_REQUEST_BODY_SIZE
from starlette.requests import Request

from outrider.core.arguments import parse_arguments
from outrider.core.context import Call
from outrider.core.errors import InvalidInput
from outrider.serve.context import apply_principal
from outrider.serve.request_headers import IDEMPOTENCY_HEADER, PERSON_HEADER, SESSION_HEADER, WORKSPACE_HEADER
from outrider.serve.surrogates import replace_surrogate_escapes

AnswerForm = Literal["json", "text", "events"]


def read_call(request: Request, *, assistant: str = "") -> Call:
    """Return the call that the headers describe. Raises Refused for a workspace that is not the caller's.

    Args:
        request: The request, authenticated where the settings ask for it.
        assistant: The assistant of callers.
    """
    key = _read_header(request, IDEMPOTENCY_HEADER)
    call = Call(
        session=_read_header(request, SESSION_HEADER) or "default",
        assistant=assistant or None,
        workspace=_read_header(request, WORKSPACE_HEADER),
        identity=_read_header(request, PERSON_HEADER),
        # The header is a string in quotation marks (RFC 9651, 3.3.3).
        idempotency_key=key.strip().strip('"') or None if key else None,
    )
    caller = request.scope.get("user")
    return apply_principal(call, caller, call.workspace) if hasattr(caller, "principal") else call


async def read_arguments(request: Request) -> dict[str, Any]:
    """Return the arguments in the body; an empty body has none. Raises InvalidInput."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > DEFAULT_MAX_REQUEST_BODY_SIZE:
            message = f"the body has over {DEFAULT_MAX_REQUEST_BODY_SIZE:,} bytes"
            raise InvalidInput(message, code="body_too_large", hint="send less in one call")
    if not body.strip() and "origin" not in request.headers:
        return {}
    # Foreign web pages, which send their origin, can send other types without a preflight request (CORS).
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        hint = "send the header Content-Type: application/json and the arguments as a JSON object"
        raise InvalidInput("the body is not declared as JSON", code="body", hint=hint)
    try:
        return parse_arguments(replace_surrogate_escapes(body.decode()))
    except (InvalidInput, UnicodeDecodeError) as error:
        problem = error.message if isinstance(error, InvalidInput) else "not UTF-8"
        hint = 'send the arguments as a JSON object, for instance {"query": "tea"}'
        raise InvalidInput(f"the body: {problem}", code="body", hint=hint) from None


def choose_answer_form(request: Request) -> AnswerForm:
    """Return the form that the Accept header requests; JSON if it is accepted."""
    accepted = request.headers.get("accept", "")
    if "application/json" in accepted or "*/*" in accepted:
        return "json"
    if "text/event-stream" in accepted:
        return "events"
    return "text" if "text/plain" in accepted else "json"


def _read_header(request: Request, name: str) -> str | None:
    max_chars = 200
    return request.headers.get(name, "")[:max_chars] or None
