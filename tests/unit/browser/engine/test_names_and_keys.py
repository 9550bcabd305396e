"""Names, keys, addresses and messages."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.browser.page.file_names import make_safe_name
from outrider.browser.protocol.keys import MODIFIER_BITS, find_key, parse_chord
from outrider.browser.protocol.redact import clean_message, clean_url
from outrider.core.errors import InvalidInput


@given(st.text(max_size=400))
def test_a_safe_name_is_one_file_in_one_folder(suggested):
    name = make_safe_name(suggested)
    assert name
    assert len(name) <= 130
    assert not set(name) & set('/\\:*?"<>|\0\n\u202e')
    assert ".." not in name
    assert not name.startswith(".")
    assert (Path("/folder") / name).parent == Path("/folder")
    assert make_safe_name(name) == name


@pytest.mark.parametrize(
    ("suggested", "name"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Windows\\x.dll", "x.dll"),
        ("con.txt", "download_con.txt"),
        ("", "download"),
        ("...", "download"),
        ("a" * 300 + ".tar", "a" * 116 + ".tar"),
        ("Überraschung.docx", "Überraschung.docx"),
    ],
)
def test_suggested_names_stay_recognisable(suggested, name):
    assert make_safe_name(suggested) == name


@pytest.mark.parametrize(
    ("url", "clean"),
    [
        ("https://user:pass@example.com/a?b=c#d", "https://example.com/a"),
        ("https://example.com:8443/a;p?x", "https://example.com:8443/a;p"),
        ("data:text/html;base64,AAAA", "data:text/html;base64"),
        ("http://[broken?x=1", "http://[broken"),
    ],
)
def test_logged_addresses_hold_no_query_and_no_user(url, clean):
    assert clean_url(url) == clean


@pytest.mark.parametrize(
    "text",
    [
        "password=hunter2",
        'token: "hunter2"',
        "x-api-key: hunter2",
        "GET https://a.example/?q=hunter2 failed",
        "Authorization: Bearer hunter2hunter2",
        "sent basic hunter2hunter2==",
        '{"api_key":"hunter2"}',
        "at wss://u:hunter2@a.example/x",
    ],
)
def test_logged_messages_hold_no_secrets(text):
    assert "hunter2" not in clean_message(text)


@given(st.text(max_size=5_000))
def test_logged_messages_are_bounded(text):
    assert len(clean_message(text)) <= 2_000


def test_key_chords_are_parsed_as_people_write_them():
    held, last = parse_chord("ctrl+shift+ArrowDown")
    assert ([each.name for each in held], last.name) == (["Control", "Shift"], "ArrowDown")
    assert parse_chord("Control++")[1].name == "+"
    assert parse_chord("+")[1].name == "+"
    assert parse_chord("esc")[1].name == "Escape"
    assert parse_chord("Shift+1")[1].text == "!"
    assert parse_chord("Enter")[1].text == "\r"


@pytest.mark.parametrize("text", ["", "Nope", "a+b", "Control+Nope"])
def test_an_unknown_key_is_refused(text):
    with pytest.raises(InvalidInput, match="keys:"):
        parse_chord(text)


@given(st.characters(blacklist_categories=("Cs",)))
def test_every_character_is_a_key_that_types_it(sign):
    key = find_key(sign)
    assert key.text == sign
    assert key.build_event("down", 0)["text"] == sign
    assert "text" not in key.build_event("down", MODIFIER_BITS["Control"])
