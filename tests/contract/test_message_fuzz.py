"""Every field of every message with every JSON type: the process survives, and its errors are short."""

import json
import subprocess
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from outrider.serve.http import build_http_app
from outrider.serve.mcp import build_mcp_server
from support.apps import echo_toolset
from support.fakes import http_servers
from support.processes import prefork
from support.timeouts import EVENT_TIMEOUT_S, SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio

MAX_ERROR_CHARS = 4_000
ABOUT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
INITIALIZE = {"id": "hello", "method": "initialize", "params": ABOUT}
MESSAGES: list[dict[str, Any]] = [
    INITIALIZE,
    {"id": "x", "method": "ping"},
    {"id": "x", "method": "tools/list", "params": {"cursor": "c", "_meta": {"progressToken": 1}}},
    {
        "id": "x",
        "method": "tools/call",
        "params": {
            "name": "say",
            "arguments": {"text": "hi"},
            "_meta": {"progressToken": "p", "session_id": "s", "assistant_id": "a", "identity": "i"},
        },
    },
    {"id": "x", "method": "resources/list", "params": {}},
    {"id": "x", "method": "resources/read", "params": {"uri": "context://echo"}},
    {"id": "x", "method": "prompts/get", "params": {"name": "p", "arguments": {"a": "b"}}},
    {"id": "x", "method": "completion/complete", "params": {"ref": {"type": "ref/prompt", "name": "p"}}},
    {"id": "x", "method": "logging/setLevel", "params": {"level": "info"}},
    {"id": "x", "method": "outrider/switch_context", "params": {"session_id": "s", "assistant_id": "a"}},
    {"id": "x", "method": "subscriptions/listen", "params": {"notifications": {"toolsListChanged": True}}},
    {"method": "notifications/cancelled", "params": {"requestId": "none", "reason": "r"}},
    {"method": "notifications/progress", "params": {"progressToken": 1, "progress": 1, "total": 2, "message": "m"}},
    {"id": "none", "result": {"content": []}},
    {"id": "none", "error": {"code": 1, "message": "m", "data": {}}},
]
VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    10**30,
    "",
    "\x00",
    "\ud800",
    "x" * 20_000,
    [],
    [[1]],
    {},
    {"a": {"b": []}},
]
VALUES += [json.loads("[" * 200 + "]" * 200), {f"unknown{number}": 1 for number in range(3_000)}]
ARGUMENTS = {"name": "say", "arguments": {f"unknown{number}": 1 for number in range(60_000)}}


def find_fields(message: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, value in message.items() if isinstance(message, dict) else ():
        yield (*above, name)
        yield from find_fields(value, (*above, name))


def list_mutations() -> list[dict[str, Any]]:
    """Yield each message with one field of another type or missing; its own id identifies the answer."""
    mutations = []
    for message in MESSAGES:
        for path in find_fields({"jsonrpc": "2.0"} | message):
            for value in (*VALUES, ...):
                mutated: dict[str, Any] = {"jsonrpc": "2.0"} | deepcopy(message)
                if mutated.get("id") == "x":
                    mutated["id"] = f"m{len(mutations)}"
                *sections, name = path
                inner: Any = mutated
                for section in sections:
                    inner = inner[section]
                if value is ...:
                    del inner[name]
                else:
                    inner[name] = value
                mutations.append(mutated)
    return [*mutations, {"jsonrpc": "2.0", "id": "many", "method": "tools/call", "params": ARGUMENTS}]


async def test_a_process_on_stdio_survives_every_message_and_answers_each_request(tmp_path: Path):
    mutations = list_mutations()
    last = {"jsonrpc": "2.0", "id": "last", "method": "tools/call", "params": MESSAGES[3]["params"]}
    first = [{"jsonrpc": "2.0"} | INITIALIZE, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    lines = b"".join(json.dumps(message).encode() + b"\n" for message in [*first, *mutations, last])
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        done = await anyio.run_process(
            prefork.build_command("support.apps.echo_toolset", tmp_path), input=lines, stderr=subprocess.DEVNULL
        )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    answered = {str(answer.get("id")) for answer in answers}
    asked = {
        mutated["id"]
        for mutated in mutations
        if isinstance(mutated.get("method"), str)
        and mutated["method"] != "subscriptions/listen"
        and mutated.get("jsonrpc") == "2.0"
        and isinstance(mutated.get("id"), str)
        and isinstance(mutated.get("params", {}), dict)
    }
    assert done.returncode == 0
    assert not {each for each in asked if each.startswith("m")} - answered
    assert "hi" in json.dumps(next(answer for answer in answers if answer.get("id") == "last"))
    too_long = [
        text[:300]
        for answer in answers
        if "tools" not in answer.get("result", {})
        and len(text := json.dumps(answer)) > MAX_ERROR_CHARS
        and "x" * 20_000 not in text
    ]
    assert too_long == []


# By day, each field gets a fifth of the values, in turns; a process on stdio gets all of them.
@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.nightly
async def test_a_server_over_http_survives_every_message(tmp_path: Path, step: int):
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
    headers["Content-Type"] = "application/json"
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with (
            echo_toolset.open_toolbox(tmp_path) as parts,
            http_servers.serve_app(build_http_app({"": build_mcp_server(*parts)})) as url,
            httpx2.AsyncClient() as http,
        ):

            async def post(message: dict[str, Any]) -> httpx2.Response:
                return await http.post(f"{url}/mcp", content=json.dumps(message), headers=headers)

            hello = await post({"jsonrpc": "2.0"} | INITIALIZE)
            headers["Mcp-Session-Id"] = hello.headers["mcp-session-id"]
            for mutated in list_mutations()[::-step]:
                if mutated.get("method") != "subscriptions/listen":
                    answer = await post(mutated)
                    assert answer.status_code < 500, mutated
                    assert len(answer.text) <= MAX_ERROR_CHARS or '"tools"' in answer.text or "xxxx" in answer.text
            assert "hi" in (await post({"jsonrpc": "2.0", "id": 1} | MESSAGES[3])).text


async def test_many_calls_under_one_id_over_http_are_all_answered(tmp_path: Path):
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
    app = build_http_app({"": build_mcp_server(*echo_toolset.build_toolbox(tmp_path))})
    answers: list[str] = []
    with anyio.fail_after(EVENT_TIMEOUT_S):
        async with http_servers.serve_app(app) as url, httpx2.AsyncClient() as http:
            hello = await http.post(f"{url}/mcp", json={"jsonrpc": "2.0"} | INITIALIZE, headers=headers)
            headers["Mcp-Session-Id"] = hello.headers["mcp-session-id"]

            async def call(number: int) -> None:
                params = {"name": "say", "arguments": {"text": f"call {number}."}}
                message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
                answers.append((await http.post(f"{url}/mcp", json=message, headers=headers)).text)

            async with anyio.create_task_group() as tasks:
                for number in range(20):
                    tasks.start_soon(call, number)
    assert [number for number in range(20) if not any(f"call {number}." in answer for answer in answers)] == []
