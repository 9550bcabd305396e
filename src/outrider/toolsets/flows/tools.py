"""Tools that save, list, show, run and delete flows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import anyio
from pydantic import Field

from outrider.browser.session.browsers import Browsers
from outrider.core.context import Call
from outrider.core.errors import InvalidInput, NotFound
from outrider.core.result import Result, TextBlock
from outrider.core.text import format_count
from outrider.core.tool import Toolset
from outrider.flows.approvals import FlowApprovals
from outrider.flows.flow import require_flow_name
from outrider.flows.flow_file import parse_flow
from outrider.flows.flow_runs import FlowRuns, build_owner_key
from outrider.flows.flow_store import FlowStore
from outrider.flows.positions import parse_position
from outrider.flows.program import load_program
from outrider.flows.recording import FlowBuilder
from outrider.flows.repair import format_versions
from outrider.toolsets.flows.consent import require_saving_consent
from outrider.toolsets.flows.run_result import describe_run, format_run
from outrider.toolsets.flows.running import FlowRunServices, RunRequest, run_flow
from outrider.toolsets.options import ToolOptions
from outrider.toolsets.parameters import NotNegative
from outrider.toolsets.usual_names import USUAL_TOOL_NAMES

if TYPE_CHECKING:
    from outrider.browser.actions.outcome import PerformedAction
    from outrider.browser.session.session import Session

MAX_RUN_S = 1_800

flows = Toolset(
    "flows",
    "saveFlow saves a session's actions; runFlow repeats them without a model.",
    usual_names=USUAL_TOOL_NAMES["flows"],
)
FlowName = Annotated[str, Field(min_length=1, max_length=64)]


@flows.tool(effect="write", title="Save a flow", untrusted=True)
async def saveFlow(
    services: FlowRunServices,
    call: Call,
    /,
    name: FlowName,
    sessionId: str | None = None,
    since: Annotated[NotNegative, Field(description="Only the actions after this number")] = 0,
    description: Annotated[str | None, Field(max_length=500)] = None,
    replace: bool = False,
    file: Annotated[str | None, Field(max_length=500_000, description="YAML to save instead of actions")] = None,
) -> Result:
    """Save the session's successful actions as a flow; typed text becomes parameters, passwords become secrets."""
    if file is not None:
        require_saving_consent(call, parse_flow(file, require_flow_name(name)), file, services.tool_options.unasked)
        return await save_file(services.store, services.approvals, call, name, file, replace=replace)
    session = _find_session(services.browsers, call, sessionId)
    return await save_actions(
        services.store,
        services.tool_options,
        call,
        name,
        session.actions.list_since(since),
        description=description or "",
        replace=replace,
    )


async def save_actions(
    store: FlowStore,
    tool_options: ToolOptions,
    call: Call,
    name: str,
    actions: Sequence["PerformedAction"],
    *,
    description: str = "",
    replace: bool = False,
) -> Result:
    """Save actions as a flow and describe it, for tools and commands. Raises InvalidInput, Unavailable."""
    known = await anyio.to_thread.run_sync(store.secrets.read_all)
    flow = FlowBuilder(require_flow_name(name), known).build_flow(actions, description)
    saved = await anyio.to_thread.run_sync(lambda: store.save_flow(call, flow, replace=replace))
    notes = [f"the operator must set {secret.env} for secret {each}" for each, secret in flow.secrets.items()]
    if any("[removed]" in (step.open or "") for step in flow.steps):
        notes.append("an address held a credential, which was left out: make it a parameter in the file")
    data = {
        "name": flow.name,
        **({"path": saved.place} if saved.place else {}),
        "version": saved.version,
        "steps": len(flow.steps),
        "parameters": list(flow.parameters),
        "secrets": list(flow.secrets),
        "lastAction": actions[-1].number,
    }
    head = f"Saved {flow.name}: {format_count(len(flow.steps), 'step')}."
    # Names of elements are text of the page.
    lines = [head, *(f"Note: {note}" for note in notes), tool_options.mark_untrusted(saved.text, flow.origins[0])]
    return Result((TextBlock("\n".join(lines)),), data=data | ({"notes": notes} if notes else {}))


async def save_file(
    store: FlowStore, approvals: FlowApprovals, call: Call, name: str, file: str, *, replace: bool
) -> Result:
    """Save a flow from a file; it is not approved, even if an equal one was. Raises OutriderError."""
    flow = await anyio.to_thread.run_sync(parse_flow, file, require_flow_name(name))
    saved = await anyio.to_thread.run_sync(lambda: store.save_flow(call, flow, replace=replace, file=file))
    await approvals.withdraw(build_owner_key(call), name)
    data = {"name": name, "version": saved.version, "steps": len(flow.steps), "parameters": list(flow.parameters)}
    data |= {"path": saved.place} if saved.place else {}
    text = f"Saved {name}: {format_count(len(flow.steps), 'step')}, version {saved.version}."
    return Result((TextBlock(text),), data=data)


@flows.tool(title="List flows")
async def listFlows(store: FlowStore, call: Call, /) -> Result:
    """List the saved flows."""
    entries = await anyio.to_thread.run_sync(store.list_flows, call)
    rows = [
        {"name": each.name, "error": each.problem}
        if each.problem
        else {
            "name": each.name,
            "description": each.description,
            "parameters": list(each.parameters),
            "steps": each.steps,
            "version": each.version,
        }
        for each in entries
    ]
    lines = [f"{each.name}: {each.problem or each.description or format_count(each.steps, 'step')}" for each in entries]
    return Result((TextBlock("\n".join(lines) or "There are no flows: saveFlow saves one."),), data={"flows": rows})


@flows.tool(title="Show a flow", untrusted=True)
async def showFlow(
    store: FlowStore,
    tool_options: ToolOptions,
    call: Call,
    /,
    name: FlowName,
    version: Annotated[int | Literal["all"] | None, Field(description="all: how they differ")] = None,
) -> str:
    """Show a flow's file."""
    if version is None:
        return tool_options.mark_untrusted(await anyio.to_thread.run_sync(store.read_text, call, name), name)
    saved = await anyio.to_thread.run_sync(store.list_versions, call, name)
    if version == "all":
        return tool_options.mark_untrusted(format_versions(saved), name)
    if text := next((each.text for each in saved if each.version == version), ""):
        return tool_options.mark_untrusted(text, name)
    known = ", ".join(str(each.version) for each in saved)
    raise NotFound(f"version: {name} has no version {version}", hint=f"choose one of {known}", code="unknown_version")


@flows.tool(effect="act", stake="low", title="Delete a flow")
async def deleteFlow(store: FlowStore, call: Call, /, name: FlowName) -> str:
    """Delete a flow with its older versions."""
    await anyio.to_thread.run_sync(store.delete_flow, call, name)
    return f"Deleted {name}."


@flows.tool(
    effect="act",
    stake="low",
    title="Run a flow",
    open_world=True,
    untrusted=True,
    timeout=MAX_RUN_S,
    private=frozenset({"parameters"}),
)
async def runFlow(
    services: FlowRunServices,
    call: Call,
    /,
    name: FlowName,
    parameters: Annotated[
        dict[str, Any] | None, Field(description="Texts; rows as a list, JSON or CSV where it has columns")
    ] = None,
    sessionId: Annotated[str | None, Field(description="Default: a new session")] = None,
    fromStep: Annotated[int | str | None, Field(description="Such as 4, or 3.2.1 in a loop")] = None,
    stateId: Annotated[str | None, Field(description="Saved sign-in for a new session")] = None,
    keepOpen: Annotated[bool | None, Field(description="Default: only if it stopped")] = None,
    waitSeconds: Annotated[float, Field(ge=0, le=120, description="For each element")] = 10,
) -> Result:
    """Run a saved flow without a model. If it stops, the result says why and how to continue."""
    program = await anyio.to_thread.run_sync(services.store.load_program, call, name)
    start = parse_position(fromStep) if fromStep is not None else ()
    request = RunRequest(program, parameters or {}, sessionId, start, stateId, keepOpen, waitSeconds)
    return await run_flow(services, call, request)


@flows.tool(
    effect="act",
    stake="low",
    title="Resume a run of a flow",
    open_world=True,
    untrusted=True,
    timeout=MAX_RUN_S,
    private=frozenset({"parameters"}),
)
async def resumeFlow(
    services: FlowRunServices,
    call: Call,
    /,
    runId: Annotated[str, Field(min_length=1, max_length=40)],
    fromStep: Annotated[int | str | None, Field(description="Default: the first unfinished step")] = None,
    unknownStep: Annotated[
        Literal["done", "again"] | None, Field(description="Whether the interrupted step was done")
    ] = None,
    parameters: Annotated[dict[str, Any] | None, Field(description="Only its secrets: they are not stored")] = None,
) -> Result:
    """Resume a run that stopped or whose process died; no step is done twice."""
    run = await services.runs.load_run(call, runId)
    if run.state == "done":
        raise InvalidInput(f"runId: {run.id} has succeeded", hint="runFlow starts a new run")
    if not run.sources:
        raise InvalidInput(f"runId: {run.id} could not load its flow", hint=f"correct {run.flow}, then use runFlow")
    options = run.options
    request = RunRequest(
        load_program(run.flow, lambda name: run.sources[name]),
        parameters or {},
        from_step=parse_position(fromStep) if fromStep is not None else (),
        state_id=options.get("stateId"),
        keep_open=options.get("keepOpen"),
        patience_s=options.get("waitSeconds", 10.0),
        run=run,
        unknown_step=unknownStep,
    )
    return await run_flow(services, call, request)


@flows.tool(title="List runs of flows", untrusted=True)
async def listFlowRuns(runs: FlowRuns, call: Call, /, name: str | None = None) -> Result:
    """List the latest runs, newest first."""
    found = await runs.list_runs(call, name or "")
    text = "\n".join(map(format_run, found)) or "There are no runs: runFlow starts one."
    return Result((TextBlock(text),), data={"runs": [describe_run(run) for run in found]})


def _find_session(browsers: Browsers, call: Call, session_id: str | None) -> "Session":
    """Return the session of that id, or else the last used one. Raises NotFound."""
    if session_id:
        return browsers.get_session(call.session, session_id)
    sessions = browsers.list_sessions(call.session)
    if not sessions:
        raise NotFound("no browser session is open", hint="act in one first: navigateToUrl opens it", code="no_session")
    return max(sessions, key=lambda session: session.used_at)
