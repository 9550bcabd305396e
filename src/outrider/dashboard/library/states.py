"""Library page of saved browser states, without their content."""

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

from outrider.dashboard.access import ResourceOwner, can_view
from outrider.dashboard.labels import format_label
from outrider.dashboard.library.listing import LIST_PAGE_SIZE, parse_list_query, render_list
from outrider.dashboard.page import get_services


async def show_states(request: Request) -> Response:
    """Show all states by name."""
    max_sites = 12  # of one state to name
    section_name = "library_states"
    list_query, states = parse_list_query(request), get_services(request).browsers.states
    found = await to_thread.run_sync(states.list_states) if can_view(request, ResourceOwner()) else []
    text = list_query.q.casefold()
    matching_states = [
        each
        for each in found
        if each.state_id > list_query.after
        and any(text in part.casefold() for part in (each.state_id, *(each.origins or ())))
    ]
    rows = [
        (each, [format_label(origin) for origin in (each.origins or ())[:max_sites]])
        for each in matching_states[:LIST_PAGE_SIZE]
    ]
    after = matching_states[LIST_PAGE_SIZE - 1].state_id if len(matching_states) > LIST_PAGE_SIZE else ""
    return await render_list(request, section_name, "states", after=after, states=rows)
