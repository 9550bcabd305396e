"""Format log lines as text or JSON, with their call."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Literal

from opentelemetry import trace

from outrider.core.tracing import current_call


class CallContextFilter(logging.Filter):
    """Adds the current call and session to each record."""

    def filter(self, record: logging.LogRecord) -> bool:
        call, session = current_call.get()
        suffix = f" (call {call}, session {session})" if call else ""
        vars(record).update(call=call, session=session, call_suffix=suffix)
        return True


class JsonLineFormatter(logging.Formatter):
    """Formats one object per line.

    It has `at` (RFC 3339, UTC), `level`, `logger` and `message`, and `call`, `session`, `trace`, `span` and `exception`
    if they are known.
    """

    def format(self, record: logging.LogRecord) -> str:
        span = trace.get_current_span().get_span_context()
        fields = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "call": getattr(record, "call", ""),
            "session": getattr(record, "session", ""),
            "trace": f"{span.trace_id:032x}" if span.is_valid else "",
            "span": f"{span.span_id:016x}" if span.is_valid else "",
            "exception": self.formatException(record.exc_info) if record.exc_info else "",
        }
        return json.dumps({name: value for name, value in fields.items() if value}, ensure_ascii=False)


def configure_logging(level: str, style: Literal["text", "json"]) -> None:
    """Write the process's log to stderr, from that level on."""
    line_format = "%(levelname)s %(name)s: %(message)s%(call_suffix)s"
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(CallContextFilter())
    handler.setFormatter(JsonLineFormatter() if style == "json" else logging.Formatter(line_format))
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
