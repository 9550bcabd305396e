"""Sitemaps are unpacked and read in pieces."""

import gzip
import tracemalloc
from pathlib import Path

import pytest

from outrider.pages.crawl.plan import CrawlPlan
from outrider.pages.crawl.site_map import map_site
from outrider.pages.crawl.sitemap import iter_unpacked, parse_sitemap
from support.fakes.website import FakeSite, SiteAnswer, open_pages

pytestmark = pytest.mark.anyio
HEAD = b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
PLAIN_SITEMAP = b"http://a.example/c\n" * 60_000
XML = HEAD + b"<url><loc>http://a.example/c</loc></url>" * 60_000


@pytest.mark.parametrize("body", [PLAIN_SITEMAP, XML, gzip.compress(PLAIN_SITEMAP), gzip.compress(XML)])
@pytest.mark.nightly
def test_as_many_pages_are_read_as_the_protocol_allows(body: bytes):
    pages, sitemaps = parse_sitemap(iter_unpacked(body))
    assert (len(pages), {page.url for page in pages}, sitemaps) == (50_000, {"http://a.example/c"}, [])


def test_a_plain_text_sitemap_is_read_to_its_last_line():
    for body in (
        b"\xef\xbb\xbf \nhttp://a.example/1\r\nnote\nhttp://a.example/2",
        b"http://a.example/1\nhttp://a.example/2\n",
    ):
        pages, _ = parse_sitemap(iter_unpacked(body))
        assert [page.url for page in pages] == ["http://a.example/1", "http://a.example/2"]
    assert parse_sitemap(iter_unpacked(b"")) == ([], [])


@pytest.mark.parametrize("text", [b"\n", b"a\n", b"http://a"], ids=["breaks", "lines", "one line"])
def test_a_compression_bomb_takes_little_memory(text: bytes):
    packed = gzip.compress(text * (20_000_000 // len(text)), 1)
    tracemalloc.start()
    try:
        assert parse_sitemap(iter_unpacked(packed)) == ([], [])
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.usefixtures("home")
async def test_a_page_that_needs_its_scripts_is_mapped_as_a_browser_shows_it():
    async def render(address: str) -> str:
        return f"<title>App</title><p>{'words of the page ' * 30}</p><a href='{address}drawn'>Drawn</a>"

    site = FakeSite({"/": SiteAnswer("<title>App</title><div id=root></div><script>draw()</script>")})
    async with open_pages(site, render=render) as (pages, url):
        found = await map_site(pages, CrawlPlan(url))
    async with open_pages(site, file=Path.home() / "other.db") as (pages, bare_url):
        bare = await map_site(pages, CrawlPlan(bare_url))
    assert [page.url for page in found.pages.values()] == [f"{url}/", f"{url}/drawn"]
    assert bare.notes == ["the page shows no links without its scripts"]
