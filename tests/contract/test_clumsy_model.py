"""A clumsy model calls every toolset wrongly, and is understood or told what to do next."""

from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from pydantic import ValidationError

from outrider.app import App
from outrider.core.call_history import CallFilter, CallHistory
from outrider.core.call_records import CallRecord
from outrider.core.text import count_tokens
from support.apps import loopback_app
from support.clumsy_calls import CLUMSY_CALLS, NEAREST_TOOLS
from support.results import read_error, read_first_text

pytestmark = pytest.mark.anyio
CALLS_SENT_AND_MEANT = [(tool, sent, meant) for tool, calls in CLUMSY_CALLS.items() for sent, meant in calls]
MAX_ERROR_TOKENS = 120
PRIVATE_VALUE = "[private]"


async def call_for_error(client: Client, tool: str, sent: Any, session: str) -> str:
    """Returns the text of an error with its hint, or nothing; every error must have both."""
    try:
        result = await client.call_tool(tool, sent, meta={"session_id": session})
    except MCPError as error:
        return error.message
    if not result.is_error or "error" not in (result.structured_content or {}):
        return ""  # understood, although the execution may have failed
    assert read_error(result).get("hint"), (tool, sent, read_first_text(result))
    return read_first_text(result)


async def read_recorded_calls(app: App) -> dict[str, CallRecord]:
    await app.events.flush()
    batch = await CallHistory(app.database).list_batch(CallFilter(), limit=1_000)
    return {record.session: record for record in batch.items}


def is_understood(app: App, record: CallRecord, meant: dict[str, Any]) -> bool:
    """Whether the call ran with the intended arguments."""
    tool = app.toolbox.get_tool(record.tool)
    hidden = {name: PRIVATE_VALUE if name in tool.private else value for name, value in meant.items()}
    try:
        return tool.parameters.model_validate(record.arguments) == tool.parameters.model_validate(hidden)
    except ValidationError:  # it was refused, and recorded unchanged
        return False


async def test_a_clumsy_model_is_understood_or_gets_the_next_step(home: Path):
    more = {"assistant": "tester", "toolsets": ["all"]}
    async with (
        loopback_app.open_loopback_app(home, more=more) as loopback,
        Client(loopback.app.build_server()) as client,
    ):
        answers = {
            f"call-{number}": await call_for_error(client, tool, sent, f"call-{number}")
            for number, (tool, sent, _) in enumerate(CALLS_SENT_AND_MEANT)
        }
        records = await read_recorded_calls(loopback.app)
        misread = []
        for session, (tool, sent, meant) in zip(answers, CALLS_SENT_AND_MEANT, strict=True):
            if meant is not None and not is_understood(loopback.app, records[session], meant):
                misread.append((tool, sent, answers[session] or records[session].arguments))

    assert len(CALLS_SENT_AND_MEANT) >= 200
    assert misread == []
    assert sum(meant is not None for *_, meant in CALLS_SENT_AND_MEANT) >= 150
    too_long = [answer for answer in answers.values() if count_tokens(answer) > MAX_ERROR_TOKENS]
    assert too_long == []
    for answer, (tool, sent, meant) in zip(answers.values(), CALLS_SENT_AND_MEANT, strict=True):
        assert meant is not None or answer, f"{tool} took {sent}, which could mean two things"
        assert NEAREST_TOOLS.get(tool, "") in answer


async def test_the_last_line_of_a_result_names_reinterpreted_arguments(home: Path):
    async with (
        loopback_app.open_loopback_app(home) as loopback,
        Client(loopback.app.build_server()) as client,
    ):
        result = await client.call_tool("web_search", {"q": "tea", "limit": 2, "mode": "WEB", "site": None})
        plain = await client.call_tool("web_search", {"query": "tea", "num_results": "2", "mode": None})
    assert len(result.structured_content["results"]) == len(plain.structured_content["results"]) == 2
    assert result.content[-1].text == "Understood: q as query; limit as num_results; mode as web"
    assert len(plain.content) == 1


async def test_a_hint_names_no_tool_that_is_withheld(home: Path):
    more = {"tools": {"disable": ["createSession", "clickElement"]}}
    async with (
        loopback_app.open_loopback_app(home, more=more) as loopback,
        Client(loopback.app.build_server()) as client,
    ):
        missing = await client.call_tool("hoverElement", {"ref": "e1"})
        with pytest.raises(MCPError) as unknown:
            await client.call_tool("browser_click", {})
    for text in (read_first_text(missing), unknown.value.message):
        assert "createSession" not in text
        assert "clickElement" not in text
    assert read_error(missing)["hint"]
