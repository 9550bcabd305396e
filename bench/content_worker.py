"""Measure one engine over one collection in a separate process, and print JSON.

python -m bench.content_worker NAME COUNT STORES
"""

import itertools
import json
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Protocol

import anyio

from bench.generated_documents import draw_queries, generate_documents
from outrider.content.models import ContentDraft
from outrider.content.search import SearchOptions
from outrider.content.stores import ContentStores
from outrider.core.context import Call
from outrider.core.database.database import Database

RESULT_COUNT = 10
CALL = Call(session="bench")


Batches = Iterator[list[str]]


class ContentEngine(Protocol):
    async def add_batches(self, batches: Batches, stores: int) -> None: ...
    async def search(self, query: str, store: int | None) -> int: ...
    async def add_text(self, text: str) -> None: ...
    async def delete_store(self, store: int) -> None: ...
    async def purge_deleted(self) -> None: ...
    async def close(self) -> None: ...


class ContentStoreEngine:
    """Store rows in the database and the index of each store in a file."""

    def __init__(self, folder: Path) -> None:
        self._database = Database.from_file(folder / "outrider.db")
        self._content = ContentStores(self._database, folder / "content", embedder=None)
        self._stores: list[str] = []

    async def add_batches(self, batches: Batches, stores: int) -> None:
        self._stores = [(await self._content.create_store(CALL, f"{number}")).id for number in range(stores)]
        for number, texts in enumerate(batches):
            store = self._stores[number % stores]
            await self._content.add_many(CALL, [ContentDraft(text, filename="text") for text in texts], store)

    async def search(self, query: str, store: int | None) -> int:
        chosen = None if store is None else [self._stores[store]]
        return len((await self._content.search(CALL, query, SearchOptions(stores=chosen, top_n=RESULT_COUNT))).hits)

    async def add_text(self, text: str) -> None:
        await self._content.add(CALL, ContentDraft(text, filename="text"), self._stores[0])

    async def delete_store(self, store: int) -> None:
        await self._content.delete_store(CALL, self._stores[store])

    async def purge_deleted(self) -> None:
        await self._content.purge_stale()

    async def close(self) -> None:
        await self._content.close()
        await self._database.close()


class Fts5Engine:
    """Keep all stores in one SQLite table that stores and ranks the text."""

    def __init__(self, folder: Path) -> None:
        self._connection = sqlite3.connect(folder / "fts.db", isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.execute("CREATE VIRTUAL TABLE texts USING fts5 (store, body, tokenize='porter unicode61')")

    async def add_batches(self, batches: Batches, stores: int) -> None:
        for number, texts in enumerate(batches):
            self._connection.execute("BEGIN")
            rows = [(f"store{number % stores}", text) for text in texts]
            self._connection.executemany("INSERT INTO texts VALUES (?, ?)", rows)
            self._connection.execute("COMMIT")

    async def search(self, query: str, store: int | None) -> int:
        wanted = " OR ".join(f'"{word}"' for word in query.split())
        asked = f"body : ({wanted})" if store is None else f"store : store{store} AND body : ({wanted})"
        statement = "SELECT rowid, body FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?"
        return len(self._connection.execute(statement, (asked, RESULT_COUNT)).fetchall())

    async def add_text(self, text: str) -> None:
        self._connection.execute("INSERT INTO texts VALUES ('store0', ?)", (text,))

    async def delete_store(self, store: int) -> None:
        self._connection.execute("DELETE FROM texts WHERE texts MATCH ?", (f"store : store{store}",))

    async def purge_deleted(self) -> None:
        """Do nothing: deleting has removed the rows."""

    async def close(self) -> None:
        self._connection.close()


class TantivyEngine:
    """Keep all stores in one tantivy index, together with the text."""

    def __init__(self, folder: Path) -> None:
        import tantivy

        builder = tantivy.SchemaBuilder()
        builder.add_text_field("store", tokenizer_name="raw", index_option="basic")
        builder.add_text_field("body", stored=True, tokenizer_name="en_stem", index_option="freq")
        self._schema = builder.build()
        (folder / "tantivy").mkdir()
        self._index = tantivy.Index(self._schema, path=str(folder / "tantivy"))
        self._writer = self._index.writer(heap_size=64_000_000, num_threads=1)

    async def add_batches(self, batches: Batches, stores: int) -> None:
        import tantivy

        for number, texts in enumerate(batches):
            for text in texts:
                self._writer.add_document(tantivy.Document(store=f"store{number % stores}", body=text))
        self._commit()

    def _commit(self) -> None:
        self._writer.commit()
        self._index.reload()

    async def search(self, query: str, store: int | None) -> int:
        from tantivy import Occur, Query

        wanted = self._index.parse_query(query, ["body"])
        if store is not None:
            only = Query.term_query(self._schema, "store", f"store{store}", index_option="basic")
            wanted = Query.boolean_query([(Occur.Must, wanted), (Occur.Must, Query.const_score_query(only, 0.0))])
        searcher = self._index.searcher()
        hits = searcher.search(wanted, limit=RESULT_COUNT, count=False).hits
        return len([searcher.doc(address).get_first("body") for _, address in hits])

    async def add_text(self, text: str) -> None:
        import tantivy

        self._writer.add_document(tantivy.Document(store="store0", body=text))
        self._commit()

    async def delete_store(self, store: int) -> None:
        self._writer.delete_documents_by_term("store", f"store{store}")
        self._commit()

    async def purge_deleted(self) -> None:
        """Do nothing: tantivy merges segments later."""

    async def close(self) -> None:
        self._writer.wait_merging_threads()


ENGINES: dict[str, type[Any]] = {"ours": ContentStoreEngine, "fts5": Fts5Engine, "tantivy": TantivyEngine}


def spool_batches(file: Path, texts: Iterator[str], size: int) -> Batches:
    """Write the texts to a file first, so that drawing them is not measured."""
    with file.open("w") as spool:
        for batch in iter(lambda: list(islice(texts, size)), []):
            spool.write(json.dumps(batch) + "\n")
    with file.open() as spool:
        yield from map(json.loads, spool)
    file.unlink()


async def measure_contender(name: str, count: int, stores: int) -> dict[str, float]:
    """Return the values by measure: CPU milliseconds, wall milliseconds, megabytes."""
    global_queries = 10  # queries over all stores at once
    searched_stores = 20  # stores for queries to a single store, in turns
    query_count = 200
    batch_documents = 500  # documents in one transaction, all for one store
    with tempfile.TemporaryDirectory() as folder:
        engine: ContentEngine = ENGINES[name](Path(folder))
        batches = spool_batches(
            Path(folder) / "texts.jsonl", generate_documents(count), min(batch_documents, count // stores)
        )
        batches = itertools.chain([next(batches)], batches)  # the first one generates them
        wall, cpu = time.perf_counter(), time.process_time()
        await engine.add_batches(batches, stores)
        await engine.search("warm", None)  # an index that syncs lazily does so now
        filled = time.perf_counter() - wall, time.process_time() - cpu
        found = {"ingest_cpu_ms": filled[1] * 1_000 / count, "ingest_wall_ms": filled[0] * 1_000 / count}
        asked = draw_queries(query_count)
        found |= await _measure_queries(
            engine, "one", asked, [number % min(stores, searched_stores) for number in range(query_count)]
        )
        found |= await _measure_queries(engine, "all", asked[:global_queries], None)
        found["size_mb"] = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()) / 1e6
        found |= await _measure_changes(engine, stores)
        found["rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000
        await engine.close()
    return found


async def _measure_changes(engine: ContentEngine, stores: int) -> dict[str, float]:
    """Return the milliseconds to add and find, to delete and to purge."""
    added_text_query = "singular xylophonist quixotically"
    added_text = "A singular xylophonist plays quixotically."
    found: dict[str, float] = {}
    started = time.perf_counter()
    await engine.add_text(added_text)
    assert await engine.search(added_text_query, 0) == 1
    found["add_find_ms"] = (time.perf_counter() - started) * 1_000
    started = time.perf_counter()
    await engine.delete_store(stores - 1)
    found["delete_ms"] = (time.perf_counter() - started) * 1_000
    started = time.perf_counter()
    await engine.purge_deleted()
    found["sweep_ms"] = (time.perf_counter() - started) * 1_000
    return found


async def _measure_queries(
    engine: ContentEngine, name: str, asked: list[str], stores: list[int] | None
) -> dict[str, float]:
    """Return the CPU milliseconds of the median query and of the 99th percentile."""
    spent = []
    for number, query in enumerate(asked):
        cpu = time.process_time()
        await engine.search(query, stores[number] if stores else None)
        spent.append((time.process_time() - cpu) * 1_000)
    return {f"{name}_p50_ms": median(spent), f"{name}_p99_ms": quantiles(spent, n=100)[98]}


if __name__ == "__main__":
    print(json.dumps(anyio.run(measure_contender, sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
