"""Let a person replace the element or step that stopped a run."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
from starlette.background import BackgroundTask

from outrider.core.errors import AnswerNeeded, InvalidInput, OutriderError, Refused
from outrider.dashboard.services import DashboardServices
from outrider.flows.flow import Flow
from outrider.flows.flow_file import format_flow, format_step, parse_flow, parse_step
from outrider.flows.flow_runs import FlowRuns, StoredRun
from outrider.flows.repair import (
    choose_element,
    compare_files,
    find_step,
    list_choices,
    list_outline_elements,
    repair_step,
    replace_step,
)
from outrider.toolsets.flows.repairing import can_model_choose, propose_element
from outrider.toolsets.flows.saved_repairs import is_element_missing, load_stopped_flow, save_repair

MAX_PROPOSALS = 3  # of one run
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RepairForm:
    """The choices of a person for a step that stopped.

    Attributes:
        flow: The flow in whose file the step is.
        place: The step's place in it.
        text: The step as YAML.
        elements: The elements of its page to choose from; none if another element would not help.
        needs_secret: Whether the run can only continue at a terminal, which asks for its secrets.
        can_propose: Whether a model can be asked for the element.
        proposal: The proposal of a model, if one was asked.
        problem: Why the model proposed nothing.
    """

    flow: str
    place: str
    text: str
    elements: Sequence[str]
    needs_secret: bool
    can_propose: bool
    proposal: "Proposal | None"
    problem: str


@dataclass(frozen=True)
class Proposal:
    """The element that a model proposes, the cost, and the change of the flow's file."""

    element: str
    note: str
    difference: str


async def build_repair_form(services: DashboardServices, run: StoredRun) -> RepairForm | None:
    """Return the choices for a run; None if it did not stop at a step, or belongs to a caller who signs in."""
    max_elements = 60
    flow, _, place = run.place.partition(" ")
    if run.has_sign_in or run.state != "stopped" or not place or flow not in run.sources:
        return None
    try:
        parsed = parse_flow(run.sources[flow], flow)
        step = find_step(parsed, place)
    except OutriderError:
        return None
    choices = list_choices(list_outline_elements(run.outline), step) if is_element_missing(run) else []
    asked = run.options.get("proposal", {})
    proposal = None
    if asked.get("place") == run.place and asked.get("element") in choices:
        difference = _compare_repair(run, parsed, place, asked["element"])
        proposal = Proposal(asked["element"], asked["note"], difference)
    can_propose = bool(choices) and can_model_choose(step) and asked.get("count", 0) < MAX_PROPOSALS
    can_propose = can_propose and await services.repair_model.is_available()
    problem = asked.get("problem", "") if asked.get("place") == run.place else ""
    text, shown = format_step(step), choices[:max_elements]
    return RepairForm(flow, place, text, shown, _needs_secret(run), can_propose, proposal, problem)


async def propose_repair(services: DashboardServices, run_id: str) -> None:
    """Ask the model for the element of a step that stopped; a person decides on its answer. Raises Refused.

    The model's failure is stored with the run, like its answer.
    """
    timeout_s = 120.0
    runs, run = FlowRuns(services.database), await _load_repairable_run(services, run_id)
    flow, place = await load_stopped_flow(services.flow_store, run.call, run)
    count = run.options.get("proposal", {}).get("count", 0)
    if not is_element_missing(run) or count >= MAX_PROPOSALS:
        message = f"the model was already asked {count} times for this run, or another element cannot help"
        raise Refused(message, hint="choose the element, or edit the step", code="not_repairable")
    # Count it before it costs anything.
    asked = {"place": run.place, "count": count + 1}
    await runs.set_option(run, "proposal", asked)
    answer = {"problem": f"the model did not answer within {timeout_s:g} s"}
    with anyio.move_on_after(timeout_s):
        try:
            element, note = await propose_element(services.repair_model, find_step(flow, place), run)
            answer = {"element": str(element), "note": note}
        except OutriderError as error:
            answer = {"problem": error.message}
    await runs.set_option(run, "proposal", {**asked, **answer})


def _compare_repair(run: StoredRun, flow: Flow, place: str, element: str) -> str:
    """Return how the flow's file would change with another element."""
    target = find_step(flow, place).target
    assert target is not None
    chosen = choose_element(list_outline_elements(run.outline), element, target)
    repaired = repair_step(flow, place, chosen, asks=False).model_copy(update={"version": flow.version + 1})
    before = run.sources[flow.name]
    return compare_files(before, format_flow(repaired, before))


async def repair_flow(services: DashboardServices, run_id: str, given: Mapping[str, str]) -> StoredRun:
    """Save what a person chose as a new version of the flow; return the run. Raises OutriderError."""
    runs, run = FlowRuns(services.database), await _load_repairable_run(services, run_id)
    flow, place = await load_stopped_flow(services.flow_store, run.call, run)
    step = find_step(flow, place)
    if element := given.get("element", ""):
        if step.target is None or element not in list_choices(list_outline_elements(run.outline), step):
            raise InvalidInput(
                "element: is not an element of the page that this step can use", hint="choose another one"
            )
        chosen = choose_element(list_outline_elements(run.outline), element, step.target)
        changed = repair_step(flow, place, chosen, asks=False)
    else:
        changed = replace_step(flow, place, parse_step(given.get("step", "")))
    if changed == flow:
        raise InvalidInput("nothing was changed", hint="choose an element, or edit the step")
    await save_repair(services.flow_store, runs, run.call, run, changed)
    return run


async def prepare_resuming(services: DashboardServices, run: StoredRun) -> BackgroundTask | None:
    """Return the task that continues a run; None if only its caller can, who signs in or enters its secrets."""
    if run.has_sign_in or _needs_secret(run):
        return None
    # The next page must not show the old reason to stop.
    await FlowRuns(services.database).end_run(run, run.lease, "due")
    return BackgroundTask(_resume_run, services, run)


async def _resume_run(services: DashboardServices, run: StoredRun) -> None:
    arguments: dict[str, Any] = {"runId": run.id}
    try:
        await services.build_full_toolbox().call("resumeFlow", arguments, run.call)
    except AnswerNeeded:
        log.info("the run %s waits for a person", run.id)
    except OutriderError as error:
        log.warning("the run %s could not continue: %s", run.id, error)
        runs = FlowRuns(services.database)
        stored = await runs.load_run(run.call, run.id)
        if stored.state == "due":
            await runs.end_run(stored, stored.lease, "stopped", message=f"{error.code}: {error.message}")


async def _load_repairable_run(services: DashboardServices, run_id: str) -> StoredRun:
    """Return a run whose flow the dashboard may change on its caller's behalf. Raises NotFound, Refused."""
    from outrider.flows.flow_history import FlowHistory

    run, _ = await FlowHistory(services.database).load_run(run_id)
    if run.has_sign_in:
        raise Refused("the run belongs to a caller who signs in", hint="they use repairFlow", code="not_repairable")
    return run


def _needs_secret(run: StoredRun) -> bool:
    return any(not entry for entry in run.options.get("withheld", {}).values())
