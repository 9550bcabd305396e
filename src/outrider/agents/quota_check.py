"""Check quotas before a run starts."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import wraps
from typing import Protocol

from outrider.agents.assignment import Assignment
from outrider.agents.conversations import Conversation
from outrider.agents.definition import Agent, Budgets
from outrider.agents.run import Run
from outrider.core.context import Call

# Reserves a run while it is being saved; yields its limit in US dollars, None for no limit. Raises Unavailable.
RunReservation = Callable[[Call], AbstractAsyncContextManager[float | None]]
# Takes workspace and person; returns why no more may be spent on models now, or None.
SpendingCheck = Callable[[str, str | None], Awaitable[str | None]]


class ReservingRuns(Protocol):
    """A service that may reserve quota before it starts a run."""

    reserve_run: RunReservation | None


StartRun = Callable[..., Awaitable[Run]]


def reserve_before_start(start: StartRun) -> StartRun:
    """Start runs inside `RunService.reserve_run`, with the remaining quota as their budget."""

    @wraps(start)
    async def start_reserved(
        runs: ReservingRuns, agent: Agent, work: Assignment, call: Call, conversation: Conversation
    ) -> Run:
        if runs.reserve_run is None:
            return await start(runs, agent, work, call, conversation)
        async with runs.reserve_run(call) as dollars:
            if dollars is not None:
                work = replace(work, budget=(work.budget or Budgets()).clamp_to(Budgets(cost=dollars)))
            return await start(runs, agent, work, call, conversation)

    return start_reserved
