"""What changes stores, as parts of one transaction. Each function takes the open connection.

Whoever changes contents begins with `changed`, which locks the store's row: so writers of a store queue
up, and each change has a generation of its own for the indexes to follow.
"""

import secrets
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from outrider.content import leftovers
from outrider.content.failures import content_not_found, store_not_found
from outrider.content.record import Record
from outrider.core.context import Call
from outrider.core.db import storable

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from outrider.content.cutting.chunk import Chunk
    from outrider.content.cutting.prepare import Prepared

ROWS_AT_ONCE = 1_000


def changed(connection: "Connection", store: str) -> int | None:
    """Counts a change of the store and locks it for the rest of the transaction; None if it is gone."""
    from sqlalchemy import select

    from outrider.content.tables import content_stores as table

    values = {"generation": table.c.generation + 1, "stamp": secrets.token_hex(8), "modified_at": time.time()}
    connection.execute(table.update().where(table.c.id == store).values(values))
    return connection.execute(select(table.c.generation).where(table.c.id == store)).scalar()


def new_store(call: Call, name: str, description: str, *, default: bool) -> dict[str, Any]:
    """The row of a store that is made now."""
    now = time.time()
    return {
        "id": f"store_{secrets.token_hex(6)}",
        "scope": call.scope,
        "default_of": call.scope if default else None,
        "workspace": storable(call.workspace, 200) if call.workspace else None,
        "identity": storable(call.identity, 200) if call.identity else None,
        "name": storable(name, 200),
        "description": storable(description, 2_000),
        "languages": "",
        "created_at": now,
        "modified_at": now,
        "generation": 0,
        "stamp": "",
        "swept": 0,
        "embedded": 0,
    }


class Place(NamedTuple):
    """Where a content goes: its store, its id, which version of it this is, and in which change it comes."""

    store_id: str
    id: str
    version: int
    generation: int


def put(connection: "Connection", given: "Sequence[tuple[Place, Prepared]]") -> None:
    """Writes contents that are new in a store, with their chunks."""
    from outrider.content.tables import contents as table

    rows = [each.values | place._asdict() for place, each in given]
    for first in range(0, len(rows), ROWS_AT_ONCE):
        connection.execute(table.insert(), rows[first : first + ROWS_AT_ONCE])
    _insert_chunks(connection, given)


def replace(connection: "Connection", place: Place, given: "Prepared") -> None:
    """Puts a new version of a content in the place of the old one."""
    from outrider.content.tables import contents as table

    values = given.values | place._asdict()
    if values["unasked"]:  # reading it again does not undo that somebody asked to keep it
        del values["unasked"]
    connection.execute(table.update().where(table.c.id == place.id).values(values))
    drop_chunks(connection, place.id)
    _insert_chunks(connection, [(place, given)])


def remove(connection: "Connection", store: str, content: str, generation: int) -> None:
    """Removes a content, and leaves word for the indexes; what a large one has beside its row is swept later."""
    from outrider.content.tables import content_removals, contents

    connection.execute(contents.delete().where(contents.c.id == content))
    if not leftovers.sweep_content(connection, content):
        leftovers.note(connection, store, content)
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
    there = same(connection, store, [each.values["hash"] for each in ready])
    new: dict[str, tuple[Place, Prepared]] = {}
    for each in ready:
        if each.values["hash"] not in there:
            place = Place(store, f"content_{secrets.token_hex(8)}", 1, generation)
            new[each.values["hash"]] = place, each
            there[each.values["hash"]] = place.id
    put(connection, list(new.values()))
    _note_asked(connection, [there[each.values["hash"]] for each in ready if not each.values["unasked"]])
    return [there[each.values["hash"]] for each in ready]


def updated(connection: "Connection", old: "Record", ready: "Prepared") -> None:
    """Puts a new version in the place of the one that is there. Raises NotFound if it is gone."""
    generation, version = _current(connection, old)
    replace(connection, Place(old.store_id, old.id, version + 1, generation), ready)


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


def remove_store(connection: "Connection", store: str) -> bool:
    """Removes a store, which nobody sees from then on; whether all of its rows are gone, or some are to be swept."""
    from outrider.content.tables import content_stores as table

    if connection.execute(table.delete().where(table.c.id == store)).rowcount:
        leftovers.note(connection, store)
    return leftovers.sweep_store(connection, store)


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


def same(connection: "Connection", store: str, digests: Sequence[str]) -> dict[str, str]:
    """By hash the contents of the store that have one of these texts."""
    from sqlalchemy import select

    from outrider.content.tables import contents as table

    found: dict[str, str] = {}
    for first in range(0, len(digests), ROWS_AT_ONCE):
        query = select(table.c.hash, table.c.id).where(
            table.c.store_id == store, table.c.hash.in_(digests[first : first + ROWS_AT_ONCE])
        )
        found |= {row.hash: row.id for row in connection.execute(query)}
    return found


def sweep_unasked(connection: "Connection", before: float) -> int:
    """Removes some of the contents that were only read and not looked at since then; how many."""
    from sqlalchemy import select

    from outrider.content.tables import content_stores as stores
    from outrider.content.tables import contents as table

    query = select(table.c.id, table.c.store_id).where(table.c.unasked == 1, table.c.accessed_at < before)
    query = query.join(stores, stores.c.id == table.c.store_id)
    rows = connection.execute(query.order_by(table.c.accessed_at).limit(ROWS_AT_ONCE)).all()
    generations = {store: changed(connection, store) for store in sorted({row.store_id for row in rows})}
    for row in rows:
        if generation := generations[row.store_id]:  # else the store is gone by now
            remove(connection, row.store_id, row.id, generation)
    return len(rows)


def _note_asked(connection: "Connection", ids: Sequence[str]) -> None:
    """Somebody asked to keep these, whoever brought them first."""
    from outrider.content.tables import contents as table

    for first in range(0, len(ids), ROWS_AT_ONCE):
        some = table.c.id.in_(ids[first : first + ROWS_AT_ONCE])
        connection.execute(table.update().where(some, table.c.unasked == 1).values(unasked=0))


def _insert_chunks(connection: "Connection", given: "Sequence[tuple[Place, Prepared]]") -> None:
    """Writes the chunks of contents of one store, and notes their languages with it."""
    from outrider.content.tables import content_chunks as table

    rows = [_row(place, chunk) for place, each in given for chunk in each.chunks]
    for first in range(0, len(rows), ROWS_AT_ONCE):
        connection.execute(table.insert(), rows[first : first + ROWS_AT_ONCE])
    if given:
        _note_languages(connection, given[0][0].store_id, {each.values["language"] for _, each in given})


def _row(place: Place, chunk: "Chunk") -> dict[str, Any]:
    ids = {"content_id": place.id, "store_id": place.store_id}
    return ids | vars(chunk) | {"id": f"{place.id}.{place.version}.{chunk.number}"}


def _note_languages(connection: "Connection", store: str, languages: set[str]) -> None:
    from sqlalchemy import select

    from outrider.content.tables import content_stores as table

    known = set(connection.execute(select(table.c.languages).where(table.c.id == store)).scalar_one().split())
    if languages - known - {""}:
        names = " ".join(sorted(known | languages - {""}))
        connection.execute(table.update().where(table.c.id == store).values(languages=names))
