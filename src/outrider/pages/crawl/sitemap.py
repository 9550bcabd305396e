"""The list of pages that a site gives of itself (sitemaps.org/protocol.html)."""

import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

import anyio.to_thread

from outrider.core.errors import OutriderError
from outrider.pages.readers.parts.xml import Budget, MalformedXML, stream

FILES = 50  # of one site that are read
SIZE = 50_000_000  # bytes of one file, unpacked; the protocol's own limit
ENTRIES = 50_000  # of one file; the protocol's own limit
ELEMENTS = 500_000  # of one file: an entry may have alternate languages and pictures
GZIP = b"\x1f\x8b"

Get = Callable[[str], Awaitable[bytes]]


@dataclass(frozen=True)
class Entry:
    """A page in a sitemap; `modified` in seconds since the epoch, 0 where it is not said."""

    url: str
    modified: float = 0.0


async def entries(get: Get, addresses: Iterable[str]) -> AsyncGenerator[Entry]:
    """The pages that sitemaps name, those of sitemaps they refer to included; what cannot be read is left out.

    Args:
        get: Gives the bytes of an address; its errors mean that there is no sitemap there.
        addresses: Where the sitemaps are.
    """
    waiting, seen = list(addresses), set()
    while waiting and len(seen) < FILES:
        address = waiting.pop(0)
        if address in seen:
            continue
        seen.add(address)
        try:
            body = await get(address)
            pages, further = await anyio.to_thread.run_sync(_read, body, abandon_on_cancel=True)
        except (OutriderError, zlib.error):
            continue
        waiting += further
        for page in pages:
            yield page


def _read(body: bytes) -> tuple[list[Entry], list[str]]:
    return parsed(unpacked(body))


def unpacked(body: bytes) -> bytes:
    """The file, at most SIZE bytes of it. Raises zlib.error."""
    if not body.startswith(GZIP):
        return body[:SIZE]
    return zlib.decompressobj(wbits=31).decompress(body, SIZE)


def parsed(body: bytes) -> tuple[list[Entry], list[str]]:
    """The pages of a sitemap, and the sitemaps of an index; of a plain text each line is a page."""
    if not body.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<"):
        lines = body.decode("utf-8-sig", "replace").splitlines()[:ENTRIES]
        return [Entry(line.strip()) for line in lines if line.strip().startswith(("http://", "https://"))], []
    pages: list[Entry] = []
    further: list[str] = []
    try:
        for element in stream([body.lstrip()], ("url", "sitemap"), Budget(ELEMENTS)):
            place = element.find("loc")
            address = place.text.strip() if place else ""
            if len(pages) + len(further) >= ENTRIES:
                break
            if element.name == "sitemap":
                further.append(address)
            elif address:
                changed = element.find("lastmod")
                pages.append(Entry(address, _time(changed.text.strip() if changed else "")))
    except MalformedXML:
        pass  # what came before the fault is as good as ever
    return pages, [each for each in further if each]


def _time(text: str) -> float:
    """A W3C date or date-time in seconds since the epoch; a day counts to its end. 0 if it is none."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return 0.0
    if len(text) <= len("2024-01-01"):
        when = when.replace(hour=23, minute=59, second=59)
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
