"""One browser for all tests of a file, and our site at two origins.

Not for the whole run, because an open event loop keeps other tests from starting their own.
"""

import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import browser_site
from outrider.browser.session.browsers import Browsers
from outrider.browser.session.options import SessionOptions
from outrider.browser.session.session import Session
from outrider.browser.settings import BrowserSettings
from outrider.core.egress import EgressGuard, EgressSettings
from support.fakes import http_servers


@dataclass(frozen=True)
class Site:
    """The addresses of the same site at two origins, and a guard that allows nothing else."""

    here: str
    there: str

    @property
    def guard(self) -> EgressGuard:
        ports = [str(urlsplit(each).port) for each in (self.here, self.there)]
        hosts = ("127.0.0.1", "localhost")
        return EgressGuard(EgressSettings(allow=[f"{host}:{port}" for host in hosts for port in ports]))


@pytest.fixture(scope="module")
async def site() -> AsyncGenerator[Site]:
    async with AsyncExitStack() as stack:
        there = await stack.enter_async_context(http_servers.serve_app(browser_site.build_site()))
        far = there.replace("127.0.0.1", "localhost")
        here = await stack.enter_async_context(http_servers.serve_app(browser_site.build_site(far)))
        yield Site(here, far)


@pytest.fixture(scope="module")
async def browsers(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Browsers]:
    folder = tmp_path_factory.mktemp("browser")
    settings = BrowserSettings(download_bytes=1_000_000, flags=["--disable-popup-blocking"])
    found = Browsers(settings, site.guard, folder)
    yield found
    await found.aclose()


Open = Callable[..., Awaitable[Session]]


@pytest.fixture
async def open_session(browsers: Browsers, site: Site, tmp_path: Path) -> AsyncGenerator[Open]:
    """Opens sessions at a path of our site; they are closed when the test ends."""
    mine: list[Session] = []

    async def open_at(path: str = "/form", **options) -> Session:
        wish: dict[str, Any] = {"workspace": tmp_path} | options
        session, _ = await browsers.open_session("test", f"{site.here}{path}", SessionOptions(**wish))
        mine.append(session)
        return session

    yield open_at
    for session in mine:
        if not session.closed:
            await browsers.close_session("test", session.id)


@pytest.fixture
def temporary() -> Generator[Path]:
    """A temporary folder with a short name: a browser's socket must fit into it."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # a dying browser still writes
        yield Path(folder)
