"""Immutable plans; every change returns a new plan."""

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from outrider.core.errors import InvalidInput, NotFound, Refused

Priority = Literal["low", "normal", "high"]
GoalOutcome = Literal["completed", "cleared", "replaced"]


@dataclass(frozen=True)
class Todo:
    """A todo; `after` are the ids of todos that must be done before, times are seconds since the epoch."""

    id: int
    name: str
    completed: bool = False
    summary: str = ""
    priority: Priority = "normal"
    after: tuple[int, ...] = ()
    created_at: float = 0.0
    completed_at: float | None = None


@dataclass(frozen=True)
class Observation:
    """A note of the session; `number` counts all of its observations from 1."""

    number: int
    text: str
    at: float


@dataclass(frozen=True)
class PastGoal:
    """A goal that was completed, cleared or replaced."""

    number: int
    text: str
    outcome: GoalOutcome
    at: float


@dataclass(frozen=True)
class SessionPlan:
    """A session's goal, todos and latest observations.

    Attributes:
        goal: The active goal, if any.
        last_cleared_goal: The goal that was last completed or cleared.
        todos: The todos in order.
        observations: The last ten, oldest first.
        past_goals: The last ten, oldest first.
        next_id: Id of the next todo.
        observed: Number of all observations.
        left: Number of all past goals.
        thoughts: Number of thoughts.
        branches: Names of the thoughts' branches.
        now: Time of the next change, in seconds since the epoch.
    """

    goal: str | None = None
    last_cleared_goal: str | None = None
    todos: tuple[Todo, ...] = ()
    observations: tuple[Observation, ...] = ()
    past_goals: tuple[PastGoal, ...] = ()
    next_id: int = 1
    observed: int = 0
    left: int = 0
    thoughts: int = 0
    branches: tuple[str, ...] = ()
    now: float = field(default_factory=time.time, compare=False)

    @property
    def done(self) -> int:
        """Number of completed todos."""
        return sum(todo.completed for todo in self.todos)

    def get_todo(self, number: int, field_name: str = "id") -> Todo:
        """Return the todo with that id. Raises NotFound, naming the existing ids and the wrong parameter."""
        for todo in self.todos:
            if todo.id == number:
                return todo
        ids = ", ".join(str(todo.id) for todo in self.todos)
        raise NotFound(
            f"{field_name}: no such todo: {number}",
            hint=f"the ids are {ids}" if ids else "there are no todos; add_todo makes one",
            code="todo_not_found",
        )

    def with_goal(self, goal: str) -> "SessionPlan":
        """Return the plan with another goal; the todos stay, the old goal is archived."""
        return replace(self._archive_goal("replaced"), goal=_require_text("goal", goal))

    def without_goal(self) -> "SessionPlan":
        """Return the plan with the goal archived: as completed if every todo is, else as cleared."""
        if self.goal is None:
            return self
        is_completed = bool(self.todos) and self.done == len(self.todos)
        archived = self._archive_goal("completed" if is_completed else "cleared")
        return replace(archived, goal=None, last_cleared_goal=self.goal)

    def with_todo(self, name: str, priority: Priority = "normal", after: Iterable[int] = ()) -> "SessionPlan":
        """Return the plan with a new todo. Raises NotFound for an unknown id in `after`, Refused at 500 todos."""
        max_todos = 500
        if len(self.todos) >= max_todos:
            raise Refused(f"this session has {max_todos} todos", hint="clear_todos with the ids of finished ones")
        predecessors = tuple(dict.fromkeys(self.get_todo(number, "after").id for number in after))
        name = _require_text("name", name)
        todo = Todo(self.next_id, name, priority=priority, after=predecessors, created_at=self.now)
        return replace(self, todos=(*self.todos, todo), next_id=self.next_id + 1)

    def mark_todo(self, number: int, *, completed: bool, summary: str | None = None) -> "SessionPlan":
        """Return the plan with a todo completed or open again; without a new summary the old one stays."""
        todo = self.get_todo(number)
        completed_at = (todo.completed_at or self.now) if completed else None
        summary = todo.summary if summary is None else summary.strip()
        return self._replace_todo(replace(todo, completed=completed, summary=summary, completed_at=completed_at))

    def edit_todo(
        self,
        number: int,
        *,
        name: str | None = None,
        priority: Priority | None = None,
        after: Iterable[int] | None = None,
        position: int | None = None,
    ) -> "SessionPlan":
        """Return the plan with a todo changed; `position` counts from 1. Raises InvalidInput for a cycle."""
        todo = self.get_todo(number)
        if name is not None:
            todo = replace(todo, name=_require_text("name", name))
        if priority is not None:
            todo = replace(todo, priority=priority)
        if after is not None:
            predecessors = tuple(dict.fromkeys(self.get_todo(other, "after").id for other in after))
            unvisited, seen = list(predecessors), set(predecessors)
            while unvisited:
                current = unvisited.pop()
                if current == number:
                    raise InvalidInput(f"after: todo {number} would wait for itself", hint="leave out one of these ids")
                new = set(self.get_todo(current).after) - seen
                seen |= new
                unvisited += new
            todo = replace(todo, after=predecessors)
        changed = self._replace_todo(todo)
        return changed if position is None else changed.move_todo(number, position)

    def move_todo(self, number: int, position: int) -> "SessionPlan":
        """Return the plan with a todo at another position, from 1; past the end means last."""
        others = [todo for todo in self.todos if todo.id != number]
        index = min(max(position, 1), len(self.todos)) - 1
        return replace(self, todos=(*others[:index], self.get_todo(number), *others[index:]))

    def without_todos(self, numbers: Iterable[int] | None = None) -> "SessionPlan":
        """Return the plan without these todos, or without any. Raises NotFound for an unknown id."""
        if numbers is None:
            return replace(self, todos=())
        removed = {self.get_todo(number, "ids").id for number in numbers}
        todos = [
            replace(todo, after=tuple(number for number in todo.after if number not in removed))
            for todo in self.todos
            if todo.id not in removed
        ]
        return replace(self, todos=tuple(todos))

    def with_observation(self, text: str) -> "SessionPlan":
        """Return the plan with a new observation."""
        number = self.observed + 1
        observations = (*self.observations, Observation(number, _require_text("observation", text), self.now))
        return replace(self, observations=observations[-10:], observed=number)

    def with_thought(self, branch: str | None = None) -> "SessionPlan":
        """Return the plan with one more thought counted, on a branch if one is named."""
        branches = dict.fromkeys([*self.branches, *([branch] if branch else [])])
        return replace(self, thoughts=self.thoughts + 1, branches=tuple(branches))

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON-able data."""
        return {name: value for name, value in asdict(self).items() if name != "now"}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "SessionPlan":
        """Return the plan that `to_dict` encoded."""
        values = dict(data)
        values["todos"] = tuple(Todo(**(todo | {"after": tuple(todo["after"])})) for todo in data["todos"])
        values["observations"] = tuple(Observation(**observation) for observation in data["observations"])
        values["past_goals"] = tuple(PastGoal(**goal) for goal in data["past_goals"])
        values["branches"] = tuple(data["branches"])
        return cls(**values)

    def _archive_goal(self, outcome: GoalOutcome) -> "SessionPlan":
        if self.goal is None:
            return self
        past_goals = (*self.past_goals, PastGoal(self.left + 1, self.goal, outcome, self.now))
        return replace(self, past_goals=past_goals[-10:], left=self.left + 1)

    def _replace_todo(self, changed: Todo) -> "SessionPlan":
        return replace(self, todos=tuple(changed if todo.id == changed.id else todo for todo in self.todos))


def _require_text(field_name: str, text: str) -> str:
    text = text.strip()
    if not text:
        raise InvalidInput(f"{field_name}: is empty", hint=f"describe the {field_name} in a few words")
    return text
