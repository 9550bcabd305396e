"""Limits on requests and guesses, with a clock that the test sets, and the allowed host names."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx2
import pytest
from starlette.responses import PlainTextResponse

from outrider.dashboard.rate_limit import TokenBucketLimiter
from outrider.dashboard.security import TOKEN_ATTEMPTS_PER_MINUTE, SecurityMiddleware
from outrider.dashboard.sign_in_tokens import SignInTokens

pytestmark = pytest.mark.anyio
ORIGIN = {"origin": "http://127.0.0.1:8765"}


@asynccontextmanager
async def open_client(
    middleware: SecurityMiddleware, base: str = "http://127.0.0.1:8765"
) -> AsyncGenerator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(middleware), base_url=base) as opened:
        yield opened


async def test_requests_are_limited_per_viewer_and_not_per_connection():
    now, launch = [0.0], SignInTokens()
    middleware = SecurityMiddleware(PlainTextResponse("in"), launch, requests=TokenBucketLimiter(60, 3, lambda: now[0]))
    async with open_client(middleware) as one, open_client(middleware) as again, open_client(middleware) as other:
        await one.get("/", params={"token": launch.token})
        await other.get("/", params={"token": launch.token})
        again.cookies.update(one.cookies)
        assert [(await each.get("/")).status_code for each in (one, again, one, again)] == [200, 200, 200, 429]
        assert (await other.get("/")).status_code == 200
        now[0] += 1
        assert [(await each.get("/")).status_code for each in (again, one)] == [200, 429]


async def test_wrong_tokens_are_limited_and_the_right_one_is_still_accepted():
    launch = SignInTokens("the operator's own and long token")
    middleware = SecurityMiddleware(PlainTextResponse("in"), launch)
    async with open_client(middleware) as guessing:
        codes = [
            (await guessing.post("/signin", headers=ORIGIN, data={"token": f"guess {number}"})).status_code
            for number in range(TOKEN_ATTEMPTS_PER_MINUTE + 2)
        ]
        assert codes == [401] * TOKEN_ATTEMPTS_PER_MINUTE + [429] * 2
        right = await guessing.post("/signin", headers=ORIGIN, data={"token": launch.token})
        assert right.status_code == 303


async def test_an_oversized_sign_in_form_is_refused():
    launch = SignInTokens()
    async with open_client(SecurityMiddleware(PlainTextResponse("in"), launch)) as sending:
        body = f"token={launch.token}&next=/{'x' * 5_000}"
        assert (await sending.post("/signin", headers=ORIGIN, content=body)).status_code == 401


@pytest.mark.parametrize(
    ("host", "served"),
    [
        ("tools.example.com", True),
        ("TOOLS.example.com:443", True),
        ("admin.example.com:8443", True),
        ("admin.example.com", False),
        ("example.com", False),
        ("evil@tools.example.com", False),
        ("tools.example.com:x", False),
        ("[::1]:80", True),
        ("::1", False),
    ],
)
async def test_only_host_names_that_the_operator_chose_are_served(host: str, served: bool):
    middleware = SecurityMiddleware(
        PlainTextResponse("in"), SignInTokens(), hosts=("tools.example.com", "admin.example.com:8443")
    )
    async with open_client(middleware) as asking:
        answer = await asking.get("/", headers={"host": host})
        assert answer.json()["error"]["code"] == ("signed_out" if served else "host")


async def test_a_wrong_rest_path_names_the_right_one():
    middleware = SecurityMiddleware(PlainTextResponse("in"), SignInTokens())
    async with open_client(middleware) as sending:
        address = "http://127.0.0.1:8765//v1/tools/web_fetch"
        program = await sending.post(address)
        page = await sending.post(address, headers={"origin": "https://evil.example"})
    assert [each.json()["error"]["hint"] for each in (program, page)] == [
        "//v1/tools/web_fetch is not for programs; they call tools at /v1/tools/NAME",
        "another web page may not use the dashboard",
    ]


async def test_over_tls_the_cookie_is_marked_secure():
    launch = SignInTokens()
    middleware = SecurityMiddleware(PlainTextResponse("in"), launch, hosts=("tools.example.com",))
    async with open_client(middleware, "https://tools.example.com") as person:
        answer = await person.get("/", params={"token": launch.token})
        assert "secure" in answer.headers["set-cookie"].lower().split("; ")
