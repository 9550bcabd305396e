"""What one domain sees of another: functions, handed over when the house is built."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from outrider.browser.session.browsers import Browsers
from outrider.content.stores import ContentStores
from outrider.core.errors import OutriderError
from outrider.pages.pages import Pages
from outrider.settings import LoadedSettings

if TYPE_CHECKING:
    from outrider.search.provider import Query, RenderedPage, SearchHit, SearchServices

    LocalSearch = Callable[[Query], Awaitable[list[SearchHit]]]
MAX_READ_PAGES = 200  # pages looked through when only some hosts are wanted


def build_markdown_converter(loaded: LoadedSettings) -> Callable[[bytes, str], Awaitable[str]]:
    """The workspace domain's view of the pages domain."""

    async def convert_to_markdown(body: bytes, name: str) -> str:
        from outrider.pages.local_file import read_body

        return (await read_body(body, name=name, settings=loaded.settings.pages))[0].markdown

    return convert_to_markdown


def build_page_renderer(browsers: Browsers) -> Callable[[str], Awaitable[str]]:
    """The pages domain's view of the browser."""

    async def render_page(url: str) -> str:
        from outrider.browser.session.one_off_visit import render_url

        return await render_url(browsers, url)

    return render_page


def build_search_services(
    loaded: LoadedSettings, local: "LocalSearch", browsers: Browsers, proxy: Callable[[], str | None]
) -> "SearchServices":
    """What the search domain gets of the others."""
    from outrider.search.provider import SearchServices

    chosen, program = loaded.settings.search.agent_browser, None
    if chosen.command or chosen.auto_install:
        from outrider.search.agent_browser import AgentBrowser

        folder = loaded.settings.data_dir / "agent-browser"
        program = AgentBrowser(
            chosen, folder, proxy_url=proxy, executable=lambda: _find_executable(browsers), environ=loaded.environ
        )
    return SearchServices(
        search_local=local, get_proxy_url=proxy, browser=_ResultPageOpener(browsers), agent_browser=program
    )


@dataclass(frozen=True)
class _ResultPageOpener:
    """The search domain's view of the browser."""

    browsers: Browsers

    def explain_unavailable(self) -> str:
        there = self.browsers.settings.cdp_url or self.browsers.settings.cdp_urls or _find_executable(self.browsers)
        return "" if there else "there is no browser (`outrider browser install` gets one)"

    async def open_page(self, url: str) -> "RenderedPage":
        from outrider.browser.session.one_off_visit import visit_url
        from outrider.browser.snapshot.extract_dom import read_rendered_html
        from outrider.browser.snapshot.snapshot import Snapshotter
        from outrider.search.provider import RenderedPage

        async with visit_url(self.browsers, url) as page:
            return RenderedPage(page.url, (await read_rendered_html(Snapshotter(page))).html)


def _find_executable(browsers: Browsers) -> str:
    from outrider.browser.process.find import find_browser

    with suppress(OutriderError):
        return str(find_browser(browsers.settings.executable).path)
    return ""


def build_local_search(pages: Pages, get_content: Callable[[], ContentStores | None]) -> "LocalSearch":
    """The search domain's view of what was read: by the caller, where stores keep it, else by anybody.

    Where callers must show who they are, nobody searches what others have read: its addresses may be secrets.
    """

    async def search_read_pages(query: "Query") -> "list[SearchHit]":
        from outrider.search.provider import SearchHit

        stores = get_content()
        own = await _search_own_stores(stores, query) if stores is not None and query.caller is not None else []
        if own or (query.caller is not None and query.caller.grant is not None):
            return own
        read = await pages.search_cached(query.text, MAX_READ_PAGES if query.site else query.count)
        hits = [SearchHit(title=each.title, url=each.url, snippet=each.snippet, score=each.score) for each in read]
        return [hit for hit in hits if is_on_site(hit.url, query.site)][: query.count]

    return search_read_pages


async def _search_own_stores(content: ContentStores, query: "Query") -> "list[SearchHit]":
    """The pages in the caller's stores that match, each address once, with the passage that matches best."""
    max_snippet_chars = 1_000
    from outrider.content.search import SearchOptions
    from outrider.core.plain_text import render_plain_line
    from outrider.search.provider import SearchHit

    assert query.caller is not None
    host = (query.site or "").partition("/")[0]
    options = SearchOptions(top_n=100, source=host or "http")
    found = (await content.search(query.caller, query.text, options)).hits
    pages = {
        hit.source: hit
        for hit in reversed(found)
        if hit.source.startswith("http") and is_on_site(hit.source, query.site)
    }
    best = sorted(pages.values(), key=lambda hit: -hit.score)[: query.count]
    return [
        SearchHit(
            hit.title or hit.source, hit.source, render_plain_line(hit.excerpt_text, max_snippet_chars), score=hit.score
        )
        for hit in best
    ]


def is_on_site(url: str, site: str | None) -> bool:
    """Whether an address lies on a host (or its subdomains), and below a path if the site names one."""
    host, _, path = (site or "").partition("/")
    parts = urlsplit(url)
    on_host = f".{parts.hostname}".endswith(f".{host}") if host else True
    return on_host and parts.path.startswith(f"/{path}")
