"""Extract the main content of a page in bounded time.

Sources are cut, and those that would cost a tree builder too much are thinned out first.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from outrider.pages.document import DocumentLink, ImageRef
from outrider.pages.extraction.blocks.head_elements import collect_head_elements
from outrider.pages.extraction.blocks.page_blocks import PageBlocks
from outrider.pages.extraction.blocks.style_sheets import collect_style_sheets
from outrider.pages.extraction.blocks.tree_walker import cut_into_blocks
from outrider.pages.extraction.classify.classifier import classify_blocks
from outrider.pages.extraction.classify.signals import SCHEMA_TYPE_GROUPS, PageSignals, read_signals
from outrider.pages.extraction.markdown.escape import escape_line_start, escape_text
from outrider.pages.extraction.markdown.media import collect_images, collect_links
from outrider.pages.extraction.markdown.paragraph import ParagraphWriter
from outrider.pages.extraction.markdown.posts import build_post_heads, find_posts, get_opening_post
from outrider.pages.extraction.markdown.style import DEFAULT_STYLE, MarkdownStyle
from outrider.pages.extraction.markdown.writer import MarkdownWriter, render_text
from outrider.pages.extraction.metadata.declared_parts import list_declared_parts
from outrider.pages.extraction.metadata.page_facts import PageFacts, read_facts, read_json_ld_objects
from outrider.pages.extraction.metadata.product import format_missing_facts, read_product
from outrider.pages.extraction.parse.frame_documents import has_frame_documents, open_frame_documents
from outrider.pages.extraction.parse.framesets import render_frameset
from outrider.pages.extraction.parse.javadoc_tables import convert_javadoc_tables, may_have_javadoc_tables
from outrider.pages.extraction.parse.shadow_roots import fill_slots, has_shadow_roots, open_shadow_roots
from outrider.pages.extraction.parse.source_limits import MAX_TAGS, limit_source
from outrider.pages.extraction.parse.tree_size import limit_tree_size
from outrider.pages.memory import trim_memory
from outrider.pages.mime.charset import decode_body, is_plain_utf8

MAX_SOURCE_BYTES = 4_000_000
MARKUP_PATTERN = re.compile(r"</(?:p|div|li|h[1-6]|a|strong|b|em|i|span)>|<(?:br|p)\b", re.IGNORECASE)


@dataclass(slots=True)
class MainContent:
    """The main content of a page.

    Attributes:
        text: Words, with an empty line between blocks.
        markdown: The same with structure.
        kind: Kind of the page as in `Document.kind`, or "" if unknown.
        facts: The declared facts.
        links: All links of the page, those of the content first.
        images: All images of the page, in order.
        tables: Tables of the content, each a list of rows of cells.
        metadata: `hidden` characters left out, `expected` F1 of the selection, `fallback` if the model's selection was
            not used, `cut` if the page exceeded a limit, `curtain` if an overlay hid the page until a script removes
            it,
            `product` if the page declares one.
        signals: Signals of the page's kind.
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

    @property
    def is_poorer_than_declared(self) -> bool:
        """Whether the article that the page declares is likely better than the selected blocks."""
        min_text_chars = 150
        min_expected_f1 = 0.5
        is_doubtful = self.metadata.get("expected", 1.0) < min_expected_f1 or len(self.text) < min_text_chars
        return is_doubtful and len(self.facts.read_article_body()) > 2 * len(self.text)

    def prepend_product_facts(self, product: dict[str, str]) -> None:
        """Put declared product facts that the text does not mention before it."""
        self.metadata["product"] = product
        lines = format_missing_facts(product, self.text) if self.kind == "product" else []
        if lines:
            self.markdown = "\n".join(f"- {escape_text(line)}" for line in lines) + "\n\n" + self.markdown
            self.text = "\n".join(lines) + "\n\n" + self.text


def extract_main_content(
    html: bytes | str,
    url: str = "",
    *,
    main: bool = True,
    style: MarkdownStyle = DEFAULT_STYLE,
    chars: int = MAX_SOURCE_BYTES,
    tags: int = MAX_TAGS,
) -> MainContent:
    """Extract the main content of an HTML page. It is empty only if the page shows and declares nothing.

    Args:
        html: The source. Bytes are decoded as browsers do.
        url: Address of the page, for relative links and for its words.
        main: Whether to leave out what surrounds the content.
        style: How links and images are written.
        chars: Bytes of the source to read at most.
        tags: Elements to read at most.
    """
    large_page_elements = 20_000  # whose tree takes as much memory as writing the page does
    tree, is_cut = _parse_limited(html, chars, tags)
    head = collect_head_elements(tree)
    page, signals = PageBlocks(), read_signals(tree, url, head)
    if tree.body is not None:  # a frameset has none
        sheets = collect_style_sheets(tree, head)
        page = cut_into_blocks(tree.body, 2 * tags, sheets.is_hidden if sheets else None, url)
    json_ld_objects = read_json_ld_objects(head)
    signals.declared_parts = list_declared_parts(json_ld_objects)
    chosen, kind, metadata = _select_blocks(page, signals, main=main)
    limits = {"hidden": page.hidden_chars, "cut": is_cut or page.truncated, "curtain": page.has_overlay}
    metadata |= {name: value for name, value in limits.items() if value}
    base = signals.base_url or url
    facts = read_facts(tree, page, base, head, json_ld_objects, kind=kind)
    product = read_product(facts, tree if kind == "product" else None)
    if main and facts.book_title_blocks:
        chosen = [number for number in chosen if number not in facts.book_title_blocks]
    content = MainContent(kind=kind, signals=signals, facts=facts, metadata=metadata)
    if len(page.elements) > large_page_elements:
        tree = head = None
        trim_memory()
    _write_content(content, page, chosen, ParagraphWriter(base, style), main=main)
    if not content.text:
        _use_declared_text(content, _find_declared_text(facts, tree), base)
    elif main and content.is_poorer_than_declared:
        _use_declared_text(content, facts.read_article_body().strip(), base)
    if product:
        content.prepend_product_facts(product)
    return content


def parse_html(html: bytes | str) -> Any:
    """Parse a page (selectolax's lexbor parser) within the default limits."""
    return _parse_limited(html, MAX_SOURCE_BYTES, MAX_TAGS)[0]


def _parse_limited(html: bytes | str, chars: int, tags: int) -> tuple[Any, bool]:
    """Parse within limits, and return whether the tree was cut.

    The parser runs without events, which only copy selected options and take quadratic time.
    """
    if isinstance(html, bytes):
        # The parser accepts UTF-8 bytes, which saves decoding nearly all pages.
        html = html.removeprefix(b"\xef\xbb\xbf") if is_plain_utf8(html) else decode_body(html)[0]
    source, is_cut = limit_tree_size(limit_source(html, chars, tags))
    opened, mark = open_shadow_roots(source) if has_shadow_roots(source) else (source, "")
    tree = LexborHTMLParser(opened, options=LexborDocumentOptions.WO_EVENTS)
    if mark and not fill_slots(tree, mark):
        tree = LexborHTMLParser(source, options=LexborDocumentOptions.WO_EVENTS)
    if has_frame_documents(source):
        open_frame_documents(tree, chars, tags)
    if may_have_javadoc_tables(source):
        convert_javadoc_tables(tree)
    return tree, is_cut


def _write_content(
    content: MainContent, page: PageBlocks, chosen: list[int], paragraphs: ParagraphWriter, *, main: bool
) -> None:
    """Write the chosen blocks, and collect the links and images of the page."""
    posts = find_posts(page, chosen)
    if content.kind == "forum":
        content.facts.set_first_post(*get_opening_post(page, posts))
    writer = MarkdownWriter(page, paragraphs, heads=build_post_heads(page, chosen, posts) if main else {})
    content.markdown, content.tables = writer.write_blocks(chosen), writer.tables
    content.text = render_text(page, writer)
    content.links = collect_links(page, chosen, paragraphs.addresses)
    content.images = collect_images(page, paragraphs.addresses)


def _use_declared_text(content: MainContent, declared: str, base: str) -> None:
    """Replace the text with what the page declares, as paragraphs or, if it holds markup, as HTML."""
    if MARKUP_PATTERN.search(declared):
        inner = extract_main_content(declared, base, main=False)
        content.text, content.markdown = inner.text, inner.markdown
        content.links = content.links or inner.links
    else:
        lines = filter(None, map(str.strip, declared.splitlines()))
        content.text, content.markdown = declared, "\n\n".join(escape_line_start(escape_text(line)) for line in lines)
    content.metadata["fallback"] = "declared"


def _find_declared_text(facts: PageFacts, tree: Any) -> str:
    """Return the text of a page without blocks: its frames, noscript, JSON-LD, description or title."""
    max_noscripts = 20
    if tree is None:  # of a large page, which has blocks
        return ""
    noscript = " ".join(node.text(separator=" ") for node in tree.css("noscript")[:max_noscripts])
    return (
        render_frameset(tree, facts.find_title())
        or " ".join(noscript.split())
        or facts.read_article_body()
        or facts.find_description()
        or facts.find_title()
    )


def detect_declared_kind(signals: PageSignals) -> str:
    """Return the kind of a page by its JSON-LD and Open Graph types, or ""."""
    kinds_by_type = (
        ("forum", "forum"),
        ("product", "product"),
        ("article", "article"),
        ("list", "collection"),
        ("service", "service"),
    )
    types = {name for number, (name, _) in enumerate(SCHEMA_TYPE_GROUPS) if signals.schema_bits >> number & 1}
    for name, kind in kinds_by_type:
        if name in types:
            return kind
    return {1: "article", 2: "product"}.get(signals.og_type, "")


def _select_blocks(page: PageBlocks, signals: PageSignals, *, main: bool) -> tuple[list[int], str, dict[str, Any]]:
    """Return the blocks to show, the kind of the page, and facts about the selection."""
    if not page.texts:
        return [], detect_declared_kind(signals), {}
    classification = classify_blocks(page, signals)
    kind = classification.kind or detect_declared_kind(signals)
    if not main:
        return list(range(len(page.texts))), kind, {}
    return classification.chosen, kind, classification.facts
