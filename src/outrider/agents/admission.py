"""Before a run begins: whether there is room for it, and how much money it may cost, where that is limited."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

from outrider.agents.definition import Agent, Budgets
from outrider.core.context import Call

if TYPE_CHECKING:
    from outrider.agents.run import Run
    from outrider.agents.runs import Runs

P = ParamSpec("P")
# Holds a place while a run is written down; yields the dollars that it may cost, None for any. Raises Unavailable.
Beginning = Callable[[Call], AbstractAsyncContextManager[float | None]]
# What forbids a person in a workspace to spend more on models now; None where nothing does.
Spending = Callable[[str, str | None], Awaitable[str | None]]
Start = Callable[Concatenate["Runs", Agent, str, Call, P], Awaitable["Run"]]


def admitted(start: Start[P]) -> Start[P]:
    """Makes a run begin only inside `Runs.beginning`, under a budget of what that leaves it."""

    @wraps(start)
    async def begin(runs: "Runs", agent: Agent, query: str, call: Call, *args: P.args, **options: P.kwargs) -> "Run":
        if runs.beginning is None:
            return await start(runs, agent, query, call, *args, **options)
        async with runs.beginning(call) as dollars:
            if dollars is not None:
                more: Any = options
                more["budget"] = _within(more.get("budget"), dollars)
            return await start(runs, agent, query, call, *args, **options)

    return begin


def _within(budget: Any, dollars: float) -> Budgets:
    return (budget or Budgets()).within(Budgets(cost=dollars))
