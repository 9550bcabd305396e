"""A plan for the session: one goal, its todos, and what was observed on the way."""

import json
from typing import Annotated, Any

from pydantic import BaseModel, Field

from outrider.core.context import Call
from outrider.core.tool import Toolset
from outrider.plans import Plan, Plans, Priority, Todo

planning = Toolset(
    "planning",
    "Plan before work of more than three steps: create_goal, then add_todo for each step, mark_todo as soon as one is "
    "done, add_observation for facts that later steps need. get_current_state shows where you are, also after a "
    "restart.",
    display_name="Task Planning",
)

Goal = Annotated[str, Field(min_length=1, max_length=2_000, description="What is to be reached, in one sentence")]
Name = Annotated[str, Field(min_length=1, max_length=500, description="One step, as an instruction")]
Id = Annotated[int, Field(ge=1, description="The todo's number")]
After = Annotated[list[int] | None, Field(description="Ids of todos that must be done before it")]


class Answer(BaseModel, defer_build=True):
    """What every planning tool answers, in the fields that it sets."""

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


class ThoughtNumbered(BaseModel, defer_build=True):
    """Where a chain of thoughts is."""

    thoughtNumber: int
    totalThoughts: int
    nextThoughtNeeded: bool
    branches: list[str]
    thoughtHistoryLength: int

    def __str__(self) -> str:
        return self.model_dump_json()


@planning.tool(effect="write", title="Set the goal", stake="never_ask")
async def create_goal(plans: Plans, call: Call, /, goal: Goal) -> Answer:
    """Set the session's goal. A goal before it goes to the archive; the todos stay."""
    plan = await plans.change(call, lambda plan: plan.pursuing(goal))
    return Answer(success=True, goal=plan.goal)


@planning.tool(effect="write", title="Clear the goal", stake="never_ask")
async def clear_goal(plans: Plans, call: Call, /) -> Answer:
    """Close the goal: reached if every todo is done, else given up. It stays in the archive."""
    had: list[str | None] = []
    plan = await plans.change(call, lambda plan: (had.append(plan.goal), plan.without_goal())[1])
    if had[-1] is None:
        return Answer(success=False, goal=None, note="there was no active goal; create_goal sets one")
    return Answer(success=True, goal=None, lastClearedGoal=plan.last_cleared_goal)


@planning.tool(effect="write", title="Add a todo", stake="never_ask")
async def add_todo(
    plans: Plans, call: Call, /, name: Name, priority: Priority = "normal", after: After = None
) -> Answer:
    """Add a step to the end of the plan. Its number is in the answer."""
    plan = await plans.change(call, lambda plan: plan.with_todo(name, priority, after or ()))
    return Answer(success=True, todo=_shown(plan.todos[-1]), todos=_todos(plan))


@planning.tool(effect="write", title="Mark a todo", stake="never_ask")
async def mark_todo(
    plans: Plans,
    call: Call,
    /,
    id: Id,
    completed: bool = True,
    summary: Annotated[str | None, Field(max_length=2_000, description="What came of it")] = None,
) -> Answer:
    """Mark a todo as done (or open again). Marking twice changes nothing."""
    plan = await plans.change(call, lambda plan: plan.marked(id, completed=completed, summary=summary))
    return _about(plan, id)


@planning.tool(effect="write", title="Toggle a todo", stake="never_ask")
async def toggle_todo(plans: Plans, call: Call, /, id: Id) -> Answer:
    """Turn an open todo into a done one, or back. Prefer mark_todo, which is safe to repeat."""
    plan = await plans.change(call, lambda plan: plan.marked(id, completed=not plan.todo(id).completed))
    return _about(plan, id)


@planning.tool(effect="write", title="Change a todo", stake="never_ask")
async def update_todo(
    plans: Plans,
    call: Call,
    /,
    id: Id,
    name: Annotated[str | None, Field(min_length=1, max_length=500)] = None,
    priority: Priority | None = None,
    after: After = None,
    position: Annotated[int | None, Field(ge=1, description="Its new place in the list, from 1")] = None,
) -> Answer:
    """Change a todo's words, priority, place or what it waits for; what is left out stays."""
    plan = await plans.change(
        call, lambda plan: plan.edited(id, name=name, priority=priority, after=after, position=position)
    )
    return _about(plan, id)


@planning.tool(effect="act", title="Remove a todo", stake="never_ask")
async def remove_todo(plans: Plans, call: Call, /, id: Id) -> Answer:
    """Remove one todo. Ids of the others stay."""
    plan = await plans.change(call, lambda plan: plan.without([plan.todo(id).id]))
    return Answer(success=True, todos=_todos(plan))


@planning.tool(effect="act", title="Clear todos", stake="never_ask")
async def clear_todos(
    plans: Plans, call: Call, /, ids: Annotated[list[int] | None, Field(description="Only these; default: all")] = None
) -> Answer:
    """Remove all todos, or those of the given ids. Later todos go on counting."""
    plan = await plans.change(call, lambda plan: plan.without(ids))
    return Answer(success=True, todos=_todos(plan))


@planning.tool(effect="act", title="Clear the session's plan", stake="low")
async def clear_session(plans: Plans, call: Call, /) -> Answer:
    """Forget goal, todos, observations and archive of this session; ids start at 1 again."""
    await plans.forget(call)
    return Answer(success=True)


@planning.tool(effect="write", title="Note an observation", stake="never_ask")
async def add_observation(
    plans: Plans,
    call: Call,
    /,
    observation: Annotated[str, Field(min_length=1, max_length=2_000, description="A fact worth keeping")],
) -> Answer:
    """Keep a fact for later steps. The last ten are shown with the state."""
    plan = await plans.change(call, lambda plan: plan.observing(observation))
    return Answer(success=True, observations=[each.text for each in plan.observations])


@planning.tool(title="Show the plan")
async def get_current_state(plans: Plans, call: Call, /) -> Answer:
    """The goal, all todos with their progress, the last ten observations and past goals."""
    return _state(await plans.get(call))


@planning.tool(effect="write", title="Think in steps", stake="never_ask")
async def sequentialthinking(
    plans: Plans,
    call: Call,
    /,
    thought: Annotated[str, Field(min_length=1, max_length=20_000)],  # noqa: ARG001 - saying it is the use of it
    nextThoughtNeeded: bool,
    thoughtNumber: Annotated[int, Field(ge=1)],
    totalThoughts: Annotated[int, Field(ge=1, description="Your present estimate")],
    isRevision: bool | None = None,  # noqa: ARG001
    revisesThought: Annotated[int | None, Field(ge=1)] = None,  # noqa: ARG001
    branchFromThought: Annotated[int | None, Field(ge=1)] = None,
    branchId: Annotated[str | None, Field(max_length=100)] = None,
    needsMoreThoughts: bool | None = None,  # noqa: ARG001
) -> ThoughtNumbered:
    """Think through a hard problem one numbered thought a call; revise or branch as you learn."""
    plan = await plans.change(call, lambda plan: plan.thinking(branchId if branchFromThought else None))
    return ThoughtNumbered(
        thoughtNumber=thoughtNumber,
        totalThoughts=max(totalThoughts, thoughtNumber),
        nextThoughtNeeded=nextThoughtNeeded,
        branches=list(plan.branches),
        thoughtHistoryLength=plan.thoughts,
    )


@planning.context
async def described(plans: Plans, call: Call) -> tuple[str, dict[str, Any]]:
    """The session's plan as a part of a system prompt, and as data."""
    plan = await plans.get(call)
    return context_text(plan), _state(plan).model_dump(exclude_unset=True, exclude={"success"})


def context_text(plan: Plan) -> str:
    """The plan as a part of a system prompt."""
    goal = f"# Current Goal: {plan.goal}" if plan.goal else "# No active goal"
    lines = [planning.instructions, "", goal]
    lines += [f"Last goal: {plan.last_cleared_goal}"] if plan.last_cleared_goal else []
    lines += ["", "Todos:", *(map(_line, plan.todos) if plan.todos else ["(none)"])]
    lines += ["", "Observations:"]
    lines += [f"{each.number}. {each.text}" for each in plan.observations] or ["(none)"]
    return "\n".join([*lines, "", _next(plan)])


def _line(todo: Todo) -> str:
    notes: list[str] = [todo.priority] if todo.priority != "normal" else []
    notes += [f"after {', '.join(map(str, todo.after))}"] if todo.after else []
    tail = f" ({'; '.join(notes)})" if notes else ""
    summary = f" [{todo.summary}]" if todo.summary else ""
    return f"ID:{todo.id} [{'✓' if todo.completed else ' '}] {todo.name}{tail}{summary}"


def _shown(todo: Todo) -> dict[str, Any]:
    facts = {"id": todo.id, "name": todo.name, "status": "completed" if todo.completed else "pending"}
    more = {"summary": todo.summary, "after": list(todo.after)}
    more["priority"] = "" if todo.priority == "normal" else todo.priority
    return facts | {name: value for name, value in more.items() if value}


def _state(plan: Plan) -> Answer:
    return Answer(
        success=True,
        goal=plan.goal,
        lastClearedGoal=plan.last_cleared_goal,
        todos=_todos(plan),
        observations=[each.text for each in plan.observations],
        pastGoals=[{"goal": each.text, "outcome": each.outcome} for each in plan.past_goals],
        progress=_progress(plan),
        note=_next(plan),
    )


def _todos(plan: Plan) -> list[dict[str, Any]]:
    return [_shown(todo) for todo in plan.todos]


def _about(plan: Plan, number: int) -> Answer:
    return Answer(success=True, todo=_shown(plan.todo(number)), todos=_todos(plan), note=_next(plan))


def _progress(plan: Plan) -> dict[str, int]:
    total = len(plan.todos)
    return {"total": total, "completed": plan.done, "percent": round(100 * plan.done / total) if total else 0}


def _next(plan: Plan) -> str:
    """The todo to take up: the most urgent open one that waits for nothing."""
    done = {todo.id for todo in plan.todos if todo.completed}
    ready = [todo for todo in plan.todos if not todo.completed and done.issuperset(todo.after)]
    if ready:
        todo = min(ready, key=lambda todo: ("high", "normal", "low").index(todo.priority))
        return f"next: todo {todo.id}, {todo.name}"
    if not plan.todos:
        return "add_todo for each step" if plan.goal else "create_goal, then add_todo for each step"
    return "all todos are done: check the result against the goal, then clear_goal"
