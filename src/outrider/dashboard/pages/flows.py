"""Page Flows: saved flows, their versions, and each run step by step."""

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from outrider.core.context import Call
from outrider.core.errors import InvalidInput, NotFound, OutriderError, Refused
from outrider.dashboard import render
from outrider.dashboard.access import get_allowed_workspace
from outrider.dashboard.flows.flow_repair import build_repair_form, prepare_resuming, propose_repair, repair_flow
from outrider.dashboard.page import DashboardPage, build_route_path, get_services, get_viewer
from outrider.dashboard.services import DashboardServices
from outrider.dashboard.viewer import record_decision
from outrider.flows.approvals import FlowApprovals
from outrider.flows.flow import NAME_PATTERN
from outrider.flows.flow_files import SavedFlow
from outrider.flows.flow_runs import StoredRun, build_owner_key
from outrider.flows.program import FlowProgram, format_program, load_program

if TYPE_CHECKING:
    from outrider.flows.flow_history import FlowHistory


async def show_flows(request: Request) -> Response:
    """Show flows that have run, the latest first, then all others, and the schedules."""
    flows, schedules, unused = [], [], []
    if get_allowed_workspace(request) is None:
        history = _open_history(request)
        flows, schedules = await history.list_flows(), await history.list_schedules()
        saved = await anyio.to_thread.run_sync(get_services(request).flow_store.list_flows, Call())
        ran = {flow.last_run.flow for flow in flows if flow.last_run.owner == build_owner_key(Call())}
        unused = [each for each in saved if each.name not in ran]
    return await render.render_page(request, "flows/flows.html", flows=flows, schedules=schedules, unused=unused)


async def show_flow(request: Request) -> Response:
    """Show one flow with its versions, their differences, and its last runs."""
    from outrider.flows.flow_history import list_versions

    _require_all_seen(request)
    name, services, history = request.path_params["flow"], get_services(request), _open_history(request)
    owner = _read_owner(request.query_params.get("owner"))
    runs = await history.list_runs(owner, name) if NAME_PATTERN.fullmatch(name) else []
    schedules = await history.list_schedules(owner, name) if NAME_PATTERN.fullmatch(name) else []
    approvals = await FlowApprovals(services.database).list_approvals(owner, name)
    caller = next((each.call for each in (*runs, *schedules)), Call())
    saved: list[SavedFlow] = []
    # Files of callers who sign in are in a folder that only their credential names.
    if build_owner_key(caller) == owner and not any(run.has_sign_in for run in runs):
        with suppress(OutriderError):  # it was deleted or is malformed
            saved = await anyio.to_thread.run_sync(services.flow_store.list_versions, caller, name)
    if not (runs or schedules or saved):
        raise NotFound("no such flow", hint="the page Flows lists them")
    return await render.render_page(
        request,
        "flows/flow.html",
        name=name,
        owner=owner,
        caller=caller,
        runs=runs,
        schedules=schedules,
        approvals=approvals,
        versions=list_versions(runs, saved),
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
        moves=run.state in ("due", "running") and not run.is_interrupted,
        approval=await build_approval_form(get_services(request), run),
        repair=await build_repair_form(get_services(request), run),
    )


async def repair_flow_run(request: Request) -> Response:
    """Save another version of a stopped flow, and continue its run."""
    _require_all_seen(request)
    services, form = get_services(request), await request.form()
    fields = {name: str(value) for name, value in form.items() if isinstance(value, str)}
    run = await repair_flow(services, request.path_params["run"][:40], fields)
    place = build_route_path(request, "flow_run", run=run.id)
    return RedirectResponse(place, 303, background=await prepare_resuming(services, run))


async def propose_flow_repair(request: Request) -> Response:
    """Let a model propose the element of a stopped step; nothing changes before a person has accepted it."""
    _require_all_seen(request)
    run = request.path_params["run"][:40]
    await propose_repair(get_services(request), run)
    return RedirectResponse(f"{build_route_path(request, 'flow_run', run=run)}#repair", 303)


async def approve_flow_run(request: Request) -> Response:
    """Approve the flow of a waiting run and continue it; a caller who signs in continues it themselves."""
    _require_all_seen(request)
    services, form = get_services(request), await request.form()
    run, _ = await _open_history(request).load_run(request.path_params["run"][:40])
    by = str(get_viewer(request))
    await approve_flow(services, run, str(form.get("name", "")), str(form.get("digest", "")), by)
    await record_decision(request, services.database, "flow.approve", f"{run.flow} ({run.id})")
    place = build_route_path(request, "flow_run", run=run.id)
    return RedirectResponse(place, 303, background=await prepare_resuming(services, run))


async def withdraw_flow_approval(request: Request) -> Response:
    """Withdraw an approval, so that the flow's steps ask again."""
    _require_all_seen(request)
    name, form = request.path_params["flow"], await request.form()
    database, owner = get_services(request).database, _read_owner(form.get("owner"))
    await FlowApprovals(database).withdraw(owner, name)
    await record_decision(request, database, "flow.unapprove", name)
    return RedirectResponse(f"{build_route_path(request, 'flow', flow=name)}?owner={owner}", 303)


async def show_run_picture(request: Request) -> Response:
    """Show the picture of the page where a run stopped."""
    _require_all_seen(request)
    picture = await _open_history(request).load_picture(request.path_params["run"][:40])
    return Response(picture.data, media_type=picture.mime_type)


def _open_history(request: Request) -> "FlowHistory":
    from outrider.flows.flow_history import FlowHistory

    return FlowHistory(get_services(request).database)


def _read_owner(given: object) -> str:
    """Return the owner that a request names, by default the anonymous user. Raises NotFound."""
    owner = given if isinstance(given, str) and given else build_owner_key(Call())
    if not re.fullmatch("[0-9a-f]{64}", owner):
        raise NotFound("no such owner", hint="the page Flows lists the flows")
    return owner


def _require_all_seen(request: Request) -> None:
    """Refuse viewers limited to a workspace, because runs do not record theirs. Raises NotFound."""
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
        Route("/flows/runs/{run}/propose", propose_flow_repair, name="flow_run_propose", methods=["POST"]),
        Route("/flows/runs/{run}/approve", approve_flow_run, name="flow_run_approve", methods=["POST"]),
        Route("/flows/{flow}", show_flow, name="flow"),
        Route("/flows/{flow}/withdraw", withdraw_flow_approval, name="flow_withdraw", methods=["POST"]),
    ),
    key="f",
)


@dataclass(frozen=True)
class ApprovalForm:
    """The content of an approval form.

    Attributes:
        flow: The flow's name, which the person must type.
        version: Its version.
        digest: The fingerprint of its files, which the form sends back.
        summary: A list of all its steps.
        is_of_caller: Whether its caller signs in, so that only they can continue the run.
    """

    flow: str
    version: int
    digest: str
    summary: str
    is_of_caller: bool


async def build_approval_form(services: DashboardServices, run: StoredRun) -> ApprovalForm | None:
    """Return the approval form of a run; None if it does not wait for approval. Raises Unavailable."""
    max_summary_chars = 200_000  # no one reads more
    program = _load_waiting_program(run)
    if program is None or await FlowApprovals(services.database).is_approved(run.owner, program):
        return None
    flow, summary = program.flow, format_program(program)
    if len(summary) > max_summary_chars:
        return None
    return ApprovalForm(flow.name, flow.version, program.digest, summary, run.has_sign_in)


async def approve_flow(services: DashboardServices, run: StoredRun, name: str, digest: str, by: str) -> None:
    """Approve the files of a waiting run. Raises Refused, InvalidInput, Unavailable."""
    program = _load_waiting_program(run)
    if program is None or program.digest != digest:
        raise Refused("the run no longer waits for this approval", hint="open its page again", code="changed")
    if name.strip() != program.flow.name:
        raise InvalidInput("name: is not the flow's name", hint=f"type {program.flow.name} to approve it")
    await FlowApprovals(services.database).approve(run.owner, program, by=by)


def _load_waiting_program(run: StoredRun) -> FlowProgram | None:
    waits = run.state == "waiting" or (run.state == "stopped" and run.message.startswith("not_approved"))
    if not waits:
        return None
    try:
        return load_program(run.flow, lambda name: run.sources[name])
    except (OutriderError, KeyError):
        return None
