"""Run a flow in a browser session and describe what came of it."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import anyio

from outrider.browser.session.browsers import Browsers
from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, InvalidInput, OutriderError, Refused
from outrider.core.result import Result, TextBlock
from outrider.core.tool_policy import ToolPolicy
from outrider.flows.flow import Flow
from outrider.flows.flow_store import FlowStore
from outrider.flows.run import FlowRun, Stop
from outrider.flows.runner import ConsentNeeded, FlowRunner
from outrider.flows.values import resolve_parameters, resolve_secrets
from outrider.toolsets.browser.results import escape_line, take_notes
from outrider.toolsets.browser.sessions import createSession
from outrider.toolsets.flows.consent import (
    PausedRun,
    build_consent_check,
    read_paused_run,
    require_start_consent,
    require_step_allowed,
    require_tools,
)
from outrider.toolsets.flows.session_page import SessionPage
from outrider.toolsets.options import ToolOptions
from outrider.workspace import SessionWorkspaces

if TYPE_CHECKING:
    from outrider.browser.session.session import Session


@dataclass(frozen=True)
class RunRequest:
    """What a caller of runFlow wants."""

    flow: Flow
    parameters: Mapping[str, str]
    session_id: str | None = None
    from_step: int = 1
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
    flow, paused = request.flow, read_paused_run(call)
    if request.from_step > len(flow.steps) + 1:
        raise InvalidInput(f"fromStep: {flow.name} has {len(flow.steps)} steps", hint="send a lower number")
    require_tools(flow, policy, call)
    values = resolve_parameters(flow, request.parameters)
    secrets = await anyio.to_thread.run_sync(resolve_secrets, flow, store.environ, store.secrets_folder)
    require_start_consent(flow, call, request.state_id)
    require_step_allowed(flow, call, paused)
    session_id = (paused.session_id if paused else "") or request.session_id
    session = await _open_session(browsers, workspaces, call, request, session_id)
    step = paused.step if paused and paused.step else request.from_step
    runner = FlowRunner(
        flow,
        SessionPage(session),
        values,
        secrets,
        needs_consent=build_consent_check(policy),
        patience_s=request.patience_s,
    )
    session.actions.secrets |= {secret for secret in secrets.values() if secret}
    try:
        run = await runner.run_steps(step, approved_step=paused.step if paused else 0)
    except ConsentNeeded as needed:
        question = f"Let the flow {flow.name} do step {needed.number}, {needed.step}, on {session.url[:200]}?"
        raise AnswerNeeded(
            _hide_secrets(question, secrets), state=PausedRun(session.id, needed.number).to_state()
        ) from None
    keeps_open = run.stop is not None if request.keep_open is None else request.keep_open
    is_closed = not (session_id or keeps_open)
    if is_closed:
        with suppress(OutriderError):
            await browsers.close_session(call.session, session.id)
    result = _build_result(tool_options, flow, run, session, is_closed=is_closed)
    return _hide_in_result(result, secrets)


async def _open_session(
    browsers: Browsers, workspaces: SessionWorkspaces, call: Call, request: RunRequest, session_id: str | None
) -> "Session":
    """Return the session to run in, which is new unless one is named. Raises OutriderError."""
    if session_id:
        return browsers.get_session(call.session, session_id)
    if request.from_step > 1:
        raise InvalidInput("fromStep: needs sessionId", hint="send the session in which the flow has stopped")
    # Consent to the sign-in was asked for with the flow.
    own_call = replace(call, run=None)
    title = f"flow {request.flow.name}"
    opened = await createSession(browsers, workspaces, own_call, "about:blank", title=title, stateId=request.state_id)
    return browsers.get_session(call.session, opened.data["sessionId"])


def _build_result(
    tool_options: ToolOptions, flow: Flow, run: FlowRun, session: "Session", *, is_closed: bool
) -> Result:
    lines = [f"step {number}: {escape_line(note)}" for number, note in run.healed]
    lines = [f"Recognised although changed: {line}" for line in lines]
    lines += [f"Note: {note}" for note in take_notes(session)]
    data: dict[str, Any] = {"name": flow.name, "version": flow.version} | run.to_dict()
    data |= {} if is_closed else {"sessionId": session.id}
    if run.stop is None:
        head = f"{flow.name} ended right: {len(run.steps)} steps in {run.seconds:.1f} s, without a model."
        return Result((TextBlock("\n".join([head, *lines])),), data=data)
    error = _build_stop_error(flow, run.stop, "" if is_closed else session.id)
    outline = tool_options.mark_untrusted(run.stop.outline, run.stop.url)
    text = "\n".join([error.message, error.hint, *lines, outline])
    return Result((TextBlock(text),), data=data | {"error": error.to_dict()}, is_error=True)


def _build_stop_error(flow: Flow, stop: Stop, session_id: str) -> OutriderError:
    """Build the error of a run that stopped; its code is the reason."""
    onward = f"runFlow with sessionId={session_id} and fromStep={stop.next_step}"
    if not session_id:
        hint = "run it without keepOpen=false to look at the page where it stopped"
    elif stop.reason == "check_failed":
        hint = f"look whether it worked: then {onward}; else correct the flow"
    elif stop.reason == "needs_person":
        hint = f"let a person sign in there, then {onward}"
    elif stop.reason == "origin_refused":
        hint = "add the site to the flow's origins if it belongs there"
    else:
        by_hand = f"runFlow with sessionId={session_id} and fromStep={stop.step + 1}"
        hint = f"do step {stop.step} by hand in that session, then {by_hand}"
    details: dict[str, Any] = {"reason": stop.reason, "step": stop.step, "fromStep": stop.next_step}
    details |= {"sessionId": session_id} if session_id else {}
    message = f"{flow.name} has stopped ({stop.reason}): {escape_line(stop.message)}"
    return Refused(message, code=stop.reason, hint=hint, details=details | {"url": stop.url[:2_000]})


def _hide_secrets(text: str, secrets: Mapping[str, str]) -> str:
    for name, secret in secrets.items():
        text = text.replace(secret, f"[secret {name}]") if secret else text
    return text


def _hide_in_result(result: Result, secrets: Mapping[str, str]) -> Result:
    """Return a result without the values of secrets."""

    def hide(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: hide(item) for key, item in value.items()}
        if isinstance(value, list):
            return [hide(item) for item in value]
        return _hide_secrets(value, secrets) if isinstance(value, str) else value

    return Result((TextBlock(_hide_secrets(result.text, secrets)),), hide(result.data), is_error=result.is_error)
