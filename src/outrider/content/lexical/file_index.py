"""A keyword index in files: one SQLite database a store, derived from the rows and made anew at need.

A file a store, because deleting a store is then deleting a file (0.24 ms against seconds), and because
a search in one store does not read the words of the others.
"""

import logging
import shutil
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import anyio.to_thread

from outrider.content.lexical.index import Candidates, IndexChanges, Posting, Watermark, collect_terms
from outrider.content.lexical.postings import PostingsCache, StoreMatches, TopChunks, find_top_chunks
from outrider.content.lexical.store_file import StoreFile
from outrider.core.errors import Unavailable

log = logging.getLogger(__name__)
T = TypeVar("T")


class FileIndex:
    """The keyword index of each store in a file of its own.

    Args:
        folder: Where the files are; made at first use.
        max_open: How many of them are held open at once.
    """

    def __init__(self, folder: Path, *, max_open: int = 32) -> None:
        self._folder = folder
        self._max_open = max_open
        self._open_files: OrderedDict[str, StoreFile] = OrderedDict()
        self._open_lock = threading.Lock()
        self._cache = PostingsCache()

    def is_exact(self, stores: Sequence[str]) -> bool:  # noqa: ARG002
        """Always: they are chosen by that measure."""
        return True

    async def read_watermark(self, store: str) -> Watermark:
        """Up to where the index reflects the store."""
        return await self._run_in_thread(store, StoreFile.read_watermark)

    async def apply_changes(self, changes: IndexChanges, *, seen: Watermark) -> bool:
        """Takes the changes over in one transaction, unless another process was faster."""
        return await self._run_in_thread(changes.store, lambda file: file.apply_changes(changes, seen))

    async def find_candidates(
        self,
        words: Sequence[tuple[str, ...]],
        stores: Sequence[str],
        limit: int,
        *,
        within: Collection[str] | None = None,
        marks: Mapping[str, Watermark] | None = None,
    ) -> Candidates:
        """The likeliest chunks of all stores together, by BM25 with their common figures."""
        return await anyio.to_thread.run_sync(self._find_candidates, words, stores, limit, within, marks or {})

    def _find_candidates(
        self,
        words: Sequence[tuple[str, ...]],
        stores: Sequence[str],
        limit: int,
        within: Collection[str] | None,
        marks: Mapping[str, Watermark],
    ) -> Candidates:
        max_attempts = 3  # searches begun anew because somebody changed a store between two looks into it
        stores = [store for store in stores if marks.get(store) != Watermark()]  # without a change there is no file
        terms = collect_terms(words)
        passing = len(stores) > self._max_open
        for _ in range(max_attempts):
            looks = [
                self._run_on_file(store, lambda file: file.read_matches(terms, within), passing=passing)
                for store in stores
            ]
            seen = [each for _, each in looks]
            behind = [store for store, (mark, _) in zip(stores, looks, strict=True) if marks.get(store, mark) != mark]
            if behind:
                return Candidates(stale_stores=behind)
            frequency = _count_frequencies(seen)
            likely = find_top_chunks(words, seen, frequency, limit)
            named = [(each, self._names(stores[each.store], seen[each.store], each, passing)) for each in likely]
            if all(names is not None for _, names in named):
                break
        postings = [
            posting
            for each, names in named
            for posting in _build_postings(stores[each.store], seen[each.store], each, names)
        ]
        return Candidates(postings, sum(each.chunks for each in seen), sum(each.words for each in seen), frequency)

    def _names(self, name: str, seen: StoreMatches, likely: TopChunks, passing: bool) -> dict[int, str] | None:
        rows = seen.store.rows[likely.places].tolist()
        return self._run_on_file(name, lambda file: file.names(seen.store, rows), passing=passing)

    async def clear_store(self, store: str) -> None:
        """Removes the store's file."""
        await anyio.to_thread.run_sync(self._remove_store, store)

    async def close(self) -> None:
        """Closes all files."""
        with self._open_lock:
            files, self._open_files = list(self._open_files.values()), OrderedDict()
        for file in files:
            await anyio.to_thread.run_sync(file.close)

    async def _run_in_thread(self, store: str, work: "Callable[[StoreFile], T]") -> T:
        return await anyio.to_thread.run_sync(self._run_on_file, store, work)

    def _run_on_file(self, store: str, work: "Callable[[StoreFile], T]", *, passing: bool = False) -> T:
        """Does the work; a file that is damaged is replaced by an empty one, which then is behind."""
        try:
            return self._run_locked(store, work, passing=passing)
        except sqlite3.OperationalError as error:
            raise _build_index_error(self._folder, error) from error
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:  # only the plain one means a damaged file
                raise
            log.warning("the keyword index of %s is damaged (%s) and made anew", store, error)
            self._remove_store(store)
        try:
            return self._run_locked(store, work, passing=passing)
        except (sqlite3.Error, OSError) as error:
            raise _build_index_error(self._folder, error) from error

    def _run_locked(self, store: str, work: "Callable[[StoreFile], T]", *, passing: bool) -> T:
        """Does the work; a search in more stores than are held open passes through, and drives no other out."""
        while True:
            file = self._open_file(store, passing=passing)
            try:
                with file.lock:
                    if not file.closed:
                        return work(file)
            finally:
                if self._open_files.get(store) is not file:
                    file.close()

    def _open_file(self, store: str, *, passing: bool) -> "StoreFile":
        with self._open_lock:
            if passing and store not in self._open_files and len(self._open_files) >= self._max_open:
                return StoreFile(self._folder, store, self._cache)
            file = self._open_files.pop(store, None) or StoreFile(self._folder, store, self._cache)
            self._open_files[store] = file
            spare = [self._open_files.popitem(last=False)[1] for _ in range(len(self._open_files) - self._max_open)]
        for each in spare:
            each.close()
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


def _count_frequencies(seen: Sequence[StoreMatches]) -> dict[str, int]:
    """In how many chunks of all stores each term occurs."""
    frequency: dict[str, int] = {}
    for each in seen:
        for term, found in each.terms.items():
            frequency[term] = frequency.get(term, 0) + len(found.places)
    return frequency


def _build_postings(
    store: str, seen: StoreMatches, likely: TopChunks, names: Mapping[int, str] | None
) -> list[Posting]:
    """The likely chunks by their names."""
    rows = seen.store.rows[likely.places].tolist()
    lengths = seen.store.lengths[likely.places].astype(int).tolist()
    counts = {term: found.tolist() for term, found in likely.counts.items()}
    return [
        Posting(names[row], store, lengths[at], {term: found[at] for term, found in counts.items() if found[at]})
        for at, row in enumerate(rows)
        if names and row in names
    ]


def _build_index_error(folder: Path, error: Exception) -> Unavailable:
    return Unavailable(
        f"the keyword index in {folder.name} cannot be used: {error}",
        code="index",
        hint="check free space and permissions of data_dir; `outrider content rebuild` makes it anew",
    )
