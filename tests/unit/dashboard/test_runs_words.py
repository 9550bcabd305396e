"""Untrusted texts on a page: limits on their space, and characters in them that must be visible."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.dashboard.runs.sanitize import (
    build_argument_views,
    cut_excerpt,
    escape_invisible,
    excerpt_result,
    format_arguments,
    sanitize_url,
)


@given(st.text(max_size=400), st.integers(40, 300))
def test_an_excerpt_stays_within_its_size_limit(text: str, limit: int):
    cut = cut_excerpt(text, limit)
    assert len(html.escape(cut.text).encode("utf-8", "replace")) <= limit * 6 / 5
    assert text.startswith(cut.text)
    assert cut.is_cut == (cut.text != text)


def test_markers_around_untrusted_text_become_a_label():
    wrapped = "<untrusted-12 from='web_fetch'>\nTea is a drink.\n</untrusted-12>"
    shown = excerpt_result(wrapped, 1_000)
    assert (shown.text, shown.stranger) == ("Tea is a drink.", "web_fetch")
    forged = "<untrusted-12 from='web_fetch'>\nTea.\n</untrusted-13>"
    assert excerpt_result(forged, 1_000).text == forged


@pytest.mark.parametrize(
    ("hidden", "spelled"),
    [
        ("pay \u202eexe.gnp", "pay \\u202eexe.gnp"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("null\x00", "null\\u0000"),
        ("line\u2028", "line\\u2028"),
    ],
)
def test_invisible_characters_are_escaped(hidden: str, spelled: str):
    assert escape_invisible(hidden) == spelled
    assert build_argument_views({"to": hidden}, 500)[0].value.text == spelled
    assert spelled in format_arguments({"to": hidden})


def test_text_in_any_language_is_unchanged():
    assert escape_invisible("Grüße, 世界, ελληνικά\n\tשלום") == "Grüße, 世界, ελληνικά\n\tשלום"


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "https:", "//e.example", "http://[", "", None, 7, " https"]
)
def test_only_web_addresses_become_links(address: object):
    assert sanitize_url(address) == ""


def test_web_addresses_are_kept():
    assert sanitize_url("https://e.example/a?b=c") == "https://e.example/a?b=c"


def test_arguments_keep_their_names_and_show_where_they_are_cut():
    code, number = build_argument_views({"code": "x" * 900, "n": 3}, 300)
    assert code.value.is_cut
    assert (number.name, number.value.text, number.is_code) == ("n", "3", True)
    assert build_argument_views(None, 100) == []
    assert build_argument_views(["a"], 100)[0].value.text == '["a"]'
