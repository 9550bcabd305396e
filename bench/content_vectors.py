"""Finding the nearest of many vectors: signs with exact rescoring against comparing all of them, in one process.

    python -m bench.content_vectors COUNT

Prints JSON: CPU milliseconds of the middle query, the share of the true ten that were found, and megabytes. The vectors
lie in groups, as those of texts do; rescoring reads them from the database's rows, as searching does.
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
GROUPS = 2_000
SPREAD = 0.9  # of a vector around its group's middle, whose length is 1
QUERIES = 50
RESULTS = 10
BLOCK = 20_000
Floats = NDArray[np.float32]


class Given:
    """An embedder whose queries are numbers of vectors that were made before."""

    name, dimensions, weight = "given", DIMENSIONS, 0.5

    def __init__(self, queries: Floats) -> None:
        self._queries = queries

    async def embed(self, texts: list[str], *, query: bool = False) -> Floats:  # noqa: ARG002
        return np.stack([self._queries[int(text)] for text in texts])

    async def close(self) -> None:
        pass


def made(count: int, seed: int) -> Floats:
    """So many vectors of length 1 in groups that are the same for all seeds."""
    middles = unit(np.random.default_rng(0).normal(size=(GROUPS, DIMENSIONS)).astype(np.float32))
    chance = np.random.default_rng(seed)
    noise = unit(chance.normal(size=(count, DIMENSIONS)).astype(np.float32))
    return unit(middles[chance.integers(GROUPS, size=count)] + SPREAD * noise)


def unit(vectors: Floats) -> Floats:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@asynccontextmanager
async def filled(folder: Path, count: int) -> AsyncGenerator[Database]:
    """A database with so many vectors in one store."""
    database = Database.from_file(folder / "x.db")
    row = dict.fromkeys(("scope", "name", "description", "stamp", "languages"), "")
    numbers = dict.fromkeys(("created_at", "modified_at", "generation", "swept"), 0)
    async with database.write() as connection:
        steps = -(-count // BLOCK)
        await connection.execute(content_stores.insert().values(id="s", embedded=steps, **row, **numbers))
    for step in range(steps):
        vectors = made(min(BLOCK, count - step * BLOCK), step + 1).astype("<f2")
        rows = [
            {"chunk_id": f"content_{step}_{place}.1.0", "content_id": f"content_{step}_{place}", "store_id": "s"}
            | {"embedder": Given.name, "embedded": step + 1, "vector": vector.tobytes()}
            for place, vector in enumerate(vectors)
        ]
        async with database.write() as connection:
            await connection.execute(content_vectors.insert(), rows)
    yield database
    await database.close()


def truth(queries: Floats, count: int) -> tuple[list[set[str]], float]:
    """The ten nearest of each query by comparing all, and CPU milliseconds of one query over vectors in memory."""
    best: list[list[tuple[float, str]]] = [[] for _ in queries]
    spent = 0.0
    for step in range(-(-count // BLOCK)):
        vectors = made(min(BLOCK, count - step * BLOCK), step + 1).astype("<f2").astype(np.float32)
        started = time.process_time()
        for query in queries:
            scores = vectors @ query
            np.argpartition(scores, -RESULTS)
        spent += time.process_time() - started
        scores = queries @ vectors.T
        for number, row in enumerate(scores):
            places = np.argpartition(row, -RESULTS)[-RESULTS:]
            best[number] += [(float(row[place]), f"content_{step}_{place}.1.0") for place in places]
    chosen = [{name for _, name in sorted(each, reverse=True)[:RESULTS]} for each in best]
    return chosen, spent * 1_000 / len(queries)


async def measured(count: int) -> dict[str, float]:
    """By measure its value."""
    queries = made(QUERIES, 0)
    with tempfile.TemporaryDirectory() as folder:
        async with filled(Path(folder), count) as database:
            vectors = VectorIndex(database, Given(queries), Path(folder) / "vectors")
            started = time.process_time()
            await vectors.find_nearest("0", ["s"], RESULTS)
            found = {"codes_cpu_s": time.process_time() - started}
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            spent, near = [], []
            for number in range(QUERIES):
                started = time.process_time()
                near.append({each.chunk for each in await vectors.find_nearest(str(number), ["s"], RESULTS)})
                spent.append((time.process_time() - started) * 1_000)
            found |= {"p50_ms": median(spent), "p99_ms": quantiles(spent, n=100)[98], "rss_mb": before / 1_000}
            found["codes_mb"] = sum(path.stat().st_size for path in (Path(folder) / "vectors").rglob("*.codes")) / 1e6
            await vectors.close()
    exact, found["exact_ms"] = truth(queries, count)
    found["recall"] = sum(len(one & other) for one, other in zip(exact, near, strict=True)) / RESULTS / QUERIES
    return found


if __name__ == "__main__":
    print(json.dumps(anyio.run(measured, int(sys.argv[1]))))
