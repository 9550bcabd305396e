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

from outrider.content.keywords.index import Candidates, Changes, Mark, Posting, terms_of
from outrider.content.keywords.postings import Likely, Memory, Seen, likeliest
from outrider.content.keywords.store_file import StoreFile
from outrider.core.errors import Unavailable

log = logging.getLogger(__name__)
T = TypeVar("T")
TRIES = 3  # searches begun anew because somebody changed a store between two looks into it


class FileIndex:
    """The keyword index of each store in a file of its own.

    Args:
        folder: Where the files are; made at first use.
        most: How many of them are held open at once.
    """

    def __init__(self, folder: Path, *, most: int = 32) -> None:
        self._folder = folder
        self._most = most
        self._open: OrderedDict[str, StoreFile] = OrderedDict()
        self._opening = threading.Lock()
        self._memory = Memory()

    def exact(self, stores: Sequence[str]) -> bool:  # noqa: ARG002
        """Always: they are chosen by that measure."""
        return True

    async def generation(self, store: str) -> Mark:
        """Up to where the index reflects the store."""
        return await self._in_thread(store, StoreFile.mark)

    async def apply(self, changes: Changes, *, seen: Mark) -> bool:
        """Takes the changes over in one transaction, unless another process was faster."""
        return await self._in_thread(changes.store, lambda file: file.apply(changes, seen))

    async def candidates(
        self,
        words: Sequence[tuple[str, ...]],
        stores: Sequence[str],
        limit: int,
        *,
        within: Collection[str] | None = None,
        marks: Mapping[str, Mark] | None = None,
    ) -> Candidates:
        """The likeliest chunks of all stores together, by BM25 with their common figures."""
        return await anyio.to_thread.run_sync(self._candidates, words, stores, limit, within, marks or {})

    def _candidates(
        self,
        words: Sequence[tuple[str, ...]],
        stores: Sequence[str],
        limit: int,
        within: Collection[str] | None,
        marks: Mapping[str, Mark],
    ) -> Candidates:
        stores = [store for store in stores if marks.get(store) != Mark()]  # without a change there is no file
        terms = terms_of(words)
        passing = len(stores) > self._most
        for _ in range(TRIES):
            looks = [self._do(store, lambda file: file.look(terms, within), passing=passing) for store in stores]
            seen = [each for _, each in looks]
            behind = [store for store, (mark, _) in zip(stores, looks, strict=True) if marks.get(store, mark) != mark]
            if behind:
                return Candidates(behind=behind)
            frequency = _frequency(seen)
            likely = likeliest(words, seen, frequency, limit)
            named = [(each, self._names(stores[each.store], seen[each.store], each, passing)) for each in likely]
            if all(names is not None for _, names in named):
                break
        postings = [
            posting for each, names in named for posting in _postings(stores[each.store], seen[each.store], each, names)
        ]
        return Candidates(postings, sum(each.chunks for each in seen), sum(each.words for each in seen), frequency)

    def _names(self, name: str, seen: Seen, likely: Likely, passing: bool) -> dict[int, str] | None:
        rows = seen.store.rows[likely.places].tolist()
        return self._do(name, lambda file: file.names(seen.store, rows), passing=passing)

    async def rebuild(self, store: str) -> None:
        """Removes the store's file."""
        await anyio.to_thread.run_sync(self._remove, store)

    async def close(self) -> None:
        """Closes all files."""
        with self._opening:
            files, self._open = list(self._open.values()), OrderedDict()
        for file in files:
            await anyio.to_thread.run_sync(file.close)

    async def _in_thread(self, store: str, work: "Callable[[StoreFile], T]") -> T:
        return await anyio.to_thread.run_sync(self._do, store, work)

    def _do(self, store: str, work: "Callable[[StoreFile], T]", *, passing: bool = False) -> T:
        """Does the work; a file that is damaged is replaced by an empty one, which then is behind."""
        try:
            return self._worked(store, work, passing=passing)
        except sqlite3.OperationalError as error:
            raise _unusable(self._folder, error) from error
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:  # only the plain one means a damaged file
                raise
            log.warning("the keyword index of %s is damaged (%s) and made anew", store, error)
            self._remove(store)
        try:
            return self._worked(store, work, passing=passing)
        except (sqlite3.Error, OSError) as error:
            raise _unusable(self._folder, error) from error

    def _worked(self, store: str, work: "Callable[[StoreFile], T]", *, passing: bool) -> T:
        """Does the work; a search in more stores than are held open passes through, and drives no other out."""
        while True:
            file = self._file(store, passing=passing)
            try:
                with file.lock:
                    if not file.closed:
                        return work(file)
            finally:
                if self._open.get(store) is not file:
                    file.close()

    def _file(self, store: str, *, passing: bool) -> "StoreFile":
        with self._opening:
            if passing and store not in self._open and len(self._open) >= self._most:
                return StoreFile(self._folder, store, self._memory)
            file = self._open.pop(store, None) or StoreFile(self._folder, store, self._memory)
            self._open[store] = file
            spare = [self._open.popitem(last=False)[1] for _ in range(len(self._open) - self._most)]
        for each in spare:
            each.close()
        return file

    def _remove(self, store: str) -> None:
        self._memory.forget(store)
        with self._opening:
            file = self._open.pop(store, None)
        if file is not None:
            file.close()
        try:
            shutil.rmtree(self._folder / store)
        except FileNotFoundError:
            return
        except OSError as error:
            raise _unusable(self._folder, error) from error


def _frequency(seen: Sequence[Seen]) -> dict[str, int]:
    """In how many chunks of all stores each term occurs."""
    frequency: dict[str, int] = {}
    for each in seen:
        for term, found in each.terms.items():
            frequency[term] = frequency.get(term, 0) + len(found.places)
    return frequency


def _postings(store: str, seen: Seen, likely: Likely, names: Mapping[int, str] | None) -> list[Posting]:
    """The likely chunks by their names."""
    rows = seen.store.rows[likely.places].tolist()
    lengths = seen.store.lengths[likely.places].astype(int).tolist()
    counts = {term: found.tolist() for term, found in likely.counts.items()}
    return [
        Posting(names[row], store, lengths[at], {term: found[at] for term, found in counts.items() if found[at]})
        for at, row in enumerate(rows)
        if names and row in names
    ]


def _unusable(folder: Path, error: Exception) -> Unavailable:
    return Unavailable(
        f"the keyword index in {folder.name} cannot be used: {error}",
        code="index",
        hint="check free space and permissions of data_dir; `outrider content rebuild` makes it anew",
    )
