"""Tools of real MCP servers, as programs and at URLs, in both protocol eras."""

import json
import os
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from outrider.agents.remote_tools import RemoteTool, assign_tool_names
from outrider.agents.settings import McpServerSettings
from outrider.core.context import Call, RunContext
from outrider.core.egress.guard import EgressGuard
from outrider.core.egress.policy import EgressSettings
from outrider.core.errors import InvalidInput, NotConfigured, NotFound, OutriderError, Unavailable
from outrider.core.result import ImageBlock, LinkBlock, ResourceBlock, Result, TextBlock
from outrider.serve.remote import RemoteServers
from support.fakes import http_servers, mcp_servers
from support.timeouts import EVENT_TIMEOUT_S, PROCESS_TIMEOUT_S

PROGRAM = str(Path(mcp_servers.__file__))
RUN = RunContext(id="run_1", root_id="run_1", conversation_id="c", agent="a", call_id="call_7")


def build_program_settings(**env: str) -> McpServerSettings:
    # Defects are reported at the start, and leftover processes belong to the process that the host has started.
    starts_anew = {"BROKEN", "CHILD"} & set(env)
    name, *arguments = [sys.executable, PROGRAM] if starts_anew else mcp_servers.build_command()
    return McpServerSettings(command=name, args=arguments, env=env)


@asynccontextmanager
async def open_servers(
    environ: dict[str, str] | None = None, **configured: McpServerSettings
) -> AsyncGenerator[RemoteServers]:
    made = RemoteServers(configured, environ or {}, EgressGuard(EgressSettings()), {"web_look"})
    try:
        with anyio.fail_after(PROCESS_TIMEOUT_S):
            yield made
    finally:
        await made.aclose()


async def find_tool(remote: RemoteServers, server: str, original: str) -> RemoteTool:
    return next(each for each in await remote.list_tools(server) if each.remote_name == original)


async def call_tool(made: RemoteTool, call: Call | None = None, **arguments: Any) -> Result:
    return await made.run({}, call or Call(), made.validate_arguments(arguments))


def read_diary(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    return tmp_path / "diary"


@pytest.mark.parametrize("env", [{}, {"LEGACY": "1"}], ids=["newest", "older"])
@pytest.mark.nightly
async def test_a_programs_tools_are_listed_with_what_they_do(env: dict[str, str]):
    async with open_servers(notes=build_program_settings(**env)) as remote:
        found = {each.remote_name: each for each in await remote.list_tools("notes")}
    say = found["say-it"]
    assert (say.name, say.title, say.input_schema["required"]) == ("notes_say_it", "Say it", ["text"])
    assert {each.untrusted for each in found.values()} == {True}
    assert [(each, found[each].effect, found[each].stake) for each in ("look", "append", "wipe")] == [
        ("look", "read", "never_ask"),
        ("append", "write", "low"),
        ("wipe", "act", "high"),
    ]
    assert found["append"].idempotent
    assert not found["wipe"].idempotent


@pytest.mark.nightly
async def test_a_server_starts_once_at_its_first_use(pages: Path):
    async with open_servers(notes=build_program_settings(DIARY=str(pages))) as remote:
        assert not pages.exists()
        await call_tool(await find_tool(remote, "notes", "look"))
        await call_tool(await find_tool(remote, "notes", "look"))
    assert [each["what"] for each in read_diary(pages)] == ["started", "look", "look"]


async def test_it_ends_with_the_app(pages: Path):
    async with open_servers(notes=build_program_settings(DIARY=str(pages))) as remote:
        await remote.list_tools("notes")
    await wait_until_ended(read_diary(pages)[0]["pid"])


async def test_processes_left_behind_by_a_server_end_with_it(pages: Path):
    async with open_servers(notes=build_program_settings(DIARY=str(pages), CHILD="1")) as remote:
        await remote.list_tools("notes")
    child = next(each["child"] for each in read_diary(pages) if each["what"] == "child")
    await wait_until_ended(child)


async def wait_until_ended(pid: int) -> None:
    """Wait until the process has ended, even if its parent has not collected it yet."""
    with anyio.fail_after(EVENT_TIMEOUT_S):
        while _read_process_state(pid) not in ("", "Z"):
            await anyio.sleep(0.01)


def _read_process_state(pid: int) -> str:
    """Read a process's state: empty once it is gone, Z until it is collected."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""


async def test_a_server_does_not_inherit_our_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-ours")
    async with open_servers(
        {"TOKEN": "t"}, notes=build_program_settings(THEIRS="${TOKEN}", ELSE="${NONE:-there}")
    ) as remote:
        seen = json.loads((await call_tool(await find_tool(remote, "notes", "environment"))).text)
    assert "OPENAI_API_KEY" not in seen
    assert {"THEIRS", "ELSE", "PATH"} <= set(seen)


async def test_every_call_carries_its_idempotency_key(pages: Path):
    async with open_servers(notes=build_program_settings(DIARY=str(pages))) as remote:
        await call_tool(await find_tool(remote, "notes", "append"), Call(run=RUN), text="x")
    assert read_diary(pages)[-1] == {
        "what": "append",
        "pid": read_diary(pages)[0]["pid"],
        "arguments": {"text": "x"},
        "key": "run_1:call_7",
    }


async def test_all_kinds_of_content_come_through():
    async with open_servers(notes=build_program_settings()) as remote:
        result = await call_tool(await find_tool(remote, "notes", "everything"))
    text, picture, page, link = result.content
    assert text == TextBlock("a text with a hidden letter")
    assert isinstance(picture, ImageBlock)
    assert picture.data.startswith(b"\x89PNG")
    assert isinstance(page, ResourceBlock)
    assert (page.uri, page.text) == ("notes://1", "# A note")
    assert link == LinkBlock("https://files.example/report.pdf", "report.pdf", "application/pdf", None)
    assert result.data == {"count": 4}


async def test_resources_named_in_results_can_be_read():
    async with open_servers(notes=build_program_settings()) as remote:
        read = await find_tool(remote, "notes", "read_resource")
        assert (read.name, read.stake, read.untrusted) == ("notes_read_resource", "never_ask", True)
        assert (await call_tool(read, uri="notes://1")).text == "# A note"
        with pytest.raises(InvalidInput, match="there is only notes://1"):
            await call_tool(read, uri="notes://2")


async def test_a_tool_that_fails_says_so_in_its_own_words():
    async with open_servers(notes=build_program_settings()) as remote:
        result = await call_tool(await find_tool(remote, "notes", "fail"))
    assert (result.is_error, result.text) == (True, "no paper left")


async def test_wrong_arguments_are_named_before_anything_is_sent(pages: Path):
    async with open_servers(notes=build_program_settings(DIARY=str(pages))) as remote:
        with pytest.raises(InvalidInput) as caught:
            await call_tool(await find_tool(remote, "notes", "wipe"), text=5)
    assert caught.value.message == "notes_wipe: text: 5 is not of type 'string'"
    assert [each["what"] for each in read_diary(pages)] == ["started"]


async def test_a_server_that_died_is_started_again_for_the_next_call(pages: Path):
    async with open_servers(notes=build_program_settings(DIARY=str(pages))) as remote:
        with pytest.raises(Unavailable) as caught:
            await call_tool(await find_tool(remote, "notes", "die"))
        assert (await call_tool(await find_tool(remote, "notes", "look"))).text == "look: "
    assert caught.value.code == "server_died"
    assert "check that first" in caught.value.hint
    assert [each["what"] for each in read_diary(pages)] == ["started", "die", "started", "look"]


async def test_a_server_killed_while_idle_is_restarted_for_the_next_call(pages: Path):
    async with open_servers(notes=build_program_settings(DIARY=str(pages))) as remote:
        look = await find_tool(remote, "notes", "look")
        os.kill(read_diary(pages)[0]["pid"], 9)
        while await _is_connected(remote):
            await anyio.sleep(0.01)
        assert (await call_tool(look)).text == "look: "


async def _is_connected(remote: RemoteServers) -> bool:
    return remote._connections["notes"]._client is not None


@pytest.mark.parametrize("env", [{}, {"LEGACY": "1"}], ids=["newest", "older"])
async def test_newly_added_tools_are_noticed(env: dict[str, str]):
    async with open_servers(notes=build_program_settings(**env)) as remote:
        before = len(await remote.list_tools("notes"))
        await call_tool(await find_tool(remote, "notes", "grow"))
        while len(await remote.list_tools("notes")) == before:
            await anyio.lowlevel.checkpoint()
        assert (await call_tool(await find_tool(remote, "notes", "fresh"))).text == "fresh: "


async def test_a_local_address_is_reached_because_the_operator_configured_it():
    async with (
        http_servers.serve_app(mcp_servers.build_http_app()) as url,
        open_servers(notes=McpServerSettings(url=f"{url}/mcp")) as remote,
    ):
        assert (await call_tool(await find_tool(remote, "notes", "say-it"), text="hello")).text == "say-it: hello"


async def test_an_address_gets_the_headers_that_were_configured():
    headers = {"Authorization": "Bearer ${TOKEN}"}
    async with http_servers.serve_app(mcp_servers.build_http_app("tok")) as url:
        kept = McpServerSettings(url=f"{url}/mcp", headers=headers)
        async with open_servers({"TOKEN": "tok"}, notes=kept, shut=McpServerSettings(url=f"{url}/mcp")) as remote:
            assert (await call_tool(await find_tool(remote, "notes", "look"))).text == "look: "
            with pytest.raises(NotConfigured) as caught:
                await remote.list_tools("shut")
    assert "HTTP 401" in caught.value.message
    assert "mcpServers.shut.headers.Authorization" in caught.value.hint


@pytest.mark.parametrize(
    ("server", "kind", "said", "remedy"),
    [
        (
            McpServerSettings(command="no-such-program"),
            Unavailable,
            "cannot be started: no-such-program is not on PATH",
            "`no-such-program`",
        ),
        (build_program_settings(BROKEN="1"), Unavailable, "cannot be started: Connection closed", "runs by itself"),
        (McpServerSettings(command="${NOPE}"), NotConfigured, "the environment has no NOPE", "set NOPE"),
        (
            McpServerSettings(url="http://127.0.0.1:9/mcp"),
            Unavailable,
            "cannot be reached",
            "http://127.0.0.1:9/mcp is correct",
        ),
        (McpServerSettings(command="x", disabled=True), NotConfigured, "'x' is disabled", "remove `disabled`"),
    ],
    ids=["nothing", "broken", "variable", "closed port", "disabled"],
)
async def test_a_server_that_cannot_be_used_gives_the_reason(
    server: McpServerSettings, kind: type[OutriderError], said: str, remedy: str
):
    async with open_servers(x=server) as remote:
        with pytest.raises(kind) as caught:
            await remote.list_tools("x")
    assert re.search(said, caught.value.message)
    assert remedy in caught.value.hint


@pytest.mark.nightly
async def test_standard_error_of_a_program_is_logged_without_tokens_and_reported_nowhere_else(
    caplog: pytest.LogCaptureFixture,
):
    started = build_program_settings(BROKEN="${DIARY_TOKEN}")
    async with open_servers({"DIARY_TOKEN": "tok-4711"}, x=started) as remote:
        with pytest.raises(Unavailable) as caught:
            await remote.list_tools("x")
    assert "DIARY_KEY" not in f"{caught.value.message} {caught.value.hint} {caught.value.details}"
    assert "no DIARY_KEY in the environment, only ********" in caplog.text
    assert "tok-4711" not in caplog.text + caught.value.message


async def test_an_unknown_server_is_answered_with_the_nearest_name():
    async with open_servers(notes=build_program_settings()) as remote:
        with pytest.raises(NotFound) as caught:
            await remote.list_tools("note")
    assert caught.value.message == "mcp: no server 'note'"
    assert caught.value.hint.startswith("did you mean 'notes'? add it to ~/.outrider/mcp.json")


def test_names_are_unique_short_and_always_the_same():
    long = "a" * 80
    names = assign_tool_names("My Server", ["get-it", "get_it", "look", long], {"My_Server_look"})
    assert names == assign_tool_names("My Server", [long, "look", "get_it", "get-it"], {"My_Server_look"})
    assert len(set(names.values())) == 4
    assert all(len(name) <= 64 and "__" not in name for name in names.values())
    assert assign_tool_names("run", ["researcher"])["researcher"] != "run_researcher"
