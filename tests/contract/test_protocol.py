"""The protocol layer through the official client, over every transport and protocol era."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from jsonschema import Draft202012Validator
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import ElicitResult, ErrorData, InputRequiredResult

from outrider.serve.http import build_http_app
from outrider.serve.mcp import build_mcp_server
from support.apps import echo_toolset
from support.fakes import http_servers
from support.processes import prefork
from support.results import read_error, read_first_text
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = pytest.mark.anyio

Connect = Callable[..., AbstractAsyncContextManager[Client]]
WAYS = [(transport, mode) for transport in ("memory", "stdio", "http") for mode in ("auto", "legacy")]


@asynccontextmanager
async def in_memory(folder: Path, mode: str, **options: Any) -> AsyncGenerator[Client]:
    async with Client(build_mcp_server(*echo_toolset.build_toolbox(folder)), mode=mode, **options) as client:
        yield client


@asynccontextmanager
async def over_stdio(folder: Path, mode: str, **options: Any) -> AsyncGenerator[Client]:
    program, *arguments = prefork.build_command("support.apps.echo_toolset", folder)
    command = StdioServerParameters(command=program, args=arguments)
    async with Client(command, mode=mode, **options) as client:
        yield client


@asynccontextmanager
async def over_http(folder: Path, mode: str, **options: Any) -> AsyncGenerator[Client]:
    app = build_http_app({"": build_mcp_server(*echo_toolset.build_toolbox(folder))})
    async with http_servers.serve_app(app) as url, Client(f"{url}/mcp", mode=mode, **options) as client:
        yield client


@pytest.fixture(params=WAYS, ids=["-".join(way) for way in WAYS])
def connect(request: pytest.FixtureRequest, tmp_path: Path) -> Connect:
    transport, mode = request.param
    ways = {"memory": in_memory, "stdio": over_stdio, "http": over_http}
    return lambda **options: ways[transport](tmp_path, mode, **options)


async def test_tools_are_listed_with_schemas_effects_and_marks(connect: Connect):
    with anyio.fail_after(EVENT_TIMEOUT_S):
        async with connect() as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert tools["say"].input_schema == {
        "type": "object",
        "properties": {
            "text": {"type": "string", "minLength": 1, "maxLength": 20, "description": "What to say"},
            "times": {"type": "integer", "default": 1},
        },
        "required": ["text"],
        "additionalProperties": False,
    }
    assert tools["say"].output_schema is None
    assert tools["add"].output_schema["properties"]["total"] == {"type": "integer"}
    assert tools["say"].annotations.read_only_hint
    assert tools["fly"].annotations.destructive_hint
    assert tools["say"].meta == {"anthropic/alwaysLoad": True}


async def test_text_results_have_no_structured_content(connect: Connect):
    async with connect() as client:
        result = await client.call_tool("say", {"text": "ahoi", "times": 2})
    assert [item.text for item in result.content] == ["ahoiahoi"]
    assert result.structured_content is None
    assert result.meta["outrider/untrusted"] is True


async def test_data_results_have_equal_text_and_structured_content(connect: Connect):
    async with connect() as client:
        result = await client.call_tool("add", {"a": 2, "b": 3})
    assert result.structured_content == {"total": 5}
    assert read_first_text(result) == "total: 5"


async def test_error_data_also_matches_the_output_schema(connect: Connect):
    async with connect() as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        result = await client.call_tool("add", {"a": "two"})
    assert result.is_error
    assert read_error(result)["code"] == "invalid_input"
    Draft202012Validator(listed["add"].output_schema or False).validate(result.structured_content)


async def test_every_kind_of_item_arrives(connect: Connect):
    async with connect() as client:
        text, image, page, link = (await client.call_tool("show", {})).content
    assert (text.type, image.type, page.type, link.type) == ("text", "image", "resource", "resource_link")
    assert image.data == "iVBORw=="
    assert page.resource.mime_type == "application/vnd.x.page"
    assert page.resource.meta == {"outrider/fields": {"title": "T", "responseCode": "200"}, "seen": True}
    assert link.uri == "outrider://x"


async def test_an_error_names_the_models_next_step(connect: Connect):
    async with connect() as client:
        result = await client.call_tool("lose", {})
    assert result.is_error
    assert read_first_text(result) == "no seed 'x'\nchoose another"
    facts = {"code": "not_found", "kind": "not_found", "retryable": False}
    assert result.structured_content == {"error": facts | {"message": "no seed 'x'", "hint": "choose another"}}
    assert (result.meta or {})["outrider/error"] == {"details": {"seeds": ["a", "b"]}}


async def test_a_temporary_failure_says_when_to_retry(connect: Connect):
    async with connect() as client:
        error = read_error(await client.call_tool("later", {}))
    assert (error["code"], error["retryable"], error["retry_after"]) == ("unavailable", True, 30)


async def test_a_bug_shows_an_incident_and_no_internals(connect: Connect):
    async with connect() as client:
        result = await client.call_tool("break_down", {})
    assert result.is_error
    assert "incident" in read_first_text(result)
    assert "secret internals" not in json.dumps(result.model_dump(mode="json"))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, "text: is required"),
        ({"text": ""}, "text: "),
        ({"text": "x" * 21}, "text: "),
        ({"text": "a", "tims": 2}, "did you mean 'times'?"),
        ({"text": "a", "times": "many"}, "times: "),
    ],
)
async def test_invalid_arguments_are_answered_with_an_error_that_names_the_field(
    tmp_path: Path, arguments: dict[str, Any], expected: str
):
    async with in_memory(tmp_path, "auto") as client:
        result = await client.call_tool("say", arguments)
    assert result.is_error
    assert expected in read_first_text(result)


async def test_an_unknown_tool_is_a_protocol_error_with_the_nearest_name(connect: Connect):
    async with connect() as client:
        with pytest.raises(MCPError, match="did you mean say"):
            await client.call_tool("sey", {})


async def test_progress_reaches_the_caller_that_asked(connect: Connect):
    seen: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    async with connect() as client:
        result = await client.call_tool("wait_for_it", {"steps": 40}, progress_callback=note)
    assert read_first_text(result) == "done"
    assert seen[-1] == (40.0, 40.0, "step 40")
    assert [done for done, _, _ in seen] == sorted({done for done, _, _ in seen})
    assert len(seen) < 10


async def test_context_is_passed_along_with_the_call(connect: Connect):
    meta: Any = {
        "session_id": "s1",
        "assistant_id": "a1",
        "thread_id": "t1",
        "message_id": "m1",
        "stepContext": {"citationsOffset": 8, "citationsCount": 4},
    }
    async with connect() as client:
        result = await client.call_tool("who", {}, meta=meta)
    assert read_first_text(result) == "s1|a1|t1|m1|(8, 4)"


@pytest.mark.parametrize(("allow", "expected"), [(True, "flew to sea"), (False, "the user did not allow fly")])
async def test_a_high_stake_tool_asks_the_person_behind_any_client(connect: Connect, allow: bool, expected: str):
    async def person(context: Any, params: Any) -> ElicitResult:
        assert "Fly away" in params.message
        assert "sea" in params.message
        return ElicitResult(action="accept", content={"allow": allow})

    async with connect(elicitation_callback=person) as client:
        result = await client.call_tool("fly", {"where": "sea"})
    assert read_first_text(result).startswith(expected)
    assert result.is_error is not allow


async def test_closing_a_question_is_not_a_refusal(connect: Connect):
    answers = [ElicitResult(action="cancel"), ElicitResult(action="decline"), None]

    async def person(context: Any, params: Any) -> ElicitResult:
        return answers.pop(0) or ElicitResult(action="accept", content={"allow": True})

    async with connect(elicitation_callback=person) as client:
        closed, declined, allowed = [await client.call_tool("fly", {"where": "sea"}) for _ in range(3)]
    assert read_error(closed)["code"] == "not_answered"
    assert "did not allow" not in read_first_text(closed)
    assert "ask the user, then repeat the call" in read_first_text(closed)
    assert "the user did not allow fly" in read_first_text(declined)
    assert not allowed.is_error


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_that_cannot_ask_is_told_how_to_allow_the_tool(tmp_path: Path, mode: str):
    async with in_memory(tmp_path, mode) as client:
        result = await client.call_tool("fly", {"where": "sea"})
    assert result.is_error
    assert "outrider config set tools.stakes.fly never_ask" in read_first_text(result)


@pytest.mark.parametrize("over", [in_memory, over_http, over_stdio])
async def test_a_failed_dialog_counts_as_refusal_and_explains_how_to_allow_the_tool(tmp_path: Path, over: Any):
    async def person(context: Any, params: Any) -> ErrorData:
        return ErrorData(code=-32603, message="no window to show it in")

    async with over(tmp_path, "legacy", elicitation_callback=person) as client:
        result = await client.call_tool("fly", {"where": "sea"})
    assert read_error(result)["code"] == "consent_needed"
    assert "no window to show it in" in read_first_text(result)
    assert "outrider config set tools.stakes.fly never_ask" in read_first_text(result)


async def test_a_consent_cannot_be_moved_to_other_arguments(tmp_path: Path):
    async def person(context: Any, params: Any) -> ElicitResult:
        raise AssertionError("the test answers by itself")

    async with in_memory(tmp_path, "auto", elicitation_callback=person) as client:
        paused = await client.session.call_tool("fly", {"where": "sea"}, allow_input_required=True)
        assert isinstance(paused, InputRequiredResult)
        yes: Any = {"consent": ElicitResult(action="accept", content={"allow": True})}
        with pytest.raises(MCPError, match="requestState"):
            await client.session.call_tool(
                "fly", {"where": "war"}, request_state=paused.request_state, input_responses=yes
            )


async def test_stakes_are_set_by_the_operator(tmp_path: Path):
    server = build_mcp_server(*echo_toolset.build_toolbox(tmp_path, stakes={"fly": "never_ask"}))
    async with Client(server) as client:
        assert (await client.call_tool("fly", {"where": "sea"})).content[0].text == "flew to sea for default"


async def test_builtin_names_are_listed_and_both_styles_are_understood(tmp_path: Path):
    server = build_mcp_server(*echo_toolset.build_toolbox(tmp_path), style="builtin")
    async with Client(server) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        results = [await client.call_tool(name, {"text": "a"}) for name in ("builtin_echo__say", "say")]
    assert "builtin_echo__say" in names
    assert [read_first_text(result) for result in results] == ["a", "a"]


async def test_artifacts_are_resources(tmp_path: Path):
    async with echo_toolset.open_toolbox(tmp_path) as (toolbox, artifacts):
        kept = await artifacts.save(b"\x89PNG", name="a.png", mime_type="image/png", session="s")
        await artifacts.save(b"not yours", name="b.png", mime_type="image/png", session="other")
        async with Client(build_mcp_server(toolbox, artifacts, session="s")) as client:
            listed = (await client.list_resources()).resources
            read = (await client.read_resource(kept.uri)).contents[0]
            with pytest.raises(MCPError, match="no artifact"):
                await client.read_resource("outrider://artifacts/nope")
    assert [(each.uri, each.name) for each in listed] == [
        ("context://echo", "echo: current state"),
        (kept.uri, "a.png"),
    ]
    assert (read.mime_type, read.blob) == ("image/png", "iVBORw==")
