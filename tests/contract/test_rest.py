"""The REST interface as programs use it: plain HTTP, with a machine-readable description."""

import json
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from starlette.requests import ClientDisconnect

from outrider.core.context import Call
from outrider.core.tool import Toolset
from outrider.core.toolbox import Toolbox
from outrider.serve.host_guard import build_transport_security
from outrider.serve.http import build_http_app
from outrider.serve.mcp import build_mcp_server
from outrider.serve.rest.routes import build_rest_routes
from support.apps import echo_toolset, identity_app
from support.apps.identity_app import ServedApp
from support.fakes import http_servers
from support.timeouts import EVENT_TIMEOUT_S, PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio
OPERATOR_TOKEN = "the-token-of-the-operator"
PROBLEM = "application/problem+json"


@asynccontextmanager
async def serve_echo(
    folder: Path, token: str = "", toolbox: Toolbox | None = None
) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client of a server with the echo's tools over MCP and REST."""
    async with echo_toolset.open_toolbox(folder) as (echo, artifacts):
        routes = build_rest_routes(toolbox or echo, artifacts, build_transport_security(()))
        app = build_http_app({"": build_mcp_server(echo, artifacts)}, token=token, extra_routes=routes)
        async with (
            http_servers.serve_app(app) as url,
            httpx2.AsyncClient(base_url=url, timeout=PROCESS_TIMEOUT_S) as http,
        ):
            yield http


def read_events(text: str) -> list[tuple[str, dict[str, Any]]]:
    """The events of a stream, without comments."""
    events = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            events.append((fields["event"], json.loads(fields["data"])))
    return events


async def test_a_tool_is_called_with_its_arguments_as_the_body(tmp_path: Path):
    async with serve_echo(tmp_path) as http:
        said = await http.post("/v1/tools/say", json={"text": "tea", "times": 2})
        added = await http.post("/v1/tools/add", json={"a": 1, "b": "2"})
        bare = await http.post("/v1/tools/who")
        text = await http.post("/v1/tools/say", json={"text": "tea"}, headers={"Accept": "text/plain"})
    assert said.json() == {"text": "teatea", "meta": {"outrider/untrusted": True}}
    assert added.json()["data"] == {"total": 3}
    assert bare.json()["text"] == "default|None|None|None|None"
    assert (text.text, text.headers["content-type"]) == ("tea", "text/plain; charset=utf-8")


async def test_pages_of_other_ports_cannot_call_tools_without_asking_the_browser_first(tmp_path: Path):
    async with serve_echo(tmp_path) as http:
        page = {"Origin": "http://localhost:3000"}
        bare = await http.post("/v1/tools/who", headers=page)
        plain = await http.post("/v1/tools/who", content=b"{}", headers=page | {"Content-Type": "text/plain"})
        asking = await http.options("/v1/tools/who", headers=page | {"Access-Control-Request-Method": "POST"})
        program = await http.post("/v1/tools/who")
    assert [bare.status_code, plain.status_code, asking.status_code, program.status_code] == [400, 400, 405, 200]
    assert "access-control-allow-origin" not in asking.headers


async def test_pictures_resources_and_links_are_returned_as_json(tmp_path: Path):
    async with serve_echo(tmp_path) as http:
        shown = (await http.post("/v1/tools/show")).json()
    assert shown["text"] == "read me"
    assert shown["images"] == [{"mime_type": "image/png", "base64": "iVBORw=="}]
    assert shown["resources"][0] | {"title": "T", "responseCode": "200", "text": "body"} == shown["resources"][0]
    assert shown["links"] == [{"uri": "outrider://x", "name": "x", "mime_type": "text/plain", "size": 3}]


FAILURES = [
    ("/v1/tools/say", b'{"text": ', 400, "body"),
    ("/v1/tools/say", b"[1]", 400, "body"),
    ("/v1/tools/say", b'{"text": "\xff"}', 400, "body"),
    ("/v1/tools/say", b"{}", 422, "invalid_input"),
    ("/v1/tools/say", b'{"text": "x", "tmies": 2}', 422, "invalid_input"),
    ("/v1/tools/sya", b"{}", 404, "unknown_tool"),
    ("/v1/tools/lose", b"{}", 404, "not_found"),
    ("/v1/tools/later", b"{}", 503, "unavailable"),
    ("/v1/tools/fly", b'{"where": "home"}', 403, "consent_needed"),
    ("/v1/tools/break_down", b"{}", 500, "bug"),
    ("/v1/tools/say", b" " * 5_000_000, 413, "body_too_large"),
]


async def test_every_failure_is_a_problem_document_with_its_status(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.CRITICAL)
    told = {}
    async with serve_echo(tmp_path) as http:
        for path, body, status, code in FAILURES:
            reply = await http.post(path, content=body, headers={"Content-Type": "application/json"})
            told[path, body[:30]] = reply
            assert (reply.status_code, reply.json()["code"]) == (status, code), reply.text
            assert (reply.headers["content-type"], reply.json()["status"]) == (PROBLEM, status)
    assert told["/v1/tools/later", b"{}"].headers["retry-after"] == "30"
    assert told["/v1/tools/lose", b"{}"].json()["details"] == {"seeds": ["a", "b"]}
    assert "say" in told["/v1/tools/sya", b"{}"].json()["hint"]
    assert "secret" not in told["/v1/tools/break_down", b"{}"].text


async def test_requests_that_web_pages_could_forge_are_refused(tmp_path: Path):
    async with serve_echo(tmp_path) as http:
        replies = [
            await http.post("/v1/tools/say", content=b'{"text": "x"}', headers={"Content-Type": "text/plain"}),
            await http.post("/v1/tools/who", headers={"Origin": "https://evil.example"}),
            await http.get("/openapi.json", headers={"Host": "evil.example"}),
            await http.get("/v1/tools", headers={"Host": "localhost:evil.example"}),
            await http.put("/v1/tools/say"),
        ]
    assert [reply.status_code for reply in replies] == [400, 403, 421, 421, 405]
    assert {reply.headers["content-type"] for reply in replies} == {PROBLEM}


async def test_a_token_protects_rest_as_it_protects_mcp(tmp_path: Path):
    async with serve_echo(tmp_path, token="secret") as http:
        replies = [await http.get("/openapi.json"), await http.get("/v1/tools"), await http.post("/v1/tools/who")]
        let_in = await http.post("/v1/tools/who", headers={"Authorization": "Bearer secret"})
    assert [(reply.status_code, reply.headers["content-type"]) for reply in replies] == [(401, PROBLEM)] * 3
    assert {reply.headers["www-authenticate"] for reply in replies} == {"Bearer"}
    assert "Authorization: Bearer" in replies[0].json()["hint"]
    assert let_in.status_code == 200


async def test_a_stream_reports_progress_and_then_the_result(tmp_path: Path):
    stream = {"Accept": "text/event-stream"}
    async with serve_echo(tmp_path) as http:
        waited = await http.post("/v1/tools/wait_for_it", json={"steps": 2}, headers=stream)
        lost = await http.post("/v1/tools/lose", headers=stream)
    events = read_events(waited.text)
    assert waited.headers["content-type"] == "text/event-stream"
    assert events[0] == ("progress", {"progress": 1, "total": 2, "message": "step 1"})
    assert events[-2][1]["data"] == {"label": "x"}
    assert events[-1] == ("result", {"text": "done"})
    assert (lost.status_code, lost.headers["content-type"]) == (404, PROBLEM)


async def test_hanging_up_cancels_the_call(tmp_path: Path):
    begun, ended = anyio.Event(), anyio.Event()
    slow = Toolset("slow", "Waits.", default=True)

    @slow.tool()
    async def wait_long() -> str:
        """Wait until the call is cancelled."""
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()
        return ""

    async with echo_toolset.open_toolbox(tmp_path) as (echo, _):
        toolbox = Toolbox([slow], {}, echo._events)
        for accept in ("application/json", "text/event-stream"):
            begun, ended = anyio.Event(), anyio.Event()
            async with serve_echo(tmp_path, toolbox=toolbox) as http:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(partial(http.post, "/v1/tools/wait_long", headers={"Accept": accept}))
                    with anyio.fail_after(EVENT_TIMEOUT_S):
                        await begun.wait()
                    tasks.cancel_scope.cancel()
                with anyio.fail_after(EVENT_TIMEOUT_S):
                    await ended.wait()


async def test_hanging_up_within_the_body_is_not_a_server_error(tmp_path: Path):
    failures: list[ClientDisconnect] = []
    ended = anyio.Event()

    async with echo_toolset.open_toolbox(tmp_path) as (echo, artifacts):
        routes = build_rest_routes(echo, artifacts, build_transport_security(()))
        app = build_http_app({"": build_mcp_server(echo, artifacts)}, extra_routes=routes)

        async def observe(scope: Any, receive: Any, send: Any) -> None:
            try:
                await app(scope, receive, send)
            except ClientDisconnect as error:
                failures.append(error)
            finally:
                if scope["type"] == "http":
                    ended.set()

        async with http_servers.serve_app(observe) as url:
            address = urlsplit(url)
            head = b"POST /v1/tools/who HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n"
            async with await anyio.connect_tcp(address.hostname or "", address.port or 0) as stream:
                await stream.send(head + b"{")
            with anyio.fail_after(EVENT_TIMEOUT_S):
                await ended.wait()
    assert failures == []


async def test_the_description_is_valid_and_names_every_tool_that_the_caller_has(tmp_path: Path):
    async with serve_echo(tmp_path) as http:
        described = (await http.get("/openapi.json")).json()
        listed = (await http.get("/v1/tools")).json()["tools"]
        single = (await http.get("/openapi.json", params={"toolset": "echoing"})).json()
        unknown = await http.get("/openapi.json", params={"toolset": "cat"})
    OpenAPIV31SpecValidator(described).validate()
    say = described["paths"]["/v1/tools/say"]["post"]
    names = [each["post"]["operationId"] for each in described["paths"].values()]
    assert (say["operationId"], say["description"]) == ("say", "Say it back.")
    assert say["requestBody"]["content"]["application/json"]["schema"]["properties"].keys() == {"text", "times"}
    assert [each["name"] for each in listed] == names
    assert single["paths"] == described["paths"]
    assert (unknown.status_code, unknown.json()["detail"]) == (404, "no toolset 'cat'")


@pytest.fixture(scope="module")
async def team(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[ServedApp]:
    home = tmp_path_factory.mktemp("team")
    async with identity_app.open_served_app(
        home, serve={"token": OPERATOR_TOKEN}, data_dir=str(home / "data")
    ) as opened:
        yield opened


@pytest.mark.nightly
async def test_all_tools_are_described_validly(team: ServedApp):
    headers = {"Authorization": f"Bearer {OPERATOR_TOKEN}"}
    async with httpx2.AsyncClient(base_url=team.url, headers=headers) as http:
        described = (await http.get("/openapi.json")).json()
    OpenAPIV31SpecValidator(described).validate()
    assert {"/v1/tools/web_search", "/v1/tools/web_fetch", "/v1/tools/navigateToUrl"} <= described["paths"].keys()
    assert described["security"] == [{"bearer": []}]


async def test_each_person_has_their_own_tools_state_and_refusals(team: ServedApp):
    ann = await team.issue_token("ann", "acme", toolsets=("planning",))
    bob = await team.issue_token("bob", "acme")

    def act_as(token: str, **headers: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {token}", "X-Outrider-Session": "trip"} | headers

    async with httpx2.AsyncClient(base_url=team.url, timeout=PROCESS_TIMEOUT_S) as http:
        made = await http.post("/v1/tools/create_goal", json={"goal": "see the sea"}, headers=act_as(ann))
        listed = (await http.get("/v1/tools", headers=act_as(ann))).json()["tools"]
        others = await http.post("/v1/tools/get_current_state", headers=act_as(bob))
        refused = await http.post("/v1/tools/createStore", json={"name": "x"}, headers=act_as(ann))
        foreign = await http.post(
            "/v1/tools/get_current_state", headers=act_as(ann, **{"X-Outrider-Workspace": "other"})
        )
        nobody = await http.post("/v1/tools/get_current_state", headers=act_as("outr_wrong"))
    async with team.connect_client(ann) as client:
        seen = await client.call_tool("get_current_state", {}, meta={"session_id": "trip"})
    assert made.status_code == 200
    assert "see the sea" in seen.content[0].text
    assert "see the sea" not in others.text
    assert {each["toolset"] for each in listed} == {"planning"}
    assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_scope")
    assert (foreign.status_code, foreign.headers["content-type"]) == (403, PROBLEM)
    assert (nobody.status_code, nobody.json()["code"]) == (401, "invalid_token")
    assert 'error="invalid_token"' in nobody.headers["www-authenticate"]


async def test_files_are_served_only_within_their_workspace_and_calls_recorded(team: ServedApp):
    ann = await team.issue_token("ann", "acme")
    eve = await team.issue_token("eve", "evil")
    saved = await team.app.artifacts.save(
        b"<p>map", name="map ä.html", mime_type="text/html", session="x", call=Call(workspace="acme")
    )
    path = f"/v1/artifacts/{saved.id}"
    async with httpx2.AsyncClient(base_url=team.url, timeout=PROCESS_TIMEOUT_S) as http:
        mine = await http.get(path, headers={"Authorization": f"Bearer {ann}"})
        hers = await http.get(path, headers={"Authorization": f"Bearer {eve}"})
        nobodys = await http.get(path)
        await http.post("/v1/tools/get_current_state", headers={"Authorization": f"Bearer {ann}"})
    assert (mine.content, mine.headers["content-disposition"].partition(";")[0]) == (b"<p>map", "attachment")
    assert [reply.status_code for reply in (hers, nobodys)] == [404, 401]
    await team.app.events.flush()
    assert "get_current_state" in {record.tool for record in await team.app.events.list_recent()}
