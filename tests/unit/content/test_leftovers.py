"""Deleted rows are hidden at once on both databases, and purged even after kills."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from outrider.app.usage import QuotaUsage
from outrider.content.lexical.index_sync import find_mismatches
from outrider.content.models import ContentDraft
from outrider.content.purge import PURGE_BATCH_ROWS, purge_batch
from outrider.content.search import SearchOptions
from outrider.content.semantic.embedder import EmbedderDependencies
from outrider.content.semantic.embedders.builtin import builtin
from outrider.content.settings import EmbeddingSettings
from outrider.content.stores import ContentStores
from outrider.core.context import Call
from outrider.core.database.copier import DatabaseCopy
from outrider.core.database.database import Database
from outrider.core.database.integrity import check_database
from outrider.core.egress.guard import EgressGuard
from outrider.core.egress.policy import EgressSettings
from outrider.core.errors import NotFound
from outrider.core.http import HttpClient
from outrider.identity.quotas import QuotaOwner
from support.databases import postgres, sqlite
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = pytest.mark.anyio
POSTGRES = postgres.find_programs()
EMBEDDER_DEPENDENCIES = EmbedderDependencies(
    EmbeddingSettings(), HttpClient(EgressGuard(EgressSettings())), Path(), {}, {}
)
MANY = PURGE_BATCH_ROWS + 50
NOTES = [ContentDraft(f"tea number {number}", filename=f"{number}") for number in range(MANY)]
LONG_DRAFT = ContentDraft(
    "\n\n".join(f"# Part {number}\n\n{'tea and more tea. ' * 60}" for number in range(MANY)), filename="long"
)


@pytest.fixture(scope="module")
def shared_address(server: postgres.PostgresServer) -> str:
    return server.create_migrated_database()


@pytest.fixture(params=["sqlite", *(["postgres"] if POSTGRES else [])])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        return request.getfixturevalue("shared_address")
    return f"sqlite+aiosqlite:///{sqlite.create_migrated_file(tmp_path / 'outrider.db')}"


@pytest.fixture
def call(request: pytest.FixtureRequest) -> Call:
    return Call(session=request.node.name, workspace=request.node.name)


class Replica:
    """Use the database like a separate process."""

    def __init__(self, address: str, folder: Path) -> None:
        self.database = Database(address)
        self.folder = folder
        self.content = ContentStores(self.database, folder, embedder=lambda: builtin.open(EMBEDDER_DEPENDENCIES))

    async def find_files(self, call: Call, query: str, **options: Any) -> set[str]:
        found = await self.content.search(call, query, SearchOptions(top_n=100, **options))
        return {hit.filename for hit in found.hits}

    async def count_rows(self, store: str) -> dict[str, int]:
        """Count the rows of a store by table, without tables that have none."""
        from sqlalchemy import func, select

        from outrider.content import tables

        places = {
            "contents": tables.contents,
            "chunks": tables.content_chunks,
            "vectors": tables.content_vectors,
            "removals": tables.content_removals,
            "leftovers": tables.content_leftovers,
        }
        async with self.database.read() as connection:
            queries = {name: select(func.count()).where(table.c.store_id == store) for name, table in places.items()}
            counts = {name: (await connection.execute(query)).scalar_one() for name, query in queries.items()}
        return {name: count for name, count in counts.items() if count}

    async def list_problems(self) -> list[str]:
        """List the problems that `outrider db check` reports."""
        problems = [each.message async for each in check_database(self.database) if each.code == "orphans"]
        return problems + [each.store async for each in find_mismatches(self.database, self.folder, repair=False)]


@asynccontextmanager
async def open_replica(address: str, folder: Path) -> AsyncGenerator[Replica]:
    replica = Replica(address, folder)
    yield replica
    await replica.content.close()
    await replica.database.close()


@pytest.mark.nightly
async def test_a_large_store_is_hidden_before_its_rows_are_deleted(address: str, tmp_path: Path, call: Call):
    async with open_replica(address, tmp_path / "content") as replica:
        content = replica.content
        store = await content.get_store(call)
        [first, *_] = await content.add_many(call, NOTES)
        assert len(await replica.find_files(call, "tea")) == 100
        await content.delete(call, first.id)  # leaves a removal
        await content.delete_store(call, store.id)
        assert (await replica.count_rows(store.id))["chunks"] > 0
        assert await content.list_stores(call) == ([], 0)
        assert await replica.find_files(call, "tea") == set()
        assert await QuotaUsage(replica.database).sum_stored_bytes(QuotaOwner(call.workspace or "")) == 0
        assert (await content.overview.list_stores(text="Session", workspace=call.workspace)).items == []
        assert (await content.overview.list_contents(store.id)).items == []
        with pytest.raises(NotFound):
            await content.list_records(call, store.id)
        with pytest.raises(NotFound):
            await content.add(call, ContentDraft("tea"), store.id)
        assert await replica.list_problems() == []
        own = await content.get_store(call)
        assert (own.is_default, own.content_count) == (True, 0)
        await content.purge_stale()
        assert await replica.count_rows(store.id) == {}
        assert not list((tmp_path / "content").rglob(store.id))
        assert await replica.list_problems() == []


async def test_contents_of_a_deleted_store_cannot_be_reached_by_id(address: str, tmp_path: Path, call: Call):
    async with open_replica(address, tmp_path / "content") as replica:
        store = await replica.content.create_store(call)
        records = await replica.content.add_many(call, NOTES, store.id)
        await replica.content.delete_store(call, store.id)
        async with replica.database.read() as connection:
            from sqlalchemy import select

            from outrider.content.tables import contents

            there = set((await connection.execute(select(contents.c.id))).scalars())
        left = next(each for each in records if each.id in there)
        with pytest.raises(NotFound):
            await replica.content.read_lines(call, left.id)
        with pytest.raises(NotFound):
            await replica.content.overview.get_content(left.id)
        assert await replica.content.overview.list_passages(left.id) == []
        await replica.content.purge_stale()


async def test_a_small_store_is_deleted_at_once_and_leaves_nothing_to_purge(address: str, tmp_path: Path, call: Call):
    async with open_replica(address, tmp_path / "content") as replica:
        store = await replica.content.create_store(call)
        await replica.content.add_many(call, NOTES[:5], store.id)
        assert len(await replica.find_files(call, "tea", mode="hybrid")) == 5
        await replica.content.delete_store(call, store.id)
        assert await replica.count_rows(store.id) == {}
        assert not list((tmp_path / "content").rglob(store.id))


async def test_a_deleted_long_text_is_no_longer_found_and_may_be_added_again(address: str, tmp_path: Path, call: Call):
    async with open_replica(address, tmp_path / "content") as replica:
        content = replica.content
        store = await content.get_store(call)
        long = await content.add(call, LONG_DRAFT)
        await content.add(call, ContentDraft("a cup of tea", filename="short"))
        assert "long" in await replica.find_files(call, "tea", mode="semantic")
        await content.delete(call, long.id)
        assert (await replica.count_rows(store.id))["chunks"] > 1
        for mode in ("keyword", "semantic", "hybrid"):
            assert await replica.find_files(call, "tea", mode=mode) == {"short"}
        assert (await content.get_store(call)).chunk_count == 1
        assert await replica.list_problems() == []
        again = await content.add(call, LONG_DRAFT)
        assert again.id != long.id
        await content.purge_stale()
        assert (await replica.count_rows(store.id))["chunks"] == again.chunk_count + 1
        assert (await content.read_lines(call, again.id)).text == LONG_DRAFT.text
        assert await replica.list_problems() == []


async def test_the_next_process_finishes_the_deletions_of_a_killed_one(address: str, tmp_path: Path, call: Call):
    async with open_replica(address, tmp_path / "content") as replica:
        store = await replica.content.create_store(call)
        await replica.content.add_many(call, NOTES, store.id)
        await replica.content.delete_store(call, store.id)
        await replica.database.run_transaction(purge_batch, write=True)
    async with open_replica(address, tmp_path / "content") as replica:
        assert "leftovers" in await replica.count_rows(store.id)
        with anyio.fail_after(EVENT_TIMEOUT_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(replica.content.run_forever)
                await replica.find_files(call, "tea")  # the first use
                while await replica.count_rows(store.id):
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()


@pytest.mark.nightly
async def test_several_processes_sweep_while_others_write(address: str, tmp_path: Path, call: Call):
    async with open_replica(address, tmp_path / "one") as one, open_replica(address, tmp_path / "two") as two:
        gone = [await one.content.create_store(call) for _ in range(2)]
        for store in gone:
            await one.content.add_many(call, NOTES, store.id)

        async def write(number: int) -> None:
            for each in range(5):
                await two.content.add(call, ContentDraft(f"coffee {number} {each}", filename=f"{number}.{each}"))

        for store in gone:
            await one.content.delete_store(call, store.id)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one.content.purge_stale)
            tasks.start_soon(two.content.purge_stale)
            for number in range(3):
                tasks.start_soon(write, number)
        await one.content.purge_stale()
        assert [await two.count_rows(store.id) for store in gone] == [{}, {}]
        assert len(await two.find_files(call, "coffee")) == 15
        assert await two.list_problems() == []


async def test_texts_added_while_a_store_is_deleted_leave_no_rows(address: str, tmp_path: Path, call: Call):
    async with open_replica(address, tmp_path / "content") as replica:
        store = await replica.content.create_store(call)
        await replica.content.add_many(call, NOTES, store.id)
        refused = 0

        async def write(number: int) -> None:
            nonlocal refused
            try:
                await replica.content.add(call, ContentDraft(f"late {number}"), store.id)
            except NotFound:
                refused += 1

        async with anyio.create_task_group() as tasks:
            for number in range(5):
                tasks.start_soon(write, number)
            tasks.start_soon(replica.content.delete_store, call, store.id)
            for number in range(5, 10):
                tasks.start_soon(write, number)
        assert refused
        await replica.content.purge_stale()
        assert await replica.count_rows(store.id) == {}
        assert await replica.list_problems() == []


@pytest.mark.nightly
async def test_a_copied_database_hides_and_purges_the_same_rows(tmp_path: Path, call: Call):
    source, target = (
        f"sqlite+aiosqlite:///{sqlite.create_migrated_file(tmp_path / name)}" for name in ("one.db", "two.db")
    )
    async with open_replica(source, tmp_path / "one") as one, open_replica(target, tmp_path / "two") as two:
        store = await one.content.create_store(call)
        await one.content.add_many(call, NOTES, store.id)
        await one.content.add(call, ContentDraft("tea", filename="kept"))
        await one.content.delete_store(call, store.id)
        copy = DatabaseCopy(one.database, two.database)
        assert not [each async for each in copy.copy_tables() if each.left_out]
        assert all([each.is_complete async for each in copy.verify_tables()])
        assert await two.find_files(call, "tea") == {"kept"}
        assert await two.list_problems() == []
        await two.content.purge_stale()
        assert await two.count_rows(store.id) == {}
        assert await two.find_files(call, "tea") == {"kept"}
