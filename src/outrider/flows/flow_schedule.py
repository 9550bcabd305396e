"""A schedule of a flow."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from outrider.core.context import Call
from outrider.core.schedule import Schedule, find_time_zone, parse_cron_schedule
from outrider.flows.flow_runs import build_owner_key


@dataclass(frozen=True)
class FlowSchedule:
    """A schedule of a flow, with the parameters and options of its runs.

    Attributes:
        id: Its id, which depends only on the flow's name.
        flow: The flow's name.
        cron: A cron line.
        timezone: The name of the time zone of the cron line.
        parameters: The parameters of its runs, without secrets.
        options: Further options of its runs, as `stored` runs have them.
        notify: Names of the notices sent when a run stops or heals.
        caller: Session, workspace and person of its runs.
        next_at: When it is due, in seconds since the epoch.
        problem: Why a run was skipped; empty if none was.
        revision: A new value after each change.
    """

    flow: str
    cron: str
    timezone: str
    parameters: Mapping[str, Any]
    options: Mapping[str, Any]
    notify: list[str]
    caller: Mapping[str, Any]
    next_at: float = 0.0
    problem: str = ""
    revision: str = ""
    id: str = ""

    @property
    def times(self) -> Schedule:
        """The due times. Raises InvalidInput."""
        return parse_cron_schedule(self.cron, find_time_zone(self.timezone, "timezone"), "cron")

    @property
    def call(self) -> Call:
        """The context of its runs."""
        return Call(**self.caller)

    @property
    def owner(self) -> str:
        """The key of the person in a workspace whose schedule it is."""
        return build_owner_key(self.call)


def parse_schedule_row(row: Mapping[Any, Any]) -> FlowSchedule:
    """Return the schedule of a row."""
    return FlowSchedule(**{each.name: row[each.name] for each in fields(FlowSchedule)})
