"""Database changes to content stores, as parts of one transaction.

Each function takes the open connection. A transaction that changes contents begins with `begin_store_change`, which
locks the store's row: writers of a store queue up, and each change gets its own generation for the indexes to follow.
"""

import secrets
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from outrider.content.errors import content_not_found, store_not_found
from outrider.content.models import ContentRecord
from outrider.core.context import Call
from outrider.core.database.database import to_storable_text

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from outrider.content.chunking.prepare import PreparedContent

ROWS_PER_STATEMENT = 1_000


def begin_store_change(connection: "Connection", store: str) -> int | None:
    """Increment a store's generation and lock its row for the transaction; None if the store is gone."""
    from sqlalchemy import select

    from outrider.content.tables import content_stores as table

    values = {"generation": table.c.generation + 1, "stamp": secrets.token_hex(8), "modified_at": time.time()}
    connection.execute(table.update().where(table.c.id == store).values(values))
    return connection.execute(select(table.c.generation).where(table.c.id == store)).scalar()


def build_store_row(call: Call, name: str, description: str, *, default: bool) -> dict[str, Any]:
    """Return the row of a new store."""
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
    """Identifies one version of a content and the change of the store that writes it."""

    store_id: str
    id: str
    version: int
    generation: int


def insert_contents(connection: "Connection", versions: "Sequence[tuple[ContentVersion, PreparedContent]]") -> None:
    """Insert new contents of a store with their chunks."""
    from outrider.content.tables import contents as table

    rows = [content.values | version._asdict() for version, content in versions]
    for start in range(0, len(rows), ROWS_PER_STATEMENT):
        connection.execute(table.insert(), rows[start : start + ROWS_PER_STATEMENT])
    _insert_chunks(connection, versions)
    for version, content in versions:
        _replace_original(connection, version, content.original)


def replace_content(connection: "Connection", version: ContentVersion, content: "PreparedContent") -> None:
    """Replace a content by a new version."""
    from outrider.content.tables import contents as table

    values = content.values | version._asdict()
    if values["unasked"]:  # if it was saved by request before, reading the page again does not change that
        del values["unasked"]
    connection.execute(table.update().where(table.c.id == version.id).values(values))
    delete_chunks(connection, version.id)
    _insert_chunks(connection, [(version, content)])
    _replace_original(connection, version, content.original)


def delete_content_rows(connection: "Connection", store: str, content: str, generation: int) -> None:
    """Delete a content and record the removal for the indexes; remaining rows of a large one are purged later."""
    from outrider.content import purge
    from outrider.content.tables import content_originals, content_removals, contents

    connection.execute(contents.delete().where(contents.c.id == content))
    connection.execute(content_originals.delete().where(content_originals.c.content_id == content))
    if not purge.purge_content(connection, content):
        purge.record_deletion(connection, store, content)
    row = {"store_id": store, "content_id": content, "generation": generation, "at": time.time()}
    connection.execute(content_removals.insert().values(row))


def delete_chunks(connection: "Connection", content: str) -> None:
    """Delete the chunks of a content and their vectors."""
    from outrider.content.tables import content_chunks, content_vectors

    for table in (content_vectors, content_chunks):
        connection.execute(table.delete().where(table.c.content_id == content))


def _replace_original(connection: "Connection", version: ContentVersion, original: bytes | None) -> None:
    """Store the file of a content instead of its previous one; None only removes that."""
    from outrider.content.tables import content_originals as table

    if version.version > 1:
        connection.execute(table.delete().where(table.c.content_id == version.id))
    if original is not None:
        connection.execute(table.insert().values(content_id=version.id, store_id=version.store_id, body=original))


def add_contents(connection: "Connection", store: str, prepared: "Sequence[PreparedContent]") -> list[str]:
    """Add contents that the store does not hold yet; return the ids of all, in order. Raises NotFound."""
    from outrider.content.tables import contents as table

    generation = begin_store_change(connection, store)
    if generation is None:
        raise store_not_found(store)
    hashes = [item.values["hash"] for item in prepared]
    ids_by_hash = find_duplicates(connection, store, hashes)
    new: dict[str, tuple[ContentVersion, PreparedContent]] = {}
    for text_hash, item in zip(hashes, prepared, strict=True):
        if text_hash not in ids_by_hash:
            version = ContentVersion(store, f"content_{secrets.token_hex(8)}", 1, generation)
            new[text_hash] = version, item
            ids_by_hash[text_hash] = version.id
    insert_contents(connection, list(new.values()))
    requested = [ids_by_hash[item.values["hash"]] for item in prepared if not item.values["unasked"]]
    # A content that was first saved automatically is from now on one that was added by request.
    for start in range(0, len(requested), ROWS_PER_STATEMENT):
        condition = table.c.id.in_(requested[start : start + ROWS_PER_STATEMENT])
        connection.execute(table.update().where(condition, table.c.unasked == 1).values(unasked=0))
    return [ids_by_hash[text_hash] for text_hash in hashes]


def update_content(connection: "Connection", old: "ContentRecord", prepared: "PreparedContent") -> None:
    """Replace a content by a new version. Raises NotFound if it is gone."""
    generation, version = _begin_content_change(connection, old)
    replace_content(connection, ContentVersion(old.store_id, old.id, version + 1, generation), prepared)


def delete_content(connection: "Connection", old: "ContentRecord") -> None:
    """Delete a content. Raises NotFound if it is gone."""
    generation, _ = _begin_content_change(connection, old)
    delete_content_rows(connection, old.store_id, old.id, generation)


def _begin_content_change(connection: "Connection", old: "ContentRecord") -> tuple[int, int]:
    """Return the generation of this change and the current version. Raises NotFound if the content is gone."""
    from sqlalchemy import select

    from outrider.content.tables import contents as table

    generation = begin_store_change(connection, old.store_id)
    version = connection.execute(select(table.c.version).where(table.c.id == old.id)).scalar()
    if generation is None or version is None:
        raise content_not_found(old.id)
    return generation, version


def delete_store(connection: "Connection", store: str) -> bool:
    """Delete a store, which hides it at once; return whether all of its rows are gone or some remain to purge."""
    from outrider.content import purge
    from outrider.content.tables import content_stores as table

    if connection.execute(table.delete().where(table.c.id == store)).rowcount:
        purge.record_deletion(connection, store)
    return purge.purge_store(connection, store)


def purge_removals(connection: "Connection", before: float) -> int:
    """Delete records of removals older than a time; return how many stores had any.

    An index that has not applied them yet is rebuilt.
    """
    from sqlalchemy import func, select

    from outrider.content.tables import content_removals as removals
    from outrider.content.tables import content_stores as stores

    query = select(removals.c.store_id, func.max(removals.c.generation)).where(removals.c.at < before)
    stale = connection.execute(query.group_by(removals.c.store_id)).all()
    for store, generation in stale:
        connection.execute(stores.update().where(stores.c.id == store).values(swept=generation))
        expired = (removals.c.store_id == store, removals.c.generation <= generation)
        connection.execute(removals.delete().where(*expired))
    return len(stale)


def find_duplicates(connection: "Connection", store: str, hashes: Sequence[str]) -> dict[str, str]:
    """Return the ids of contents that hold one of these texts, by the text's hash."""
    from sqlalchemy import select

    from outrider.content.tables import contents as table

    found: dict[str, str] = {}
    for start in range(0, len(hashes), ROWS_PER_STATEMENT):
        query = select(table.c.hash, table.c.id).where(
            table.c.store_id == store, table.c.hash.in_(hashes[start : start + ROWS_PER_STATEMENT])
        )
        found |= {row.hash: row.id for row in connection.execute(query)}
    return found


def purge_unrequested(connection: "Connection", before: float) -> int:
    """Delete a batch of automatically saved contents not used since `before`; return how many."""
    from sqlalchemy import select

    from outrider.content.tables import content_stores as stores
    from outrider.content.tables import contents as table

    query = select(table.c.id, table.c.store_id).where(table.c.unasked == 1, table.c.accessed_at < before)
    query = query.join(stores, stores.c.id == table.c.store_id)
    rows = connection.execute(query.order_by(table.c.accessed_at).limit(ROWS_PER_STATEMENT)).all()
    generations = {store: begin_store_change(connection, store) for store in sorted({row.store_id for row in rows})}
    for row in rows:
        if generation := generations[row.store_id]:  # otherwise the store is gone by now
            delete_content_rows(connection, row.store_id, row.id, generation)
    return len(rows)


def _insert_chunks(connection: "Connection", versions: "Sequence[tuple[ContentVersion, PreparedContent]]") -> None:
    """Insert the chunks of contents of one store, and add their languages to the store."""
    from sqlalchemy import select

    from outrider.content.tables import content_chunks as table
    from outrider.content.tables import content_stores

    rows = [
        {
            **vars(chunk),
            "content_id": version.id,
            "store_id": version.store_id,
            "id": f"{version.id}.{version.version}.{chunk.number}",
        }
        for version, content in versions
        for chunk in content.chunks
    ]
    for start in range(0, len(rows), ROWS_PER_STATEMENT):
        connection.execute(table.insert(), rows[start : start + ROWS_PER_STATEMENT])
    if versions:
        same_store = content_stores.c.id == versions[0][0].store_id
        known = set(connection.execute(select(content_stores.c.languages).where(same_store)).scalar_one().split())
        new = {content.values["language"] for _, content in versions} - known - {""}
        if new:
            names = " ".join(sorted(known | new))
            connection.execute(content_stores.update().where(same_store).values(languages=names))
