"""A search engine's result page: which address shows it, and what stands in it.

An engine is one file under `serp/`; nothing lists them. Its selectors come from recorded pages. Where a page was
redesigned and they fit no more, headings that are links still tell results from the rest (see `outline`).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, NoReturn
from urllib.parse import urlencode, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser

from outrider.core.errors import OutriderError
from outrider.search.blocked import why_blocked
from outrider.search.failures import Code, failure
from outrider.search.hits import plain
from outrider.search.links import canonical, host_of, is_web, unwrap
from outrider.search.outline import Line, lines_of, results_of
from outrider.search.provider import Feature, Item, Page, Query

SHELL = 40  # characters; an honest page says more, even that it found nothing
# Pieces that only a check for humans has, whoever built it in; facts of the vendors' own embedding guides.
HUMAN = (
    "#captcha-form, #challenge-form, .g-recaptcha, .h-captcha,"
    " [name=cf-turnstile-response], [name=g-recaptcha-response]"
)
# How the pages begin that ask for consent to cookies, in the languages in which they are met most.
CONSENT = re.compile(
    r"before you continue to|bevor sie zu .{0,30} weitergehen|avant d.accéder à|antes de ir a|prima di continuare su"
    r"|voordat je verdergaat|is part of the yahoo family of brands",
    re.IGNORECASE,
)
ELSEWHERE = "use another engine or provider: `search.browser.engines` names the engines"
WALLS: Mapping[str, str] = {
    "consent": "asks for consent to cookies first",
    "captcha": "asks for a CAPTCHA",
    "blocked": "blocks this network",
}


@dataclass(frozen=True)
class Layout:
    """Where things stand in one generation of a result page, as CSS selectors.

    Attributes:
        result: One result's element.
        link: Its link, within the result.
        title: Its title, within the link; "" is the whole link.
        snippet: Its text, within the result.
        address: An attribute of the result's element that holds the address where the link only redirects.
    """

    result: str
    link: str
    snippet: str
    title: str = ""
    address: str = ""


@dataclass(frozen=True)
class Engine:
    """The facts of one engine's result page.

    Attributes:
        name: Unique, as in `search.browser.engines` and in the `source` of answers.
        title: As people know it.
        home: Scheme and host; links that are relative, and redirects, belong there.
        parameters: From a query to the parameters of the page's address; None is left out.
        path: Of the result page.
        layouts: Newest first; the first that fits counts.
        ads: What holds advertisements; they are no results.
        nothing: What only a page without results has.
        walls: By failure, what only such a page has.
        wall_urls: By failure, a regular expression for the address that it was sent to.
        own: Hosts whose pages are no results, besides `home`'s.
        features: Which parts of a query the address can say.
        max_count: Most results on a page.
    """

    name: str
    title: str
    home: str
    parameters: Callable[[Query], Mapping[str, Any]]
    layouts: tuple[Layout, ...]
    nothing: str
    path: str = "/search"
    ads: str = ""
    walls: Mapping[Code, str] = field(default_factory=dict)
    wall_urls: Mapping[Code, str] = field(default_factory=dict)
    own: tuple[str, ...] = ()
    features: frozenset[Feature] = frozenset()
    max_count: int = 10

    def address(self, query: Query, home: str = "") -> str:
        """The address of the result page; `home` replaces the engine's own."""
        said = {name: str(value) for name, value in self.parameters(query).items() if value is not None}
        return f"{(home or self.home).rstrip('/')}{self.path}?{urlencode(said)}"


def read(engine: Engine, page: Page, query: Query) -> list[Item]:
    """The results on a rendered page, best first, each address once.

    Raises `consent`, `captcha`, `blocked`, or `bad_reply` for a page that is laid out in no known way.
    """
    _check_address(engine, page.url)
    tree = LexborHTMLParser(page.html)
    for selector in filter(None, (engine.ads, "script, style, noscript, template")):
        for node in tree.css(selector):
            node.decompose()
    found = next((items for each in engine.layouts if (items := _laid_out(engine, each, tree, page))), [])
    if found or tree.css_first(engine.nothing) is not None:
        return found
    _check_walls(engine, tree)
    if not (found := _outlined(engine, lines_of(tree), page.url)):
        _explain(engine, " ".join(tree.body.text(separator=" ").split()) if tree.body is not None else "", query)
    return found


def read_lines(engine: Engine, url: str, lines: list[Line]) -> list[Item]:
    """The results in an outline of the page; none where `read` must say why from its HTML."""
    _check_address(engine, url)
    return _outlined(engine, lines, url)


def _check_address(engine: Engine, url: str) -> None:
    for code, pattern in engine.wall_urls.items():
        if re.search(pattern, url):
            raise wall(code, engine)


def _check_walls(engine: Engine, tree: Any) -> None:
    if tree.css_first(HUMAN) is not None:
        raise wall("captcha", engine)
    for code, selector in engine.walls.items():
        if tree.css_first(selector) is not None:
            raise wall(code, engine)


def _explain(engine: Engine, text: str, query: Query) -> NoReturn:
    """Raises what a page without results is, by what it says besides the query's own words."""
    said = re.sub(re.escape(query.text), " ", text, flags=re.IGNORECASE)
    if CONSENT.search(said):
        raise wall("consent", engine)
    if (why := why_blocked(said)) is not None:
        raise wall(why, engine)
    if len(said.strip()) < SHELL:
        raise failure("blocked", f"{engine.title} gave an empty page, as it does to programs", hint=ELSEWHERE)
    raise failure("bad_reply", f"the result page of {engine.title} is laid out in an unknown way", hint=ELSEWHERE)


def wall(code: Code, engine: Engine) -> OutriderError:
    """The failure that a page which stands before the results is."""
    return failure(code, f"{engine.title} {WALLS[code]}", hint=ELSEWHERE)


def _laid_out(engine: Engine, layout: Layout, tree: Any, page: Page) -> list[Item]:
    found = [_item(engine, layout, node, page.url) for node in tree.css(layout.result)]
    return _distinct([item for item in found if item])


def _item(engine: Engine, layout: Layout, node: Any, base: str) -> Item | None:
    link = node.css_first(layout.link)
    if link is None:
        return None
    written = (node.attributes.get(layout.address) if layout.address else "") or link.attributes.get("href") or ""
    title = link.css_first(layout.title) if layout.title else link
    text = node.css_first(layout.snippet)
    return _result(engine, title.html if title else "", written, text.html if text else "", base)


def _outlined(engine: Engine, lines: list[Line], base: str) -> list[Item]:
    found = [_result(engine, escape(each.title), each.url, escape(each.snippet), base) for each in results_of(lines)]
    return _distinct([item for item in found if item])


def _result(engine: Engine, title: str, href: str, snippet: str, base: str) -> Item | None:
    """An item; its texts are HTML, like those of other providers."""
    url = target(engine, href, base)
    return {"title": title, "url": url, "snippet": snippet} if plain(title) and url else None


def target(engine: Engine, href: str, base: str) -> str:
    """Where a link of the page leads, out of redirects; "" when it leads nowhere but to the engine itself."""
    try:
        url = urljoin(base, href.strip())
        here, there = urlsplit(base), urlsplit(url)
    except ValueError:
        return ""
    if (here.scheme, here.netloc) == (there.scheme, there.netloc):
        url = engine.home + url.removeprefix(f"{there.scheme}://{there.netloc}")
    url = unwrap(url)
    own = {host_of(engine.home), *engine.own}
    return url if is_web(url) and host_of(url) not in own else ""


def _distinct(items: list[Item]) -> list[Item]:
    first: dict[str, Item] = {}
    for item in items:
        first.setdefault(canonical(item["url"]), item)
    return list(first.values())
