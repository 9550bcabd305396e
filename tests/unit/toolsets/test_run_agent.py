"""Agents become tools: their names."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.agents.catalogue import Catalogue
from outrider.core.tool import check_tool_name
from outrider.toolsets.run_agent.tools import _assign_tool_names, slugify_name


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("researcher", "researcher"),
        ("Deep Research", "deep_research"),
        ("a-b.c", "a_b_c"),
        ("a__b", "a_b"),
        ("9to5", "9to5"),
        ("x" * 64, "x" * 41),
    ],
)
def test_a_name_becomes_part_of_a_tools_name(name: str, slug: str):
    assert slugify_name(name) == slug


def test_agents_of_the_same_slug_are_numbered():
    names = _assign_tool_names({"My agent", "my-agent", "my.agent"}, taken_names=())
    assert sorted(names.values()) == ["run_my_agent", "run_my_agent_2", "run_my_agent_3"]


def test_other_tools_keep_their_names():
    assert _assign_tool_names({"code"}, taken_names={"run_code"}) == {"code": "run_code_2"}
    assert _assign_tool_names({"agent tool not available"}, taken_names=()) == {
        "agent tool not available": "run_agent_tool_not_available_2"
    }


def test_the_longest_names_are_numbered_within_the_limit():
    names = _assign_tool_names({"y" * 63 + "1", "y" * 63 + "2"}, taken_names=())
    assert sorted(len(name) for name in names.values()) == [45, 45]


@given(st.sets(st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}\Z"), max_size=8))
@pytest.mark.nightly
def test_every_host_can_take_every_name(given_names: set[str]):
    names = _assign_tool_names(given_names, taken_names={"run_agent"})
    assert len(set(names.values())) == len(given_names)
    for name in names.values():
        check_tool_name(name, 64 - len("builtin_run_agent__"))
        assert re.fullmatch(r"run_[a-z0-9_]+", name)


def test_agents_are_listed_as_their_files_say(tmp_path: Path):
    catalogue = Catalogue(tmp_path / "home", tmp_path / "workspace")
    assert catalogue.describe_agents() == {name: agent.description for name, agent in catalogue.load_files().items()}
    assert set(catalogue.describe_agents()) >= {"researcher", "browser", "analyst"}
    for folder, name in (("home", "researcher"), ("home", "mine"), ("workspace", "mine"), ("workspace", "theirs")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / f"{name}.md").write_text(f"---\ndescription: of the {folder}\n---\nWork.")
    assert catalogue.describe_agents() == {name: agent.description for name, agent in catalogue.load_files().items()}
