"""Extract a document from HTML.

The work is bounded by the source limits, so that it can run in a thread and needs no process that can be killed.
"""

from typing import TYPE_CHECKING, Any, Literal

from outrider.pages.memory import GC_PAUSE, release_memory

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
    """Return the content and metadata of an HTML page; never fails because of the page's content.

    Args:
        html: The source; bytes, bytearrays and memoryviews are decoded as browsers do.
        url: The page's address, for relative links.
        main: Whether to leave out navigation and other surroundings of the main content.
        links: How to write links in the Markdown: `inline`, as `references` at its end, or `none`.
        images: Whether the Markdown shows images that have a text of their own.
        chars: Bytes of UTF-8 to read at most; default 4 million.
        tags: Tags to read at most, each with its text; default 50,000.

    Returns:
        A document with the kind of the page; its text is empty only if the page shows no text and has no description.

    Raises:
        TypeError: `html` is neither text nor bytes, or `url` is not text.
        ValueError: `links` is none of the three, or `chars` or `tags` is below 1.
    """
    html = _check_arguments(html, url, links, (chars, tags))
    from outrider.pages.extraction.main_content import MAX_SOURCE_BYTES, MAX_TAGS, extract_main_content
    from outrider.pages.extraction.markdown.style import MarkdownStyle

    chars, tags = chars or MAX_SOURCE_BYTES, tags or MAX_TAGS
    with GC_PAUSE.pause():
        content = extract_main_content(
            html, url or "", main=main, style=MarkdownStyle(links, images), chars=chars, tags=tags
        )
        if len(html) > chars:
            content.metadata["cut"] = True
        document = _build_document(content)
        del content  # before garbage collection is on again, which would visit everything in it
    release_memory(len(html))
    return document


def _check_arguments(html: Any, url: Any, links: str, bounds: tuple[Any, ...]) -> bytes | str:
    """Return the source as bytes or text. Raises TypeError or ValueError as `extract` does."""
    link_styles = ("inline", "references", "none")
    if isinstance(html, bytearray | memoryview):
        html = bytes(html)
    if not isinstance(html, bytes | str):
        raise TypeError(f"html: must be bytes or str, not {type(html).__name__}; pass path.read_bytes(), for instance")
    if url is not None and not isinstance(url, str):
        raise TypeError(f"url: must be str, not {type(url).__name__}; leave it out if there is none")
    if links not in link_styles:
        raise ValueError(f"links: must be one of {', '.join(link_styles)}, not {links!r}")
    if any(bound is not None and bound < 1 for bound in bounds):
        raise ValueError("chars, tags: must be at least 1; leave them out for the default limits")
    return html


def _build_document(content: "MainContent") -> "Document":
    from outrider.pages.document import Document, tidy_text
    from outrider.pages.extraction.metadata.language import detect_language
    from outrider.pages.extraction.parse.clean_text import clean_text

    facts = content.facts
    metadata = {
        "canonical": facts.canonical,
        "modified": facts.find_modified_date(),
        "types": facts.list_schema_types(),
        "scripts": facts.scripts,
    }
    return Document(
        markdown=clean_text(content.markdown),
        text=clean_text(content.text),
        title=facts.find_title(),
        description=facts.find_description(),
        language=detect_language(facts.language, content.text),
        published=facts.find_published_date(),
        author=facts.find_author(),
        site=facts.find_site_name(),
        kind=content.kind or "article",
        links=content.links,
        images=content.images,
        tables=[[[tidy_text(cell) for cell in row] for row in rows] for rows in content.tables],
        metadata={name: value for name, value in metadata.items() if value} | content.metadata,
    )
