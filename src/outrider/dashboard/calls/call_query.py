"""Parse the filters of the page Calls from its URL."""

import time
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request

from outrider.core.call_history import CallFilter

DAY_S = 86_400
PERIOD_TITLES = {"": "Any time", "hour": "Last hour", "day": "Last day", "week": "Last week"}
PERIOD_SECONDS = {"hour": 3_600, "day": DAY_S, "week": 7 * DAY_S}


@dataclass(frozen=True)
class CallQuery:
    """The filters; empty ones match everything. `q` is text, `period` is one of PERIODS."""

    q: str = ""
    tool: str = ""
    toolset: str = ""
    provider: str = ""
    outcome: str = ""
    session: str = ""
    period: str = ""

    @property
    def call_filter(self) -> CallFilter:
        """The filter for the call history."""
        since = time.time() - PERIOD_SECONDS[self.period] if self.period in PERIOD_SECONDS else 0.0
        return CallFilter(self.tool, self.toolset, self.provider, self.outcome, self.session, self.q, since)

    def query(self, **changed: Any) -> str:
        """Return the filters as a query string with `?`; `changed` overrides values."""
        values = {name: value for name, value in (vars(self) | changed).items() if value}
        return f"?{urlencode(values)}" if values else ""


def parse_call_query(request: Request) -> CallQuery:
    """Parse the filters of a request."""
    max_filter_chars = 200  # characters of a filter
    given = request.query_params
    return CallQuery(**{each.name: given.get(each.name, "").strip()[:max_filter_chars] for each in fields(CallQuery)})
