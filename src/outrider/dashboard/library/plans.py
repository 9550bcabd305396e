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
    list_query, filter_text = parse_list_query(request), request.query_params.get("which", "")
    plan_filter: PlanFilter = "open" if filter_text == "open" else "done" if filter_text == "done" else "all"
    found = await get_services(request).plans.list_plans(
        plan_filter,
        text=list_query.q,
        workspace=get_allowed_workspace(request),
        after=list_query.after,
        limit=LIST_PAGE_SIZE,
    )
    rows = [
        {"kept": each, "goal": describe_goal(each), "session": format_label(each.session)}
        for each in found.items
        if can_view(request, ResourceOwner(each.workspace))
    ]
    return await render_list(request, PLANS_SECTION, "plans", after=found.after, plans=rows, which=plan_filter)


async def show_plan(request: Request) -> Response:
    """Show one plan with its archive."""
    max_archived = 30  # archived goals and observations to show
    stored_plan, plans = await _require_plan(request), get_services(request).plans
    return await render_section(
        request,
        PLANS_SECTION,
        "plan",
        kept=stored_plan,
        goal=describe_goal(stored_plan),
        session=format_label(stored_plan.session),
        past=await plans.list_scope_goals(stored_plan.scope, max_archived),
        observations=await plans.list_scope_observations(stored_plan.scope, max_archived),
    )


async def save_plan(request: Request) -> Response:
    """Download a plan as JSON."""
    stored_plan = await _require_plan(request)
    data = {"session": stored_plan.session, "workspace": stored_plan.workspace, "updated_at": stored_plan.updated_at}
    text = json.dumps(data | stored_plan.plan.to_dict(), ensure_ascii=False, indent=2)
    return build_attachment(
        f"plan of {format_label(stored_plan.session, limit=60)}.json", "application/json", text.encode()
    )


def describe_goal(stored_plan: StoredPlan) -> str:
    """Describe the current or last goal."""
    return format_label(stored_plan.plan.goal) or format_label(stored_plan.plan.last_cleared_goal) or "No goal"


async def _require_plan(request: Request) -> StoredPlan:
    stored_plan = await get_services(request).plans.load_scope(request.path_params["key"])
    if not can_view(request, ResourceOwner(stored_plan.workspace)):
        raise NotFound("no such plan")
    return stored_plan
