"""HTML to a document: the one seam between a page's source and whatever finds its main content.

Everything here is bounded work that runs in a thread: no process has to be killed, and none has to be started.
"""

from typing import TYPE_CHECKING, Any, Literal

from outrider.pages.pausing import COLLECTING
from outrider.pages.returning import give_back

LINKS = ("inline", "references", "none")

if TYPE_CHECKING:
    from outrider.pages.content.main import Content
    from outrider.pages.document import Document


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
    html = _checked(html, url, links, (chars, tags))
    from outrider.pages.content.main import CHARS, TAGS, content_of, parsed
    from outrider.pages.content.writing.style import Style

    chars, tags = chars or CHARS, tags or TAGS
    with COLLECTING.paused():
        found = content_of(parsed(html, chars, tags), url or "", main=main, style=Style(links, images), nodes=2 * tags)
        if len(html) > chars:
            found.metadata["cut"] = True
        document = _document(found)
        del found  # before the collector is on again, which would look at all that it holds
    give_back(len(html))
    return document


def _checked(html: Any, url: Any, links: str, bounds: tuple[Any, ...]) -> bytes | str:
    """The source, if the arguments are what they should be."""
    if isinstance(html, bytearray | memoryview):
        html = bytes(html)
    if not isinstance(html, bytes | str):
        raise TypeError(f"html: is {type(html).__name__}, not bytes or str; give the source, as path.read_bytes() does")
    if url is not None and not isinstance(url, str):
        raise TypeError(f"url: is {type(url).__name__}, not str; leave it out if there is none")
    if links not in LINKS:
        raise ValueError(f"links: is {links!r}; choose one of {', '.join(LINKS)}")
    if any(bound is not None and bound < 1 for bound in bounds):
        raise ValueError("chars, tags: below 1; leave them out for the usual bounds")
    return html


def _document(found: "Content") -> "Document":
    from outrider.pages.content.metadata.language import language_of
    from outrider.pages.content.parsing.clean import cleaned
    from outrider.pages.document import Document, tidy

    facts = found.facts
    told = {
        "canonical": facts.canonical,
        "modified": facts.modified(),
        "types": facts.types(),
        "scripts": facts.scripts,
    }
    return Document(
        markdown=cleaned(found.markdown),
        text=cleaned(found.text),
        title=facts.title(),
        description=facts.description(),
        language=language_of(facts.language, found.text),
        published=facts.published(),
        author=facts.author(),
        site=facts.site(),
        kind=found.kind or "article",
        links=found.links,
        images=found.images,
        tables=[[[tidy(cell) for cell in row] for row in rows] for rows in found.tables],
        metadata={name: value for name, value in told.items() if value} | found.metadata,
    )
