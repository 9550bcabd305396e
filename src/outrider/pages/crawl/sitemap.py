"""Read sitemaps (sitemaps.org/protocol.html)."""

import zlib
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, islice

import anyio
import anyio.lowlevel
import anyio.to_thread

from outrider.core.errors import OutriderError
from outrider.pages.readers.parsing.xml import ElementBudget, MalformedXML, iter_elements
from outrider.pages.urls import resolve_url

MAX_SITEMAP_BYTES = 50_000_000  # of one file, uncompressed; the protocol's own limit
MAX_ENTRIES = 50_000  # of one file; the protocol's own limit
MAX_ADDRESS_CHARS = 2_048  # the protocol's own limit

FetchBytes = Callable[[str], Awaitable[bytes]]


@dataclass(frozen=True)
class SitemapEntry:
    """A page in a sitemap; `modified` in seconds since the epoch, 0 if unknown."""

    url: str
    modified: float = 0.0


async def iter_entries(
    fetch: FetchBytes, addresses: Iterable[str], problems: dict[str, str], *, at_once: int = 4
) -> AsyncGenerator[SitemapEntry]:
    """Yield the pages in sitemaps, and in sitemaps that those refer to; unreadable ones are skipped.

    Args:
        fetch: Returns the bytes of an address; an error means that the sitemap is missing.
        addresses: The addresses of the sitemaps.
        problems: Receives why a sitemap was not read, by its address.
        at_once: How many sitemaps are read at once.
    """
    max_files, burst = 500, 500
    queue = deque(dict.fromkeys(addresses))
    known, read_count = set(queue), 0
    while queue:
        if read_count >= max_files:
            problems[queue[0]] = f"only {max_files} sitemaps of a site are read"
            break
        batch = [queue.popleft() for _ in range(min(at_once, len(queue), max_files - read_count))]
        read_count += len(batch)
        for address, (pages, sitemaps) in (await _read_sitemaps(fetch, batch, problems)).items():
            found = dict.fromkeys(resolve_url(each, address) for each in sitemaps)
            queue += [each for each in found if each not in known]
            known.update(found)
            for number, page in enumerate(pages):
                if number % burst == 0:
                    await anyio.lowlevel.checkpoint()  # other calls have their turn
                is_complete = page.url.startswith(("http://", "https://"))
                yield page if is_complete else SitemapEntry(resolve_url(page.url, address), page.modified)


async def _read_sitemaps(
    fetch: FetchBytes, addresses: list[str], problems: dict[str, str]
) -> dict[str, tuple[list[SitemapEntry], list[str]]]:
    """Return the pages and the further sitemaps of sitemaps, which are read at the same time, in their order."""
    contents: dict[str, tuple[list[SitemapEntry], list[str]]] = {address: ([], []) for address in addresses}

    async def read_sitemap(address: str) -> None:
        try:
            body = await fetch(address)
            contents[address] = await anyio.to_thread.run_sync(
                lambda packed: parse_sitemap(iter_unpacked(packed)), body, abandon_on_cancel=True
            )
        except (OutriderError, zlib.error) as error:
            problems[address] = error.message if isinstance(error, OutriderError) else "it is not valid gzip"
            return
        if not any(contents[address]):
            problems[address] = "it lists no addresses"

    async with anyio.create_task_group() as tasks:
        for address in addresses:
            tasks.start_soon(read_sitemap, address)
    return contents


def iter_unpacked(body: bytes) -> Iterator[bytes]:
    """Yield the file in pieces, unpacked, up to MAX_SITEMAP_BYTES. Raises zlib.error."""
    gzip_magic, piece_bytes = b"\x1f\x8b", 1 << 16
    is_packed = body.startswith(gzip_magic)
    unpacker = zlib.decompressobj(wbits=31)
    rest, size = body, 0
    while rest and size < MAX_SITEMAP_BYTES:
        if is_packed:
            piece, rest = unpacker.decompress(rest, piece_bytes), unpacker.unconsumed_tail
        else:
            piece, rest = body[size : size + piece_bytes], body[size + piece_bytes : size + piece_bytes + 1]
        size += len(piece)
        yield piece


def parse_sitemap(pieces: Iterable[bytes]) -> tuple[list[SitemapEntry], list[str]]:
    """Return the pages of a sitemap or feed, and the sitemaps of an index; in plain text, each line is a page."""
    max_elements = 500_000  # of one file; an entry may have alternate languages and images
    pieces = iter(pieces)
    head = next(filter(None, (piece.lstrip(b"\xef\xbb\xbf \r\n\t") for piece in pieces)), b"")
    if not head.startswith(b"<"):
        lines = map(str.strip, islice(_iter_lines(chain([head], pieces)), MAX_ENTRIES))
        return [SitemapEntry(line) for line in lines if line.startswith(("http://", "https://"))], []
    pages: list[SitemapEntry] = []
    sitemaps: list[str] = []
    try:
        names = ("url", "sitemap", "item", "entry")
        for element in iter_elements(chain([head], pieces), names, ElementBudget(max_elements)):
            location = element.find("loc") or element.find("link")
            address = (location.text or location.get("href")).strip() if location else ""
            if len(pages) + len(sitemaps) >= MAX_ENTRIES:
                break
            if len(address) > MAX_ADDRESS_CHARS:
                continue
            if element.name == "sitemap":
                sitemaps.append(address)
            elif address:
                modified = element.find("lastmod")
                pages.append(SitemapEntry(address, _parse_lastmod(modified.text.strip() if modified else "")))
    except MalformedXML:
        pass  # the entries before the error are valid
    return pages, [address for address in sitemaps if address]


def _iter_lines(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines of a text, without those that are too long for an address."""
    rest = b""
    for piece in pieces:
        lines = (rest + piece).splitlines()
        rest = b"" if piece.endswith((b"\r", b"\n")) or not lines else lines.pop()[: MAX_ADDRESS_CHARS + 1]
        for line in lines:
            if len(line) <= MAX_ADDRESS_CHARS:
                yield line.decode("utf-8", "replace")
    if len(rest) <= MAX_ADDRESS_CHARS:
        yield rest.decode("utf-8", "replace")


def _parse_lastmod(text: str) -> float:
    """Parse a W3C date or date-time into seconds since the epoch; a date means its end, an invalid one 0."""
    try:
        modified = datetime.fromisoformat(text)
    except ValueError:
        return 0.0
    if len(text) <= len("2024-01-01"):
        modified = modified.replace(hour=23, minute=59, second=59)
    return (modified if modified.tzinfo else modified.replace(tzinfo=UTC)).timestamp()
