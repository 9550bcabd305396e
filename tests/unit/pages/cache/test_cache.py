"""The cache survives damage, respects its limit, and never prevents reading."""

import logging
import signal
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import pytest

from outrider.core.database.database import Database
from outrider.pages.cache.cache import PageCache, canonicalize_url
from outrider.pages.options import ReadOptions
from support.fakes.website import FakeClock, FakeSite, SiteAnswer, open_pages

pytestmark = pytest.mark.anyio
LONG_HTML = "<p>" + " ".join(f"word{number}" for number in range(4_000))


@pytest.mark.parametrize(
    ("address", "canonical"),
    [
        ("https://a.b/x?utm_source=y&id=1&fbclid=z", "https://a.b/x?id=1"),
        ("https://a.b/x?utm_campaign=y", "https://a.b/x"),
        ("https://a.b/x?b=2&a=1", "https://a.b/x?b=2&a=1"),
        ("https://a.b/x", "https://a.b/x"),
    ],
)
def test_tracking_parameters_are_removed_from_addresses(address: str, canonical: str):
    assert canonicalize_url(address) == canonical


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE pages SET document = x'00'",
        "UPDATE pages SET document = substr(document, 1, length(document) - 9)",
        "UPDATE pages SET html = 'not compressed'",
        "UPDATE pages SET document = x'789c030000000001'",
    ],
)
async def test_a_damaged_row_is_ignored(tmp_path: Path, damage: str):
    site = FakeSite()
    async with open_pages(site, file=tmp_path / "p.db") as (pages, url):
        first = await pages.read(f"{url}/article.html")
        with closing(sqlite3.connect(tmp_path / "p.db")) as connection, connection:
            connection.execute(damage)
        connection.close()
        again = await pages.read(f"{url}/article.html")
    assert again.document == first.document
    assert len(site.requests) == 2


async def test_the_least_recently_used_pages_are_removed_first(tmp_path: Path):
    site, clock = FakeSite({f"/{number}": SiteAnswer(LONG_HTML + str(number)) for number in range(8)}), FakeClock()
    async with open_pages(site, clock=clock, file=tmp_path / "p.db", cache_bytes=400_000) as (pages, url):
        for number in range(8):
            clock.now += 61
            await pages.read(f"{url}/{number}")
            clock.now += 61
            await pages.read(f"{url}/0", ReadOptions(max_age=10_000))
        assert len(await pages.search_cached("word1", 20)) < 8
        with closing(sqlite3.connect(tmp_path / "p.db")) as connection, connection:
            cached = {row[0].rpartition("/")[2] for row in connection.execute("SELECT url FROM pages")}
            size = connection.execute("SELECT sum(size) FROM pages").fetchone()[0]
            words = connection.execute("SELECT count(*) FROM page_words").fetchone()[0]
        connection.close()
    assert {"0", "7"} <= cached
    assert "1" not in cached
    assert size <= 400_000
    assert words == len(cached)


async def test_without_a_database_pages_are_read_and_one_warning_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    (tmp_path / "p.db").write_bytes(b"this is no database" * 100)
    site = FakeSite()
    with caplog.at_level(logging.WARNING, "outrider.pages"):
        async with open_pages(site, file=tmp_path / "p.db") as (pages, url):
            for _ in range(3):
                assert (await pages.read(f"{url}/note.md")).document.title == "A note"
    assert len(site.requests) == 3
    assert len([record for record in caplog.records if "without their cache" in record.message]) == 1


async def test_a_cache_of_size_zero_stores_nothing(tmp_path: Path):
    site = FakeSite()
    async with open_pages(site, file=tmp_path / "p.db", cache_bytes=0) as (pages, url):
        await pages.read(f"{url}/note.md")
        await pages.read(f"{url}/note.md")
    assert len(site.requests) == 2
    assert not (tmp_path / "p.db").exists()


@pytest.mark.nightly
async def test_a_killed_writer_leaves_a_readable_database(tmp_path: Path):
    script = """
        import anyio, itertools, pathlib, sys
        from outrider.core.database.database import Database
        from outrider.pages.cache.cache import CacheEntry, PageCache
        from outrider.pages.document import Document
        from outrider.pages.fetched_page import FetchedPage

        async def main():
            cache = PageCache(Database.from_file(pathlib.Path(sys.argv[1])), 10**9)
            for number in itertools.count():
                text = f"tide {number} " * 2_000
                url = f"https://a.b/{number}"
                page = FetchedPage(url, url, 200, "text/html", 0.0, Document(text, text), text)
                await cache.put(CacheEntry(page, 0.0, 0.0, "", ""), main=True)
                print(number, flush=True)

        anyio.run(main)
    """
    file = tmp_path / "p.db"
    command = [sys.executable, "-c", textwrap.dedent(script), str(file)]
    for wanted in (3, 11):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout
            while int(writer.stdout.readline()) < wanted:
                pass
            writer.send_signal(signal.SIGKILL)
    database = Database.from_file(file)
    cached = [await PageCache(database, 10**9).get(f"https://a.b/{number}", main=True) for number in range(12)]
    await database.close()
    with closing(sqlite3.connect(file)) as connection, connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("INSERT INTO page_words(page_words) VALUES ('integrity-check')").rowcount >= -1
    connection.close()
    assert all(each and each.page.document.text.startswith("tide") for each in cached)
