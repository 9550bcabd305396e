"""What one domain sees of another: functions, handed over when the house is built."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from outrider.browser import Browsers
from outrider.content import Content
from outrider.core.errors import OutriderError
from outrider.pages import Pages
from outrider.settings import Loaded

if TYPE_CHECKING:
    from outrider.search import Hit, Page, Powers, Query

    Local = Callable[[Query], Awaitable[list[Hit]]]
SNIPPET_CHARS = 1_000
MOST_READ = 200  # pages looked through when only some hosts are wanted


def markdown(loaded: Loaded) -> Callable[[bytes, str], Awaitable[str]]:
    """The workspace domain's view of the pages domain."""

    async def markdown(body: bytes, name: str) -> str:
        from outrider.pages.local import read_body

        return (await read_body(body, name=name, settings=loaded.settings.pages))[0].markdown

    return markdown


def rendering(browsers: Browsers) -> Callable[[str], Awaitable[str]]:
    """The pages domain's view of the browser."""

    async def rendered(url: str) -> str:
        from outrider.browser.visit import render

        return await render(browsers, url)

    return rendered


def search_powers(loaded: Loaded, local: "Local", browsers: Browsers, proxy: Callable[[], str | None]) -> "Powers":
    """What the search domain gets of the others."""
    from outrider.search import Powers

    chosen, program = loaded.settings.search.agent_browser, None
    if chosen.command or chosen.auto_install:
        from outrider.search.agent_browser import AgentBrowser

        folder = loaded.settings.data_dir / "agent-browser"
        program = AgentBrowser(
            chosen, folder, proxy_url=proxy, executable=lambda: _executable(browsers), environ=loaded.environ
        )
    return Powers(local=local, proxy_url=proxy, browser=_ResultPages(browsers), agent_browser=program)


@dataclass(frozen=True)
class _ResultPages:
    """The search domain's view of the browser."""

    browsers: Browsers

    def missing(self) -> str:
        there = self.browsers.settings.cdp_url or self.browsers.settings.cdp_urls or _executable(self.browsers)
        return "" if there else "there is no browser (`outrider browser install` gets one)"

    async def open(self, url: str) -> "Page":
        from outrider.browser.extract_dom import rendered_html
        from outrider.browser.snapshot import Eyes
        from outrider.browser.visit import visit
        from outrider.search import Page

        async with visit(self.browsers, url) as page:
            return Page(page.url, (await rendered_html(Eyes(page))).html)


def _executable(browsers: Browsers) -> str:
    from outrider.browser.find import find_browser

    with suppress(OutriderError):
        return str(find_browser(browsers.settings.executable).path)
    return ""


def local(pages: Pages, kept: Callable[[], Content | None]) -> "Local":
    """The search domain's view of what was read: by the caller, where stores keep it, else by anybody.

    Where callers must show who they are, nobody searches what others have read: its addresses may be secrets.
    """

    async def find_read(query: "Query") -> "list[Hit]":
        from outrider.search import Hit

        stores = kept()
        own = await _own(stores, query) if stores is not None and query.caller is not None else []
        if own or (query.caller is not None and query.caller.grant is not None):
            return own
        read = await pages.search(query.text, MOST_READ if query.site else query.count)
        hits = [Hit(title=each.title, url=each.url, snippet=each.snippet, score=each.score) for each in read]
        return [hit for hit in hits if on_site(hit.url, query.site)][: query.count]

    return find_read


async def _own(content: Content, query: "Query") -> "list[Hit]":
    """The pages in the caller's stores that match, each address once, with the passage that matches best."""
    from outrider.content.search import SearchOptions
    from outrider.core.plain_text import plain_line
    from outrider.search import Hit

    assert query.caller is not None
    host = (query.site or "").partition("/")[0]
    options = SearchOptions(top_n=100, source=host or "http")
    found = (await content.search(query.caller, query.text, options)).hits
    pages = {
        hit.source: hit for hit in reversed(found) if hit.source.startswith("http") and on_site(hit.source, query.site)
    }
    best = sorted(pages.values(), key=lambda hit: -hit.score)[: query.count]
    return [
        Hit(hit.title or hit.source, hit.source, plain_line(hit.shown, SNIPPET_CHARS), score=hit.score) for hit in best
    ]


def on_site(url: str, site: str | None) -> bool:
    """Whether an address lies on a host (or its subdomains), and below a path if the site names one."""
    host, _, path = (site or "").partition("/")
    parts = urlsplit(url)
    on_host = f".{parts.hostname}".endswith(f".{host}") if host else True
    return on_host and parts.path.startswith(f"/{path}")
