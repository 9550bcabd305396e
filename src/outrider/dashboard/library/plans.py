"""Library pages of plans: goals, todos and archives of sessions."""

import json

from starlette.requests import Request
from starlette.responses import Response

from outrider.core.errors import NotFound
from outrider.dashboard.access import ResourceOwner, can_view, get_allowed_workspace
from outrider.dashboard.files import build_attachment
from outrider.dashboard.labels import format_label
from outrider.dashboard.library.listing import LIST_PAGE_SIZE, parse_list_query, render_list, render_section
from outrider.dashboard.page import get_services
from outrider.plans.listing import PlanFilter, StoredPlan

PLANS_SECTION = "library_plans"


async def show_plans(request: Request) -> Response:
    """Show all plans, or only open or done ones."""
    list_query, given = parse_list_query(request), request.query_params.get("which", "")
    which: PlanFilter = "open" if given == "open" else "done" if given == "done" else "all"
    found = await get_services(request).plans.list_plans(
        which, text=list_query.q, workspace=get_allowed_workspace(request), after=list_query.after, limit=LIST_PAGE_SIZE
    )
    rows = [
        {"kept": each, "goal": describe_goal(each), "session": format_label(each.session)}
        for each in found.items
        if can_view(request, ResourceOwner(each.workspace))
    ]
    return await render_list(request, PLANS_SECTION, "plans", after=found.after, plans=rows, which=which)


async def show_plan(request: Request) -> Response:
    """Show one plan with its archive."""
    max_archived = 30  # goals and observations of the archive that are shown
    kept, plans = await _require_plan(request), get_services(request).plans
    return await render_section(
        request,
        PLANS_SECTION,
        "plan",
        kept=kept,
        goal=describe_goal(kept),
        session=format_label(kept.session),
        past=await plans.list_scope_goals(kept.scope, max_archived),
        observations=await plans.list_scope_observations(kept.scope, max_archived),
    )


async def save_plan(request: Request) -> Response:
    """Download a plan as JSON."""
    kept = await _require_plan(request)
    data = {"session": kept.session, "workspace": kept.workspace, "updated_at": kept.updated_at}
    text = json.dumps(data | kept.plan.to_dict(), ensure_ascii=False, indent=2)
    return build_attachment(f"plan of {format_label(kept.session, limit=60)}.json", "application/json", text.encode())


def describe_goal(kept: StoredPlan) -> str:
    """Describe the current or last goal."""
    return format_label(kept.plan.goal) or format_label(kept.plan.last_cleared_goal) or "No goal"


async def _require_plan(request: Request) -> StoredPlan:
    kept = await get_services(request).plans.load_scope(request.path_params["key"])
    if not can_view(request, ResourceOwner(kept.workspace)):
        raise NotFound("no such plan")
    return kept
