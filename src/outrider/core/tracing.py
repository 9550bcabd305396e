"""Record OpenTelemetry spans of calls, if an exporter is configured.

Spans hold names of tools, providers and hosts, and outcomes; never arguments, texts or messages, which may be private.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from opentelemetry import context, propagate, trace
from opentelemetry.trace import Span, SpanKind, StatusCode

from outrider.core.errors import OutriderError

TRACER = trace.get_tracer("outrider")
# The id of the call's record and its session, for log lines.
current_call: ContextVar[tuple[str, str]] = ContextVar("current_call", default=("", ""))


@contextmanager
def start_span(
    name: str, facts: Mapping[str, str] | None = None, *, kind: SpanKind = SpanKind.INTERNAL
) -> Generator[Span]:
    """Record a span around the body.

    Args:
        name: The operation, with few distinct values: `tool web_search`.
        facts: Attributes, with OpenTelemetry's names where they exist.
        kind: CLIENT if another program does the work.
    """
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):  # no exporter is configured
        yield trace.INVALID_SPAN
        return
    with TRACER.start_as_current_span(
        name, kind=kind, attributes=facts, record_exception=False, set_status_on_exception=False
    ) as span:
        try:
            yield span
        except BaseException as error:
            mark_failed(span, get_error_type(error))
            raise


def mark_failed(span: Span, error_type: str) -> None:
    """Mark the span as failed."""
    span.set_attribute("error.type", error_type)
    span.set_status(StatusCode.ERROR)


def get_error_type(error: BaseException) -> str:
    """Return the error's code or class name, without its message."""
    return error.code if isinstance(error, OutriderError) else type(error).__name__


def capture_trace_context() -> dict[str, str]:
    """Return the current span as W3C trace context, for work in another process; empty without a span."""
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return carrier


@contextmanager
def restore_trace_context(carrier: Mapping[str, str] | None) -> Generator[None]:
    """Make the captured span the parent of spans in the body, if there is one."""
    if not carrier:
        yield
        return
    token = context.attach(propagate.extract(carrier))
    try:
        yield
    finally:
        context.detach(token)
