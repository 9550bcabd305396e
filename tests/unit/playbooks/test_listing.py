"""The playbooks of all assistants as a list."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.errors import NotFound
from outrider.playbooks import PlaybookStore
from outrider.playbooks.playbook import Action, Step, Workflow
from support.databases import sqlite

pytestmark = pytest.mark.anyio


@pytest.fixture
async def playbooks(tmp_path: Path) -> AsyncGenerator[PlaybookStore]:
    database = Database.from_file(sqlite.create_migrated_file(tmp_path / "outrider.db"))
    yield PlaybookStore(database)
    await database.close()


def build_workflow(goal: str, step: str = "Look it up") -> Workflow:
    return Workflow(goal=goal, workflow=[Step(description=step, action=Action(toolName="web_search", purpose="find"))])


async def test_the_playbooks_of_all_assistants_are_listed_in_parts(playbooks: PlaybookStore):
    for name in ("ann", "bob", "cid"):
        await playbooks.create(Call(assistant=name), build_workflow(f"Goal of {name}"))
    first = await playbooks.list_playbooks(limit=2)
    assert [each.assistant for each in first.items] == ["cid", "bob"]
    rest = await playbooks.list_playbooks(limit=2, after=first.after)
    assert [each.assistant for each in rest.items] == ["ann"]
    assert rest.after == ""


async def test_playbooks_are_found_by_their_words(playbooks: PlaybookStore):
    for number in range(3):
        await playbooks.create(Call(assistant="a"), build_workflow(f"Über {number}", "Mahlzeit"))
    await playbooks.create(Call(assistant="a"), build_workflow("Else"))
    first = await playbooks.list_playbooks(text="über", limit=2)
    assert [each.content.goal for each in first.items] == ["Über 2", "Über 1"]
    rest = await playbooks.list_playbooks(text="MAHLZEIT", limit=2, after=first.after)
    assert [each.content.goal for each in rest.items] == ["Über 0"]


async def test_the_playbooks_of_one_workspace_are_listed_alone(playbooks: PlaybookStore):
    await playbooks.create(Call(assistant="a"), build_workflow("Anywhere"))
    await playbooks.create(Call(assistant="a", workspace="w"), build_workflow("There"))
    assert [each.content.goal for each in (await playbooks.list_playbooks(workspace="w")).items] == ["There"]
    assert (await playbooks.list_playbooks(workspace="other")).items == []


async def test_a_playbook_is_found_by_id_whoever_owns_it(playbooks: PlaybookStore):
    kept = await playbooks.create(Call(assistant="a", workspace="w"), build_workflow("Mine"))
    assert await playbooks.find(kept.id) == kept
    with pytest.raises(NotFound):
        await playbooks.find("unknown")
