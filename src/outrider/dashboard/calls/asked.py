"""What a person wants to see of the calls, as the address of the page says it."""

import time
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request

from outrider.core.history import Wanted

DAY = 86_400
PERIODS = {"": "Any time", "hour": "Last hour", "day": "Last day", "week": "Last week"}
SECONDS = {"hour": 3_600, "day": DAY, "week": 7 * DAY}
LONGEST = 200  # characters of a filter


@dataclass(frozen=True)
class Asked:
    """The filters; empty ones filter nothing. `q` are words, `period` is one of PERIODS."""

    q: str = ""
    tool: str = ""
    toolset: str = ""
    provider: str = ""
    outcome: str = ""
    session: str = ""
    period: str = ""

    @property
    def wanted(self) -> Wanted:
        """The calls."""
        since = time.time() - SECONDS[self.period] if self.period in SECONDS else 0.0
        return Wanted(self.tool, self.toolset, self.provider, self.outcome, self.session, self.q, since)

    def query(self, **changed: Any) -> str:
        """The filters as the end of an address, `?` included; `changed` are other values."""
        values = {name: value for name, value in (vars(self) | changed).items() if value}
        return f"?{urlencode(values)}" if values else ""


def asked(request: Request) -> Asked:
    """What the address asks for."""
    given = request.query_params
    return Asked(**{each.name: given.get(each.name, "").strip()[:LONGEST] for each in fields(Asked)})
