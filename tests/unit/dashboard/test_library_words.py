"""Names, ranges and texts of the library are handled for any input."""

import re
import unicodedata
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from starlette.requests import HTTPConnection

from outrider.dashboard.access import ResourceOwner, can_view
from outrider.dashboard.files import RangeNotSatisfiable, parse_range
from outrider.dashboard.labels import build_content_disposition, format_label
from outrider.dashboard.library.preview import cut_part, measure_html_bytes
from outrider.dashboard.library.stores import split_at_matches
from support.fakes import hostile_payloads

ANY_TEXT = st.text(st.characters(codec=None), max_size=300)
HEADER = re.compile(r"""attachment; filename="([^"\\\r\n]+)"; filename\*=UTF-8''([A-Za-z0-9._~%-]+)""")


@given(ANY_TEXT)
@example("\u202egpj.exe")
@example('a"; filename="b.html')
def test_a_header_contains_a_safe_file_name_and_nothing_else(name: str):
    found = HEADER.fullmatch(build_content_disposition(name))
    assert found
    full = unquote(found[2])
    assert found[0].isascii()
    assert not {"/", "\\", "\0", "\r", "\n"} & set(full)
    assert full.strip(" .")
    assert not any(unicodedata.bidirectional(letter) in {"RLO", "LRO", "RLE", "LRE", "RLI", "LRI"} for letter in full)
    assert len(full) <= 130


@pytest.mark.parametrize("name", hostile_payloads.list_hostile_names())
def test_every_hostile_name_becomes_a_file_name(name: str):
    assert HEADER.fullmatch(build_content_disposition(name))


def test_a_name_in_any_script_is_kept_next_to_its_ascii_form():
    assert build_content_disposition("Grüße 日本.txt") == (
        "attachment; filename=\"Gr__e __.txt\"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20%E6%97%A5%E6%9C%AC.txt"
    )


@given(ANY_TEXT, st.integers(2, 50))
def test_a_label_is_one_line_of_visible_characters(text: str, limit: int):
    shown = format_label(text, "nothing", limit)
    assert len(shown) <= max(limit, len("nothing"))
    assert not any(
        unicodedata.category(letter) in {"Cc", "Cf", "Cs"} and letter not in "\u200c\u200d" for letter in shown
    )


@pytest.mark.parametrize(
    ("header", "part"),
    [
        (None, None),
        ("bytes=0-3", (0, 4)),
        ("bytes=4-", (4, 10)),
        ("bytes=-4", (6, 10)),
        ("bytes=-99", (0, 10)),
        ("bytes=8-99", (8, 10)),
        ("bytes=5-4", None),
        ("bytes=0-1,3-4", None),
        ("bytes=-", None),
        ("lines=1-2", None),
        ("bytes=1-x", None),
    ],
)
def test_ranges_are_parsed_as_the_standard_defines(header: str | None, part: tuple[int, int] | None):
    assert parse_range(header, 10) == part


@pytest.mark.parametrize(("header", "size"), [("bytes=10-", 10), ("bytes=-0", 10), ("bytes=0-", 0), ("bytes=-5", 0)])
def test_an_empty_range_is_not_satisfiable(header: str, size: int):
    with pytest.raises(RangeNotSatisfiable):
        parse_range(header, size)


@given(st.text(st.sampled_from("bytes=0123456789-, "), max_size=30), st.integers(0, 50))
def test_no_range_exceeds_the_file(header: str, size: int):
    try:
        part = parse_range(header, size)
    except RangeNotSatisfiable:
        return
    assert part is None or 0 <= part[0] < part[1] <= size


@given(st.text(st.sampled_from("ab<&\"'\n日😀\ud800"), max_size=400), st.integers(8, 100))
def test_the_parts_of_a_text_join_to_the_text_within_their_size_limit(text: str, weight: int):
    start, whole = 0, ""
    while True:
        part = cut_part(text, start, weight)
        assert measure_html_bytes(part.text) <= weight
        whole += part.text
        if part.after is None:
            break
        assert part.after > start
        start = part.after
    assert whole == text


def test_a_part_of_a_text_ends_at_a_line_end_if_possible():
    assert cut_part("first line\nsecond line\nthird", 0, 25).text == "first line\nsecond line\n"


@given(ANY_TEXT, st.lists(st.text(max_size=5), max_size=5))
def test_marking_matches_changes_no_text(text: str, matches: list[str]):
    assert "".join(piece for piece, _ in split_at_matches(text, matches)) == text


def test_whole_words_are_marked_whatever_their_case():
    assert split_at_matches("Tea, teapot and TEA", ["tea"]) == [("Tea", True), (", teapot and ", False), ("TEA", True)]


def test_a_viewer_of_one_workspace_sees_nothing_of_others():
    everybody = HTTPConnection({"type": "http"})
    guest = HTTPConnection({"type": "http", "state": {"workspace": "a"}})
    owners = [ResourceOwner(), ResourceOwner("a", "ann"), ResourceOwner("b")]
    assert [can_view(everybody, owner) for owner in owners] == [True, True, True]
    assert [can_view(guest, owner) for owner in owners] == [False, True, False]
