"""The list of cached pages."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from outrider.core.database.database import Database
from outrider.core.errors import NotFound
from outrider.pages.cache.cache import CacheEntry, PageCache
from outrider.pages.cache.page_list import list_pages, load_page
from outrider.pages.document import Document
from outrider.pages.fetched_page import FetchedPage
from support.databases import sqlite

pytestmark = pytest.mark.anyio


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    opened = Database.from_file(sqlite.create_migrated_file(tmp_path / "outrider.db"))
    yield opened
    await opened.close()


async def keep(database: Database, path: str, title: str, at: float) -> None:
    url = f"https://example.org/{path}"
    page = FetchedPage(url, url, 200, "text/html", at, Document(f"About {title}", title=title), f"<h1>{title}</h1>")
    await PageCache(database, 10_000_000).put(CacheEntry(page, at, at, "", ""), main=True)


async def test_kept_pages_are_listed_in_parts_and_found_by_title_and_address(database: Database):
    await keep(database, "tea", "Tea", 1.0)
    await keep(database, "milk", "Milk_and 100%", 2.0)
    await keep(database, "rum", "Rum", 3.0)
    first = await list_pages(database, limit=2)
    assert [each.title for each in first.items] == ["Rum", "Milk_and 100%"]
    assert [each.title for each in (await list_pages(database, limit=2, after=first.after)).items] == ["Tea"]
    assert [each.title for each in (await list_pages(database, text="k_AND 100%")).items] == ["Milk_and 100%"]
    assert [each.title for each in (await list_pages(database, text="org/te")).items] == ["Tea"]


async def test_a_kept_page_is_opened_by_its_key(database: Database):
    await keep(database, "tea", "Tea", 1.0)
    key = (await list_pages(database)).items[0].key
    page = await load_page(database, key)
    assert (page.document.markdown, page.html) == ("About Tea", "<h1>Tea</h1>")
    with pytest.raises(NotFound):
        await load_page(database, "0" * 64)
