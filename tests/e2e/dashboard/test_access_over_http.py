"""Access to the dashboard over HTTP: who may sign in, who is refused, and the headers of each answer."""

import logging
from collections.abc import AsyncGenerator

import anyio
import httpx2
import pytest
from starlette.routing import Mount, Route, WebSocketRoute
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from outrider.app import App
from outrider.dashboard.server import DashboardServer
from outrider.dashboard.sign_in_tokens import COOKIE_LIFETIME_S
from support.apps import loopback_app
from support.apps.dashboard_app import iter_get_routes
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = pytest.mark.anyio
HTML = {"accept": "text/html"}


@pytest.fixture(scope="module")
async def app(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[App]:
    async with loopback_app.open_loopback_app(tmp_path_factory.mktemp("access")) as loopback:
        yield loopback.app


@pytest.fixture(scope="module")
async def listening(app: App) -> AsyncGenerator[DashboardServer]:
    opened = DashboardServer(app.dashboard_services())
    await opened.start()
    yield opened
    await opened.aclose()


@pytest.fixture
async def stranger(listening: DashboardServer) -> AsyncGenerator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=listening.base_url, headers=HTML) as client:
        yield client


@pytest.fixture
async def person(listening: DashboardServer, stranger: httpx2.AsyncClient) -> httpx2.AsyncClient:
    """A client that has followed the address."""
    answer = await stranger.get(listening.sign_in_url)
    assert answer.status_code == 303
    return stranger


def build_origin(listening: DashboardServer) -> dict[str, str]:
    return {"origin": listening.base_url.rstrip("/")}


async def test_the_token_is_exchanged_for_a_cookie_that_scripts_and_other_sites_do_not_get(
    listening: DashboardServer, stranger: httpx2.AsyncClient
):
    answer = await stranger.get(f"{listening.sign_in_url}&tool=x")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/?tool=x"
    assert answer.headers["referrer-policy"] == "no-referrer"
    cookie = answer.headers["set-cookie"].lower()
    port = listening.base_url.rstrip("/").rpartition(":")[2]
    assert cookie.startswith(f"outrider_{port}=")
    assert {"httponly", "samesite=strict", "path=/", f"max-age={COOKIE_LIFETIME_S}"} <= set(cookie.split("; "))
    assert (await stranger.get("/calls")).status_code == 200


async def test_a_sign_in_address_works_for_one_browser(listening: DashboardServer, person: httpx2.AsyncClient):
    used = listening.sign_in_url
    async with httpx2.AsyncClient(base_url=listening.base_url, headers=HTML) as other:
        assert (await other.get(used)).status_code == 303  # a different one by now
        stale = await other.get(f"{listening.base_url}?token=stale")
        assert stale.status_code == 303  # signed in: only the token goes
    async with httpx2.AsyncClient(base_url=listening.base_url, headers=HTML) as late:
        answer = await late.get(used)
        assert answer.status_code == 401
        assert "outrider dashboard" in answer.text
        assert used.partition("token=")[2] not in answer.text


async def test_without_a_cookie_only_the_sign_in_page_is_shown(
    listening: DashboardServer, stranger: httpx2.AsyncClient
):
    for path in ("/", "/calls", "/feed?topics=calls", "/static/base.css", "/nothing", "/live/health"):
        answer = await stranger.get(path)
        assert answer.status_code == 401, path
        assert (await stranger.get(path, headers={"accept": "*/*"})).json()["error"]["code"] == "signed_out"
    stranger.cookies.set(f"outrider_{listening.base_url.rstrip('/').rpartition(':')[2]}", "a.9999999999.b")
    assert (await stranger.get("/calls")).status_code == 401


async def test_another_name_for_this_machine_is_refused(listening: DashboardServer, person: httpx2.AsyncClient):
    port = listening.base_url.rstrip("/").rpartition(":")[2]
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "evil@127.0.0.1:x", "[", ""):
        answer = await person.get("/calls", headers={"host": host})
        assert answer.status_code in (400, 403), host
        assert "Calls" not in answer.text
    for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}"):
        assert (await person.get("/static/base.css", headers={"host": host})).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {},
        {"origin": "own", "sec-fetch-site": "same-site"},
        {"origin": "own", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
    ],
    ids=str,
)
async def test_requests_from_another_origin_change_nothing(
    listening: DashboardServer, person: httpx2.AsyncClient, headers: dict[str, str]
):
    sent = headers | (build_origin(listening) if headers.get("origin") == "own" else {})
    for path in ("/questions/answer", "/signin", "/runs/x/cancel"):
        answer = await person.post(path, headers=sent, data={"decision": "approved"})
        assert answer.status_code == 403, path
        assert answer.json()["error"]["code"] == "origin"


async def test_another_site_reads_nothing_but_may_link_here(listening: DashboardServer, person: httpx2.AsyncClient):
    for site in ("cross-site", "same-site"):
        for mode in ("no-cors", "cors", "websocket"):
            answer = await person.get("/calls", headers={"sec-fetch-site": site, "sec-fetch-mode": mode})
            assert answer.status_code == 403
        linked = {"sec-fetch-site": site, "sec-fetch-mode": "navigate"}
        assert (await person.get("/calls", headers=linked)).status_code == 200


async def test_a_link_from_another_site_is_redirected_by_our_own_page(
    listening: DashboardServer, stranger: httpx2.AsyncClient
):
    linked = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    answer = await stranger.get("/calls?tool=x", headers=linked)
    assert (answer.status_code, answer.headers["refresh"]) == (200, "0; url=/calls?tool=x")
    answer = await stranger.get(listening.sign_in_url, headers=linked)
    assert (answer.status_code, answer.headers["refresh"]) == (200, "0; url=/")
    assert "set-cookie" in answer.headers
    assert (await stranger.get("/calls", headers={"sec-fetch-site": "same-origin"})).status_code == 200


async def test_a_sign_in_never_redirects_to_another_site(listening: DashboardServer, stranger: httpx2.AsyncClient):
    for elsewhere in (
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "/x\r\nA: b",
    ):
        stranger.cookies.clear()
        token = listening.sign_in_url.partition("token=")[2]
        answer = await stranger.post(
            "/signin", headers=build_origin(listening), data={"token": token, "next": elsewhere}
        )
        assert answer.status_code == 303
        assert answer.headers["location"] in ("/", "/x")
        assert "evil" not in answer.headers["location"]


async def test_every_route_sends_the_security_policy(listening: DashboardServer, person: httpx2.AsyncClient):
    paths = {str(route.path) for route in iter_get_routes(listening.application.routes) if "{" not in route.path} - {
        "/feed"
    }
    assert {"/calls", "/calls/speed"} <= paths
    for path in sorted(paths | {"/static/base.js", "/nothing", "/calls/nothing", "/feed?topics=none"}):
        answer = await person.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy or "sandbox" in policy, path
        assert "unsafe" not in policy, path
        assert answer.headers["x-content-type-options"] == "nosniff", path
        assert answer.headers["x-frame-options"] == "DENY", path
        assert "access-control-allow-origin" not in answer.headers, path
        if "text/html" in answer.headers.get("content-type", ""):
            assert "frame-ancestors 'none'" in policy, path
            assert " style=" not in answer.text, path
            assert "<script>" not in answer.text, path


async def test_every_change_is_a_post_and_other_methods_are_refused(listening: DashboardServer):
    routes = listening.application.routes
    assert all(isinstance(route, Mount | Route | WebSocketRoute) for route in routes)
    methods = [(route.path, route.methods) for route in routes if isinstance(route, Route)]
    assert ("/questions/answer", {"POST"}) in methods
    for path, allowed in methods:
        assert allowed in ({"GET", "HEAD"}, {"POST"}), path


async def test_sockets_require_the_same_sign_in(listening: DashboardServer, person: httpx2.AsyncClient):
    port = int(listening.base_url.rstrip("/").rpartition(":")[2])
    cookie = "; ".join(f"{name}={value}" for name, value in person.cookies.items())
    sockets = [str(route.path) for route in listening.application.routes if isinstance(route, WebSocketRoute)]
    assert sockets
    good = {"origin": listening.base_url.rstrip("/"), "cookie": cookie}
    bad = (
        good | {"origin": "http://evil.example"},
        good | {"origin": "null"},
        good | {"origin": ""},
        good | {"cookie": ""},
        good | {"cookie": cookie[:-2]},
    )
    for path in sockets:
        for headers in bad:
            with pytest.raises(InvalidStatus) as refused:
                async with connect(
                    f"ws://127.0.0.1:{port}{path}",
                    additional_headers={name: value for name, value in headers.items() if value},
                    proxy=None,
                ):
                    pass
            assert refused.value.response.status_code in (401, 403)


async def test_a_body_that_is_too_large_is_refused(listening: DashboardServer, person: httpx2.AsyncClient):
    answer = await person.post("/questions/answer", headers=build_origin(listening), content=b"x" * 2_000_000)
    assert answer.status_code == 413


async def test_the_token_is_in_no_log(app: App, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    listening = DashboardServer(app.dashboard_services())
    await listening.start()
    tokens = {listening.sign_in_url.partition("token=")[2]}
    async with httpx2.AsyncClient(base_url=listening.base_url, headers=HTML) as client:
        caplog.clear()  # the tests' client may log its requests; only the server matters
        logging.getLogger("httpx2").setLevel(logging.CRITICAL)
        await client.get(listening.sign_in_url)
        tokens.add(listening.sign_in_url.partition("token=")[2])
        await client.get("/calls")
    with anyio.fail_after(EVENT_TIMEOUT_S):
        await listening.aclose()
    ours = [record for record in caplog.records if not record.name.startswith(("httpx2", "httpcore2"))]
    assert not [record for record in ours if any(token in record.getMessage() for token in tokens)]
