"""Prepare and execute the unattended runs of schedules."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import anyio

from outrider.core.context import Call
from outrider.core.errors import InvalidInput, Refused
from outrider.core.tool_policy import ToolPolicy
from outrider.core.toolbox import Toolbox
from outrider.flows.approvals import FlowApprovals
from outrider.flows.flow_runs import StoredRun, build_owner_key
from outrider.flows.flow_store import FlowStore
from outrider.flows.program import FlowProgram, load_program
from outrider.flows.values import resolve_parameters
from outrider.toolsets.flows.consent import STEP_TOOLS, build_consent_check, require_tools
from outrider.toolsets.flows.secret_parameters import split_parameters, take_from_store

if TYPE_CHECKING:
    from outrider.flows.flow_schedule import FlowSchedule


@dataclass(frozen=True)
class ScheduledRuns:
    """Prepares and executes the runs of schedules.

    Attributes:
        build_toolbox: Returns the toolbox for the runs.
    """

    store: FlowStore
    approvals: FlowApprovals
    policy: ToolPolicy
    build_toolbox: Callable[[], Toolbox]

    async def prepare(self, schedule: "FlowSchedule") -> "tuple[FlowProgram, FlowSchedule]":
        """Return a flow, and the schedule with the parameters and options of its next run. Raises OutriderError."""
        return await anyio.to_thread.run_sync(self._prepare, schedule)

    async def run(self, call: Call, run: StoredRun) -> None:
        """Start or continue a stored run. Raises OutriderError, AnswerNeeded."""
        await self.require_approval(call, load_program(run.flow, lambda name: run.sources[name]))
        await self.build_toolbox().call("resumeFlow", {"runId": run.id}, call)

    async def require_approval(self, call: Call, program: FlowProgram) -> None:
        """Refuse a flow that asks a person and is not approved. Raises Refused."""
        if await self.approvals.is_approved(build_owner_key(call), program):
            return
        needs_consent = build_consent_check(self.policy, is_approved=False)
        steps = [(place, step) for place, step in program.iterate_steps() if step.kind in STEP_TOOLS]
        asking = next((f"{place}, {step}," for place, step in steps if needs_consent(step)), None)
        if asking:
            name, version = program.flow.name, program.flow.version
            message = f"step {asking} asks a person, and version {version} of {name} is not approved"
            hint = f"a person runs `outrider flow approve {name}`, or approves it on the dashboard"
            raise Refused(message, hint=hint, code="not_approved")

    @staticmethod
    def describe_reach(program: FlowProgram) -> list[str]:
        """Return the sites and the secrets of a flow and of those that it runs."""
        flows = program.flows.values()
        secrets = {secret.file or secret.env for flow in flows for secret in flow.secrets.values()}
        return sorted({origin for flow in flows for origin in flow.origins} | secrets)

    def _require_same_reach(self, program: FlowProgram, schedule: "FlowSchedule") -> None:
        """Refuse a flow whose sites or secrets have changed since a person scheduled it. Raises Refused."""
        known = schedule.options.get("reach")
        new = [] if known is None else [each for each in self.describe_reach(program) if each not in known]
        if new:
            message = f"{program.flow.name} was changed and now uses {new[0][:200]}; it was scheduled without that"
            raise Refused(message, hint="check its file, then schedule it again", code="not_approved")

    def _prepare(self, schedule: "FlowSchedule") -> "tuple[FlowProgram, FlowSchedule]":
        program = self.store.load_program(schedule.call, schedule.flow)
        self._require_same_reach(program, schedule)
        require_tools(program, self.policy, schedule.call)
        flow, known = program.flow, self.store.secrets.read_all()
        given = take_from_store(flow, schedule.parameters, known)
        parameters = split_parameters(flow, given, known)
        if secret := next((name for name in parameters.withheld if name in schedule.parameters), None):
            entry = f"OUTRIDER_FLOW_{secret.upper()}"
            hint = f"mark it secret: true in the flow, leave it out here, and write it to {entry} in flow-secrets"
            raise InvalidInput(f"parameters: {secret} is a secret, and schedules do not store secrets", hint=hint)
        resolve_parameters(flow, given)
        self.store.resolve_secrets(program)
        options = {**schedule.options, "keepOpen": False, "withheld": dict(parameters.withheld)}
        return program, replace(schedule, parameters=parameters.kept, options=options)
