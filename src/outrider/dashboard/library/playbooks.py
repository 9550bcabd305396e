"""Library pages of playbooks and their runs."""

from starlette.requests import Request
from starlette.responses import Response

from outrider.core.errors import NotFound
from outrider.dashboard.access import ResourceOwner, can_view, get_allowed_workspace
from outrider.dashboard.files import build_attachment
from outrider.dashboard.labels import format_label
from outrider.dashboard.library.listing import LIST_PAGE_SIZE, parse_list_query, render_list, render_section
from outrider.dashboard.page import get_services
from outrider.playbooks.playbook import Playbook

PLAYBOOKS_SECTION = "library_playbooks"


async def show_playbooks(request: Request) -> Response:
    """Show all playbooks."""
    list_query = parse_list_query(request)
    found = await get_services(request).playbooks.list_playbooks(
        text=list_query.q, workspace=get_allowed_workspace(request), after=list_query.after, limit=LIST_PAGE_SIZE
    )
    rows = [
        {"playbook": each, "goal": format_label(each.content.goal), "assistant": format_label(each.assistant)}
        for each in found.items
        if can_view(request, ResourceOwner(each.workspace))
    ]
    return await render_list(request, PLAYBOOKS_SECTION, "playbooks", after=found.after, playbooks=rows)


async def show_playbook(request: Request) -> Response:
    """Show one playbook with its steps."""
    found = await _require_playbook(request)
    runs = await get_services(request).playbooks.list_runs(found)
    return await render_section(
        request, PLAYBOOKS_SECTION, "playbook", playbook=found, goal=format_label(found.content.goal), runs=runs
    )


async def save_playbook(request: Request) -> Response:
    """Download a playbook as JSON for `import_playbooks`."""
    found = await _require_playbook(request)
    data = found.content.model_dump_json(indent=2).encode()
    return build_attachment(f"{format_label(found.content.goal, limit=60)}.json", "application/json", data)


async def _require_playbook(request: Request) -> Playbook:
    found = await get_services(request).playbooks.find(request.path_params["key"])
    if not can_view(request, ResourceOwner(found.workspace)):
        raise NotFound("no such playbook")
    return found
