"""Plans: the goals of sessions, what is to do, and what was done."""

import json

from starlette.requests import Request
from starlette.responses import Response

from outrider.core.errors import NotFound
from outrider.dashboard.files import attachment
from outrider.dashboard.library.listing import SIZE, asked, part, section
from outrider.dashboard.naming import label
from outrider.dashboard.page import house_of
from outrider.dashboard.reach import Owner, may_see, only_workspace
from outrider.plans.listing import KeptPlan, Which

NAME = "library_plans"
ARCHIVED = 30  # goals and observations of the archive that are shown


async def show_plans(request: Request) -> Response:
    """All plans, or those that are open or done."""
    wish, which = asked(request), _which(request)
    found = await house_of(request).plans.listed(
        which, text=wish.q, workspace=only_workspace(request), after=wish.after, limit=SIZE
    )
    rows = [
        {"kept": each, "goal": goal_of(each), "session": label(each.session)}
        for each in found.items
        if may_see(request, Owner(each.workspace))
    ]
    return await part(request, NAME, "plans", after=found.after, plans=rows, which=which)


async def show_plan(request: Request) -> Response:
    """One plan with its archive."""
    kept, plans = await _plan(request), house_of(request).plans
    return await section(
        request, NAME, "plan", kept=kept, goal=goal_of(kept), session=label(kept.session),
        past=await plans.past_goals_of(kept.scope, ARCHIVED),
        observations=await plans.observations_of(kept.scope, ARCHIVED),
    )  # fmt: skip


async def save_plan(request: Request) -> Response:
    """A plan as JSON."""
    kept = await _plan(request)
    data = {"session": kept.session, "workspace": kept.workspace, "updated_at": kept.updated_at}
    text = json.dumps(data | kept.plan.to_dict(), ensure_ascii=False, indent=2)
    return attachment(f"plan of {label(kept.session, limit=60)}.json", "application/json", text.encode())


def goal_of(kept: KeptPlan) -> str:
    """What is pursued, or was pursued last."""
    return label(kept.plan.goal) or label(kept.plan.last_cleared_goal) or "No goal"


def _which(request: Request) -> Which:
    given = request.query_params.get("which", "")
    return "open" if given == "open" else "done" if given == "done" else "all"


async def _plan(request: Request) -> KeptPlan:
    kept = await house_of(request).plans.of_scope(request.path_params["key"])
    if not may_see(request, Owner(kept.workspace)):
        raise NotFound("there is no such plan")
    return kept
