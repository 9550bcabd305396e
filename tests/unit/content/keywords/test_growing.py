"""A store that becomes large moves to the large index, with all that it has, and stays there."""

from pathlib import Path

import pytest

from outrider.content import Content, Draft, SearchOptions
from outrider.content.keywords.engines.growing import GrowingIndex
from outrider.content.keywords.engines.tantivy import TantivyIndex
from outrider.content.keywords.file_index import FileIndex
from outrider.content.keywords.index import Mark
from outrider.core.context import Call
from outrider.core.db import Database
from support.databases import sqlite

pytestmark = pytest.mark.anyio
CALL = Call(session="s")


class House:
    """A content store over an index of two, small ones up to three chunks."""

    def __init__(self, folder: Path) -> None:
        self.small, self.large = FileIndex(folder / "small"), TantivyIndex(folder / "large")
        self.database = Database.file(sqlite.migrated(folder / "x.db"))
        index = GrowingIndex(self.small, self.large, limit=3)
        self.content = Content(self.database, folder / "content", index=index)

    async def found(self, query: str) -> set[str]:
        return {hit.filename for hit in (await self.content.search(CALL, query, SearchOptions())).hits}

    async def close(self) -> None:
        await self.content.close()
        await self.database.close()


async def test_a_growing_store_moves_and_all_of_it_is_found(tmp_path: Path):
    house = House(tmp_path)
    store = await house.content.store(CALL)
    for number in range(3):
        await house.content.add(CALL, Draft(f"tea number {number}", filename=f"{number}"))
    assert await house.found("tea") == {"0", "1", "2"}
    assert not house.large.holds(store.id)
    record = await house.content.add(CALL, Draft("tea number three", filename="3"))
    assert await house.found("tea") == {"0", "1", "2", "3"}
    assert house.large.holds(store.id)
    assert await house.small.generation(store.id) == Mark()
    await house.content.delete(CALL, record.id)
    assert await house.found("tea") == {"0", "1", "2"}
    await house.close()
    again = House(tmp_path)
    assert await again.found("tea number") == {"0", "1", "2"}
    assert await again.small.generation(store.id) == Mark()
    await again.content.delete_store(CALL, store.id)
    assert not again.large.holds(store.id)
    await again.close()


async def test_two_processes_may_write_to_one_large_store(tmp_path: Path):
    first, second = House(tmp_path), House(tmp_path)
    for number in range(8):
        house = first if number % 2 else second
        await house.content.add(CALL, Draft(f"tea number {number}", filename=f"{number}"))
    for house in (first, second):
        assert len(await house.found("tea")) == 8
        await house.close()
