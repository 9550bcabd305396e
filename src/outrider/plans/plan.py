"""What a plan is, and how it changes: every change gives a new plan and leaves the old one as it was."""

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from outrider.core.errors import InvalidInput, NotFound, Refused

Priority = Literal["low", "normal", "high"]
GoalOutcome = Literal["completed", "cleared", "replaced"]


@dataclass(frozen=True)
class Todo:
    """One thing to do. `after` are the ids of todos that come first; times are seconds since the epoch."""

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
    """Something that was noticed; `number` counts all of a session's from 1."""

    number: int
    text: str
    at: float


@dataclass(frozen=True)
class PastGoal:
    """A goal that is no longer pursued."""

    number: int
    text: str
    outcome: GoalOutcome
    at: float


@dataclass(frozen=True)
class SessionPlan:
    """A session's goal, todos and latest observations.

    Attributes:
        goal: What is pursued; None for nothing.
        last_cleared_goal: The goal before it that was given up or reached.
        todos: In the order in which they stand.
        observations: The last ten, oldest first.
        past_goals: The last ten, oldest first.
        next_id: Of the next todo.
        observed, left: How many observations and past goals there are in all.
        thoughts: How many thoughts were numbered, and the names of their branches.
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
        """How many todos are completed."""
        return sum(todo.completed for todo in self.todos)

    def get_todo(self, number: int, field_name: str = "id") -> Todo:
        """The todo of that id. Raises NotFound, naming those that there are, and the field that named this one."""
        for todo in self.todos:
            if todo.id == number:
                return todo
        there = ", ".join(str(todo.id) for todo in self.todos)
        raise NotFound(
            f"{field_name}: there is no todo {number}",
            hint=f"the ids are {there}" if there else "there are no todos; add_todo makes one",
            code="todo_not_found",
        )

    def with_goal(self, goal: str) -> "SessionPlan":
        """With another goal; the todos stay, the goal before goes to the archive."""
        return replace(self._archive_goal("replaced"), goal=_require_text("goal", goal))

    def without_goal(self) -> "SessionPlan":
        """With the goal in the archive: completed if every todo is, else cleared. Unchanged if there is none."""
        if self.goal is None:
            return self
        reached = bool(self.todos) and self.done == len(self.todos)
        return replace(
            self._archive_goal("completed" if reached else "cleared"), goal=None, last_cleared_goal=self.goal
        )

    def with_todo(self, name: str, priority: Priority = "normal", after: Iterable[int] = ()) -> "SessionPlan":
        """With one more todo at the end. Raises NotFound for an unknown id in `after`, Refused at 500 todos."""
        max_todos = 500
        if len(self.todos) >= max_todos:
            raise Refused(f"this session has {max_todos} todos", hint="clear_todos with the ids of finished ones")
        first = tuple(dict.fromkeys(self.get_todo(number, "after").id for number in after))
        todo = Todo(self.next_id, _require_text("name", name), priority=priority, after=first, created_at=self.now)
        return replace(self, todos=(*self.todos, todo), next_id=self.next_id + 1)

    def mark_todo(self, number: int, *, completed: bool, summary: str | None = None) -> "SessionPlan":
        """With a todo done or open again; a summary stays unless another is given. Marking twice changes nothing."""
        todo = self.get_todo(number)
        when = (todo.completed_at or self.now) if completed else None
        said = todo.summary if summary is None else summary.strip()
        return self._replace_todo(replace(todo, completed=completed, summary=said, completed_at=when))

    def edit_todo(
        self,
        number: int,
        *,
        name: str | None = None,
        priority: Priority | None = None,
        after: Iterable[int] | None = None,
        position: int | None = None,
    ) -> "SessionPlan":
        """With a todo changed in what is given; `position` counts from 1. Raises InvalidInput for a circle."""
        todo = self.get_todo(number)
        if name is not None:
            todo = replace(todo, name=_require_text("name", name))
        if priority is not None:
            todo = replace(todo, priority=priority)
        if after is not None:
            todo = replace(todo, after=self._resolve_predecessors(number, after))
        changed = self._replace_todo(todo)
        return changed if position is None else changed.move_todo(number, position)

    def move_todo(self, number: int, position: int) -> "SessionPlan":
        """With a todo at another place, from 1; beyond the end means last."""
        others = [todo for todo in self.todos if todo.id != number]
        at = min(max(position, 1), len(self.todos)) - 1
        return replace(self, todos=(*others[:at], self.get_todo(number), *others[at:]))

    def without_todos(self, numbers: Iterable[int] | None = None) -> "SessionPlan":
        """Without these todos, or without any. Raises NotFound, and then nothing is removed."""
        gone = (
            {todo.id for todo in self.todos} if numbers is None else {self.get_todo(each, "ids").id for each in numbers}
        )
        kept = (todo for todo in self.todos if todo.id not in gone)
        todos = tuple(replace(todo, after=tuple(each for each in todo.after if each not in gone)) for todo in kept)
        return replace(self, todos=todos)

    def with_observation(self, text: str) -> "SessionPlan":
        """With one more observation."""
        max_observations = 10  # that a plan shows; all of them are kept
        number = self.observed + 1
        latest = (*self.observations, Observation(number, _require_text("observation", text), self.now))
        return replace(self, observations=latest[-max_observations:], observed=number)

    def with_thought(self, branch: str | None = None) -> "SessionPlan":
        """With one more thought, of a branch where one is named."""
        branches = dict.fromkeys([*self.branches, *([branch] if branch else [])])
        return replace(self, thoughts=self.thoughts + 1, branches=tuple(branches))

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON-able data."""
        return {name: value for name, value in asdict(self).items() if name != "now"}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "SessionPlan":
        """The plan that `to_dict` gave."""
        given = dict(data)
        given["todos"] = tuple(Todo(**(todo | {"after": tuple(todo["after"])})) for todo in data["todos"])
        given["observations"] = tuple(Observation(**each) for each in data["observations"])
        given["past_goals"] = tuple(PastGoal(**each) for each in data["past_goals"])
        given["branches"] = tuple(data["branches"])
        return cls(**given)

    def _archive_goal(self, outcome: GoalOutcome) -> "SessionPlan":
        max_past_goals = 10
        if self.goal is None:
            return self
        past = (*self.past_goals, PastGoal(self.left + 1, self.goal, outcome, self.now))
        return replace(self, past_goals=past[-max_past_goals:], left=self.left + 1)

    def _replace_todo(self, changed: Todo) -> "SessionPlan":
        return replace(self, todos=tuple(changed if todo.id == changed.id else todo for todo in self.todos))

    def _resolve_predecessors(self, number: int, after: Iterable[int]) -> tuple[int, ...]:
        wanted = tuple(dict.fromkeys(self.get_todo(each, "after").id for each in after))
        waiting, seen = list(wanted), set(wanted)
        while waiting:
            each = waiting.pop()
            if each == number:
                raise InvalidInput(f"after: todo {number} would wait for itself", hint="leave out one of these ids")
            new = set(self.get_todo(each).after) - seen
            seen |= new
            waiting += new
        return wanted


def _require_text(field_name: str, text: str) -> str:
    text = text.strip()
    if not text:
        raise InvalidInput(f"{field_name}: is empty", hint=f"say the {field_name} in a few words")
    return text
