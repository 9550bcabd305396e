"""Web pages."""

from outrider.pages.document import Document
from outrider.pages.extract import extract
from outrider.pages.reader import Reader, Source


def read(source: Source) -> Document:
    return extract(
        source.text, url=source.url, main=source.main, links=source.links, images=source.images,
        chars=source.chars, tags=source.tags,
    )  # fmt: skip


reader = Reader("html", ("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"), read, rank=10)
