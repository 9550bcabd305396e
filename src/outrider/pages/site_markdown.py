"""Read the Markdown that sites publish of their pages, and remember which sites do so well."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol
from urllib.parse import urlsplit

import anyio

from outrider.core.errors import OutriderError
from outrider.core.http import Headers, HttpResponse
from outrider.pages.fetched_page import MARKDOWN_TWIN_KEY, FetchedPage
from outrider.pages.markdown_twin import apply_twin, drop_lines, find_markdown_twin, match_twin

MARKDOWN_TYPE = "text/markdown"
MARKDOWN_FIRST = {"accept": "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, */*;q=0.5"}

FetchPage = Callable[[str, dict[str, str]], Awaitable[HttpResponse]]
CheckAddress = Callable[[str], Awaitable[None]]


class ExtractPage(Protocol):
    """Extracts the page of a response."""

    async def __call__(self, response: HttpResponse, url: str) -> FetchedPage:
        """Return the page of a response to a request for an address."""
        ...


@dataclass(frozen=True)
class MarkdownSite:
    """The result of comparing one page of a host.

    Attributes:
        is_good: Whether its Markdown said as much as the page, and nothing else.
        expires_at: When to compare again, in seconds since the epoch.
        is_negotiated: Whether pages answer with Markdown if they are asked for it.
        pages_left: Pages to read as Markdown alone before the next comparison.
        unseen_lines: Lines of the Markdown that the page did not show.
    """

    is_good: bool
    expires_at: float
    is_negotiated: bool = False
    pages_left: int = 0
    unseen_lines: frozenset[str] = frozenset()


class SiteMarkdown:
    """Read pages as the Markdown of their sites where that is as good as our own reading.

    Args:
        fetch: Requests an address with these headers.
        extract: Extracts the page of a response.
        clock: The time in seconds since the epoch.
    """

    def __init__(self, fetch: FetchPage, extract: ExtractPage, clock: Callable[[], float]) -> None:
        self._fetch = fetch
        self._extract = extract
        self._clock = clock
        self._sites: OrderedDict[str, MarkdownSite] = OrderedDict()

    async def read_negotiated(self, url: str, conditions: dict[str, str]) -> tuple[HttpResponse, FetchedPage | None]:
        """Ask a site that is known for it for Markdown.

        Returns:
            The response, and the page, or None if the response is not Markdown with some text.
        """
        min_text_chars = 100  # below which the page itself is read
        site = self._sites[urlsplit(url).netloc]
        self._remember(url, replace(site, pages_left=site.pages_left - 1))
        try:
            response = await self._fetch(url, conditions | MARKDOWN_FIRST)
        except OutriderError as error:
            if error.code != "http_status":  # 406 Not Acceptable, for instance
                raise
            response = await self._fetch(url, conditions)
        if response.status == 304 or response.content_type.partition(";")[0].strip().lower() != MARKDOWN_TYPE:
            return response, None
        text = drop_lines(response.body.decode(response.charset or "utf-8", "replace"), site.unseen_lines)
        headers = Headers([("content-type", "text/markdown; charset=utf-8")])
        page = await self._extract(replace(response, body=text.encode("utf-8", "replace"), headers=headers), url)
        if len(page.document.text) < min_text_chars:
            return await self._fetch(url, {}), None
        metadata = page.document.metadata | {MARKDOWN_TWIN_KEY: page.url}
        return response, replace(page, document=replace(page.document, metadata=metadata))

    def is_expected(self, url: str) -> bool:
        """Return whether the site answers with good Markdown and need not be compared again by now."""
        site = self._find_site(url)
        return site is not None and site.is_good and site.is_negotiated and site.pages_left > 0

    async def take_twin(
        self, page: FetchedPage, response: HttpResponse, check_allowed: CheckAddress, *, negotiate: bool
    ) -> FetchedPage:
        """Return the page with the Markdown that its site publishes of it, if that says as much.

        A site whose Markdown said less, or something else, is not asked again for a day.

        Args:
            page: The page as we have read it.
            response: Its response, whose headers may declare Markdown.
            check_allowed: Raises where robots.txt forbids an address.
            negotiate: Whether to ask the page's own address for Markdown, if its site is likely to have some.
        """
        reserved_s = 2.0
        site = self._find_site(page.url)
        address = find_markdown_twin(page, response) or (page.url if self._is_likely(page, response) else "")
        if not address or (address == page.url and not negotiate) or (site is not None and not site.is_good):
            return page
        seconds_left = anyio.current_effective_deadline() - anyio.current_time()
        with suppress(OutriderError), anyio.move_on_after(max(seconds_left - reserved_s, 0)):
            if address != page.url:
                await check_allowed(address)
            twin = await self._extract(await self._fetch(address, MARKDOWN_FIRST), address)
            is_markdown = twin.content_type == MARKDOWN_TYPE and not twin.cut
            shown = match_twin(page.document, twin.document.markdown, page.html or "") if is_markdown else None
            if shown is not None:
                self._remember_good(page.url, shown.unseen_lines, is_negotiated=address == page.url)
                return apply_twin(page, shown.markdown, address)
        self._remember(page.url, MarkdownSite(is_good=False, expires_at=self._clock() + 86_400.0))
        return page

    def _is_likely(self, page: FetchedPage, response: HttpResponse) -> bool:
        """Return whether a site may negotiate Markdown: by its headers, its earlier pages, or its kind.

        `X-Llms-Txt` and `rel="llms-txt"` are those of Mintlify's sites (mintlify.com/docs/ai/llmstxt).
        """
        headers = response.headers
        varies = "accept" in [name.strip().lower() for name in headers.get("vary", "").split(",")]
        has_index = "x-llms-txt" in headers or "llms-txt" in headers.get("link", "").lower()
        site = self._find_site(page.url)
        is_known = site is not None and site.is_negotiated
        return varies or has_index or is_known or (page.document.kind == "documentation" and site is None)

    def _find_site(self, url: str) -> MarkdownSite | None:
        site = self._sites.get(urlsplit(url).netloc)
        return site if site is not None and self._clock() < site.expires_at else None

    def _remember_good(self, url: str, unseen_lines: frozenset[str], *, is_negotiated: bool) -> None:
        """Remember a site whose Markdown was good; it is compared again after ten pages, or after a day."""
        pages_between_checks, max_unseen_lines = 9, 100
        known = self._find_site(url)
        unseen = frozenset([*unseen_lines, *(known.unseen_lines if known else ())][:max_unseen_lines])
        expires_at = self._clock() + 86_400.0
        is_negotiated = is_negotiated or (known is not None and known.is_negotiated)
        self._remember(url, MarkdownSite(True, expires_at, is_negotiated, pages_between_checks, unseen))

    def _remember(self, url: str, site: MarkdownSite) -> None:
        max_sites = 1_000
        host = urlsplit(url).netloc
        self._sites[host] = site
        self._sites.move_to_end(host)
        while len(self._sites) > max_sites:
            self._sites.popitem(last=False)
