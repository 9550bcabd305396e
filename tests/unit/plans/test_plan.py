"""After any change of a plan, ids are stable, the order is kept, and no todo waits for itself."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.core.errors import InvalidInput, NotFound
from outrider.plans import SessionPlan

Step = Callable[[SessionPlan], SessionPlan]
NUMBERS = st.integers(min_value=1, max_value=6)
STEPS = st.one_of(
    st.builds(lambda after: lambda plan: plan.with_todo("do", after=after), st.lists(NUMBERS, max_size=2)),
    st.builds(lambda number, done: lambda plan: plan.mark_todo(number, completed=done), NUMBERS, st.booleans()),
    st.builds(lambda number, after: lambda plan: plan.edit_todo(number, after=after), NUMBERS, st.lists(NUMBERS)),
    st.builds(lambda number, place: lambda plan: plan.move_todo(number, place), NUMBERS, NUMBERS),
    st.builds(lambda number: lambda plan: plan.without_todos([number]), NUMBERS),
    st.builds(lambda text: lambda plan: plan.with_observation(f"saw {text}"), st.text(max_size=5)),
    st.builds(lambda text: lambda plan: plan.with_goal(f"goal {text}"), st.text(max_size=5)),
    st.just(lambda plan: plan.without_goal()),
)


@given(st.lists(STEPS, max_size=25))
def test_after_any_changes_ids_are_unique_and_dependencies_acyclic(steps: list[Step]):
    plan = SessionPlan()
    for step in steps:
        try:
            plan = step(plan)
        except (NotFound, InvalidInput):
            continue
    ids = [todo.id for todo in plan.todos]
    assert len(set(ids)) == len(ids)
    assert all(number < plan.next_id for number in ids)
    assert len(_sort_todos(plan)) == len(ids)
    assert len(plan.observations) <= 10
    assert SessionPlan.from_dict(plan.to_dict()) == plan


def test_an_id_that_is_unknown_is_named_with_its_field():
    plan = SessionPlan().with_todo("a")
    for step, field in (
        (lambda: plan.with_todo("b", after=[9]), "after"),
        (lambda: plan.edit_todo(1, after=[9]), "after"),
        (lambda: plan.without_todos([9]), "ids"),
        (lambda: plan.mark_todo(9, completed=True), "id"),
    ):
        with pytest.raises(NotFound, match=f"^{field}: no such todo: 9"):
            step()


def _sort_todos(plan: SessionPlan) -> list[int]:
    """Return the todos in dependency order; shorter than the plan if there is a cycle."""
    done: list[int] = []
    while new := [todo.id for todo in plan.todos if todo.id not in done and set(todo.after) <= set(done)]:
        done += new
    return done


def test_a_todo_cannot_depend_on_itself_indirectly():
    plan = SessionPlan().with_todo("one").with_todo("two", after=[1]).with_todo("three", after=[2])
    with pytest.raises(InvalidInput, match="todo 1 would wait for itself"):
        plan.edit_todo(1, after=[3])


def test_an_unknown_id_is_answered_with_the_existing_ones():
    with pytest.raises(NotFound) as caught:
        SessionPlan().with_todo("one").with_todo("two").mark_todo(7, completed=True)
    assert "1, 2" in caught.value.hint


def test_a_goal_cleared_with_all_todos_done_was_completed():
    done = SessionPlan().with_goal("ship").with_todo("one").mark_todo(1, completed=True).without_goal()
    given_up = SessionPlan().with_goal("ship").with_todo("one").without_goal()
    assert [each.outcome for each in (*done.past_goals, *given_up.past_goals)] == ["completed", "cleared"]
    assert done.goal is None
    assert done.last_cleared_goal == "ship"


def test_removing_a_todo_unblocks_those_that_waited_for_it():
    plan = SessionPlan().with_todo("one").with_todo("two", after=[1]).without_todos([1])
    assert plan.todos[0].after == ()
    assert plan.with_todo("three").todos[-1].id == 3
