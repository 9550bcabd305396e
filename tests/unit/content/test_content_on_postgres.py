"""Content stores on Postgres: rows, keyword index and vectors in one server, from several houses at once."""

from pathlib import Path

import anyio
import pytest

from outrider.content.embedding_settings import EmbeddingSettings
from outrider.content.models import ContentDraft
from outrider.content.search import SearchMode, SearchOptions
from outrider.content.semantic.select_embedder import select_embedder
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


class House:
    """A process of its own, as far as the server can tell."""

    def __init__(self, address: str, folder: Path) -> None:
        self.database = Database(address)
        http = HttpClient(EgressGuard(EgressSettings()))
        embedder = select_embedder(EmbeddingSettings(provider="builtin"), http, {})
        self.content = ContentStores(self.database, folder, embedder=lambda: embedder)

    async def found(self, call: Call, query: str, mode: SearchMode) -> list[str]:
        return [hit.filename for hit in (await self.content.search(call, query, SearchOptions(mode=mode))).hits]

    async def close(self) -> None:
        await self.content.close()
        await self.database.close()


async def test_what_one_house_keeps_another_finds_until_it_is_gone(address: str, tmp_path: Path):
    call = Call(session="one")
    first, second = House(address, tmp_path / "first"), House(address, tmp_path / "second")
    kept = await first.content.add(
        call, ContentDraft("The automobile would not start, its battery was flat.", filename="car")
    )
    await first.content.add(call, ContentDraft("Green tea is steeped at eighty degrees.", filename="tea"))
    for mode in MODES:
        assert (await second.found(call, "car battery", mode))[0] == "car"
        assert await second.found(Call(session="other"), "car battery", mode) == []
    assert await second.found(call, "'quoted' \\ | & ! :* car", "keyword") == []
    assert await second.found(call, "automobile's", "keyword") == ["car"]
    await second.content.update(call, kept.id, ContentDraft("Coffee is roasted.", filename="coffee"))
    assert await first.found(call, "automobile", "keyword") == []
    assert (await first.found(call, "roasting coffee", "hybrid"))[0] == "coffee"
    await first.content.delete(call, kept.id)
    for mode in MODES:
        assert "coffee" not in await second.found(call, "coffee", mode)
    for house in (first, second):
        await house.close()


async def test_two_houses_fill_one_store_at_the_same_time(address: str, tmp_path: Path):
    call = Call(session="two")
    houses = [House(address, tmp_path / f"{number}") for number in range(2)]
    await houses[0].content.get_store(call)

    async def fill(number: int) -> None:
        for each in range(10):
            await houses[number].content.add(call, ContentDraft(f"tea {number} {each}", filename=f"{number}.{each}"))
            await houses[number].found(call, "tea", "keyword")

    async with anyio.create_task_group() as tasks:
        for number in range(2):
            tasks.start_soon(fill, number)
    for house in houses:
        answer = await house.content.search(call, "tea", SearchOptions(top_n=50))
        assert len(answer.hits) == 20
    store = await houses[0].content.get_store(call)
    await houses[0].content.delete_store(call, store.id)
    assert await houses[1].found(call, "tea", "keyword") == []
    for house in houses:
        await house.close()
