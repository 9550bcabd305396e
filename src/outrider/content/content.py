"""Content stores: the domain's one class. Every method sees only what belongs to the call's session."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from outrider.content import reading, writing
from outrider.content.failures import content_not_found, no_such_lines, store_not_found, text_too_large
from outrider.content.leftovers import Leftovers
from outrider.content.record import Draft, Passage, Record, Store, text_hash
from outrider.content.settings import ContentSettings
from outrider.core.context import Call
from outrider.core.db import Database
from outrider.core.errors import NotConfigured

if TYPE_CHECKING:
    from outrider.content.keywords.following import Follower
    from outrider.content.keywords.index import Index
    from outrider.content.meaning.embedding import Embedder
    from outrider.content.meaning.minding import Minding
    from outrider.content.meaning.vectors import Vectors
    from outrider.content.overview import Overview
    from outrider.content.search import Found, Searched, Searching, SearchOptions

UNNAMED = "Unnamed Store"
DEFAULT = "Session"
TOUCHED = 60.0  # seconds for which one note of use is enough
DAY = 86_400
REMEMBERED = 30 * DAY  # seconds for which removals are remembered


class Content:
    """Stores of texts, and search in them.

    Args:
        database: Holds them.
        folder: Where keyword indexes are, which are made of the database and may be deleted.
        settings: Limits.
        index: Another engine than files of SQLite.
        embedder: Gives what turns texts into vectors; None, or where it gives none: there is no search by meaning.
    """

    def __init__(
        self,
        database: Database,
        folder: Path,
        settings: ContentSettings | None = None,
        *,
        index: "Index | None" = None,
        embedder: "Callable[[], Embedder | None] | None" = None,
    ) -> None:
        self.settings = settings or ContentSettings()
        self._database = database
        self._folder = folder
        self._given = index
        self._embedder = embedder
        self._used = anyio.Event()
        self._trouble = NotConfigured(
            "there is no search by meaning here: nothing is configured that embeds",
            hint="use keywordSimilaritySearch",
            code="semantic_unavailable",
        )

    async def mind(self) -> None:
        """Computes vectors and sweeps what was deleted, for as long as it is let; begins when stores are used."""
        await self._used.wait()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._leftovers.forever)
            if self._vectors is not None:
                tasks.start_soon(self._minding.forever)

    @property
    def semantic(self) -> bool:
        """Whether there is search by meaning."""
        return self._vectors is not None

    async def create_store(self, call: Call, name: str = "", description: str = "") -> Store:
        """A new, empty store of the session."""
        return await self._made(call, name.strip() or UNNAMED, description.strip(), default=False)

    async def store(self, call: Call, store_id: str | None = None) -> Store:
        """The store of that id, else the session's own, which is made at first use. Raises NotFound."""
        own = call.scope
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

        query = select(func.count()).select_from(table).where(table.c.scope == call.scope)
        total = await self._short(lambda connection: connection.execute(query).scalar_one())
        return await self._stores(call.scope, offset=offset, limit=limit), total

    async def delete_store(self, call: Call, store_id: str) -> None:
        """Removes a store with all that it holds; the rows of a large one are swept by `mind` or `sweep`.

        Raises NotFound.
        """
        store = await self._store_id(call, store_id)
        if await self._short(lambda connection: writing.remove_store(connection, store), write=True):
            await self._leftovers.forgotten(store)
        else:
            self._sweepable()

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
        from outrider.content.cutting.prepare import prepared

        given = [self._checked(draft) for draft in drafts]
        store = await self._store_id(call, store_id)
        ready = [await anyio.to_thread.run_sync(prepared, draft) for draft in given]
        ids = await self._short(lambda connection: writing.added(connection, store, ready), write=True)
        await self._indexed(store)
        records = await self._short(lambda connection: reading.records_by_id(connection, ids))
        for each in ids:
            if each not in records:  # somebody was quick to delete it
                raise content_not_found(each)
        return [records[each] for each in ids]

    async def offer(self, call: Call, draft: Draft, store_id: str | None = None) -> Record:
        """Keeps what was read, in the session's own store or another: a source that is there gets a new version.

        Raises NotFound, code `STORE_NOT_FOUND`.
        """
        store = await self._store_id(call, store_id)
        known = await self._short(lambda connection: reading.of_source(connection, store, draft.source))
        if known is None:
            return await self.add(call, draft, store)
        if known.hash == await anyio.to_thread.run_sync(text_hash, draft.text):
            await self._touch(known)
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
        from outrider.content.cutting.prepare import prepared

        old = await self.record(call, content_id)
        if draft is None:
            text = (await self.read(call, content_id)).text if old.line_count else ""
            draft = Draft(text, old.filename, old.mime_type, old.source, old.title, size=old.size, facts=old.facts,
                          markdown=bool(old.facts.get("markdown")), uploaded_at=old.uploaded_at)  # fmt: skip
        ready = await anyio.to_thread.run_sync(prepared, self._checked(replace(draft, **changed)))
        await self._short(lambda connection: writing.updated(connection, old, ready), write=True)
        await self._indexed(old.store_id)
        return await self.record(call, content_id)

    async def delete(self, call: Call, content_id: str) -> None:
        """Removes a content. Raises NotFound: code `CONTENT_NOT_FOUND`."""
        old = await self.record(call, content_id)
        await self._short(lambda connection: writing.deleted(connection, old), write=True)
        await self._indexed(old.store_id)
        self._sweepable()

    async def record(self, call: Call, content_id: str) -> Record:
        """What is known of a content. Raises NotFound: code `CONTENT_NOT_FOUND`."""
        own = call.scope
        found = await self._short(lambda connection: reading.records_by_id(connection, [content_id], own))
        if not found:
            raise content_not_found(content_id)
        return found[content_id]

    async def records(
        self, call: Call, store_id: str | None = None, offset: int = 0, limit: int = 100
    ) -> tuple[list[Record], int]:
        """A store's contents, newest first, and how many there are in all. Raises NotFound."""
        store = await self._store_id(call, store_id)
        return await self._short(lambda connection: reading.page_of(connection, store, offset, limit))

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
        from outrider.content.cutting.lines import Lines
        from outrider.content.search import joined

        rows = await self._short(lambda connection: reading.covering(connection, record.id, from_line, last))
        text, first = joined(rows), rows[0].from_line
        lines = Lines(text)
        start = lines.start(from_line - first + 1)
        end = lines.start(last - first + 2) if last - first + 2 <= len(lines) else len(text)
        await self._touch(record)
        return Passage(record, text[start:end], from_line, last)

    async def search(self, call: Call, query: str, options: "SearchOptions | None" = None) -> "Found":
        """The passages that match best.

        Raises:
            NotFound: code `STORE_NOT_FOUND`.
            NotConfigured: code `semantic_unavailable`, where a search by meaning is wanted and nothing embeds.
        """
        from outrider.content.search import SearchOptions

        return await self._find(query, options or SearchOptions(), call.scope)

    @cached_property
    def overview(self) -> "Overview":
        """The stores of all sessions, for the person who runs the house."""
        from outrider.content.overview import Overview

        return Overview(self._database, lambda query, options: self._find(query, options, None))

    async def _find(self, query: str, options: "SearchOptions", own: str | None) -> "Found":
        """Searches stores of one scope; without a scope those that are named, whosever they are."""
        if options.mode != "keyword" and self._vectors is None:
            raise self._trouble
        stores = await self._searched(own, options.stores)
        self._used.set()
        waiting = await self._minding.ready(list(stores)) if options.mode != "keyword" else 0
        found = await self._searching.find(query, stores, options)
        note = f"{waiting} passages have no vector yet and can only be found by their words; search again later"
        return replace(found, notes=(*found.notes, note)) if waiting else found

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
        """Lets go of pages that were only read, long ago, of what was deleted, and of removals known to every index."""
        unused = time.time() - self.settings.keep_read_days * DAY
        while await self._short(lambda connection: writing.sweep_unasked(connection, unused), write=True):
            pass
        await self._leftovers.sweep()
        before = time.time() - REMEMBERED
        await self._short(lambda connection: writing.sweep(connection, before), write=True)

    async def close(self) -> None:
        """Closes what was opened."""
        if "_index" in vars(self):
            await self._index.close()
        if vectors := vars(self).get("_vectors"):
            await vectors.close()

    @cached_property
    def _index(self) -> "Index":
        from outrider.content.keywords.engines.choose import keyword_index

        return self._given or keyword_index(self._database, self._folder / "keywords", most=self.settings.open_indexes)

    @cached_property
    def _follower(self) -> "Follower":
        from outrider.content.keywords.following import Follower

        return Follower(self._database, self._index)

    @cached_property
    def _vectors(self) -> "Vectors | None":
        try:
            embedder = self._embedder() if self._embedder else None
        except NotConfigured as error:
            self._trouble = error
            return None
        if embedder is None:
            return None
        from outrider.content.meaning.vectors import Vectors

        return Vectors(self._database, embedder, self._folder / "vectors")

    @cached_property
    def _minding(self) -> "Minding":
        from outrider.content.meaning.minding import Minding

        return Minding(self._vectors)

    @cached_property
    def _leftovers(self) -> "Leftovers":
        return Leftovers(self._database, self._forget)

    @cached_property
    def _searching(self) -> "Searching":
        from outrider.content.search import Searching

        return Searching(self._database, self._index, self._follower, self._vectors)

    async def _short(self, work: Any, *, write: bool = False) -> Any:
        return await self._database.short(work, write=write)

    async def _indexed(self, store: str) -> None:
        """Lets the index follow at once, and the vectors later."""
        await self._follower.catch_up([store])
        self._used.set()
        self._minding.wake()

    def _sweepable(self) -> None:
        """Lets the background look for what was deleted."""
        self._used.set()
        self._leftovers.wake()

    async def _forget(self, store: str) -> None:
        """Lets go of what was made of a store's rows."""
        await self._index.rebuild(store)
        if self._vectors is not None:
            await self._vectors.forget(store)

    def _checked(self, draft: Draft) -> Draft:
        if len(draft.text) > self.settings.text_chars:
            raise text_too_large(len(draft.text), self.settings.text_chars)
        return draft

    async def _made(self, call: Call, name: str, description: str, *, default: bool) -> Store:
        from outrider.content.tables import content_stores as table

        row = writing.new_store(call, name, description, default=default)
        insert = self._database.insert(table).values(row).on_conflict_do_nothing(index_elements=["default_of"])
        await self._short(lambda connection: connection.execute(insert), write=True)
        store_id = None if default else row["id"]
        return (await self._stores(call.scope, store_id=store_id, default=default))[0]

    async def _store_id(self, call: Call, store_id: str | None) -> str:
        """As `store`, the id alone."""
        own = call.scope
        found = await self._short(lambda connection: reading.store_id_of(connection, own, store_id))
        return found or (await self.store(call, store_id)).id

    async def _stores(self, own: str, **chosen: Any) -> list[Store]:
        return await self._short(lambda connection: reading.stores(connection, own, **chosen))

    async def _searched(self, own: str | None, wanted: Sequence[str] | None) -> "dict[str, Searched]":
        """The stores to search."""
        from outrider.content.keywords.index import Mark
        from outrider.content.search import Searched

        query, given = reading.marks(own, wanted)
        rows = await self._short(lambda connection: connection.execute(query, given).all())
        there = {row.id: Searched(row.languages.split(), Mark(row.generation, row.stamp)) for row in rows}
        filled = [row.id for row in rows if row.generation]
        for each in wanted or ():
            if each not in there:
                raise store_not_found(each)
        return {each: there[each] for each in (filled if wanted is None else wanted)}

    async def _touch(self, record: Record) -> None:
        from outrider.content.tables import contents as table

        if time.time() - record.accessed_at > TOUCHED:
            note = table.update().where(table.c.id == record.id).values(accessed_at=time.time())
            await self._short(lambda connection: connection.execute(note), write=True)
