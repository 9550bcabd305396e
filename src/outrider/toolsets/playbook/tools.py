"""Playbooks for a model: keep a workflow that went well, find it again, follow it, and note how it went."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from outrider.core.context import Call
from outrider.core.errors import InvalidInput
from outrider.core.tool import InstalledToolNames, Toolset
from outrider.plans import PlanStore, SessionPlan
from outrider.playbooks import Playbook, PlaybookRun, PlaybookStore, Step, SuccessCriteria, Workflow, list_problems
from outrider.playbooks.validation import iter_unknown_tools, list_inputs

playbook = Toolset(
    "playbook",
    "Workflows of this assistant. Before a task that may recur, look with list_playbooks; select_playbook gives the "
    "steps and begins a run, finish_playbook records how it went. After a task that went well and may come again, "
    "create_playbook.",
    display_name="Playbook",
)


def _check_page_size(size: int) -> int:
    if not size:
        raise ValueError("a page of nothing; give 1 to 100, or -1 for all")
    return size


PlaybookId = Annotated[str, Field(min_length=1, max_length=64, description="The playbook's id")]
PageNumber = Annotated[int, Field(ge=1, description="From 1")]
PageSize = Annotated[
    int, Field(ge=-1, le=100, description="-1: all, at most 50 a page"), AfterValidator(_check_page_size)
]
MAX_IMPORT_CHARS = 500_000


class PlaybookAnswer(BaseModel, defer_build=True):
    """What the playbook tools answer, in the fields that they set."""

    success: bool = True
    id: str = ""
    playbook: dict[str, Any] = {}
    page: dict[str, Any] = {}
    formattedText: str = ""
    runId: str = ""
    inputs: list[str] = Field(default=[], description="Data that the user must give first")
    instructions: list[str] = []
    todos: list[int] = Field(default=[], description="Ids of the todos that were made")
    runs: list[dict[str, Any]] = []
    warnings: list[str] = []

    def __str__(self) -> str:
        return json.dumps(self.model_dump(exclude_unset=True), ensure_ascii=False)


@playbook.tool(effect="write", title="Keep a playbook", stake="never_ask")
async def create_playbook(
    playbooks: PlaybookStore,
    known: InstalledToolNames,
    call: Call,
    /,
    goal: Annotated[str, Field(min_length=1, max_length=2_000)],
    workflow: Annotated[list[Step], Field(min_length=1, max_length=100, description="The steps, in order")],
    initialCommand: Annotated[str, Field(max_length=2_000, description="What a user says to start it")] = "",
    successCriteria: SuccessCriteria | None = None,
    inputs: Annotated[list[str] | None, Field(max_length=50, description="Names of data that the user gives")] = None,
) -> PlaybookAnswer:
    """Keep a workflow for next time. requiredData are names that inputs or earlier outputVariables give."""
    content = _parse_workflow({
        "goal": goal, "workflow": workflow, "initialCommand": initialCommand, "successCriteria": successCriteria,
        "inputs": inputs or [],
    })  # fmt: skip
    return _build_playbook_answer(await playbooks.create(call, content), known)


@playbook.tool(title="List playbooks")
async def list_playbooks(
    playbooks: PlaybookStore, call: Call, /, page: PageNumber = 1, pageSize: PageSize = -1
) -> PlaybookAnswer:
    """This assistant's playbooks, newest first."""
    return await build_page(playbooks, call, page, pageSize)


@playbook.tool(title="Show a playbook")
async def get_playbook(playbooks: PlaybookStore, call: Call, /, id: PlaybookId) -> PlaybookAnswer:
    """One playbook with its steps, and how it went the last times."""
    kept = await playbooks.get(call, id)
    return PlaybookAnswer(
        success=True,
        playbook=_serialize_playbook(kept),
        runs=[_serialize_run(run) for run in await playbooks.list_runs(kept)],
    )


@playbook.tool(effect="write", title="Change a playbook", stake="never_ask")
async def update_playbook(
    playbooks: PlaybookStore,
    known: InstalledToolNames,
    call: Call,
    /,
    id: PlaybookId,
    playbook: Annotated[
        dict[str, Any], Field(description="New values of goal, initialCommand, workflow, successCriteria or inputs")
    ],
) -> PlaybookAnswer:
    """Replace some fields of a playbook; the others stay."""
    return _build_playbook_answer(await playbooks.update(call, id, playbook), known)


@playbook.tool(effect="act", title="Delete a playbook", stake="low")
async def delete_playbook(playbooks: PlaybookStore, call: Call, /, id: PlaybookId) -> PlaybookAnswer:
    """Remove a playbook and the record of its runs."""
    await playbooks.delete(call, id)
    return PlaybookAnswer(success=True, id=id)


@playbook.tool(effect="write", title="Follow a playbook", stake="never_ask")
async def select_playbook(
    playbooks: PlaybookStore,
    plans: PlanStore,
    call: Call,
    /,
    id: PlaybookId,
    create_todos: Annotated[bool, Field(description="Make the steps the session's todos")] = False,
) -> PlaybookAnswer:
    """Take a playbook to follow now: its steps, what is needed first, and a run to finish."""
    kept = await playbooks.get(call, id)
    todos: list[int] = []
    if create_todos:
        plan = await plans.change(call, lambda plan: _add_todos(plan, kept))
        todos = [todo.id for todo in plan.todos[-len(kept.content.workflow) :]]
    run = await playbooks.start_run(call, kept)
    needed = list_inputs(kept.content)
    return PlaybookAnswer(
        success=True, playbook=_serialize_playbook(kept), runId=run.id, inputs=needed, todos=todos,
        instructions=_build_instructions(kept, needed, todos=bool(todos)),
    )  # fmt: skip


@playbook.tool(effect="write", title="Finish a playbook", stake="never_ask")
async def finish_playbook(
    playbooks: PlaybookStore,
    call: Call,
    /,
    runId: Annotated[str, Field(min_length=1, max_length=64, description="From select_playbook")],
    succeeded: Annotated[bool, Field(description="Whether the success criteria are met")],
    notes: Annotated[str, Field(max_length=5_000, description="What to do otherwise next time")] = "",
) -> PlaybookAnswer:
    """Record how following a playbook went."""
    run = await playbooks.finish_run(call, runId, succeeded=succeeded, notes=notes)
    return PlaybookAnswer(success=True, id=run.playbook, runs=[_serialize_run(run)])


@playbook.tool(title="Export playbooks")
async def export_playbooks(
    playbooks: PlaybookStore,
    call: Call,
    /,
    ids: Annotated[list[str] | None, Field(max_length=100, description="Default: all")] = None,
) -> str:
    """Playbooks as JSON, to keep in a file or to import elsewhere."""
    found = [await playbooks.get(call, each) for each in ids] if ids else (await playbooks.list_own(call)).items
    return json.dumps({"playbooks": [_content(each) for each in found]}, ensure_ascii=False, indent=2)


@playbook.tool(effect="write", title="Import playbooks")
async def import_playbooks(
    playbooks: PlaybookStore,
    call: Call,
    /,
    content: Annotated[str, Field(min_length=2, max_length=MAX_IMPORT_CHARS, description="What export_playbooks gave")],
) -> PlaybookAnswer:
    """Keep playbooks from JSON as new ones; all of them, or none if one is wrong."""
    try:
        given = json.loads(content)["playbooks"]
        found = [_parse_workflow(each) for each in given]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InvalidInput("content: is not the JSON of export_playbooks", hint='{"playbooks": […]}') from None
    wrong = [f"{each.goal[:50]}: {problem}" for each in found for problem in list_problems(each)]
    if wrong:
        raise InvalidInput("; ".join(wrong), hint="correct these and import again; nothing was kept")
    kept = [await playbooks.create(call, each) for each in found]
    return PlaybookAnswer(success=True, page={"items": [_serialize_playbook(each) for each in kept]})


def _parse_workflow(data: dict[str, Any]) -> Workflow:
    try:
        return Workflow.model_validate(data)
    except ValidationError as error:
        found = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
        raise InvalidInput("; ".join(found), hint="correct these and call again") from None


def _add_todos(plan: SessionPlan, kept: Playbook) -> SessionPlan:
    """The plan with the playbook's goal, if it has none, and its steps behind the todos there are."""
    plan = plan if plan.goal else plan.with_goal(kept.content.goal)
    before: Iterable[int] = ()
    for step in kept.content.workflow:
        plan = plan.with_todo(step.description, after=before)
        before = (plan.todos[-1].id,)
    return plan


def _build_instructions(kept: Playbook, needed: list[str], *, todos: bool) -> list[str]:
    lines = [f"Ask the user for {', '.join(needed)} unless it is known."] if needed else []
    lines += ["Follow the todos in order; mark_todo each as soon as it is done." if todos else "Follow the steps."]
    criteria = kept.content.successCriteria
    lines += [f"Then check: {criteria.description}"] if criteria else []
    return [*lines, "At the end call finish_playbook, also when you give up."]


async def build_page(playbooks: PlaybookStore, call: Call, page: int, page_size: int) -> PlaybookAnswer:
    """One page of the assistant's playbooks, newest first; a negative size means all that one answer should hold."""
    max_shown = 50  # playbooks of one answer where all are wanted
    size = page_size if page_size > 0 else max_shown
    found = await playbooks.list_own(call, page, size)
    pages = max(-(-found.total // size), 1)
    page_size = page_size if pages == 1 else size
    items = [_serialize_playbook(each) for each in found.items]
    first = (page - 1) * size
    lines = [_format_playbook(number, each) for number, each in enumerate(found.items, first + 1)]
    if not lines:
        lines = [f"no page {page}; the last is {pages}" if found.total else "no playbooks yet; create_playbook"]
    facts = {"page": page, "pageSize": page_size, "totalItems": found.total, "totalPages": pages, "items": items}
    return PlaybookAnswer(success=True, page=facts, formattedText="\n".join(lines))


def _build_playbook_answer(kept: Playbook, known: InstalledToolNames) -> PlaybookAnswer:
    """A playbook as it is now; tools that only the host may have are worth a word, and no error."""
    strange = list(iter_unknown_tools(kept.content, known))
    shown = PlaybookAnswer(success=True, playbook=_serialize_playbook(kept))
    return shown.model_copy(update={"warnings": strange}) if strange else shown


def _serialize_playbook(kept: Playbook) -> dict[str, Any]:
    """The record as the contract has it (contracts 9): every field of it and of its steps, empty or not."""
    content = kept.content.model_dump(mode="json", exclude_none=True)
    if not kept.content.inputs:
        del content["inputs"]
    about = {"id": kept.id, "agentId": kept.assistant} | content
    return about | {"createdAt": _format_time(kept.created_at), "updatedAt": _format_time(kept.updated_at)}


def _content(kept: Playbook) -> dict[str, Any]:
    return kept.content.model_dump(mode="json", exclude_none=True, exclude_defaults=True)


def _format_playbook(number: int, kept: Playbook) -> str:
    content = kept.content
    words = f"goal:{json.dumps(content.goal, ensure_ascii=False)}"
    first = f"initial:{json.dumps(content.initialCommand, ensure_ascii=False)}"
    return f"{number}. id:{kept.id} {words} {first} steps:{len(content.workflow)} createdAt:{_format_time(kept.created_at)}"


def _serialize_run(run: PlaybookRun) -> dict[str, Any]:
    ended = {"endedAt": _format_time(run.ended_at)} if run.ended_at is not None else {}
    return {
        "runId": run.id,
        "outcome": run.outcome,
        "startedAt": _format_time(run.started_at),
        "notes": run.notes,
    } | ended


def _format_time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
