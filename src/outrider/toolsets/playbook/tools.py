"""Tools to create, find, follow and finish playbooks."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Any

import anyio
from pydantic import AfterValidator, BaseModel, Field, ValidationError, WithJsonSchema

from outrider.core.context import Call
from outrider.core.errors import InvalidInput
from outrider.core.server_record import ServerRecord
from outrider.core.tool import InstalledToolNames, Toolset
from outrider.flows.flow_store import FlowStore
from outrider.plans import PlanStore, SessionPlan
from outrider.playbooks import Playbook, PlaybookRun, PlaybookStore, Step, SuccessCriteria, Workflow, list_problems
from outrider.playbooks.playbook import LongText, ShortName
from outrider.playbooks.validation import iter_unknown_flows, iter_unknown_tools, list_inputs
from outrider.toolsets.usual_names import USUAL_TOOL_NAMES

playbook = Toolset(
    "playbook",
    "Before a task that may recur, check list_playbooks: select_playbook gives the steps, finish_playbook records "
    "the outcome. Save what worked with create_playbook.",
    display_name="Playbook",
    usual_names=USUAL_TOOL_NAMES["playbook"],
    record=ServerRecord(category="execution"),
)


def _check_page_size(size: int) -> int:
    if not size:
        raise ValueError("a page must have entries; give 1 to 100, or -1 for all")
    return size


PlaybookId = Annotated[str, Field(min_length=1, max_length=64, description="The playbook's id")]
PageNumber = Annotated[int, Field(ge=1, description="From 1")]
PageSize = Annotated[
    int, Field(ge=-1, le=100, description="-1: all, at most 50 per page"), AfterValidator(_check_page_size)
]


class PlaybookChanges(BaseModel, extra="forbid", defer_build=True):
    """New values of a playbook's fields; `id` to `updatedAt` may be sent back as they were read."""

    goal: LongText | None = None
    initialCommand: str | None = None
    inputs: list[ShortName] | None = None
    workflow: list[Step] | None = None
    successCriteria: SuccessCriteria | None = None
    id: str | None = None
    agentId: str | None = None
    createdAt: str | None = None
    updatedAt: str | None = None


class PlaybookAnswer(BaseModel, defer_build=True):
    """The answer of every playbook tool, with only the fields that it sets."""

    success: bool = True
    id: str = ""
    playbook: dict[str, Any] = {}
    page: dict[str, Any] = {}
    formattedText: str = ""
    runId: str = ""
    inputs: list[str] = Field(default=[], description="Data to ask the user for first")
    instructions: list[str] = []
    todos: list[int] = Field(default=[], description="Ids of the new todos")
    runs: list[dict[str, Any]] = []
    warnings: list[str] = []

    def __str__(self) -> str:
        return json.dumps(self.model_dump(exclude_unset=True), ensure_ascii=False)


@playbook.tool(effect="write", title="Save a playbook", stake="never_ask")
async def create_playbook(
    playbooks: PlaybookStore,
    known: InstalledToolNames,
    flows: FlowStore,
    call: Call,
    /,
    goal: Annotated[str, Field(min_length=1, max_length=2_000)],
    workflow: Annotated[list[Step], Field(min_length=1, max_length=100, description="The steps, in order")],
    initialCommand: Annotated[str, Field(max_length=2_000, description="User request that starts it")] = "",
    successCriteria: SuccessCriteria | None = None,
    inputs: Annotated[list[str] | None, Field(max_length=50, description="Names of data the user provides")] = None,
) -> PlaybookAnswer:
    """Save a workflow to reuse. requiredData lists names of inputs or of earlier outputVariables."""
    content = _parse_workflow({
        "goal": goal, "workflow": workflow, "initialCommand": initialCommand, "successCriteria": successCriteria,
        "inputs": inputs or [],
    })  # fmt: skip
    return await _build_playbook_answer(await playbooks.create(call, content), known, flows, call)


@playbook.tool(title="List playbooks")
async def list_playbooks(
    playbooks: PlaybookStore, call: Call, /, page: PageNumber = 1, pageSize: PageSize = -1
) -> PlaybookAnswer:
    """List this assistant's playbooks, newest first."""
    return await build_page(playbooks, call, page, pageSize)


@playbook.tool(title="Show a playbook")
async def get_playbook(playbooks: PlaybookStore, call: Call, /, id: PlaybookId) -> PlaybookAnswer:
    """Get one playbook with its steps and the outcomes of its last runs."""
    record = await playbooks.get(call, id)
    return PlaybookAnswer(
        success=True,
        playbook=_serialize_playbook(record),
        runs=[_serialize_run(run) for run in await playbooks.list_runs(record)],
    )


@playbook.tool(effect="write", title="Update a playbook", stake="never_ask")
async def update_playbook(
    playbooks: PlaybookStore,
    known: InstalledToolNames,
    flows: FlowStore,
    call: Call,
    /,
    id: PlaybookId,
    playbook: Annotated[
        PlaybookChanges,
        WithJsonSchema({"type": "object"}),
        Field(description="New values of goal, initialCommand, workflow, successCriteria or inputs"),
    ],
) -> PlaybookAnswer:
    """Replace some fields of a playbook; the others stay."""
    stored = _serialize_playbook(await playbooks.get(call, id))
    changed_fields = playbook.model_dump(exclude_unset=True, exclude_none=True)
    changes = {name: value for name, value in changed_fields.items() if value != stored.get(name)}
    return await _build_playbook_answer(await playbooks.update(call, id, changes), known, flows, call)


@playbook.tool(effect="act", title="Delete a playbook", stake="low")
async def delete_playbook(playbooks: PlaybookStore, call: Call, /, id: PlaybookId) -> PlaybookAnswer:
    """Remove a playbook and the record of its runs."""
    await playbooks.delete(call, id)
    return PlaybookAnswer(success=True, id=id)


@playbook.tool(effect="write", title="Follow a playbook", stake="never_ask")
async def select_playbook(
    playbooks: PlaybookStore,
    plans: PlanStore,
    flows: FlowStore,
    call: Call,
    /,
    id: PlaybookId,
    create_todos: Annotated[bool, Field(description="Make the steps the session's todos")] = False,
) -> PlaybookAnswer:
    """Start a playbook: get its steps, the data to ask for first, and a runId for finish_playbook."""
    record = await playbooks.get(call, id)
    todos: list[int] = []
    if create_todos:
        plan = await plans.change(call, lambda plan: _add_todos(plan, record))
        todos = [todo.id for todo in plan.todos[-len(record.content.workflow) :]]
    run = await playbooks.start_run(call, record)
    needed = list_inputs(record.content)
    lines = [f"Ask the user for {', '.join(needed)} unless it is known."] if needed else []
    lines += ["Follow the todos in order; mark_todo each as soon as it is done." if todos else "Follow the steps."]
    if any(step.action.flow for step in record.content.workflow):
        lines.append(
            "For a step with action.flow call runFlow with that name, and with requiredData as parameters. "
            "Where it stops, do what its result says, or do the step yourself."
        )
        lines += await _list_unknown_flows(record, flows, call)
    criteria = record.content.successCriteria
    lines += [f"Then check: {criteria.description}"] if criteria else []
    return PlaybookAnswer(
        success=True, playbook=_serialize_playbook(record), runId=run.id, inputs=needed, todos=todos,
        instructions=[*lines, "At the end call finish_playbook, also when you give up."],
    )  # fmt: skip


@playbook.tool(effect="write", title="Finish a playbook", stake="never_ask")
async def finish_playbook(
    playbooks: PlaybookStore,
    call: Call,
    /,
    runId: Annotated[str, Field(min_length=1, max_length=64, description="From select_playbook")],
    succeeded: Annotated[bool, Field(description="Whether the success criteria are met")],
    notes: Annotated[str, Field(max_length=5_000, description="What to do differently next time")] = "",
) -> PlaybookAnswer:
    """Record the outcome of a playbook's run."""
    run = await playbooks.finish_run(call, runId, succeeded=succeeded, notes=notes)
    return PlaybookAnswer(success=True, id=run.playbook, runs=[_serialize_run(run)])


@playbook.tool(title="Export playbooks")
async def export_playbooks(
    playbooks: PlaybookStore,
    call: Call,
    /,
    ids: Annotated[list[str] | None, Field(max_length=100, description="Default: all")] = None,
) -> str:
    """Export playbooks as JSON, to save in a file or to import elsewhere."""
    records = (
        [await playbooks.get(call, playbook_id) for playbook_id in ids]
        if ids
        else (await playbooks.list_own(call)).items
    )
    contents = [record.content.model_dump(mode="json", exclude_none=True, exclude_defaults=True) for record in records]
    return json.dumps({"playbooks": contents}, ensure_ascii=False, indent=2)


@playbook.tool(effect="write", title="Import playbooks")
async def import_playbooks(
    playbooks: PlaybookStore,
    call: Call,
    /,
    content: Annotated[str, Field(min_length=2, max_length=500_000, description="The result of export_playbooks")],
) -> PlaybookAnswer:
    """Import playbooks from JSON as new ones; all of them, or none if one is wrong."""
    try:
        workflows = [_parse_workflow(entry) for entry in json.loads(content)["playbooks"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InvalidInput("content: is not the JSON of export_playbooks", hint='{"playbooks": […]}') from None
    problems = [f"{workflow.goal[:50]}: {problem}" for workflow in workflows for problem in list_problems(workflow)]
    if problems:
        raise InvalidInput("; ".join(problems), hint="correct these and import again; nothing was imported")
    records = [await playbooks.create(call, workflow) for workflow in workflows]
    return PlaybookAnswer(success=True, page={"items": [_serialize_playbook(record) for record in records]})


def _parse_workflow(data: dict[str, Any]) -> Workflow:
    try:
        return Workflow.model_validate(data)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()]
        raise InvalidInput("; ".join(problems), hint="correct these and call again") from None


def _add_todos(plan: SessionPlan, record: Playbook) -> SessionPlan:
    """Append the playbook's steps to the plan's todos, and set a missing goal."""
    plan = plan if plan.goal else plan.with_goal(record.content.goal)
    predecessors: Iterable[int] = ()
    for step in record.content.workflow:
        plan = plan.with_todo(step.description, after=predecessors)
        predecessors = (plan.todos[-1].id,)
    return plan


async def build_page(playbooks: PlaybookStore, call: Call, page: int, page_size: int) -> PlaybookAnswer:
    """Return one page of the assistant's playbooks, newest first; a negative size means up to 50."""
    size = page_size if page_size > 0 else 50
    result_page = await playbooks.list_own(call, page, size)
    pages = max(-(-result_page.total // size), 1)
    page_size = page_size if pages == 1 else size
    items = [_serialize_playbook(record) for record in result_page.items]
    lines: list[str] = []
    for number, record in enumerate(result_page.items, (page - 1) * size + 1):
        content, created = record.content, _format_time(record.created_at)
        goal, command = (json.dumps(text, ensure_ascii=False) for text in (content.goal, content.initialCommand))
        summary = f"goal:{goal} initial:{command} steps:{len(content.workflow)} createdAt:{created}"
        lines.append(f"{number}. id:{record.id} {summary}")
    if not lines:
        lines = [f"no page {page}; the last is {pages}" if result_page.total else "no playbooks yet; create_playbook"]
    data = {"page": page, "pageSize": page_size, "totalItems": result_page.total, "totalPages": pages, "items": items}
    return PlaybookAnswer(success=True, page=data, formattedText="\n".join(lines))


async def _build_playbook_answer(
    record: Playbook, known: InstalledToolNames, flows: FlowStore, call: Call
) -> PlaybookAnswer:
    """Return the playbook, with warnings about unknown tools and flows.

    Only the host may have an unknown tool.
    """
    warnings = [*iter_unknown_tools(record.content, known), *await _list_unknown_flows(record, flows, call)]
    answer = PlaybookAnswer(success=True, playbook=_serialize_playbook(record))
    return answer.model_copy(update={"warnings": warnings}) if warnings else answer


async def _list_unknown_flows(record: Playbook, flows: FlowStore, call: Call) -> list[str]:
    if not any(step.action.flow for step in record.content.workflow):
        return []
    return list(iter_unknown_flows(record.content, await anyio.to_thread.run_sync(flows.list_names, call)))


def _serialize_playbook(record: Playbook) -> dict[str, Any]:
    """Return all fields of the playbook and of its steps, including empty ones (except inputs)."""
    content = record.content.model_dump(mode="json", exclude_none=True)
    if not record.content.inputs:
        del content["inputs"]
    times = {"createdAt": _format_time(record.created_at), "updatedAt": _format_time(record.updated_at)}
    return {"id": record.id, "agentId": record.assistant} | content | times


def _serialize_run(run: PlaybookRun) -> dict[str, Any]:
    entry = {"runId": run.id, "outcome": run.outcome, "startedAt": _format_time(run.started_at), "notes": run.notes}
    return entry | ({"endedAt": _format_time(run.ended_at)} if run.ended_at is not None else {})


def _format_time(timestamp: float) -> str:
    return datetime.fromtimestamp(timestamp, UTC).isoformat(timespec="seconds")
