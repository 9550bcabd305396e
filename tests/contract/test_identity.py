"""Test authentication, rights and revocation of tokens over HTTP."""

import json
import logging
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import MCPError
from mcp.types import ElicitResult, EmptyResult, InputRequiredResult, Request

from outrider.cli.doctor_checks import check_identity
from outrider.identity import token_format
from outrider.serve.context import SwitchContextParams
from support.apps import identity_app, loopback_app
from support.apps.identity_app import ServedApp, request_tools_list
from support.apps.mcp_clients import FormAnswerer
from support.fakes import http_servers
from support.results import read_error
from support.timeouts import PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio
OWN = "operators-own-token"


@pytest.fixture(scope="module")
async def team(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[ServedApp]:
    home = tmp_path_factory.mktemp("team")
    async with identity_app.open_served_app(home, serve={"token": OWN}, data_dir=str(home / "data")) as opened:
        yield opened


async def test_the_doctor_reports_missing_tokens_and_the_power_of_serve_token(home: Path):
    async with identity_app.open_served_app(home, serve={"token": OWN}) as empty:
        found = {each.what: each for each in [each async for each in check_identity(empty.app)]}
    none = found["identity: 0 tokens are valid"]
    assert none.state == "bad"
    assert "outrider token create" in none.remedy
    assert [each.state for what, each in found.items() if "serve.token" in what] == ["note"]


async def test_callers_without_credentials_are_told_what_to_send(team: ServedApp):
    reply = await request_tools_list(f"{team.url}/mcp")
    assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer")
    assert "outrider token create" in reply.json()["hint"]


@pytest.mark.parametrize(
    "token",
    [
        "nonsense",
        "outr_nonsense",
        token_format.generate_token(),
        token_format.generate_token()[:-1] + "!",
        "Bearer",
        "a b",
        '"',
        "é".encode("latin-1"),
    ],
    ids=["no form", "our beginning", "nobody's", "a wrong end", "the scheme", "two words", "a quote", "no ASCII"],
)
async def test_an_unknown_token_is_refused_as_an_invalid_bearer_token(team: ServedApp, token: Any):
    text = token if isinstance(token, str) else token.decode("latin-1")
    async with httpx2.AsyncClient() as http:
        reply = await http.post(
            f"{team.url}/mcp", json={}, headers={b"authorization": b"Bearer " + text.encode("latin-1")}
        )
    assert reply.status_code == 401
    assert 'error="invalid_token"' in reply.headers["www-authenticate"]
    assert reply.json()["error"] == "invalid_token"
    assert text not in reply.text.replace("Bearer", "") or len(text) < 4


async def test_two_credentials_in_one_request_are_refused(team: ServedApp):
    token = await team.issue_token("ann", "acme")
    headers = [("authorization", f"Bearer {token}"), ("authorization", "Bearer other")]
    async with httpx2.AsyncClient() as http:
        reply = await http.post(f"{team.url}/mcp", json={}, headers=headers)
    assert reply.status_code == 401


async def test_the_operators_token_acts_for_the_person_it_names(team: ServedApp):
    async with team.connect_client(OWN) as client:
        named: Any = {"identity": "zoe", "workspace": "any"}
        made = await client.call_tool("create_goal", {"goal": "x"}, meta=named)
    assert not made.is_error
    assert (await request_tools_list(f"{team.url}/mcp", OWN + "x")).status_code == 401


async def test_the_health_path_needs_no_credentials(team: ServedApp):
    async with httpx2.AsyncClient() as http:
        assert (await http.get(f"{team.url}/healthz")).status_code == 200


async def test_a_person_sees_only_the_tools_of_their_scopes(team: ServedApp):
    token = await team.issue_token("ann", "acme", toolsets=("planning",))
    async with team.connect_client(token) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        resources = {str(each.uri) for each in (await client.list_resources()).resources}
        prompts = {each.name for each in (await client.list_prompts()).prompts}
        refused = await client.call_tool("createStore", {"name": "x"})
        with pytest.raises(MCPError, match="no toolset"):
            await client.read_resource("context://content_store")
    assert {"create_goal", "get_current_state"} <= tools
    assert "createStore" not in tools
    assert resources == {"context://planning"}
    assert prompts == {"context_planning"}
    assert read_error(refused)["code"] == "insufficient_scope"
    assert "outrider token create" in read_error(refused)["hint"]


async def test_a_viewer_may_use_read_only_tools(team: ServedApp):
    token = await team.issue_token("vera", "acme", role="viewer")
    async with team.connect_client(token) as client:
        tools = (await client.list_tools()).tools
        refused = await client.call_tool("create_goal", {"goal": "x"})
        read = await client.call_tool("get_current_state", {})
    assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
    assert "web_fetch" in {tool.name for tool in tools}
    assert read_error(refused)["code"] == "insufficient_role"
    assert "owner" in read_error(refused)["hint"]
    assert not read.is_error


async def test_a_viewer_reads_pages_and_saves_no_pictures(home: Path):
    picture = (200, {"content-type": "image/png"}, b"\x89PNG\r\n\x1a\n")
    async with AsyncExitStack() as stack:
        site = await stack.enter_async_context(
            http_servers.serve_app(
                loopback_app.build_page_site(
                    {"/page": loopback_app.build_article_html("Tea", "It is made of leaves."), "/tea.png": picture}
                )
            )
        )
        allowed = {"allow": [site.removeprefix("http://")]}
        team = await stack.enter_async_context(identity_app.open_served_app(home, egress=allowed, toolsets=["web"]))
        client = await stack.enter_async_context(
            team.connect_client(await team.issue_token("vera", "acme", role="viewer"))
        )
        page = await client.call_tool("web_fetch", {"url": f"{site}/page"})
        refused = [
            await client.call_tool("web_fetch", {"url": f"{site}/tea.png", "mode": mode}) for mode in ("auto", "image")
        ]
    assert "made of leaves" in str(page.content)
    assert [read_error(each)["code"] for each in refused] == ["insufficient_role"] * 2
    assert not [*home.rglob("*.png")]


async def test_a_token_never_grants_more_than_its_own_role(team: ServedApp):
    token = await team.issue_token("olga", "acme", role="owner")
    lesser = await team.issue_token("olga", role="viewer")
    _, viewing = await team.app.identity().tokens.create("olga", role="viewer")
    async with team.connect_client(viewing) as client:
        assert read_error(await client.call_tool("create_goal", {"goal": "x"}))["code"] == "insufficient_role"
    for whole in (token, lesser):
        async with team.connect_client(whole) as client:
            assert not (await client.call_tool("create_goal", {"goal": "x"})).is_error


async def test_neither_header_nor_request_changes_the_person(team: ServedApp):
    ann = await team.issue_token("ann", "acme", "beta")
    bob = await team.issue_token("bob", "beta")
    async with team.connect_client(ann) as client:
        chosen: Any = {"workspace": "beta"}
        await client.call_tool("create_goal", {"goal": "mine alone"}, meta=chosen)
    spoofed: Any = {"identity": "ann", "x-api-user-email": "ann"}
    async with team.connect_client(bob, X_Api_User_Email="ann") as client:
        seen = await client.call_tool("get_current_state", {}, meta=spoofed)
    assert "mine alone" not in json.dumps(seen.structured_content)
    await team.app.events.flush()
    assert {each.identity for each in await team.app.events.list_recent(1)} == {"bob"}


async def test_a_person_acts_in_one_of_their_workspaces_per_call(team: ServedApp):
    token = await team.issue_token("wanda", "acme", "beta")
    goals: dict[str, str] = {}
    async with team.connect_client(token) as client, team.connect_client(token, X_Outrider_Workspace="beta") as in_beta:
        await client.call_tool("create_goal", {"goal": "first"})
        await in_beta.call_tool("create_goal", {"goal": "second"})
        wishes: dict[str, Any] = {"default": None, "acme": {"workspace": "acme"}, "beta": {"workspace": "beta"}}
        for name, meta in wishes.items():
            state = await client.call_tool("get_current_state", {}, meta=meta)
            goals[name] = state.structured_content["goal"]
        other: Any = {"workspace": "gamma"}
        stranger = await client.call_tool("get_current_state", {}, meta=other)
    assert goals == {"default": "first", "acme": "first", "beta": "second"}
    assert read_error(stranger)["code"] == "workspace"
    assert "acme, beta" in read_error(stranger)["message"]
    reply = await request_tools_list(f"{team.url}/mcp", token, X_Outrider_Workspace="gamma")
    assert (reply.status_code, reply.json()["error"]) == (403, "access_denied")


async def test_a_person_without_a_workspace_is_refused(team: ServedApp):
    token = await team.issue_token("carl", "acme")
    await team.app.identity().workspaces.remove_member("acme", "carl")
    reply = await request_tools_list(f"{team.url}/mcp", token)
    assert reply.status_code == 403
    assert "outrider workspace add" in reply.json()["hint"]


async def test_a_revoked_token_is_rejected_everywhere_within_seconds_and_its_streams_end(team: ServedApp):
    token, shown = await team.issue_token_record("dora", "acme")
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        assert (await request_tools_list(f"{team.url}/mcp", shown)).status_code == 200
        async with open_event_stream(team.url, shown) as stream:
            assert stream.status_code == 200
            await team.app.identity().tokens.revoke(token.id)
            async for _ in stream.aiter_bytes():
                pass  # it ends by itself
        while (reply := await request_tools_list(f"{team.url}/mcp", shown)).status_code != 401:
            assert reply.status_code == 200
    assert "revoked" in reply.json()["error_description"]


@asynccontextmanager
async def open_event_stream(url: str, token: str) -> AsyncGenerator[httpx2.Response]:
    """A subscription, which a server keeps open as long as possible."""
    prefix = "io.modelcontextprotocol/"
    meta = {f"{prefix}protocolVersion": "2026-07-28", f"{prefix}clientCapabilities": {}}
    params = {"_meta": meta, "notifications": {"toolsListChanged": True}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}
    headers = {
        "authorization": f"Bearer {token}",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "subscriptions/listen",
    }
    async with (
        httpx2.AsyncClient(timeout=PROCESS_TIMEOUT_S) as http,
        http.stream("POST", f"{url}/mcp", json=body, headers=headers) as stream,
    ):
        yield stream


async def test_an_older_clients_session_is_its_owners_alone(team: ServedApp):
    ann, bob = await team.issue_token("ann", "acme"), await team.issue_token("bob", "acme")
    start = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start}
    headers = {"accept": "application/json, text/event-stream", "authorization": f"Bearer {ann}"}
    async with httpx2.AsyncClient() as http:
        opened = await http.post(f"{team.url}/mcp", json=body, headers=headers)
        session = {"mcp-session-id": opened.headers["mcp-session-id"]}
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        stolen = await http.post(
            f"{team.url}/mcp", json=ping, headers=headers | session | {"authorization": f"Bearer {bob}"}
        )
        own = await http.post(f"{team.url}/mcp", json=ping, headers=headers | session)
        await http.delete(f"{team.url}/mcp", headers=headers | session)
    assert (stolen.status_code, own.status_code) == (404, 200)


async def test_a_paused_call_is_resumed_with_any_token_of_its_person(team: ServedApp):
    ann, again, bob = [await team.issue_token(name, "acme") for name in ("ann", "ann", "bob")]
    async with team.connect_client(ann, answer_form=FormAnswerer(None)) as client:
        first = await client.session.call_tool("execute_shell", {"command": "true"}, allow_input_required=True)
    assert isinstance(first, InputRequiredResult)
    answers = {name: ElicitResult(action="accept", content={"allow": False}) for name in first.input_requests or {}}
    resumed: dict[str, Any] = {"request_state": first.request_state, "input_responses": answers}
    async with team.connect_client(bob, answer_form=FormAnswerer(None)) as client:
        with pytest.raises(MCPError, match="belongs to another caller"):
            await client.session.call_tool("execute_shell", {"command": "true"}, **resumed)
    async with team.connect_client(again, answer_form=FormAnswerer(None)) as client:
        done = await client.session.call_tool("execute_shell", {"command": "true"}, **resumed)
    assert "did not allow" in read_error(done)["message"]


async def test_older_protocol_versions_do_not_bypass_authentication(team: ServedApp):
    token, shown = await team.issue_token_record("hans", "acme", toolsets=("planning",))
    async with team.connect_client(shown, mode="legacy") as client:
        made = await client.call_tool("create_goal", {"goal": "by hans"})
        refused = await client.call_tool("createStore", {"name": "x"})
        foreign = SwitchContextParams(sessionId="default", workspace="beta")
        request: Any = Request[SwitchContextParams, str](method="outrider/switch_context", params=foreign)
        await client.session.send_request(request, EmptyResult)
        switched = await client.call_tool("get_current_state", {})
    await team.app.events.flush()
    first = (await team.app.identity().audit.list_recent(person="hans"))[-1]
    assert not made.is_error
    assert (first.detail, first.workspace, first.credential) == ("create_goal", "acme", token.id)
    assert read_error(refused)["code"] == "insufficient_scope"
    assert read_error(switched)["code"] == "workspace"


async def test_the_audit_names_person_action_token_and_address(team: ServedApp):
    token, shown = await team.issue_token_record("edda", "acme")
    async with team.connect_client(shown) as client:
        await client.call_tool("create_goal", {"goal": "x"})
        anna: Any = {"assistant_id": "anna"}
        await client.call_tool("get_playbook", {"id": "none"}, meta=anna)
    await team.app.events.flush()
    acts = await team.app.identity().audit.list_recent(person="edda", workspace="acme")
    facts = [(each.action, each.detail, each.outcome, each.credential, each.address) for each in acts]
    assert facts == [
        ("call", "get_playbook", "playbook_not_found", token.id, "127.0.0.1"),
        ("call", "create_goal", "ok", token.id, "127.0.0.1"),
    ]
    await team.app.identity().audit.record("token.revoke", token.id, credential="command line")
    newest = (await team.app.identity().audit.list_recent(1))[0]
    assert (newest.action, newest.detail) == ("token.revoke", token.id)


async def test_no_stored_form_of_a_token_grants_access(team: ServedApp):
    shown = await team.issue_token("fay", "acme")
    await request_tools_list(f"{team.url}/mcp", shown)
    await request_tools_list(f"{team.url}/mcp", shown[:-1] + ("a" if shown[-1] != "a" else "b"))
    async with team.connect_client(shown) as client:
        await client.call_tool("create_goal", {"goal": "x"})
    await team.app.events.flush()
    folder: Path = team.app.loaded.settings.data_dir
    kept = b"".join(path.read_bytes() for path in folder.glob("outrider.db*"))
    assert token_format.hash_token(shown).encode() in kept
    assert shown[5:].encode() not in kept
    assert shown[5:40].encode() not in kept


async def test_logs_contain_no_credentials(team: ServedApp, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    shown, wrong = await team.issue_token("gil", "acme"), token_format.generate_token()
    async with team.connect_client(shown) as client:
        await client.call_tool("createStore", {"name": "x"})
    await request_tools_list(f"{team.url}/mcp", wrong)
    await request_tools_list(f"{team.url}/mcp", shown, X_Outrider_Workspace="gamma")
    ours = "\n".join(
        record.getMessage() for record in caplog.records if not record.name.startswith(("httpcore", "hpack"))
    )
    assert shown not in ours
    assert wrong not in ours
