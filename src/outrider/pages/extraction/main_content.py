"""The one entry: the main content of a page.

Bounded work whatever stands in the page: sources are cut, and those that would cost a tree builder
more than they hold (elements opened by the ten thousand, or formatting that the standard reopens in
every paragraph) are thinned first.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from outrider.pages.document import DocumentLink, ImageRef
from outrider.pages.extraction.blocks.head_elements import HeadElements, collect_head_elements
from outrider.pages.extraction.blocks.page_blocks import PageBlocks
from outrider.pages.extraction.blocks.style_sheets import collect_style_sheets
from outrider.pages.extraction.blocks.tree_walker import MAX_NODES, cut_into_blocks
from outrider.pages.extraction.classify.classifier import classify_blocks
from outrider.pages.extraction.classify.signals import SCHEMA_TYPE_GROUPS, PageSignals, read_signals
from outrider.pages.extraction.markdown.escape import escape_line_start, escape_text
from outrider.pages.extraction.markdown.media import collect_images, collect_links
from outrider.pages.extraction.markdown.paragraph import ParagraphWriter
from outrider.pages.extraction.markdown.posts import build_post_heads, find_posts, get_opening_post
from outrider.pages.extraction.markdown.style import DEFAULT_STYLE, MarkdownStyle
from outrider.pages.extraction.markdown.writer import MarkdownWriter, render_text
from outrider.pages.extraction.metadata.page_facts import PageFacts, read_facts
from outrider.pages.extraction.metadata.product import format_missing_facts, read_product
from outrider.pages.extraction.parse.framesets import render_frameset
from outrider.pages.extraction.parse.javadoc_tables import convert_javadoc_tables, may_have_javadoc_tables
from outrider.pages.extraction.parse.source_limits import MAX_TAGS, limit_source
from outrider.pages.mime.charset import decode_body, is_plain_utf8

MAX_SOURCE_BYTES = 4_000_000  # of source that are looked at
MARKUP_PATTERN = re.compile(r"</(?:p|div|li|h[1-6]|a|strong|b|em|i|span)>|<(?:br|p)\b", re.IGNORECASE)


@dataclass(slots=True)
class MainContent:
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
    facts: PageFacts = field(default_factory=PageFacts)
    links: list[DocumentLink] = field(default_factory=list)
    images: list[ImageRef] = field(default_factory=list)
    tables: list[list[list[str]]] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    signals: PageSignals = field(default_factory=PageSignals)


def extract_main_content(
    html: bytes | str, url: str = "", *, main: bool = True, style: MarkdownStyle = DEFAULT_STYLE
) -> MainContent:
    """The main content of an HTML page; empty only where the page shows no text and says nothing about itself.

    Args:
        html: The source; bytes are decoded as browsers do.
        url: Where it came from, for relative links and for its words.
        main: Whether to leave out what surrounds the content.
        style: How links and pictures are written.
    """
    return extract_from_tree(parse_html(html), url, main=main, style=style)


def parse_html(html: bytes | str, chars: int = MAX_SOURCE_BYTES, tags: int = MAX_TAGS) -> Any:
    """The tree of a page, of so many bytes and tags of its source.

    Without events, which only serve to copy chosen options and cost the square of their number.
    """
    source = limit_source(_decode_source(html), chars, tags)
    tree = LexborHTMLParser(source, options=LexborDocumentOptions.WO_EVENTS)
    if may_have_javadoc_tables(source):
        convert_javadoc_tables(tree)
    return tree


def _decode_source(html: bytes | str) -> bytes | str:
    """Bytes that are UTF-8 as they are; others decoded."""
    if isinstance(html, str):
        return html
    return html.removeprefix(b"\xef\xbb\xbf") if is_plain_utf8(html) else decode_body(html)[0]


def extract_from_tree(
    tree: Any, url: str = "", *, main: bool = True, style: MarkdownStyle = DEFAULT_STYLE, nodes: int = MAX_NODES
) -> MainContent:
    """The same of a parsed page (selectolax's lexbor parser), which is left as it is."""
    told = collect_head_elements(tree)
    page, signals = _build_page_blocks(tree, told, nodes, url), read_signals(tree, url, told)
    chosen, kind, judged = _select_blocks(page, signals, main=main)
    base = signals.base_url or url
    facts = read_facts(tree, page, base, told, kind)
    if main and facts.book_title_blocks:
        chosen = [number for number in chosen if number not in facts.book_title_blocks]
    posts = find_posts(page, chosen)
    if kind == "forum":
        facts.set_first_post(*get_opening_post(page, posts))
    found = MainContent(kind=kind, signals=signals, facts=facts, metadata=judged | _facts(page))
    writer = MarkdownWriter(
        page, ParagraphWriter(base, style), heads=build_post_heads(page, chosen, posts) if main else {}
    )
    found.markdown, found.tables = writer.write_blocks(chosen), writer.tables
    found.text = render_text(page, writer)
    addresses = writer.paragraphs.addresses
    found.links, found.images = collect_links(page, chosen, addresses), collect_images(page, addresses)
    if not found.text:
        _use_declared_text(found, _find_declared_text(found.facts, tree), base)
    elif main and _should_use_declared_body(found):
        _use_declared_text(found, found.facts.read_article_body().strip(), base)
    if product := read_product(found.facts, tree if kind == "product" else None):
        _prepend_product_facts(found, product)
    return found


def _use_declared_text(found: MainContent, declared: str, base: str) -> None:
    """Puts what the page declares in the place of its text: each line a paragraph, or markup if it holds any."""
    if MARKUP_PATTERN.search(declared):
        inner = extract_main_content(declared, base, main=False)
        found.text, found.markdown = inner.text, inner.markdown
        found.links = found.links or inner.links
    else:
        lines = filter(None, map(str.strip, declared.splitlines()))
        found.text, found.markdown = declared, "\n\n".join(escape_line_start(escape_text(line)) for line in lines)
    found.metadata["fallback"] = "declared"


def _should_use_declared_body(found: MainContent) -> bool:
    """Whether the article that the page declares is a better guess than the cut of its blocks."""
    min_text_chars = 150  # characters of a cut that is asked so too
    min_expected_f1 = 0.5  # expected F1 below which the page is asked what it says of itself
    unsure = found.metadata.get("expected", 1.0) < min_expected_f1 or len(found.text) < min_text_chars
    return unsure and len(found.facts.read_article_body()) > 2 * len(found.text)


def _prepend_product_facts(found: MainContent, product: dict[str, str]) -> None:
    """Puts what is declared of a product, and not said, before the text of its page."""
    found.metadata["product"] = product
    lines = format_missing_facts(product, found.text) if found.kind == "product" else []
    if lines:
        found.markdown = "\n".join(f"- {escape_text(line)}" for line in lines) + "\n\n" + found.markdown
        found.text = "\n".join(lines) + "\n\n" + found.text


def _build_page_blocks(tree: Any, told: HeadElements, nodes: int, url: str = "") -> PageBlocks:
    """The blocks of a page; none of a page of frames."""
    if tree.body is None:
        return PageBlocks()
    sheets = collect_style_sheets(tree, told)
    return cut_into_blocks(tree.body, nodes, sheets.is_hidden if sheets else None, url)


def _find_declared_text(facts: PageFacts, tree: Any) -> str:
    """What a page without text says: by its frames, to browsers without scripts, in its JSON-LD, its description, its
    title.
    """
    return (
        render_frameset(tree, facts.find_title())
        or _read_noscript_text(tree)
        or facts.read_article_body()
        or facts.find_description()
        or facts.find_title()
    )


def _read_noscript_text(tree: Any) -> str:
    max_noscripts = 20  # noscript elements that are looked at
    return " ".join(" ".join(node.text(separator=" ") for node in tree.css("noscript")[:max_noscripts]).split())


def detect_declared_kind(signals: PageSignals) -> str:
    """What a page is by its JSON-LD and Open Graph types; empty where they say nothing."""
    kinds_by_type = (
        ("forum", "forum"),
        ("product", "product"),
        ("article", "article"),
        ("list", "collection"),
        ("service", "service"),
    )
    named = {name for number, (name, _) in enumerate(SCHEMA_TYPE_GROUPS) if signals.schema_bits >> number & 1}
    for name, kind in kinds_by_type:
        if name in named:
            return kind
    return {1: "article", 2: "product"}.get(signals.og_type, "")


def _select_blocks(page: PageBlocks, signals: PageSignals, *, main: bool) -> tuple[list[int], str, dict[str, Any]]:
    """The blocks to show, the page's kind, and facts."""
    if not page.texts:
        return [], detect_declared_kind(signals), {}

    found = classify_blocks(page, signals)
    kind = found.kind or detect_declared_kind(signals)
    return (found.chosen, kind, found.facts) if main else (list(range(len(page.texts))), kind, {})


def _facts(page: PageBlocks) -> dict[str, Any]:
    facts = {"hidden": page.hidden_chars, "cut": page.truncated, "curtain": page.has_overlay}
    return {name: value for name, value in facts.items() if value}
