"""Where a trace enters the house: the `traceparent` header of a request (W3C Trace Context)."""

from opentelemetry import propagate
from opentelemetry.trace import SpanKind
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from outrider.core.tracing import TRACER, mark_failed


class TracingMiddleware:
    """A span around every request, below the caller's own if it names one; orchestrators' questions leave none."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        untraced_paths = frozenset({"/healthz", "/readyz"})
        if scope["type"] != "http" or scope["path"] in untraced_paths:
            await self._app(scope, receive, send)
            return
        above = propagate.extract({key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]})
        facts = {"http.request.method": scope["method"], "url.path": scope["path"][:200]}
        with TRACER.start_as_current_span(
            scope["method"], above, SpanKind.SERVER, facts, record_exception=False
        ) as made:

            async def send_traced(message: Message) -> None:
                if message["type"] == "http.response.start":
                    made.set_attribute("http.response.status_code", message["status"])
                    if message["status"] >= 500:
                        mark_failed(made, str(message["status"]))
                await send(message)

            await self._app(scope, receive, send_traced)
