"""Parse the filters of the run list from its URL."""

import time
from typing import get_args

from starlette.datastructures import QueryParams

from outrider.agents.run_status import RunStatus
from outrider.agents.views.run_list import RunFilter

HOUR_S = 3_600
RUN_PERIODS = {"hour": HOUR_S, "day": 24 * HOUR_S, "week": 7 * 24 * HOUR_S, "month": 30 * 24 * HOUR_S}
RUN_STATUSES = ("open", *get_args(RunStatus))


def parse_run_filter(query: QueryParams) -> RunFilter:
    """Parse the filter; invalid values are ignored."""
    fields = read_form_fields(query)
    since = RUN_PERIODS.get(fields["since"])
    return RunFilter(
        agent=fields["agent"],
        status=fields["status"],
        text=fields["q"],
        person=fields["who"],
        since=time.time() - since if since else 0.0,
        kind="evaluation" if fields["kind"] == "evaluation" else "agent" if fields["kind"] == "agent" else "",
    )


def read_form_fields(query: QueryParams) -> dict[str, str]:
    """Return the form's fields as they were filled in."""
    field_names = ("q", "agent", "status", "since", "who", "kind")
    fields = {name: query.get(name, "").strip()[:200] for name in field_names}
    are_valid = fields["status"] in RUN_STATUSES, fields["since"] in RUN_PERIODS
    return fields | {
        name: fields[name] if fits else "" for name, fits in zip(("status", "since"), are_valid, strict=True)
    }
