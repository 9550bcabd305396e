"""What is left of deleted stores and contents: out of sight at once, swept in small transactions afterwards.

A store is gone when its row is, a content when its row is: whatever is read goes by these. The passages of a large one
lie on a dozen indexes (half a second for 5,000), so deleting only notes them, and whoever runs longer takes them out
piece by piece; a process that is killed meanwhile leaves the note to the next one.
"""

import logging
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio

from outrider.core.database.database import Database
from outrider.core.errors import OutriderError

if TYPE_CHECKING:
    from sqlalchemy import Connection

log = logging.getLogger(__name__)
PURGE_BATCH_ROWS = 250  # rows in one transaction: about 20 ms of a million passages, for which other writers wait


class PurgeStep(NamedTuple):
    """One piece of work: on what, and whether that has no rows any more."""

    store: str
    content: str
    is_empty: bool


class Purger:
    """Sweeps what was deleted. Safe for several processes on one database.

    Args:
        database: Holds the rows.
        forget: Lets go of all that was derived from a store.
    """

    def __init__(self, database: Database, forget: Callable[[str], Awaitable[None]]) -> None:
        self._database = database
        self._discard_derived = forget
        self._wakeup = anyio.Event()

    def wake(self) -> None:
        """There is something to sweep."""
        self._wakeup.set()

    async def purge_all(self) -> None:
        """Sweeps all that there is, but for what another process is at. Raises Unavailable."""
        if not await self._database.run_transaction(
            _has_pending, write=False
        ):  # to write, one may have to wait for others
            return
        while (step := await self._database.run_transaction(purge_batch, write=True)) is not None:
            if step.is_empty and not step.content:
                await self.finish_store(step.store)

    async def finish_store(self, store: str) -> None:
        """The end of a store whose rows are gone: nothing speaks of it any more."""
        await self._discard_derived(store)
        await self._database.run_transaction(lambda connection: _clear_deletion(connection, store, ""), write=True)

    async def run_forever(self) -> None:
        """Sweeps what earlier processes left, and then whenever it is woken; a failure is logged and tried again."""
        retry_delay_s = 60.0  # seconds after a failure
        while True:
            self._wakeup = anyio.Event()
            try:
                await self.purge_all()
            except OutriderError as error:
                log.warning("what was deleted is still on disk: %s", error.message)
                await anyio.sleep(retry_delay_s)
                continue
            await self._wakeup.wait()


def record_deletion(connection: "Connection", store: str, content: str = "") -> None:
    """Rows of a store, or of one content, are to be swept; what it belongs to is out of sight by now."""
    from outrider.content.tables import content_leftovers

    row = {"store_id": store, "content_id": content, "at": time.time()}
    connection.execute(content_leftovers.insert().values(row))


def _has_pending(connection: "Connection") -> bool:
    from sqlalchemy import select

    from outrider.content.tables import content_leftovers as table

    return connection.execute(select(table.c.store_id).limit(1)).first() is not None


def purge_batch(connection: "Connection") -> PurgeStep | None:
    """Sweeps a piece of what was left first; None where there is nothing, or only what another process is at."""
    from sqlalchemy import select

    from outrider.content.tables import content_leftovers as table

    oldest = select(table.c.store_id, table.c.content_id).order_by(table.c.at).limit(1)
    row = connection.execute(oldest.with_for_update(skip_locked=True)).first()
    if row is None:
        return None
    emptied = purge_store(connection, row.store_id) if not row.content_id else purge_content(connection, row.content_id)
    if emptied and row.content_id:
        _clear_deletion(connection, row.store_id, row.content_id)
    return PurgeStep(row.store_id, row.content_id, emptied)


def purge_store(connection: "Connection", store: str) -> bool:
    """Removes some rows of a store; whether none is left."""
    from outrider.content.tables import content_chunks, content_removals, content_vectors, contents

    places = (
        (content_vectors.c.store_id, content_vectors.c.chunk_id),
        (content_chunks.c.store_id, content_chunks.c.id),
        (contents.c.store_id, contents.c.id),
        (content_removals.c.store_id, content_removals.c.content_id),
    )
    return _delete_batch(connection, places, store)


def purge_content(connection: "Connection", content: str) -> bool:
    """Removes some passages and vectors of a content; whether none is left."""
    from outrider.content.tables import content_chunks, content_vectors

    places = (
        (content_vectors.c.content_id, content_vectors.c.chunk_id),
        (content_chunks.c.content_id, content_chunks.c.id),
    )
    return _delete_batch(connection, places, content)


def _delete_batch(connection: "Connection", places: Any, owner_id: str) -> bool:
    """Removes rows table by table, those that refer to others first."""
    left = PURGE_BATCH_ROWS
    for whose, key in places:
        some = key.in_(key.table.select().with_only_columns(key).where(whose == owner_id).limit(left))
        left -= connection.execute(key.table.delete().where(whose == owner_id, some)).rowcount
        if left <= 0:
            return False
    return True


def _clear_deletion(connection: "Connection", store: str, content: str) -> None:
    from outrider.content.tables import content_leftovers as table

    connection.execute(table.delete().where(table.c.store_id == store, table.c.content_id == content))
