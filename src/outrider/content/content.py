"""Content stores: the domain's one class. Every method sees only what belongs to the call's session."""

import secrets
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from outrider.content import writing
from outrider.content.failures import content_not_found, no_such_lines, store_not_found, text_too_large
from outrider.content.following import Follower
from outrider.content.fts import FtsIndex
from outrider.content.index import Index
from outrider.content.lines import Lines
from outrider.content.prepare import Prepared, prepared, text_hash
from outrider.content.record import Draft, Passage, Record, Store, scope
from outrider.content.search import Found, Searching, SearchOptions, joined
from outrider.content.settings import ContentSettings
from outrider.core.context import Call
from outrider.core.db import Database, storable
from outrider.core.errors import NotConfigured

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from outrider.content.vectors import Vectors

UNNAMED = "Unnamed Store"
DEFAULT = "Session"
TOUCHED = 60.0  # seconds for which one note of use is enough
REMEMBERED = 30 * 86_400  # seconds for which removals are remembered


class Content:
    """Stores of texts, and search in them.

    Args:
        database: Holds them.
        folder: Where keyword indexes are, which are made of the database and may be deleted.
        settings: Limits.
        index: Another engine than files of SQLite.
        vectors: Search by meaning; None where there is nothing that embeds.
    """

    def __init__(
        self,
        database: Database,
        folder: Path,
        settings: ContentSettings | None = None,
        *,
        index: Index | None = None,
        vectors: "Vectors | None" = None,
    ) -> None:
        self.settings = settings or ContentSettings()
        self._database = database
        self._index = index or FtsIndex(folder, most=self.settings.open_indexes)
        self._follower = Follower(database, self._index)
        self._vectors = vectors
        self._searching = Searching(database, self._index, self._follower, vectors)

    @property
    def semantic(self) -> bool:
        """Whether there is search by meaning."""
        return self._vectors is not None

    async def create_store(self, call: Call, name: str = "", description: str = "") -> Store:
        """A new, empty store of the session."""
        return await self._made(call, name.strip() or UNNAMED, description.strip(), default=False)

    async def store(self, call: Call, store_id: str | None = None) -> Store:
        """The store of that id, else the session's own, which is made at first use. Raises NotFound."""
        own = scope(call)
        found = await self._stores(own, store_id=store_id, default=store_id is None)
        if found:
            return found[0]
        if store_id is not None:
            raise store_not_found(store_id)
        return await self._made(call, DEFAULT, "", default=True)

    async def stores(self, call: Call, offset: int = 0, limit: int = 100) -> tuple[list[Store], int]:
        """The session's stores, newest first, and how many there are in all."""
        from sqlalchemy import func, select

        from outrider.content.tables import content_stores as table

        query = select(func.count()).select_from(table).where(table.c.scope == scope(call))
        total = await self._short(lambda connection: connection.execute(query).scalar_one())
        return await self._stores(scope(call), offset=offset, limit=limit), total

    async def delete_store(self, call: Call, store_id: str) -> None:
        """Removes a store with all that it holds. Raises NotFound."""
        store = await self.store(call, store_id)
        await self._short(lambda connection: writing.remove_store(connection, store.id), write=True)
        await self._index.rebuild(store.id)
        if self._vectors is not None:
            await self._vectors.forget(store.id)

    async def add(self, call: Call, draft: Draft, store_id: str | None = None) -> Record:
        """Keeps a text; the record that there is already, if the store has this very text. See `add_many`."""
        return (await self.add_many(call, [draft], store_id))[0]

    async def add_many(self, call: Call, drafts: Iterable[Draft], store_id: str | None = None) -> list[Record]:
        """Keeps texts, all or none of them, and can find them when it returns.

        Raises:
            NotFound: code `STORE_NOT_FOUND`.
            InvalidInput: code `CONTENT_TOO_LARGE`.
            Unavailable: of database or index.
        """
        given = [self._checked(draft) for draft in drafts]
        store = await self.store(call, store_id)
        ready = [await anyio.to_thread.run_sync(prepared, draft) for draft in given]
        ids = await self._short(lambda connection: _added(connection, store.id, ready), write=True)
        await self._follower.catch_up([store.id])
        records = {each.id: each for each in await self._records_of(ids)}
        return [records[each] for each in ids]

    async def offer(self, call: Call, draft: Draft) -> Record:
        """Keeps what was read in the session's own store: a source that is there already gets a new version."""
        store = await self.store(call)
        known = await self._of_source(store.id, draft.source)
        if known is None:
            return await self.add(call, draft, store.id)
        if known.characters == len(draft.text) and await self._same(store.id, draft.text) == known.id:
            return known
        return await self.update(call, known.id, draft)

    async def update(self, call: Call, content_id: str, draft: Draft | None = None, **changed: Any) -> Record:
        """Puts a new version of a content in the place of the old one, and indexes it anew.

        Args:
            call: Whose.
            content_id: Which.
            draft: The new text with all that belongs to it; None keeps the text.
            changed: Columns that change: filename, mime_type, uploaded_at, title, size.

        Raises:
            NotFound: code `CONTENT_NOT_FOUND`.
            InvalidInput: code `CONTENT_TOO_LARGE`.
        """
        old = await self.record(call, content_id)
        if draft is None:
            text = (await self.read(call, content_id)).text if old.line_count else ""
            draft = Draft(text, old.filename, old.mime_type, old.source, old.title, size=old.size, facts=old.facts,
                          markdown=bool(old.facts.get("markdown")), uploaded_at=old.uploaded_at)  # fmt: skip
        ready = await anyio.to_thread.run_sync(prepared, self._checked(replace(draft, **changed)))
        await self._short(lambda connection: _updated(connection, old, ready), write=True)
        await self._follower.catch_up([old.store_id])
        return await self.record(call, content_id)

    async def delete(self, call: Call, content_id: str) -> None:
        """Removes a content. Raises NotFound: code `CONTENT_NOT_FOUND`."""
        old = await self.record(call, content_id)
        await self._short(lambda connection: _deleted(connection, old), write=True)
        await self._follower.catch_up([old.store_id])

    async def record(self, call: Call, content_id: str) -> Record:
        """What is known of a content. Raises NotFound: code `CONTENT_NOT_FOUND`."""
        found = await self._records_of([content_id], own=scope(call))
        if not found:
            raise content_not_found(content_id)
        return found[0]

    async def records(
        self, call: Call, store_id: str | None = None, offset: int = 0, limit: int = 100
    ) -> tuple[list[Record], int]:
        """A store's contents, newest first, and how many there are in all. Raises NotFound."""
        from sqlalchemy import select

        from outrider.content.tables import contents as table

        store = await self.store(call, store_id)
        query = select(table).where(table.c.store_id == store.id)
        query = query.order_by(table.c.uploaded_at.desc(), table.c.generation.desc(), table.c.id)
        rows = await self._short(lambda connection: list(connection.execute(query.offset(offset).limit(limit))))
        return [_record(row) for row in rows], store.content_count

    async def read(self, call: Call, content_id: str, from_line: int = 1, to_line: int | None = None) -> Passage:
        """Lines of a content, exactly as they were given.

        Raises:
            NotFound: code `CONTENT_NOT_FOUND`.
            InvalidInput: code `INVALID_LINE_RANGE`, where the range holds no line.
        """
        record = await self.record(call, content_id)
        last = record.line_count if to_line is None else min(to_line, record.line_count)
        if not 1 <= from_line <= last:
            raise no_such_lines(from_line, to_line, record.line_count)
        rows = await self._short(lambda connection: _covering(connection, record.id, from_line, last))
        text, first = joined(rows), rows[0].from_line
        lines = Lines(text)
        start = lines.start(from_line - first + 1)
        end = lines.start(last - first + 2) if last - first + 2 <= len(lines) else len(text)
        await self._touch(record)
        return Passage(record, text[start:end], from_line, last)

    async def search(self, call: Call, query: str, options: SearchOptions | None = None) -> Found:
        """The passages that match best.

        Raises:
            NotFound: code `STORE_NOT_FOUND`.
            NotConfigured: code `semantic_unavailable`, where a search by meaning is wanted and nothing embeds.
        """
        options = options or SearchOptions()
        if options.mode != "keyword" and self._vectors is None:
            raise NotConfigured(
                "there is no search by meaning here: nothing is configured that embeds",
                hint="use keywordSimilaritySearch",
                code="semantic_unavailable",
            )
        stores = await self._searched(call, options.stores)
        return await self._searching.find(query, stores, options)

    async def rebuild(self, store_id: str | None = None) -> int:
        """Makes the indexes of one store, or of all, anew from the database; how many stores that were."""
        from sqlalchemy import select

        from outrider.content.tables import content_stores as table

        query = select(table.c.id) if store_id is None else select(table.c.id).where(table.c.id == store_id)
        stores = await self._short(lambda connection: list(connection.execute(query).scalars()))
        for each in stores:
            await self._index.rebuild(each)
            await self._follower.catch_up([each])
        return len(stores)

    async def sweep(self) -> None:
        """Forgets removals that every index should have heard of by now."""
        before = time.time() - REMEMBERED
        await self._short(lambda connection: writing.sweep(connection, before), write=True)

    async def close(self) -> None:
        """Closes the indexes; a later use opens them again."""
        await self._index.close()
        if self._vectors is not None:
            await self._vectors.close()

    async def _short(self, work: Any, *, write: bool = False) -> Any:
        return await self._database.short(work, write=write)

    def _checked(self, draft: Draft) -> Draft:
        if len(draft.text) > self.settings.text_chars:
            raise text_too_large(len(draft.text), self.settings.text_chars)
        return draft

    async def _made(self, call: Call, name: str, description: str, *, default: bool) -> Store:
        from outrider.content.tables import content_stores as table

        own, now = scope(call), time.time()
        row = {
            "id": f"store_{secrets.token_hex(6)}",
            "scope": own,
            "default_of": own if default else None,
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
        insert = self._database.insert(table).values(row).on_conflict_do_nothing(index_elements=["default_of"])
        await self._short(lambda connection: connection.execute(insert), write=True)
        store_id = None if default else row["id"]
        return (await self._stores(own, store_id=store_id, default=default))[0]

    async def _stores(
        self, own: str, *, store_id: str | None = None, default: bool = False, offset: int = 0, limit: int = 1
    ) -> list[Store]:
        """Stores with their figures: the one of that id, the default one, or a page of all."""
        from sqlalchemy import func, select

        from outrider.content.tables import content_stores as table
        from outrider.content.tables import contents

        query = select(table).where(table.c.scope == own).order_by(table.c.created_at.desc(), table.c.id)
        if default:
            query = query.where(table.c.default_of == own)
        elif store_id is not None:
            query = query.where(table.c.id == store_id)
        figures = (func.count(), func.sum(contents.c.chunk_count), func.sum(contents.c.size))

        def work(connection: "Connection") -> list[Store]:
            rows = connection.execute(query.offset(offset).limit(limit)).all()
            counted = select(contents.c.store_id, *figures).where(contents.c.store_id.in_([row.id for row in rows]))
            numbers = {each[0]: each[1:] for each in connection.execute(counted.group_by(contents.c.store_id))}
            return [_store(row, numbers.get(row.id, (0, 0, 0))) for row in rows]

        return await self._short(work)

    async def _searched(self, call: Call, wanted: Sequence[str] | None) -> dict[str, list[str]]:
        """The stores to search, with the languages of each."""
        from sqlalchemy import select

        from outrider.content.tables import content_stores as table

        query = select(table.c.id, table.c.languages).where(table.c.scope == scope(call))
        rows = await self._short(lambda connection: list(connection.execute(query)))
        there = {row.id: row.languages.split() for row in rows}
        for each in wanted or ():
            if each not in there:
                raise store_not_found(each)
        return there if wanted is None else {each: there[each] for each in wanted}

    async def _records_of(self, ids: Sequence[str], own: str | None = None) -> list[Record]:
        from sqlalchemy import select

        from outrider.content.tables import content_stores, contents

        query = select(contents).where(contents.c.id.in_(ids))
        if own is not None:
            query = query.join(content_stores, content_stores.c.id == contents.c.store_id)
            query = query.where(content_stores.c.scope == own)
        return [_record(row) for row in await self._short(lambda connection: list(connection.execute(query)))]

    async def _of_source(self, store: str, source: str) -> Record | None:
        from sqlalchemy import select

        from outrider.content.tables import contents as table

        query = select(table).where(table.c.source == storable(source, 8_000), table.c.store_id == store)
        rows = await self._short(lambda connection: list(connection.execute(query.limit(1)))) if source else []
        return _record(rows[0]) if rows else None

    async def _same(self, store: str, text: str) -> str | None:
        digest = await anyio.to_thread.run_sync(text_hash, text)
        return await self._short(lambda connection: writing.same(connection, store, digest))

    async def _touch(self, record: Record) -> None:
        from outrider.content.tables import contents as table

        if time.time() - record.accessed_at > TOUCHED:
            note = table.update().where(table.c.id == record.id).values(accessed_at=time.time())
            await self._short(lambda connection: connection.execute(note), write=True)


def _added(connection: "Connection", store: str, ready: Sequence[Prepared]) -> list[str]:
    """The ids under which the texts are kept now."""
    generation = writing.changed(connection, store)
    if generation is None:
        raise store_not_found(store)
    ids = []
    for each in ready:
        content = writing.same(connection, store, each.values["hash"])
        if content is None:
            content = f"content_{secrets.token_hex(8)}"
            writing.put(connection, writing.Place(store, content, 1, generation), each)
        ids.append(content)
    return ids


def _updated(connection: "Connection", old: Record, ready: Prepared) -> None:
    generation, version = _current(connection, old)
    writing.put(connection, writing.Place(old.store_id, old.id, version + 1, generation), ready)


def _deleted(connection: "Connection", old: Record) -> None:
    generation, _ = _current(connection, old)
    writing.remove(connection, old.store_id, old.id, generation)


def _current(connection: "Connection", old: Record) -> tuple[int, int]:
    """The generation of this change and the version that it meets. Raises NotFound if another was faster."""
    from sqlalchemy import select

    from outrider.content.tables import contents as table

    generation = writing.changed(connection, old.store_id)
    version = connection.execute(select(table.c.version).where(table.c.id == old.id)).scalar()
    if generation is None or version is None:
        raise content_not_found(old.id)
    return generation, version


def _covering(connection: "Connection", content: str, first: int, last: int) -> list[Any]:
    """The chunks in which these lines lie."""
    from sqlalchemy import select

    from outrider.content.tables import content_chunks as table

    query = select(table).where(table.c.content_id == content, table.c.to_line >= first, table.c.from_line <= last)
    return list(connection.execute(query.order_by(table.c.number)))


def _store(row: Any, figures: Sequence[int]) -> Store:
    return Store(
        row.id, row.name, row.description, row.created_at, row.modified_at, *map(int, figures),
        is_default=row.default_of is not None,
    )  # fmt: skip


def _record(row: Any) -> Record:
    names = Record.__dataclass_fields__
    return Record(**{name: getattr(row, name) for name in names})
