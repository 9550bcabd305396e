"""Read sitemaps (sitemaps.org/protocol.html)."""

import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

import anyio.to_thread

from outrider.core.errors import OutriderError
from outrider.pages.readers.parsing.xml import ElementBudget, MalformedXML, iter_elements

MAX_SITEMAP_BYTES = 50_000_000  # of one file, uncompressed; the protocol's own limit

FetchBytes = Callable[[str], Awaitable[bytes]]


@dataclass(frozen=True)
class SitemapEntry:
    """A page in a sitemap; `modified` in seconds since the epoch, 0 if unknown."""

    url: str
    modified: float = 0.0


async def iter_entries(fetch: FetchBytes, addresses: Iterable[str]) -> AsyncGenerator[SitemapEntry]:
    """Yield the pages in sitemaps, and in sitemaps that those refer to; unreadable ones are skipped.

    Args:
        fetch: Returns the bytes of an address; an error means that the sitemap is missing.
        addresses: The addresses of the sitemaps.
    """
    max_files = 50
    queue, seen = list(addresses), set()
    while queue and len(seen) < max_files:
        address = queue.pop(0)
        if address in seen:
            continue
        seen.add(address)
        try:
            body = await fetch(address)
            pages, sitemaps = await anyio.to_thread.run_sync(
                lambda packed: parse_sitemap(decompress_sitemap(packed)), body, abandon_on_cancel=True
            )
        except (OutriderError, zlib.error):
            continue
        queue += sitemaps
        for page in pages:
            yield page


def decompress_sitemap(body: bytes) -> bytes:
    """Decompress the file, up to MAX_SITEMAP_BYTES. Raises zlib.error."""
    gzip_magic = b"\x1f\x8b"
    if not body.startswith(gzip_magic):
        return body[:MAX_SITEMAP_BYTES]
    return zlib.decompressobj(wbits=31).decompress(body, MAX_SITEMAP_BYTES)


def parse_sitemap(body: bytes) -> tuple[list[SitemapEntry], list[str]]:
    """Return the pages of a sitemap, and the sitemaps of an index; in plain text, each line is a page."""
    max_elements = 500_000  # of one file; an entry may have alternate languages and images
    max_entries = 50_000  # of one file; the protocol's own limit
    if not body.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<"):
        lines = body.decode("utf-8-sig", "replace").splitlines()[:max_entries]
        return [SitemapEntry(line.strip()) for line in lines if line.strip().startswith(("http://", "https://"))], []
    pages: list[SitemapEntry] = []
    sitemaps: list[str] = []
    try:
        for element in iter_elements([body.lstrip()], ("url", "sitemap"), ElementBudget(max_elements)):
            location = element.find("loc")
            address = location.text.strip() if location else ""
            if len(pages) + len(sitemaps) >= max_entries:
                break
            if element.name == "sitemap":
                sitemaps.append(address)
            elif address:
                modified = element.find("lastmod")
                pages.append(SitemapEntry(address, _parse_lastmod(modified.text.strip() if modified else "")))
    except MalformedXML:
        pass  # the entries before the error are valid
    return pages, [address for address in sitemaps if address]


def _parse_lastmod(text: str) -> float:
    """Parse a W3C date or date-time into seconds since the epoch; a date means its end, an invalid one 0."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return 0.0
    if len(text) <= len("2024-01-01"):
        when = when.replace(hour=23, minute=59, second=59)
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
