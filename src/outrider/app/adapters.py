"""Adapt packages to each other: functions and objects that one package gets from another."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from outrider.browser.session.browsers import Browsers
from outrider.content.stores import ContentStores
from outrider.core.context import Call
from outrider.core.errors import OutriderError
from outrider.pages.pages import Pages
from outrider.search.provider import Query, RenderedPage, SearchHit, SearchServices
from outrider.search.settings import DEFAULT_ENGINES
from outrider.search.urls import is_within_site
from outrider.settings import LoadedSettings

LocalSearch = Callable[[Query], Awaitable[list[SearchHit]]]


def build_markdown_converter(loaded: LoadedSettings) -> Callable[[bytes, str], Awaitable[str]]:
    """Return the function that converts files of workspaces to Markdown."""

    async def convert_to_markdown(body: bytes, name: str) -> str:
        from outrider.pages.local_file import read_body

        return (await read_body(body, name=name, settings=loaded.settings.pages))[0].markdown

    return convert_to_markdown


def build_page_renderer(browsers: Browsers) -> Callable[[str], Awaitable[str]]:
    """Return the function that renders pages in a browser."""

    async def render_page(url: str) -> str:
        from outrider.browser.session.one_off_visit import render_url

        return await render_url(browsers, url)

    return render_page


def build_search_services(
    loaded: LoadedSettings, local: LocalSearch, browsers: Browsers, proxy: Callable[[], str | None]
) -> SearchServices:
    """Return the services that search providers need from other packages."""
    settings, agent_browser = loaded.settings.search, None
    if settings.agent_browser.command:
        from outrider.search.agent_browser import AgentBrowser

        folder = loaded.settings.data_dir / "agent-browser"
        agent_browser = AgentBrowser(
            settings.agent_browser,
            folder,
            engines=settings.browser.engines or DEFAULT_ENGINES,
            proxy_url=proxy,
            executable=lambda: _find_executable(browsers),
            environ=loaded.environ,
        )
    return SearchServices(
        search_local=local, get_proxy_url=proxy, browser=ResultPageOpener(browsers), agent_browser=agent_browser
    )


@dataclass(frozen=True)
class ResultPageOpener:
    """Opens search engines' result pages in our browser (`search.provider.PageOpener`)."""

    browsers: Browsers

    def explain_unavailable(self) -> str:
        """Return why no browser is available; "" if one is."""
        settings = self.browsers.settings
        if settings.cdp_urls or _find_executable(self.browsers):
            return ""
        return "no browser is installed (`outrider browser install` gets one)"

    async def open_page(self, url: str) -> RenderedPage:
        """Return the page of an address after its scripts have run. Raises OutriderError."""
        from outrider.browser.session.one_off_visit import visit_url
        from outrider.browser.snapshot.extract_dom import read_rendered_html
        from outrider.browser.snapshot.snapshot import Snapshotter

        async with visit_url(self.browsers, url) as page:
            return RenderedPage(page.url, (await read_rendered_html(Snapshotter(page), unseen=True)).html)


def _find_executable(browsers: Browsers) -> str:
    from outrider.browser.process.find import find_browser

    with suppress(OutriderError):
        return str(find_browser(browsers.settings.executable).path)
    return ""


def build_local_search(pages: Pages, get_content: Callable[[], ContentStores | None]) -> LocalSearch:
    """Return the search in pages read before: in the caller's stores first, else in the page cache.

    Callers with an access grant only search their own stores, because addresses in the shared cache may be secret.
    """

    async def search_read_pages(query: Query) -> list[SearchHit]:
        max_filtered_pages = 200  # candidates to filter if only one site is wanted
        stores, caller = get_content(), query.caller
        own_hits: list[SearchHit] = []
        if stores is not None and caller is not None:
            own_hits = await _search_own_stores(stores, query, caller)
        if own_hits or (caller is not None and caller.grant is not None):
            return own_hits
        cached = await pages.search_cached(
            query.text, max_filtered_pages if query.sites or query.exclude else query.count
        )
        hits = [SearchHit(title=each.title, url=each.url, snippet=each.snippet, score=each.score) for each in cached]
        return [hit for hit in hits if _is_wanted(hit.url, query)][: query.count]

    return search_read_pages


async def _search_own_stores(content: ContentStores, query: Query, caller: Call) -> list[SearchHit]:
    """Return the matching pages in the caller's stores, each address once, with its best passage."""
    from outrider.content.search import SearchOptions
    from outrider.core.plain_text import render_plain_line

    max_snippet_chars = 1_000
    hosts = query.site_hosts or []
    options = SearchOptions(top_n=100, source=hosts[0] if len(hosts) == 1 else "http")
    hits = (await content.search(caller, query.text, options)).hits
    pages = {
        hit.source: hit for hit in reversed(hits) if hit.source.startswith("http") and _is_wanted(hit.source, query)
    }
    best = sorted(pages.values(), key=lambda hit: -hit.score)[: query.count]
    return [
        SearchHit(
            hit.title or hit.source, hit.source, render_plain_line(hit.excerpt_text, max_snippet_chars), score=hit.score
        )
        for hit in best
    ]


def _is_wanted(url: str, query: Query) -> bool:
    """Return whether an address is on wanted sites and no excluded one."""
    on_site = not query.sites or any(is_within_site(url, site) for site in query.sites)
    return on_site and not any(is_within_site(url, site) for site in query.exclude)
