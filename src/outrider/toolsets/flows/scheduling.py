"""Tools that run flows on schedule."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, NotFound, OutriderError, Refused
from outrider.core.result import Result, TextBlock
from outrider.flows.flow import require_flow_name
from outrider.flows.scheduler import FlowScheduler
from outrider.toolsets.flows.tools import FlowName, flows

if TYPE_CHECKING:
    from outrider.flows.flow_schedule import FlowSchedule


@flows.tool(effect="act", stake="low", title="Schedule a flow", private=frozenset({"parameters"}))
async def scheduleFlow(
    scheduler: FlowScheduler,
    call: Call,
    /,
    name: FlowName,
    cron: Annotated[str, Field(max_length=100, description="Such as 0 7 * * mon-fri")],
    timezone: Annotated[str, Field(max_length=64, description="Such as Europe/Berlin; default: the setting")] = "",
    parameters: Annotated[dict[str, Any] | None, Field(description="As for runFlow, without secrets")] = None,
    stateId: Annotated[str | None, Field(description="Saved sign-in")] = None,
    notify: Annotated[list[str] | None, Field(max_length=10, description="Notices the operator configured")] = None,
) -> Result:
    """Run a flow on a cron schedule; replaces its earlier one."""
    _require_person(call, f"{name} at {cron}" + (f" with the sign-in {stateId!r}" if stateId else ""))
    engine = scheduler.engine
    options = {"stateId": stateId, "waitSeconds": 10.0}
    given = parameters or {}
    schedule = engine.plan(
        call,
        require_flow_name(name),
        cron=cron,
        timezone=timezone,
        parameters=given,
        options=options,
        notify=notify,
    )
    program, _prepared = await engine.work.prepare(schedule)
    schedule = replace(schedule, options={**options, "reach": engine.work.describe_reach(program)})
    saved = await scheduler.engine.schedules.save_schedule(schedule, engine.settings.max_schedules)
    scheduler.engine.wake()
    lines, row = [f"Scheduled {_format_schedule(saved)}."], describe_schedule(saved)
    try:
        await engine.work.require_approval(call, program)
    except OutriderError as error:
        row["notes"] = [f"it will stop until it is approved: {error.message}; {error.hint}"]
        lines += [f"Note: {note}" for note in row["notes"]]
    return Result((TextBlock("\n".join(lines)),), data=row)


@flows.tool(title="List schedules of flows")
async def listFlowSchedules(scheduler: FlowScheduler, call: Call, /) -> Result:
    """List the scheduled flows and their times."""
    found = await scheduler.engine.schedules.list_schedules(call)
    lines = [_format_schedule(each) for each in found]
    text = "\n".join(lines) or "No flow has a schedule: scheduleFlow adds one."
    return Result((TextBlock(text),), data={"schedules": [describe_schedule(each) for each in found]})


@flows.tool(effect="act", stake="low", title="Unschedule a flow")
async def unscheduleFlow(scheduler: FlowScheduler, call: Call, /, name: FlowName) -> str:
    """Stop running a flow on a schedule; its runs stay listed."""
    flow = require_flow_name(name)
    if not await scheduler.engine.schedules.remove_schedule(call, flow):
        raise NotFound(f"name: {flow} has no schedule", hint="listFlowSchedules lists the flows that have one")
    scheduler.engine.wake()
    return f"{flow} has no schedule now."


def describe_schedule(schedule: "FlowSchedule") -> dict[str, Any]:
    """Describe a schedule for programs."""
    row: dict[str, Any] = {"name": schedule.flow, "cron": schedule.cron, "timezone": schedule.timezone}
    row |= {"nextAt": datetime.fromtimestamp(schedule.next_at, UTC).isoformat(timespec="seconds")}
    row |= {"parameters": dict(schedule.parameters)} if schedule.parameters else {}
    row |= {"stateId": schedule.options["stateId"]} if schedule.options.get("stateId") else {}
    row |= {"notify": schedule.notify} if schedule.notify else {}
    return row | ({"problem": schedule.problem} if schedule.problem else {})


def _format_schedule(schedule: "FlowSchedule") -> str:
    next_at = datetime.fromtimestamp(schedule.next_at, schedule.times.zone).isoformat(timespec="minutes")
    problem = f"; {schedule.problem}" if schedule.problem else ""
    return f"{schedule.flow}: {schedule.cron} ({schedule.timezone}), next at {next_at}{problem}"


def _require_person(call: Call, plan: str) -> None:
    """Ask a person if an agent wants to schedule a flow; refuse callers who sign in."""
    if call.grant is not None:
        message = "a flow of a caller who signs in cannot be scheduled: no one is signed in when it runs"
        raise Refused(message, hint="run it with runFlow", code="not_supported")
    if call.run is not None and call.answer is not True:
        if call.answer is False:
            raise Refused(f"the user did not allow a schedule of {plan}", hint="do not repeat the call")
        question = f"Let agent {call.run.agent} run the flow {plan} repeatedly, without asking again?"
        raise AnswerNeeded(question, state=plan)
