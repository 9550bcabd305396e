"""Reading pages: what `Pages` does."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

import anyio
import anyio.to_thread

from outrider.core.database.database import Database
from outrider.core.egress.target import parse_target
from outrider.core.errors import NotConfigured, OutriderError, Refused, Unavailable
from outrider.core.http import HttpClient, HttpResponse
from outrider.pages.cache import page_search
from outrider.pages.cache.cache import CacheEntry, PageCache
from outrider.pages.cache.freshness import build_conditions, compute_lifetime, is_storable
from outrider.pages.cache.page_search import LocalHit
from outrider.pages.document import Document
from outrider.pages.excerpt import DocumentExcerpt, find_excerpts
from outrider.pages.fetched_page import RENDERED_KEY, FetchedPage
from outrider.pages.fetching.failures import is_bot_wall
from outrider.pages.fetching.fetch import PageFetcher
from outrider.pages.fetching.politeness import Politeness
from outrider.pages.fetching.robots import RobotsPolicy
from outrider.pages.fragment import UrlFragment, parse_fragment
from outrider.pages.images import SavedImage, save_image
from outrider.pages.mime.sniff import detect_mime_type
from outrider.pages.reader import READ_TIME_SHARE, ReaderInput, format_size
from outrider.pages.refresh import find_refresh_target
from outrider.pages.registry import find_reader, has_fragments, is_whole_body_needed, read_nested
from outrider.pages.settings import PagesSettings, RobotsMode
from outrider.pages.worker.runner import ReaderRunner

RenderPage = Callable[[str], Awaitable[str]]
RenderMode = Literal["auto", "always", "never"]
HTML_TYPE = "text/html"


class Reading:
    """Reads pages, keeps them, and finds them again; the arguments are those of `Pages`."""

    def __init__(
        self,
        http: HttpClient,
        settings: PagesSettings,
        database: Database,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
        render: RenderPage | None,
    ) -> None:
        self._http = http
        self._settings = settings
        self._database = database
        self._clock = clock
        self._render = render
        self._cache = PageCache(database, settings.cache_bytes, clock=clock)
        self.robots_policy = RobotsPolicy(http, clock=clock)
        self._runner = ReaderRunner()
        politeness = Politeness(settings.per_host_rate, settings.per_host_concurrency, database)
        self._fetch = PageFetcher(http, politeness, settings.attempts, settings.user_agent, clock, sleep)

    async def read(
        self,
        url: str,
        *,
        max_age: float | None,
        main: bool,
        robots: RobotsMode | None,
        render: RenderMode,
    ) -> FetchedPage:
        """As `Pages.read`."""
        address, place = parse_target(url).url, parse_fragment(url)
        bound = robots or self._settings.robots
        with anyio.move_on_after(self._settings.seconds):
            page = await self._read_url(address, place, max_age, main=main, robots=bound, render=render)
            last = await self._follow_refreshes(page, max_age, main=main, robots=bound, render=render)
            return replace(last, requested_url=page.requested_url)
        raise self._build_timeout_error(address)

    async def find_excerpts(self, page: FetchedPage, query: str, *, max_tokens: int) -> list[DocumentExcerpt]:
        """As `Pages.excerpts`."""
        return await anyio.to_thread.run_sync(
            lambda: find_excerpts(page.document.markdown, query, max_tokens=max_tokens), abandon_on_cancel=True
        )

    async def save_image(self, url: str, folder: Path, *, filename: str | None) -> SavedImage:
        """As `Pages.image`."""
        address, size = parse_target(url).url, self._settings.images_max_bytes
        deadline = anyio.current_time() + self._settings.seconds
        with anyio.move_on_after(self._settings.seconds):
            reply = await self._fetch.fetch(
                address, deadline=deadline, max_body_bytes=size, headers={"accept": "image/*"}, cut=False
            )
            return await anyio.to_thread.run_sync(lambda: save_image(reply, folder, url=address, filename=filename))
        raise self._build_timeout_error(address)

    async def fetch_body(self, url: str, *, size: int) -> HttpResponse:
        """As `Pages.source`."""
        address = parse_target(url).url
        deadline = anyio.current_time() + self._settings.seconds
        with anyio.move_on_after(self._settings.seconds):
            return await self._fetch.fetch(address, deadline=deadline, max_body_bytes=size, headers={})
        raise self._build_timeout_error(address)

    async def search_cached(self, query: str, limit: int) -> list[LocalHit]:
        """As `Pages.search`."""
        return await page_search.search_pages(self._database, query, limit)

    async def _follow_refreshes(
        self, page: FetchedPage, max_age: float | None, *, main: bool, robots: RobotsMode, render: RenderMode
    ) -> FetchedPage:
        """The page that a page sends on to which has nothing else to say."""
        max_refreshes = 3  # pages that only send on, one after the other
        for _ in range(max_refreshes):
            if not (target := find_refresh_target(page)):
                break
            page = await self._read_url(target, UrlFragment(), max_age, main=main, robots=robots, render=render)
        return page

    async def _read_url(
        self,
        address: str,
        fragment: UrlFragment,
        max_age: float | None,
        *,
        main: bool,
        robots: RobotsMode,
        render: RenderMode,
    ) -> FetchedPage:
        # Refusals that a browser may not meet; the second are only tried when somebody asks for one.
        renderable_codes = {
            "auto": {"blocked_by_site"},
            "always": {"blocked_by_site", "forbidden", "http_status"},
            "never": set(),
        }
        url = address + fragment.suffix
        cached = await self._find_cached(address, fragment, main=main)
        cached = cached if cached and _suits(cached.page, render) else None
        if cached is not None and self._is_fresh(cached, max_age):
            return cached.page
        if robots == "respect":
            await self.robots_policy.check_allowed(url)
        headers = build_conditions(cached.etag, cached.last_modified) if cached else {}
        try:
            reply = await self._fetch_reply(url, headers)
        except OutriderError as error:
            if error.code in renderable_codes[render] and (page := await self._render_past_block(address, main=main)):
                return page
            if cached is None or not self._stands_in(cached, error):
                raise
            return replace(cached.page, stale=True)
        if reply.status == 304 and cached is not None:
            return await self._confirm_cached(cached, reply, main=main)
        return await self._build_and_store(address, fragment, reply, main=main, render=render)

    async def _find_cached(self, address: str, fragment: UrlFragment, *, main: bool) -> CacheEntry | None:
        """What was kept of a place in a document; of what has no places, the whole."""
        url = address + fragment.suffix
        cached = await self._cache.get(url, main=main)
        if cached is None and fragment.suffix:
            url, whole = address, await self._cache.get(address, main=main)
            cached = whole if whole and not has_fragments(whole.page.content_type) else None
        return cached and replace(cached, page=replace(cached.page, requested_url=url))

    def _is_fresh(self, cached: CacheEntry, max_age: float | None) -> bool:
        age = self._clock() - cached.checked_at
        if max_age is not None:
            return 0 <= age < max_age
        return 0 <= age < self._settings.max_age or self._clock() < cached.fresh_until

    def _stands_in(self, cached: CacheEntry, error: OutriderError) -> bool:
        is_trouble = isinstance(error, Unavailable) and error.code != "blocked_by_site"
        return is_trouble and self._clock() - cached.checked_at <= self._settings.stale_if_error

    async def _fetch_reply(self, url: str, headers: dict[str, str]) -> HttpResponse:
        """The body; one that was cut is asked for again whole, where half of it cannot be read."""
        deadline = anyio.current_time() + self._settings.seconds
        reply = await self._fetch.fetch(
            url, deadline=deadline, max_body_bytes=self._settings.max_bytes, headers=headers
        )
        if reply.is_truncated and is_whole_body_needed(detect_mime_type(reply.content_type, reply.body, reply.url)):
            size = self._settings.pdf_max_bytes
            reply = await self._fetch.fetch(url, deadline=deadline, max_body_bytes=size, headers={}, cut=False)
        return reply

    async def _confirm_cached(self, cached: CacheEntry, reply: HttpResponse, *, main: bool) -> FetchedPage:
        now = self._clock()
        cached = replace(
            cached,
            checked_at=now,
            fresh_until=now + compute_lifetime(reply.headers, self._settings.freshness_cap),
            etag=reply.headers.get("etag", cached.etag),
            last_modified=reply.headers.get("last-modified", cached.last_modified),
        )
        await self._cache.record_revalidation(cached, main=main)
        return replace(cached.page, revalidated=True)

    async def _build_and_store(
        self, address: str, fragment: UrlFragment, reply: HttpResponse, *, main: bool, render: RenderMode
    ) -> FetchedPage:
        """A new page, kept if its server lets us."""
        now = self._clock()
        page = await self._build_page(address, fragment, reply, now, main=main)
        page = await self._render_if_needed(page, render, main=main)
        if is_storable(reply.headers):
            fresh = now + compute_lifetime(reply.headers, self._settings.freshness_cap)
            validators = reply.headers.get("etag", ""), reply.headers.get("last-modified", "")
            if page.is_rendered:  # what the server says of the source it does not say of what scripts made of it
                fresh, validators = now, ("", "")
            await self._cache.put(CacheEntry(page, now, fresh, *validators), main=main)
        else:
            await self._cache.delete(page.requested_url, main=main)
        return page

    async def _build_page(
        self, address: str, fragment: UrlFragment, reply: HttpResponse, now: float, *, main: bool
    ) -> FetchedPage:
        report_share = 0.1  # of the time that is left for reading: with it is told that the rest was not enough
        partial_content = 206  # of what was not asked for in part
        mime = detect_mime_type(reply.content_type, reply.body, reply.url)
        reader = find_reader(mime, reply.url, _measure_resource(reply))
        source = self._build_input(reply.body, reply.url, mime, reply.charset, main=main)
        left = anyio.current_effective_deadline() - anyio.current_time()
        fragment = fragment if reader.has_fragments else UrlFragment()
        with anyio.move_on_after(left * (1 - report_share)):
            document, html = await self._runner.read_document(
                reader,
                replace(source, first_page=fragment.page, file=fragment.file, time_limit_s=left * READ_TIME_SHARE),
            )
            requested, answered = address + fragment.suffix, reply.url + fragment.suffix
            return FetchedPage(
                requested,
                answered,
                reply.status,
                mime,
                now,
                document,
                html,
                cut=reply.is_truncated or reply.status == partial_content,
            )
        raise self._build_slow_error(reply)

    async def _render_if_needed(self, page: FetchedPage, render: RenderMode, *, main: bool) -> FetchedPage:
        """The page after its scripts have run, if that is wished, or if it is next to empty without them."""
        if page.html is None or render == "never":
            return page
        if render == "always":
            return await self._render_in_browser(page, main=main)
        if self._render is None or not page.is_script_shell:
            return page
        with self._limit_render_time():
            made = await self._render_in_browser(page, main=main)
            if len(made.document.text) >= len(page.document.text):
                return made
        return page

    async def _render_past_block(self, url: str, *, main: bool) -> FetchedPage | None:
        """The page as a browser gets it, if that gets more than a robot check."""
        if self._render is None:
            return None
        empty = FetchedPage(url, url, 200, HTML_TYPE, self._clock(), Document(""))
        with self._limit_render_time():
            page = await self._render_in_browser(empty, main=main)
            return None if is_bot_wall(page.html or "") else page
        return None

    async def _render_in_browser(self, page: FetchedPage, *, main: bool) -> FetchedPage:
        if self._render is None:
            raise NotConfigured("render: there is no browser here", hint="leave out `render`")
        body = (await self._render(page.url)).encode("utf-8", "replace")[: self._settings.max_bytes]
        source = self._build_input(body, page.url, HTML_TYPE, "utf-8", main=main)
        document, html = await self._runner.read_document(find_reader(HTML_TYPE), source)
        return replace(page, document=replace(document, metadata=document.metadata | {RENDERED_KEY: True}), html=html)

    @contextmanager
    def _limit_render_time(self) -> Generator[None]:
        """What a browser fails at, or has no time for, loses nothing of what was read without it."""
        reserved_s = 1.0  # seconds that are kept of a page's time for what comes after rendering
        left = anyio.current_effective_deadline() - anyio.current_time()
        with suppress(OutriderError), anyio.move_on_after(max(left - reserved_s, 0)):
            yield

    def _build_timeout_error(self, url: str) -> Unavailable:
        seconds = self._settings.seconds
        return Unavailable(
            f"{url} did not come within {seconds:g} seconds",
            code="timeout",
            hint="try again once, or choose another source; an operator gives it more time with pages.seconds",
        )

    def _build_slow_error(self, reply: HttpResponse) -> Refused:
        """The error for what came, but takes too long to read: to try again would take as long."""
        return Refused(
            f"{reply.url} came, but to read its {format_size(_measure_resource(reply))} takes longer than the "
            f"{self._settings.seconds:g} seconds that a page has",
            code="slow_document",
            hint="look for a smaller copy, a part of it or another format; "
            "an operator gives it more time with pages.seconds",
        )

    def _build_input(self, body: bytes, url: str, mime: str, charset: str | None, *, main: bool) -> ReaderInput:
        chosen = self._settings
        return ReaderInput(
            body,
            url,
            mime,
            charset,
            main,
            max_chars=chosen.extract_chars,
            max_tags=chosen.extract_tags,
            max_pages=chosen.pdf_max_pages,
            read_nested=read_nested,
        )


def _suits(page: FetchedPage, render: RenderMode) -> bool:
    """Whether a kept page is one of the wished kind."""
    return render == "auto" or page.is_rendered == (render == "always")


def _measure_resource(reply: HttpResponse) -> int:
    """The size of the whole resource, where the server says it."""
    given = reply.headers.get("content-length", "")
    declared = int(given) if given.isascii() and given.isdigit() and len(given) < 16 else 0
    return max(declared, len(reply.body))
