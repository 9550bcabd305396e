"""Semantic search: every chunk gets one vector, and near chunks are found after any change."""

from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import anyio
import numpy as np
import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from outrider.content.semantic.binary_codes import StoreCodes, encode_signs
from outrider.content.semantic.vector_index import EMBED_BATCH_CHUNKS, VECTORS_PER_PAGE, VectorIndex
from outrider.content.tables import content_chunks, content_stores, content_vectors, contents
from outrider.core.database.database import Database
from outrider.core.errors import Unavailable
from support.databases import sqlite

pytestmark = pytest.mark.anyio
DIMENSIONS = 48


class Angles:
    """A test embedder: a text is a number of degrees, and its vector points in that direction."""

    dimensions = DIMENSIONS
    weight = 0.5

    def __init__(self, name: str = "angles", turn: float = 0.0) -> None:
        self.name = name
        self.turn = turn
        self.texts: list[str] = []
        self.broken = False

    async def embed(self, texts: list[str], *, query: bool = False) -> np.ndarray:
        if self.broken:
            raise Unavailable("no answer")
        if not query:
            self.texts += texts
        return np.stack([self.vector(float(text.split("\n")[-1])) for text in texts])

    def vector(self, degrees: float) -> np.ndarray:
        steps = np.radians(degrees + self.turn) * np.arange(1, DIMENSIONS // 2 + 1) / 4
        whole = np.concatenate([np.cos(steps), np.sin(steps)]).astype(np.float32)
        return whole / np.linalg.norm(whole)

    async def close(self) -> None:
        pass


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    made = Database.from_file(sqlite.create_migrated_file(tmp_path / "x.db"))
    yield made
    await made.close()


Opened = Callable[..., VectorIndex]


@pytest.fixture
async def open_vectors(database: Database, tmp_path: Path) -> Opened:
    return lambda embedder=None: VectorIndex(database, embedder or Angles(), tmp_path / "vectors")


async def add_store(database: Database, name: str = "s") -> None:
    row: dict[str, object] = dict.fromkeys(("scope", "name", "description", "stamp", "languages"), "")
    row |= dict.fromkeys(("created_at", "modified_at", "generation", "swept", "embedded"), 0)
    async with database.write() as connection:
        await connection.execute(content_stores.insert().values(id=name, default_of=None, **row))


async def add_chunks(
    database: Database, content: str, *degrees: float, into: str = "s", heading: str = "", title: str = ""
) -> None:
    texts = ("filename", "mime_type", "source", "language", "hash", "preview")
    counts = ("size", "characters", "line_count", "chunk_count", "uploaded_at", "modified_at", "accessed_at")
    row = dict.fromkeys(texts, "") | dict.fromkeys(counts, 0)
    places = {"start": 0, "end": 0, "from_line": 1, "to_line": 1, "heading": heading}
    async with database.write() as connection:
        await count_change(connection, into)
        made = contents.insert().values(
            id=content, store_id=into, generation=1, version=1, title=title, facts={}, **row
        )
        await connection.execute(made)
        rows = [
            {
                "id": f"{content}.1.{n}",
                "content_id": content,
                "store_id": into,
                "number": n,
                "text": f"{each}",
                **places,
            }
            for n, each in enumerate(degrees)
        ]
        await connection.execute(content_chunks.insert(), rows)


async def remove_content(database: Database, content: str, into: str = "s") -> None:
    async with database.write() as connection:
        await count_change(connection, into)
        for table in (content_vectors, content_chunks):
            await connection.execute(table.delete().where(table.c.content_id == content))
        await connection.execute(contents.delete().where(contents.c.id == content))


async def count_change(connection: AsyncConnection, name: str) -> None:
    count = content_stores.c.generation + 1
    await connection.execute(content_stores.update().where(content_stores.c.id == name).values(generation=count))


async def find_chunks(
    vectors: VectorIndex, degrees: float, *stores: str, limit: int = 3, within: list[str] | None = None
) -> list:
    return [
        each.chunk for each in await vectors.find_nearest(f"{degrees}", list(stores or ["s"]), limit, within=within)
    ]


async def test_every_chunk_gets_one_vector_and_the_nearest_are_found_best_first(
    database: Database, open_vectors: Opened
):
    await add_store(database)
    await add_chunks(database, "c", 10, 20, 30, 40)
    vectors = open_vectors()
    assert await vectors.count_pending(["s"]) == 4
    assert await vectors.embed_missing() == 4
    assert (await vectors.count_pending(["s"]), await vectors.embed_missing()) == (0, 0)
    near = await vectors.find_nearest("21", ["s"], 2)
    assert [each.chunk for each in near] == ["c.1.1", "c.1.2"]
    assert 1 > near[0].score > near[1].score > 0


async def test_title_and_headings_are_part_of_what_is_embedded(database: Database, open_vectors: Opened):
    await add_store(database)
    await add_chunks(database, "c", 10, heading="Tea > Green", title="Drinks")
    await add_chunks(database, "d", 10, heading="Tea > Green", title="Tea")
    embedder = Angles()
    await open_vectors(embedder).embed_missing()
    assert sorted(embedder.texts) == ["Drinks\nTea > Green\n10", "Tea > Green\n10"]


async def test_new_chunks_are_found_and_only_they_are_embedded(database: Database, open_vectors: Opened):
    await add_store(database)
    await add_chunks(database, "c", 10)
    embedder = Angles()
    vectors = open_vectors(embedder)
    await vectors.embed_missing()
    assert await find_chunks(vectors, 50) == ["c.1.0"]
    await add_chunks(database, "d", 50)
    assert await vectors.count_pending(["s"]) == 1
    await vectors.embed_missing(["s"])
    assert await find_chunks(vectors, 50, limit=1) == ["d.1.0"]
    assert embedder.texts == ["10", "50"]


async def test_deleted_chunks_are_never_found_even_if_many_were_nearer(database: Database, open_vectors: Opened):
    await add_store(database)
    await add_chunks(database, "gone", *[20 + n / 1_000 for n in range(900)])
    await add_chunks(database, "kept", 25, 170)
    vectors = open_vectors()
    while await vectors.embed_missing():
        pass
    assert (await find_chunks(vectors, 20))[0].startswith("gone")
    await remove_content(database, "gone")
    assert await find_chunks(vectors, 20) == ["kept.1.0", "kept.1.1"]


async def test_files_are_shared_between_processes_and_rebuilt_when_damaged(
    database: Database, open_vectors: Opened, tmp_path: Path
):
    await add_store(database)
    await add_chunks(database, "c", 10, 20)
    first, second = open_vectors(), open_vectors()
    await first.embed_missing()
    assert await find_chunks(first, 10, limit=1) == ["c.1.0"]
    await add_chunks(database, "d", 12)
    await second.embed_missing()
    assert await find_chunks(second, 12, limit=1) == ["d.1.0"]
    assert await find_chunks(first, 12, limit=1) == ["d.1.0"]
    for file in (tmp_path / "vectors").rglob("*.codes"):
        file.write_bytes(file.read_bytes()[:-7])
    assert await find_chunks(open_vectors(), 12, limit=1) == ["d.1.0"]
    await first.discard_store("s")
    assert not list((tmp_path / "vectors").rglob("*.codes"))
    assert await find_chunks(first, 12, limit=1) == ["d.1.0"]


async def test_files_from_a_newer_copy_of_the_database_are_ignored(
    database: Database, open_vectors: Opened, tmp_path: Path
):
    await add_store(database)
    for number in range(3):
        await add_chunks(database, f"c{number}", 10 + number)
        await open_vectors().embed_missing()
    assert len(await find_chunks(open_vectors(), 10)) == 3
    async with database.write() as connection:
        await connection.execute(content_stores.update().values(embedded=1))
        await connection.execute(content_vectors.delete().where(content_vectors.c.embedded > 1))
    assert await find_chunks(open_vectors(), 12) == ["c0.1.0"]


async def test_vectors_of_two_models_are_never_mixed(database: Database, open_vectors: Opened):
    await add_store(database)
    await add_chunks(database, "c", 10, 80)
    old, new = open_vectors(Angles("old")), open_vectors(Angles("new", turn=70))
    await old.embed_missing()
    assert await new.count_pending(["s"]) == 2
    assert await find_chunks(new, 10) == []
    await new.embed_missing()
    assert await find_chunks(new, 10) == ["c.1.0", "c.1.1"]
    assert await find_chunks(old, 10) == ["c.1.0", "c.1.1"]


async def test_only_the_requested_stores_and_contents_are_searched(database: Database, open_vectors: Opened):
    for name in ("s", "t"):
        await add_store(database, name)
        await add_chunks(database, f"{name}1", 10, into=name)
        await add_chunks(database, f"{name}2", 11, into=name)
    vectors = open_vectors()
    await vectors.embed_missing()
    assert await find_chunks(vectors, 10, "t") == ["t1.1.0", "t2.1.0"]
    assert set(await find_chunks(vectors, 10, "s", "t", limit=2)) == {"s1.1.0", "t1.1.0"}
    assert await find_chunks(vectors, 10, "s", "t", within=["s2"]) == ["s2.1.0"]
    assert await find_chunks(vectors, 10, "s", within=[]) == []
    assert await find_chunks(vectors, 10, "nowhere") == []


async def test_a_failing_embedder_keeps_the_finished_work(database: Database, open_vectors: Opened):
    await add_store(database)
    await add_chunks(database, "c", *range(EMBED_BATCH_CHUNKS + 5))
    embedder = Angles()
    vectors = open_vectors(embedder)
    assert await vectors.embed_missing(limit=EMBED_BATCH_CHUNKS) == EMBED_BATCH_CHUNKS
    embedder.broken = True
    with pytest.raises(Unavailable):
        await vectors.embed_missing()
    embedder.broken = False
    assert await vectors.count_pending(["s"]) == 5
    assert await vectors.embed_missing() == 5


async def test_more_vectors_of_one_transaction_than_fit_a_page_are_all_found(database: Database, open_vectors: Opened):
    await add_store(database)
    embedder = Angles()
    far, near = embedder.vector(100).astype("<f2").tobytes(), embedder.vector(10).astype("<f2").tobytes()
    row = {"embedder": "angles", "store_id": "s"}
    rows = [
        row | {"chunk_id": f"a{n}", "content_id": "a", "embedded": 1, "vector": far}
        for n in range(VECTORS_PER_PAGE + 5)
    ]
    rows += [row | {"chunk_id": f"b{n}", "content_id": "b", "embedded": 2, "vector": near} for n in range(3)]
    async with database.write() as connection:
        await connection.execute(content_vectors.insert(), rows)
        await connection.execute(content_stores.update().values(embedded=2))
    assert await find_chunks(open_vectors(embedder), 10) == ["b0", "b1", "b2"]


async def test_concurrent_workers_embed_every_chunk(database: Database, open_vectors: Opened):
    await add_store(database)
    await add_chunks(database, "c", *range(200))
    workers = [open_vectors() for _ in range(3)]
    async with anyio.create_task_group() as tasks:
        for each in workers:
            tasks.start_soon(each.embed_missing)
            tasks.start_soon(find_chunks, each, 7)
    for each in workers:
        assert await each.count_pending(["s"]) == 0
        assert await find_chunks(each, 7, limit=1) == ["c.1.7"]


async def test_a_chunk_deleted_while_it_is_embedded_gets_no_vector(database: Database, open_vectors: Opened):
    class Slow(Angles):
        async def embed(self, texts: list[str], *, query: bool = False) -> np.ndarray:
            await remove_content(database, "c")
            return await super().embed(texts, query=query)

    await add_store(database)
    await add_chunks(database, "c", 10)
    await open_vectors(Slow()).embed_missing()
    async with database.read() as connection:
        assert (await connection.execute(content_vectors.select())).all() == []


def test_codes_grow_in_few_files_and_search_like_a_full_comparison(tmp_path: Path):
    random = np.random.default_rng(3)
    vectors = random.normal(size=(3_000, 100)).astype(np.float32)
    codes = StoreCodes(tmp_path / "codes", 100)
    for number in range(60):
        some = slice(number * 50, number * 50 + 50)
        ids = [f"c{place}" for place in range(some.start, some.stop)]
        codes.add(ids, ids, vectors[some], number + 1)
    assert codes.rows == 3_000
    assert len(list((tmp_path / "codes").iterdir())) == len(codes.segments) < 8
    again = StoreCodes(tmp_path / "codes", 100)
    assert again.last_transaction == 60
    query = random.normal(size=100).astype(np.float32)
    differing = ((vectors > 0) != (query > 0)).sum(axis=1)
    best = sorted(again.find_nearest(query, 10, None))[:10]
    assert [each.distance for each in best] == sorted(differing)[:10]
    again.hide_chunks([best[0].chunk])
    assert best[0].chunk not in {each.chunk for each in again.find_nearest(query, 10, None)}


def test_a_code_has_a_bit_for_each_dimension():
    vectors = np.array([[1, -1, 0, 5] + [-1] * 66], np.float32)
    assert encode_signs(vectors).tolist() == [[0b1001], [0]]
