"""What a list of runs shows, as its address says it."""

import time
from typing import get_args

from starlette.datastructures import QueryParams

from outrider.agents.oversight.run_list import Wanted
from outrider.agents.run import Status

HOUR = 3_600
PERIODS = {"hour": HOUR, "day": 24 * HOUR, "week": 7 * 24 * HOUR, "month": 30 * 24 * HOUR}
STATUSES = ("open", *get_args(Status))
NAMES = ("q", "agent", "status", "since", "who", "kind")


def wanted_of(query: QueryParams) -> Wanted:
    """The runs that an address asks for; what it says wrongly is left out."""
    given = chosen(query)
    since = PERIODS.get(given["since"])
    return Wanted(
        agent=given["agent"],
        status=given["status"],
        text=given["q"],
        person=given["who"],
        since=time.time() - since if since else 0.0,
        kind="evaluation" if given["kind"] == "evaluation" else "agent" if given["kind"] == "agent" else "",
    )


def chosen(query: QueryParams) -> dict[str, str]:
    """The fields of the form as they were filled in."""
    given = {name: query.get(name, "").strip()[:200] for name in NAMES}
    fitting = given["status"] in STATUSES, given["since"] in PERIODS
    return given | {name: given[name] if fits else "" for name, fits in zip(("status", "since"), fitting, strict=True)}
