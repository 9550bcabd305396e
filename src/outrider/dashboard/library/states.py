"""Saved browser states: their names, their sites and their age. What is in them stays where it is."""

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

from outrider.browser.states import StateInfo
from outrider.dashboard.library.listing import SIZE, asked, part
from outrider.dashboard.naming import label
from outrider.dashboard.page import house_of
from outrider.dashboard.reach import Owner, may_see

NAME = "library_states"
SITES = 12  # of one state that are named


async def show_states(request: Request) -> Response:
    """All states, by name."""
    wish, states = asked(request), house_of(request).browsers.states
    found = await to_thread.run_sync(states.list) if may_see(request, Owner()) else []
    wanted = [each for each in found if _has(each, wish.q.casefold()) and each.state_id > wish.after]
    rows = [(each, [label(origin) for origin in (each.origins or ())[:SITES]]) for each in wanted[:SIZE]]
    after = wanted[SIZE - 1].state_id if len(wanted) > SIZE else ""
    return await part(request, NAME, "states", after=after, states=rows)


def _has(state: StateInfo, text: str) -> bool:
    return any(text in each.casefold() for each in (state.state_id, *(state.origins or ())))
