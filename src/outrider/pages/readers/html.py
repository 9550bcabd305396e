"""Read web pages."""

from outrider.pages.document import Document
from outrider.pages.extract import extract
from outrider.pages.reader import DocumentReader, ReaderInput


def read_html(source: ReaderInput) -> Document:
    """Return the web page's main content as Markdown."""
    return extract(
        source.text, url=source.url, main=source.main, links=source.links, images=source.images,
        chars=source.max_chars, tags=source.max_tags,
    )  # fmt: skip


reader = DocumentReader(
    "html", ("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"), read_html, rank=10
)
