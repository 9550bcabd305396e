"""The catalogue as a whole: the rules for every tool of every toolset."""

import json
import re
from pathlib import Path

import pytest

from outrider import toolsets
from outrider.core.discovery import discover_instances
from outrider.core.text import count_tokens
from outrider.core.tool import Toolset
from outrider.serve.protocol_results import build_tool_entry, count_entry_tokens

TOOLSETS = discover_instances(toolsets, Toolset, nested=True)
# A tool that several toolsets list is one tool.
TOOLS = list({id(tool): tool for toolset in TOOLSETS for tool in toolset.tools.values()}.values())

KEPT = {"clear_goal"}  # what it closes stays in the archive


def test_names_are_unique_over_all_toolsets():
    assert len({tool.name for tool in TOOLS}) == len(TOOLS)


def test_every_tool_has_a_short_description(subtests: pytest.Subtests):
    for tool in TOOLS:
        with subtests.test(tool=tool.name):
            assert tool.description.endswith(".")
            assert len(tool.description) < 400
            assert tool.title
            assert tool.title[0].isupper()


def test_every_tool_forbids_unknown_parameters(subtests: pytest.Subtests):
    for tool in TOOLS:
        with subtests.test(tool=tool.name):
            assert tool.input_schema["additionalProperties"] is False
            assert tool.input_schema["type"] == "object"


def test_tools_that_delete_permanently_are_marked_destructive(subtests: pytest.Subtests):
    for tool in TOOLS:
        with subtests.test(tool=tool.name):
            removes = re.match(r"(?:delete|remove|clear)(?=[A-Z_])", tool.name)
            assert not removes or tool.name in KEPT or tool.effect == "act"


def test_tokens_of_a_tool_are_counted_as_it_is_sent(subtests: pytest.Subtests):
    for tool in TOOLS:
        with subtests.test(tool=tool.name):
            entry = build_tool_entry(tool, tool.name)
            sent = json.dumps(
                entry.model_dump(by_alias=True, exclude_none=True), ensure_ascii=False, separators=(",", ":")
            )
            assert count_entry_tokens(entry) == count_tokens(sent)


@pytest.mark.parametrize("toolset", TOOLSETS, ids=lambda toolset: toolset.name)
def test_every_toolset_explains_its_use_to_the_model(toolset: Toolset):
    assert len(toolset.instructions) > 40
    assert toolset.tools


def test_the_app_respects_its_layers():
    import subprocess
    import sys

    root = Path(__file__).parents[2]
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
