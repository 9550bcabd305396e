"""Truncated, garbled and dead answers are reported at once, and the received part can be read."""

import asyncio
from collections.abc import AsyncGenerator

import anyio
import pytest

from outrider.browser.actions.page_tools import get_page_tools
from outrider.browser.session.browsers import Browsers
from outrider.browser.session.session import Session
from outrider.browser.settings import BrowserSettings
from outrider.core.egress import EgressGuard, EgressSettings
from outrider.core.errors import OutriderError
from support.fakes import http_servers
from support.timeouts import EVENT_TIMEOUT_S

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
LAMP_HTML = b"<title>T</title><p>The lamp turns in the tower. " * 60
CHUNKS = OK + b"Transfer-Encoding: chunked\r\n\r\n"
ANSWERS = {
    "/whole": OK + b"Content-Length: %d\r\n\r\n" % len(LAMP_HTML) + LAMP_HTML,
    "/short": OK + b"Content-Length: 99999\r\n\r\n" + LAMP_HTML,
    "/cut": CHUNKS + b"ffff\r\n" + LAMP_HTML,
    "/nothing": CHUNKS + b"zz\r\nx\r\n",
    "/garbled": OK + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd",
    "/password": b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic\r\nContent-Length: 1\r\n\r\nx",
    "/data": b"HTTP/1.1 302 Found\r\nLocation: data:text/html,x\r\nContent-Length: 0\r\n\r\n",
}


async def answer_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    writer.write(ANSWERS.get(head.split(b" ")[1].decode(), b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"))
    await writer.drain()
    writer.close()


@pytest.fixture
async def visiting(tmp_path) -> AsyncGenerator[tuple[Session, str]]:
    async with http_servers.serve_raw_tcp(answer_request) as base:
        browsers = Browsers(
            BrowserSettings(),
            EgressGuard(EgressSettings(allow=[base.removeprefix("http://")])),
            tmp_path,
            warm=0,
        )
        try:
            session, _ = await browsers.open_session("test", f"{base}/whole")
            yield session, base
        finally:
            await browsers.aclose()


ENDINGS = {
    "/nothing": ("protocol", "ended early"),
    "/garbled": ("protocol", "does not match its Content-Encoding"),
    "/password": ("forbidden", "asks for a password"),
    "/data": ("redirects", "redirects to an address that browsers do not open"),
}


@pytest.mark.parametrize("path", ENDINGS)
async def test_a_response_without_visible_content_is_an_error_at_once(visiting, path):
    session, base = visiting
    with anyio.fail_after(EVENT_TIMEOUT_S), pytest.raises(OutriderError) as caught:
        await session.goto(base + path)
    code, words = ENDINGS[path]
    assert (caught.value.code, words in caught.value.message, bool(caught.value.hint)) == (code, True, True)
    async with session.acquire_page() as page:
        assert "lamp" not in str(await get_page_tools(page).snapshotter.take_snapshot("full"))


@pytest.mark.parametrize("path", ["/short", "/cut"])
async def test_a_truncated_page_is_shown_and_reported_as_incomplete(visiting, path):
    session, base = visiting
    with anyio.fail_after(EVENT_TIMEOUT_S):
        there = await session.goto(base + path)
    assert (there.title, there.status) == ("T", 200)
    assert "incomplete" in there.notes[0]
