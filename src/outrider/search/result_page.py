"""Address and parse the result pages of search engines.

An engine is one file under `serp/`, found by discovery. Its selectors come from recorded pages. When a page was
redesigned and they no longer match, headings that are links still separate results from the rest (see `outline`).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, NoReturn
from urllib.parse import urlencode, urljoin, urlsplit

from outrider.core.errors import OutriderError
from outrider.search.failures import FailureCode, build_failure, detect_block
from outrider.search.hits import clean_text
from outrider.search.outline import OutlineLine, build_outline, find_results
from outrider.search.provider import Query, QueryFeature, RenderedPage, ResultItem
from outrider.search.urls import canonicalize_url, is_web_url, parse_host, unwrap_redirect

# The first words of pages that ask for consent to cookies, in the most common languages.
CONSENT_PAGE = re.compile(
    r"before you continue to|bevor sie zu .{0,30} weitergehen|avant d.accéder à|antes de ir a|prima di continuare su"
    r"|voordat je verdergaat|is part of the yahoo family of brands",
    re.IGNORECASE,
)
OTHER_ENGINE_HINT = "use another engine or provider: `search.browser.engines` names the engines"


@dataclass(frozen=True)
class Layout:
    """CSS selectors for one generation of a result page.

    Attributes:
        result: The element of one result.
        link: Its link, within the result.
        title: Its title, within the link; "" for the whole link.
        snippet: Its text, within the result.
        url_attribute: The attribute of the result's element that holds the address, if the link only redirects.
    """

    result: str
    link: str
    snippet: str
    title: str = ""
    url_attribute: str = ""


@dataclass(frozen=True)
class SearchEngine:
    """The facts of one engine's result page.

    Attributes:
        name: Unique, as in `search.browser.engines` and in the `source` of answers.
        title: Its name for people.
        base_url: Scheme and host; relative links and redirects are resolved against it.
        build_parameters: Maps a query to the parameters of the page's address; None values are left out.
        path: The path of the result page.
        layouts: Newest first; the first that matches is used.
        ad_selector: The elements that hold advertisements.
        no_results_selector: An element that only a page without results has.
        block_selectors: By failure code, an element that only such a page has.
        block_url_patterns: By failure code, a regular expression for the address that the browser was redirected to.
        own_hosts: Hosts whose pages are not results, besides that of `base_url`.
        features: The parts of a query that the address can express.
        max_count: Most results on a page.
    """

    name: str
    title: str
    base_url: str
    build_parameters: Callable[[Query], Mapping[str, Any]]
    layouts: tuple[Layout, ...]
    no_results_selector: str
    path: str = "/search"
    ad_selector: str = ""
    block_selectors: Mapping[FailureCode, str] = field(default_factory=dict)
    block_url_patterns: Mapping[FailureCode, str] = field(default_factory=dict)
    own_hosts: tuple[str, ...] = ()
    features: frozenset[QueryFeature] = frozenset()
    max_count: int = 10

    def build_url(self, query: Query, base_url: str = "") -> str:
        """Return the address of the result page; `base_url` replaces the engine's own."""
        parameters = {name: str(value) for name, value in self.build_parameters(query).items() if value is not None}
        return f"{(base_url or self.base_url).rstrip('/')}{self.path}?{urlencode(parameters)}"


def parse_result_page(engine: SearchEngine, page: RenderedPage, query: Query) -> list[ResultItem]:
    """Return the results on a rendered page, best first, each address once.

    Raises `consent`, `captcha`, `blocked`, or `bad_reply` for a page with an unknown layout.
    """
    from selectolax.lexbor import LexborHTMLParser

    _check_url(engine, page.url)
    tree = LexborHTMLParser(page.html)
    for selector in filter(None, (engine.ad_selector, "script, style, noscript, template")):
        for node in tree.css(selector):
            node.decompose()
    for layout in engine.layouts:
        found = [_parse_item(engine, layout, node, page.url) for node in tree.css(layout.result)]
        if items := _deduplicate_items([item for item in found if item]):
            return items
    if tree.css_first(engine.no_results_selector) is not None:
        return []
    _check_block_selectors(engine, tree)
    if not (items := _parse_outline(engine, build_outline(tree), page.url)):
        text = " ".join(tree.body.text(separator=" ").split()) if tree.body is not None else ""
        _raise_no_results(engine, text, query)
    return items


def parse_result_outline(engine: SearchEngine, url: str, lines: list[OutlineLine]) -> list[ResultItem]:
    """Return the results in an outline of the page; if there are none, `parse_result_page` says why from its HTML."""
    _check_url(engine, url)
    return _parse_outline(engine, lines, url)


def _check_url(engine: SearchEngine, url: str) -> None:
    for code, pattern in engine.block_url_patterns.items():
        if re.search(pattern, url):
            raise build_block_error(code, engine)


def _check_block_selectors(engine: SearchEngine, tree: Any) -> None:
    # Elements that only CAPTCHAs have, from the vendors' own embedding guides.
    human_check_selector = (
        "#captcha-form, #challenge-form, .g-recaptcha, .h-captcha,"
        " [name=cf-turnstile-response], [name=g-recaptcha-response]"
    )
    if tree.css_first(human_check_selector) is not None:
        raise build_block_error("captcha", engine)
    for code, selector in engine.block_selectors.items():
        if tree.css_first(selector) is not None:
            raise build_block_error(code, engine)


def _raise_no_results(engine: SearchEngine, text: str, query: Query) -> NoReturn:
    """Raise the failure that a page without results shows.

    The query's own words on the page are ignored.
    """
    min_text_chars = 40  # a genuine page has more text, even if only to say that it found nothing
    remaining = re.sub(re.escape(query.text), " ", text, flags=re.IGNORECASE)
    if CONSENT_PAGE.search(remaining):
        raise build_block_error("consent", engine)
    if (code := detect_block(remaining)) is not None:
        raise build_block_error(code, engine)
    if len(remaining.strip()) < min_text_chars:
        raise build_failure(
            "blocked", f"{engine.title} returned an empty page, as programs often get", hint=OTHER_ENGINE_HINT
        )
    raise build_failure("bad_reply", f"the result page of {engine.title} has an unknown layout", hint=OTHER_ENGINE_HINT)


def build_block_error(code: FailureCode, engine: SearchEngine) -> OutriderError:
    """Return the failure for a page that hides the results."""
    descriptions: Mapping[str, str] = {
        "consent": "asks for consent to cookies first",
        "captcha": "asks for a CAPTCHA",
        "blocked": "blocks this network",
    }
    return build_failure(code, f"{engine.title} {descriptions[code]}", hint=OTHER_ENGINE_HINT)


def _parse_item(engine: SearchEngine, layout: Layout, node: Any, base: str) -> ResultItem | None:
    link = node.css_first(layout.link)
    if link is None:
        return None
    href = link.attributes.get("href") or ""
    if layout.url_attribute:
        href = node.attributes.get(layout.url_attribute) or href
    title = link.css_first(layout.title) if layout.title else link
    text = node.css_first(layout.snippet)
    return _build_item(engine, title.html if title else "", href, text.html if text else "", base)


def _parse_outline(engine: SearchEngine, lines: list[OutlineLine], base: str) -> list[ResultItem]:
    found = [
        _build_item(engine, escape(each.title), each.url, escape(each.snippet), base) for each in find_results(lines)
    ]
    return _deduplicate_items([item for item in found if item])


def _build_item(engine: SearchEngine, title: str, href: str, snippet: str, base: str) -> ResultItem | None:
    """Return an item, whose texts are HTML like those of other providers; None without a title or an address."""
    url = resolve_result_url(engine, href, base)
    return {"title": title, "url": url, "snippet": snippet} if clean_text(title) and url else None


def resolve_result_url(engine: SearchEngine, href: str, base: str) -> str:
    """Return the address that a link leads to, without redirects; "" if it leads to the engine itself."""
    try:
        url = urljoin(base, href.strip())
        here, there = urlsplit(base), urlsplit(url)
    except ValueError:
        return ""
    if (here.scheme, here.netloc) == (there.scheme, there.netloc):
        url = engine.base_url + url.removeprefix(f"{there.scheme}://{there.netloc}")
    url = unwrap_redirect(url)
    own = {parse_host(engine.base_url), *engine.own_hosts}
    return url if is_web_url(url) and parse_host(url) not in own else ""


def _deduplicate_items(items: list[ResultItem]) -> list[ResultItem]:
    first: dict[str, ResultItem] = {}
    for item in items:
        first.setdefault(canonicalize_url(item["url"]), item)
    return list(first.values())
