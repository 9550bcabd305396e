"""The list of pages that a site gives of itself (sitemaps.org/protocol.html)."""

import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

import anyio.to_thread

from outrider.core.errors import OutriderError
from outrider.pages.readers.parsing.xml import ElementBudget, MalformedXML, iter_elements

MAX_SITEMAP_BYTES = 50_000_000  # bytes of one file, unpacked; the protocol's own limit

FetchBytes = Callable[[str], Awaitable[bytes]]


@dataclass(frozen=True)
class SitemapEntry:
    """A page in a sitemap; `modified` in seconds since the epoch, 0 where it is not said."""

    url: str
    modified: float = 0.0


async def iter_entries(fetch: FetchBytes, addresses: Iterable[str]) -> AsyncGenerator[SitemapEntry]:
    """The pages that sitemaps name, those of sitemaps they refer to included; what cannot be read is left out.

    Args:
        fetch: Gives the bytes of an address; its errors mean that there is no sitemap there.
        addresses: Where the sitemaps are.
    """
    max_files = 50  # of one site that are read
    waiting, seen = list(addresses), set()
    while waiting and len(seen) < max_files:
        address = waiting.pop(0)
        if address in seen:
            continue
        seen.add(address)
        try:
            body = await fetch(address)
            pages, further = await anyio.to_thread.run_sync(_read, body, abandon_on_cancel=True)
        except (OutriderError, zlib.error):
            continue
        waiting += further
        for page in pages:
            yield page


def _read(body: bytes) -> tuple[list[SitemapEntry], list[str]]:
    return parse_sitemap(decompress_sitemap(body))


def decompress_sitemap(body: bytes) -> bytes:
    """The file, at most SIZE bytes of it. Raises zlib.error."""
    gzip_magic = b"\x1f\x8b"
    if not body.startswith(gzip_magic):
        return body[:MAX_SITEMAP_BYTES]
    return zlib.decompressobj(wbits=31).decompress(body, MAX_SITEMAP_BYTES)


def parse_sitemap(body: bytes) -> tuple[list[SitemapEntry], list[str]]:
    """The pages of a sitemap, and the sitemaps of an index; of a plain text each line is a page."""
    max_elements = 500_000  # of one file: an entry may have alternate languages and pictures
    max_entries = 50_000  # of one file; the protocol's own limit
    if not body.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<"):
        lines = body.decode("utf-8-sig", "replace").splitlines()[:max_entries]
        return [SitemapEntry(line.strip()) for line in lines if line.strip().startswith(("http://", "https://"))], []
    pages: list[SitemapEntry] = []
    further: list[str] = []
    try:
        for element in iter_elements([body.lstrip()], ("url", "sitemap"), ElementBudget(max_elements)):
            place = element.find("loc")
            address = place.text.strip() if place else ""
            if len(pages) + len(further) >= max_entries:
                break
            if element.name == "sitemap":
                further.append(address)
            elif address:
                changed = element.find("lastmod")
                pages.append(SitemapEntry(address, _parse_lastmod(changed.text.strip() if changed else "")))
    except MalformedXML:
        pass  # what came before the fault is as good as ever
    return pages, [each for each in further if each]


def _parse_lastmod(text: str) -> float:
    """A W3C date or date-time in seconds since the epoch; a day counts to its end. 0 if it is none."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return 0.0
    if len(text) <= len("2024-01-01"):
        when = when.replace(hour=23, minute=59, second=59)
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
