"""One contender over one collection, in a process of its own: prints what it took, as JSON.

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

from bench.content_text import documents, queries
from outrider.content.models import ContentDraft
from outrider.content.search import SearchOptions
from outrider.content.stores import ContentStores
from outrider.core.context import Call
from outrider.core.database.database import Database

BATCH = 500  # documents in one transaction, all for one store
QUERIES = 200
NARROW = 20  # stores that the queries to one store go to in turns
WIDE = 10  # queries to all stores at once
RESULTS = 10
CALL = Call(session="bench")
ADDED = "A singular xylophonist plays quixotically."
FIND = "singular xylophonist quixotically"


Batches = Iterator[list[str]]


class Contender(Protocol):
    async def fill(self, batches: Batches, stores: int) -> None: ...
    async def search(self, query: str, store: int | None) -> int: ...
    async def add(self, text: str) -> None: ...
    async def delete(self, store: int) -> None: ...
    async def sweep(self) -> None: ...
    async def close(self) -> None: ...


class Ours:
    """Content stores: rows in the database, the index of each store in a file beside it."""

    def __init__(self, folder: Path) -> None:
        self._database = Database.from_file(folder / "outrider.db")
        self._content = ContentStores(self._database, folder / "content", embedder=None)
        self._stores: list[str] = []

    async def fill(self, batches: Batches, stores: int) -> None:
        self._stores = [(await self._content.create_store(CALL, f"{number}")).id for number in range(stores)]
        for number, texts in enumerate(batches):
            store = self._stores[number % stores]
            await self._content.add_many(CALL, [ContentDraft(text, filename="text") for text in texts], store)

    async def search(self, query: str, store: int | None) -> int:
        chosen = None if store is None else [self._stores[store]]
        return len((await self._content.search(CALL, query, SearchOptions(stores=chosen, top_n=RESULTS))).hits)

    async def add(self, text: str) -> None:
        await self._content.add(CALL, ContentDraft(text, filename="text"), self._stores[0])

    async def delete(self, store: int) -> None:
        await self._content.delete_store(CALL, self._stores[store])

    async def sweep(self) -> None:
        await self._content.purge_stale()

    async def close(self) -> None:
        await self._content.close()
        await self._database.close()


class Fts5:
    """One table of SQLite for all stores, the least that keeps the text and ranks it."""

    def __init__(self, folder: Path) -> None:
        self._connection = sqlite3.connect(folder / "fts.db", isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.execute("CREATE VIRTUAL TABLE texts USING fts5 (store, body, tokenize='porter unicode61')")

    async def fill(self, batches: Batches, stores: int) -> None:
        for number, texts in enumerate(batches):
            self._connection.execute("BEGIN")
            rows = [(f"store{number % stores}", text) for text in texts]
            self._connection.executemany("INSERT INTO texts VALUES (?, ?)", rows)
            self._connection.execute("COMMIT")

    async def search(self, query: str, store: int | None) -> int:
        wanted = " OR ".join(f'"{word}"' for word in query.split())
        asked = f"body : ({wanted})" if store is None else f"store : store{store} AND body : ({wanted})"
        statement = "SELECT rowid, body FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?"
        return len(self._connection.execute(statement, (asked, RESULTS)).fetchall())

    async def add(self, text: str) -> None:
        self._connection.execute("INSERT INTO texts VALUES ('store0', ?)", (text,))

    async def delete(self, store: int) -> None:
        self._connection.execute("DELETE FROM texts WHERE texts MATCH ?", (f"store : store{store}",))

    async def sweep(self) -> None:
        """Nothing is left."""

    async def close(self) -> None:
        self._connection.close()


class Tantivy:
    """One index of tantivy for all stores, with the text kept in it."""

    def __init__(self, folder: Path) -> None:
        import tantivy

        builder = tantivy.SchemaBuilder()
        builder.add_text_field("store", tokenizer_name="raw", index_option="basic")
        builder.add_text_field("body", stored=True, tokenizer_name="en_stem", index_option="freq")
        self._schema = builder.build()
        (folder / "tantivy").mkdir()
        self._index = tantivy.Index(self._schema, path=str(folder / "tantivy"))
        self._writer = self._index.writer(heap_size=64_000_000, num_threads=1)

    async def fill(self, batches: Batches, stores: int) -> None:
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
        hits = searcher.search(wanted, limit=RESULTS, count=False).hits
        return len([searcher.doc(address).get_first("body") for _, address in hits])

    async def add(self, text: str) -> None:
        import tantivy

        self._writer.add_document(tantivy.Document(store="store0", body=text))
        self._commit()

    async def delete(self, store: int) -> None:
        self._writer.delete_documents_by_term("store", f"store{store}")
        self._commit()

    async def sweep(self) -> None:
        """Merges do it some time."""

    async def close(self) -> None:
        self._writer.wait_merging_threads()


CONTENDERS: dict[str, type[Any]] = {"ours": Ours, "fts5": Fts5, "tantivy": Tantivy}


def spooled(file: Path, texts: Iterator[str], size: int) -> Batches:
    """The texts in batches, made before the clock runs and kept out of memory, which is measured, too."""
    with file.open("w") as spool:
        for batch in iter(lambda: list(islice(texts, size)), []):
            spool.write(json.dumps(batch) + "\n")
    with file.open() as spool:
        yield from map(json.loads, spool)
    file.unlink()


async def measured(name: str, count: int, stores: int) -> dict[str, float]:
    """By measure its value: CPU milliseconds, wall milliseconds, megabytes."""
    with tempfile.TemporaryDirectory() as folder:
        contender: Contender = CONTENDERS[name](Path(folder))
        batches = spooled(Path(folder) / "texts.jsonl", documents(count), min(BATCH, count // stores))
        batches = itertools.chain([next(batches)], batches)  # they are made at the first
        wall, cpu = time.perf_counter(), time.process_time()
        await contender.fill(batches, stores)
        await contender.search("warm", None)  # an index that follows does it now
        filled = time.perf_counter() - wall, time.process_time() - cpu
        found = {"ingest_cpu_ms": filled[1] * 1_000 / count, "ingest_wall_ms": filled[0] * 1_000 / count}
        asked = queries(QUERIES)
        found |= await _asked(contender, "one", asked, [number % min(stores, NARROW) for number in range(QUERIES)])
        found |= await _asked(contender, "all", asked[:WIDE], None)
        found["size_mb"] = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()) / 1e6
        started = time.perf_counter()
        await contender.add(ADDED)
        assert await contender.search(FIND, 0) == 1
        found["add_find_ms"] = (time.perf_counter() - started) * 1_000
        started = time.perf_counter()
        await contender.delete(stores - 1)
        found["delete_ms"] = (time.perf_counter() - started) * 1_000
        started = time.perf_counter()
        await contender.sweep()
        found["sweep_ms"] = (time.perf_counter() - started) * 1_000
        found["rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000
        await contender.close()
    return found


async def _asked(contender: Contender, name: str, asked: list[str], stores: list[int] | None) -> dict[str, float]:
    """CPU milliseconds of the middle query, and of the slowest of a hundred."""
    spent = []
    for number, query in enumerate(asked):
        cpu = time.process_time()
        await contender.search(query, stores[number] if stores else None)
        spent.append((time.process_time() - cpu) * 1_000)
    return {f"{name}_p50_ms": median(spent), f"{name}_p99_ms": quantiles(spent, n=100)[98]}


if __name__ == "__main__":
    print(json.dumps(anyio.run(measured, sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
