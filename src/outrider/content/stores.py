"""Content stores of a session: add, read, update, delete and search texts."""

import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from outrider.content import mutations, queries
from outrider.content.errors import content_not_found, invalid_line_range, store_not_found, text_too_large
from outrider.content.models import ContentDraft, ContentPassage, ContentRecord, Store, hash_text
from outrider.content.settings import ContentSettings
from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.errors import NotConfigured, NotFound

if TYPE_CHECKING:
    from outrider.content.lexical.index import LexicalIndex
    from outrider.content.lexical.index_sync import IndexSync
    from outrider.content.overview import ContentOverview
    from outrider.content.purge import Purger
    from outrider.content.search import ContentSearcher, ContentSearchResult, SearchableStore, SearchOptions
    from outrider.content.semantic.embedding_worker import EmbeddingWorker
    from outrider.content.semantic.select_embedder import Embedder
    from outrider.content.semantic.vector_index import VectorIndex

SECONDS_PER_DAY = 86_400
MAX_TEXT_CHARS = 10_000_000


class ContentStores:
    """The content stores of all sessions. Every method sees only the stores of the call's session.

    Args:
        database: Holds the stores.
        folder: For derived files, which may be deleted: keyword indexes and vector codes.
        settings: The operator's settings.
        index: A keyword index to use instead of the default one.
        embedder: Opens the embedder; without one, or if it returns None, semantic search is off.
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
        self._close_callbacks: list[Callable[[], Awaitable[None]]] = []
        self._activated = anyio.Event()  # set at first use of the stores
        self._semantic_error = NotConfigured(
            "semantic search is not available: no embedder is configured",
            hint="use keywordSimilaritySearch",
            code="semantic_unavailable",
        )

    async def run_forever(self) -> None:
        """Embed new passages and purge deleted rows in the background, once stores are used."""
        await self._activated.wait()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._purger.run_forever)
            if self._vectors is not None:
                tasks.start_soon(self._embedding_worker.run_forever)

    @property
    def has_semantic_search(self) -> bool:
        """Whether semantic search is available."""
        return self._vectors is not None

    async def create_store(self, call: Call, name: str = "", description: str = "") -> Store:
        """Create an empty store."""
        return await self._insert_store(call, name.strip() or "Unnamed Store", description.strip(), default=False)

    async def get_store(self, call: Call, store_id: str | None = None) -> Store:
        """Return a store; without an id, the session's default one, created at first use. Raises NotFound."""
        stores = await self._load_stores(call.scope, store_id=store_id, default=store_id is None)
        if stores:
            return stores[0]
        if store_id is not None:
            raise store_not_found(store_id)
        return await self._insert_store(call, "Session", "", default=True)

    async def list_stores(self, call: Call, offset: int = 0, limit: int = 100) -> tuple[list[Store], int]:
        """Return a page of stores, newest first, and the total count."""
        from sqlalchemy import func, select

        from outrider.content.tables import content_stores as table

        query = select(func.count()).select_from(table).where(table.c.scope == call.scope)
        total = await self._run_transaction(lambda connection: connection.execute(query).scalar_one())
        return await self._load_stores(call.scope, offset=offset, limit=limit), total

    async def delete_store(self, call: Call, store_id: str) -> None:
        """Delete a store with all its contents. Raises NotFound.

        The rows of a large one are purged by `run_forever` or `purge_stale`.
        """
        store = await self._resolve_store_id(call, store_id)
        if await self._run_transaction(lambda connection: mutations.delete_store(connection, store), write=True):
            await self._purger.finish_store(store)
        else:
            self._wake_purger()

    async def add(self, call: Call, draft: ContentDraft, store_id: str | None = None) -> ContentRecord:
        """Add a text; return the existing record if the store already holds it. See `add_many`."""
        return (await self.add_many(call, [draft], store_id))[0]

    async def add_many(
        self, call: Call, drafts: Iterable[ContentDraft], store_id: str | None = None
    ) -> list[ContentRecord]:
        """Add texts, all or none of them; they can be found when this returns.

        Raises:
            NotFound: code `STORE_NOT_FOUND`.
            InvalidInput: code `CONTENT_TOO_LARGE`.
            Unavailable: The database or the index failed.
        """
        from outrider.content.chunking.prepare import prepare_content

        checked = [self._check_length(draft) for draft in drafts]
        store = await self._resolve_store_id(call, store_id)
        prepared = [await anyio.to_thread.run_sync(prepare_content, draft) for draft in checked]
        ids = await self._run_transaction(
            lambda connection: mutations.add_contents(connection, store, prepared), write=True
        )
        await self._sync_index(store)
        records = await self._run_transaction(lambda connection: queries.load_records(connection, ids))
        for content_id in ids:
            if content_id not in records:  # deleted by another call in the meantime
                raise content_not_found(content_id)
        return [records[content_id] for content_id in ids]

    async def upsert_by_source(self, call: Call, draft: ContentDraft, store_id: str | None = None) -> ContentRecord:
        """Add a text, or update the content with the same source.

        Content is updated only if its text has changed.

        Raises NotFound with code `STORE_NOT_FOUND`.
        """
        store = await self._resolve_store_id(call, store_id)
        existing = await self._run_transaction(
            lambda connection: queries.find_by_source(connection, store, draft.source)
        )
        if existing is None:
            return await self.add(call, draft, store)
        if existing.hash == await anyio.to_thread.run_sync(hash_text, draft.text):
            await self._touch_record(existing)
            return existing
        return await self.update(call, existing.id, draft)

    async def update(
        self, call: Call, content_id: str, draft: ContentDraft | None = None, **changed: Any
    ) -> ContentRecord:
        """Replace a content by a new version, and index it again.

        Args:
            call: The caller.
            content_id: The content to replace.
            draft: The new text with its metadata; None keeps the text.
            changed: Fields to change: filename, mime_type, uploaded_at, title, size.

        Raises:
            NotFound: code `CONTENT_NOT_FOUND`.
            InvalidInput: code `CONTENT_TOO_LARGE`.
        """
        from outrider.content.chunking.prepare import prepare_content

        old = await self.get_record(call, content_id)
        if draft is None:
            text = (await self.read_lines(call, content_id)).text if old.line_count else ""
            original = await self._run_transaction(lambda connection: queries.load_original(connection, content_id))
            draft = ContentDraft(
                text,
                old.filename,
                old.mime_type,
                old.source,
                old.title,
                markdown=bool(old.facts.get("markdown")),
                size=old.size,
                original=original,
                uploaded_at=old.uploaded_at,
                facts=old.facts,
            )
        prepared = await anyio.to_thread.run_sync(prepare_content, self._check_length(replace(draft, **changed)))
        await self._run_transaction(lambda connection: mutations.update_content(connection, old, prepared), write=True)
        await self._sync_index(old.store_id)
        return await self.get_record(call, content_id)

    async def delete(self, call: Call, content_id: str) -> None:
        """Delete a content. Raises NotFound with code `CONTENT_NOT_FOUND`."""
        old = await self.get_record(call, content_id)
        await self._run_transaction(lambda connection: mutations.delete_content(connection, old), write=True)
        await self._sync_index(old.store_id)
        self._wake_purger()

    async def get_record(self, call: Call, content_id: str) -> ContentRecord:
        """Return the metadata of a content. Raises NotFound with code `CONTENT_NOT_FOUND`."""
        records = await self._run_transaction(
            lambda connection: queries.load_records(connection, [content_id], call.scope)
        )
        if not records:
            raise content_not_found(content_id)
        return records[content_id]

    async def list_records(
        self, call: Call, store_id: str | None = None, offset: int = 0, limit: int = 100
    ) -> tuple[list[ContentRecord], int]:
        """Return a page of contents, newest first, and the total count. Raises NotFound."""
        store = await self._resolve_store_id(call, store_id)
        return await self._run_transaction(
            lambda connection: queries.load_record_page(connection, store, offset, limit)
        )

    async def read_lines(
        self, call: Call, content_id: str, from_line: int = 1, to_line: int | None = None
    ) -> ContentPassage:
        """Return lines of a content, exactly as stored.

        Raises:
            NotFound: code `CONTENT_NOT_FOUND`.
            InvalidInput: code `INVALID_LINE_RANGE` if the range selects no line.
        """
        from outrider.content.chunking.line_index import LineIndex
        from outrider.content.search import join_chunks

        record = await self.get_record(call, content_id)
        last = record.line_count if to_line is None else min(to_line, record.line_count)
        if not 1 <= from_line <= last:
            raise invalid_line_range(from_line, to_line, record.line_count)
        rows = await self._run_transaction(
            lambda connection: queries.load_covering_chunks(connection, record.id, from_line, last)
        )
        text, first = join_chunks(rows), rows[0].from_line
        lines = LineIndex(text)
        start = lines.find_start(from_line - first + 1)
        end = lines.find_start(last - first + 2) if last - first + 2 <= len(lines) else len(text)
        await self._touch_record(record)
        return ContentPassage(record, text[start:end], from_line, last)

    async def read_original(self, call: Call, content_id: str) -> bytes:
        """Return the bytes of the file that became a content.

        Raises:
            NotFound: code `CONTENT_NOT_FOUND`; or code `no_original` if it came from the web.
        """
        record = await self.get_record(call, content_id)
        body = await self._run_transaction(lambda connection: queries.load_original(connection, content_id))
        if body is not None:
            return body
        if record.source.startswith(("http://", "https://")):
            raise NotFound(
                f"content {content_id!r} is the text of a web page: its original was not stored",
                hint=f"fetch {record.source[:200]}",
                code="no_original",
            )
        return (await self.read_lines(call, content_id)).text.encode() if record.line_count else b""

    async def search(self, call: Call, query: str, options: "SearchOptions | None" = None) -> "ContentSearchResult":
        """Return the passages that match best.

        Raises:
            NotFound: code `STORE_NOT_FOUND`.
            NotConfigured: code `semantic_unavailable` if the mode needs an embedder and there is none.
        """
        from outrider.content.search import SearchOptions

        return await self._search_stores(query, options or SearchOptions(), call.scope)

    @cached_property
    def overview(self) -> "ContentOverview":
        """The stores of all sessions, for the operator."""
        from outrider.content.overview import ContentOverview

        return ContentOverview(self._database, lambda query, options: self._search_stores(query, options, None))

    async def _search_stores(self, query: str, options: "SearchOptions", scope: str | None) -> "ContentSearchResult":
        """Search stores of one scope, or without a scope the stores that the options name."""
        if options.mode != "keyword" and self._vectors is None:
            raise self._semantic_error
        stores = await self._resolve_targets(scope, options.stores)
        self._activated.set()
        pending = await self._embedding_worker.embed_pending(list(stores)) if options.mode != "keyword" else 0
        result = await self._searcher.search(query, stores, options)
        note = f"{pending} passages have no vector yet and are found by their words only; search again later"
        return replace(result, notes=(*result.notes, note)) if pending else result

    async def rebuild_indexes(self, store_id: str | None = None) -> int:
        """Rebuild the keyword index of one store, or of all; return how many stores."""
        from sqlalchemy import select

        from outrider.content.tables import content_stores as table

        query = select(table.c.id) if store_id is None else select(table.c.id).where(table.c.id == store_id)
        stores = await self._run_transaction(lambda connection: list(connection.execute(query).scalars()))
        for store in stores:
            await self._index.clear_store(store)
            await self._index_sync.catch_up([store])
        return len(stores)

    async def purge_stale(self, keep_days: float = 30) -> None:
        """Delete unused automatically saved pages, rows of deleted contents, and old records of removals."""
        unused_since = time.time() - keep_days * SECONDS_PER_DAY
        while await self._run_transaction(
            lambda connection: mutations.purge_unrequested(connection, unused_since), write=True
        ):
            pass
        await self._purger.purge_all()
        # An index that has not been used for longer is rebuilt instead of updated.
        removals_before = time.time() - 30 * SECONDS_PER_DAY
        await self._run_transaction(
            lambda connection: mutations.purge_removals(connection, removals_before), write=True
        )

    async def close(self) -> None:
        """Close the indexes that were opened."""
        for close in self._close_callbacks:
            await close()

    @cached_property
    def _index(self) -> "LexicalIndex":
        from outrider.content.lexical.engines.select_index import open_lexical_index

        index = self._custom_index or open_lexical_index(self._database, self._folder / "keywords")
        self._close_callbacks.append(index.close)
        return index

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

        vectors = VectorIndex(self._database, embedder, self._folder / "vectors")
        self._close_callbacks.append(vectors.close)
        return vectors

    @cached_property
    def _embedding_worker(self) -> "EmbeddingWorker":
        from outrider.content.semantic.embedding_worker import EmbeddingWorker

        return EmbeddingWorker(self._vectors)

    @cached_property
    def _purger(self) -> "Purger":
        from outrider.content.purge import Purger

        async def discard_derived(store: str) -> None:
            """Delete index entries and vector codes of a store."""
            await self._index.clear_store(store)
            if self._vectors is not None:
                await self._vectors.discard_store(store)

        return Purger(self._database, discard_derived)

    @cached_property
    def _searcher(self) -> "ContentSearcher":
        from outrider.content.search import ContentSearcher

        return ContentSearcher(self._database, self._index, self._index_sync, self._vectors)

    async def _run_transaction(self, work: Any, *, write: bool = False) -> Any:
        return await self._database.run_transaction(work, write=write)

    async def _sync_index(self, store: str) -> None:
        """Update the keyword index now, and the vectors in the background."""
        await self._index_sync.catch_up([store])
        self._activated.set()
        self._embedding_worker.wake()

    def _wake_purger(self) -> None:
        """Let the background task purge deleted rows."""
        self._activated.set()
        self._purger.wake()

    def _check_length(self, draft: ContentDraft) -> ContentDraft:
        if len(draft.text) > MAX_TEXT_CHARS:
            raise text_too_large(len(draft.text), MAX_TEXT_CHARS)
        return draft

    async def _insert_store(self, call: Call, name: str, description: str, *, default: bool) -> Store:
        from outrider.content.tables import content_stores as table

        row = mutations.build_store_row(call, name, description, default=default)
        insert = self._database.build_insert(table).values(row).on_conflict_do_nothing(index_elements=["default_of"])
        await self._run_transaction(lambda connection: connection.execute(insert), write=True)
        store_id = None if default else row["id"]
        return (await self._load_stores(call.scope, store_id=store_id, default=default))[0]

    async def _resolve_store_id(self, call: Call, store_id: str | None) -> str:
        """Return the id of the store, as `get_store` does but without its totals."""
        known_id = await self._run_transaction(
            lambda connection: queries.find_store_id(connection, call.scope, store_id)
        )
        return known_id or (await self.get_store(call, store_id)).id

    async def _load_stores(self, scope: str, **selection: Any) -> list[Store]:
        return await self._run_transaction(lambda connection: queries.load_stores(connection, scope, **selection))

    async def _resolve_targets(
        self, scope: str | None, store_ids: Sequence[str] | None
    ) -> "dict[str, SearchableStore]":
        """Return the stores to search: the named ones, or all of the scope that are not empty. Raises NotFound."""
        from outrider.content.lexical.index import Watermark
        from outrider.content.search import SearchableStore

        query, parameters = queries.build_watermark_query(scope, store_ids)
        rows = await self._run_transaction(lambda connection: connection.execute(query, parameters).all())
        stores = {row.id: SearchableStore(row.languages.split(), Watermark(row.generation, row.stamp)) for row in rows}
        if store_ids is None:
            return {row.id: stores[row.id] for row in rows if row.generation}
        for store_id in store_ids:
            if store_id not in stores:
                raise store_not_found(store_id)
        return {store_id: stores[store_id] for store_id in store_ids}

    async def _touch_record(self, record: ContentRecord) -> None:
        from outrider.content.tables import contents as table

        # Once a minute is enough, and saves most reads a write.
        if time.time() - record.accessed_at > 60:
            statement = table.update().where(table.c.id == record.id).values(accessed_at=time.time())
            await self._run_transaction(lambda connection: connection.execute(statement), write=True)
