"""Let a person put another element or another step into a flow whose run has stopped."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, InvalidInput, NotFound, OutriderError
from outrider.dashboard.services import DashboardServices
from outrider.flows.flow_file import format_step, parse_flow, parse_step
from outrider.flows.flow_runs import FlowRuns, StoredRun
from outrider.flows.repair import (
    choose_element,
    find_step,
    list_choices,
    list_outline_elements,
    repair_step,
    replace_step,
)
from outrider.toolsets.flows.saved_repairs import is_element_missing, load_stopped_flow, save_repair

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RepairForm:
    """The choices of a person for a step that stopped.

    Attributes:
        flow: The flow in whose file the step is.
        place: The step's place in it.
        text: The step as YAML.
        elements: The elements of its page that could be meant; none where another one would not help.
        needs_secret: Whether the run goes on only at a terminal, which asks for its secrets.
    """

    flow: str
    place: str
    text: str
    elements: Sequence[str]
    needs_secret: bool


async def build_repair_form(services: DashboardServices, run_id: str) -> RepairForm | None:
    """Return the choices for a run; None if it did not stop at a step, or is one of a caller who signs in."""
    max_elements = 60
    try:
        run = await FlowRuns(services.database).load_run(Call(), run_id)
    except NotFound:
        return None
    flow, _, place = run.place.partition(" ")
    if run.state != "stopped" or not place or flow not in run.sources:
        return None
    try:
        step = find_step(parse_flow(run.sources[flow], flow), place)
    except OutriderError:
        return None
    choices = list_choices(list_outline_elements(run.outline), step) if is_element_missing(run) else []
    return RepairForm(flow, place, format_step(step), choices[:max_elements], _needs_secret(run))


async def repair_flow(services: DashboardServices, run_id: str, given: Mapping[str, str]) -> StoredRun:
    """Save what a person chose as a new version of the flow; return the run. Raises OutriderError."""
    # As at a terminal.
    call, runs = Call(), FlowRuns(services.database)
    run = await runs.load_run(call, run_id)
    flow, place = await load_stopped_flow(services.flow_store, call, run)
    step = find_step(flow, place)
    if element := given.get("element", ""):
        if step.target is None or element not in list_choices(list_outline_elements(run.outline), step):
            raise InvalidInput("element: is not one of the page that this step could mean", hint="choose another one")
        chosen = choose_element(list_outline_elements(run.outline), element, step.target)
        changed = repair_step(flow, place, chosen, asks=False)
    else:
        changed = replace_step(flow, place, parse_step(given.get("step", "")))
    if changed == flow:
        raise InvalidInput("nothing was changed", hint="choose an element, or edit the step")
    await save_repair(services.flow_store, runs, call, run, changed)
    return run


async def resume_run(services: DashboardServices, run: StoredRun) -> None:
    """Go on with a run that was repaired; one whose step asks a person waits for that at a terminal."""
    if _needs_secret(run):
        return
    arguments: dict[str, Any] = {"runId": run.id}
    try:
        await services.build_full_toolbox().call("resumeFlow", arguments, Call(session=run.session))
    except AnswerNeeded:
        log.info("the run %s waits for a person", run.id)
    except OutriderError as error:
        log.warning("the run %s could not go on: %s", run.id, error)


def _needs_secret(run: StoredRun) -> bool:
    return any(not entry for entry in run.options.get("withheld", {}).values())
