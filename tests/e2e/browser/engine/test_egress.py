"""A page cannot reach an address that the guard refuses.

The same page first runs in a browser without our settings, because ways that lead nowhere even there
would prove nothing.
"""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from itertools import product

import anyio
import pytest
from pydantic import SecretStr

from outrider.browser.page.navigate import navigate_page
from outrider.browser.process.browser import Browser
from outrider.browser.process.context import BrowserContext
from outrider.browser.process.launch import launch_browser
from outrider.browser.protocol.condition import Condition
from outrider.browser.session.browsers import Browsers
from outrider.browser.session.options import SessionOptions
from outrider.browser.settings import BrowserSettings
from outrider.core.egress import EgressGuard, EgressSettings
from outrider.core.egress.proxy import EgressProxy
from outrider.core.egress.server_shutdown import stop_listening
from outrider.core.errors import OutriderError

# Chromium does these at an unknown time or, like pings, not at all.
IDLE = {"icon", "link pinged", "manifest", "speculation, prefetched", "speculation, prerendered"}
ANSWER = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\naccess-control-allow-origin: *\r\n"
    b"connection: close\r\n\r\nok"
)


class Canary(asyncio.DatagramProtocol):
    """A forbidden port, which counts connections and datagrams."""

    def __init__(self) -> None:
        self.port = 0
        self.reached = 0
        self.bell = Condition()
        self.writers: list[asyncio.StreamWriter] = []

    def sing(self) -> None:
        self.reached += 1
        self.bell.notify_all()

    def datagram_received(self, data: bytes, addr: object) -> None:
        self.sing()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.sing()
        self.writers.append(writer)
        try:
            if await reader.read(10_000):
                writer.write(ANSWER)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()


@asynccontextmanager
async def serve_canary() -> AsyncGenerator[Canary]:
    """Listens on one port of loopback, over TCP and UDP."""
    bird = Canary()
    tcp, udp = bind_one_port()
    async with await asyncio.start_server(bird.accept, sock=tcp) as server:
        bird.port = tcp.getsockname()[1]
        transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(lambda: bird, sock=udp)
        try:
            yield bird
        finally:
            await stop_listening(server)
            transport.close()
            for writer in bird.writers:
                writer.transport.abort()


def bind_one_port() -> tuple[socket.socket, socket.socket]:
    """Return TCP and UDP sockets on a port that is free for both."""
    while True:
        tcp, udp = socket.socket(), socket.socket(type=socket.SOCK_DGRAM)
        tcp.bind(("127.0.0.1", 0))
        with suppress(OSError):
            udp.bind(tcp.getsockname())
            return tcp, udp
        tcp.close()
        udp.close()


async def names_of(page) -> list[str]:
    return await page.evaluate_in("", "() => Object.keys(ways)")


GO = "(name, url) => { ways[name](url) }"


async def leads_out(page, name: str) -> bool:
    """Whether a way reaches a port that the page has not used before."""
    async with serve_canary() as bird:
        await page.evaluate_in("", GO, name, f"http://127.0.0.1:{bird.port}/")
        return await bird.bell.wait_until(lambda: bird.reached > 0, 0.2 if name in IDLE else 5)


async def test_without_our_settings_a_browser_can_reach_the_outside_in_each_way(site):
    running = await launch_browser(proxy=None)
    try:
        browser = Browser(running.connection)
        await browser.start()
        page = await BrowserContext(browser, None, None).new_page()
        await navigate_page(page, f"{site.here}/ways")
        missed = [name for name in await names_of(page) if not await leads_out(page, name)]
        assert set(missed) <= IDLE
    finally:
        await running.aclose()


@pytest.fixture
async def browsers_for_one_site(site, tmp_path) -> AsyncGenerator[Browsers]:
    """A browser whose guard allows only our site, and for which a foreign name resolves to loopback."""

    async def resolve(host: str) -> list[str]:
        return ["127.0.0.1"] if host in ("localhost", "rebinding.example") else []

    allow = [*site.guard.policy.settings.allow]
    browsers = Browsers(BrowserSettings(), EgressGuard(EgressSettings(allow=allow), resolve), tmp_path)
    yield browsers
    await browsers.aclose()


HOSTS = ("127.0.0.1", "localhost", "rebinding.example")
OTHER_SPELLINGS = ("0.0.0.0", "[::ffff:127.0.0.1]", "2130706433", "127.0.0.1.")  # see the guard's own tests


@pytest.mark.parametrize("host", [*HOSTS, *(pytest.param(host, marks=pytest.mark.nightly) for host in OTHER_SPELLINGS)])
async def test_our_browser_reaches_the_outside_in_no_way(browsers_for_one_site, site, host):
    async with serve_canary() as bird:
        options = SessionOptions(dialogs="accept")
        session, _ = await browsers_for_one_site.open_session("test", f"{site.here}/ways", options)
        async with session.acquire_page() as page:
            names = await names_of(page)
            assert len(names) > 50
            for name in names if host in HOSTS[:2] else names[::4]:
                await page.evaluate_in("", GO, name, f"http://{host}:{bird.port}/{name.replace(' ', '-')}")
            # Any such request has arrived before the page's own next request passes the same proxy.
            await page.loading.wait_until(lambda: not page.loading.count_open_requests(), 3)
            assert await page.evaluate_in("", "() => fetch('/article').then(got => got.status)") == 200
        with anyio.move_on_after(0.5):
            await bird.bell.wait_until(lambda: bird.reached > 0, 1)
        for url in (f"http://{host}:{bird.port}/", f"{site.here}/to?url=http://{host}:{bird.port}/"):
            with pytest.raises(OutriderError):
                await session.goto(url)
        assert bird.reached == 0


async def test_a_page_outside_of_any_session_reaches_nothing(browsers_for_one_site, site):
    session, _ = await browsers_for_one_site.open_session("test", f"{site.here}/ways")
    browser = browsers_for_one_site.running_browsers[0].browser
    page = await BrowserContext(browser, None, None).new_page()
    async with serve_canary() as bird:
        with pytest.raises(OutriderError):
            await navigate_page(page, f"http://127.0.0.1:{bird.port}/")
        with pytest.raises(OutriderError):
            await navigate_page(page, f"{site.here}/article")
        assert bird.reached == 0
    assert session.status == "active"


async def test_the_operators_forward_proxy_is_used_by_the_browser_too(site, tmp_path):
    """Our own guarded proxy, which allows only one of the two sites."""
    allow = [each for each in site.guard.policy.settings.allow if each.endswith(site.here.rpartition(":")[2])]
    async with EgressProxy(EgressGuard(EgressSettings(allow=allow))) as forward:
        settings = site.guard.policy.settings.model_copy(update={"proxy": SecretStr(forward.url_with_credentials)})
        browsers = Browsers(BrowserSettings(), EgressGuard(settings), tmp_path, warm=0)
        try:
            session, there = await browsers.open_session("test", f"{site.here}/article")
            assert there.title == "On lighthouses"
            with pytest.raises(OutriderError):
                await session.goto(f"{site.there}/article")
            assert forward.find_failure(f"{site.there}/article")
        finally:
            await browsers.aclose()


async def test_one_sessions_credential_does_not_open_another_sessions_proxy(browsers_for_one_site, site):
    first, _ = await browsers_for_one_site.open_session("test", f"{site.here}/article")
    second, _ = await browsers_for_one_site.open_session("test", f"{site.here}/article")
    ways = [session.egress_proxy for session in (first, second)]
    assert all(isinstance(way, EgressProxy) for way in ways)
    assert ways[0].url != ways[1].url
    assert ways[0].token != ways[1].token


UNREACHABLE_URLS = {
    "https://gone.example/": ("dns", "the name gone.example has no address"),
    "https://127.0.0.1:{shut}/": ("connect", "no connection to 127.0.0.1:{shut}: connection refused"),
    "https://10.0.0.1/": ("egress", "10.0.0.1"),
}


async def test_an_unreachable_site_is_reported_in_the_proxys_words(site, tmp_path, free_tcp_port, subtests):
    async def resolve(host: str) -> list[str]:
        return ["127.0.0.1"] if host == "localhost" else []

    allow = [*site.guard.policy.settings.allow, f"127.0.0.1:{free_tcp_port}"]
    browsers = Browsers(BrowserSettings(), EgressGuard(EgressSettings(allow=allow), resolve), tmp_path, warm=0)
    try:
        session, _ = await browsers.open_session("test", f"{site.here}/article")
        for (url, (code, words)), way in product(UNREACHABLE_URLS.items(), ("", f"{site.here}/to?url=")):
            dead = way + url.format(shut=free_tcp_port)
            with subtests.test(dead):
                with pytest.raises(OutriderError) as caught:
                    await session.goto(dead)
                assert caught.value.code == code
                assert words.format(shut=free_tcp_port) in caught.value.message
                assert caught.value.hint
                assert "ERR_" not in str(caught.value)
    finally:
        await browsers.aclose()
