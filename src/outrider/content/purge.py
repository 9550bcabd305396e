"""Purge the rows of deleted stores and contents in small batches.

A store or content is deleted as soon as its own row is gone: every query joins that row. Its chunks and vectors
are in a dozen indexes, so a deletion only records them as pending, and a background task deletes them in batches. If
the process is killed, the next one continues from the record.
"""

import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import anyio
from sqlalchemy import Connection, select

from outrider.content.tables import (
    content_chunks,
    content_leftovers,
    content_originals,
    content_removals,
    content_vectors,
    contents,
)
from outrider.core.database.database import Database
from outrider.core.errors import OutriderError

log = logging.getLogger(__name__)
PURGE_BATCH_ROWS = 250  # short enough that other writers hardly wait, even in a store of a million passages


class PurgeStep(NamedTuple):
    """The outcome of one batch; `content` is empty for a store, `is_empty` means that no rows remain."""

    store: str
    content: str
    is_empty: bool


class Purger:
    """Deletes the rows of deleted stores and contents. Safe for several processes on one database.

    Args:
        database: Holds the rows.
        discard_derived: Deletes the index files derived from a store.
    """

    def __init__(self, database: Database, discard_derived: Callable[[str], Awaitable[None]]) -> None:
        self._database = database
        self._discard_derived = discard_derived
        self._wakeup = anyio.Event()

    def wake(self) -> None:
        """Inform the background task that something was deleted."""
        self._wakeup.set()

    async def purge_all(self) -> None:
        """Delete all pending rows, except those that another process is deleting. Raises Unavailable."""
        pending = select(content_leftovers.c.store_id).limit(1)
        # Check in a read transaction first: a write transaction may have to wait for other writers.
        if not await self._database.run_transaction(
            lambda connection: connection.execute(pending).first(), write=False
        ):
            return
        while (step := await self._database.run_transaction(purge_batch, write=True)) is not None:
            if step.is_empty and not step.content:
                await self.finish_store(step.store)

    async def finish_store(self, store: str) -> None:
        """Discard the index files of a store whose rows are gone, and its pending record."""
        await self._discard_derived(store)
        await self._database.run_transaction(lambda connection: _clear_deletion(connection, store, ""), write=True)

    async def run_forever(self) -> None:
        """Purge rows left by earlier processes, then whenever woken; failures are logged and retried."""
        retry_delay_s = 60.0
        while True:
            self._wakeup = anyio.Event()
            try:
                await self.purge_all()
            except OutriderError as error:
                log.warning("deleted rows could not be purged: %s", error.message)
                await anyio.sleep(retry_delay_s)
                continue
            await self._wakeup.wait()


def record_deletion(connection: Connection, store: str, content: str = "") -> None:
    """Schedule a purge of a deleted store's or content's rows. Its own row must already be deleted."""
    row = {"store_id": store, "content_id": content, "at": time.time()}
    connection.execute(content_leftovers.insert().values(row))


def purge_batch(connection: Connection) -> PurgeStep | None:
    """Purge a batch of the oldest deletion that no other process works on; return None if there is none."""
    table = content_leftovers
    oldest = select(table.c.store_id, table.c.content_id).order_by(table.c.at).limit(1)
    row = connection.execute(oldest.with_for_update(skip_locked=True)).first()
    if row is None:
        return None
    is_empty = purge_content(connection, row.content_id) if row.content_id else purge_store(connection, row.store_id)
    if is_empty and row.content_id:
        _clear_deletion(connection, row.store_id, row.content_id)
    return PurgeStep(row.store_id, row.content_id, is_empty)


def purge_store(connection: Connection, store: str) -> bool:
    """Delete a batch of a store's rows; return whether none remain."""
    columns = (
        (content_vectors.c.store_id, content_vectors.c.chunk_id),
        (content_chunks.c.store_id, content_chunks.c.id),
        (content_originals.c.store_id, content_originals.c.content_id),
        (contents.c.store_id, contents.c.id),
        (content_removals.c.store_id, content_removals.c.content_id),
    )
    return _delete_batch(connection, columns, store)


def purge_content(connection: Connection, content: str) -> bool:
    """Delete a batch of a content's chunks and vectors; return whether none remain."""
    columns = (
        (content_vectors.c.content_id, content_vectors.c.chunk_id),
        (content_chunks.c.content_id, content_chunks.c.id),
    )
    return _delete_batch(connection, columns, content)


def _delete_batch(connection: Connection, columns: Any, owner_id: str) -> bool:
    """Delete rows table by table, referring rows first; `columns` pairs the owner's column with the key."""
    remaining = PURGE_BATCH_ROWS
    for owner, key in columns:
        batch = key.in_(key.table.select().with_only_columns(key).where(owner == owner_id).limit(remaining))
        remaining -= connection.execute(key.table.delete().where(owner == owner_id, batch)).rowcount
        if remaining <= 0:
            return False
    return True


def _clear_deletion(connection: Connection, store: str, content: str) -> None:
    table = content_leftovers
    connection.execute(table.delete().where(table.c.store_id == store, table.c.content_id == content))
