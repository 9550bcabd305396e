"""Live updates of runs: of the list which ones have changed, of one run every event in order."""

from typing import Any

from outrider.agents.oversight.overview import Overview
from outrider.agents.oversight.step_list import StepList, gathered
from outrider.agents.run import Run
from outrider.core.errors import InvalidInput
from outrider.dashboard.house import House


async def changes(house: House, cursor: str) -> tuple[list[dict[str, Any]], str]:
    """The runs that changed."""
    return await Overview(house.database).changed(cursor)


async def beginning(house: House, run: Run) -> str:
    """Where the events of a run begin that its page has to tell: at what the model is saying now.

    Their numbers are the cursor, so whoever comes back gets each of them, and each once.
    """
    seq = await StepList(house.database).unfinished_since(run.id)
    standing = await Overview(house.database).standing(run.root_run_id)
    return f"{run.id}~{run.root_run_id}~{seq}~{standing}"


async def happened(house: House, cursor: str) -> tuple[list[dict[str, Any]], str]:
    """What happened in one run after the cursor, and that its tree has changed (`kind: tree`)."""
    if not cursor:
        return [], ""
    run_id, root_id, seq, standing = _read(cursor)
    events = await house.runs.streams.read(run_id, seq)
    news = gathered(events)
    now = await Overview(house.database).standing(root_id)
    if now != standing:
        news.append({"kind": "tree", "seq": 0, "at": 0, "data": {}})
    return news, f"{run_id}~{root_id}~{events[-1].seq if events else seq}~{now}"


def _read(cursor: str) -> tuple[str, str, int, str]:
    parts = cursor.split("~")
    if len(parts) != 4 or not parts[2].isascii() or not parts[2].isdigit():
        raise InvalidInput("the place to go on from cannot be read", hint="reload the page")
    return parts[0], parts[1], int(parts[2]), parts[3]
