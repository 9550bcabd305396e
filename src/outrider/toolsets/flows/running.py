"""Run a flow in a browser session."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import anyio

from outrider.browser.session.browsers import Browsers
from outrider.core.artifacts import ArtifactStore
from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, InvalidInput, OutriderError
from outrider.core.result import Result
from outrider.core.tool_policy import ToolPolicy
from outrider.flows.approvals import FlowApprovals
from outrider.flows.flow_runs import FlowRuns, StopPage, StoredRun, build_owner_key
from outrider.flows.flow_store import FlowStore
from outrider.flows.positions import Position, format_position
from outrider.flows.program import FlowProgram, load_program
from outrider.flows.run import FlowRun, RunPicture
from outrider.flows.runner import ConsentNeeded, FlowRunner
from outrider.flows.values import FlowValues, resolve_parameters
from outrider.toolsets.browser.sessions import createSession
from outrider.toolsets.flows.consent import (
    PausedRun,
    build_consent_check,
    build_step_question,
    read_paused_run,
    require_start_consent,
    require_step_allowed,
    require_tools,
)
from outrider.toolsets.flows.run_result import build_run_result, save_result_files
from outrider.toolsets.flows.secret_parameters import (
    RunParameters,
    SecretFilter,
    name_secret_values,
    restore_parameters,
    split_parameters,
    take_from_store,
)
from outrider.toolsets.flows.session_page import SessionPage
from outrider.toolsets.options import ToolOptions
from outrider.workspace import SessionWorkspaces

if TYPE_CHECKING:
    from outrider.browser.session.session import Session


@dataclass(frozen=True)
class FlowRunServices:
    """The services of a run; `artifacts` knows the dashboard's address."""

    browsers: Browsers
    workspaces: SessionWorkspaces
    store: FlowStore
    runs: FlowRuns
    approvals: FlowApprovals
    policy: ToolPolicy
    tool_options: ToolOptions
    artifacts: ArtifactStore


@dataclass(frozen=True)
class RunRequest:
    """The request of a caller of runFlow or resumeFlow.

    Attributes:
        run: The run to continue; None for a new one.
        unknown_step: What a person has found out about the interrupted step.
    """

    program: FlowProgram
    parameters: Mapping[str, Any]
    session_id: str | None = None
    from_step: Position = ()
    state_id: str | None = None
    keep_open: bool | None = None
    patience_s: float = 10.0
    run: StoredRun | None = None
    unknown_step: Literal["done", "again"] | None = None


@dataclass(frozen=True)
class RunInputs:
    """The values of a run, and the filter that hides its secrets."""

    parameters: RunParameters
    values: FlowValues
    secrets: Mapping[str, Mapping[str, str]]
    hidden: SecretFilter


async def run_flow(services: FlowRunServices, call: Call, request: RunRequest) -> Result:
    """Run a flow. Raises OutriderError before it starts, and AnswerNeeded if a person must be asked."""
    paused = read_paused_run(call)
    if paused and paused.run_id:
        # The person was asked about the earlier files.
        asked = await services.runs.load_run(call, paused.run_id)
        request = replace(request, program=load_program(asked.flow, lambda name: asked.sources[name]))
    inputs = await _check_request(services, call, request, paused)
    if paused and paused.step and call.is_answer_lasting and call.run is None:
        by = call.identity or call.session
        await services.approvals.approve(build_owner_key(call), request.program, by=by)
    run, lease = await _begin_run(services, call, request, inputs, paused)
    try:
        return await _run_stored(services, call, request, run, lease, inputs)
    except AnswerNeeded:
        await services.runs.end_run(run, lease, "waiting")
        raise
    except OutriderError as error:
        error.message, error.hint = inputs.hidden.hide(error.message), inputs.hidden.hide(error.hint)
        error.details = inputs.hidden.hide_in(error.details)
        await services.runs.end_run(run, lease, "stopped", message=error.message)
        raise
    except anyio.get_cancelled_exc_class():
        # Another process or the scheduler continues runs of a schedule.
        is_by_itself = bool(run.schedule) and run.state in ("due", "running")
        state, message = ("due", "") if is_by_itself else ("stopped", "the call was cancelled")
        await services.runs.end_run(run, lease, state, message=message)
        raise


async def _check_request(
    services: FlowRunServices, call: Call, request: RunRequest, paused: PausedRun | None
) -> RunInputs:
    """Return the values of a run that may begin. Raises OutriderError, and AnswerNeeded if a person must be asked."""
    program = request.program
    flow = program.flow
    if request.from_step and request.from_step[0] > len(flow.steps) + 1:
        raise InvalidInput(f"fromStep: {flow.name} has {len(flow.steps)} steps", hint="send a lower number")
    if request.from_step > (1,) and not (request.session_id or request.run):
        hint = "send the session in which the flow has stopped, or use resumeFlow"
        raise InvalidInput(f"fromStep: {format_position(request.from_step)} needs sessionId", hint=hint)
    require_tools(program, services.policy, call)
    inputs = await anyio.to_thread.run_sync(_resolve_inputs, services.store, request)
    require_start_consent(program, call, request.state_id, tuple(inputs.parameters.withheld))
    require_step_allowed(flow, call, paused)
    return inputs


def _resolve_inputs(store: FlowStore, request: RunRequest) -> RunInputs:
    """Return the values for a flow's run. Raises InvalidInput, NotConfigured, Refused."""
    flow, known = request.program.flow, store.secrets.read_all()
    if request.run is None:
        given = take_from_store(flow, request.parameters, known)
        parameters = split_parameters(flow, given, known)
    else:
        parameters = RunParameters(request.run.parameters, request.run.options.get("withheld", {}))
        given = restore_parameters(parameters, request.parameters, known, request.run.id)
    for entry in filter(None, parameters.withheld.values()):
        store.secrets.require_site(entry, flow.origins)
    values = resolve_parameters(flow, given)
    secrets = store.resolve_secrets(request.program)
    hidden = SecretFilter(name_secret_values(secrets, parameters.withheld, values))
    return RunInputs(parameters, replace(values, hidden=hidden.values), secrets, hidden)


async def _begin_run(
    services: FlowRunServices, call: Call, request: RunRequest, inputs: RunInputs, paused: PausedRun | None
) -> tuple[StoredRun, str]:
    """Return the record of the new or continued run, and its lease. Raises OutriderError."""
    run = await services.runs.load_run(call, paused.run_id) if paused and paused.run_id else request.run
    if run is not None:
        return run, await services.runs.claim_run(run)
    options = {"stateId": request.state_id, "waitSeconds": request.patience_s, "keepOpen": request.keep_open}
    options["withheld"] = dict(inputs.parameters.withheld)
    run = await services.runs.create_run(call, request.program, inputs.parameters.kept, options)
    return run, run.lease


async def _run_stored(
    services: FlowRunServices,
    call: Call,
    request: RunRequest,
    stored: StoredRun,
    lease: str,
    inputs: RunInputs,
) -> Result:
    program, paused, hidden = request.program, read_paused_run(call), inputs.hidden
    session, is_new = await _open_session(services, call, request, stored)
    await services.runs.set_browser_session(stored, lease, session.id)
    session.actions.secrets |= hidden.values
    page = SessionPage(session)
    is_approved = await services.approvals.is_approved(build_owner_key(call), program)
    async with services.runs.open_journal(stored, lease, hidden.hide_in) as journal:
        if request.unknown_step:
            await journal.settle_begun(is_done=request.unknown_step == "done")
        runner = FlowRunner(
            program,
            page,
            inputs.values,
            inputs.secrets,
            journal=journal,
            is_new_page=is_new and bool(journal.records),
            needs_consent=build_consent_check(services.policy, is_approved=is_approved),
            patience_s=request.patience_s,
        )
        try:
            run = await runner.run_steps(request.from_step, approved_step=paused.step if paused else "")
        except ConsentNeeded as needed:
            waiting = PausedRun(session.id, needed.position, stored.id)
            step, url = hidden.hide(str(needed.step)), hidden.hide(session.url)
            raise build_step_question(step, program, call, waiting, url) from None
    run.results = hidden.hide_in(run.results)  # before they are written to files
    if run.stop is None:
        await save_result_files(services.workspaces, call, run)
    picture = await page.take_picture(hidden) if run.stop else None
    await _store_outcome(services.runs, stored, lease, run, hidden, picture)
    shown_session = await _close_session(services, call, request, session, run)
    place = f"{services.artifacts.dashboard_url.rstrip('/')}/flows/runs/{stored.id}/picture".lstrip("/")
    picture_url = place if picture else ""
    result = build_run_result(services.tool_options, program, run, stored.id, shown_session, picture_url)
    return hidden.hide_in_result(result)


async def _close_session(
    services: FlowRunServices, call: Call, request: RunRequest, session: "Session", run: FlowRun
) -> "Session | None":
    """Close the browser session of a run, or return it if it stays open."""
    keeps_open = run.stop is not None if request.keep_open is None else request.keep_open
    if request.session_id or keeps_open:
        return session
    with suppress(OutriderError):
        await services.browsers.close_session(call.session, session.id)
    return None


async def _store_outcome(
    runs: FlowRuns, stored: StoredRun, lease: str, run: FlowRun, hidden: SecretFilter, picture: RunPicture | None
) -> None:
    healed = len(run.healed)
    if run.stop is None:
        await runs.end_run(stored, lease, "done", healed=healed)
        return
    message = hidden.hide(f"{run.stop.reason}: {run.stop.message}")
    place = f"{run.stop.flow} {run.stop.place}" if run.stop.place else ""
    stop_page = StopPage(run.stop.step, place, hidden.hide(run.stop.outline), picture)
    await runs.end_run(stored, lease, "stopped", message=message, healed=healed, stop_page=stop_page)


async def _open_session(
    services: FlowRunServices, call: Call, request: RunRequest, stored: StoredRun
) -> "tuple[Session, bool]":
    """Return the session to run in, and whether it is a new one. Raises OutriderError."""
    if request.session_id:
        return services.browsers.get_session(call.session, request.session_id), False
    open_sessions = {session.id: session for session in services.browsers.list_sessions(call.session)}
    if stored.browser_session in open_sessions:
        return open_sessions[stored.browser_session], False
    # The question about the flow included consent to the sign-in.
    own_call = replace(call, run=None)
    opened = await createSession(
        services.browsers,
        services.workspaces,
        own_call,
        "about:blank",
        title=f"flow {stored.flow}",
        stateId=request.state_id,
    )
    session = services.browsers.get_session(call.session, opened.data["sessionId"])
    session.is_apart = True
    return session, True
