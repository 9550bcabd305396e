"""Answer `POST /v1/tools/{name}`."""

import json
import logging
import time
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, OutriderError
from outrider.core.toolbox import Toolbox
from outrider.serve.disconnects import cancel_on_disconnect
from outrider.serve.elicitation import build_consent_error
from outrider.serve.mcp import ApprovalResponder
from outrider.serve.problems import build_problem_response, serialize_bug, serialize_problem
from outrider.serve.rest.requests import choose_answer_form, read_arguments, read_call
from outrider.serve.rest.results import serialize_result
from outrider.serve.surrogates import replace_surrogates
from outrider.serve.tool_names import resolve_tool

log = logging.getLogger(__name__)
HEARTBEAT_INTERVAL_S = 15.0  # proxies drop streams that are silent for a minute


@dataclass(frozen=True)
class Outcome:
    """The end of a call: its result or problem details, as JSON."""

    body: dict[str, Any]
    failed: bool = False

    def build_response(self, *, as_text: bool) -> Response:
        """Return it as one response."""
        if self.failed:
            return build_problem_response(self.body)
        return PlainTextResponse(self.body["text"]) if as_text else JSONResponse(self.body)

    def build_event(self) -> bytes:
        """Return it as the last event of a stream."""
        return format_event("error" if self.failed else "result", self.body)


class CallEndpoint:
    """Calls tools for REST callers; a call is cancelled when its caller hangs up.

    Args:
        toolbox: The offered tools.
        approvals: Builds the results of calls that wait for people.
        assistant: The assistant of callers.
    """

    def __init__(self, toolbox: Toolbox, approvals: ApprovalResponder, assistant: str) -> None:
        self._toolbox = toolbox
        self._approvals = approvals
        self._assistant = assistant

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            arguments = await read_arguments(request)
        except ClientDisconnect:
            return
        call = read_call(request, assistant=self._assistant)
        hung_up = anyio.Event()
        # A repetition with the same key finds the run again, so the run may continue without its caller.
        call = replace(call, is_cancelled=lambda: hung_up.is_set() and call.idempotency_key is None)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(cancel_on_disconnect, receive, tasks.cancel_scope, hung_up.set)
            name, form = scope["path_params"]["name"], choose_answer_form(request)
            if form == "events":
                await self._stream_call(name, arguments, call, request, send)
            else:
                outcome = await self._call_tool(name, arguments, call)
                await outcome.build_response(as_text=form == "text")(scope, receive, send)
            tasks.cancel_scope.cancel()

    async def _call_tool(self, name: str, arguments: dict[str, Any], call: Call) -> Outcome:
        try:
            tool = await resolve_tool(name, self._toolbox)
            try:
                result = await self._toolbox.call(tool.name, arguments, call)
            except AnswerNeeded as question:
                if not question.questions:
                    raise build_consent_error(question, "REST callers cannot be asked.") from None
                result = self._approvals.build_result(question)
            return Outcome(replace_surrogates(serialize_result(result, tool)))
        except OutriderError as error:
            return Outcome(
                replace_surrogates(serialize_problem(self._approvals.add_dashboard_hint(error))), failed=True
            )
        except Exception:
            incident = uuid4().hex[:8]
            log.exception("bug in %s (incident %s)", name, incident)
            return Outcome(serialize_bug(name, incident), failed=True)

    async def _stream_call(
        self, name: str, arguments: dict[str, Any], call: Call, request: Request, send: Send
    ) -> None:
        max_waiting_events = 100
        into, events = anyio.create_memory_object_stream[bytes | Outcome](max_waiting_events)
        reporter = ProgressStream(into)
        call = replace(call, progress=reporter, heartbeat=reporter.report_alive)
        async with into, events, anyio.create_task_group() as tasks:

            async def finish_call() -> None:
                await into.send(await self._call_tool(name, arguments, call))

            tasks.start_soon(finish_call)
            await _send_events(events, request, send)


class ProgressStream:
    """Turns progress into events: at most five a second, and always the last."""

    def __init__(self, into: MemoryObjectSendStream[bytes | Outcome]) -> None:
        self._into = into
        self._sent_at = 0.0

    async def __call__(
        self, done: float, total: float | None, message: str, data: dict[str, Any] | None = None
    ) -> None:
        min_interval_s = 0.2
        is_last = total is not None and done >= total
        if time.monotonic() - self._sent_at < min_interval_s and not is_last and data is None:
            return
        self._sent_at = time.monotonic()
        facts = {"progress": done, "total": total, "message": message, "data": data}
        event = {name: value for name, value in facts.items() if value is not None}
        await self._into.send(format_event("progress", replace_surrogates(event)))

    async def report_alive(self, message: str) -> None:
        """Send a message without progress."""
        await self._into.send(format_event("progress", {"message": replace_surrogates(message)}))


def format_event(kind: str, body: dict[str, Any]) -> bytes:
    """Return a server-sent event."""
    return f"event: {kind}\ndata: {json.dumps(body, ensure_ascii=False)}\n\n".encode()


async def _send_events(events: MemoryObjectReceiveStream[bytes | Outcome], request: Request, send: Send) -> None:
    """Send events until the outcome; a failure before the first one is an ordinary error response."""
    started = False
    headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store"), (b"x-accel-buffering", b"no")]
    while True:
        event: bytes | Outcome = b": the call goes on\n\n"
        with anyio.move_on_after(HEARTBEAT_INTERVAL_S):
            event = await events.receive()
        if isinstance(event, Outcome) and event.failed and not started:
            await event.build_response(as_text=False)(request.scope, request.receive, send)
            return
        if not started:
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            started = True
        is_last = isinstance(event, Outcome)
        body = event.build_event() if isinstance(event, Outcome) else event
        await send({"type": "http.response.body", "body": body, "more_body": not is_last})
        if is_last:
            return
