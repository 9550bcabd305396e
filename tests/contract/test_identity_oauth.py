"""Test tokens of a real identity provider on loopback, valid and invalid."""

import math
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import jwt
import pytest
from mcp import Client
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client

from outrider.cli.doctor_checks import check_identity
from outrider.core.database.database import Database
from outrider.core.egress.guard import EgressGuard
from outrider.core.egress.policy import EgressSettings
from outrider.core.errors import Unavailable
from outrider.core.http import HttpClient
from outrider.identity.identity import Identity
from outrider.identity.jwks import MAX_KEY_AGE_S, MIN_FETCH_INTERVAL_S, REFRESH_AFTER_S
from outrider.identity.principal import InvalidCredentialError
from outrider.identity.settings import IdentitySettings
from support.apps import identity_app
from support.apps.identity_app import ServedApp, request_tools_list
from support.fakes import http_servers, identity_provider
from support.fakes.identity_provider import OAUTH_RESOURCE, FakeIdentityProvider
from support.results import read_error
from support.timeouts import EVENT_TIMEOUT_S, PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio
METADATA = "https://tools.example.com/.well-known/oauth-protected-resource/mcp"
TOOLS = {"tools:plan": ["planning"], "tools:all": ["all"]}


@pytest.fixture(scope="module")
async def provider() -> AsyncGenerator[FakeIdentityProvider]:
    made = FakeIdentityProvider()
    async with http_servers.serve_app(made.build_app()) as url:
        made.url = url
        yield made


@pytest.fixture(scope="module")
async def team(provider: FakeIdentityProvider, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[ServedApp]:
    home = tmp_path_factory.mktemp("team")
    oauth = {
        "issuer": provider.url,
        "resource": OAUTH_RESOURCE,
        "scopes": ["tools"],
        "toolset_scopes": TOOLS,
        "workspaces_claim": "groups",
    }
    async with identity_app.open_served_app(home, identity={"oauth": oauth}, data_dir=str(home / "data")) as opened:
        yield opened


def sign_valid_token(provider: FakeIdentityProvider, **more: Any) -> str:
    claims: dict[str, Any] = {"scope": "tools tools:all", "groups": ["acme", "beta:viewer"]} | more
    return provider.sign_token(**claims)


async def test_clients_learn_where_tokens_come_from(team: ServedApp, provider: FakeIdentityProvider):
    async with httpx2.AsyncClient() as http:
        answers = [
            await http.get(f"{team.url}/.well-known/oauth-protected-resource{path}")
            for path in ("/mcp", "", "/mcp/web")
        ]
    for answer in answers:
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.json() == {
            "resource": OAUTH_RESOURCE,
            "authorization_servers": [provider.url],
            "bearer_methods_supported": ["header"],
            "resource_name": "Outrider",
            "scopes_supported": ["tools", "tools:plan", "tools:all"],
        }
    reply = await request_tools_list(f"{team.url}/mcp")
    assert reply.headers["www-authenticate"] == f'Bearer scope="tools", resource_metadata="{METADATA}"'


async def test_a_providers_token_admits_its_person_with_their_workspaces_and_roles(
    team: ServedApp, provider: FakeIdentityProvider
):
    async with team.connect_client(sign_valid_token(provider)) as client:
        made = await client.call_tool("create_goal", {"goal": "x"})
        beta: Any = {"workspace": "beta"}
        viewed = await client.call_tool("create_goal", {"goal": "x"}, meta=beta)
    assert not made.is_error
    assert read_error(viewed)["code"] == "insufficient_role"
    await team.app.events.flush()
    done = (await team.app.identity().audit.list_recent(person="ann", workspace="acme"))[0]
    assert (done.detail, done.credential) == ("create_goal", "oauth:desk")


async def test_a_scope_required_of_everyone_is_requested(team: ServedApp, provider: FakeIdentityProvider):
    reply = await request_tools_list(f"{team.url}/mcp", sign_valid_token(provider, scope="tools:plan"))
    assert reply.status_code == 403
    challenge = reply.headers["www-authenticate"]
    assert 'error="insufficient_scope"' in challenge
    assert 'scope="tools"' in challenge
    assert f'resource_metadata="{METADATA}"' in challenge


async def test_a_toolset_refused_for_lack_of_scope_names_the_required_scope(
    team: ServedApp, provider: FakeIdentityProvider
):
    token = sign_valid_token(provider, scope="tools tools:plan")
    for path, headers in (("/mcp/web", {}), ("/mcp", {"mcp_method": "tools/call", "mcp_name": "web_search"})):
        reply = await request_tools_list(f"{team.url}{path}", token, **headers)
        assert reply.status_code == 403
        assert 'scope="tools tools:all"' in reply.headers["www-authenticate"]
    async with team.connect_client(token) as client:
        assert "web_search" not in {tool.name for tool in (await client.list_tools()).tools}
        assert not (await client.call_tool("create_goal", {"goal": "x"})).is_error


async def test_an_invalid_token_is_refused_with_the_reason(team: ServedApp, provider: FakeIdentityProvider):
    now = time.time()
    pem = identity_provider.export_pem("first")
    forged = {
        "hmac with the public key": jwt.api_jws.encode(b"{}", b"x" * 32, algorithm="HS256", headers={"kid": "first"}),
        "none": jwt.encode(
            {"iss": provider.url, "aud": OAUTH_RESOURCE, "sub": "ann", "exp": now + 60}, "", algorithm="none"
        ),
    }
    assert b"PUBLIC KEY" in pem
    wrong = {
        "issued for another audience": sign_valid_token(provider, aud="https://other.example/mcp"),
        "from another issuer": sign_valid_token(provider, iss="https://evil.example"),
        "has expired": sign_valid_token(provider, exp=now - 31),
        "not valid yet": sign_valid_token(provider, nbf=now + 60),
        "no claim 'exp'": sign_valid_token(provider, exp=None),
        "in this token are not numbers": sign_valid_token(provider, exp=float("inf")),
        "no claim 'aud'": sign_valid_token(provider, aud=None),
        "names a person": sign_valid_token(provider, sub=None),
        "not an access token": sign_valid_token(provider, header={"typ": "id+jwt"}),
        "signature is invalid": provider.sign_token(key="third", kid="first", scope="tools", groups=["acme"]),
        "algorithm that is not accepted": forged["none"],
        "is not accepted here": forged["hmac with the public key"],
        "too long": sign_valid_token(provider) + "x" * 20_000,
    }
    for reason, token in wrong.items():
        reply = await request_tools_list(f"{team.url}/mcp", token)
        assert (reply.status_code, reason in reply.json()["error_description"]) == (401, True), (reason, reply.text)
        assert token not in reply.text


async def test_a_claim_of_the_wrong_type_is_refused_with_its_reason(team: ServedApp, provider: FakeIdentityProvider):
    cases: dict[str, list[dict[str, Any]]] = {
        "times in this token are not numbers": [
            *({"exp": exp} for exp in (math.nan, math.inf, -math.inf, 10**400, 1e300, "9999999999", True, [], {})),
            *({"nbf": nbf} for nbf in (math.nan, "0", [], 10**400)),
        ],
        "names a person": [{"sub": 7}, {"sub": ["ann"]}, {"sub": ""}, {"sub": "a" * 201}],
        "another audience": [{"aud": 7}, {"aud": {"a": 1}}, {"aud": [7]}],
        "another issuer": [{"iss": "7"}],
    }
    for reason, tokens in cases.items():
        for claims in tokens:
            reply = await request_tools_list(f"{team.url}/mcp", sign_valid_token(provider, **claims))
            answer = (reply.status_code, reason in reply.json()["error_description"])
            assert answer == (401, True), (claims, reply.text)
    unused: dict[str, Any] = {"iat": "yesterday", "jti": 7, "azp": [], "client_id": {}}
    assert (await request_tools_list(f"{team.url}/mcp", sign_valid_token(provider, **unused))).status_code == 200


async def test_a_public_key_is_not_accepted_as_a_shared_secret(team: ServedApp, provider: FakeIdentityProvider):
    """The classic algorithm confusion attack, with any encoding of the key."""
    body = {"iss": provider.url, "aud": OAUTH_RESOURCE, "sub": "ann", "exp": time.time() + 60, "scope": "tools"}
    for key in (identity_provider.export_pem("second"), identity_provider.export_pem("second").strip()):
        token = forge_token(key, body)
        reply = await request_tools_list(f"{team.url}/mcp", token)
        assert reply.status_code == 401


def forge_token(key: bytes, body: dict[str, Any]) -> str:
    """An HS256 token whose key is a public key; the library itself would refuse to create it."""
    import base64
    import hashlib
    import hmac
    import json

    def part(value: Any) -> bytes:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")

    signed = part({"alg": "HS256", "typ": "JWT", "kid": "second"}) + b"." + part(body)
    made = base64.urlsafe_b64encode(hmac.new(key, signed, hashlib.sha256).digest()).rstrip(b"=")
    return (signed + b"." + made).decode()


async def test_a_token_is_valid_within_the_clock_leeway(team: ServedApp, provider: FakeIdentityProvider):
    reply = await request_tools_list(f"{team.url}/mcp", sign_valid_token(provider, exp=time.time() - 10))
    assert reply.status_code == 200


async def test_a_person_without_a_workspace_learns_who_can_add_them(team: ServedApp, provider: FakeIdentityProvider):
    reply = await request_tools_list(
        f"{team.url}/mcp", sign_valid_token(provider, groups=["NOT A NAME", 7, "acme:king"])
    )
    assert (reply.status_code, reply.json()["error"]) == (403, "access_denied")


async def test_the_doctor_reports_whether_callers_could_authenticate(team: ServedApp, provider: FakeIdentityProvider):
    found = [each async for each in check_identity(team.app)]
    assert [(each.state, each.what) for each in found] == [("ok", f"identity: {provider.url} publishes 1 usable keys")]


class FakeDatabase:
    """A client's storage for its tokens."""

    tokens: Any = None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return None

    async def set_client_info(self, client_info: Any) -> None:
        raise AssertionError("nobody registers here")


async def test_a_client_discovers_the_provider_and_requests_missing_scopes(home: Path, provider: FakeIdentityProvider):
    wanted = {"scopes": ["tools"], "toolset_scopes": TOOLS, "workspaces_claim": "groups"}
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with identity_app.open_app_at_oauth_resource(home, provider.url, **wanted) as team:
            auth = ClientCredentialsOAuthProvider(
                f"{team.url}/mcp", FakeDatabase(), "desk", "secret", issuer=provider.url
            )
            async with (
                httpx2.AsyncClient(auth=auth, timeout=PROCESS_TIMEOUT_S) as http,
                Client(streamable_http_client(f"{team.url}/mcp", http_client=http)) as client,
            ):
                before = (await client.list_tools()).tools
                done = await client.call_tool("create_goal", {"goal": "tea"})
    assert before == []
    assert not done.is_error
    assert [set(scope.split()) for scope in provider.requested_scopes] == [{"tools"}, {"tools", "tools:plan"}]


async def test_without_the_provider_callers_are_asked_to_retry_with_their_token(home: Path):
    provider = FakeIdentityProvider(is_down=True)
    async with http_servers.serve_app(provider.build_app()) as url:
        provider.url = url
        oauth = {"issuer": url, "resource": OAUTH_RESOURCE, "workspaces_claim": "groups"}
        async with identity_app.open_served_app(home, identity={"oauth": oauth}) as team:
            reply = await request_tools_list(f"{team.url}/mcp", sign_valid_token(provider))
            ours = await request_tools_list(f"{team.url}/mcp", await team.issue_token("ann", "acme"))
    assert (reply.status_code, reply.headers["retry-after"]) == (503, "10")
    assert reply.json()["error"] == "temporarily_unavailable"
    assert ours.status_code == 401  # the operator has not enabled our own tokens


# When keys are fetched, with a clock that the tests set.


class Clock:
    """Seconds since the epoch, from now on."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


class AuthenticationSetup:
    """A separate identity domain with a separate provider."""

    def __init__(self, identity: Identity, provider: FakeIdentityProvider, clock: Clock) -> None:
        self.identity = identity
        self.provider = provider
        self.clock = clock

    async def person(self, **token: Any) -> str:
        claims: dict[str, Any] = {"groups": ["acme"], "exp": self.clock() + 600} | token
        return (await self.identity.authenticate(self.provider.sign_token(**claims))).person


@pytest.fixture
async def setup(tmp_path: Path) -> AsyncGenerator[AuthenticationSetup]:
    provider, clock = FakeIdentityProvider(), Clock()
    async with http_servers.serve_app(provider.build_app()) as url:
        provider.url = url
        oauth = {"issuer": url, "resource": OAUTH_RESOURCE, "workspaces_claim": "groups"}
        settings = IdentitySettings.model_validate({"oauth": oauth})
        database, http = Database.from_file(tmp_path / "a.db"), HttpClient(EgressGuard(EgressSettings()))
        try:
            yield AuthenticationSetup(Identity(database, settings, http, clock=clock), provider, clock)
        finally:
            await http.close()
            await database.close()


async def test_keys_are_fetched_once_and_a_new_one_is_found_when_a_token_names_it(setup: AuthenticationSetup):
    assert [await setup.person(jti=str(number)) for number in range(5)] == ["ann"] * 5
    assert setup.provider.key_fetch_count == 1
    setup.provider.published_keys = ["second", "first"]
    setup.clock.ahead += MIN_FETCH_INTERVAL_S + 1
    assert await setup.person(key="second") == "ann"
    assert await setup.person() == "ann"
    assert setup.provider.key_fetch_count == 2


async def test_a_withdrawn_key_is_valid_only_until_the_next_refresh(setup: AuthenticationSetup):
    await setup.person()
    setup.provider.published_keys = ["second"]
    setup.clock.ahead += REFRESH_AFTER_S + 1
    with pytest.raises(InvalidCredentialError, match="key that its issuer does not have"):
        await setup.person()


async def test_unknown_keys_do_not_cause_a_request_each_time(setup: AuthenticationSetup):
    await setup.person()
    setup.clock.ahead += MIN_FETCH_INTERVAL_S + 1
    for number in range(20):
        with pytest.raises(InvalidCredentialError, match="key that its issuer does not have"):
            await setup.person(kid=f"made up {number}")
    assert setup.provider.key_fetch_count == 2


async def test_concurrent_callers_fetch_the_keys_once(setup: AuthenticationSetup):
    with anyio.fail_after(EVENT_TIMEOUT_S):
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(lambda number=number: setup.person(jti=str(number)))
    assert setup.provider.key_fetch_count == 1


async def test_without_the_provider_known_keys_work_for_a_day_and_unknown_ones_never(setup: AuthenticationSetup):
    await setup.person()
    setup.provider.is_down = True
    setup.clock.ahead += REFRESH_AFTER_S + 1
    assert await setup.person() == "ann"
    with pytest.raises(Unavailable, match="cannot be checked now"):
        await setup.person(key="second")
    setup.clock.ahead += MAX_KEY_AGE_S
    with pytest.raises(Unavailable) as away:
        await setup.person()
    assert away.value.retry_after
    setup.provider.is_down = False
    setup.clock.ahead += MIN_FETCH_INTERVAL_S + 1
    assert await setup.person() == "ann"


async def test_without_any_key_of_the_provider_callers_get_unavailable(setup: AuthenticationSetup):
    setup.provider.is_down = True
    with pytest.raises(Unavailable):
        await setup.person()


async def test_a_symmetric_or_encryption_key_is_never_used(setup: AuthenticationSetup):
    setup.provider.published_keys = []
    setup.provider.extra_keys = [
        {"kty": "oct", "kid": "first", "k": "c2VjcmV0"},
        {"kty": "EC", "use": "enc", "kid": "first"},
    ]
    with pytest.raises(InvalidCredentialError):
        await setup.person()


async def test_a_key_is_used_for_its_own_algorithm_alone(setup: AuthenticationSetup):
    setup.provider.published_keys = []
    setup.provider.extra_keys = [identity_provider.export_jwk("second") | {"kid": "first"}]
    with pytest.raises(InvalidCredentialError):
        await setup.person(kid="first")  # signed with ES256, but the key of that name is an RSA key


async def test_a_token_without_a_key_name_is_checked_where_only_one_key_fits(setup: AuthenticationSetup):
    setup.provider.published_keys = ["first", "second"]
    assert await setup.person(kid=None) == "ann"
    setup.provider.published_keys = ["first", "third"]
    setup.clock.ahead += REFRESH_AFTER_S + 1
    with pytest.raises(InvalidCredentialError):
        await setup.person(kid=None)


async def test_metadata_of_another_issuer_is_rejected(setup: AuthenticationSetup):
    other = FakeIdentityProvider()
    async with http_servers.serve_app(other.build_app()) as url:
        other.url = "https://evil.example"
        oauth = {"issuer": url, "resource": OAUTH_RESOURCE, "workspaces_claim": "groups"}
        database, http = Database.from_file(Path("b.db")), HttpClient(EgressGuard(EgressSettings()))
        try:
            identity = Identity(database, IdentitySettings.model_validate({"oauth": oauth}), http)
            with pytest.raises(Unavailable):
                await identity.authenticate(other.sign_token(iss=url, groups=["acme"]))
        finally:
            await http.close()
            await database.close()
