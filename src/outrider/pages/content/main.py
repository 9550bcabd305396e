"""The one entry: the main content of a page.

Bounded work whatever stands in the page: sources are cut, and those that would cost a tree builder
more than they hold (elements opened by the ten thousand, or formatting that the standard reopens in
every paragraph) are thinned first.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from outrider.pages.content.judging.judge import judge
from outrider.pages.content.judging.signals import TYPES, Signals, read_signals
from outrider.pages.content.metadata.facts import Facts, read_facts
from outrider.pages.content.metadata.product import lines_of, product_of
from outrider.pages.content.parsing.frames import framed
from outrider.pages.content.parsing.summaries import has_grids, laid_out
from outrider.pages.content.parsing.taming import TAGS, tame
from outrider.pages.content.walking.blocks import Blocks
from outrider.pages.content.walking.sheets import sheets_of
from outrider.pages.content.walking.told import Told, told_by
from outrider.pages.content.walking.walk import NODES, cut_into_blocks
from outrider.pages.content.writing.escape import begun, escaped
from outrider.pages.content.writing.media import images_of, links_of
from outrider.pages.content.writing.phrase import Phrase
from outrider.pages.content.writing.posts import heads_of, opener_of, posts_of
from outrider.pages.content.writing.render import Writer, text_of
from outrider.pages.content.writing.style import PLAIN, Style
from outrider.pages.document import ImageRef, Link
from outrider.pages.sniffing.charset import decode, is_plain

CHARS = 4_000_000  # of source that are looked at
KINDS = (
    ("forum", "forum"),
    ("product", "product"),
    ("article", "article"),
    ("list", "collection"),
    ("service", "service"),
)
MARKUP = re.compile(r"</(?:p|div|li|h[1-6]|a|strong|b|em|i|span)>|<(?:br|p)\b", re.IGNORECASE)
SCRIPTLESS = 20  # noscript elements that are looked at
UNSURE = 0.5  # expected F1 below which the page is asked what it says of itself
SHORT = 150  # characters of a cut that is asked so too


@dataclass(slots=True)
class Content:
    """The main content of a page.

    Attributes:
        text: Words, one block a line, blocks an empty line apart.
        markdown: The same with structure.
        kind: What the page is to its readers, as `Document.kind` says; empty if nothing tells.
        facts: What the page declares.
        links: All of the page, those of the content first.
        images: All that the page shows, in order.
        tables: Those of the content, each a list of rows of cells.
        metadata: `hidden` characters left out, `expected` F1 of the cut, `fallback` if the model's cut was not used,
            `cut` where the page was larger than is looked at, `curtain` where a script would have shown the page.
        signals: What the page says about its kind.
    """

    text: str = ""
    markdown: str = ""
    kind: str = ""
    facts: Facts = field(default_factory=Facts)
    links: list[Link] = field(default_factory=list)
    images: list[ImageRef] = field(default_factory=list)
    tables: list[list[list[str]]] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    signals: Signals = field(default_factory=Signals)


def main_content(html: bytes | str, url: str = "", *, main: bool = True, style: Style = PLAIN) -> Content:
    """The main content of an HTML page; empty only where the page shows no text and says nothing about itself.

    Args:
        html: The source; bytes are decoded as browsers do.
        url: Where it came from, for relative links and for its words.
        main: Whether to leave out what surrounds the content.
        style: How links and pictures are written.
    """
    return content_of(parsed(html), url, main=main, style=style)


def parsed(html: bytes | str, chars: int = CHARS, tags: int = TAGS) -> Any:
    """The tree of a page, of so many bytes and tags of its source.

    Without events, which only serve to copy chosen options and cost the square of their number.
    """
    source = tame(_utf8(html), chars, tags)
    tree = LexborHTMLParser(source, options=LexborDocumentOptions.WO_EVENTS)
    if has_grids(source):
        laid_out(tree)
    return tree


def _utf8(html: bytes | str) -> bytes | str:
    """Bytes that are UTF-8 as they are; others decoded."""
    if isinstance(html, str):
        return html
    return html.removeprefix(b"\xef\xbb\xbf") if is_plain(html) else decode(html)[0]


def content_of(tree: Any, url: str = "", *, main: bool = True, style: Style = PLAIN, nodes: int = NODES) -> Content:
    """The same of a parsed page (selectolax's lexbor parser), which is left as it is."""
    told = told_by(tree)
    page, signals = _blocks(tree, told, nodes, url), read_signals(tree, url, told)
    chosen, kind, judged = _judged(page, signals, main=main)
    base = signals.base or url
    facts = read_facts(tree, page, base, told, kind)
    if main and facts.book:
        chosen = [number for number in chosen if number not in facts.book]
    posts = posts_of(page, chosen)
    if kind == "forum":
        facts.opens(*opener_of(page, posts))
    found = Content(kind=kind, signals=signals, facts=facts, metadata=judged | _facts(page))
    writer = Writer(page, Phrase(base, style), heads=heads_of(page, chosen, posts) if main else {})
    found.markdown, found.tables = writer.write(chosen), writer.tables
    found.text = text_of(page, writer)
    addresses = writer.phrase.addresses
    found.links, found.images = links_of(page, chosen, addresses), images_of(page, addresses)
    if not found.text:
        _say(found, _declared(found.facts, tree), base)
    elif main and _doubted(found):
        _say(found, found.facts.body().strip(), base)
    if product := product_of(found.facts, tree if kind == "product" else None):
        _sell(found, product)
    return found


def _say(found: Content, declared: str, base: str) -> None:
    """Puts what the page declares in the place of its text: each line a paragraph, or markup if it holds any."""
    if MARKUP.search(declared):
        inner = main_content(declared, base, main=False)
        found.text, found.markdown = inner.text, inner.markdown
        found.links = found.links or inner.links
    else:
        lines = filter(None, map(str.strip, declared.splitlines()))
        found.text, found.markdown = declared, "\n\n".join(begun(escaped(line)) for line in lines)
    found.metadata["fallback"] = "declared"


def _doubted(found: Content) -> bool:
    """Whether the article that the page declares is a better guess than the cut of its blocks."""
    unsure = found.metadata.get("expected", 1.0) < UNSURE or len(found.text) < SHORT
    return unsure and len(found.facts.body()) > 2 * len(found.text)


def _sell(found: Content, product: dict[str, str]) -> None:
    """Puts what is declared of a product, and not said, before the text of its page."""
    found.metadata["product"] = product
    lines = lines_of(product, found.text) if found.kind == "product" else []
    if lines:
        found.markdown = "\n".join(f"- {escaped(line)}" for line in lines) + "\n\n" + found.markdown
        found.text = "\n".join(lines) + "\n\n" + found.text


def _blocks(tree: Any, told: Told, nodes: int, url: str = "") -> Blocks:
    """The blocks of a page; none of a page of frames."""
    if tree.body is None:
        return Blocks()
    sheets = sheets_of(tree, told)
    return cut_into_blocks(tree.body, nodes, sheets.hide if sheets else None, url)


def _declared(facts: Facts, tree: Any) -> str:
    """What a page without text says: by its frames, to browsers without scripts, in its JSON-LD, its description, its
    title.
    """
    return framed(tree, facts.title()) or _unscripted(tree) or facts.body() or facts.description() or facts.title()


def _unscripted(tree: Any) -> str:
    return " ".join(" ".join(node.text(separator=" ") for node in tree.css("noscript")[:SCRIPTLESS]).split())


def declared_kind(signals: Signals) -> str:
    """What a page is by its JSON-LD and Open Graph types; empty where they say nothing."""
    named = {name for number, (name, _) in enumerate(TYPES) if signals.kinds >> number & 1}
    for name, kind in KINDS:
        if name in named:
            return kind
    return {1: "article", 2: "product"}.get(signals.og, "")


def _judged(page: Blocks, signals: Signals, *, main: bool) -> tuple[list[int], str, dict[str, Any]]:
    """The blocks to show, the page's kind, and facts."""
    if not page.texts:
        return [], declared_kind(signals), {}

    found = judge(page, signals)
    kind = found.kind or declared_kind(signals)
    return (found.chosen, kind, found.facts) if main else (list(range(len(page.texts))), kind, {})


def _facts(page: Blocks) -> dict[str, Any]:
    facts = {"hidden": page.hidden, "cut": page.cut, "curtain": page.curtain}
    return {name: value for name, value in facts.items() if value}
