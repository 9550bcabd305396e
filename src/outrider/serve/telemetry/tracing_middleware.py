"""Trace HTTP requests, and continue the trace of `traceparent`.

See W3C Trace Context.
"""

from opentelemetry import propagate
from opentelemetry.trace import SpanKind
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from outrider.core.tracing import TRACER, mark_failed


class TracingMiddleware:
    """Creates a span for every request except health checks, below the caller's span."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in ("/healthz", "/readyz"):
            await self._app(scope, receive, send)
            return
        headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        attributes = {"http.request.method": scope["method"], "url.path": scope["path"][:200]}
        with TRACER.start_as_current_span(
            scope["method"], propagate.extract(headers), SpanKind.SERVER, attributes, record_exception=False
        ) as span:

            async def send_traced(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                    if message["status"] >= 500:
                        mark_failed(span, str(message["status"]))
                await send(message)

            await self._app(scope, receive, send_traced)
