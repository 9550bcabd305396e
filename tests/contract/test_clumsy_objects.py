"""Every tool reads objects inside arguments as leniently as the arguments themselves."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from outrider.core.parameter_names import find_nested_model
from outrider.core.tool import Tool
from support.apps import loopback_app
from support.results import read_error, read_first_text

pytestmark = pytest.mark.anyio
STEP = {"description": "Look", "action": {"toolName": "grep", "purpose": "find it"}, "outputVariable": "lines"}
SEARCH = {"query": "tea", "options": {"top_n": 3, "threshold": 0.5, "mime_type": ["text/plain"], "source": "a.txt"}}
RUN = {"query": "tea", "budget": {"max_steps": 3, "max_seconds": 10, "max_tokens": 500}}
METADATA = {"filename": "a.txt", "mime_type": "text/plain", "title": "A"}
CALLS_WITH_OBJECTS: dict[str, dict[str, Any]] = {
    "createStore": {"metadata": {"name": "tea", "description": "About tea"}},
    "addContent": {"content": "tea", "metadata": METADATA},
    "updateContent": {"content_id": "c1", "content": "tea", "metadata": METADATA},
    "listContent": {"pagination": {"offset": 1, "limit": 5}},
    "listStores": {"pagination": {"offset": 1, "limit": 5}},
    "keywordSimilaritySearch": SEARCH,
    "semanticSimilaritySearch": SEARCH,
    "hybridSimilaritySearch": SEARCH,
    "create_playbook": {"goal": "Tea", "workflow": [STEP], "successCriteria": {"description": "It is hot"}},
    "update_playbook": {
        "id": "p1",
        "playbook": {
            "goal": "Tea",
            "initialCommand": "make tea",
            "inputs": ["water"],
            "workflow": [STEP],
            "successCriteria": {"description": "It is hot", "requiredArtifacts": ["cup"]},
        },
    },
    "run_agent": RUN | {"agent": "analyst"},
    "run_analyst": RUN
    | {"childAgent": {"uri": "agent://dust/w/w1/agents/analyst"}, "executionMode": {"value": "run-agent"}},
    "web_eval_agent": {
        "url": "https://example.com/",
        "task": "look",
        "steps": [{"action": "goto", "target": "https://example.com/"}, {"action": "click", "target": "#go"}],
    },
    "replace_lines_in_file": {"path": "a.txt", "replacements": [{"start_line": 1, "end_line": 2, "new_content": "x"}]},
    "fillForm": {"sessionId": "s1", "fields": [{"selector": "#name", "value": "Ada"}], "submit": "#send"},
    "poll_process": {"process_id": "p1", "tail": {"src": "stderr", "n": 5}},
}
Rewrite = Callable[[Any], Any]


def rewrite_objects(value: Any, rewrite: Rewrite) -> Any:
    """Applies a function to every object inside a value, the innermost first."""
    if isinstance(value, list):
        return [rewrite_objects(each, rewrite) for each in value]
    if isinstance(value, dict):
        return rewrite({name: rewrite_objects(each, rewrite) for name, each in value.items()})
    return value


def swap_case(name: str) -> str:
    """Returns a name in the other of the two usual styles."""
    if "_" in name:
        return re.sub(r"_(\w)", lambda match: match[1].upper(), name)
    return re.sub(r"(?<=[a-z])([A-Z])", lambda match: f"_{match[1].lower()}", name)


def write_numbers_as_text(fields: Any) -> Any:
    return {
        name: str(each) if isinstance(each, int | float) and not isinstance(each, bool) else each
        for name, each in fields.items()
    }


REWRITES: dict[str, Rewrite] = {
    "the other style of names": lambda fields: {swap_case(name): each for name, each in fields.items()},
    "capitals": lambda fields: {name.upper(): each for name, each in fields.items()},
    "JSON text": json.dumps,
    "nulls": lambda fields: {**fields, "unused": None},
    "numbers as text": write_numbers_as_text,
}


def list_nested_parameters(tool: Tool) -> list[str]:
    fields = tool.parameters.model_fields
    return [name for name, field in fields.items() if find_nested_model(field.annotation) is not None]


async def test_every_tool_understands_its_objects_in_every_usual_way(home: Path):
    async with loopback_app.open_loopback_app(home) as loopback:
        await loopback.app.toolbox.refresh_tools()
        tools = loopback.app.toolbox.tools
        with_objects = {name for name, tool in tools.items() if list_nested_parameters(tool)}
        assert {name for name in with_objects if tools[name].toolset != "run_agent"} <= CALLS_WITH_OBJECTS.keys()
        for name, sent in CALLS_WITH_OBJECTS.items():
            meant = tools[name].read_arguments(sent).model
            for way, rewrite in REWRITES.items():
                objects = [each for each in list_nested_parameters(tools[name]) if each in sent]
                clumsy = sent | {each: rewrite_objects(sent[each], rewrite) for each in objects}
                assert tools[name].read_arguments(clumsy).model == meant, (name, way)


async def test_a_playbook_is_changed_by_the_arguments_of_a_clumsy_model(home: Path):
    async with (
        loopback_app.open_loopback_app(home, more={"assistant": "anna"}) as loopback,
        Client(loopback.app.build_server()) as client,
    ):

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, read_first_text(result)
            return result.structured_content["playbook"]

        made = await call("create_playbook", goal="Tea", workflow=[STEP])
        flat_step = {"text": "Boil", "tool": "execute_shell", "reason": "heat", "output": "water", "inputs": None}
        changes = {
            "objective": "Green tea",
            "initial_command": "make tea",
            "steps": json.dumps([flat_step]),
            "success_criteria": {"description": "It is hot", "artifacts": "cup"},
            "inputs": None,
        }
        changed = await call("update_playbook", id=made["id"], playbook=changes)
        assert (changed["goal"], changed["initialCommand"]) == ("Green tea", "make tea")
        step = {"toolName": "execute_shell", "purpose": "heat"}
        assert changed["workflow"][0] | {"action": step, "outputVariable": "water"} == changed["workflow"][0]
        assert changed["successCriteria"] == {"description": "It is hot", "requiredArtifacts": ["cup"]}
        read_back = (await call("get_playbook", id=made["id"])) | {"goal": "Black tea"}
        assert (await call("update_playbook", id=made["id"], playbook=read_back))["goal"] == "Black tea"
        assert (await call("update_playbook", playbook_id=made["id"], goal="White tea"))["goal"] == "White tea"

        refused = await client.call_tool("update_playbook", {"id": made["id"], "playbook": "white tea"})
        assert '{"goal": ' in read_error(refused)["hint"]
