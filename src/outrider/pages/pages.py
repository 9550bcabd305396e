"""Reading pages: the domain's one class. What it takes is imported when somebody reads (`reading`)."""

import time
from collections.abc import Awaitable, Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from outrider.core.database.database import Database
from outrider.core.http import HttpClient, HttpResponse
from outrider.pages.settings import PagesSettings, RobotsMode

if TYPE_CHECKING:
    from outrider.pages.cache.page_search import LocalHit
    from outrider.pages.excerpt import DocumentExcerpt
    from outrider.pages.fetched_page import FetchedPage
    from outrider.pages.fetching.robots import RobotsPolicy
    from outrider.pages.images import SavedImage
    from outrider.pages.reading import Reading, RenderMode, RenderPage


class Pages:
    """Reads pages, keeps them, and finds them again.

    Args:
        http: The guarded client.
        settings: Limits and policies.
        database: Holds the cache.
        clock: The time in seconds since the epoch.
        sleep: Waits between attempts.
        render: Gives the HTML of an address after its scripts have run, for pages that are empty
            without them.
    """

    def __init__(
        self,
        http: "HttpClient",
        settings: "PagesSettings",
        database: Database,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        render: "RenderPage | None" = None,
    ) -> None:
        self._parts = (http, settings, database)
        self._clock = clock
        self._sleep = sleep
        self._render = render

    @property
    def robots_policy(self) -> "RobotsPolicy":
        """What robots.txt of the sites allows."""
        return self._reading.robots_policy

    async def read(
        self,
        url: str,
        *,
        max_age: float | None = None,
        main: bool = True,
        robots: "RobotsMode | None" = None,
        render: "RenderMode" = "auto",
    ) -> "FetchedPage":
        """The page at an address.

        Args:
            url: http or https; read as a browser reads it, its fragment left out, but for `#page=12` of a PDF
                and `#file=a.csv` of an archive.
            max_age: Seconds within which a kept copy is given without asking; 0 always asks.
                Default: the setting, or longer where the server says that it stays fresh.
            main: Whether to leave out what surrounds the main content.
            robots: Whether robots.txt binds; default: the setting.
            render: Whether a browser runs the page's scripts first; `auto` where the page is next to
                empty without them, or a robot check stands before it.

        Returns:
            The page. Within its age, every reading of an address gives the same text.

        Raises:
            InvalidInput: code `bad_url`.
            NotFound: HTTP 404 or 410.
            Refused: code `egress`, `robots`, `forbidden`, `http_status`, `unreadable_type`, `image`,
                `slow_document` or `encrypted`; with `details["status"]` where a status said so.
            Unavailable: the server, the network or the deadline (codes of `core.http`,
                `server_error`, `rate_limited`, `blocked_by_site`, `broken_file`, `unreadable`).
        """
        return await self._reading.read(url, max_age=max_age, main=main, robots=robots, render=render)

    async def find_excerpts(
        self, page: "FetchedPage", query: str, *, max_tokens: int = 1_500
    ) -> "list[DocumentExcerpt]":
        """The page's passages that answer a question, in their order, within a budget of tokens.

        Each is a slice of `page.document.markdown`; empty if none shares a word with the query.
        """
        return await self._reading.find_excerpts(page, query, max_tokens=max_tokens)

    async def save_image(self, url: str, folder: "Path", *, filename: str | None = None) -> "SavedImage":
        """Saves a picture into a folder of the caller's choice; never over another file.

        Args:
            url: The picture's address.
            folder: Where to; made if it is missing. The caller vouches for it.
            filename: The wanted name; default: one made of the address.

        Raises:
            Refused: code `not_an_image`, or as `read` does.
            Unavailable: code `disk` or `too_large`, or as `read` does.
        """
        return await self._reading.save_image(url, folder, filename=filename)

    async def fetch_body(self, url: str, *, size: int) -> "HttpResponse":
        """The bytes at an address, as they are and at most so many. Raises as `read` does."""
        return await self._reading.fetch_body(url, size=size)

    async def search_cached(self, query: str, limit: int = 10) -> "list[LocalHit]":
        """The best of the pages that were read and are still kept. Raises Unavailable without a database."""
        return await self._reading.search_cached(query, limit)

    @cached_property
    def _reading(self) -> "Reading":
        from outrider.pages.reading import Reading

        return Reading(*self._parts, clock=self._clock, sleep=self._sleep, render=self._render)
