"""A keyword index by tantivy (extra `scale`): one folder a store, for stores of some hundred thousand chunks and more.

At a million chunks in one store a query of three words takes 1 ms. Only one process at a time may write; the
others wait for it, and read meanwhile.
"""

import logging
import secrets
import shutil
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import anyio.to_thread
import tantivy
from tantivy import Occur, Query

from outrider.content.keywords.index import Candidates, Changes, Entry, Mark, Posting, terms_of
from outrider.core.errors import Unavailable

log = logging.getLogger(__name__)
T = TypeVar("T")
FORMAT = "1"  # counts changes of the fields, and of how terms are made; a folder of another is built anew
HEAP = 64_000_000  # bytes that a writer gathers before it writes
PATIENCE = 30.0  # seconds that a writer waits for another process's
PAUSE = 0.05
WORDS = "words"  # our tokenizer: what stands between blanks, as it is


class Figures(NamedTuple):
    """What is written with each change, in the same commit.

    Attributes:
        mark: Up to where the store is reflected.
        chunks, words: Of the whole store.
        dropped: Chunks that were taken out since the last whole change: as long as there are none, the engine's own
            counts of terms are right.
    """

    mark: Mark = Mark()
    chunks: int = 0
    words: int = 0
    dropped: int = 0


class TantivyIndex:
    """The keyword index of each store in a folder of its own.

    Args:
        folder: Where they are; made at first use.
        most: How many of them are held open at once.
    """

    def __init__(self, folder: Path, *, most: int = 16) -> None:
        self._folder = folder
        self._most = most
        self._open: OrderedDict[str, StoreFolder] = OrderedDict()
        self._opening = threading.Lock()

    def exact(self, stores: Sequence[str]) -> bool:  # noqa: ARG002
        """Never: tantivy chooses by its own."""
        return False

    def holds(self, store: str) -> bool:
        """Whether there is anything of the store."""
        return (self._folder / store).is_dir()

    async def generation(self, store: str) -> Mark:
        """Up to where the index reflects the store."""
        return (await self._in_thread(store, StoreFolder.figures)).mark

    async def apply(self, changes: Changes, *, seen: Mark) -> bool:
        """Takes the changes over in one commit, unless another process was faster."""
        return await self._in_thread(changes.store, lambda folder: folder.apply(changes, seen))

    async def candidates(
        self,
        words: Sequence[tuple[str, ...]],
        stores: Sequence[str],
        limit: int,
        *,
        within: Collection[str] | None = None,
        marks: Mapping[str, Mark] | None = None,
    ) -> Candidates:
        """The likeliest chunks of each store by tantivy's own BM25, and the figures of all searched stores."""
        wanted = terms_of(words)
        looks = [await self._in_thread(each, lambda folder: folder.find(wanted, limit, within)) for each in stores]
        known = marks or {}
        behind = [store for store, (mark, _) in zip(stores, looks, strict=True) if known.get(store, mark) != mark]
        return Candidates(behind=behind) if behind else Candidates.of_all([found for _, found in looks])

    async def rebuild(self, store: str) -> None:
        """Removes the store's folder."""
        await anyio.to_thread.run_sync(self._remove, store)

    async def close(self) -> None:
        """Lets go of all folders."""
        with self._opening:
            self._open.clear()

    async def _in_thread(self, store: str, work: "Callable[[StoreFolder], T]") -> T:
        return await anyio.to_thread.run_sync(self._do, store, work)

    def _do(self, store: str, work: "Callable[[StoreFolder], T]") -> T:
        """Does the work; a folder that is damaged, or was removed by another process, is replaced by an empty one."""
        try:
            return work(self._of(store))
        except ValueError as error:  # all that tantivy raises
            log.warning("the keyword index of %s cannot be read (%s) and is made anew", store, error)
            self._remove(store)
        except OSError as error:
            raise _unusable(error) from error
        try:
            return work(self._of(store))
        except (ValueError, OSError) as error:
            raise _unusable(error) from error

    def _of(self, store: str) -> "StoreFolder":
        with self._opening:
            folder = self._open.pop(store, None)
            if folder is None or not folder.there:
                folder = StoreFolder(self._folder / store, store)
            self._open[store] = folder
            while len(self._open) > self._most:
                self._open.popitem(last=False)
        return folder

    def _remove(self, store: str) -> None:
        with self._opening:
            self._open.pop(store, None)
        try:
            shutil.rmtree(self._folder / store)
        except FileNotFoundError:
            return
        except OSError as error:
            raise _unusable(error) from error


class StoreFolder:
    """The index of one store. Nothing is made before something is written."""

    def __init__(self, folder: Path, store: str) -> None:
        self._store = store
        self._folder = folder
        self._writing = threading.Lock()
        self._path = min(folder.glob(f"{FORMAT}-*/meta.json"), default=folder / "none").parent
        self._index: Any = _opened(self._path) if self._path != folder else None

    @property
    def there(self) -> bool:
        """Whether what was opened still lies on disk, and nothing came where nothing was."""
        if self._index is None:
            return not any(self._folder.glob(f"{FORMAT}-*/meta.json"))
        return (self._path / "meta.json").exists()

    def figures(self) -> Figures:
        """Mark and sums, as last committed by anybody."""
        return _figures(self._searcher()) if self._index is not None else Figures()

    def apply(self, changes: Changes, seen: Mark) -> bool:
        """Takes changes over; False if the folder is no longer where they start from."""
        with self._writing:
            if self._index is None:
                self._create()
            writer = _writer(self._index)
            try:
                return self._applied(writer, changes, seen)
            finally:
                writer.wait_merging_threads()  # gives the folder's lock back, too

    def find(self, terms: Sequence[str], limit: int, within: Collection[str] | None) -> tuple[Mark, Candidates]:
        """The chunks that have any of the terms, the likeliest first, and up to where the store is reflected."""
        if self._index is None:
            return Mark(), Candidates()
        searcher = self._searcher()
        figures = _figures(searcher)
        frequency = {term: count for term in terms if (count := self._frequency(searcher, term, figures))}
        rows = self._rows(searcher, list(frequency), limit, within) if frequency and limit else []
        postings = [Posting(chunk, self._store, length, _counts(text, frequency)) for chunk, length, text in rows]
        return figures.mark, Candidates(postings, figures.chunks, figures.words, frequency)

    def _applied(self, writer: Any, changes: Changes, seen: Mark) -> bool:
        before = self.figures()
        if before.mark != seen:
            return False
        if changes.whole:
            writer.delete_all_documents()
            before = Figures()
        chunks, words = (0, 0) if changes.whole else self._lengths(changes.dropped)
        for content in changes.dropped:
            writer.delete_documents_by_term("content", content)
        for entry in changes.added:
            writer.add_document(_document(entry))
        after = Figures(
            changes.mark,
            before.chunks - chunks + len(changes.added),
            before.words - words + sum(each.length for each in changes.added),
            before.dropped + chunks,
        )
        writer.delete_documents_by_term("kind", "mark")
        writer.add_document(_mark_document(after))
        writer.commit()
        return True

    def _create(self) -> None:
        self._path = self._folder / f"{FORMAT}-{secrets.token_hex(4)}"
        self._path.mkdir(parents=True)
        self._index = tantivy.Index(_schema(), path=str(self._path))
        _prepare(self._index)

    def _searcher(self) -> Any:
        self._index.reload()
        return self._index.searcher()

    def _lengths(self, contents: Sequence[str]) -> tuple[int, int]:
        """How many chunks contents have, and of how many words."""
        searcher = self._searcher()
        known = [each for each in contents if searcher.doc_freq("content", each)]
        if not known:
            return 0, 0
        query = tantivy.Query.term_set_query(self._index.schema, "content", known)
        found = searcher.search(query, limit=max(1, searcher.num_docs)).hits
        lengths = [searcher.doc(address).get_first("length") for _, address in found]
        return len(lengths), sum(lengths)

    def _frequency(self, searcher: Any, term: str, figures: Figures) -> int:
        """In how many chunks a term occurs; the engine's own count includes deleted ones."""
        count = searcher.doc_freq("terms", term)
        if not count or not figures.dropped:
            return count
        query = tantivy.Query.term_query(self._index.schema, "terms", term, index_option="basic")
        return searcher.search(query, limit=1, count=True).count

    def _rows(
        self, searcher: Any, terms: Sequence[str], limit: int, within: Collection[str] | None
    ) -> list[tuple[str, int, str]]:
        schema = self._index.schema
        each = [(Occur.Should, Query.term_query(schema, "terms", term, index_option="freq")) for term in terms]
        query = Query.boolean_query(each)
        if within is not None:
            some = Query.const_score_query(Query.term_set_query(schema, "content", list(within)), 0.0)
            query = Query.boolean_query([(Occur.Must, query), (Occur.Must, some)])
            limit = max(1, searcher.num_docs)
        documents = (searcher.doc(address) for _, address in searcher.search(query, limit=limit, count=False).hits)
        return [(each.get_first("chunk"), each.get_first("length"), each.get_first("terms")) for each in documents]


def _schema() -> Any:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("kind", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("chunk", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("content", stored=False, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("terms", stored=True, tokenizer_name=WORDS, index_option="freq")
    builder.add_unsigned_field("length", stored=True)
    builder.add_text_field("figures", stored=True, tokenizer_name="raw", index_option="basic")
    return builder.build()


def _opened(path: Path) -> Any:
    index = tantivy.Index.open(str(path))
    _prepare(index)
    return index


def _prepare(index: Any) -> None:
    index.register_tokenizer(WORDS, tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
    index.config_reader(reload_policy="manual")


def _writer(index: Any) -> Any:
    """The right to write, which another process may have; waits for it."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return index.writer(heap_size=HEAP, num_threads=1)
        except ValueError as error:
            if "lock" not in str(error).lower() or time.monotonic() > end:
                raise
        time.sleep(PAUSE)


def _document(entry: Entry) -> Any:
    return tantivy.Document(
        kind="chunk", chunk=entry.chunk, content=entry.content, terms=entry.terms, length=entry.length
    )


def _mark_document(figures: Figures) -> Any:
    mark = figures.mark
    text = f"{mark.generation} {figures.chunks} {figures.words} {figures.dropped} {mark.stamp}"
    return tantivy.Document(kind="mark", figures=text)


def _figures(searcher: Any) -> Figures:
    query = tantivy.Query.term_query(_schema(), "kind", "mark", index_option="basic")
    hits = searcher.search(query, limit=1, count=False).hits
    if not hits:
        return Figures()
    generation, chunks, words, dropped, stamp = searcher.doc(hits[0][1]).get_first("figures").split(" ", 4)
    return Figures(Mark(int(generation), stamp), int(chunks), int(words), int(dropped))


def _counts(text: str, terms: Collection[str]) -> dict[str, int]:
    words = text.split(" ")
    return {term: count for term in terms if (count := words.count(term))}


def _unusable(error: Exception) -> Unavailable:
    return Unavailable(
        f"the keyword index cannot be used: {error}",
        code="index",
        hint="check free space and permissions of data_dir; `outrider content rebuild` makes it anew",
    )
