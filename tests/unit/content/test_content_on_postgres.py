"""Content stores on Postgres: rows, keyword index and vectors in one server, used by several replicas at once."""

from pathlib import Path

import anyio
import pytest

from outrider.content.models import ContentDraft
from outrider.content.search import SearchMode, SearchOptions
from outrider.content.semantic.select_embedder import select_embedder
from outrider.content.settings import EmbeddingSettings
from outrider.content.stores import ContentStores
from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.egress.guard import EgressGuard
from outrider.core.egress.policy import EgressSettings
from outrider.core.http import HttpClient
from support.databases import postgres

pytestmark = pytest.mark.anyio
MODES: tuple[SearchMode, ...] = ("keyword", "semantic", "hybrid")


@pytest.fixture(scope="module")
def address(server: postgres.PostgresServer) -> str:
    return server.create_migrated_database()


class Replica:
    """Connect to the server like a separate process."""

    def __init__(self, address: str, folder: Path) -> None:
        self.database = Database(address)
        http = HttpClient(EgressGuard(EgressSettings()))
        embedder = select_embedder(EmbeddingSettings(provider="builtin"), http, {})
        self.content = ContentStores(self.database, folder, embedder=lambda: embedder)

    async def find_files(self, call: Call, query: str, mode: SearchMode) -> list[str]:
        return [hit.filename for hit in (await self.content.search(call, query, SearchOptions(mode=mode))).hits]

    async def close(self) -> None:
        await self.content.close()
        await self.database.close()


async def test_a_text_added_by_one_replica_is_found_by_another_until_it_is_deleted(address: str, tmp_path: Path):
    call = Call(session="one")
    first, second = Replica(address, tmp_path / "first"), Replica(address, tmp_path / "second")
    kept = await first.content.add(
        call, ContentDraft("The automobile would not start, its battery was flat.", filename="car")
    )
    await first.content.add(call, ContentDraft("Green tea is steeped at eighty degrees.", filename="tea"))
    for mode in MODES:
        assert (await second.find_files(call, "car battery", mode))[0] == "car"
        assert await second.find_files(Call(session="other"), "car battery", mode) == []
    assert await second.find_files(call, "'quoted' \\ | & ! :* car", "keyword") == []
    assert await second.find_files(call, "automobile's", "keyword") == ["car"]
    await second.content.update(call, kept.id, ContentDraft("Coffee is roasted.", filename="coffee"))
    assert await first.find_files(call, "automobile", "keyword") == []
    assert (await first.find_files(call, "roasting coffee", "hybrid"))[0] == "coffee"
    await first.content.delete(call, kept.id)
    for mode in MODES:
        assert "coffee" not in await second.find_files(call, "coffee", mode)
    for replica in (first, second):
        await replica.close()


@pytest.mark.nightly
async def test_two_replicas_fill_one_store_at_the_same_time(address: str, tmp_path: Path):
    call = Call(session="two")
    replicas = [Replica(address, tmp_path / f"{number}") for number in range(2)]
    await replicas[0].content.get_store(call)

    async def fill(number: int) -> None:
        for each in range(10):
            await replicas[number].content.add(call, ContentDraft(f"tea {number} {each}", filename=f"{number}.{each}"))
            await replicas[number].find_files(call, "tea", "keyword")

    async with anyio.create_task_group() as tasks:
        for number in range(2):
            tasks.start_soon(fill, number)
    for replica in replicas:
        answer = await replica.content.search(call, "tea", SearchOptions(top_n=50))
        assert len(answer.hits) == 20
    store = await replicas[0].content.get_store(call)
    await replicas[0].content.delete_store(call, store.id)
    assert await replicas[1].find_files(call, "tea", "keyword") == []
    for replica in replicas:
        await replica.close()
