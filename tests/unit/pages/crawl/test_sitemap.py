"""Sitemaps are unpacked and read in pieces."""

import gzip
import tracemalloc
from pathlib import Path

import anyio
import pytest

from outrider.pages.crawl.plan import CrawlPlan
from outrider.pages.crawl.site_map import map_site
from outrider.pages.crawl.sitemap import iter_entries, iter_unpacked, parse_sitemap
from support.fakes.website import FakeSite, SiteAnswer, open_pages
from support.timeouts import SCENARIO_TIMEOUT_S

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


async def test_four_sitemaps_of_an_index_are_read_at_once_and_listed_in_its_order():
    index = "".join(f"<sitemap><loc>http://a.example/s{number}.xml</loc></sitemap>" for number in range(6))
    under_way: list[str] = []
    gate = anyio.Event()

    async def fetch(address: str) -> bytes:
        if address.endswith("index.xml"):
            return f"<sitemapindex>{index}</sitemapindex>".encode()
        under_way.append(address)
        if len(under_way) == 4:
            gate.set()
        await gate.wait()
        return HEAD + f"<url><loc>{address}/page</loc></url>".encode()

    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        found = [entry.url async for entry in iter_entries(fetch, ["http://a.example/index.xml"], {})]
    assert found == [f"http://a.example/s{number}.xml/page" for number in range(6)]


@pytest.mark.usefixtures("home")
async def test_addresses_that_differ_in_a_slash_at_the_end_are_one_page():
    links = "<a href=/tea/>Tea</a><a href=/tea>Our tea</a><a href=/milk>Milk</a><a href='/tea?x=/'>Offer</a>"
    sitemap = HEAD + b"<url><loc>/tea</loc></url><url><loc>/milk/</loc></url></urlset>"
    site = FakeSite({"/": SiteAnswer(links), "/sitemap.xml": SiteAnswer(sitemap, "application/xml")})
    async with open_pages(site) as (pages, url):
        found = await map_site(pages, CrawlPlan(url))
    listed = {page.url.removeprefix(url): (page.title, page.sources) for page in found.pages.values()}
    assert listed == {
        "/": ("", ["links"]), "/tea": ("Our tea", ["links", "sitemap"]), "/tea?x=/": ("Offer", ["links"]),
        "/milk/": ("Milk", ["sitemap", "links"]),
    }  # fmt: skip
