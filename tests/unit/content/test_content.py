"""Content stores on SQLite and Postgres: rows and indexes agree after any sequence of events."""

import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from outrider.content.lexical.file_index import FileIndex
from outrider.content.models import ContentDraft, ContentRecord
from outrider.content.search import SearchOptions
from outrider.content.stores import ContentStores
from outrider.core.context import Call
from outrider.core.database.database import Database
from support.databases import postgres, sqlite

pytestmark = pytest.mark.anyio
POSTGRES = postgres.find_programs()
EVIL = "nul \0 lone \ud800 surrogate, 日本語\r\nand\ra\u2028line 👨\u200d👩\u200d👧 e\u0301"


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
    return Call(session=request.node.name)


@asynccontextmanager
async def open_stores(address: str, folder: Path) -> AsyncGenerator[ContentStores]:
    database = Database(address)
    content = ContentStores(database, folder)
    yield content
    await content.close()
    await database.close()


async def search_ids(content: ContentStores, call: Call, query: str, **options: Any) -> set[str]:
    found = await content.search(call, query, SearchOptions(top_n=100, **options))
    return {hit.content_id for hit in found.hits}


async def text_of(content: ContentStores, call: Call, record: ContentRecord) -> str:
    return (await content.read_lines(call, record.id)).text


@pytest.mark.nightly
async def test_texts_are_returned_unchanged_and_found(address: str, tmp_path: Path, call: Call):
    async with open_stores(address, tmp_path / "content") as content:
        texts = ["plain tea", EVIL, "  blanks stay \n\n", "x" * 5_000, "# One\r\n\r\nword " * 900, "\n" * 5_000]
        records = [await content.add(call, ContentDraft(text)) for text in texts]
        for text, record in zip(texts, records, strict=True):
            kept = text.replace("\0", "\ufffd").replace("\ud800", "?")
            assert await text_of(content, call, record) == kept
        assert await search_ids(content, call, "日本") == {records[1].id}
        assert await search_ids(content, call, "teas") == {records[0].id}


async def test_any_range_of_lines_is_read_as_an_editor_would_count_them(address: str, tmp_path: Path, call: Call):
    lines = [f"line {n} {'word ' * (n % 300)}" + ("\n", "\r\n", "\r")[n % 3] for n in range(1, 400)]
    async with open_stores(address, tmp_path / "content") as content:
        record = await content.add(call, ContentDraft("".join(lines)))
        assert record.line_count == len(lines)
        for first, last in ((1, 1), (2, 5), (120, 121), (399, 399), (1, 399), (250, None), (300, 9_999)):
            passage = await content.read_lines(call, record.id, first, last)
            assert passage.text == "".join(lines[first - 1 : last])


async def test_the_empty_text_is_kept_and_has_no_lines(address: str, tmp_path: Path, call: Call):
    async with open_stores(address, tmp_path / "content") as content:
        record = await content.add(call, ContentDraft(""))
        assert (record.line_count, record.chunk_count) == (0, 0)
        renamed = await content.update(call, record.id, filename="nothing.txt")
        assert (renamed.filename, renamed.version) == ("nothing.txt", 2)


@pytest.mark.nightly
async def test_a_lost_index_is_rebuilt_from_the_rows(address: str, tmp_path: Path, call: Call):
    async with open_stores(address, tmp_path / "content") as content:
        kept = [await content.add(call, ContentDraft(f"tea number{n}")) for n in range(20)]
    shutil.rmtree(tmp_path / "content", ignore_errors=True)
    async with open_stores(address, tmp_path / "content") as content:
        assert await search_ids(content, call, "tea") == {each.id for each in kept}


@pytest.mark.nightly
async def test_an_index_picks_up_changes_of_other_processes(address: str, tmp_path: Path, call: Call):
    async with (
        open_stores(address, tmp_path / "one") as one,
        open_stores(address, tmp_path / "two") as two,
    ):
        first = await one.add(call, ContentDraft("green tea"))
        second = await one.add(call, ContentDraft("black tea"))
        assert await search_ids(two, call, "tea") == {first.id, second.id}
        await two.update(call, first.id, ContentDraft("plain water"))
        await two.delete(call, second.id)
        assert await search_ids(one, call, "tea") == set()
        assert await search_ids(one, call, "water") == {first.id}
        await one.purge_stale()
        await one.rebuild_indexes((await one.get_store(call)).id)
        assert await search_ids(one, call, "water") == {first.id}


@pytest.mark.nightly
async def test_equal_texts_added_at_once_are_stored_once(address: str, tmp_path: Path, call: Call):
    async with open_stores(address, tmp_path / "content") as content:
        await content.get_store(call)
        got: list[str] = []

        async def add() -> None:
            got.append((await content.add(call, ContentDraft("the very same words"))).id)

        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(add)
        assert len(set(got)) == 1
        assert len(await search_ids(content, call, "same")) == 1


async def test_concurrent_changes_to_one_store_lose_nothing(address: str, tmp_path: Path, call: Call):
    async with open_stores(address, tmp_path / "content") as content:

        async def work(number: int) -> None:
            record = await content.add(call, ContentDraft(f"tea of task{number}"))
            await content.update(call, record.id, ContentDraft(f"coffee of task{number}"))
            gone = await content.add(call, ContentDraft(f"water of task{number}"))
            await content.delete(call, gone.id)

        async with anyio.create_task_group() as tasks:
            for number in range(10):
                tasks.start_soon(work, number)
        assert len(await search_ids(content, call, "coffee")) == 10
        assert await search_ids(content, call, "tea water") == set()


async def test_a_deleted_store_leaves_nothing_behind(address: str, tmp_path: Path, call: Call):
    async with open_stores(address, tmp_path / "content") as content:
        store = await content.create_store(call, "short-lived")
        record = await content.add(call, ContentDraft("tea"), store.id)
        await content.delete_store(call, store.id)
        assert (await content.list_stores(call))[1] == 0
        assert await search_ids(content, call, "tea") == set()
        again = await content.add(call, ContentDraft("tea"))
        assert again.id != record.id


async def test_a_source_that_is_read_again_replaces_its_earlier_text(address: str, tmp_path: Path, call: Call):
    async with open_stores(address, tmp_path / "content") as content:
        page = ContentDraft("old words", source="https://example.org/a")
        first = await content.upsert_by_source(call, page)
        assert (await content.upsert_by_source(call, page)).version == 1
        second = await content.upsert_by_source(call, ContentDraft("new words", source="https://example.org/a"))
        assert (second.id, second.version) == (first.id, 2)
        assert await search_ids(content, call, "old") == set()


async def test_queries_in_any_script_and_with_any_symbols_are_harmless(address: str, tmp_path: Path, call: Call):
    async with open_stores(address, tmp_path / "content") as content:
        record = await content.add(call, ContentDraft('O\'Neill said: 100% of C++ (and SQL) is "tea" & AND OR NOT *'))
        for query in (
            '"',
            "'; DROP TABLE contents; --",
            "AND",
            "a OR",
            "NEAR(a b)",
            "*",
            "\0",
            "😀",
            EVIL,
            "x" * 2_000,
        ):
            await content.search(call, query)
        assert await search_ids(content, call, "tea\" OR 'x") == {record.id}
        assert await search_ids(content, call, "100%") == {record.id}
        assert await search_ids(content, call, "tea", source="'; DROP TABLE contents; --") == set()


async def test_an_index_of_another_copy_of_the_database_is_rebuilt(tmp_path: Path, call: Call):
    """Restore an older copy of the file, and change it differently up to the same change count."""
    address = f"sqlite+aiosqlite:///{tmp_path / 'outrider.db'}"
    async with open_stores(address, tmp_path / "content") as content:
        await content.add(call, ContentDraft("green tea"))
    shutil.copy(tmp_path / "outrider.db", tmp_path / "backup.db")
    async with open_stores(address, tmp_path / "content") as content:
        await content.add(call, ContentDraft("lost coffee"))
    for file in tmp_path.glob("outrider.db*"):
        file.unlink()
    shutil.copy(tmp_path / "backup.db", tmp_path / "outrider.db")
    async with open_stores(address, tmp_path / "content") as content:
        assert await search_ids(content, call, "coffee") == set()
        kept = await content.add(call, ContentDraft("white tea"))
        assert kept.id in await search_ids(content, call, "tea")
        assert await search_ids(content, call, "coffee") == set()
        store = await content.get_store(call)
        index = FileIndex(tmp_path / "content" / "keywords")
        found = await index.find_candidates([("coffee",)], [store.id], 10)
        await index.close()
        assert (list(found.postings), found.chunks) == ([], 2)


@pytest.mark.nightly
async def test_ten_megabytes_in_one_line_are_stored_found_and_read_in_part(tmp_path: Path, call: Call):
    address = f"sqlite+aiosqlite:///{tmp_path / 'outrider.db'}"
    text = "head\n" + "some words of no weight. " * 395_000 + "the needle is here\ntail"
    async with open_stores(address, tmp_path / "content") as content:
        record = await content.add(call, ContentDraft(text))
        [hit] = (await content.search(call, "needle")).hits
        assert (hit.from_line, hit.to_line) == (2, 3)
        assert text[hit.start : hit.end] == hit.text
        assert (await content.read_lines(call, record.id, 3)).text == "tail"


async def test_unrequested_texts_are_deleted_when_unused_for_long(tmp_path: Path, call: Call):
    address = f"sqlite+aiosqlite:///{tmp_path / 'outrider.db'}"
    read, asked = ContentDraft("only read", source="https://a.example", unasked=True), ContentDraft("asked for")
    async with open_stores(address, tmp_path / "content") as content:
        await content.upsert_by_source(call, read)
        both = await content.upsert_by_source(
            call, ContentDraft("read, then asked for", source="https://b.example", unasked=True)
        )
        assert (await content.add(call, ContentDraft("read, then asked for"))).id == both.id
        await content.upsert_by_source(
            call, ContentDraft("asked for and read again", source="https://b.example", unasked=True)
        )
        await content.add(call, asked)
        await content.purge_stale()
        assert len(await search_ids(content, call, "only asked")) == 3
        await content.purge_stale(keep_days=1e-9)
        left = {each.preview for each in (await content.list_records(call))[0]}
        assert left == {"asked for and read again", "asked for"}
        assert await search_ids(content, call, "only") == set()
