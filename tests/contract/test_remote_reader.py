"""A reader service for pages that refuse us: when it is used, and what it and the caller are told.

Our own forward proxy connects public addresses to our own site.
"""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from outrider.core.context import Call
from outrider.core.errors import OutriderError
from support.apps import loopback_app
from support.fakes import forward_proxy, http_servers

pytestmark = pytest.mark.anyio
PUBLIC = "http://93.184.215.14"
WALL = (403, {"content-type": "text/html"}, b"<title>Just a moment...</title>Checking your browser")
WALLED_SITE = loopback_app.build_page_site(
    {
        "/wall": WALL,
        "/wall/by/author": WALL,
        "/plain": (403, {"content-type": "text/html"}, b"<h1>Forbidden</h1>"),
        "/members": (401, {}, b""),
        "/open": loopback_app.build_article_html("Open", "Everyone may read this page. " * 20),
    }
)
KETTLE_TEXT = "The kettle boils at once. " * 1_000


@dataclass
class ReaderService:
    """A service that speaks Jina Reader's protocol; `reply` is its status and body."""

    reply: tuple[int, Any] = (
        200,
        {
            "code": 200,
            "status": 20000,
            "data": {"title": "Kettles", "url": "x", "content": f"# Kettles\n\n{KETTLE_TEXT}"},
        },
    )
    requests: list[tuple[str, str, dict[str, str], Any]] = field(default_factory=list)

    @property
    def addresses(self) -> list[str]:
        return [body["url"] for _, _, _, body in self.requests]

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for step in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{step}.complete"})
            return
        body = (await receive()).get("body", b"")
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.requests.append((scope["method"], scope["path"], headers, json.loads(body)))
        status, answer = self.reply
        kind = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": kind})
        await send({"type": "http.response.body", "body": json.dumps(answer).encode()})


@asynccontextmanager
async def open_remote_reader(
    home: Path, service: ReaderService, *, is_set: bool = True
) -> AsyncGenerator[loopback_app.LoopbackApp]:
    async with (
        http_servers.serve_app(service) as service_url,
        http_servers.serve_app(WALLED_SITE) as wall_url,
        forward_proxy.serve_forward_proxy(wall_url) as proxy_url,
    ):
        more: dict[str, Any] = {
            "egress": {"proxy": proxy_url, "allow": ["127.0.0.1"]},
            "pages": {"reader_url": service_url} if is_set else {},
        }
        async with loopback_app.open_loopback_app(home, WALLED_SITE, more=more) as loopback:
            yield loopback


async def fetch_text(loopback: loopback_app.LoopbackApp, url: str, **more: Any) -> str:
    return (await loopback.app.call("web_fetch", url=url, render="never", **more)).text


async def expect_refusal(loopback: loopback_app.LoopbackApp, url: str) -> OutriderError:
    with pytest.raises(OutriderError) as caught:
        await fetch_text(loopback, url)
    return caught.value


async def test_by_default_no_third_party_receives_an_address(home: Path):
    service = ReaderService()
    async with open_remote_reader(home, service, is_set=False) as loopback:
        assert (await expect_refusal(loopback, f"{PUBLIC}/wall")).code == "blocked_by_site"
    assert service.requests == []


async def test_a_refused_page_is_read_through_the_service_and_the_answer_reports_it(home: Path):
    service = ReaderService()
    async with open_remote_reader(home, service) as loopback:
        text = await fetch_text(loopback, f"{PUBLIC}/wall")
        head, _, body = text.partition("\n\n")
        assert "Title: Kettles" in head
        assert "Note: " in head
        assert "the site refused, so 127.0.0.1:" in head
        assert "received this address and read the page" in head
        assert body.startswith("<untrusted-")
        assert "The kettle boils" in body
        further = await fetch_text(loopback, f"{PUBLIC}/wall", offset=12_000)
        assert "The kettle boils" in further
        assert "received this address" in further
        assert service.addresses == [f"{PUBLIC}/wall"], "read on from the cache"
        shown = (await loopback.app.call("webbrowser", urls=[f"{PUBLIC}/plain"])).content[0]
        assert "received this address" in str(shown)
    method, path, headers, _ = service.requests[0]
    assert (method, path) == ("POST", "/")
    assert headers["dnt"] == "1"
    assert not {"cookie", "authorization", "referer"} & set(headers)


async def test_only_refused_public_addresses_without_credentials_are_sent(home: Path):
    service = ReaderService()
    async with open_remote_reader(home, service) as loopback:
        for url in (
            "http://127.0.0.1/wall",
            "http://127.0.0.1/plain",
            f"{PUBLIC}/wall?access_token=abc",
            f"{PUBLIC}/wall?X-Amz-Signature=abc&x=1",
            f"{PUBLIC}/wall?apiKey=",
            f"{PUBLIC}/wall?sid=9",
            f"{PUBLIC}/members",
            f"{PUBLIC}/missing",
        ):
            assert (await expect_refusal(loopback, url)).code in {"blocked_by_site", "forbidden", "not_found"}, url
        assert "Everyone may read" in await fetch_text(loopback, f"{PUBLIC}/open")
        assert service.addresses == []
        await fetch_text(loopback, f"{PUBLIC}/wall/by/author?author=kim&page=2")
        assert service.addresses == [f"{PUBLIC}/wall/by/author?author=kim&page=2"]


async def test_the_service_is_not_used_by_tools_that_cannot_report_it(home: Path):
    service = ReaderService()
    async with open_remote_reader(home, service) as loopback:
        await fetch_text(loopback, f"{PUBLIC}/wall")
        calls = [("addContent", {"file_url": f"{PUBLIC}/wall"}), ("web_crawl", {"url": f"{PUBLIC}/plain"})]
        for tool, arguments in calls:
            with pytest.raises(OutriderError, match="403"):
                await loopback.app.call(tool, Call(session="s"), **arguments)
    assert service.addresses == [f"{PUBLIC}/wall"]


async def test_if_the_service_fails_the_sites_own_refusal_is_reported(home: Path):
    warning = {"content": "Verify you are human", "warning": "Target URL returned error 403: Forbidden"}
    replies: list[tuple[int, Any]] = [
        (429, {"code": 429, "message": "Per IP rate limit exceeded"}),
        (200, {"code": 200, "data": {"title": "x", "content": "  "}}),
        (200, {"code": 200, "data": warning}),
        (200, {"code": 200, "data": None}),
        (200, ["a list"]),
    ]
    for reply in replies:
        service = ReaderService(reply)
        async with open_remote_reader(home, service) as loopback:
            assert (await expect_refusal(loopback, f"{PUBLIC}/wall")).code == "blocked_by_site", reply
        assert len(service.requests) == 1
