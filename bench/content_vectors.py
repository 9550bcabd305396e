"""Search many vectors by sign bits with exact rescoring, and by a full scan, in one process.

    python -m bench.content_vectors COUNT

Prints JSON: CPU milliseconds of the median query, the share of the true ten that were found, and megabytes. The vectors
are in clusters, like those of texts; rescoring reads them from the database's rows, like real searches.
"""

import json
import resource
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median, quantiles

import anyio
import numpy as np
from numpy.typing import NDArray

from outrider.content.semantic.vector_index import VectorIndex
from outrider.content.tables import content_stores, content_vectors
from outrider.core.database.database import Database

DIMENSIONS = 384
RESULT_COUNT = 10
BLOCK_VECTORS = 20_000
Floats = NDArray[np.float32]


class NumberedEmbedder:
    """Return prepared vectors; a query is the number of its vector."""

    name, dimensions, weight = "given", DIMENSIONS, 0.5

    def __init__(self, queries: Floats) -> None:
        self._queries = queries

    async def embed(self, texts: list[str], *, query: bool = False) -> Floats:  # noqa: ARG002
        return np.stack([self._queries[int(text)] for text in texts])

    async def close(self) -> None:
        pass


def draw_vectors(count: int, seed: int) -> Floats:
    """Draw vectors of length 1 around group centres that are the same for all seeds."""
    group_spread = 0.9  # of vectors around their group's center of length 1
    group_count = 2_000
    middles = normalize_vectors(np.random.default_rng(0).normal(size=(group_count, DIMENSIONS)).astype(np.float32))
    chance = np.random.default_rng(seed)
    noise = normalize_vectors(chance.normal(size=(count, DIMENSIONS)).astype(np.float32))
    return normalize_vectors(middles[chance.integers(group_count, size=count)] + group_spread * noise)


def normalize_vectors(vectors: Floats) -> Floats:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@asynccontextmanager
async def open_filled_database(folder: Path, count: int) -> AsyncGenerator[Database]:
    """Open a database with this many vectors in one store."""
    database = Database.from_file(folder / "x.db")
    row = dict.fromkeys(("scope", "name", "description", "stamp", "languages"), "")
    numbers = dict.fromkeys(("created_at", "modified_at", "generation", "swept"), 0)
    async with database.write() as connection:
        steps = -(-count // BLOCK_VECTORS)
        await connection.execute(content_stores.insert().values(id="s", embedded=steps, **row, **numbers))
    for step in range(steps):
        vectors = draw_vectors(min(BLOCK_VECTORS, count - step * BLOCK_VECTORS), step + 1).astype("<f2")
        rows = [
            {"chunk_id": f"content_{step}_{place}.1.0", "content_id": f"content_{step}_{place}", "store_id": "s"}
            | {"embedder": NumberedEmbedder.name, "embedded": step + 1, "vector": vector.tobytes()}
            for place, vector in enumerate(vectors)
        ]
        async with database.write() as connection:
            await connection.execute(content_vectors.insert(), rows)
    yield database
    await database.close()


def find_exact_neighbors(queries: Floats, count: int) -> tuple[list[set[str]], float]:
    """Return each query's ten nearest by a full scan, and the CPU milliseconds per query."""
    best: list[list[tuple[float, str]]] = [[] for _ in queries]
    spent = 0.0
    for step in range(-(-count // BLOCK_VECTORS)):
        vectors = (
            draw_vectors(min(BLOCK_VECTORS, count - step * BLOCK_VECTORS), step + 1).astype("<f2").astype(np.float32)
        )
        started = time.process_time()
        for query in queries:
            scores = vectors @ query
            np.argpartition(scores, -RESULT_COUNT)
        spent += time.process_time() - started
        scores = queries @ vectors.T
        for number, row in enumerate(scores):
            places = np.argpartition(row, -RESULT_COUNT)[-RESULT_COUNT:]
            best[number] += [(float(row[place]), f"content_{step}_{place}.1.0") for place in places]
    chosen = [{name for _, name in sorted(each, reverse=True)[:RESULT_COUNT]} for each in best]
    return chosen, spent * 1_000 / len(queries)


async def measure_search(count: int) -> dict[str, float]:
    """Return the values by measure."""
    query_count = 50
    queries = draw_vectors(query_count, 0)
    with tempfile.TemporaryDirectory() as folder:
        async with open_filled_database(Path(folder), count) as database:
            vectors = VectorIndex(database, NumberedEmbedder(queries), Path(folder) / "vectors")
            started = time.process_time()
            await vectors.find_nearest("0", ["s"], RESULT_COUNT)
            found = {"codes_cpu_s": time.process_time() - started}
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            spent, near = [], []
            for number in range(query_count):
                started = time.process_time()
                near.append({each.chunk for each in await vectors.find_nearest(str(number), ["s"], RESULT_COUNT)})
                spent.append((time.process_time() - started) * 1_000)
            found |= {"p50_ms": median(spent), "p99_ms": quantiles(spent, n=100)[98], "rss_mb": before / 1_000}
            found["codes_mb"] = sum(path.stat().st_size for path in (Path(folder) / "vectors").rglob("*.codes")) / 1e6
            await vectors.close()
    exact, found["exact_ms"] = find_exact_neighbors(queries, count)
    found["recall"] = sum(len(one & other) for one, other in zip(exact, near, strict=True)) / RESULT_COUNT / query_count
    return found


if __name__ == "__main__":
    print(json.dumps(anyio.run(measure_search, int(sys.argv[1]))))
