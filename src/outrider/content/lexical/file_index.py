"""Keyword index in files: one SQLite database per store, derived from the rows and rebuilt when needed.

With a file per store, deleting a store is deleting a file, and a search in one store does not read words of others.
"""

import logging
import shutil
import sqlite3
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import anyio.to_thread

from outrider.content.lexical.index import Candidates, IndexChanges, Posting, Watermark, collect_terms
from outrider.content.lexical.postings import PostingsCache, StoreMatches, TopChunks, find_top_chunks
from outrider.content.lexical.store_file import StoreFile
from outrider.core.errors import Unavailable

log = logging.getLogger(__name__)
ResultT = TypeVar("ResultT")


class FileIndex:
    """The keyword index of each store in its own file.

    Args:
        folder: The folder of the files; created at first use.
        max_open: Number of files held open at once.
    """

    def __init__(self, folder: Path, *, max_open: int = 32) -> None:
        self._folder = folder
        self._max_open = max_open
        self._open_files: OrderedDict[str, StoreFile] = OrderedDict()
        self._open_lock = threading.Lock()
        self._cache = PostingsCache()

    def is_exact(self, stores: Sequence[str]) -> bool:  # noqa: ARG002
        """Return True: all matching chunks are scored by BM25."""
        return True

    async def read_watermark(self, store: str) -> Watermark:
        """Return the watermark up to which the index reflects the store."""
        return await self._run_in_thread(store, StoreFile.read_watermark)

    async def apply_changes(self, changes: IndexChanges, *, seen: Watermark) -> bool:
        """Apply changes in one transaction, unless another process was faster."""
        return await self._run_in_thread(changes.store, lambda file: file.apply_changes(changes, seen))

    async def find_candidates(
        self,
        words: Sequence[tuple[str, ...]],
        stores: Sequence[str],
        limit: int,
        *,
        within: Collection[str] | None = None,
        watermarks: Mapping[str, Watermark] | None = None,
    ) -> Candidates:
        """Return the best chunks of all stores together, by BM25 with their common totals."""
        return await anyio.to_thread.run_sync(self._find_candidates, words, stores, limit, within, watermarks or {})

    def _find_candidates(
        self,
        words: Sequence[tuple[str, ...]],
        stores: Sequence[str],
        limit: int,
        within: Collection[str] | None,
        watermarks: Mapping[str, Watermark],
    ) -> Candidates:
        stores = [store for store in stores if watermarks.get(store) != Watermark()]  # these have no file
        terms = collect_terms(words)
        transient = len(stores) > self._max_open
        # Chunk ids are read in a second step; start again if another process changed a store in between.
        for _ in range(3):
            reads = [
                self._run_on_file(store, lambda file: file.read_matches(terms, within), transient=transient)
                for store in stores
            ]
            stale = [
                store
                for store, (watermark, _) in zip(stores, reads, strict=True)
                if watermarks.get(store, watermark) != watermark
            ]
            if stale:
                return Candidates(stale_stores=stale)
            matches = [store_matches for _, store_matches in reads]
            frequency: Counter[str] = Counter()
            for store_matches in matches:
                frequency.update({term: len(found.positions) for term, found in store_matches.terms.items()})
            postings = [
                self._load_postings(stores[top.store], matches[top.store], top, transient)
                for top in find_top_chunks(words, matches, frequency, limit)
            ]
            if None not in postings:
                break
        found = [posting for store_postings in postings for posting in store_postings or ()]
        return Candidates(
            found, sum(store.chunks for store in matches), sum(store.words for store in matches), frequency
        )

    def _load_postings(
        self, store: str, matches: StoreMatches, top: TopChunks, transient: bool
    ) -> list[Posting] | None:
        """Return a store's best chunks with their ids; None if the file has changed since they were ranked."""
        rows = matches.store.rows[top.positions].tolist()
        ids = self._run_on_file(store, lambda file: file.load_chunk_ids(matches.store, rows), transient=transient)
        if ids is None:
            return None
        lengths = matches.store.lengths[top.positions].astype(int).tolist()
        counts = {term: found.tolist() for term, found in top.counts.items()}
        return [
            Posting(ids[row], store, lengths[at], {term: found[at] for term, found in counts.items() if found[at]})
            for at, row in enumerate(rows)
            if row in ids
        ]

    async def clear_store(self, store: str) -> None:
        """Delete the store's file."""
        await anyio.to_thread.run_sync(self._remove_store, store)

    async def close(self) -> None:
        """Close all files."""
        with self._open_lock:
            files, self._open_files = list(self._open_files.values()), OrderedDict()
        for file in files:
            await anyio.to_thread.run_sync(file.close)

    async def _run_in_thread(self, store: str, work: Callable[[StoreFile], ResultT]) -> ResultT:
        return await anyio.to_thread.run_sync(self._run_on_file, store, work)

    def _run_on_file(self, store: str, work: Callable[[StoreFile], ResultT], *, transient: bool = False) -> ResultT:
        """Run work on a store's file; a damaged file is replaced by an empty one, which is then stale."""
        try:
            return self._run_locked(store, work, transient=transient)
        except sqlite3.OperationalError as error:
            raise _build_index_error(self._folder, error) from error
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:  # only the base class means a damaged file
                raise
            log.warning("the keyword index of %s is damaged (%s) and will be rebuilt", store, error)
            self._remove_store(store)
        try:
            return self._run_locked(store, work, transient=transient)
        except (sqlite3.Error, OSError) as error:
            raise _build_index_error(self._folder, error) from error

    def _run_locked(self, store: str, work: Callable[[StoreFile], ResultT], *, transient: bool) -> ResultT:
        """Run work on a store's file. A transient one is not kept open if that would close another."""
        while True:
            file = self._open_file(store, transient=transient)
            try:
                with file.lock:
                    if not file.closed:
                        return work(file)
            finally:
                if self._open_files.get(store) is not file:
                    file.close()

    def _open_file(self, store: str, *, transient: bool) -> StoreFile:
        with self._open_lock:
            if transient and store not in self._open_files and len(self._open_files) >= self._max_open:
                return StoreFile(self._folder, store, self._cache)
            file = self._open_files.pop(store, None) or StoreFile(self._folder, store, self._cache)
            self._open_files[store] = file
            evicted = [self._open_files.popitem(last=False)[1] for _ in range(len(self._open_files) - self._max_open)]
        for other in evicted:
            other.close()
        return file

    def _remove_store(self, store: str) -> None:
        self._cache.discard(store)
        with self._open_lock:
            file = self._open_files.pop(store, None)
        if file is not None:
            file.close()
        try:
            shutil.rmtree(self._folder / store)
        except FileNotFoundError:
            return
        except OSError as error:
            raise _build_index_error(self._folder, error) from error


def _build_index_error(folder: Path, error: Exception) -> Unavailable:
    return Unavailable(
        f"the keyword index in {folder.name} cannot be used: {error}",
        code="index",
        hint="check free space and permissions of data_dir; `outrider content rebuild` rebuilds it",
    )
