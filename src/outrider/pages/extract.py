"""HTML to a document: the one seam between a page's source and whatever finds its main content.

Everything here is bounded work that runs in a thread: no process has to be killed, and none has to be started.
"""

from typing import TYPE_CHECKING, Any, Literal

from outrider.pages.memory import release_memory
from outrider.pages.pausing import GC_PAUSE

if TYPE_CHECKING:
    from outrider.pages.document import Document
    from outrider.pages.extraction.main_content import MainContent


def extract(
    html: bytes | str,
    *,
    url: str | None = None,
    main: bool = True,
    links: Literal["inline", "references", "none"] = "inline",
    images: bool = False,
    chars: int | None = None,
    tags: int | None = None,
) -> "Document":
    """The content and the facts of an HTML page. Never raises for what a page holds.

    Args:
        html: The source; bytes are decoded as browsers do, and so are bytearrays and memoryviews.
        url: Where it came from, for relative addresses.
        main: Whether navigation and the like are left out.
        links: How the Markdown writes them: `inline`, as `references` at its end, or `none`.
        images: Whether the Markdown shows pictures that have words of their own.
        chars: How much of the source is looked at, in bytes of UTF-8; 4 million if not said.
        tags: How many of its tags; each may have a text; 50,000 if not said.

    Returns:
        A document whose kind is that of the page; its text is empty only if the page shows none and says
        nothing about itself.

    Raises:
        TypeError: `html` is no text and no bytes, or `url` is no text.
        ValueError: `links` is none of the three, or `chars` or `tags` is below 1.
    """
    html = _check_arguments(html, url, links, (chars, tags))
    from outrider.pages.extraction.main_content import MAX_SOURCE_BYTES, MAX_TAGS, extract_from_tree, parse_html
    from outrider.pages.extraction.markdown.style import MarkdownStyle

    chars, tags = chars or MAX_SOURCE_BYTES, tags or MAX_TAGS
    with GC_PAUSE.pause():
        found = extract_from_tree(
            parse_html(html, chars, tags), url or "", main=main, style=MarkdownStyle(links, images), nodes=2 * tags
        )
        if len(html) > chars:
            found.metadata["cut"] = True
        document = _build_document(found)
        del found  # before the collector is on again, which would look at all that it holds
    release_memory(len(html))
    return document


def _check_arguments(html: Any, url: Any, links: str, bounds: tuple[Any, ...]) -> bytes | str:
    """The source, if the arguments are what they should be."""
    link_styles = ("inline", "references", "none")
    if isinstance(html, bytearray | memoryview):
        html = bytes(html)
    if not isinstance(html, bytes | str):
        raise TypeError(f"html: is {type(html).__name__}, not bytes or str; give the source, as path.read_bytes() does")
    if url is not None and not isinstance(url, str):
        raise TypeError(f"url: is {type(url).__name__}, not str; leave it out if there is none")
    if links not in link_styles:
        raise ValueError(f"links: is {links!r}; choose one of {', '.join(link_styles)}")
    if any(bound is not None and bound < 1 for bound in bounds):
        raise ValueError("chars, tags: below 1; leave them out for the usual bounds")
    return html


def _build_document(found: "MainContent") -> "Document":
    from outrider.pages.document import Document, tidy_text
    from outrider.pages.extraction.metadata.language import detect_language
    from outrider.pages.extraction.parse.clean_text import clean_text

    facts = found.facts
    told = {
        "canonical": facts.canonical,
        "modified": facts.find_modified_date(),
        "types": facts.list_schema_types(),
        "scripts": facts.scripts,
    }
    return Document(
        markdown=clean_text(found.markdown),
        text=clean_text(found.text),
        title=facts.find_title(),
        description=facts.find_description(),
        language=detect_language(facts.language, found.text),
        published=facts.find_published_date(),
        author=facts.find_author(),
        site=facts.find_site_name(),
        kind=found.kind or "article",
        links=found.links,
        images=found.images,
        tables=[[[tidy_text(cell) for cell in row] for row in rows] for rows in found.tables],
        metadata={name: value for name, value in told.items() if value} | found.metadata,
    )
