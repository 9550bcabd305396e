"""Playbooks: the workflows of assistants, and how often they were followed."""

from starlette.requests import Request
from starlette.responses import Response

from outrider.core.errors import NotFound
from outrider.dashboard.files import attachment
from outrider.dashboard.library.listing import SIZE, asked, part, section
from outrider.dashboard.naming import label
from outrider.dashboard.page import house_of
from outrider.dashboard.reach import Owner, may_see, only_workspace
from outrider.playbooks.playbook import Playbook

NAME = "library_playbooks"


async def show_playbooks(request: Request) -> Response:
    """All playbooks."""
    wish = asked(request)
    found = await house_of(request).playbooks.listed(
        text=wish.q, workspace=only_workspace(request), after=wish.after, limit=SIZE
    )
    rows = [
        {"playbook": each, "goal": label(each.content.goal), "assistant": label(each.assistant)}
        for each in found.items
        if may_see(request, Owner(each.workspace))
    ]
    return await part(request, NAME, "playbooks", after=found.after, playbooks=rows)


async def show_playbook(request: Request) -> Response:
    """One playbook, step by step."""
    found = await _playbook(request)
    runs = await house_of(request).playbooks.runs(found)
    return await section(request, NAME, "playbook", playbook=found, goal=label(found.content.goal), runs=runs)


async def save_playbook(request: Request) -> Response:
    """A playbook as JSON, as `import_playbook` takes it."""
    found = await _playbook(request)
    data = found.content.model_dump_json(indent=2).encode()
    return attachment(f"{label(found.content.goal, limit=60)}.json", "application/json", data)


async def _playbook(request: Request) -> Playbook:
    found = await house_of(request).playbooks.find(request.path_params["key"])
    if not may_see(request, Owner(found.workspace)):
        raise NotFound("there is no such playbook")
    return found
