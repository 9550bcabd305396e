"""The page cache: one row a page in the one database, and never the reason why a page cannot be read."""

import hashlib
import json
import logging
import re
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio.to_thread
from sqlalchemy import func, select, update

from outrider.core.db import Database
from outrider.core.errors import OutriderError
from outrider.core.text import terms
from outrider.pages.document import Document
from outrider.pages.page import Page
from outrider.pages.tables import pages

log = logging.getLogger(__name__)
CAMPAIGN = re.compile(r"(?:utm_[^=&]*|fbclid|gclid|dclid|msclkid|mc_[ce]id|igshid)(?:=[^&]*)?(?:&|$)")
INDEXED = 300_000  # characters of a page whose words are kept for search
INDEX = "INSERT OR REPLACE INTO page_words (rowid, key, title, body) VALUES (:id, :key, :title, :body)"
UNINDEX = "DELETE FROM page_words WHERE rowid = :id"
TOUCHED = 60.0  # seconds for which one note of use is enough
ROOM = 0.9  # the share of its limit that the cache shrinks to when it has grown beyond
INFLATED = 200_000_000  # bytes that a row may become; a damaged one might claim anything
LEVEL = 3  # of zlib: half the time of the default for a tenth more bytes
SHARE = 0.1  # of the room that is left, which is used before it is measured again: others may be writing, too


@dataclass(frozen=True)
class Cached:
    """A page as it was kept, with what is needed to ask whether it still holds."""

    page: Page
    checked_at: float
    fresh_until: float
    etag: str
    last_modified: str


def canonical(url: str) -> str:
    """The address that a page is kept under: without the parameters that only count visitors."""
    head, mark, query = url.partition("?")
    rest = CAMPAIGN.sub("", query).rstrip("&") if mark else ""
    return f"{head}?{rest}" if rest else head


def key_of(url: str, *, main: bool) -> str:
    """The key of a page's row."""
    return hashlib.sha256(f"{int(main)} {canonical(url)}".encode()).hexdigest()


class Cache:
    """Keeps pages.

    Args:
        database: Where; failures of it are logged once and otherwise ignored.
        size: Bytes that all rows together may take; the least recently used go first. 0 keeps none.
        clock: The time in seconds since the epoch.
    """

    def __init__(self, database: Database, size: int, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._size = size
        self._clock = clock
        self._complained = False
        self._left = 0.0  # bytes that may be written before the room is measured

    async def get(self, url: str, *, main: bool) -> Cached | None:
        """The page if it was kept; a row that cannot be read is no row."""
        if not self._size:
            return None
        try:
            return await self._get(key_of(url, main=main))
        except OutriderError as error:
            self._complain(error)
            return None

    async def _get(self, key: str) -> Cached | None:

        async with self._database.read() as connection:
            row = (await connection.execute(select(pages).where(pages.c.key == key))).mappings().first()
        if row is None:
            return None
        cached = await anyio.to_thread.run_sync(restored, row)
        if cached is not None and self._clock() - row["used_at"] > TOUCHED:
            await self._touch(key)
        return cached

    async def _touch(self, key: str) -> None:
        """Notes the use; a database that cannot be written to can still be read."""
        try:
            async with self._database.write() as connection:
                await connection.execute(update(pages).where(pages.c.key == key).values(used_at=self._clock()))
        except OutriderError as error:
            self._complain(error)

    async def put(self, cached: Cached, *, main: bool) -> None:
        """Keeps the page, and makes room for it."""
        if not self._size:
            return
        row, words = await anyio.to_thread.run_sync(lambda: self._row(cached, main=main))
        if row["size"] > self._size * ROOM:
            return
        try:
            await self._put(row, words)
        except OutriderError as error:
            self._complain(error)

    async def confirm(self, cached: Cached, *, main: bool) -> None:
        """Notes that the origin has confirmed the page."""
        names = ("checked_at", "fresh_until", "etag", "last_modified")
        values = {name: getattr(cached, name) for name in names} | {"used_at": self._clock()}
        key = key_of(cached.page.requested_url, main=main)
        try:
            async with self._database.write() as connection:
                await connection.execute(update(pages).where(pages.c.key == key).values(values))
        except OutriderError as error:
            self._complain(error)

    async def forget(self, url: str, *, main: bool) -> None:
        """Drops a page that its origin no longer lets us keep."""
        if not self._size:
            return
        try:
            async with self._database.write() as connection:
                await self._drop(connection, [key_of(url, main=main)])
        except OutriderError as error:
            self._complain(error)

    def _row(self, cached: Cached, *, main: bool) -> tuple[dict[str, Any], tuple[str, str]]:
        page = cached.page
        told = json.dumps(page.document.to_dict(), ensure_ascii=False)
        document = zlib.compress(told.encode("utf-8", "replace"), LEVEL)
        html = zlib.compress(page.html.encode("utf-8", "replace"), LEVEL) if page.html is not None else None
        words = " ".join(terms(page.document.title)), " ".join(terms(page.document.text[:INDEXED]))
        row = {
            "key": key_of(page.requested_url, main=main),
            "url": canonical(page.requested_url),
            "final_url": page.url,
            "title": page.document.title,
            "status": page.status,
            "content_type": page.content_type[:255],
            "fetched_at": page.fetched_at,
            "checked_at": cached.checked_at,
            "fresh_until": cached.fresh_until,
            "etag": cached.etag,
            "last_modified": cached.last_modified,
            "cut": int(page.cut),
            "document": document,
            "html": html,
            "size": len(document) + len(html or b"") + 2 * sum(map(len, words)) + 500,
            "used_at": self._clock(),
        }
        return row, words

    async def _put(self, row: dict[str, Any], words: tuple[str, str]) -> None:
        from sqlalchemy import text

        async with self._database.write() as connection:
            await connection.execute(self._database.upserting(pages, row, key="key"))
            if self._database.dialect == "sqlite":
                given = {"id": _words_id(row["key"]), "key": row["key"], "title": words[0], "body": words[1]}
                await connection.execute(text(INDEX), given)
            self._left -= row["size"]
            if self._left < 0:
                await self._make_room(connection, row["key"])

    async def _make_room(self, connection: Any, kept: str) -> None:

        total = (await connection.execute(select(func.sum(pages.c.size)))).scalar() or 0
        self._left = max(0, self._size - total) * SHARE
        if total <= self._size:
            return
        oldest = await connection.execute(
            select(pages.c.key, pages.c.size).where(pages.c.key != kept).order_by(pages.c.used_at)
        )
        gone = []
        for key, size in oldest.all():
            if total <= self._size * ROOM:
                break
            gone.append(key)
            total -= size
        await self._drop(connection, gone)

    async def _drop(self, connection: Any, keys: list[str]) -> None:
        from sqlalchemy import delete, text

        for key in keys:
            await connection.execute(delete(pages).where(pages.c.key == key))
            if self._database.dialect == "sqlite":
                await connection.execute(text(UNINDEX), {"id": _words_id(key)})

    def _complain(self, error: OutriderError) -> None:
        if not self._complained:
            log.warning("pages are read without their cache: %s", error.message)
        self._complained = True


def _words_id(key: str) -> int:
    """The row of a page's words: full-text tables find rows only by number."""
    return int(key[:15], 16)


def restored(row: Mapping[Any, Any]) -> Cached | None:
    """The cached page of a row; None if the row is damaged."""
    try:
        page = Page(
            requested_url=row["url"],
            url=row["final_url"],
            status=row["status"],
            content_type=row["content_type"],
            fetched_at=row["fetched_at"],
            document=document_of(row),
            html=_inflated(row["html"]) if row["html"] is not None else None,
            from_cache=True,
            cut=bool(row["cut"]),
        )
    except (ValueError, TypeError, KeyError, AttributeError, zlib.error):
        log.warning("a damaged row of the page cache is ignored")
        return None
    return Cached(page, row["checked_at"], row["fresh_until"], row["etag"], row["last_modified"])


def document_of(row: Mapping[Any, Any]) -> Document:
    """The document of a row. Raises ValueError, TypeError, KeyError, AttributeError or zlib.error."""
    return Document.from_dict(json.loads(_inflated(row["document"])))


def _inflated(data: bytes) -> str:
    inflater = zlib.decompressobj()
    text = inflater.decompress(data, INFLATED)
    if not inflater.eof:
        raise ValueError("cut off or too large")
    return text.decode("utf-8")
