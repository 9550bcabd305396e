"""The contract of `web_eval_agent` and its companions before a browser is opened."""

from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolResult

from support.apps.web_eval_app import open_evaluation_app
from support.results import read_error, read_first_text

pytestmark = pytest.mark.anyio
NOWHERE = "http://127.0.0.1:9"


async def call_without_browser(home: Path, tool: str, **arguments: Any) -> CallToolResult:
    async with open_evaluation_app(home, NOWHERE) as app, Client(app.build_server()) as client:
        return await client.call_tool(tool, arguments)


async def test_the_toolset_has_its_four_tools_under_both_names(home: Path):
    async with open_evaluation_app(home, NOWHERE) as app:
        for name in ("web_eval", "gsd"):
            async with Client(app.build_server(name)) as client:
                tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(tools) == {"web_eval_agent", "setup_browser_state", "get_screenshots", "get_run_events"}
            assert tools["web_eval_agent"].input_schema["required"] == ["url", "task"]


async def test_a_tool_of_two_toolsets_is_listed_once(home: Path):
    async with open_evaluation_app(home, NOWHERE) as app, Client(app.build_server()) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
    assert names.count("setup_browser_state") == 1
    assert "done" not in names


async def test_without_a_model_the_error_names_the_ways_and_steps(home: Path):
    result = await call_without_browser(home, "web_eval_agent", url="example.com", task="Look")
    assert read_error(result)["code"] == "no_model"
    for word in ("ANTHROPIC_API_KEY", "Ollama", "settings.json", "`steps`"):
        assert word in read_first_text(result)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "chrome://version"])
async def test_only_web_addresses_are_opened(home: Path, url: str):
    result = await call_without_browser(home, "web_eval_agent", url=url, task="x", steps=[{"action": "screenshot"}])
    assert read_error(result)["code"] in {"bad_url", "egress", "invalid_input"}


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"mode": "loud"}, "mode"),
        ({"budget_s": 0}, "budget_s"),
        ({"max_steps": -1}, "max_steps"),
        ({"step_timeout_s": 0}, "step_timeout_s"),
        ({"steps": []}, "steps"),
        ({"steps": [{"action": "click"}]}, "steps"),
        ({"steps": [{"action": "goto", "target": "/", "tool": "x"}]}, "steps"),
        ({"steps": [{"action": "screenshot"}], "output_schema": {"type": "nonsense"}}, "output_schema"),
        ({"steps": [{"action": "screenshot"}], "output_schema": {"type": "string"}}, "output_schema"),
        ({"steps": [{"action": "screenshot"}], "output_schema": {"$ref": "http://127.0.0.1:9/x"}}, "output_schema"),
    ],
)
async def test_wrong_arguments_are_named(home: Path, arguments: dict[str, Any], field: str):
    result = await call_without_browser(home, "web_eval_agent", url="example.com", task="x", **arguments)
    assert field in read_error(result)["message"]


@pytest.mark.parametrize("tool", ["get_screenshots", "get_run_events"])
@pytest.mark.nightly
async def test_an_unknown_evaluation_is_an_error(home: Path, tool: str):
    unknown = await call_without_browser(home, tool, session_id="00000000-0000-0000-0000-000000000000")
    none_yet = await call_without_browser(home, tool)
    assert read_error(unknown)["code"] == read_error(none_yet)["code"] == "unknown_session"
    assert "web_eval_agent" in read_first_text(none_yet)


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("get_screenshots", {"screenshot_type": "video"}, "screenshot_type"),
        ("get_run_events", {"event_types": ["video"]}, "event_types"),
    ],
)
async def test_screenshot_and_event_types_are_validated(home: Path, tool: str, arguments: dict[str, Any], field: str):
    assert field in read_error(await call_without_browser(home, tool, **arguments))["message"]


async def test_the_done_tool_is_only_available_to_evaluations(home: Path):
    async with open_evaluation_app(home, NOWHERE) as app, Client(app.build_server()) as client:
        with pytest.raises(Exception, match="no tool 'done'"):
            await client.call_tool("done", {"success": True, "result": "x"})
