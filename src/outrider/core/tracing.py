"""Spans: where the time of a call went, for whoever listens with OpenTelemetry. Nobody listens unless told to.

Names of tools, providers and hosts are recorded and how things ended; never arguments, texts or messages, which may
be private.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from opentelemetry import context, propagate, trace
from opentelemetry.trace import Span, SpanKind, StatusCode

from outrider.core.errors import OutriderError

TRACER = trace.get_tracer("outrider")
current_call: ContextVar[tuple[str, str]] = ContextVar("calling", default=("", ""))  # the call in progress, its session


@contextmanager
def track_call(call: str, session: str) -> Generator[None]:
    """What is logged in the body belongs to that call, whose record has the same id."""
    token = current_call.set((call, session))
    try:
        yield
    finally:
        current_call.reset(token)


@contextmanager
def start_span(
    name: str, facts: Mapping[str, str] | None = None, *, kind: SpanKind = SpanKind.INTERNAL
) -> Generator[Span]:
    """A span around the body.

    Args:
        name: What is done, with few values: `tool web_search`.
        facts: Attributes of it, by OpenTelemetry's names where it has one.
        kind: What it is to others: CLIENT where another program does the work.
    """
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):  # nobody listens: it would be none anyway
        yield trace.INVALID_SPAN
        return
    with TRACER.start_as_current_span(
        name, kind=kind, attributes=facts, record_exception=False, set_status_on_exception=False
    ) as made:
        try:
            yield made
        except BaseException as error:
            mark_failed(made, get_error_type(error))
            raise


def mark_failed(made: Span, kind: str) -> None:
    """Marks the span as one of something that went wrong."""
    made.set_attribute("error.type", kind)
    made.set_status(StatusCode.ERROR)


def get_error_type(error: BaseException) -> str:
    """What went wrong, without what was said about it: an error's code, or its class."""
    return error.code if isinstance(error, OutriderError) else type(error).__name__


def capture_trace_context() -> dict[str, str]:
    """The present span, to be kept with work that goes on elsewhere (W3C trace context); empty where there is none."""
    found: dict[str, str] = {}
    propagate.inject(found)
    return found


@contextmanager
def restore_trace_context(found: Mapping[str, str] | None) -> Generator[None]:
    """What happens in the body belongs to the span that was kept, if one was."""
    if not found:
        yield
        return
    token = context.attach(propagate.extract(found))
    try:
        yield
    finally:
        context.detach(token)
