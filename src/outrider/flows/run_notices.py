"""Write the notices of scheduled runs."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from outrider.core.notices.notifier import Notice
from outrider.flows.flow_runs import StoredRun, parse_run
from outrider.flows.tables import flow_runs


async def load_notice(connection: AsyncConnection, row: Any) -> Notice | None:
    """Return the notice of a row of `flow_notices`; None if its run was deleted."""
    found = await connection.execute(flow_runs.select().where(flow_runs.c.id == row["run_id"]))
    run = found.mappings().first()
    return build_notice(row["name"], parse_run(run, 0.0)) if run else None


def build_notice(name: str, run: StoredRun) -> Notice:
    """Return the notice about the end of a run."""
    is_right = run.state == "done"
    # The message can contain text of the page, so the subject, which commands get as an argument, leaves it out.
    outcome = f"succeeded, {run.healed} elements had changed" if is_right else f"stopped at step {run.step or 'one'}"
    ended = datetime.fromtimestamp(run.ended_at or run.started_at, UTC).isoformat(timespec="seconds")
    data = {"run": run.id, "flow": run.flow, "version": run.version, "step": run.step, "message": run.message}
    return Notice(
        id=f"{run.id}-{name}",
        name=name,
        subject=f"Flow {run.flow} {outcome}",
        url="",
        text=f"{run.message}\n`outrider flow runs {run.flow}` lists its runs.",
        event={
            "type": "flow.healed" if is_right else "flow.stopped",
            "timestamp": ended,
            "data": data | {"healed": run.healed},
        },
    )
