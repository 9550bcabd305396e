"""The contract of toolset `planning`."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from outrider.app import App
from outrider.core.context import Call
from outrider.core.errors import InvalidInput, NotFound
from support.apps import replicas

pytestmark = pytest.mark.anyio
MINE, OTHERS = Call(session="mine"), Call(session="others")


def open_planning_app(home: Path) -> Any:
    return replicas.open_replicated_app(home, {"toolsets": ["planning"]})


async def read_state(app: App, call: Call = MINE) -> dict[str, Any]:
    return (await app.call("get_current_state", call)).data


async def test_a_plan_is_made_followed_and_shown(home: Path):
    async with open_planning_app(home) as app:
        assert (await app.call("create_goal", MINE, goal="Ship the report")).data["goal"] == "Ship the report"
        first = await app.call("add_todo", MINE, name="Collect sources")
        assert first.data["todo"] == {"id": 1, "name": "Collect sources", "status": "pending"}
        await app.call("add_todo", MINE, name="Write", priority="high", after=[1])
        marked = await app.call("mark_todo", MINE, id=1, summary="nine of them")
        assert marked.data["todo"]["status"] == "completed"
        assert marked.data["note"] == "next: todo 2, Write"
        await app.call("add_observation", MINE, observation="User wants British spelling")
        shown = await read_state(app)
    assert shown["goal"] == "Ship the report"
    assert [todo["status"] for todo in shown["todos"]] == ["completed", "pending"]
    assert shown["observations"] == ["User wants British spelling"]
    assert shown["progress"] == {"total": 2, "completed": 1, "percent": 50}


async def test_a_plan_outlives_the_process(home: Path):
    async with open_planning_app(home) as app:
        await app.call("create_goal", MINE, goal="Remember")
        await app.call("add_todo", MINE, name="one")
        await app.call("clear_todos", MINE)
    async with open_planning_app(home) as app:
        assert (await read_state(app))["goal"] == "Remember"
        assert (await app.call("add_todo", MINE, name="two")).data["todo"]["id"] == 2


async def test_sessions_do_not_see_each_other(home: Path):
    async with open_planning_app(home) as app:
        await app.call("create_goal", MINE, goal="Secret")
        await app.call("add_todo", MINE, name="one")
        assert (await read_state(app, OTHERS))["goal"] is None
        for stranger in (Call(session="mine", workspace="elsewhere"), Call(session="mine", identity="eve@example.org")):
            assert (await read_state(app, stranger))["todos"] == []
        with pytest.raises(NotFound):
            await app.call("mark_todo", OTHERS, id=1)


async def test_clearing_the_goal_ends_it_and_keeps_it_in_the_archive(home: Path):
    async with open_planning_app(home) as app:
        await app.call("create_goal", MINE, goal="First")
        await app.call("create_goal", MINE, goal="Second")
        cleared = await app.call("clear_goal", MINE)
        again = await app.call("clear_goal", MINE)
        shown = await read_state(app)
    assert cleared.data["lastClearedGoal"] == "Second"
    assert again.data["success"] is False
    assert shown["goal"] is None
    assert shown["pastGoals"] == [
        {"goal": "First", "outcome": "replaced"},
        {"goal": "Second", "outcome": "cleared"},
    ]


async def test_marking_is_idempotent_and_toggling_is_not(home: Path):
    async with open_planning_app(home) as app:
        await app.call("add_todo", MINE, name="one")
        for _ in range(2):
            assert (await app.call("mark_todo", MINE, id=1)).data["todo"]["status"] == "completed"
        assert (await app.call("toggle_todo", MINE, id=1)).data["todo"]["status"] == "pending"


async def test_todos_are_changed_moved_and_removed_by_id(home: Path):
    async with open_planning_app(home) as app:
        for name in ("one", "two", "three"):
            await app.call("add_todo", MINE, name=name)
        moved = await app.call("update_todo", MINE, id=3, name="third", position=1)
        assert [todo["id"] for todo in moved.data["todos"]] == [3, 1, 2]
        assert moved.data["todo"]["name"] == "third"
        assert [todo["id"] for todo in (await app.call("remove_todo", MINE, id=1)).data["todos"]] == [3, 2]
        assert (await app.call("clear_todos", MINE, ids=[3, 2])).data["todos"] == []


async def test_an_unknown_id_is_an_error_that_changes_nothing(home: Path):
    async with open_planning_app(home) as app:
        await app.call("add_todo", MINE, name="one")
        with pytest.raises(NotFound, match="no such todo: 9") as caught:
            await app.call("clear_todos", MINE, ids=[1, 9])
        assert len((await read_state(app))["todos"]) == 1
    assert caught.value.hint == "the ids are 1"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("create_goal", {"goal": "  "}), ("add_todo", {"name": ""}), ("mark_todo", {"id": 0}), ("add_todo", {})],
)
async def test_empty_words_and_bad_ids_are_refused(home: Path, tool: str, arguments: dict[str, Any]):
    async with open_planning_app(home) as app:
        with pytest.raises(InvalidInput, match=next(iter(arguments), "name")):
            await app.call(tool, MINE, **arguments)


async def test_the_last_ten_observations_are_shown_and_all_are_kept(home: Path):
    async with open_planning_app(home) as app:
        for number in range(12):
            await app.call("add_observation", MINE, observation=f"fact {number}")
        assert (await read_state(app))["observations"] == [f"fact {number}" for number in range(2, 12)]
        from outrider.plans import PlanStore

        kept = await PlanStore(app.database).list_observations(MINE)
    assert [each.text for each in kept] == [f"fact {number}" for number in range(11, -1, -1)]


async def test_clearing_the_session_starts_over(home: Path):
    async with open_planning_app(home) as app:
        await app.call("create_goal", MINE, goal="x")
        await app.call("add_todo", MINE, name="one")
        await app.call("clear_session", MINE)
        assert (await app.call("add_todo", MINE, name="two")).data["todo"]["id"] == 1
        assert (await read_state(app))["goal"] is None


async def test_concurrent_calls_lose_no_todo(home: Path):
    async with open_planning_app(home) as app, anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(lambda number=number: app.call("add_todo", MINE, name=f"todo {number}"))
    async with open_planning_app(home) as app:
        assert sorted(todo["id"] for todo in (await read_state(app))["todos"]) == list(range(1, 21))


async def test_thoughts_are_counted_and_branches_listed(home: Path):
    thought = {"thought": "hm", "nextThoughtNeeded": True, "totalThoughts": 2}
    async with open_planning_app(home) as app:
        await app.call("sequentialthinking", MINE, **thought, thoughtNumber=1)
        answer = await app.call(
            "sequentialthinking", MINE, **thought, thoughtNumber=3, branchFromThought=1, branchId="b"
        )
    assert answer.data == {
        "thoughtNumber": 3, "totalThoughts": 3, "nextThoughtNeeded": True, "branches": ["b"], "thoughtHistoryLength": 2,
    }  # fmt: skip
