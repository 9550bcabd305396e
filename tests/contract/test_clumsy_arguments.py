"""Arguments in the style of other tools are understood; ambiguous ones are refused."""

import json
from pathlib import Path

import pytest

from outrider.core.errors import InvalidInput
from outrider.core.tool import Tool
from support.apps import loopback_app

pytestmark = pytest.mark.anyio
# One line per call: `tool`, the arguments as `sent` and as `meant` by the schema (null: unknowable). Their authors
# had seen only the tools' schemas, and nothing else of Outrider.
CALLS_FILE = Path(__file__).parents[1] / "data" / "clumsy_calls.jsonl"


def is_read_as_meant(tool: Tool, sent: dict[str, object], meant: dict[str, object] | None) -> bool:
    try:
        read = tool.read_arguments(sent)
    except InvalidInput as error:
        return meant is None and bool(error.hint)
    return meant is not None and read.model == tool.parameters.model_validate(meant)


async def test_arguments_in_the_style_of_other_tools_are_read_as_meant(home: Path):
    calls = [json.loads(line) for line in CALLS_FILE.read_text().splitlines()]
    async with loopback_app.open_loopback_app(home, more={"toolsets": ["all"]}) as loopback:
        await loopback.app.toolbox.refresh_tools()
        tools = loopback.app.toolbox.tools
        misread = [call for call in calls if not is_read_as_meant(tools[call["tool"]], call["sent"], call["meant"])]
    assert misread == []
    assert len({call["tool"] for call in calls}) > 80


@pytest.mark.parametrize(
    ("tool", "sent", "notes"),
    [
        ("web_fetch", {"url": "u.example", "raw": True}, ("raw as format=html",)),
        ("web_fetch", {"url": "u.example", "timeout": 30}, ("without timeout",)),
        ("hybridSimilaritySearch", {"query": "tea", "top_n": 40}, ("top_n as options.top_n",)),
        ("waitFor", {"sessionId": "s", "ms": 500}, ("ms as seconds in seconds",)),
        ("execute_shell", {"command": "ls", "timeout": "2m", "description": "List"}, ("timeout as 120",)),
    ],
)
async def test_reinterpreted_arguments_are_reported(
    home: Path, tool: str, sent: dict[str, object], notes: tuple[str, ...]
):
    async with loopback_app.open_loopback_app(home, more={"toolsets": ["all"]}) as loopback:
        assert loopback.app.toolbox.tools[tool].read_arguments(sent).notes == notes


@pytest.mark.parametrize("language", ["es-419", "pt_BR", "zh-Hant-TW"])
async def test_language_tags_with_areas_and_scripts_reach_the_search(home: Path, language: str):
    async with loopback_app.open_loopback_app(home) as loopback:
        found = await loopback.app.call("web_search", query="tea", language=language)
    assert found.data["results"]


async def test_an_unknown_parameter_is_an_error_with_the_next_step(home: Path):
    refused = [
        ("web_fetch", {"url": "u.example", "ofset": 5}, "did you mean 'offset'?"),
        ("web_fetch", {"url": "u.example", "cookies": "a=b"}, "the parameters are"),
        ("clickElement", {"sessionId": "s", "selector": "e1", "cookies": "a=b"}, "the parameters are"),
        ("finish_playbook", {"runId": "r", "succeeded": True, "status": "failed"}, "the parameters are"),
        ("write_file", {"path": "a", "content": "b", "if_exists": "fail"}, "the parameters are"),
        ("web_fetch", {"url": "u.example"} | {f"unknown{number}": 1 for number in range(5_000)}, "the parameters are"),
    ]
    async with loopback_app.open_loopback_app(home, more={"toolsets": ["all"]}) as loopback:
        for tool, sent, hint in refused:
            with pytest.raises(InvalidInput) as caught:
                loopback.app.toolbox.tools[tool].read_arguments(sent)
            assert hint in str(caught.value.hint)
