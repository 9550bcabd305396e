"""Live updates of the run list and of one run's events."""

from typing import Any

from outrider.agents.run import Run
from outrider.agents.views.overview import RunOverview
from outrider.agents.views.step_list import StepList, merge_text_events
from outrider.core.errors import InvalidInput
from outrider.dashboard.services import DashboardServices


async def read_run_changes(services: DashboardServices, cursor: str) -> tuple[list[dict[str, Any]], str]:
    """Return the runs that changed."""
    return await RunOverview(services.database).list_changes(cursor)


async def build_start_cursor(services: DashboardServices, run: Run) -> str:
    """Return the start of a run's event stream: the text that the model is writing.

    The numbers of events are the cursor, so a reconnecting client gets each event exactly once.
    """
    seq = await StepList(services.database).find_unfinished_seq(run.id)
    standing = await RunOverview(services.database).compute_fingerprint(run.root_run_id)
    return f"{run.id}~{run.root_run_id}~{seq}~{standing}"


async def read_run_events(services: DashboardServices, cursor: str) -> tuple[list[dict[str, Any]], str]:
    """Return a run's events after the cursor, and whether its tree has changed (`kind: tree`)."""
    if not cursor:
        return [], ""
    parts = cursor.split("~")
    if len(parts) != 4 or not parts[2].isascii() or not parts[2].isdigit():
        raise InvalidInput("after: is not a valid position", hint="reload the page")
    run_id, root_id, seq, standing = parts[0], parts[1], int(parts[2]), parts[3]
    events = await services.runs.streams.read(run_id, seq)
    merged = merge_text_events(events)
    now = await RunOverview(services.database).compute_fingerprint(root_id)
    if now != standing:
        merged.append({"kind": "tree", "seq": 0, "at": 0, "data": {}})
    return merged, f"{run_id}~{root_id}~{events[-1].seq if events else seq}~{now}"
