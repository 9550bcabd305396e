"""Sitemaps are unpacked and read in pieces."""

import gzip
import tracemalloc

import pytest

from outrider.pages.crawl.sitemap import iter_unpacked, parse_sitemap

HEAD = b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
PLAIN_SITEMAP = b"http://a.example/c\n" * 60_000
XML = HEAD + b"<url><loc>http://a.example/c</loc></url>" * 60_000


@pytest.mark.parametrize("body", [PLAIN_SITEMAP, XML, gzip.compress(PLAIN_SITEMAP), gzip.compress(XML)])
def test_as_many_pages_are_read_as_the_protocol_allows(body: bytes):
    pages, sitemaps = parse_sitemap(iter_unpacked(body))
    assert (len(pages), {page.url for page in pages}, sitemaps) == (50_000, {"http://a.example/c"}, [])


def test_a_short_text_is_read_to_its_last_line():
    for body in (
        b"\xef\xbb\xbf \nhttp://a.example/1\r\nnote\nhttp://a.example/2",
        b"http://a.example/1\nhttp://a.example/2\n",
    ):
        pages, _ = parse_sitemap(iter_unpacked(body))
        assert [page.url for page in pages] == ["http://a.example/1", "http://a.example/2"]
    assert parse_sitemap(iter_unpacked(b"")) == ([], [])


@pytest.mark.parametrize("text", [b"\n", b"a\n", b"http://a"], ids=["breaks", "lines", "one line"])
def test_a_packed_bomb_takes_little_memory(text: bytes):
    packed = gzip.compress(text * (20_000_000 // len(text)), 1)
    tracemalloc.start()
    try:
        assert parse_sitemap(iter_unpacked(packed)) == ([], [])
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
