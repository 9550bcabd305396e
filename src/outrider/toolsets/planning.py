"""Tools that keep the session's plan: one goal, its todos and observations."""

import json
from typing import Annotated, Any

from pydantic import BaseModel, Field

from outrider.core.context import Call
from outrider.core.server_record import ServerRecord
from outrider.core.tool import Toolset
from outrider.plans import PlanStore, Priority, SessionPlan, Todo
from outrider.toolsets.usual_names import USUAL_TOOL_NAMES

planning = Toolset(
    "planning",
    "Plan work of more than three steps: create_goal, add_todo for each step, mark_todo when one is done, "
    "add_observation for facts needed later. get_current_state shows where you are.",
    display_name="Task Planning",
    usual_names=USUAL_TOOL_NAMES["planning"],
    record=ServerRecord(category="planning"),
)

GoalText = Annotated[str, Field(min_length=1, max_length=2_000, description="The outcome to reach, in one sentence")]
TodoName = Annotated[str, Field(min_length=1, max_length=500, description="One step, as an instruction")]
TodoId = Annotated[int, Field(ge=1, description="The todo's number")]
Predecessors = Annotated[list[int] | None, Field(description="Ids of todos that must be done before it")]


class PlanningAnswer(BaseModel, defer_build=True):
    """The answer of every planning tool, with only the fields that it sets."""

    success: bool
    goal: str | None = None
    lastClearedGoal: str | None = None
    todo: dict[str, Any] | None = None
    todos: list[dict[str, Any]] = []
    observations: list[str] = []
    pastGoals: list[dict[str, Any]] = []
    progress: dict[str, int] = {}
    note: str = Field(default="", description="What to do next")

    def __str__(self) -> str:
        return json.dumps(self.model_dump(exclude_unset=True), ensure_ascii=False)


class ThoughtProgress(BaseModel, defer_build=True):
    """Progress of a chain of thoughts."""

    thoughtNumber: int
    totalThoughts: int
    nextThoughtNeeded: bool
    branches: list[str]
    thoughtHistoryLength: int

    def __str__(self) -> str:
        return self.model_dump_json()


@planning.tool(effect="write", title="Set the goal", stake="never_ask")
async def create_goal(plans: PlanStore, call: Call, /, goal: GoalText) -> PlanningAnswer:
    """Set the session's goal. The previous goal is archived; the todos stay."""
    plan = await plans.change(call, lambda plan: plan.with_goal(goal))
    return PlanningAnswer(success=True, goal=plan.goal)


@planning.tool(effect="write", title="Clear the goal", stake="never_ask")
async def clear_goal(plans: PlanStore, call: Call, /) -> PlanningAnswer:
    """Archive the goal: reached if every todo is done, else given up."""
    previous_goal: str | None = None

    def close_goal(plan: SessionPlan) -> SessionPlan:
        nonlocal previous_goal
        previous_goal = plan.goal
        return plan.without_goal()

    plan = await plans.change(call, close_goal)
    if previous_goal is None:
        return PlanningAnswer(success=False, goal=None, note="no goal is active; create_goal sets one")
    return PlanningAnswer(success=True, goal=None, lastClearedGoal=plan.last_cleared_goal)


@planning.tool(effect="write", title="Add a todo", stake="never_ask")
async def add_todo(
    plans: PlanStore, call: Call, /, name: TodoName, priority: Priority = "normal", after: Predecessors = None
) -> PlanningAnswer:
    """Add a step to the end of the plan. Returns its id."""
    plan = await plans.change(call, lambda plan: plan.with_todo(name, priority, after or ()))
    return PlanningAnswer(success=True, todo=_serialize_todo(plan.todos[-1]), todos=_serialize_todos(plan))


@planning.tool(effect="write", title="Mark a todo", stake="never_ask")
async def mark_todo(
    plans: PlanStore,
    call: Call,
    /,
    id: TodoId,
    completed: bool = True,
    summary: Annotated[str | None, Field(max_length=2_000, description="The outcome")] = None,
) -> PlanningAnswer:
    """Mark a todo as done (or open again). Marking twice changes nothing."""
    plan = await plans.change(call, lambda plan: plan.mark_todo(id, completed=completed, summary=summary))
    return _build_todo_answer(plan, id)


@planning.tool(effect="write", title="Toggle a todo", stake="never_ask")
async def toggle_todo(plans: PlanStore, call: Call, /, id: TodoId) -> PlanningAnswer:
    """Switch a todo between open and done. Prefer mark_todo, which is safe to repeat."""
    plan = await plans.change(call, lambda plan: plan.mark_todo(id, completed=not plan.get_todo(id).completed))
    return _build_todo_answer(plan, id)


@planning.tool(effect="write", title="Update a todo", stake="never_ask")
async def update_todo(
    plans: PlanStore,
    call: Call,
    /,
    id: TodoId,
    name: Annotated[str | None, Field(min_length=1, max_length=500)] = None,
    priority: Priority | None = None,
    after: Predecessors = None,
    position: Annotated[int | None, Field(ge=1, description="New place in the list, from 1")] = None,
) -> PlanningAnswer:
    """Change a todo's text, priority, position or predecessors; omitted fields stay."""
    plan = await plans.change(
        call, lambda plan: plan.edit_todo(id, name=name, priority=priority, after=after, position=position)
    )
    return _build_todo_answer(plan, id)


@planning.tool(effect="act", title="Remove a todo", stake="never_ask")
async def remove_todo(plans: PlanStore, call: Call, /, id: TodoId) -> PlanningAnswer:
    """Remove one todo. The others keep their ids."""
    plan = await plans.change(call, lambda plan: plan.without_todos([plan.get_todo(id).id]))
    return PlanningAnswer(success=True, todos=_serialize_todos(plan))


@planning.tool(effect="act", title="Clear todos", stake="never_ask")
async def clear_todos(
    plans: PlanStore,
    call: Call,
    /,
    ids: Annotated[list[int] | None, Field(description="Only these; default: all")] = None,
) -> PlanningAnswer:
    """Remove all todos, or the given ones. Ids are never reused."""
    plan = await plans.change(call, lambda plan: plan.without_todos(ids))
    return PlanningAnswer(success=True, todos=_serialize_todos(plan))


@planning.tool(effect="act", title="Clear the session's plan", stake="low")
async def clear_session(plans: PlanStore, call: Call, /) -> PlanningAnswer:
    """Delete this session's goal, todos, observations and archive; ids start at 1 again."""
    await plans.forget(call)
    return PlanningAnswer(success=True)


@planning.tool(effect="write", title="Note an observation", stake="never_ask")
async def add_observation(
    plans: PlanStore,
    call: Call,
    /,
    observation: Annotated[str, Field(min_length=1, max_length=2_000, description="A fact worth keeping")],
) -> PlanningAnswer:
    """Save a fact for later steps. The state shows the last ten."""
    plan = await plans.change(call, lambda plan: plan.with_observation(observation))
    return PlanningAnswer(success=True, observations=[note.text for note in plan.observations])


@planning.tool(title="Show the plan")
async def get_current_state(plans: PlanStore, call: Call, /) -> PlanningAnswer:
    """Show the goal, all todos with their progress, the last ten observations and past goals."""
    return _build_state(await plans.get(call))


@planning.tool(effect="write", title="Think in steps", stake="never_ask")
async def sequentialthinking(
    plans: PlanStore,
    call: Call,
    /,
    thought: Annotated[str, Field(min_length=1, max_length=20_000)],  # noqa: ARG001 - writing it down is the point
    nextThoughtNeeded: bool,
    thoughtNumber: Annotated[int, Field(ge=1)],
    totalThoughts: Annotated[int, Field(ge=1, description="Your current estimate")],
    isRevision: bool | None = None,  # noqa: ARG001
    revisesThought: Annotated[int | None, Field(ge=1)] = None,  # noqa: ARG001
    branchFromThought: Annotated[int | None, Field(ge=1)] = None,
    branchId: Annotated[str | None, Field(max_length=100)] = None,
    needsMoreThoughts: bool | None = None,  # noqa: ARG001
) -> ThoughtProgress:
    """Think through a hard problem one numbered thought per call; revise or branch as you learn."""
    plan = await plans.change(call, lambda plan: plan.with_thought(branchId if branchFromThought else None))
    return ThoughtProgress(
        thoughtNumber=thoughtNumber,
        totalThoughts=max(totalThoughts, thoughtNumber),
        nextThoughtNeeded=nextThoughtNeeded,
        branches=list(plan.branches),
        thoughtHistoryLength=plan.thoughts,
    )


@planning.register_context
async def describe_plan(plans: PlanStore, call: Call) -> tuple[str, dict[str, Any]]:
    """Return the session's plan as a part of a system prompt, and as data."""
    plan = await plans.get(call)
    return format_context(plan), _build_state(plan).model_dump(exclude_unset=True, exclude={"success"})


def format_context(plan: SessionPlan) -> str:
    """Format the plan as a part of a system prompt."""
    goal = f"# Current Goal: {plan.goal}" if plan.goal else "# No active goal"
    lines = [planning.instructions, "", goal]
    lines += [f"Last goal: {plan.last_cleared_goal}"] if plan.last_cleared_goal else []
    lines += ["", "Todos:", *(map(_format_todo, plan.todos) if plan.todos else ["(none)"])]
    lines += ["", "Observations:"]
    lines += [f"{note.number}. {note.text}" for note in plan.observations] or ["(none)"]
    return "\n".join([*lines, "", _suggest_next(plan)])


def _format_todo(todo: Todo) -> str:
    notes: list[str] = [todo.priority] if todo.priority != "normal" else []
    notes += [f"after {', '.join(map(str, todo.after))}"] if todo.after else []
    tail = f" ({'; '.join(notes)})" if notes else ""
    summary = f" [{todo.summary}]" if todo.summary else ""
    return f"ID:{todo.id} [{'✓' if todo.completed else ' '}] {todo.name}{tail}{summary}"


def _serialize_todo(todo: Todo) -> dict[str, Any]:
    entry = {"id": todo.id, "name": todo.name, "status": "completed" if todo.completed else "pending"}
    optional = {"summary": todo.summary, "after": list(todo.after)}
    optional["priority"] = "" if todo.priority == "normal" else todo.priority
    return entry | {name: value for name, value in optional.items() if value}


def _build_state(plan: SessionPlan) -> PlanningAnswer:
    total = len(plan.todos)
    return PlanningAnswer(
        success=True,
        goal=plan.goal,
        lastClearedGoal=plan.last_cleared_goal,
        todos=_serialize_todos(plan),
        observations=[each.text for each in plan.observations],
        pastGoals=[{"goal": each.text, "outcome": each.outcome} for each in plan.past_goals],
        progress={"total": total, "completed": plan.done, "percent": round(100 * plan.done / total) if total else 0},
        note=_suggest_next(plan),
    )


def _serialize_todos(plan: SessionPlan) -> list[dict[str, Any]]:
    return [_serialize_todo(todo) for todo in plan.todos]


def _build_todo_answer(plan: SessionPlan, number: int) -> PlanningAnswer:
    return PlanningAnswer(
        success=True,
        todo=_serialize_todo(plan.get_todo(number)),
        todos=_serialize_todos(plan),
        note=_suggest_next(plan),
    )


def _suggest_next(plan: SessionPlan) -> str:
    """Name the most urgent unblocked todo, or the next tool.

    A todo is unblocked if its predecessors are done.
    """
    done = {todo.id for todo in plan.todos if todo.completed}
    ready = [todo for todo in plan.todos if not todo.completed and done.issuperset(todo.after)]
    if ready:
        todo = min(ready, key=lambda todo: ("high", "normal", "low").index(todo.priority))
        return f"next: todo {todo.id}, {todo.name}"
    if not plan.todos:
        return "add_todo for each step" if plan.goal else "create_goal, then add_todo for each step"
    return "all todos are done: check the result against the goal, then clear_goal"
