"""Read, cache and search web pages."""

import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from outrider.core.database.database import Database
from outrider.core.egress.target import parse_target
from outrider.core.errors import NotConfigured, OutriderError, Unavailable
from outrider.core.http import Headers, HttpClient, HttpResponse
from outrider.pages.cache.freshness import build_conditions, compute_lifetime, is_storable
from outrider.pages.document import Document
from outrider.pages.fetched_page import READ_THROUGH_KEY, FetchedPage
from outrider.pages.fetching.failures import is_bot_wall
from outrider.pages.fetching.remote_reader import RemoteReader, is_refusal
from outrider.pages.fragment import UrlFragment, parse_fragment
from outrider.pages.options import DEFAULT_READ_OPTIONS, ReadOptions, RenderMode
from outrider.pages.settings import PagesSettings
from outrider.pages.site_markdown import SiteMarkdown

if TYPE_CHECKING:  # these modules load SQLAlchemy, Protego or Resiliparse
    from outrider.pages.cache.cache import CacheEntry, PageCache
    from outrider.pages.cache.page_search import LocalHit
    from outrider.pages.excerpt import DocumentExcerpt
    from outrider.pages.fetching.fetch import PageFetcher
    from outrider.pages.fetching.robots import RobotsPolicy
    from outrider.pages.images import WebImage
    from outrider.pages.page_extractor import PageExtractor

RenderPage = Callable[[str], Awaitable[str]]


class Pages:
    """Read pages, cache them, and search the cached ones.

    Args:
        http: The guarded client.
        settings: Limits and policies.
        database: Holds the cache.
        clock: The time in seconds since the epoch.
        sleep: Waits between attempts.
        attempts: How often to request a page while its server has an error.
        render: Returns the HTML of an address after its scripts have run, for pages that are empty without them.
    """

    def __init__(
        self,
        http: HttpClient,
        settings: PagesSettings,
        database: Database,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        attempts: int = 3,
        render: RenderPage | None = None,
    ) -> None:
        self._http = http
        self._settings = settings
        self._database = database
        self._clock = clock
        self._sleep = sleep
        self._attempts = attempts
        self._render = render

    async def read(self, url: str, options: ReadOptions = DEFAULT_READ_OPTIONS) -> FetchedPage:
        """Return the page at an address, following pages that only redirect their reader.

        Args:
            url: http or https, parsed as a browser does. The fragment is ignored, except for `#page=12` of a PDF and
                `#file=a.csv` of an archive.
            options: How to read it.

        Returns:
            The page. Until it is too old, every reading of an address returns the same text.

        Raises:
            InvalidInput: code `bad_url`.
            NotFound: HTTP 404 or 410.
            Refused: code `egress`, `robots`, `forbidden`, `http_status`, `unreadable_type`, `image`, `slow_document`
                or `encrypted`; `details["status"]` is the HTTP status if that was the reason.
            Unavailable: the server, the network or the deadline failed (codes of `core.http`, `server_error`,
                `rate_limited`, `blocked_by_site`, `broken_file`, `unreadable`).
        """
        max_refreshes = 3
        address = parse_target(url).url
        with self._limit_time(address):
            page = first = await self._read_url(address, parse_fragment(url), options)
            for _ in range(max_refreshes):
                if not (target := page.find_refresh_target()):
                    break
                page = await self._read_url(target, UrlFragment(), options)
            return replace(page, requested_url=first.requested_url)

    async def find_excerpts(self, page: FetchedPage, query: str, *, max_tokens: int = 1_500) -> "list[DocumentExcerpt]":
        """Return the page's passages that answer a question.

        They are in document order, within a budget of tokens.

        Each is a slice of `page.document.markdown`; the list is empty if no passage shares a word with the query.
        """
        from outrider.pages.excerpt import find_excerpts

        return await anyio.to_thread.run_sync(
            lambda: find_excerpts(page.document.markdown, query, max_tokens=max_tokens), abandon_on_cancel=True
        )

    async def fetch_image(self, url: str, filename: str | None = None) -> "WebImage":
        """Return the image at an address.

        Args:
            url: The image's address.
            filename: The wanted name; by default one derived from the address.

        Raises:
            Refused: code `not_an_image`, or as `read` does.
            Unavailable: code `too_large`, or as `read` does.
        """
        from outrider.pages.images import build_web_image

        max_image_bytes = 20_000_000
        address = parse_target(url).url
        with self._limit_time(address):
            response = await self._fetcher.fetch(
                address,
                deadline=anyio.current_time() + self._settings.timeout_s,
                max_body_bytes=max_image_bytes,
                headers={"accept": "image/*"},
                cut=False,
            )
        return build_web_image(response, address, filename)

    async def fetch_body(self, url: str, *, size: int) -> HttpResponse:
        """Return the response of an address with at most `size` bytes of its body. Raises as `read` does."""
        address = parse_target(url).url
        with self._limit_time(address):
            deadline = anyio.current_time() + self._settings.timeout_s
            return await self._fetcher.fetch(address, deadline=deadline, max_body_bytes=size, headers={})

    async def search_cached(self, query: str, limit: int = 10) -> "list[LocalHit]":
        """Return the best matching cached pages.

        Pages that the egress rules refuse by now are left out.

        Raises Unavailable if the database cannot be read.
        """
        from outrider.pages.cache.page_search import search_pages

        permitted: list[LocalHit] = []
        for hit in await search_pages(self._database, query, limit):
            with suppress(OutriderError):
                self._http.check_url(hit.url)
                permitted.append(hit)
        return permitted

    async def _read_url(self, address: str, fragment: UrlFragment, options: ReadOptions) -> FetchedPage:
        """Look in the cache, check robots.txt, fetch, extract, render and store one page."""
        url = address + fragment.suffix

        cached = await self._find_cached(address, fragment, options)
        if cached is not None:
            # The rules may have changed since it was cached.
            self._http.check_url(address)
            self._http.check_url(cached.page.url)
            if cached.is_fresh(self._clock(), options.max_age, default_max_age=self._settings.max_age):
                return cached.page

        if (options.robots or self._settings.page_robots) == "respect":
            await self.robots_policy.check_allowed(url)

        conditions = build_conditions(cached.etag, cached.last_modified) if cached else {}
        wants_markdown = options.markdown_first and options.main and options.render != "always" and not fragment.suffix
        try:
            if wants_markdown and self._site_markdown.is_expected(url):
                response, page = await self._site_markdown.read_negotiated(url, conditions)
            else:
                response, page = await self._fetch_page(url, conditions), None
        except OutriderError as error:
            return await self._replace_failed_page(address, error, options, cached)
        if response.status == 304 and cached is not None:
            return await self._confirm_cached(cached, response, main=options.main)

        now = self._clock()
        if page is None:
            page = await self._extractor.extract_page(response, address, fragment, main=options.main, fetched_at=now)
            page = await self._render_page(page, options)
            page = await self._take_markdown_twin(page, response, options)
        await self._store_page(page, response, now, main=options.main)
        return page

    async def _replace_failed_page(
        self, address: str, error: OutriderError, options: ReadOptions, cached: "CacheEntry | None"
    ) -> FetchedPage:
        """Return a page from a browser, the reader service or the cache instead. Raises the error if none has it."""
        max_stale_s = 7 * 86_400
        page = await self._render_blocked_page(address, error, options)
        if page := page or await self._ask_remote_reader(address, error, options):
            return page
        is_outage = isinstance(error, Unavailable) and error.code != "blocked_by_site"
        if cached and options.accepts_stale and is_outage and self._clock() - cached.checked_at <= max_stale_s:
            return replace(cached.page, stale=True)
        raise error

    async def _find_cached(self, address: str, fragment: UrlFragment, options: ReadOptions) -> "CacheEntry | None":
        """Return the cached copy of the wanted part.

        For types without parts, return the whole document.
        """
        url = address + fragment.suffix
        cached = await self._cache.get(url, main=options.main)
        if cached is None and fragment.suffix:
            url, cached = address, await self._cache.get(address, main=options.main)
            if cached and self._extractor.has_parts(cached.page.content_type):
                return None
        if cached is None or (options.render != "auto" and cached.page.is_rendered != (options.render == "always")):
            return None
        if cached.page.read_through and not options.remote_reader:
            return None
        if cached.page.is_negotiated_markdown and not options.markdown_first:
            return None
        return replace(cached, page=replace(cached.page, requested_url=url))

    async def _fetch_page(self, url: str, conditions: dict[str, str]) -> HttpResponse:
        """Fetch the body; if it was cut and half of it cannot be read, fetch it again with the larger limit."""
        settings, deadline = self._settings, anyio.current_time() + self._settings.timeout_s
        response = await self._fetcher.fetch(
            url, deadline=deadline, max_body_bytes=settings.max_bytes, headers=conditions
        )
        if response.is_truncated and self._extractor.needs_whole_body(response):
            response = await self._fetcher.fetch(
                url, deadline=deadline, max_body_bytes=settings.document_max_bytes, headers={}, cut=False
            )
        return response

    async def _confirm_cached(self, cached: "CacheEntry", response: HttpResponse, *, main: bool) -> FetchedPage:
        """Record that the server has answered 304 Not Modified, and return the cached page."""
        now = self._clock()
        confirmed = replace(
            cached,
            checked_at=now,
            fresh_until=now + compute_lifetime(response.headers),
            etag=response.headers.get("etag", cached.etag),
            last_modified=response.headers.get("last-modified", cached.last_modified),
        )
        await self._cache.record_revalidation(confirmed, main=main)
        return replace(cached.page, revalidated=True)

    async def _store_page(self, page: FetchedPage, response: HttpResponse, now: float, *, main: bool) -> None:
        """Put the page into the cache, or remove the old copy if its server forbids storing it."""
        from outrider.pages.cache.cache import CacheEntry

        if not is_storable(response.headers):
            await self._cache.delete(page.requested_url, main=main)
            return
        if page.is_rendered:  # the server's validators describe the source, not what its scripts made of it
            entry = CacheEntry(page, now, now, "", "")
        else:
            fresh_until = now + compute_lifetime(response.headers)
            etag, last_modified = response.headers.get("etag", ""), response.headers.get("last-modified", "")
            entry = CacheEntry(page, now, fresh_until, etag, last_modified)
        await self._cache.put(entry, main=main)

    async def _render_page(self, page: FetchedPage, options: ReadOptions) -> FetchedPage:
        """Return the page after its scripts have run, if that is wanted and, with `auto`, adds text."""
        if page.html is None or options.render == "never":
            return page
        if options.render == "always":
            return await self._render_in_browser(page, main=options.main)
        if self._render is not None and page.is_script_shell:
            with self._limit_render_time():
                rendered = await self._render_in_browser(page, main=options.main)
                if len(rendered.document.text) >= len(page.document.text):
                    return rendered
        return page

    async def _take_markdown_twin(self, page: FetchedPage, response: HttpResponse, options: ReadOptions) -> FetchedPage:
        """Return the page with the Markdown that its site publishes of it, if that says as much."""
        if page.html is None or page.is_rendered or not options.main:
            return page

        async def check_allowed(address: str) -> None:
            if (options.robots or self._settings.page_robots) == "respect":
                await self.robots_policy.check_allowed(address)

        return await self._site_markdown.take_twin(page, response, check_allowed, negotiate=options.markdown_first)

    async def _render_blocked_page(self, url: str, error: OutriderError, options: ReadOptions) -> FetchedPage | None:
        """Return the page as a browser gets it; None unless that gets past the error and any bot check."""
        # Only an explicit `always` opens a browser for plain refusals, which a browser may avoid.
        renderable_codes: dict[RenderMode, set[str]] = {
            "auto": {"blocked_by_site"},
            "always": {"blocked_by_site", "forbidden", "http_status"},
            "never": set(),
        }
        if self._render is None or error.code not in renderable_codes[options.render]:
            return None
        empty_page = FetchedPage(url, url, 200, "text/html", self._clock(), Document(""))
        with self._limit_render_time():
            page = await self._render_in_browser(empty_page, main=options.main)
            return None if is_bot_wall(page.html or "") else page
        return None

    async def _ask_remote_reader(self, url: str, error: OutriderError, options: ReadOptions) -> FetchedPage | None:
        """Return a page that refuses us as the operator's reader service reads it; None if it cannot."""
        if not self._settings.reader_url or not options.remote_reader or not is_refusal(error):
            return None
        service = RemoteReader(self._http, self._settings.reader_url, self._settings.max_bytes)
        seconds_left = anyio.current_effective_deadline() - anyio.current_time()
        with self._limit_render_time():
            reading = await service.read(url, timeout_s=max(seconds_left, 0.001))
            if reading is None:
                return None
            headers = Headers([("content-type", "text/markdown; charset=utf-8")])
            response = HttpResponse(url, 200, headers, reading.markdown.encode())
            page = await self._extractor.extract_page(
                response, url, UrlFragment(), main=options.main, fetched_at=self._clock()
            )
            document = replace(
                page.document,
                title=reading.title or page.document.title,
                published=reading.published or page.document.published,
                metadata={**page.document.metadata, READ_THROUGH_KEY: service.name},
            )
            reading_page = replace(page, document=document)
            await self._store_page(reading_page, response, self._clock(), main=options.main)
            return reading_page
        return None

    async def _render_in_browser(self, page: FetchedPage, *, main: bool) -> FetchedPage:
        if self._render is None:
            raise NotConfigured("render: no browser is available here", hint="leave out `render`")
        return await self._extractor.extract_rendered(page, await self._render(page.url), main=main)

    @contextmanager
    def _limit_render_time(self) -> Generator[None]:
        """Ignore a browser that fails or takes too long.

        The page read without it is kept.
        """
        reserved_s = 1.0  # of the page's time, for the steps after rendering
        seconds_left = anyio.current_effective_deadline() - anyio.current_time()
        with suppress(OutriderError), anyio.move_on_after(max(seconds_left - reserved_s, 0)):
            yield

    @contextmanager
    def _limit_time(self, url: str) -> Generator[None]:
        """Raise Unavailable with code `timeout` when the body takes longer than `pages.timeout_s`."""
        seconds = self._settings.timeout_s
        with anyio.move_on_after(seconds) as scope:
            yield
        if scope.cancelled_caught:
            raise Unavailable(
                f"{url} was not read within {seconds:g} seconds",
                code="timeout",
                hint="try again once, or choose another source; an operator can raise pages.timeout_s",
            )

    # The following are built at first use, because their modules are slow to import.

    @cached_property
    def robots_policy(self) -> "RobotsPolicy":
        """The robots.txt rules of all hosts."""
        from outrider.pages.fetching.robots import RobotsPolicy

        return RobotsPolicy(self._http, clock=self._clock)

    @cached_property
    def _cache(self) -> "PageCache":
        from outrider.pages.cache.cache import PageCache

        return PageCache(self._database, self._settings.cache_bytes, clock=self._clock)

    @cached_property
    def _fetcher(self) -> "PageFetcher":
        from outrider.pages.fetching.fetch import PageFetcher, Politeness

        settings = self._settings
        politeness = Politeness(settings.per_host_rate, settings.per_host_concurrency, self._database)
        return PageFetcher(self._http, politeness, self._attempts, settings.user_agent, self._clock, self._sleep)

    @cached_property
    def _extractor(self) -> "PageExtractor":
        from outrider.pages.page_extractor import PageExtractor

        return PageExtractor(self._settings)

    @cached_property
    def _site_markdown(self) -> SiteMarkdown:
        async def extract_page(response: HttpResponse, url: str) -> FetchedPage:
            return await self._extractor.extract_page(response, url, UrlFragment(), main=True, fetched_at=self._clock())

        return SiteMarkdown(self._fetch_page, extract_page, self._clock)
