"""Content stores: the domain's one class. Every method sees only what belongs to the call's session."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from outrider.content import mutations, queries
from outrider.content.errors import content_not_found, invalid_line_range, store_not_found, text_too_large
from outrider.content.models import ContentDraft, ContentPassage, ContentRecord, Store, hash_text
from outrider.content.purge import Purger
from outrider.content.settings import ContentSettings
from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.errors import NotConfigured

if TYPE_CHECKING:
    from outrider.content.lexical.index import LexicalIndex
    from outrider.content.lexical.index_sync import IndexSync
    from outrider.content.overview import ContentOverview
    from outrider.content.search import ContentSearcher, ContentSearchResult, SearchableStore, SearchOptions
    from outrider.content.semantic.embedding_worker import EmbeddingWorker
    from outrider.content.semantic.select_embedder import Embedder
    from outrider.content.semantic.vector_index import VectorIndex

SECONDS_PER_DAY = 86_400


class ContentStores:
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
        index: "LexicalIndex | None" = None,
        embedder: "Callable[[], Embedder | None] | None" = None,
    ) -> None:
        self.settings = settings or ContentSettings()
        self._database = database
        self._folder = folder
        self._custom_index = index
        self._open_embedder = embedder
        self._activated = anyio.Event()
        self._semantic_error = NotConfigured(
            "there is no search by meaning here: nothing is configured that embeds",
            hint="use keywordSimilaritySearch",
            code="semantic_unavailable",
        )

    async def run_forever(self) -> None:
        """Computes vectors and sweeps what was deleted, for as long as it is let; begins when stores are used."""
        await self._activated.wait()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._purger.run_forever)
            if self._vectors is not None:
                tasks.start_soon(self._embedding_worker.run_forever)

    @property
    def has_semantic_search(self) -> bool:
        """Whether there is search by meaning."""
        return self._vectors is not None

    async def create_store(self, call: Call, name: str = "", description: str = "") -> Store:
        """A new, empty store of the session."""
        unnamed = "Unnamed Store"
        return await self._insert_store(call, name.strip() or unnamed, description.strip(), default=False)

    async def get_store(self, call: Call, store_id: str | None = None) -> Store:
        """The store of that id, else the session's own, which is made at first use. Raises NotFound."""
        default_name = "Session"
        own = call.scope
        found = await self._load_stores(own, store_id=store_id, default=store_id is None)
        if found:
            return found[0]
        if store_id is not None:
            raise store_not_found(store_id)
        return await self._insert_store(call, default_name, "", default=True)

    async def list_stores(self, call: Call, offset: int = 0, limit: int = 100) -> tuple[list[Store], int]:
        """The session's stores, newest first, and how many there are in all."""
        from sqlalchemy import func, select

        from outrider.content.tables import content_stores as table

        query = select(func.count()).select_from(table).where(table.c.scope == call.scope)
        total = await self._run_transaction(lambda connection: connection.execute(query).scalar_one())
        return await self._load_stores(call.scope, offset=offset, limit=limit), total

    async def delete_store(self, call: Call, store_id: str) -> None:
        """Removes a store with all that it holds; the rows of a large one are swept by `mind` or `sweep`.

        Raises NotFound.
        """
        store = await self._resolve_store_id(call, store_id)
        if await self._run_transaction(lambda connection: mutations.delete_store(connection, store), write=True):
            await self._purger.finish_store(store)
        else:
            self._wake_purger()

    async def add(self, call: Call, draft: ContentDraft, store_id: str | None = None) -> ContentRecord:
        """Keeps a text; the record that there is already, if the store has this very text. See `add_many`."""
        return (await self.add_many(call, [draft], store_id))[0]

    async def add_many(
        self, call: Call, drafts: Iterable[ContentDraft], store_id: str | None = None
    ) -> list[ContentRecord]:
        """Keeps texts, all or none of them, and can find them when it returns.

        Raises:
            NotFound: code `STORE_NOT_FOUND`.
            InvalidInput: code `CONTENT_TOO_LARGE`.
            Unavailable: of database or index.
        """
        from outrider.content.chunking.prepare import prepare_content

        given = [self._check_length(draft) for draft in drafts]
        store = await self._resolve_store_id(call, store_id)
        ready = [await anyio.to_thread.run_sync(prepare_content, draft) for draft in given]
        ids = await self._run_transaction(
            lambda connection: mutations.add_contents(connection, store, ready), write=True
        )
        await self._sync_index(store)
        records = await self._run_transaction(lambda connection: queries.load_records(connection, ids))
        for each in ids:
            if each not in records:  # somebody was quick to delete it
                raise content_not_found(each)
        return [records[each] for each in ids]

    async def upsert_by_source(self, call: Call, draft: ContentDraft, store_id: str | None = None) -> ContentRecord:
        """Keeps what was read, in the session's own store or another: a source that is there gets a new version.

        Raises NotFound, code `STORE_NOT_FOUND`.
        """
        store = await self._resolve_store_id(call, store_id)
        known = await self._run_transaction(lambda connection: queries.find_by_source(connection, store, draft.source))
        if known is None:
            return await self.add(call, draft, store)
        if known.hash == await anyio.to_thread.run_sync(hash_text, draft.text):
            await self._touch_record(known)
            return known
        return await self.update(call, known.id, draft)

    async def update(
        self, call: Call, content_id: str, draft: ContentDraft | None = None, **changed: Any
    ) -> ContentRecord:
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
        from outrider.content.chunking.prepare import prepare_content

        old = await self.get_record(call, content_id)
        if draft is None:
            text = (await self.read_lines(call, content_id)).text if old.line_count else ""
            draft = ContentDraft(text, old.filename, old.mime_type, old.source, old.title, size=old.size, facts=old.facts,
                          markdown=bool(old.facts.get("markdown")), uploaded_at=old.uploaded_at)  # fmt: skip
        ready = await anyio.to_thread.run_sync(prepare_content, self._check_length(replace(draft, **changed)))
        await self._run_transaction(lambda connection: mutations.update_content(connection, old, ready), write=True)
        await self._sync_index(old.store_id)
        return await self.get_record(call, content_id)

    async def delete(self, call: Call, content_id: str) -> None:
        """Removes a content. Raises NotFound: code `CONTENT_NOT_FOUND`."""
        old = await self.get_record(call, content_id)
        await self._run_transaction(lambda connection: mutations.delete_content(connection, old), write=True)
        await self._sync_index(old.store_id)
        self._wake_purger()

    async def get_record(self, call: Call, content_id: str) -> ContentRecord:
        """What is known of a content. Raises NotFound: code `CONTENT_NOT_FOUND`."""
        own = call.scope
        found = await self._run_transaction(lambda connection: queries.load_records(connection, [content_id], own))
        if not found:
            raise content_not_found(content_id)
        return found[content_id]

    async def list_records(
        self, call: Call, store_id: str | None = None, offset: int = 0, limit: int = 100
    ) -> tuple[list[ContentRecord], int]:
        """A store's contents, newest first, and how many there are in all. Raises NotFound."""
        store = await self._resolve_store_id(call, store_id)
        return await self._run_transaction(
            lambda connection: queries.load_record_page(connection, store, offset, limit)
        )

    async def read_lines(
        self, call: Call, content_id: str, from_line: int = 1, to_line: int | None = None
    ) -> ContentPassage:
        """Lines of a content, exactly as they were given.

        Raises:
            NotFound: code `CONTENT_NOT_FOUND`.
            InvalidInput: code `INVALID_LINE_RANGE`, where the range holds no line.
        """
        record = await self.get_record(call, content_id)
        last = record.line_count if to_line is None else min(to_line, record.line_count)
        if not 1 <= from_line <= last:
            raise invalid_line_range(from_line, to_line, record.line_count)
        from outrider.content.chunking.line_index import LineIndex
        from outrider.content.search import join_chunks

        rows = await self._run_transaction(
            lambda connection: queries.load_covering_chunks(connection, record.id, from_line, last)
        )
        text, first = join_chunks(rows), rows[0].from_line
        lines = LineIndex(text)
        start = lines.find_start(from_line - first + 1)
        end = lines.find_start(last - first + 2) if last - first + 2 <= len(lines) else len(text)
        await self._touch_record(record)
        return ContentPassage(record, text[start:end], from_line, last)

    async def search(self, call: Call, query: str, options: "SearchOptions | None" = None) -> "ContentSearchResult":
        """The passages that match best.

        Raises:
            NotFound: code `STORE_NOT_FOUND`.
            NotConfigured: code `semantic_unavailable`, where a search by meaning is wanted and nothing embeds.
        """
        from outrider.content.search import SearchOptions

        return await self._search_stores(query, options or SearchOptions(), call.scope)

    @cached_property
    def overview(self) -> "ContentOverview":
        """The stores of all sessions, for the person who runs the house."""
        from outrider.content.overview import ContentOverview

        return ContentOverview(self._database, lambda query, options: self._search_stores(query, options, None))

    async def _search_stores(self, query: str, options: "SearchOptions", own: str | None) -> "ContentSearchResult":
        """Searches stores of one scope; without a scope those that are named, whosever they are."""
        if options.mode != "keyword" and self._vectors is None:
            raise self._semantic_error
        stores = await self._resolve_targets(own, options.stores)
        self._activated.set()
        waiting = await self._embedding_worker.embed_pending(list(stores)) if options.mode != "keyword" else 0
        found = await self._searcher.search(query, stores, options)
        note = f"{waiting} passages have no vector yet and can only be found by their words; search again later"
        return replace(found, notes=(*found.notes, note)) if waiting else found

    async def rebuild_indexes(self, store_id: str | None = None) -> int:
        """Makes the indexes of one store, or of all, anew from the database; how many stores that were."""
        from sqlalchemy import select

        from outrider.content.tables import content_stores as table

        query = select(table.c.id) if store_id is None else select(table.c.id).where(table.c.id == store_id)
        stores = await self._run_transaction(lambda connection: list(connection.execute(query).scalars()))
        for each in stores:
            await self._index.clear_store(each)
            await self._index_sync.catch_up([each])
        return len(stores)

    async def purge_stale(self) -> None:
        """Lets go of pages that were only read, long ago, of what was deleted, and of removals known to every index."""
        removal_retention_s = 30 * SECONDS_PER_DAY  # seconds for which removals are remembered
        unused = time.time() - self.settings.keep_read_days * SECONDS_PER_DAY
        while await self._run_transaction(
            lambda connection: mutations.purge_unrequested(connection, unused), write=True
        ):
            pass
        await self._purger.purge_all()
        before = time.time() - removal_retention_s
        await self._run_transaction(lambda connection: mutations.purge_removals(connection, before), write=True)

    async def close(self) -> None:
        """Closes what was opened."""
        if "_index" in vars(self):
            await self._index.close()
        if vectors := vars(self).get("_vectors"):
            await vectors.close()

    @cached_property
    def _index(self) -> "LexicalIndex":
        from outrider.content.lexical.engines.select_index import open_lexical_index

        return self._custom_index or open_lexical_index(
            self._database, self._folder / "keywords", max_open=self.settings.open_indexes
        )

    @cached_property
    def _index_sync(self) -> "IndexSync":
        from outrider.content.lexical.index_sync import IndexSync

        return IndexSync(self._database, self._index)

    @cached_property
    def _vectors(self) -> "VectorIndex | None":
        try:
            embedder = self._open_embedder() if self._open_embedder else None
        except NotConfigured as error:
            self._semantic_error = error
            return None
        if embedder is None:
            return None
        from outrider.content.semantic.vector_index import VectorIndex

        return VectorIndex(self._database, embedder, self._folder / "vectors")

    @cached_property
    def _embedding_worker(self) -> "EmbeddingWorker":
        from outrider.content.semantic.embedding_worker import EmbeddingWorker

        return EmbeddingWorker(self._vectors)

    @cached_property
    def _purger(self) -> "Purger":
        return Purger(self._database, self._discard_derived)

    @cached_property
    def _searcher(self) -> "ContentSearcher":
        from outrider.content.search import ContentSearcher

        return ContentSearcher(self._database, self._index, self._index_sync, self._vectors)

    async def _run_transaction(self, work: Any, *, write: bool = False) -> Any:
        return await self._database.run_transaction(work, write=write)

    async def _sync_index(self, store: str) -> None:
        """Lets the index follow at once, and the vectors later."""
        await self._index_sync.catch_up([store])
        self._activated.set()
        self._embedding_worker.wake()

    def _wake_purger(self) -> None:
        """Lets the background look for what was deleted."""
        self._activated.set()
        self._purger.wake()

    async def _discard_derived(self, store: str) -> None:
        """Lets go of what was made of a store's rows."""
        await self._index.clear_store(store)
        if self._vectors is not None:
            await self._vectors.discard_store(store)

    def _check_length(self, draft: ContentDraft) -> ContentDraft:
        if len(draft.text) > self.settings.text_chars:
            raise text_too_large(len(draft.text), self.settings.text_chars)
        return draft

    async def _insert_store(self, call: Call, name: str, description: str, *, default: bool) -> Store:
        from outrider.content.tables import content_stores as table

        row = mutations.build_store_row(call, name, description, default=default)
        insert = self._database.build_insert(table).values(row).on_conflict_do_nothing(index_elements=["default_of"])
        await self._run_transaction(lambda connection: connection.execute(insert), write=True)
        store_id = None if default else row["id"]
        return (await self._load_stores(call.scope, store_id=store_id, default=default))[0]

    async def _resolve_store_id(self, call: Call, store_id: str | None) -> str:
        """As `store`, the id alone."""
        own = call.scope
        found = await self._run_transaction(lambda connection: queries.find_store_id(connection, own, store_id))
        return found or (await self.get_store(call, store_id)).id

    async def _load_stores(self, own: str, **chosen: Any) -> list[Store]:
        return await self._run_transaction(lambda connection: queries.load_stores(connection, own, **chosen))

    async def _resolve_targets(self, own: str | None, wanted: Sequence[str] | None) -> "dict[str, SearchableStore]":
        """The stores to search."""
        from outrider.content.lexical.index import Watermark
        from outrider.content.search import SearchableStore

        query, given = queries.build_watermark_query(own, wanted)
        rows = await self._run_transaction(lambda connection: connection.execute(query, given).all())
        there = {row.id: SearchableStore(row.languages.split(), Watermark(row.generation, row.stamp)) for row in rows}
        filled = [row.id for row in rows if row.generation]
        for each in wanted or ():
            if each not in there:
                raise store_not_found(each)
        return {each: there[each] for each in (filled if wanted is None else wanted)}

    async def _touch_record(self, record: ContentRecord) -> None:
        touch_interval_s = 60.0  # seconds for which one note of use is enough
        from outrider.content.tables import contents as table

        if time.time() - record.accessed_at > touch_interval_s:
            note = table.update().where(table.c.id == record.id).values(accessed_at=time.time())
            await self._run_transaction(lambda connection: connection.execute(note), write=True)
