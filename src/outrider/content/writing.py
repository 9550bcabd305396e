"""What changes stores, as parts of one transaction. Each function takes the open connection.

Whoever changes contents begins with `changed`, which locks the store's row: so writers of a store queue
up, and each change has a generation of its own for the indexes to follow.
"""

import secrets
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from outrider.content.failures import content_not_found, store_not_found

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from outrider.content.chunk import Chunk
    from outrider.content.prepare import Prepared
    from outrider.content.record import Record

ROWS_AT_ONCE = 1_000


def changed(connection: "Connection", store: str) -> int | None:
    """Counts a change of the store and locks it for the rest of the transaction; None if it is gone."""
    from sqlalchemy import select

    from outrider.content.tables import content_stores as table

    values = {"generation": table.c.generation + 1, "stamp": secrets.token_hex(8), "modified_at": time.time()}
    connection.execute(table.update().where(table.c.id == store).values(values))
    return connection.execute(select(table.c.generation).where(table.c.id == store)).scalar()


class Place(NamedTuple):
    """Where a content goes: its store, its id, which version of it this is, and in which change it comes."""

    store_id: str
    id: str
    version: int
    generation: int


def put(connection: "Connection", place: Place, given: "Prepared") -> None:
    """Writes a content that is new, or a new version of one, with its chunks."""
    from outrider.content.tables import contents as table

    values = given.values | place._asdict()
    if place.version == 1:
        connection.execute(table.insert().values(values))
    else:
        connection.execute(table.update().where(table.c.id == place.id).values(values))
        drop_chunks(connection, place.id)
    _insert_chunks(connection, place, given.chunks)
    _note_language(connection, place.store_id, given.values["language"])


def remove(connection: "Connection", store: str, content: str, generation: int) -> None:
    """Removes a content, and leaves word for the indexes."""
    from outrider.content.tables import content_removals, contents

    drop_chunks(connection, content)
    connection.execute(contents.delete().where(contents.c.id == content))
    row = {"store_id": store, "content_id": content, "generation": generation, "at": time.time()}
    connection.execute(content_removals.insert().values(row))


def drop_chunks(connection: "Connection", content: str) -> None:
    """Removes the chunks of a content, and their vectors."""
    from outrider.content.tables import content_chunks, content_vectors

    for table in (content_vectors, content_chunks):
        connection.execute(table.delete().where(table.c.content_id == content))


def added(connection: "Connection", store: str, ready: "Sequence[Prepared]") -> list[str]:
    """The ids under which the texts are kept now."""
    generation = changed(connection, store)
    if generation is None:
        raise store_not_found(store)
    ids = []
    for each in ready:
        content = same(connection, store, each.values["hash"])
        if content is None:
            content = f"content_{secrets.token_hex(8)}"
            put(connection, Place(store, content, 1, generation), each)
        ids.append(content)
    return ids


def updated(connection: "Connection", old: "Record", ready: "Prepared") -> None:
    """Puts a new version in the place of the one that is there. Raises NotFound if it is gone."""
    generation, version = _current(connection, old)
    put(connection, Place(old.store_id, old.id, version + 1, generation), ready)


def deleted(connection: "Connection", old: "Record") -> None:
    """Removes a content. Raises NotFound if it is gone."""
    generation, _ = _current(connection, old)
    remove(connection, old.store_id, old.id, generation)


def _current(connection: "Connection", old: "Record") -> tuple[int, int]:
    """The generation of this change and the version that it meets. Raises NotFound if another was faster."""
    from sqlalchemy import select

    from outrider.content.tables import contents as table

    generation = changed(connection, old.store_id)
    version = connection.execute(select(table.c.version).where(table.c.id == old.id)).scalar()
    if generation is None or version is None:
        raise content_not_found(old.id)
    return generation, version


def remove_store(connection: "Connection", store: str) -> None:
    """Removes a store with all that it holds."""
    from outrider.content.tables import content_chunks, content_removals, content_stores, content_vectors, contents

    for table in (content_vectors, content_chunks, contents, content_removals):
        connection.execute(table.delete().where(table.c.store_id == store))
    connection.execute(content_stores.delete().where(content_stores.c.id == store))


def sweep(connection: "Connection", before: float) -> int:
    """Forgets removals from before a time; an index that has not heard of them is then made anew."""
    from sqlalchemy import func, select

    from outrider.content.tables import content_removals as removals
    from outrider.content.tables import content_stores as stores

    newest = select(removals.c.store_id, func.max(removals.c.generation)).where(removals.c.at < before)
    gone = connection.execute(newest.group_by(removals.c.store_id)).all()
    for store, generation in gone:
        connection.execute(stores.update().where(stores.c.id == store).values(swept=generation))
        old = (removals.c.store_id == store, removals.c.generation <= generation)
        connection.execute(removals.delete().where(*old))
    return len(gone)


def same(connection: "Connection", store: str, digest: str) -> str | None:
    """The id of a content of the store that has this very text."""
    from sqlalchemy import select

    from outrider.content.tables import contents as table

    query = select(table.c.id).where(table.c.store_id == store, table.c.hash == digest)
    return connection.execute(query.limit(1)).scalar()


def _insert_chunks(connection: "Connection", place: Place, chunks: "Sequence[Chunk]") -> None:
    from outrider.content.tables import content_chunks as table

    for first in range(0, len(chunks), ROWS_AT_ONCE):
        connection.execute(table.insert(), [_row(place, chunk) for chunk in chunks[first : first + ROWS_AT_ONCE]])


def _row(place: Place, chunk: "Chunk") -> dict[str, Any]:
    ids = {"content_id": place.id, "store_id": place.store_id}
    return ids | vars(chunk) | {"id": f"{place.id}.{place.version}.{chunk.number}"}


def _note_language(connection: "Connection", store: str, language: str) -> None:
    from sqlalchemy import select

    from outrider.content.tables import content_stores as table

    known = connection.execute(select(table.c.languages).where(table.c.id == store)).scalar_one().split()
    if language and language not in known:
        names = " ".join(sorted({*known, language}))
        connection.execute(table.update().where(table.c.id == store).values(languages=names))
