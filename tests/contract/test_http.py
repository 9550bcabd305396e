"""`outrider serve` as network callers see it."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import anyio
import httpx2
import pytest
import uvicorn
from mcp import Client
from pydantic import Field

from outrider.core.artifacts import ArtifactStore
from outrider.core.call_records import CallRecorder
from outrider.core.database.database import Database
from outrider.core.tool import Toolset
from outrider.core.tool_policy import ToolPolicy
from outrider.core.toolbox import Toolbox
from outrider.serve.http import build_http_app
from outrider.serve.mcp import build_mcp_server
from outrider.serve.uvicorn_server import LimitedHttpProtocol
from support.apps import echo_toolset
from support.fakes import http_servers
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = pytest.mark.anyio

NO_IDS = (True, False, 1.5, [1], {}, None)
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def build_app(folder: Path, **options: Any):
    toolbox, artifacts = echo_toolset.build_toolbox(folder)
    alone = {name: build_mcp_server(toolbox.select_toolset(name), artifacts, name=name) for name in ("echo", "echoing")}
    return build_http_app({"": build_mcp_server(toolbox, artifacts), **alone}, **options)


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("stateless", [False, True])
async def test_a_request_without_a_valid_id_is_refused(tmp_path: Path, version: str, stateless: bool):
    async with http_servers.serve_app(build_app(tmp_path, stateless=stateless)) as url, httpx2.AsyncClient() as http:
        headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": version}
        if version != "2026-07-28":
            about = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
            hello = await http.post(
                f"{url}/mcp", json=PING | {"method": "initialize", "params": about}, headers=headers
            )
            headers["Mcp-Session-Id"] = hello.headers["mcp-session-id"]
        replies = [await http.post(f"{url}/mcp", json=PING | {"id": each}, headers=headers) for each in NO_IDS]
        notice = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        noticed = await http.post(f"{url}/mcp", json=notice, headers=headers)
    told = [(reply.status_code, reply.json()["id"], reply.json()["error"]["code"]) for reply in replies]
    assert told == [(400, None, -32600)] * len(NO_IDS)
    assert (noticed.status_code, noticed.content) == (202, b"")


NO_MESSAGES = [
    (b"{nope", -32700, None),
    (b"[]", -32600, None),
    (b'"ping"', -32600, None),
    (b'{"id": 7, "method": "ping"}', -32600, 7),
    (b'{"jsonrpc": "2.0", "id": "seven"}', -32600, "seven"),
]


@pytest.mark.parametrize("body", NO_MESSAGES, ids=str)
async def test_an_invalid_message_is_answered_under_its_id_as_over_stdio(tmp_path: Path, body: tuple[bytes, int, Any]):
    async with http_servers.serve_app(build_app(tmp_path)) as url, httpx2.AsyncClient() as http:
        headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        reply = await http.post(f"{url}/mcp", content=body[0], headers=headers)
    told = reply.json()
    assert (reply.status_code, told["error"]["code"], told["id"]) == (400, body[1], body[2])
    assert "JSON-RPC 2.0" in told["error"]["message"] or '"jsonrpc": "2.0"' in told["error"]["message"]
    assert len(told["error"]["message"]) < 200


async def test_a_header_that_contradicts_its_argument_is_refused_in_either_naming_style(tmp_path: Path):
    mirrors = Toolset("mirrors", "Says where.", default=True)

    @mirrors.tool()
    async def locate(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
        """Say where."""
        return region

    database = Database.from_file(tmp_path / "mirrors.db")
    toolbox = Toolbox([mirrors], {}, CallRecorder(database), ToolPolicy())
    server = build_mcp_server(toolbox, ArtifactStore(tmp_path / "artifacts", database, keep_seconds=60))
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "0"},
    }
    statuses: dict[tuple[str, str], int] = {}
    async with http_servers.serve_app(build_http_app({"": server})) as url, httpx2.AsyncClient() as http:
        for name in ("locate", "builtin_mirrors__locate"):
            for region in ("north", "south"):
                headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28"}
                headers |= {"Mcp-Method": "tools/call", "Mcp-Name": name, "Mcp-Param-Region": region}
                params = {"name": name, "arguments": {"region": "north"}, "_meta": meta}
                body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
                statuses[name, region] = (await http.post(f"{url}/mcp", json=body, headers=headers)).status_code
    assert statuses == {(name, region): 200 if region == "north" else 400 for name, region in statuses}
    await database.close()


async def test_every_toolset_is_also_served_alone_under_each_of_its_names(tmp_path: Path):
    async with http_servers.serve_app(build_app(tmp_path)) as url:
        for path in ("/mcp", "/mcp/echo", "/mcp/echoing"):
            async with Client(url + path) as client:
                assert (await client.call_tool("say", {"text": "a"})).content[0].text == "a"


async def test_an_unknown_toolset_is_answered_with_the_served_paths(tmp_path: Path):
    async with http_servers.serve_app(build_app(tmp_path)) as url, httpx2.AsyncClient() as http:
        reply = await http.post(f"{url}/mcp/parot", json=PING)
    assert reply.status_code == 404
    assert reply.json() == {"error": "no toolset 'parot'", "hint": "served here: /mcp, /mcp/echo, /mcp/echoing"}


async def test_health_is_open_to_load_balancers(tmp_path: Path):
    async with http_servers.serve_app(build_app(tmp_path, token="secret")) as url, httpx2.AsyncClient() as http:
        reply = await http.get(f"{url}/healthz")
    assert (reply.status_code, reply.json()["status"]) == (200, "ok")


@pytest.mark.parametrize("sent", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic secret"}])
async def test_callers_without_the_token_are_told_what_to_send(tmp_path: Path, sent: dict[str, str]):
    async with http_servers.serve_app(build_app(tmp_path, token="secret")) as url, httpx2.AsyncClient() as http:
        reply = await http.post(f"{url}/mcp", json=PING, headers=sent)
    assert reply.status_code == 401
    assert "Bearer" in reply.json()["hint"]
    assert "secret" not in reply.text


@pytest.mark.parametrize("header", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}])
async def test_foreign_hosts_and_origins_are_refused(tmp_path: Path, header: dict[str, str]):
    async with http_servers.serve_app(build_app(tmp_path)) as url, httpx2.AsyncClient() as http:
        reply = await http.post(f"{url}/mcp", json=PING, headers=header)
    assert reply.status_code in {403, 421}


async def test_a_host_that_the_operator_lists_is_accepted(tmp_path: Path):
    web = build_app(tmp_path, allowed_hosts=("tools.example",))
    headers = {"Host": "tools.example", "Accept": "application/json, text/event-stream"}
    async with http_servers.serve_app(web) as url, httpx2.AsyncClient() as http:
        reply = await http.post(f"{url}/mcp", json=PING, headers=headers)
    assert reply.status_code not in {403, 421}


async def test_a_host_or_origin_that_merely_starts_like_ours_is_refused(tmp_path: Path):
    async with http_servers.serve_app(build_app(tmp_path)) as url, httpx2.AsyncClient() as http:
        headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
        about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
        hello = PING | {"method": "initialize", "params": about}
        told = {}
        for name, value in (
            ("Host", "localhost:evil.example"),
            ("Host", "127.0.0.1:1@evil.example"),
            ("Origin", "http://localhost:evil.example"),
            ("Origin", "http://127.0.0.1:80@evil.example"),
            ("Origin", "http://localhost:3000"),
            ("Host", "localhost:3000"),
        ):
            told[value] = (await http.post(f"{url}/mcp", json=hello, headers=headers | {name: value})).status_code
    assert list(told.values()) == [421, 421, 403, 403, 200, 200]


class QuickProtocol(LimitedHttpProtocol):
    header_timeout_s = 0.3
    max_waiting = 20


async def test_half_sent_headers_are_dropped_and_bounded_for_each_address(tmp_path: Path):
    config = uvicorn.Config(build_app(tmp_path), host="127.0.0.1", port=0, http=QuickProtocol, log_level="critical")
    with anyio.fail_after(EVENT_TIMEOUT_S):
        async with http_servers.start_uvicorn(uvicorn.Server(config)) as server, AsyncExitStack() as stack:
            port = server.servers[0].sockets[0].getsockname()[1]
            streams = [await stack.enter_async_context(await anyio.connect_tcp("127.0.0.1", port)) for _ in range(40)]
            for stream in streams:
                with suppress(anyio.BrokenResourceError):
                    await stream.send(b"GET /healthz HTTP/1.1\r\nHost: local")
            for stream in streams:
                with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
                    await stream.receive()
            async with httpx2.AsyncClient() as http:
                for _ in range(30):
                    assert (await http.get(f"http://127.0.0.1:{port}/healthz")).status_code == 200


async def test_a_caller_can_read_the_refusal_while_slowly_sending_the_rest(tmp_path: Path):
    class PatientProtocol(LimitedHttpProtocol):
        header_timeout_s = 0.3

    sent_mb, all_mb = 5, 6
    async with connect(build_app(tmp_path), PatientProtocol) as stream:
        await stream.send(start_post(all_mb * 1_000_000) + bytes(sent_mb * 1_000_000))
        assert (await stream.receive()).startswith(b"HTTP/1.1 413 ")
        with anyio.move_on_after(3 * PatientProtocol.header_timeout_s) as pause:
            await stream.receive()
        assert pause.cancelled_caught
        await stream.send(bytes((all_mb - sent_mb) * 1_000_000) + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert (await stream.receive()).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("sent_mb", [1, 5], ids=["accepted", "refused"])
async def test_a_stalled_body_is_dropped(tmp_path: Path, sent_mb: int):
    class ImpatientProtocol(LimitedHttpProtocol):
        body_timeout_s = 0.3

    async with connect(build_app(tmp_path), ImpatientProtocol) as stream:
        await stream.send(start_post(6_000_000) + bytes(sent_mb * 1_000_000))
        with suppress(anyio.BrokenResourceError):
            async for _ in stream:  # ends when the connection does
                pass


async def test_an_endless_refused_body_is_dropped(tmp_path: Path):
    class StrictProtocol(LimitedHttpProtocol):
        max_dropped_bytes = 1_000_000

    async with connect(build_app(tmp_path), StrictProtocol) as stream:
        await stream.send(start_post(1_000_000_000) + bytes(5_000_000))
        with pytest.raises(anyio.BrokenResourceError):
            await stream.send(bytes(100_000_000))


def start_post(length: int) -> bytes:
    return f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n".encode()


@asynccontextmanager
async def connect(app: Any, protocol: type[LimitedHttpProtocol]) -> AsyncGenerator[anyio.abc.SocketStream]:
    config = uvicorn.Config(app, host="127.0.0.1", port=0, http=protocol, log_level="critical")
    with anyio.fail_after(EVENT_TIMEOUT_S):
        async with http_servers.start_uvicorn(uvicorn.Server(config)) as server:
            port = server.servers[0].sockets[0].getsockname()[1]
            async with await anyio.connect_tcp("127.0.0.1", port) as stream:
                yield stream
