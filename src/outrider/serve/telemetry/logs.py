"""How the log is written: lines for people, or one JSON object a line for machines; each knows its call."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Literal

from opentelemetry import trace

from outrider.core.tracing import current_call


class CallContextFilter(logging.Filter):
    """Gives each record the call and the session it belongs to."""

    def filter(self, record: logging.LogRecord) -> bool:
        call, session = current_call.get()
        whose = f" (call {call}, session {session})" if call else ""
        vars(record).update(call=call, session=session, whose=whose)
        return True


class JsonLineFormatter(logging.Formatter):
    """One object a line: `at` (RFC 3339, UTC), `level`, `logger`, `message`; `call`, `session`, `trace`, `span` and
    `exception` where there are any.
    """

    def format(self, record: logging.LogRecord) -> str:
        span = trace.get_current_span().get_span_context()
        facts = {
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
        return json.dumps({name: value for name, value in facts.items() if value}, ensure_ascii=False)


def configure_logging(level: str, style: Literal["text", "json"]) -> None:
    """Sets the process's log to stderr, from that level on."""
    line_format = "%(levelname)s %(name)s: %(message)s%(whose)s"
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(CallContextFilter())
    handler.setFormatter(JsonLineFormatter() if style == "json" else logging.Formatter(line_format))
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
