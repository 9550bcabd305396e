"""List a site's addresses without reading its pages.

They come from sitemaps, llms.txt, feeds and the links of one page.
"""

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from urllib.parse import unquote, urljoin, urlsplit

import anyio

from outrider.core.errors import InvalidInput, OutriderError
from outrider.pages.crawl.plan import CrawlPlan
from outrider.pages.crawl.scope import OFF_SITE, CrawlScope, build_page_key, normalize_url
from outrider.pages.crawl.site import CrawlSite
from outrider.pages.document import DocumentLink, to_single_line
from outrider.pages.fetched_page import FetchedPage
from outrider.pages.options import ReadOptions
from outrider.pages.pages import Pages
from outrider.pages.urls import resolve_url

MARKDOWN_LINK = re.compile(r"\[([^\[\]\n]{1,300})\]\(([^()\s]{1,2000})\)")
TWIN_SUFFIX = re.compile(r"(?:\.html)?\.md$")
FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml", "application/feed+json"})


@dataclass
class MappedPage:
    """An address of a site.

    Attributes:
        url: The address.
        title: The words of a link to it, or its title in a feed; may be empty.
        modified: The day of its last change as its sitemap says, or "".
        sources: Where it is listed: `sitemap`, `llms.txt`, `feed`, `links`.
        markdown: The address of the same page as Markdown, or "".
    """

    url: str
    title: str = ""
    modified: str = ""
    sources: list[str] = field(default_factory=list)
    markdown: str = ""


@dataclass
class SiteMap:
    """The addresses of a site that are known without reading its pages.

    Attributes:
        pages: The addresses, by the key that is the same for all spellings of one.
        notes: What could not be read, and why.
        is_full: Whether the site has more than are collected.
    """

    pages: dict[str, MappedPage] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    is_full: bool = False

    def find_pages(self, words: str = "") -> list[MappedPage]:
        """Return the pages whose address or title has all words."""
        needles = words.lower().split()
        return [
            page
            for page in self.pages.values()
            if all(word in f"{page.url} {unquote(page.url)} {page.title}".lower() for word in needles)
        ]

    def merge_twins(self) -> None:
        """Join pages that are listed as Markdown, as `llms.txt` often does, with the pages themselves."""
        for key, twin in list(self.pages.items()):
            stem = TWIN_SUFFIX.sub("", twin.url)
            candidates = (stem, f"{stem}.html", f"{stem}/", stem.removesuffix("index")) if stem != twin.url else ()
            page = next((found for each in candidates if (found := self.pages.get(build_page_key(each)))), None)
            if page is None or page is twin:
                continue
            page.markdown, page.title = twin.url, page.title or twin.title
            page.sources += [source for source in twin.sources if source not in page.sources]
            del self.pages[key]

    def merge_slashes(self) -> None:
        """Join pages whose addresses differ in the slash at their end, under the one that is listed more often."""
        for key, page in list(self.pages.items()):
            other = self.pages.get(f"{key}/") if "?" not in key else None
            if other is None or self.pages.get(key) is not page:
                continue
            kept, dropped = (page, other) if len(page.sources) > len(other.sources) else (other, page)
            kept.title, kept.modified = kept.title or dropped.title, kept.modified or dropped.modified
            kept.sources += [source for source in dropped.sources if source not in kept.sources]
            self.pages[key] = kept  # its place among the others is that of the first
            del self.pages[f"{key}/"]

    def count_sources(self) -> dict[str, int]:
        """Count the pages that each source lists."""
        counts: dict[str, int] = {}
        for page in self.pages.values():
            for source in page.sources:
                counts[source] = counts.get(source, 0) + 1
        return counts


async def map_site(pages: Pages, plan: CrawlPlan, *, max_seconds: float = 30.0) -> SiteMap:
    """List the addresses of a site that belong to a plan. Only the plan's first page and lists are read.

    Raises:
        InvalidInput: code `bad_url`.
        OutriderError: nothing was found, and the first page could not be read.
    """
    start = normalize_url(plan.start)
    if not start:
        raise InvalidInput(f"url: {plan.start!r} is not an http(s) address", code="bad_url", hint="give a complete one")
    mapper = SiteMapper(pages, plan, start)
    with anyio.move_on_after(max_seconds) as scope:
        await mapper.collect_pages()
    mapper.found.merge_twins()
    mapper.found.merge_slashes()
    if scope.cancelled_caught:
        mapper.found.notes.append(f"the site was not read to its end within {max_seconds:g} seconds")
    if mapper.found.is_full:
        mapper.found.notes.append("the site has more than were collected here: narrow it with `include`")
    if not mapper.found.pages and mapper.first_error:
        raise mapper.first_error
    return mapper.found


class SiteMapper:
    """Collect the addresses of one site.

    Attributes:
        found: The addresses collected so far.
        first_error: Why the first page could not be read, or None.
    """

    def __init__(self, pages: Pages, plan: CrawlPlan, start: str) -> None:
        self._pages = pages
        self._plan = plan
        self._start = start
        self._scope = CrawlScope(replace(plan, start=start))
        self.found = SiteMap()
        self.first_error: OutriderError | None = None

    async def collect_pages(self) -> None:
        """Read the lists in turn, the most complete ones last.

        Thus titles come first.
        """
        options = ReadOptions(robots=self._plan.robots)
        try:
            page = await self._pages.read(self._start, options)
        except OutriderError as error:
            self.first_error = error
            self.found.notes.append(f"links could not be read: {error.message}")
        else:
            final_url = normalize_url(page.url)
            if self._scope.explain_refusal(final_url) == OFF_SITE:
                self.found.notes.append(f"{self._start} leads to {final_url}, whose site is listed")
                self._start, self._scope = final_url, CrawlScope(replace(self._plan, start=final_url))
            if page.is_script_shell:
                self.found.notes.append("the page shows no links without its scripts")
            self._add_link(page.url, page.document.title, "links")
            self._add_links(page.document.links, "links")
            for address in find_feeds(page):
                try:
                    feed = await self._pages.read(address, options)
                except OutriderError as error:
                    self.found.notes.append(f"feed could not be read: {error.message}")
                else:
                    self._add_links(feed.document.links, "feed")
        await self._collect_llms_txt()
        await self._collect_sitemap()

    async def _collect_llms_txt(self) -> None:
        """Read the list of pages that a site writes for language models (llmstxt.org); most sites have none."""
        max_bytes = 1_000_000
        address = urljoin(self._start, "/llms.txt")
        try:
            if self._plan.robots == "respect":
                await self._pages.robots_policy.check_allowed(address)
            response = await self._pages.fetch_body(address, size=max_bytes)
        except OutriderError:
            return
        if "html" in response.content_type:  # the site answers every address with a page
            return
        text = response.body.decode("utf-8", "replace")
        self._add_links(
            [DocumentLink(match[1], resolve_url(match[2], address)) for match in MARKDOWN_LINK.finditer(text)],
            "llms.txt",
        )

    async def _collect_sitemap(self) -> None:
        max_problems = 3
        site = CrawlSite(self._pages, self._scope, None, anyio.sleep)
        problems: dict[str, str] = {}
        try:
            async for entry in site.iter_sitemap(problems):
                modified = entry.modified
                day = datetime.fromtimestamp(modified, UTC).date().isoformat() if modified else ""
                self._add_page(entry.url, "", "sitemap", day)
                if self.found.is_full:
                    return
        except OutriderError as error:
            self.found.notes.append(f"sitemap could not be read: {error.message}")
        for address, problem in sorted(problems.items())[:max_problems]:  # several are read at the same time
            self.found.notes.append(f"sitemap {address} was not read: {problem}")
        if len(problems) > max_problems:
            self.found.notes.append(f"{len(problems) - max_problems} more sitemaps were not read")

    def _add_links(self, links: list[DocumentLink], source: str) -> None:
        for link in links:
            self._add_link(link.url, link.text, source)

    def _add_link(self, address: str, title: str, source: str) -> None:
        url = normalize_url(address)
        if url and not self._scope.explain_refusal(url):
            self._add_page(url, title, source)

    def _add_page(self, url: str, title: str, source: str, modified: str = "") -> None:
        """Add an address of the plan, or more information about it."""
        max_pages = 50_000  # in memory
        key = build_page_key(url)
        page = self.found.pages.get(key)
        if page is None:
            if len(self.found.pages) >= max_pages:
                self.found.is_full = True
                return
            page = self.found.pages[key] = MappedPage(url)
        page.title = page.title or to_single_line(title, 200)
        page.modified = page.modified or modified
        if source not in page.sources:
            page.sources.append(source)


def find_feeds(page: FetchedPage) -> list[str]:
    """Return the feeds that a page declares, at most three."""
    from selectolax.lexbor import LexborHTMLParser

    max_feeds, max_head_chars = 3, 100_000
    if page.html is None:
        return []
    alternates = [link.attributes for link in LexborHTMLParser(page.html[:max_head_chars]).css("link[rel~=alternate]")]
    feeds = [each for each in alternates if (each.get("type") or "").lower() in FEED_TYPES]
    addresses = [resolve_url(each.get("href") or "", page.url) for each in feeds]
    host = urlsplit(page.url).hostname
    return list(dict.fromkeys(each for each in addresses if urlsplit(each).hostname == host))[:max_feeds]
