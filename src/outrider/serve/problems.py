"""Describe errors of the REST interface as RFC 9457 problem details."""

import json
import math
from http import HTTPStatus
from typing import Any

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from outrider.core.errors import (
    InvalidInput,
    NotConfigured,
    NotFound,
    OutriderError,
    Refused,
    Unavailable,
    shorten_error,
)
from outrider.serve.paths import is_rest_path

PROBLEM_TYPE = "application/problem+json"
STATUS_BY_CODE = {"quota": 429, "too_many_sessions": 429, "timeout": 504, "body": 400, "body_too_large": 413}
STATUS_BY_ERROR: dict[type[OutriderError], int] = {
    InvalidInput: 422,
    Refused: 403,
    NotFound: 404,
    NotConfigured: 409,
    Unavailable: 503,
}
PROBLEM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "An error (RFC 9457). `detail` says what happened and `hint` what to do next.",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string", "description": "The title of the status"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string", "description": "A stable name for programs"},
        "kind": {"type": "string"},
        "hint": {"type": "string"},
        "retryable": {"type": "boolean", "description": "Whether the same call may work later"},
        "retry_after": {"type": "number", "description": "Seconds until then"},
        "details": {"type": "object", "additionalProperties": True},
        "incident": {"type": "string", "description": "Finds an internal error in the server's log"},
    },
    "required": ["type", "title", "status", "detail", "code"],
}


def find_status(error: OutriderError) -> int:
    """Return the HTTP status of an error."""
    by_kind = next((status for kind, status in STATUS_BY_ERROR.items() if isinstance(error, kind)), 500)
    return STATUS_BY_CODE.get(error.code, by_kind)


def serialize_problem(error: OutriderError) -> dict[str, Any]:
    """Return the problem details of an error."""
    facts = shorten_error(error).to_dict()
    return _build_problem(find_status(error), facts.pop("message"), facts.pop("code"), **facts)


def serialize_bug(tool: str, incident: str) -> dict[str, Any]:
    """Return the problem details of an internal error, which only the log explains."""
    hint = "do not repeat the same call; the server's log has the details under that number"
    detail = f"{tool} failed on our side (incident {incident})"
    return _build_problem(500, detail, "bug", hint=hint, retryable=False, incident=incident)


def build_problem_response(problem: dict[str, Any]) -> Response:
    """Return the response with its status.

    The time to wait is included if it is known.
    """
    wait_s = problem.get("retry_after")
    headers = {} if wait_s is None else {"Retry-After": str(math.ceil(wait_s))}
    return JSONResponse(problem, problem["status"], headers, PROBLEM_TYPE)


def _build_problem(status: int, detail: str, code: str, **facts: Any) -> dict[str, Any]:
    title = HTTPStatus(status).phrase
    return {"type": "about:blank", "title": title, "status": status, "detail": detail, "code": code} | facts


class ProblemMiddleware:
    """Turns refusals of other layers into problem details on the paths of the REST interface."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not is_rest_path(scope["path"]):
            await self._app(scope, receive, send)
            return
        refusal: Message | None = None
        body = b""

        async def send_or_hold(message: Message) -> None:
            nonlocal refusal, body
            if message["type"] == "http.response.start" and message["status"] >= 400:
                is_problem = (b"content-type", PROBLEM_TYPE.encode()) in message["headers"]
                refusal = None if is_problem else message
            if refusal is message:
                return
            if refusal is None:
                await send(message)
            else:
                body += message.get("body", b"")
                if not message.get("more_body"):
                    await _convert_refusal(refusal, body)(scope, receive, send)

        await self._app(scope, receive, send_or_hold)


def _convert_refusal(start: Message, body: bytes) -> Response:
    try:
        fields: dict[str, Any] = json.loads(body)
    except ValueError:
        fields = {"error_description": body.decode("utf-8", "replace")}
    if isinstance(fields.get("error"), dict):  # of the dashboard, which shares a port with REST
        error = fields["error"]
        fields = {"error": error.get("code"), "error_description": error.get("message"), "hint": error.get("hint")}
    title = HTTPStatus(start["status"]).phrase
    code = str(fields.get("error") or title.lower().replace(" ", "_"))
    detail = str(fields.get("error_description") or fields.get("error") or title)
    hint = {"hint": fields["hint"]} if fields.get("hint") else {}
    response = JSONResponse(_build_problem(start["status"], detail, code, **hint), start["status"], None, PROBLEM_TYPE)
    replaced = (b"content-type", b"content-length")
    response.raw_headers += [each for each in start["headers"] if each[0].lower() not in replaced]
    return response
