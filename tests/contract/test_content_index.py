"""Every keyword index applies its changes all or none, and knows its last change."""

import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.content.lexical.engines.postgres import PostgresIndex
from outrider.content.lexical.file_index import FileIndex
from outrider.content.lexical.index import IndexChanges, IndexEntry, LexicalIndex, Watermark
from outrider.content.lexical.ranking import rank_candidates
from outrider.content.lexical.store_file import StoreFile
from outrider.core.database.database import Database
from support.databases import postgres

pytestmark = pytest.mark.anyio
ENGINES: dict[str, Callable[[Path], LexicalIndex]] = {
    "files": FileIndex,
}
POSTGRES = postgres.find_programs()
EMPTY, ONE, TWO = Watermark(), Watermark(1, "a"), Watermark(2, "b")


@pytest.fixture(scope="module")
def shared_address(server: postgres.PostgresServer) -> str:
    return server.create_migrated_database()


@pytest.fixture(params=[*ENGINES, *(["postgres"] if POSTGRES else [])])
async def index(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[LexicalIndex]:
    if request.param == "postgres":
        async with open_emptied_index(request.getfixturevalue("shared_address")) as made:
            yield made
        return
    made = ENGINES[request.param](tmp_path / "index")
    yield made
    await made.close()


@asynccontextmanager
async def open_emptied_index(address: str) -> AsyncGenerator[LexicalIndex]:
    """The index in a database that other tests have used."""
    database = Database(address)
    made = PostgresIndex(database)
    for store in ("s", "t"):
        await made.clear_store(store)
    yield made
    await made.close()
    await database.close()


def build_entry(chunk: str, terms: str, content: str = "") -> IndexEntry:
    return IndexEntry(chunk, content or chunk, terms, len(terms.split()))


async def fill_index(
    index: LexicalIndex, store: str, *entries: IndexEntry, mark: Watermark = ONE, seen: Watermark = EMPTY
) -> bool:
    dropped = [each.content for each in entries]
    return await index.apply_changes(IndexChanges(store, mark, dropped=dropped, added=entries), seen=seen)


async def test_an_unknown_store_is_empty_and_at_its_beginning(index: LexicalIndex):
    assert await index.read_watermark("s") == Watermark()
    found = await index.find_candidates([("tea",)], ["s"], 10)
    assert (list(found.postings), found.chunks, found.words) == ([], 0, 0)


async def test_candidates_come_with_all_that_ranking_needs(index: LexicalIndex):
    await fill_index(
        index, "s", build_entry("c1", "tea tea green"), build_entry("c2", "tea black"), build_entry("c3", "coffee")
    )
    found = await index.find_candidates([("tea",), ("green",), ("nowhere",)], ["s"], 10)
    assert {each.chunk: (each.length, dict(each.counts)) for each in found.postings} == {
        "c1": (3, {"tea": 2, "green": 1}),
        "c2": (2, {"tea": 1}),
    }
    assert (found.chunks, found.words) == (3, 6)
    assert {term: count for term, count in found.frequency.items() if count} == {"tea": 2, "green": 1}
    assert {each.store for each in found.postings} == {"s"}
    assert await index.read_watermark("s") == ONE


async def test_terms_are_stored_unchanged(index: LexicalIndex):
    written = "日本 本語 über_x straße naïve ไทย user_name हिन्दी x2"
    await fill_index(index, "s", build_entry("c1", written), build_entry("c2", "user name uber"))
    for term in written.split():
        found = await index.find_candidates([(term,)], ["s"], 10)
        assert [each.chunk for each in found.postings] == ["c1"]


async def test_changes_behind_another_processs_watermark_are_not_applied(index: LexicalIndex):
    assert await fill_index(index, "s", build_entry("c1", "tea"), mark=ONE)
    assert not await fill_index(index, "s", build_entry("c2", "tea"), mark=TWO, seen=Watermark())
    assert await index.read_watermark("s") == ONE
    assert [each.chunk for each in (await index.find_candidates([("tea",)], ["s"], 9)).postings] == ["c1"]


async def test_replacing_a_content_leaves_only_its_new_passages(index: LexicalIndex):
    await fill_index(
        index, "s", build_entry("c1.1", "tea", "c1"), build_entry("c1.2", "green tea", "c1"), build_entry("c2", "tea")
    )
    for mark, seen in ((TWO, ONE), (Watermark(3, "c"), TWO)):
        assert await fill_index(index, "s", build_entry("c1.3", "coffee", "c1"), mark=mark, seen=seen)
    found = await index.find_candidates([("tea",), ("coffee",)], ["s"], 9)
    assert sorted(each.chunk for each in found.postings) == ["c1.3", "c2"]
    assert (found.chunks, found.words) == (2, 2)
    assert await index.apply_changes(
        IndexChanges("s", Watermark(4, "d"), dropped=["c1", "c2", "never"]), seen=Watermark(3, "c")
    )
    found = await index.find_candidates([("tea",), ("coffee",)], ["s"], 9)
    assert (list(found.postings), found.chunks, found.words) == ([], 0, 0)


async def test_a_whole_change_replaces_everything(index: LexicalIndex):
    await fill_index(index, "s", build_entry("c1", "tea"), build_entry("c2", "tea"))
    assert await index.apply_changes(
        IndexChanges("s", TWO, is_full=True, added=[build_entry("c3", "tea leaf")]), seen=ONE
    )
    found = await index.find_candidates([("tea",)], ["s"], 9)
    assert [each.chunk for each in found.postings] == ["c3"]
    assert (found.chunks, found.words) == (1, 2)


async def test_stores_are_searched_alone_or_together(index: LexicalIndex):
    await fill_index(index, "s", build_entry("c1", "tea"))
    await fill_index(index, "t", build_entry("c2", "tea leaf"), build_entry("c3", "coffee"))
    assert [each.chunk for each in (await index.find_candidates([("tea",)], ["t"], 9)).postings] == ["c2"]
    found = await index.find_candidates([("tea",)], ["s", "t"], 9)
    assert {each.chunk: each.store for each in found.postings} == {"c1": "s", "c2": "t"}
    assert (found.chunks, found.words, found.frequency["tea"]) == (3, 4, 2)


async def test_a_search_restricted_to_contents_loses_none_of_their_passages(index: LexicalIndex):
    much = [build_entry(f"c{n}", "tea " * 5 + "x", f"d{n}") for n in range(300)]
    await fill_index(index, "s", *much, build_entry("z", "tea and many other words that make it a poor match", "last"))
    found = await index.find_candidates([("tea",)], ["s"], 10, within=["last", "elsewhere"])
    assert [each.chunk for each in found.postings] == ["z"]
    assert found.chunks == 301
    many = [f"d{n}" for n in range(299)] + [f"none{n}" for n in range(1_500)]
    found = await index.find_candidates([("tea",)], ["s"], 500, within=many)
    assert len({each.chunk for each in found.postings}) == 299


async def test_the_best_match_is_among_the_first_candidates(index: LexicalIndex):
    weak = [build_entry(f"w{n}", "tea " + "filler " * 40) for n in range(200)]
    await fill_index(
        index, "s", *weak, build_entry("best", "tea ceremony"), build_entry("other", "ceremony without it")
    )
    found = await index.find_candidates([("tea",), ("ceremony",)], ["s"], 20)
    assert rank_candidates([("tea",), ("ceremony",)], found)[0][0] == "best"


async def test_a_rebuilt_store_is_empty_and_the_others_stay(index: LexicalIndex):
    await fill_index(index, "s", build_entry("c1", "tea"))
    await fill_index(index, "t", build_entry("c2", "tea"))
    await index.clear_store("s")
    await index.clear_store("never")
    assert await index.read_watermark("s") == Watermark()
    assert [each.chunk for each in (await index.find_candidates([("tea",)], ["s", "t"], 9)).postings] == ["c2"]
    assert await fill_index(index, "s", build_entry("c9", "tea"))


async def test_it_is_unchanged_after_closing(index: LexicalIndex):
    await fill_index(index, "s", build_entry("c1", "tea"))
    await index.close()
    assert await index.read_watermark("s") == ONE
    assert len((await index.find_candidates([("tea",)], ["s"], 9)).postings) == 1


async def test_many_tasks_work_on_more_stores_than_are_kept_open(tmp_path: Path):
    index = FileIndex(tmp_path / "index", max_open=3)

    async def work(store: str) -> None:
        seen = Watermark()
        for number in range(1, 6):
            mark = Watermark(number, "x")
            assert await fill_index(index, store, build_entry(f"{store}{number}", "tea"), mark=mark, seen=seen)
            seen = mark
            assert len((await index.find_candidates([("tea",)], [store], 9)).postings) == number

    async with anyio.create_task_group() as tasks:
        for number in range(12):
            tasks.start_soon(work, f"s{number}")
    await index.close()


@pytest.mark.parametrize("damage", [b"", b"no database at all, but long enough to be one " * 500])
async def test_a_damaged_file_is_rebuilt(tmp_path: Path, damage: bytes):
    index = FileIndex(tmp_path / "index")
    await fill_index(index, "s", build_entry("c1", "tea"))
    await index.close()
    [file] = (tmp_path / "index" / "s").glob("*.db")
    file.write_bytes(damage)
    again = FileIndex(tmp_path / "index")
    assert await again.read_watermark("s") == Watermark()
    assert await fill_index(again, "s", build_entry("c1", "tea"))
    await again.close()


async def test_two_instances_on_the_same_files_see_each_others_changes(tmp_path: Path):
    first, second = FileIndex(tmp_path / "index"), FileIndex(tmp_path / "index")
    await fill_index(first, "s", build_entry("c1", "tea"))
    assert await second.read_watermark("s") == ONE
    assert await fill_index(second, "s", build_entry("c2", "tea"), mark=TWO, seen=ONE)
    assert len((await first.find_candidates([("tea",)], ["s"], 9)).postings) == 2
    await first.clear_store("s")
    assert await first.read_watermark("s") == Watermark()
    await first.close()
    await second.close()


async def test_a_search_with_a_watermark_learns_which_stores_are_behind(index: LexicalIndex):
    await fill_index(index, "s", build_entry("c1", "tea"))
    await fill_index(index, "t", build_entry("c2", "tea"), mark=TWO)
    found = await index.find_candidates([("tea",)], ["s", "t"], 9, watermarks={"s": ONE, "t": TWO})
    assert (len(found.postings), list(found.stale_stores)) == (2, [])
    found = await index.find_candidates([("tea",)], ["s", "t"], 9, watermarks={"s": ONE, "t": Watermark(3, "c")})
    assert (len(found.postings), list(found.stale_stores)) == (0, ["t"])


async def test_a_search_in_more_stores_than_are_held_open_finds_all_of_them(tmp_path: Path):
    index = FileIndex(tmp_path / "index", max_open=3)
    stores = [f"s{number}" for number in range(12)]
    for store in stores:
        await fill_index(index, store, build_entry(f"c{store}", "tea"))
    for _ in range(2):
        found = await index.find_candidates([("tea",)], stores, 50)
        assert {each.store for each in found.postings} == set(stores)
    await index.close()


LETTERS = st.sampled_from("abcdefgh")
TEXTS = st.lists(st.lists(LETTERS, min_size=1, max_size=30), min_size=1, max_size=40)


@given(
    stores=st.lists(TEXTS, min_size=1, max_size=3),
    query=st.lists(st.lists(LETTERS, min_size=1, max_size=3, unique=True), min_size=1, max_size=4),
    wanted=st.integers(1, 10),
)
def test_a_limited_search_returns_the_best_of_all(
    tmp_path_factory: pytest.TempPathFactory, stores: list[list[list[str]]], query: list[list[str]], wanted: int
):
    words = [tuple(terms) for terms in query]

    async def compare_indexes() -> None:
        index = FileIndex(tmp_path_factory.mktemp("index"))
        for number, texts in enumerate(stores):
            entries = [build_entry(f"{number}.{at}", " ".join(text)) for at, text in enumerate(texts)]
            await fill_index(index, f"s{number}", *entries)
        names = [f"s{number}" for number in range(len(stores))]
        few = rank_candidates(words, await index.find_candidates(words, names, wanted))
        every = rank_candidates(words, await index.find_candidates(words, names, 1_000))
        assert len(every) == sum(
            bool({*text} & {term for terms in query for term in terms}) for texts in stores for text in texts
        )
        assert [score for _, score in few][:wanted] == [score for _, score in every][:wanted]
        await index.close()

    anyio.run(compare_indexes)


async def test_small_changes_are_merged_and_nothing_of_them_is_lost(tmp_path: Path):
    index = FileIndex(tmp_path / "index")
    seen, there = Watermark(), dict[str, str]()
    for number in range(150):
        gone = [f"d{number - 7}"] if number % 3 == 0 else []
        mark, terms = Watermark(number + 1, "x"), f"tea w{number % 5} " + "tea " * (number % 4)
        added = [build_entry(f"c{number}", terms, f"d{number}")]
        assert await index.apply_changes(IndexChanges("s", mark, dropped=gone, added=added), seen=seen)
        seen, there[f"d{number}"] = mark, terms
        for each in gone:
            there.pop(each, None)
    found = await index.find_candidates([("tea",)], ["s"], 1_000)
    counts = {f"d{each.chunk[1:]}": each.counts["tea"] for each in found.postings}
    assert counts == {content: terms.split().count("tea") for content, terms in there.items()}
    some = await index.find_candidates([("w3",)], ["s"], 1_000)
    assert some.frequency["w3"] == sum("w3" in terms for terms in there.values())
    await index.close()
    file = StoreFile(tmp_path / "index", "s")
    file.check_integrity()
    file.close()
    [place] = (tmp_path / "index" / "s").glob("*.db")
    with closing(sqlite3.connect(place)) as connection:
        assert connection.execute("SELECT count(*) FROM segments").fetchone()[0] < 20


async def test_a_file_of_an_older_layout_is_rebuilt(tmp_path: Path):
    folder = tmp_path / "index" / "s"
    folder.mkdir(parents=True)
    with closing(sqlite3.connect(folder / "old.db")) as connection:
        connection.executescript("""
            CREATE TABLE mark (id INTEGER PRIMARY KEY, generation INTEGER, stamp TEXT, chunks INTEGER, words INTEGER);
            CREATE TABLE chunks (id INTEGER PRIMARY KEY, chunk TEXT, content TEXT, length INTEGER, terms TEXT);
            CREATE VIRTUAL TABLE words USING fts5 (terms, content='chunks', content_rowid='id');
            CREATE VIRTUAL TABLE frequencies USING fts5vocab (words, row);
            INSERT INTO mark VALUES (1, 1, 'a', 1, 1);
            INSERT INTO chunks VALUES (1, 'c1', 'c1', 1, 'tea');
            INSERT INTO words (rowid, terms) VALUES (1, 'tea');
            PRAGMA user_version = 1;
        """)
    index = FileIndex(tmp_path / "index")
    assert await index.read_watermark("s") == Watermark()
    assert await fill_index(index, "s", build_entry("c2", "tea"))
    assert [each.chunk for each in (await index.find_candidates([("tea",)], ["s"], 9)).postings] == ["c2"]
    await index.close()
