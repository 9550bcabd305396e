"""The plans of all sessions as a list."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.errors import NotFound
from outrider.plans import PlanStore
from outrider.plans.listing import MAX_SCANNED_ROWS
from outrider.plans.tables import plans as table
from support.databases import sqlite

pytestmark = pytest.mark.anyio


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    opened = Database.from_file(sqlite.create_migrated_file(tmp_path / "outrider.db"))
    yield opened
    await opened.close()


@pytest.fixture
def plans(database: Database) -> PlanStore:
    return PlanStore(database)


async def add_plan(plans: PlanStore, session: str, goal: str, *todos: str) -> None:
    await plans.change(Call(session=session), lambda plan: plan.with_goal(goal))
    for todo in todos:
        await plans.change(Call(session=session), lambda plan, name=todo: plan.with_todo(name))


async def test_plans_are_listed_in_parts_the_last_changed_first(plans: PlanStore):
    for number in range(3):
        await add_plan(plans, f"s{number}", f"Goal {number}")
    await add_plan(plans, "s0", "Another goal")
    first = await plans.list_plans(limit=2)
    assert [(each.session, each.plan.goal) for each in first.items] == [("s0", "Another goal"), ("s2", "Goal 2")]
    rest = await plans.list_plans(limit=2, after=first.after)
    assert [each.session for each in rest.items] == ["s1"]
    assert rest.after == ""


async def test_a_plan_with_nothing_left_to_do_is_done(plans: PlanStore):
    await add_plan(plans, "busy", "Write", "Sketch")
    await add_plan(plans, "idle", "Read", "Open the book")
    await plans.change(Call(session="idle"), lambda plan: plan.mark_todo(1, completed=True).without_goal())
    assert [each.session for each in (await plans.list_plans("open")).items] == ["busy"]
    assert [each.session for each in (await plans.list_plans("done")).items] == ["idle"]


async def test_plans_are_found_by_words_of_any_script(plans: PlanStore):
    await add_plan(plans, "one", "Über den Fluss", "日本語を学ぶ")
    await add_plan(plans, "two", "Something else")
    assert [each.session for each in (await plans.list_plans(text="ÜBER")).items] == ["one"]
    assert [each.session for each in (await plans.list_plans(text="日本")).items] == ["one"]
    assert [each.session for each in (await plans.list_plans(text="TWO")).items] == ["two"]


async def test_rare_matches_are_found_by_following_the_cursor(plans: PlanStore, database: Database):
    await add_plan(plans, "rare", "The needle")
    row = {"workspace": None, "session": "hay", "state": {}, "updated_at": 9e9}
    async with database.write() as connection:
        await connection.execute(table.insert(), [row | {"scope": f"{n:064}"} for n in range(MAX_SCANNED_ROWS)])
    first = await plans.list_plans(text="needle")
    assert not first.items
    assert [each.session for each in (await plans.list_plans(text="needle", after=first.after)).items] == ["rare"]


async def test_plans_of_one_workspace_are_listed_alone(plans: PlanStore):
    await add_plan(plans, "anywhere", "Nothing special")
    await plans.change(Call(session="there", workspace="w"), lambda plan: plan.with_goal("Special"))
    assert [each.session for each in (await plans.list_plans(workspace="w")).items] == ["there"]
    assert (await plans.list_plans(workspace="other")).items == []


async def test_a_plan_and_its_archive_are_found_by_their_scope(plans: PlanStore):
    await add_plan(plans, "mine", "First")
    await add_plan(plans, "mine", "Second")
    await plans.change(Call(session="mine"), lambda plan: plan.with_observation("It rains"))
    scope = Call(session="mine").scope
    assert (await plans.load_scope(scope)).plan.goal == "Second"
    assert [each.text for each in await plans.list_scope_goals(scope)] == ["First"]
    assert [each.text for each in await plans.list_scope_observations(scope)] == ["It rains"]
    with pytest.raises(NotFound):
        await plans.load_scope("nobody's")
