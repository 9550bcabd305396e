"""Before a run begins: whether there is room for it, and how much money it may cost, where that is limited."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING

from outrider.agents.assignment import Assignment
from outrider.agents.conversations import Conversation
from outrider.agents.definition import Agent, Budgets
from outrider.agents.run import Run
from outrider.core.context import Call

if TYPE_CHECKING:
    from outrider.agents.runs import RunService

# Holds a place while a run is written down; yields the dollars that it may cost, None for any. Raises Unavailable.
RunReservation = Callable[[Call], AbstractAsyncContextManager[float | None]]
# What forbids a person in a workspace to spend more on models now; None where nothing does.
SpendingCheck = Callable[[str, str | None], Awaitable[str | None]]
StartRun = Callable[["RunService", Agent, Assignment, Call, Conversation], Awaitable["Run"]]


def reserve_before_start(start: StartRun) -> StartRun:
    """Makes a run begin only inside `Runs.beginning`, under a budget of what that leaves it."""

    @wraps(start)
    async def start_reserved(
        runs: "RunService", agent: Agent, work: Assignment, call: Call, conversation: Conversation
    ) -> "Run":
        if runs.reserve_run is None:
            return await start(runs, agent, work, call, conversation)
        async with runs.reserve_run(call) as dollars:
            if dollars is not None:
                work = replace(work, budget=(work.budget or Budgets()).clamp_to(Budgets(cost=dollars)))
            return await start(runs, agent, work, call, conversation)

    return start_reserved
