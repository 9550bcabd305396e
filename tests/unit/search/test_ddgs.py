"""The library that connects by itself only uses the given proxy."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest

from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import NotConfigured, Unavailable
from outrider.core.http import HttpClient
from outrider.search.provider import Query, SearchServices
from outrider.search.search import Search
from outrider.search.selection import load_providers
from outrider.search.settings import SearchSettings
from support.fakes import http_servers
from support.timeouts import PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio
ALONE = SearchSettings(disabled=sorted(set(load_providers()) - {"ddgs"}), providers={"ddgs": {"timeout_s": 5}})
TOKEN = "pr0xy-t0ken-9f8e7d"


@asynccontextmanager
async def serve_proxy(answer: bytes, seen: list[bytes]) -> AsyncGenerator[str]:
    """Serve a proxy that records each request and refuses it."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readline())
        writer.write(answer)
        await writer.drain()
        writer.close()

    async with http_servers.serve_raw_tcp(refuse) as url:
        yield url.replace("http://", f"http://outrider:{TOKEN}@")


async def read_failure(search: Search) -> Unavailable:
    with pytest.raises(Unavailable) as caught, anyio.fail_after(PROCESS_TIMEOUT_S):
        await search.find(Query("tea"))
    return caught.value


@pytest.mark.parametrize("answer", [b"HTTP/1.1 403 Forbidden\r\n\r\n", b""], ids=["refuses", "hangs up"])
async def test_all_requests_go_through_the_proxy_and_fail_with_typed_errors(answer):
    pytest.importorskip("ddgs")
    seen: list[bytes] = []
    async with serve_proxy(answer, seen) as url:
        error = await read_failure(
            Search(
                HttpClient(EgressGuard()), ALONE, None, build_services=lambda: SearchServices(get_proxy_url=lambda: url)
            )
        )
    assert seen
    assert all(line.startswith(b"CONNECT ") for line in seen if line)
    attempt = error.details["attempts"][-1]
    assert attempt["provider"] == "ddgs"
    assert attempt["outcome"] in {"unavailable", "blocked", "timeout", "rate_limited"}
    assert TOKEN not in str(error.to_dict())


async def test_ddgs_does_not_hide_that_the_network_is_missing():
    pytest.importorskip("ddgs")
    chosen = SearchSettings(
        disabled=sorted(set(load_providers()) - {"ddgs", "tavily"}),
        providers={"ddgs": {"timeout_s": 5}, "tavily": {"endpoint": "http://search.invalid"}},
    )
    async with serve_proxy(b"HTTP/1.1 502 Bad Gateway\r\n\r\n", []) as url:
        error = await read_failure(
            Search(
                HttpClient(EgressGuard()),
                chosen,
                None,
                build_services=lambda: SearchServices(get_proxy_url=lambda: url),
            )
        )
    assert [each["provider"] for each in error.details["attempts"]] == ["tavily", "ddgs"]
    assert (error.hint or "").startswith("no name resolves")


@pytest.mark.parametrize("proxy_url", [None, lambda: None])
async def test_without_the_proxy_it_is_not_offered(proxy_url):
    search = Search(
        HttpClient(EgressGuard()), ALONE, None, build_services=lambda: SearchServices(get_proxy_url=proxy_url)
    )
    with pytest.raises(NotConfigured):
        await search.find(Query("tea"))
    row = next(row for row in await search.list_providers() if row.name == "ddgs")
    assert not row.usable
    assert "proxy" in row.reason or "not installed" in row.reason
