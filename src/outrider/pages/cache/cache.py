"""Cache pages in the database.

A failure of the cache never prevents reading a page.
"""

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

from outrider.core.database.database import Database
from outrider.core.errors import OutriderError
from outrider.core.text import extract_terms
from outrider.pages.document import Document
from outrider.pages.fetched_page import FetchedPage
from outrider.pages.tables import pages

log = logging.getLogger(__name__)
TRACKING_PARAMETER = re.compile(r"(?:utm_[^=&]*|fbclid|gclid|dclid|msclkid|mc_[ce]id|igshid)(?:=[^&]*)?(?:&|$)")
TARGET_FILL_SHARE = 0.9  # of its limit, to which the cache shrinks when it is exceeded


@dataclass(frozen=True)
class CacheEntry:
    """A cached page, with the data to revalidate it."""

    page: FetchedPage
    checked_at: float
    fresh_until: float
    etag: str
    last_modified: str

    def is_fresh(self, now: float, max_age: float | None, *, default_max_age: float) -> bool:
        """Return whether the page need not be requested again; the caller's `max_age` overrules its server."""
        age = now - self.checked_at
        if max_age is not None:
            return 0 <= age < max_age
        return 0 <= age < default_max_age or now < self.fresh_until


def canonicalize_url(url: str) -> str:
    """Return the address that a page is cached under, without tracking parameters."""
    head, mark, query = url.partition("?")
    kept_query = TRACKING_PARAMETER.sub("", query).rstrip("&") if mark else ""
    return f"{head}?{kept_query}" if kept_query else head


def build_page_key(url: str, *, main: bool) -> str:
    """Return the key of a page's row."""
    return hashlib.sha256(f"{int(main)} {canonicalize_url(url)}".encode()).hexdigest()


class PageCache:
    """Cache pages in a database.

    Args:
        database: The database. Its failures are logged once and otherwise ignored.
        size: Limit in bytes for all rows together, beyond which the least recently used are evicted.
            0 disables the cache.
        clock: Returns the time in seconds since the epoch.
    """

    def __init__(self, database: Database, size: int, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._size = size
        self._clock = clock
        self._has_warned = False
        self._bytes_until_check = 0.0  # to write before the total size is measured again

    async def get(self, url: str, *, main: bool) -> CacheEntry | None:
        """Return the cached page, or None if there is none or its row is unreadable."""
        touch_interval_s = 60.0  # use is recorded at most this often
        if not self._size:
            return None
        key = build_page_key(url, main=main)
        try:
            async with self._database.read() as connection:
                row = (await connection.execute(select(pages).where(pages.c.key == key))).mappings().first()
        except OutriderError as error:
            self._warn_once(error)
            return None
        if row is None:
            return None
        entry = await anyio.to_thread.run_sync(restore_entry, row)
        if entry is not None and self._clock() - row["used_at"] > touch_interval_s:
            try:
                async with self._database.write() as connection:
                    await connection.execute(update(pages).where(pages.c.key == key).values(used_at=self._clock()))
            except OutriderError as error:  # a read-only database can still be read
                self._warn_once(error)
        return entry

    async def put(self, cached: CacheEntry, *, main: bool) -> None:
        """Store a page, and evict others if needed."""
        if not self._size:
            return
        row, words = await anyio.to_thread.run_sync(lambda: self._build_row(cached, main=main))
        if row["size"] > self._size * TARGET_FILL_SHARE:
            return
        from sqlalchemy import text

        try:
            async with self._database.write() as connection:
                await connection.execute(self._database.build_upsert(pages, row, key="key"))
                if self._database.dialect == "sqlite":
                    sql = (
                        "INSERT OR REPLACE INTO page_words (rowid, key, title, body) VALUES (:id, :key, :title, :body)"
                    )
                    values = {"id": _build_words_id(row["key"]), "key": row["key"], "title": words[0], "body": words[1]}
                    await connection.execute(text(sql), values)
                self._bytes_until_check -= row["size"]
                if self._bytes_until_check < 0:
                    await self._evict_oldest(connection, row["key"])
        except OutriderError as error:
            self._warn_once(error)

    async def record_revalidation(self, cached: CacheEntry, *, main: bool) -> None:
        """Record that the origin confirmed a page."""
        names = ("checked_at", "fresh_until", "etag", "last_modified")
        values = {name: getattr(cached, name) for name in names} | {"used_at": self._clock()}
        key = build_page_key(cached.page.requested_url, main=main)
        try:
            async with self._database.write() as connection:
                await connection.execute(update(pages).where(pages.c.key == key).values(values))
        except OutriderError as error:
            self._warn_once(error)

    async def delete(self, url: str, *, main: bool) -> None:
        """Delete a page that its origin no longer allows us to store."""
        if not self._size:
            return
        try:
            async with self._database.write() as connection:
                await self._delete_rows(connection, [build_page_key(url, main=main)])
        except OutriderError as error:
            self._warn_once(error)

    def _build_row(self, cached: CacheEntry, *, main: bool) -> tuple[dict[str, Any], tuple[str, str]]:
        compression_level = 3  # half the time of zlib's default for a tenth more bytes
        max_indexed_chars = 300_000
        page = cached.page
        serialized = json.dumps(page.document.to_dict(), ensure_ascii=False)
        document = zlib.compress(serialized.encode("utf-8", "replace"), compression_level)
        html = zlib.compress(page.html.encode("utf-8", "replace"), compression_level) if page.html is not None else None
        words = (
            " ".join(extract_terms(page.document.title)),
            " ".join(extract_terms(page.document.text[:max_indexed_chars])),
        )
        row = {
            "key": build_page_key(page.requested_url, main=main),
            "url": canonicalize_url(page.requested_url),
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

    async def _evict_oldest(self, connection: Any, new_key: str) -> None:
        recheck_share = 0.1  # of the free space, after which to measure again, because other processes write, too
        total = (await connection.execute(select(func.sum(pages.c.size)))).scalar() or 0
        self._bytes_until_check = max(0, self._size - total) * recheck_share
        if total <= self._size:
            return
        oldest = await connection.execute(
            select(pages.c.key, pages.c.size).where(pages.c.key != new_key).order_by(pages.c.used_at)
        )
        evicted = []
        for key, size in oldest.all():
            if total <= self._size * TARGET_FILL_SHARE:
                break
            evicted.append(key)
            total -= size
        await self._delete_rows(connection, evicted)

    async def _delete_rows(self, connection: Any, keys: list[str]) -> None:
        from sqlalchemy import delete, text

        for key in keys:
            await connection.execute(delete(pages).where(pages.c.key == key))
            if self._database.dialect == "sqlite":
                delete_words = text("DELETE FROM page_words WHERE rowid = :id")
                await connection.execute(delete_words, {"id": _build_words_id(key)})

    def _warn_once(self, error: OutriderError) -> None:
        if not self._has_warned:
            log.warning("pages are read without their cache: %s", error.message)
        self._has_warned = True


def _build_words_id(key: str) -> int:
    """Return the row number of a page's words.

    It is needed because full-text tables find rows only by number.
    """
    return int(key[:15], 16)


def restore_entry(row: Mapping[Any, Any]) -> CacheEntry | None:
    """Return the cache entry of a row, or None if the row is damaged."""
    try:
        page = FetchedPage(
            requested_url=row["url"],
            url=row["final_url"],
            status=row["status"],
            content_type=row["content_type"],
            fetched_at=row["fetched_at"],
            document=restore_document(row),
            html=_inflate_text(row["html"]) if row["html"] is not None else None,
            from_cache=True,
            cut=bool(row["cut"]),
        )
    except (ValueError, TypeError, KeyError, AttributeError, zlib.error):
        log.warning("a damaged row of the page cache is ignored")
        return None
    return CacheEntry(page, row["checked_at"], row["fresh_until"], row["etag"], row["last_modified"])


def restore_document(row: Mapping[Any, Any]) -> Document:
    """Return the document of a row.

    Raises:
        ValueError, TypeError, KeyError, AttributeError, zlib.error: The row is damaged.
    """
    return Document.from_dict(json.loads(_inflate_text(row["document"])))


def _inflate_text(data: bytes) -> str:
    max_inflated_bytes = 200_000_000  # a damaged row might inflate without end
    inflater = zlib.decompressobj()
    text = inflater.decompress(data, max_inflated_bytes)
    if not inflater.eof:
        raise ValueError("the compressed text is truncated or too large")
    return text.decode("utf-8")
