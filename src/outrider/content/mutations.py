"""What changes stores, as parts of one transaction. Each function takes the open connection.

Whoever changes contents begins with `changed`, which locks the store's row: so writers of a store queue
up, and each change has a generation of its own for the indexes to follow.
"""

import secrets
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from outrider.content import purge
from outrider.content.errors import content_not_found, store_not_found
from outrider.content.models import ContentRecord
from outrider.core.context import Call
from outrider.core.database.database import to_storable_text

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from outrider.content.chunking.chunk import Chunk
    from outrider.content.chunking.prepare import PreparedContent

ROWS_PER_STATEMENT = 1_000


def begin_store_change(connection: "Connection", store: str) -> int | None:
    """Counts a change of the store and locks it for the rest of the transaction; None if it is gone."""
    from sqlalchemy import select

    from outrider.content.tables import content_stores as table

    values = {"generation": table.c.generation + 1, "stamp": secrets.token_hex(8), "modified_at": time.time()}
    connection.execute(table.update().where(table.c.id == store).values(values))
    return connection.execute(select(table.c.generation).where(table.c.id == store)).scalar()


def build_store_row(call: Call, name: str, description: str, *, default: bool) -> dict[str, Any]:
    """The row of a store that is made now."""
    now = time.time()
    return {
        "id": f"store_{secrets.token_hex(6)}",
        "scope": call.scope,
        "default_of": call.scope if default else None,
        "workspace": to_storable_text(call.workspace, 200) if call.workspace else None,
        "identity": to_storable_text(call.identity, 200) if call.identity else None,
        "name": to_storable_text(name, 200),
        "description": to_storable_text(description, 2_000),
        "languages": "",
        "created_at": now,
        "modified_at": now,
        "generation": 0,
        "stamp": "",
        "swept": 0,
        "embedded": 0,
    }


class ContentVersion(NamedTuple):
    """Where a content goes: its store, its id, which version of it this is, and in which change it comes."""

    store_id: str
    id: str
    version: int
    generation: int


def insert_contents(connection: "Connection", given: "Sequence[tuple[ContentVersion, PreparedContent]]") -> None:
    """Writes contents that are new in a store, with their chunks."""
    from outrider.content.tables import contents as table

    rows = [each.values | place._asdict() for place, each in given]
    for first in range(0, len(rows), ROWS_PER_STATEMENT):
        connection.execute(table.insert(), rows[first : first + ROWS_PER_STATEMENT])
    _insert_chunks(connection, given)


def replace_content(connection: "Connection", place: ContentVersion, given: "PreparedContent") -> None:
    """Puts a new version of a content in the place of the old one."""
    from outrider.content.tables import contents as table

    values = given.values | place._asdict()
    if values["unasked"]:  # reading it again does not undo that somebody asked to keep it
        del values["unasked"]
    connection.execute(table.update().where(table.c.id == place.id).values(values))
    delete_chunks(connection, place.id)
    _insert_chunks(connection, [(place, given)])


def delete_content_rows(connection: "Connection", store: str, content: str, generation: int) -> None:
    """Removes a content, and leaves word for the indexes; what a large one has beside its row is swept later."""
    from outrider.content.tables import content_removals, contents

    connection.execute(contents.delete().where(contents.c.id == content))
    if not purge.purge_content(connection, content):
        purge.record_deletion(connection, store, content)
    row = {"store_id": store, "content_id": content, "generation": generation, "at": time.time()}
    connection.execute(content_removals.insert().values(row))


def delete_chunks(connection: "Connection", content: str) -> None:
    """Removes the chunks of a content, and their vectors."""
    from outrider.content.tables import content_chunks, content_vectors

    for table in (content_vectors, content_chunks):
        connection.execute(table.delete().where(table.c.content_id == content))


def add_contents(connection: "Connection", store: str, ready: "Sequence[PreparedContent]") -> list[str]:
    """The ids under which the texts are kept now."""
    generation = begin_store_change(connection, store)
    if generation is None:
        raise store_not_found(store)
    there = find_duplicates(connection, store, [each.values["hash"] for each in ready])
    new: dict[str, tuple[ContentVersion, PreparedContent]] = {}
    for each in ready:
        if each.values["hash"] not in there:
            place = ContentVersion(store, f"content_{secrets.token_hex(8)}", 1, generation)
            new[each.values["hash"]] = place, each
            there[each.values["hash"]] = place.id
    insert_contents(connection, list(new.values()))
    _mark_requested(connection, [there[each.values["hash"]] for each in ready if not each.values["unasked"]])
    return [there[each.values["hash"]] for each in ready]


def update_content(connection: "Connection", old: "ContentRecord", ready: "PreparedContent") -> None:
    """Puts a new version in the place of the one that is there. Raises NotFound if it is gone."""
    generation, version = _begin_content_change(connection, old)
    replace_content(connection, ContentVersion(old.store_id, old.id, version + 1, generation), ready)


def delete_content(connection: "Connection", old: "ContentRecord") -> None:
    """Removes a content. Raises NotFound if it is gone."""
    generation, _ = _begin_content_change(connection, old)
    delete_content_rows(connection, old.store_id, old.id, generation)


def _begin_content_change(connection: "Connection", old: "ContentRecord") -> tuple[int, int]:
    """The generation of this change and the version that it meets. Raises NotFound if another was faster."""
    from sqlalchemy import select

    from outrider.content.tables import contents as table

    generation = begin_store_change(connection, old.store_id)
    version = connection.execute(select(table.c.version).where(table.c.id == old.id)).scalar()
    if generation is None or version is None:
        raise content_not_found(old.id)
    return generation, version


def delete_store(connection: "Connection", store: str) -> bool:
    """Removes a store, which nobody sees from then on; whether all of its rows are gone, or some are to be swept."""
    from outrider.content.tables import content_stores as table

    if connection.execute(table.delete().where(table.c.id == store)).rowcount:
        purge.record_deletion(connection, store)
    return purge.purge_store(connection, store)


def purge_removals(connection: "Connection", before: float) -> int:
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


def find_duplicates(connection: "Connection", store: str, digests: Sequence[str]) -> dict[str, str]:
    """By hash the contents of the store that have one of these texts."""
    from sqlalchemy import select

    from outrider.content.tables import contents as table

    found: dict[str, str] = {}
    for first in range(0, len(digests), ROWS_PER_STATEMENT):
        query = select(table.c.hash, table.c.id).where(
            table.c.store_id == store, table.c.hash.in_(digests[first : first + ROWS_PER_STATEMENT])
        )
        found |= {row.hash: row.id for row in connection.execute(query)}
    return found


def purge_unrequested(connection: "Connection", before: float) -> int:
    """Removes some of the contents that were only read and not looked at since then; how many."""
    from sqlalchemy import select

    from outrider.content.tables import content_stores as stores
    from outrider.content.tables import contents as table

    query = select(table.c.id, table.c.store_id).where(table.c.unasked == 1, table.c.accessed_at < before)
    query = query.join(stores, stores.c.id == table.c.store_id)
    rows = connection.execute(query.order_by(table.c.accessed_at).limit(ROWS_PER_STATEMENT)).all()
    generations = {store: begin_store_change(connection, store) for store in sorted({row.store_id for row in rows})}
    for row in rows:
        if generation := generations[row.store_id]:  # else the store is gone by now
            delete_content_rows(connection, row.store_id, row.id, generation)
    return len(rows)


def _mark_requested(connection: "Connection", ids: Sequence[str]) -> None:
    """Somebody asked to keep these, whoever brought them first."""
    from outrider.content.tables import contents as table

    for first in range(0, len(ids), ROWS_PER_STATEMENT):
        some = table.c.id.in_(ids[first : first + ROWS_PER_STATEMENT])
        connection.execute(table.update().where(some, table.c.unasked == 1).values(unasked=0))


def _insert_chunks(connection: "Connection", given: "Sequence[tuple[ContentVersion, PreparedContent]]") -> None:
    """Writes the chunks of contents of one store, and notes their languages with it."""
    from outrider.content.tables import content_chunks as table

    rows = [_build_chunk_row(place, chunk) for place, each in given for chunk in each.chunks]
    for first in range(0, len(rows), ROWS_PER_STATEMENT):
        connection.execute(table.insert(), rows[first : first + ROWS_PER_STATEMENT])
    if given:
        _add_languages(connection, given[0][0].store_id, {each.values["language"] for _, each in given})


def _build_chunk_row(place: ContentVersion, chunk: "Chunk") -> dict[str, Any]:
    ids = {"content_id": place.id, "store_id": place.store_id}
    return ids | vars(chunk) | {"id": f"{place.id}.{place.version}.{chunk.number}"}


def _add_languages(connection: "Connection", store: str, languages: set[str]) -> None:
    from sqlalchemy import select

    from outrider.content.tables import content_stores as table

    known = set(connection.execute(select(table.c.languages).where(table.c.id == store)).scalar_one().split())
    if languages - known - {""}:
        names = " ".join(sorted(known | languages - {""}))
        connection.execute(table.update().where(table.c.id == store).values(languages=names))
