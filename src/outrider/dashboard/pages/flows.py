"""Page Flows: what runs again without a model, its versions, and each run step by step."""

from typing import TYPE_CHECKING

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from outrider.core.errors import NotFound
from outrider.dashboard import render
from outrider.dashboard.access import get_allowed_workspace
from outrider.dashboard.flows.flow_repair import build_repair_form, repair_flow, resume_run
from outrider.dashboard.page import DashboardPage, build_route_path, get_services
from outrider.flows.flow import NAME_PATTERN

if TYPE_CHECKING:
    from outrider.flows.flow_history import FlowHistory


async def show_flows(request: Request) -> Response:
    """Show the flows that ran, the last one first, and what runs by itself."""
    flows, schedules = [], []
    if get_allowed_workspace(request) is None:
        history = _open_history(request)
        flows, schedules = await history.list_flows(), await history.list_schedules()
    return await render.render_page(request, "flows/flows.html", flows=flows, schedules=schedules)


async def show_flow(request: Request) -> Response:
    """Show one flow with its versions, their differences, and its last runs."""
    from outrider.flows.flow_history import list_versions

    _require_all_seen(request)
    name, history = request.path_params["flow"], _open_history(request)
    runs = await history.list_runs(name) if NAME_PATTERN.fullmatch(name) else []
    schedules = await history.list_schedules(name) if NAME_PATTERN.fullmatch(name) else []
    if not (runs or schedules):
        raise NotFound("no such flow", hint="it appears with its first run")
    return await render.render_page(
        request, "flows/flow.html", name=name, runs=runs, schedules=schedules, versions=list_versions(runs)
    )


async def show_flow_run(request: Request) -> Response:
    """Show one run step by step."""
    _require_all_seen(request)
    max_steps = 400
    history = _open_history(request)
    run, steps = await history.load_run(request.path_params["run"][:40])
    return await render.render_page(
        request,
        "flows/run.html",
        run=run,
        steps=steps[-max_steps:],
        left_out=max(len(steps) - max_steps, 0),
        has_picture=await history.has_picture(run.id),
        repair=await build_repair_form(get_services(request), run.id),
    )


async def repair_flow_run(request: Request) -> Response:
    """Save another version of a stopped flow, and go on with its run."""
    _require_all_seen(request)
    services, form = get_services(request), await request.form()
    given = {name: str(value) for name, value in form.items() if isinstance(value, str)}
    run = await repair_flow(services, request.path_params["run"][:40], given)
    place = build_route_path(request, "flow_run", run=run.id)
    return RedirectResponse(place, 303, background=BackgroundTask(resume_run, services, run))


async def show_run_picture(request: Request) -> Response:
    """Show the picture of the page where a run stopped."""
    _require_all_seen(request)
    picture = await _open_history(request).load_picture(request.path_params["run"][:40])
    return Response(picture.data, media_type=picture.mime_type)


def _open_history(request: Request) -> "FlowHistory":
    from outrider.flows.flow_history import FlowHistory

    return FlowHistory(get_services(request).database)


def _require_all_seen(request: Request) -> None:
    """Refuse viewers who do not see everything; a run does not tell its workspace. Raises NotFound."""
    if get_allowed_workspace(request) is not None:
        raise NotFound("no such flow")


FLOWS_PAGE = DashboardPage(
    "flows",
    "Flows",
    43,
    (
        Route("/flows", show_flows, name="flows"),
        Route("/flows/runs/{run}", show_flow_run, name="flow_run"),
        Route("/flows/runs/{run}/picture", show_run_picture, name="flow_run_picture_raw"),
        Route("/flows/runs/{run}/repair", repair_flow_run, name="flow_run_repair", methods=["POST"]),
        Route("/flows/{flow}", show_flow, name="flow"),
    ),
    key="f",
)
