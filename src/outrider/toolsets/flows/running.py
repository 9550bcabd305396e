"""Run a flow in a browser session."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import anyio

from outrider.browser.session.browsers import Browsers
from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, InvalidInput, OutriderError
from outrider.core.result import Result
from outrider.core.tool_policy import ToolPolicy
from outrider.flows.flow_store import FlowStore
from outrider.flows.positions import Position, format_position, parse_position
from outrider.flows.program import FlowProgram
from outrider.flows.runner import ConsentNeeded, FlowRunner
from outrider.flows.values import resolve_parameters
from outrider.toolsets.browser.sessions import createSession
from outrider.toolsets.flows.consent import (
    PausedRun,
    build_consent_check,
    read_paused_run,
    require_start_consent,
    require_step_allowed,
    require_tools,
)
from outrider.toolsets.flows.run_result import SecretFilter, build_run_result, save_result_files
from outrider.toolsets.flows.session_page import SessionPage
from outrider.toolsets.options import ToolOptions
from outrider.workspace import SessionWorkspaces

if TYPE_CHECKING:
    from outrider.browser.session.session import Session


@dataclass(frozen=True)
class RunRequest:
    """What a caller of runFlow wants."""

    program: FlowProgram
    parameters: Mapping[str, Any]
    session_id: str | None = None
    from_step: Position = ()
    state_id: str | None = None
    keep_open: bool | None = None
    patience_s: float = 10.0


async def run_flow(
    browsers: Browsers,
    workspaces: SessionWorkspaces,
    store: FlowStore,
    policy: ToolPolicy,
    tool_options: ToolOptions,
    call: Call,
    request: RunRequest,
) -> Result:
    """Run a flow. Raises OutriderError before it starts, and AnswerNeeded where a person must be asked."""
    program, paused = request.program, read_paused_run(call)
    flow = program.flow
    if request.from_step and request.from_step[0] > len(flow.steps) + 1:
        raise InvalidInput(f"fromStep: {flow.name} has {len(flow.steps)} steps", hint="send a lower number")
    require_tools(program, policy, call)
    values = resolve_parameters(flow, request.parameters)
    secrets = await anyio.to_thread.run_sync(store.resolve_secrets, program)
    require_start_consent(program, call, request.state_id)
    require_step_allowed(flow, call, paused)
    session_id = (paused.session_id if paused else "") or request.session_id
    session = await _open_session(browsers, workspaces, call, request, session_id)
    step = parse_position(paused.step) if paused and paused.step else request.from_step
    runner = FlowRunner(
        program,
        SessionPage(session),
        values,
        secrets,
        needs_consent=build_consent_check(policy),
        patience_s=request.patience_s,
    )
    hidden = SecretFilter(secrets)
    session.actions.secrets |= hidden.values
    try:
        run = await runner.run_steps(step, approved_step=paused.step if paused else "")
    except ConsentNeeded as needed:
        question = f"Let the flow {flow.name} do step {needed.position}, {needed.step}, on {session.url[:200]}?"
        raise AnswerNeeded(hidden.hide(question), state=PausedRun(session.id, needed.position).to_state()) from None
    keeps_open = run.stop is not None if request.keep_open is None else request.keep_open
    is_closed = not (session_id or keeps_open)
    if is_closed:
        with suppress(OutriderError):
            await browsers.close_session(call.session, session.id)
    if run.stop is None:
        await save_result_files(workspaces, call, run)
    return hidden.hide_in_result(build_run_result(tool_options, program, run, session, is_closed=is_closed))


async def _open_session(
    browsers: Browsers, workspaces: SessionWorkspaces, call: Call, request: RunRequest, session_id: str | None
) -> "Session":
    """Return the session to run in, which is new unless one is named. Raises OutriderError."""
    if session_id:
        return browsers.get_session(call.session, session_id)
    if request.from_step > (1,):
        step = format_position(request.from_step)
        raise InvalidInput(f"fromStep: {step} needs sessionId", hint="send the session in which the flow has stopped")
    # Consent to the sign-in was asked for with the flow.
    own_call = replace(call, run=None)
    title = f"flow {request.program.flow.name}"
    opened = await createSession(browsers, workspaces, own_call, "about:blank", title=title, stateId=request.state_id)
    return browsers.get_session(call.session, opened.data["sessionId"])
