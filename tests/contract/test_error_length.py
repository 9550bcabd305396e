"""No error is longer than a model needs, for any input."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.types import Tool

from outrider.core.text import count_tokens
from support.apps import agent_runs, loopback_app
from support.fakes.model_apis import ModelTurn, play_turns
from support.results import read_text
from support.timeouts import PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio
MAX_ERROR_TOKENS = 120
LONG_WORDS = "several words that say nothing at all " * 500
WIDE_LETTERS = "漢字かな交じり文" * 2_000  # a token or more each
UNKNOWN_FIELDS = {f"unknown_{number}": number for number in range(500)}
CONTROLS = "\0\x1b" * 400
VALUES: list[Any] = [WIDE_LETTERS, LONG_WORDS, CONTROLS, [LONG_WORDS] * 8, {"a": UNKNOWN_FIELDS}, [[[]]], -1]


def list_wrong_calls(tool: Tool) -> list[dict[str, Any]]:
    """Each parameter with control characters; all at once with each value; and fields that no tool has."""
    names = list(tool.input_schema.get("properties", {}))
    calls = [{name: CONTROLS} for name in names] + [dict.fromkeys(names, value) for value in VALUES]
    return [*calls, UNKNOWN_FIELDS, {LONG_WORDS: 1, WIDE_LETTERS: WIDE_LETTERS}]


@pytest.mark.nightly
async def test_no_error_of_any_tool_is_long(home: Path):
    too_long: dict[str, str] = {}
    errors = 0
    async with (
        loopback_app.open_loopback_app(home, more={"assistant": "tester", "toolsets": ["all"]}) as loopback,
        Client(loopback.app.build_server()) as client,
    ):
        for tool in (await client.list_tools()).tools:
            for arguments in list_wrong_calls(tool):
                with anyio.fail_after(PROCESS_TIMEOUT_S):
                    text = await read_error_text(client, tool.name, arguments)
                errors += bool(text)
                if count_tokens(text) > MAX_ERROR_TOKENS:
                    too_long[f"{tool.name} {', '.join(arguments)[:40]}"] = f"{count_tokens(text)}: {text[:400]}"
        for name in (LONG_WORDS, WIDE_LETTERS, "\0" * 500):
            text = await read_error_text(client, name, {})
            if count_tokens(text) > MAX_ERROR_TOKENS:
                too_long[name[:20]] = f"{count_tokens(text)}: {text[:400]}"
    assert errors > 800
    assert too_long == {}


@pytest.mark.nightly
async def test_no_error_that_an_agent_reads_is_long(tables: None):
    calls = [
        (tool, {name: value})
        for tool, name in (("read_file", "path"), ("addContent", "file_url"))
        for value in (WIDE_LETTERS, LONG_WORDS, CONTROLS, UNKNOWN_FIELDS)
    ] + [("read_file", UNKNOWN_FIELDS)]
    turns = play_turns(ModelTurn(calls=calls), ModelTurn(text="That was all."))
    async with agent_runs.open_scripted_app(turns) as scripted:
        await scripted.run_to_end(toolsets=["workspace", "content_store"])
        results = scripted.model_server.requests[-1].results
    assert len(results) == len(calls)
    for (tool, arguments), text in zip(calls, results, strict=True):
        assert text.startswith("error ("), (tool, text)
        assert count_tokens(text) <= MAX_ERROR_TOKENS, (tool, list(arguments)[:1], text)


async def read_error_text(client: Client, tool: str, arguments: dict[str, Any]) -> str:
    """Return the longer of an error's text and data; empty without an error."""
    try:
        result = await client.call_tool(tool, arguments)
    except MCPError as error:
        return error.message
    if not result.is_error:
        return ""
    assert result.structured_content
    as_json = json.dumps(result.structured_content, ensure_ascii=False)  # which some hosts show instead of the text
    return max(read_text(result), as_json, key=count_tokens)
