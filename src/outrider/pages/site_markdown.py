"""Read the Markdown that sites publish of their pages.

It remembers which sites publish it well.
"""

import re
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol
from urllib.parse import urlsplit

import anyio

from outrider.core.errors import OutriderError
from outrider.core.http import Headers, HttpResponse
from outrider.pages.document import Document, strip_markdown
from outrider.pages.fetched_page import MARKDOWN_TWIN_KEY, FetchedPage
from outrider.pages.urls import resolve_url

MARKDOWN_TYPE = "text/markdown"
MARKDOWN_FIRST = {"accept": "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, */*;q=0.5"}

FetchPage = Callable[[str, dict[str, str]], Awaitable[HttpResponse]]
CheckAddress = Callable[[str], Awaitable[None]]
LINK_ELEMENT = re.compile(r"<link\b[^>]{0,2000}>", re.IGNORECASE)
ATTRIBUTE = re.compile(r"(?<![a-z-])([a-z-]++)\s*+=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>\"']+))", re.IGNORECASE)
LINK_HEADER = re.compile(r"<([^<>]{1,2000})>((?:\s*;\s*[\w*-]+\s*=\s*(?:\"[^\"]{0,200}\"|[^\s,;\"]{1,200})){1,10})")
WORD = re.compile(r"\w+")
CODE_FENCE = re.compile(r"^ {0,3}(`{3,}+|~{3,}+)[^\n]*+\n.*?(?:^ {0,3}\1[`~]*+[ \t]*+$|\Z)", re.MULTILINE | re.DOTALL)
# Parts that rendered Markdown does not show: comments, and link definitions used as comments.
HIDDEN_MARKDOWN = re.compile(
    r"<!--.*?(?:-->|\Z)|^\[(?://|comment)?[^\[\]\n]{0,100}\]:[ \t]*(?:#|<>)[^\n]*$", re.MULTILINE | re.DOTALL
)
# An inline code span of bounded length, because runs of backticks may each have another one, or the target of a link.
LINK_TARGET = re.compile(
    r"(?<!`)(`++)(?!`).{0,1000}?(?<!`)\1(?!`)|(?<=\]\()(?P<target>[^()\s<>]{1,2000}(?:\([^()\s]{0,200}\)[^()\s]{0,200})?)",
    re.DOTALL,
)
LINKED_HOST = re.compile(r"(?:https?:)?//([\w.-]+)", re.IGNORECASE)


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
    """Read pages as their sites' own Markdown if that is as good as our conversion.

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
        min_text_chars = 500  # below which it may be a stub or an error, and is compared with the page
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
        text = resolve_links(text, response.url)
        headers = Headers([("content-type", "text/markdown; charset=utf-8")])
        page = await self._extract(replace(response, body=text.encode("utf-8", "replace"), headers=headers), url)
        if len(page.document.text) < min_text_chars:
            return await self._fetch(url, {}), None
        metadata = page.document.metadata | {MARKDOWN_TWIN_KEY: page.url}
        return response, replace(page, document=replace(page.document, metadata=metadata))

    def is_expected(self, url: str) -> bool:
        """Return whether the site answers with good Markdown and need not be compared again yet."""
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
            twin_match = match_twin(page.document, twin.document.markdown, page.html or "") if is_markdown else None
            if twin_match is not None:
                self._remember_good(page.url, twin_match.unseen_lines, is_negotiated=address == page.url)
                return apply_twin(page, resolve_links(twin_match.markdown, twin.url), address)
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


@dataclass(frozen=True)
class ShownTwin:
    """The part of a twin that its page shows.

    Attributes:
        markdown: The twin without the lines that no person sees on the page.
        unseen_lines: Those lines.
    """

    markdown: str
    unseen_lines: frozenset[str]


def find_markdown_twin(page: FetchedPage, response: HttpResponse) -> str:
    """Return the Markdown address that a page declares, or "".

    It is on the page's own host, in its head or a Link header.

    Both say `rel=alternate type=text/markdown`. The page's own address means that it depends on the Accept header.
    """
    head_chars = 100_000
    head = (page.html or "")[:head_chars]
    elements = LINK_ELEMENT.findall(head) if "text/markdown" in head else []
    links = [(given.get("href", "").replace("&amp;", "&"), given) for given in map(_read_attributes, elements)]
    links += [
        (match[1], _read_attributes(match[2])) for match in LINK_HEADER.finditer(response.headers.get("link", ""))
    ]
    for target, given in links:
        is_markdown = given.get("type", "").partition(";")[0].strip().lower() == "text/markdown"
        if is_markdown and "alternate" in given.get("rel", "").lower().split() and target:
            address = resolve_url(target, page.url).partition("#")[0]
            if address and urlsplit(address)[:2] == urlsplit(page.url)[:2]:
                return address
    return ""


def _read_attributes(text: str) -> dict[str, str]:
    return {match[1].lower(): match[2] or match[3] or match[4] or "" for match in ATTRIBUTE.finditer(text)}


def match_twin(ours: Document, twin: str, html: str) -> ShownTwin | None:
    """Return the part of a twin that its page shows; None if that is less than our reading, or differs from it.

    Lines that the page does not show may be instructions for models, so they are left out. A twin with many of them,
    with such lines in its listings, or with addresses on hosts that the page does not name is not used at all.
    """
    min_words, min_kept, max_ratio = 20, 0.95, 1.15
    max_unseen_words = 60  # of left out lines; an index for models that documentation sites put before each page has 30
    shown_words = _split_words(f"{ours.title}\n{ours.text}")
    shown_pairs = set(pairwise(shown_words))
    text = HIDDEN_MARKDOWN.sub("", twin)
    if any(_is_unseen(_split_words(code), shown_pairs) for is_code, code in _split_code(text) if is_code):
        return None
    unseen = frozenset(_find_unseen_lines(text, shown_pairs))
    kept_text = drop_lines(text, unseen)
    published, shown = Counter(_split_words(strip_markdown(kept_text))), Counter(shown_words)
    body = Counter(_split_words(ours.text))
    is_complete = body.total() >= min_words and (body & published).total() >= min_kept * body.total()
    added = (published - shown).total()
    is_short = published.total() <= max_ratio * shown.total() and added <= 10 + 0.05 * published.total()
    unseen_words = sum(len(WORD.findall(line)) for line in unseen)
    named = html.lower() + ours.markdown.lower()
    has_known_hosts = all(host in named for host in {match[1].lower() for match in LINKED_HOST.finditer(kept_text)})
    if not (is_complete and is_short and has_known_hosts) or unseen_words > max(
        max_unseen_words, 0.15 * len(shown_words)
    ):
        return None
    return ShownTwin(kept_text.strip(), unseen)


def drop_lines(markdown: str, unseen_lines: frozenset[str]) -> str:
    """Return Markdown without comments and without these lines; listings stay unchanged."""
    parts = []
    for is_code, text in _split_code(HIDDEN_MARKDOWN.sub("", markdown)):
        lines = text.split("\n")
        parts.append(text if is_code else "\n".join(line for line in lines if line.strip() not in unseen_lines))
    return re.sub(r"\n{3,}", "\n\n", "".join(parts)) if unseen_lines else "".join(parts)


def resolve_links(markdown: str, base: str) -> str:
    """Return Markdown with absolute links and pictures; code stays unchanged."""

    def resolve_target(match: re.Match[str]) -> str:
        target = match["target"]
        return match[0] if target is None else resolve_url(target, base) or target

    parts = _split_code(markdown)
    return "".join(text if is_code else LINK_TARGET.sub(resolve_target, text) for is_code, text in parts)


def apply_twin(page: FetchedPage, markdown: str, address: str) -> FetchedPage:
    """Return the page with the text of its twin; all other facts are those of the page."""
    document = page.document
    metadata = document.metadata | {MARKDOWN_TWIN_KEY: address}
    return replace(
        page, document=replace(document, markdown=markdown, text=strip_markdown(markdown), metadata=metadata)
    )


def _split_code(markdown: str) -> Iterator[tuple[bool, str]]:
    """Yield the pieces of a Markdown text, and whether each is a fenced listing."""
    start = 0
    for match in CODE_FENCE.finditer(markdown):
        yield False, markdown[start : match.start()]
        yield True, match[0]
        start = match.end()
    yield False, markdown[start:]


def _find_unseen_lines(markdown: str, shown_pairs: set[tuple[str, str]]) -> Iterator[str]:
    """Yield the lines that a page does not show; all lines of a paragraph that it does not show as a whole."""
    for is_code, text in _split_code(markdown):
        for paragraph in [] if is_code else re.split(r"\n[ \t]*\n", text):
            lines = [line.strip() for line in paragraph.split("\n") if line.strip()]
            is_unseen = _is_unseen(_split_words(strip_markdown(paragraph)), shown_pairs)
            yield from (
                line for line in lines if is_unseen or _is_unseen(_split_words(strip_markdown(line)), shown_pairs)
            )


def _split_words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def _is_unseen(words: list[str], shown_pairs: set[tuple[str, str]]) -> bool:
    """Return whether most neighbouring words of a passage are not neighbours on the page."""
    min_words, min_share = 4, 0.5
    seen = sum(pair in shown_pairs for pair in pairwise(words))
    return len(words) >= min_words and seen < min_share * (len(words) - 1)
