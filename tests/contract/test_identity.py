"""Tokens at the door: who comes in, what they see and may do there, and how they are put out again."""

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

from outrider.cli.recognising import recognising
from outrider.identity import secret
from outrider.serve.switch import SwitchParams
from support.apps import identity_app, loopback_app
from support.apps.identity_app import Team, knock
from support.apps.mcp_clients import Person
from support.fakes import http_servers
from support.results import error

pytestmark = pytest.mark.anyio
OWN = "operators-own-token"


@pytest.fixture(scope="module")
async def team(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Team]:
    home = tmp_path_factory.mktemp("team")
    async with identity_app.opened(home, serve={"token": OWN}, data_dir=str(home / "data")) as opened:
        yield opened


async def test_the_doctor_says_that_nobody_could_come_in_yet_and_that_one_key_opens_everything(home: Path):
    async with identity_app.opened(home, serve={"token": OWN}) as empty:
        found = {each.what: each for each in [each async for each in recognising(empty.app)]}
    none = found["identity: 0 tokens are good"]
    assert none.state == "bad"
    assert "outrider token create" in none.remedy
    assert [each.state for what, each in found.items() if "serve.token" in what] == ["note"]


async def test_whoever_shows_nothing_hears_what_to_send(team: Team):
    reply = await knock(f"{team.url}/mcp")
    assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer")
    assert "outrider token create" in reply.json()["hint"]


@pytest.mark.parametrize(
    "token",
    ["nonsense", "outr_nonsense", secret.made(), secret.made()[:-1] + "!", "Bearer", "a b", '"', "é".encode("latin-1")],
    ids=["no form", "our beginning", "nobody's", "a wrong end", "the scheme", "two words", "a quote", "no ASCII"],
)
async def test_what_is_no_token_of_ours_is_refused_as_bearer_tokens_are(team: Team, token: Any):
    text = token if isinstance(token, str) else token.decode("latin-1")
    async with httpx2.AsyncClient() as http:
        reply = await http.post(
            f"{team.url}/mcp", json={}, headers={b"authorization": b"Bearer " + text.encode("latin-1")}
        )
    assert reply.status_code == 401
    assert 'error="invalid_token"' in reply.headers["www-authenticate"]
    assert reply.json()["error"] == "invalid_token"
    assert text not in reply.text.replace("Bearer", "") or len(text) < 4


async def test_two_credentials_at_once_are_none(team: Team):
    token = await team.holds("ann", "acme")
    headers = [("authorization", f"Bearer {token}"), ("authorization", "Bearer other")]
    async with httpx2.AsyncClient() as http:
        reply = await http.post(f"{team.url}/mcp", json={}, headers=headers)
    assert reply.status_code == 401


async def test_the_operators_own_token_still_lets_in_and_acts_for_whom_it_names(team: Team):
    async with team.as_(OWN) as client:
        named: Any = {"identity": "zoe", "workspace": "any"}
        made = await client.call_tool("create_goal", {"goal": "x"}, meta=named)
    assert not made.is_error
    assert (await knock(f"{team.url}/mcp", OWN + "x")).status_code == 401


async def test_what_stands_beside_mcp_keeps_its_own_door(team: Team):
    async with httpx2.AsyncClient() as http:
        assert (await http.get(f"{team.url}/healthz")).status_code == 200


async def test_a_person_sees_the_tools_of_their_scopes_and_no_others(team: Team):
    token = await team.holds("ann", "acme", toolsets=("planning",))
    async with team.as_(token) as client:
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
    assert error(refused)["code"] == "insufficient_scope"
    assert "outrider token create" in error(refused)["hint"]


async def test_a_viewer_may_use_what_only_reads(team: Team):
    token = await team.holds("vera", "acme", role="viewer")
    async with team.as_(token) as client:
        tools = (await client.list_tools()).tools
        refused = await client.call_tool("create_goal", {"goal": "x"})
        read = await client.call_tool("get_current_state", {})
    assert {tool.name for tool in tools if not (tool.annotations and tool.annotations.read_only_hint)} == {"web_fetch"}
    assert error(refused)["code"] == "insufficient_role"
    assert "owner" in error(refused)["hint"]
    assert not read.is_error


async def test_a_viewer_reads_pages_and_saves_no_pictures(home: Path):
    picture = (200, {"content-type": "image/png"}, b"\x89PNG\r\n\x1a\n")
    async with AsyncExitStack() as stack:
        site = await stack.enter_async_context(
            http_servers.serve(
                loopback_app.pages({"/page": loopback_app.article("Tea", "It is made of leaves."), "/tea.png": picture})
            )
        )
        allowed = {"allow": [site.removeprefix("http://")]}
        team = await stack.enter_async_context(identity_app.opened(home, egress=allowed, toolsets=["web"]))
        client = await stack.enter_async_context(team.as_(await team.holds("vera", "acme", role="viewer")))
        page = await client.call_tool("web_fetch", {"url": f"{site}/page"})
        refused = [
            await client.call_tool("web_fetch", {"url": f"{site}/tea.png", "mode": mode}) for mode in ("auto", "image")
        ]
    assert "made of leaves" in str(page.content)
    assert [error(each)["code"] for each in refused] == ["insufficient_role"] * 2
    assert not [*home.rglob("*.png")]


async def test_a_token_gives_no_more_than_its_own_role(team: Team):
    token = await team.holds("olga", "acme", role="owner")
    lesser = await team.holds("olga", role="viewer")
    _, viewing = await team.app.identity().tokens.create("olga", role="viewer")
    async with team.as_(viewing) as client:
        assert error(await client.call_tool("create_goal", {"goal": "x"}))["code"] == "insufficient_role"
    for whole in (token, lesser):
        async with team.as_(whole) as client:
            assert not (await client.call_tool("create_goal", {"goal": "x"})).is_error


async def test_neither_header_nor_request_changes_who_somebody_is(team: Team):
    ann = await team.holds("ann", "acme", "beta")
    bob = await team.holds("bob", "beta")
    async with team.as_(ann) as client:
        chosen: Any = {"workspace": "beta"}
        await client.call_tool("create_goal", {"goal": "mine alone"}, meta=chosen)
    spoofed: Any = {"identity": "ann", "x-api-user-email": "ann"}
    async with team.as_(bob, X_Api_User_Email="ann") as client:
        seen = await client.call_tool("get_current_state", {}, meta=spoofed)
    assert "mine alone" not in json.dumps(seen.structured_content)
    await team.app.events.flush()
    assert {each.identity for each in await team.app.events.recent(1)} == {"bob"}


async def test_a_person_acts_in_one_workspace_a_call_and_only_in_their_own(team: Team):
    token = await team.holds("wanda", "acme", "beta")
    goals: dict[str, str] = {}
    async with team.as_(token) as client, team.as_(token, X_Outrider_Workspace="beta") as in_beta:
        await client.call_tool("create_goal", {"goal": "first"})
        await in_beta.call_tool("create_goal", {"goal": "second"})
        wishes: dict[str, Any] = {"default": None, "acme": {"workspace": "acme"}, "beta": {"workspace": "beta"}}
        for name, meta in wishes.items():
            state = await client.call_tool("get_current_state", {}, meta=meta)
            goals[name] = state.structured_content["goal"]
        other: Any = {"workspace": "gamma"}
        stranger = await client.call_tool("get_current_state", {}, meta=other)
    assert goals == {"default": "first", "acme": "first", "beta": "second"}
    assert error(stranger)["code"] == "workspace"
    assert "acme, beta" in error(stranger)["message"]
    reply = await knock(f"{team.url}/mcp", token, X_Outrider_Workspace="gamma")
    assert (reply.status_code, reply.json()["error"]) == (403, "access_denied")


async def test_who_is_in_no_workspace_any_more_is_not_let_in(team: Team):
    token = await team.holds("carl", "acme")
    await team.app.identity().workspaces.remove("acme", "carl")
    reply = await knock(f"{team.url}/mcp", token)
    assert reply.status_code == 403
    assert "outrider workspace add" in reply.json()["hint"]


async def test_a_revoked_token_is_good_nowhere_within_seconds_and_loses_its_open_streams(team: Team):
    token, shown = await team.given("dora", "acme")
    with anyio.fail_after(60):
        assert (await knock(f"{team.url}/mcp", shown)).status_code == 200
        async with listening(team.url, shown) as stream:
            assert stream.status_code == 200
            await team.app.identity().tokens.revoke(token.id)
            async for _ in stream.aiter_bytes():
                pass  # it ends by itself
        while (reply := await knock(f"{team.url}/mcp", shown)).status_code != 401:
            assert reply.status_code == 200
    assert "revoked" in reply.json()["error_description"]


@asynccontextmanager
async def listening(url: str, token: str) -> AsyncGenerator[httpx2.Response]:
    """A subscription, which a server keeps open for as long as it may."""
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
        httpx2.AsyncClient(timeout=60) as http,
        http.stream("POST", f"{url}/mcp", json=body, headers=headers) as stream,
    ):
        yield stream


async def test_an_older_clients_session_is_its_owners_alone(team: Team):
    ann, bob = await team.holds("ann", "acme"), await team.holds("bob", "acme")
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


async def test_a_paused_call_is_resumed_by_whoever_made_it_with_any_token_of_theirs(team: Team):
    ann, again, bob = [await team.holds(name, "acme") for name in ("ann", "ann", "bob")]
    async with team.as_(ann, person=Person(None)) as client:
        first = await client.session.call_tool("execute_shell", {"command": "true"}, allow_input_required=True)
    assert isinstance(first, InputRequiredResult)
    answers = {name: ElicitResult(action="accept", content={"allow": False}) for name in first.input_requests or {}}
    resumed: dict[str, Any] = {"request_state": first.request_state, "input_responses": answers}
    async with team.as_(bob, person=Person(None)) as client:
        with pytest.raises(MCPError, match="belongs to another caller"):
            await client.session.call_tool("execute_shell", {"command": "true"}, **resumed)
    async with team.as_(again, person=Person(None)) as client:
        done = await client.session.call_tool("execute_shell", {"command": "true"}, **resumed)
    assert "did not allow" in error(done)["message"]


async def test_an_older_clients_connection_is_no_way_around(team: Team):
    token, shown = await team.given("hans", "acme", toolsets=("planning",))
    async with team.as_(shown, mode="legacy") as client:
        made = await client.call_tool("create_goal", {"goal": "by hans"})
        refused = await client.call_tool("createStore", {"name": "x"})
        foreign = SwitchParams(sessionId="default", workspace="beta")
        request: Any = Request[SwitchParams, str](method="outrider/switch_context", params=foreign)
        await client.session.send_request(request, EmptyResult)
        switched = await client.call_tool("get_current_state", {})
    await team.app.events.flush()
    first = (await team.app.identity().audit.recent(person="hans"))[-1]
    assert not made.is_error
    assert (first.detail, first.workspace, first.credential) == ("create_goal", "acme", token.id)
    assert error(refused)["code"] == "insufficient_scope"
    assert error(switched)["code"] == "workspace"


async def test_the_audit_says_who_did_what_with_which_token_from_where(team: Team):
    token, shown = await team.given("edda", "acme")
    async with team.as_(shown) as client:
        await client.call_tool("create_goal", {"goal": "x"})
        anna: Any = {"assistant_id": "anna"}
        await client.call_tool("get_playbook", {"id": "none"}, meta=anna)
    await team.app.events.flush()
    acts = await team.app.identity().audit.recent(person="edda", workspace="acme")
    facts = [(each.action, each.detail, each.outcome, each.credential, each.address) for each in acts]
    assert facts == [
        ("call", "get_playbook", "playbook_not_found", token.id, "127.0.0.1"),
        ("call", "create_goal", "ok", token.id, "127.0.0.1"),
    ]
    await team.app.identity().audit.note("token.revoke", token.id, credential="command line")
    newest = (await team.app.identity().audit.recent(1))[0]
    assert (newest.action, newest.detail) == ("token.revoke", token.id)


async def test_a_token_is_kept_as_nothing_that_lets_in(team: Team):
    shown = await team.holds("fay", "acme")
    await knock(f"{team.url}/mcp", shown)
    await knock(f"{team.url}/mcp", shown[:-1] + ("a" if shown[-1] != "a" else "b"))
    async with team.as_(shown) as client:
        await client.call_tool("create_goal", {"goal": "x"})
    await team.app.events.flush()
    folder: Path = team.app.loaded.settings.data_dir
    kept = b"".join(path.read_bytes() for path in folder.glob("outrider.db*"))
    assert secret.digest(shown).encode() in kept
    assert shown[5:].encode() not in kept
    assert shown[5:40].encode() not in kept


async def test_no_log_repeats_what_lets_in(team: Team, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    shown, wrong = await team.holds("gil", "acme"), secret.made()
    async with team.as_(shown) as client:
        await client.call_tool("createStore", {"name": "x"})
    await knock(f"{team.url}/mcp", wrong)
    await knock(f"{team.url}/mcp", shown, X_Outrider_Workspace="gamma")
    ours = "\n".join(
        record.getMessage() for record in caplog.records if not record.name.startswith(("httpcore", "hpack"))
    )
    assert shown not in ours
    assert wrong not in ours
