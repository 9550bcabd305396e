"""Test agents' files and the errors for invalid ones."""

from pathlib import Path

import pytest

from outrider.agents.catalogue import Catalogue
from outrider.agents.definition import Agent, Budgets, build_agent, parse_agent, render_agent
from outrider.core.database.database import Database
from outrider.core.errors import InvalidInput, NotConfigured, NotFound

GOOD = """---
description: Compares prices
model: [sonnet, "openai:gpt"]
toolsets: web, browser
tools: run_researcher
stakes: {"*": high, web_fetch: low}
budgets: {steps: 3, cost: 0.5}
---

You compare prices.
--- not the end ---
"""


def test_a_file_holds_everything_about_an_agent():
    agent = parse_agent(GOOD, "x.md", name="prices")
    assert (agent.name, agent.model, agent.toolsets) == ("prices", ["sonnet", "openai:gpt"], ["web", "browser"])
    assert (agent.tools, agent.stakes["web_fetch"]) == (["run_researcher"], "low")
    assert (agent.budgets.steps, agent.budgets.cost, agent.budgets.seconds) == (3, 0.5, None)
    assert agent.instructions == "You compare prices.\n--- not the end ---"


def test_a_rendered_agent_parses_to_the_same_agent():
    agent = parse_agent(GOOD, "x.md", name="prices")
    assert parse_agent(render_agent(agent), "y.md") == agent


@pytest.mark.parametrize(
    ("text", "message", "remedy"),
    [
        ("You are.", "no front matter", "line of ---"),
        ("---\ndescription: x\n", "does not end", "add a line of ---"),
        ("---\ndescription: a: b\n---\nx", "not valid YAML (line 2)", "quote"),
        ("---\n- a\n---\nx", "not a list of `name: value`", "one field on each line"),
        ("---\ndescription: x\n---\n", "instructions: ", "correct 'instructions'"),
        ("---\nmodel: x\n---\nx", "description: is required", "add 'description'"),
        ("---\ndescription: x\ntoolset: web\n---\nx", "toolset: no such parameter", "did you mean 'toolsets'?"),
        ("---\ndescription: x\nstakes: {a: sometimes}\n---\nx", "stakes.a", "never_ask, low or high"),
        ("---\ndescription: x\nbudgets: {steps: 0}\n---\nx", "budgets.steps", "correct 'budgets.steps'"),
        ("---\ndescription: x\nname: ../x\n---\nx", "name: ", "letters, digits"),
    ],
)
def test_mistakes_are_named_with_their_remedy(text: str, message: str, remedy: str):
    with pytest.raises(InvalidInput) as caught:
        parse_agent(text, "my.md", name="my")
    assert caught.value.message.startswith("my.md")
    assert message in caught.value.message
    assert remedy in caught.value.hint or "stakes" in message


def test_front_matter_cannot_say_where_it_comes_from():
    agent = parse_agent("---\ndescription: x\norigin: kind\n---\nx", "x.md", origin="workspace", name="x")
    assert agent.origin == "workspace"


def test_the_built_in_agents_are_valid(tmp_path: Path):
    catalogue = Catalogue(tmp_path / "home", tmp_path / "workspace")
    assert set(catalogue.load_files()) == {"analyst", "browser", "researcher"}
    assert catalogue.list_problems() == []
    assert all(agent.origin == "kind" and agent.toolsets for agent in catalogue.load_files().values())


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    home, workspace = tmp_path / "mine", tmp_path / "theirs"
    home.mkdir()
    workspace.mkdir()
    return home, workspace


def write_agent_file(folder: Path, name: str, description: str) -> None:
    (folder / f"{name}.md").write_text(f"---\ndescription: {description}\n---\nDo.\n")


def test_a_users_file_overrides_a_built_in_agent_and_a_workspaces_file_does_not(folders: tuple[Path, Path]):
    home, workspace = folders
    write_agent_file(home, "researcher", "mine")
    write_agent_file(workspace, "researcher", "theirs")
    write_agent_file(workspace, "browser", "theirs")
    write_agent_file(workspace, "helper", "theirs")
    catalogue = Catalogue(home, workspace)
    found = catalogue.load_files()
    assert (found["researcher"].description, found["researcher"].origin) == ("mine", "home")
    assert found["browser"].origin == "kind"
    assert found["helper"].origin == "workspace"
    assert ["exists already" in each.message for each in catalogue.list_problems()] == [True, True]


def test_files_are_read_again_when_they_change(folders: tuple[Path, Path]):
    home, workspace = folders
    catalogue = Catalogue(home, workspace)
    write_agent_file(home, "a", "one")
    assert catalogue.load_files()["a"].description == "one"
    write_agent_file(home, "a", "number two")
    assert catalogue.load_files()["a"].description == "number two"
    (home / "a.md").write_text("broken")
    assert "a" not in catalogue.load_files()
    assert "no front matter" in catalogue.list_problems()[0].message


async def test_an_agent_with_a_broken_file_is_not_reported_as_missing(folders: tuple[Path, Path]):
    home, workspace = folders
    (home / "a.md").write_text("broken")
    with pytest.raises(NotConfigured, match=r"agent 'a': .*no front matter"):
        await Catalogue(home, workspace).get("a")
    with pytest.raises(NotFound, match="agent 'b' does not exist"):
        await Catalogue(home, workspace).get("b")


async def test_agents_may_also_be_rows_and_belong_to_a_workspace(folders: tuple[Path, Path], database: Database):
    catalogue = Catalogue(*folders, database)
    agent = build_agent({"name": "shared", "description": "x", "instructions": "y"}, "here")
    await catalogue.save(agent)
    await catalogue.save(agent.model_copy(update={"description": "for w"}), "w")
    assert (await catalogue.get("shared")).description == "x"
    assert (await catalogue.get("shared", "w")).description == "for w"
    assert (await catalogue.get("shared")).origin == "row"
    with pytest.raises(NotFound) as caught:
        await catalogue.get("sharde")
    assert "shared" in caught.value.hint


def test_budgets_are_filled_from_defaults_and_clamped_to_limits():
    own, scripted = Budgets(steps=90, cost=1), Budgets(steps=50, seconds=600)
    assert own.fill_from(scripted) == Budgets(steps=90, seconds=600, cost=1)
    assert own.clamp_to(scripted) == Budgets(steps=50, seconds=600, cost=1)


def test_an_agent_is_immutable():
    agent = Agent(name="a", description="b", instructions="c")
    with pytest.raises(ValueError, match="frozen"):
        agent.name = "other"  # ty: ignore
