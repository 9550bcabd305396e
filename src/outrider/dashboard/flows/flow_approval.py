"""Let a person approve the current version of a flow whose run waits, also for a caller who signs in."""

from dataclasses import dataclass

from outrider.core.errors import InvalidInput, OutriderError, Refused
from outrider.dashboard.services import DashboardServices
from outrider.flows.approvals import FlowApprovals
from outrider.flows.flow_runs import StoredRun
from outrider.flows.program import FlowProgram, load_program
from outrider.flows.program_summary import format_program


@dataclass(frozen=True)
class ApprovalForm:
    """What a person approves.

    Attributes:
        flow: The flow's name, which the person types.
        version: Its version.
        digest: The fingerprint of its files, which the form sends back.
        summary: All that it does.
        is_of_caller: Whether its caller signs in, and continues the run.
    """

    flow: str
    version: int
    digest: str
    summary: str
    is_of_caller: bool


async def build_approval_form(services: DashboardServices, run: StoredRun) -> ApprovalForm | None:
    """Return what can be approved for a run; None if it does not wait for that. Raises Unavailable."""
    max_summary_chars = 200_000  # nobody reads more
    program = _load_waiting_program(run)
    if program is None or await FlowApprovals(services.database).is_approved(run.owner_folder or "", program):
        return None
    flow, summary = program.flow, format_program(program)
    if len(summary) > max_summary_chars:
        return None
    return ApprovalForm(flow.name, flow.version, program.digest, summary, bool(run.owner_folder))


async def approve_flow(services: DashboardServices, run: StoredRun, name: str, digest: str, by: str) -> None:
    """Approve the files with which a run waits. Raises Refused, InvalidInput, Unavailable."""
    program = _load_waiting_program(run)
    if program is None or program.digest != digest:
        raise Refused("the run no longer waits for this approval", hint="open its page again", code="changed")
    if name.strip() != program.flow.name:
        raise InvalidInput("name: is not the flow's name", hint=f"type {program.flow.name} to approve it")
    await FlowApprovals(services.database).approve(run.owner_folder or "", program, by=by)


def _load_waiting_program(run: StoredRun) -> FlowProgram | None:
    waits = run.state == "waiting" or (run.state == "stopped" and run.message.startswith("not_approved"))
    if not waits or run.owner_folder is None:
        return None
    try:
        return load_program(run.flow, lambda name: run.sources[name])
    except (OutriderError, KeyError):
        return None
