"""Reading pages: what `Pages` does."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

import anyio
import anyio.to_thread

from outrider.core.db import Database
from outrider.core.egress.target import read_target
from outrider.core.errors import NotConfigured, OutriderError, Refused, Unavailable
from outrider.core.http import Http, Reply
from outrider.pages.document import Document
from outrider.pages.excerpt import Excerpt, excerpts
from outrider.pages.fetching.failures import is_wall
from outrider.pages.fetching.fetch import Fetch
from outrider.pages.fetching.politeness import Politeness
from outrider.pages.fetching.robots import RobotsPolicy
from outrider.pages.images import SavedImage, save
from outrider.pages.keeping import library
from outrider.pages.keeping.cache import Cache, Cached
from outrider.pages.keeping.freshness import conditions, lifetime, may_store
from outrider.pages.keeping.library import LocalHit
from outrider.pages.page import RENDERED, Page
from outrider.pages.place import Place, place_of
from outrider.pages.reader import READING, Source, size_of
from outrider.pages.refresh import refreshed
from outrider.pages.registry import has_places, needs_whole, read_within, reader_for
from outrider.pages.settings import PagesSettings, Robots
from outrider.pages.sniffing.sniff import sniff
from outrider.pages.worker.run import Runner

Render = Callable[[str], Awaitable[str]]
Rendering = Literal["auto", "always", "never"]
# Refusals that a browser may not meet; the second are only tried when somebody asks for one.
WALLED = {"auto": {"blocked_by_site"}, "always": {"blocked_by_site", "forbidden", "http_status"}, "never": set()}
HTML = "text/html"
PART = 206  # of what was not asked for in part
REFRESHES = 3  # pages that only send on, one after the other
SPARE = 1.0  # seconds that are kept of a page's time for what comes after rendering
TELLING = 0.1  # of the time that is left for reading: with it is told that the rest was not enough


class Reading:
    """Reads pages, keeps them, and finds them again; the arguments are those of `Pages`."""

    def __init__(
        self,
        http: Http,
        settings: PagesSettings,
        database: Database,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
        render: Render | None,
    ) -> None:
        self._http = http
        self._settings = settings
        self._database = database
        self._clock = clock
        self._render = render
        self._cache = Cache(database, settings.cache_bytes, clock=clock)
        self.robots = RobotsPolicy(http, clock=clock)
        self._runner = Runner()
        politeness = Politeness(settings.per_host_rate, settings.per_host_concurrency, database)
        self._fetch = Fetch(http, politeness, settings.attempts, settings.user_agent, clock, sleep)

    async def read(
        self,
        url: str,
        *,
        max_age: float | None,
        main: bool,
        robots: Robots | None,
        render: Rendering,
    ) -> Page:
        """As `Pages.read`."""
        address, place = read_target(url).url, place_of(url)
        bound = robots or self._settings.robots
        with anyio.move_on_after(self._settings.seconds):
            page = await self._read(address, place, max_age, main=main, robots=bound, render=render)
            last = await self._followed(page, max_age, main=main, robots=bound, render=render)
            return replace(last, requested_url=page.requested_url)
        raise self._late(address)

    async def excerpts(self, page: Page, query: str, *, max_tokens: int) -> list[Excerpt]:
        """As `Pages.excerpts`."""
        return await anyio.to_thread.run_sync(
            lambda: excerpts(page.document.markdown, query, max_tokens=max_tokens), abandon_on_cancel=True
        )

    async def image(self, url: str, folder: Path, *, filename: str | None) -> SavedImage:
        """As `Pages.image`."""
        address, size = read_target(url).url, self._settings.images_max_bytes
        deadline = anyio.current_time() + self._settings.seconds
        with anyio.move_on_after(self._settings.seconds):
            reply = await self._fetch.get(
                address, deadline=deadline, body=size, headers={"accept": "image/*"}, cut=False
            )
            return await anyio.to_thread.run_sync(lambda: save(reply, folder, url=address, filename=filename))
        raise self._late(address)

    async def source(self, url: str, *, size: int) -> Reply:
        """As `Pages.source`."""
        address = read_target(url).url
        deadline = anyio.current_time() + self._settings.seconds
        with anyio.move_on_after(self._settings.seconds):
            return await self._fetch.get(address, deadline=deadline, body=size, headers={})
        raise self._late(address)

    async def search(self, query: str, limit: int) -> list[LocalHit]:
        """As `Pages.search`."""
        return await library.search(self._database, query, limit)

    async def _followed(
        self, page: Page, max_age: float | None, *, main: bool, robots: Robots, render: Rendering
    ) -> Page:
        """The page that a page sends on to which has nothing else to say."""
        for _ in range(REFRESHES):
            if not (target := refreshed(page)):
                break
            page = await self._read(target, Place(), max_age, main=main, robots=robots, render=render)
        return page

    async def _read(
        self, address: str, place: Place, max_age: float | None, *, main: bool, robots: Robots, render: Rendering
    ) -> Page:
        url = address + place.mark
        cached = await self._kept(address, place, main=main)
        cached = cached if cached and _suits(cached.page, render) else None
        if cached is not None and self._holds(cached, max_age):
            return cached.page
        if robots == "respect":
            await self.robots.check(url)
        headers = conditions(cached.etag, cached.last_modified) if cached else {}
        try:
            reply = await self._reply(url, headers)
        except OutriderError as error:
            if error.code in WALLED[render] and (page := await self._past_wall(address, main=main)):
                return page
            if cached is None or not self._stands_in(cached, error):
                raise
            return replace(cached.page, stale=True)
        if reply.status == 304 and cached is not None:
            return await self._confirmed(cached, reply, main=main)
        return await self._made(address, place, reply, main=main, render=render)

    async def _kept(self, address: str, place: Place, *, main: bool) -> Cached | None:
        """What was kept of a place in a document; of what has no places, the whole."""
        url = address + place.mark
        cached = await self._cache.get(url, main=main)
        if cached is None and place.mark:
            url, whole = address, await self._cache.get(address, main=main)
            cached = whole if whole and not has_places(whole.page.content_type) else None
        return cached and replace(cached, page=replace(cached.page, requested_url=url))

    def _holds(self, cached: Cached, max_age: float | None) -> bool:
        age = self._clock() - cached.checked_at
        if max_age is not None:
            return 0 <= age < max_age
        return 0 <= age < self._settings.max_age or self._clock() < cached.fresh_until

    def _stands_in(self, cached: Cached, error: OutriderError) -> bool:
        is_trouble = isinstance(error, Unavailable) and error.code != "blocked_by_site"
        return is_trouble and self._clock() - cached.checked_at <= self._settings.stale_if_error

    async def _reply(self, url: str, headers: dict[str, str]) -> Reply:
        """The body; one that was cut is asked for again whole, where half of it cannot be read."""
        deadline = anyio.current_time() + self._settings.seconds
        reply = await self._fetch.get(url, deadline=deadline, body=self._settings.max_bytes, headers=headers)
        if reply.cut and needs_whole(sniff(reply.content_type, reply.body, reply.url)):
            size = self._settings.pdf_max_bytes
            reply = await self._fetch.get(url, deadline=deadline, body=size, headers={}, cut=False)
        return reply

    async def _confirmed(self, cached: Cached, reply: Reply, *, main: bool) -> Page:
        now = self._clock()
        cached = replace(
            cached,
            checked_at=now,
            fresh_until=now + lifetime(reply.headers, self._settings.freshness_cap),
            etag=reply.headers.get("etag", cached.etag),
            last_modified=reply.headers.get("last-modified", cached.last_modified),
        )
        await self._cache.confirm(cached, main=main)
        return replace(cached.page, revalidated=True)

    async def _made(self, address: str, place: Place, reply: Reply, *, main: bool, render: Rendering) -> Page:
        """A new page, kept if its server lets us."""
        now = self._clock()
        page = await self._page(address, place, reply, now, main=main)
        page = await self._rendered(page, render, main=main)
        if may_store(reply.headers):
            fresh = now + lifetime(reply.headers, self._settings.freshness_cap)
            validators = reply.headers.get("etag", ""), reply.headers.get("last-modified", "")
            if page.rendered:  # what the server says of the source it does not say of what scripts made of it
                fresh, validators = now, ("", "")
            await self._cache.put(Cached(page, now, fresh, *validators), main=main)
        else:
            await self._cache.forget(page.requested_url, main=main)
        return page

    async def _page(self, address: str, place: Place, reply: Reply, now: float, *, main: bool) -> Page:
        mime = sniff(reply.content_type, reply.body, reply.url)
        reader = reader_for(mime, reply.url, _size(reply))
        source = self._source(reply.body, reply.url, mime, reply.charset, main=main)
        left = anyio.current_effective_deadline() - anyio.current_time()
        place = place if reader.places else Place()
        with anyio.move_on_after(left * (1 - TELLING)):
            document, html = await self._runner.run(
                reader, replace(source, first=place.page, file=place.file, seconds=left * READING)
            )
            requested, answered = address + place.mark, reply.url + place.mark
            return Page(
                requested, answered, reply.status, mime, now, document, html, cut=reply.cut or reply.status == PART
            )
        raise self._slow(reply)

    async def _rendered(self, page: Page, render: Rendering, *, main: bool) -> Page:
        """The page after its scripts have run, if that is wished, or if it is next to empty without them."""
        if page.html is None or render == "never":
            return page
        if render == "always":
            return await self._in_browser(page, main=main)
        if self._render is None or not page.is_shell:
            return page
        with self._while_time_is_left():
            made = await self._in_browser(page, main=main)
            if len(made.document.text) >= len(page.document.text):
                return made
        return page

    async def _past_wall(self, url: str, *, main: bool) -> Page | None:
        """The page as a browser gets it, if that gets more than a robot check."""
        if self._render is None:
            return None
        empty = Page(url, url, 200, HTML, self._clock(), Document(""))
        with self._while_time_is_left():
            page = await self._in_browser(empty, main=main)
            return None if is_wall(page.html or "") else page
        return None

    async def _in_browser(self, page: Page, *, main: bool) -> Page:
        if self._render is None:
            raise NotConfigured("render: there is no browser here", hint="leave out `render`")
        body = (await self._render(page.url)).encode("utf-8", "replace")[: self._settings.max_bytes]
        source = self._source(body, page.url, HTML, "utf-8", main=main)
        document, html = await self._runner.run(reader_for(HTML), source)
        return replace(page, document=replace(document, metadata=document.metadata | {RENDERED: True}), html=html)

    @contextmanager
    def _while_time_is_left(self) -> Generator[None]:
        """What a browser fails at, or has no time for, loses nothing of what was read without it."""
        left = anyio.current_effective_deadline() - anyio.current_time()
        with suppress(OutriderError), anyio.move_on_after(max(left - SPARE, 0)):
            yield

    def _late(self, url: str) -> Unavailable:
        seconds = self._settings.seconds
        return Unavailable(
            f"{url} did not come within {seconds:g} seconds",
            code="timeout",
            hint="try again once, or choose another source; an operator gives it more time with pages.seconds",
        )

    def _slow(self, reply: Reply) -> Refused:
        """The error for what came, but takes too long to read: to try again would take as long."""
        return Refused(
            f"{reply.url} came, but to read its {size_of(_size(reply))} takes longer than the "
            f"{self._settings.seconds:g} seconds that a page has",
            code="slow_document",
            hint="look for a smaller copy, a part of it or another format; "
            "an operator gives it more time with pages.seconds",
        )

    def _source(self, body: bytes, url: str, mime: str, charset: str | None, *, main: bool) -> Source:
        chosen = self._settings
        return Source(
            body,
            url,
            mime,
            charset,
            main,
            chars=chosen.extract_chars,
            tags=chosen.extract_tags,
            pages=chosen.pdf_max_pages,
            within=read_within,
        )


def _suits(page: Page, render: Rendering) -> bool:
    """Whether a kept page is one of the wished kind."""
    return render == "auto" or page.rendered == (render == "always")


def _size(reply: Reply) -> int:
    """The size of the whole resource, where the server says it."""
    given = reply.headers.get("content-length", "")
    declared = int(given) if given.isascii() and given.isdigit() and len(given) < 16 else 0
    return max(declared, len(reply.body))
