import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.search.hits import clean_text, parse_url, to_hits
from outrider.search.provider import Query

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
JSON: st.SearchStrategy[Any] = (
    SCALARS | st.lists(SCALARS, max_size=2) | st.builds(lambda value: {"src": value}, SCALARS)
)
FIELD_NAMES = (
    "title",
    "url",
    "snippet",
    "published",
    "score",
    "image_url",
    "page_url",
    "thumbnail_url",
    "width",
    "height",
)
QUERY = Query("q")


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("<b>tea</b> &amp; <em class='x'>cake</em>", "tea & cake"),
        ("one<br/>two", "one two"),
        ("<p>one</p><p>two</p>", "one two"),
        ("if a < b and c > d", "if a < b and c > d"),
        ("std::vector<int> x", "std::vector<int> x"),
        ("a<script>alert(1)</script>b<!-- hidden -->c", "a b c"),
        ("zero\u200bwidth\u202e and\u00a0space", "zerowidth and space"),
        ("  many \n\n lines ", "many lines"),
        (["first", 2, "second"], "first … second"),
        (None, ""),
        ({"text": "x"}, ""),
    ],
)
def test_text_is_cleaned_to_what_a_reader_would_see(raw, shown):
    assert clean_text(raw) == shown


@pytest.mark.parametrize(
    ("raw", "valid"),
    [
        ("https://a.example/?x=1&amp;y=2", "https://a.example/?x=1&y=2"),
        ({"src": "https://a.example/t.png"}, "https://a.example/t.png"),
        ("//a.example/x", "https://a.example/x"),
        ("javascript:alert(1)", None),
        ("data:image/png;base64,AAAA", None),
        ("ftp://a.example", None),
        ("https://", None),
        ("a.example", None),
        ("https://a.example/x y", None),
        (7, None),
    ],
)
def test_only_addresses_that_can_be_opened_are_kept(raw, valid):
    assert parse_url(raw) == valid


@given(st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(FIELD_NAMES, JSON)), max_size=4))
def test_any_item_can_be_cleaned(items):
    for query in (QUERY, Query("q", mode="image")):
        for hit in to_hits(items, query, "p"):
            assert hit.title
            assert hit.url.startswith(("http://", "https://", "HTTP", "Http"))
            assert hit.score is None or math.isfinite(hit.score)


def test_items_without_title_or_address_are_dropped_and_ranks_close_up():
    items = [{"title": "", "url": "https://a.example"}, {"title": "b"}, {"title": "c", "url": "https://c.example"}]
    assert [(hit.rank, hit.title) for hit in to_hits(items, QUERY, "p")] == [(1, "c")]


def test_sizes_come_as_numbers_or_as_text():
    items = [{"title": "a", "image_url": "https://a.example/i.png", "width": "640", "height": 480.0}]
    hit = to_hits(items, Query("q", mode="image"), "p")[0]
    assert (hit.width, hit.height, hit.url) == (640, 480, "https://a.example/i.png")


def test_long_texts_are_cut():
    hit = to_hits([{"title": "t " * 900, "url": "https://a.example", "snippet": "s " * 9_000}], QUERY, "p")[0]
    assert len(hit.title) <= 300
    assert len(hit.snippet) <= 1_000


def test_an_address_that_contains_a_key_is_dropped():
    items = [{"title": "x", "url": "https://a.example/?api_key=s3cretk3yvalue"}]
    assert to_hits(items, QUERY, "p", ["s3cretk3yvalue"]) == []
