"""Save a new version of a stopped flow, and continue it."""

import anyio

from outrider.core.context import Call
from outrider.core.errors import Refused
from outrider.flows.flow import Flow
from outrider.flows.flow_file import format_flow, parse_flow
from outrider.flows.flow_files import SavedFlow
from outrider.flows.flow_runs import FlowRuns, StoredRun
from outrider.flows.flow_store import FlowStore
from outrider.flows.program import load_program
from outrider.flows.repair import REPAIRABLE_REASONS, compare_files


def is_element_missing(run: StoredRun) -> bool:
    """Return whether a run stopped at a step for which another element would help."""
    return run.state == "stopped" and bool(run.place) and run.message.partition(":")[0] in REPAIRABLE_REASONS


async def load_stopped_flow(store: FlowStore, call: Call, run: StoredRun) -> tuple[Flow, str]:
    """Return the flow in whose file a run stopped, and the step's place there. Raises Refused, NotFound."""
    name, _, place = run.place.partition(" ")
    if run.state != "stopped" or not place:
        message = f"runId: {run.id} is {run.state}, so it has no step to repair"
        raise Refused(message, hint="repair runs that stopped at a step", code="not_repairable")
    if await anyio.to_thread.run_sync(store.read_text, call, name) != run.sources[name]:
        message = f"{name} has changed since {run.id} began"
        raise Refused(message, hint="run it again, and repair that run if it stops", code="changed")
    return parse_flow(run.sources[name], name), place


async def save_repair(store: FlowStore, runs: FlowRuns, call: Call, run: StoredRun, repaired: Flow) -> tuple[int, str]:
    """Save a flow as a new version with which its run continues; return its number and the difference of the files.

    Raises InvalidInput if the changed flow cannot run, Refused, Unavailable.
    """
    name, before = repaired.name, run.sources[repaired.name]

    def save_version() -> tuple[SavedFlow, dict[str, str]]:
        known = {**run.sources, name: format_flow(repaired, before)}
        program = load_program(run.flow, lambda each: known[each] if each in known else store.read_text(call, each))
        saved = store.save_flow(call, repaired, replace=True, before=before)
        return saved, {**program.texts, name: saved.text}

    saved, texts = await anyio.to_thread.run_sync(save_version)
    difference = compare_files(before, saved.text)
    change = {"flow": name, "version": saved.version, "place": run.place, "difference": difference[:4_000]}
    await runs.replace_sources(run, texts, change)
    return saved.version, difference
