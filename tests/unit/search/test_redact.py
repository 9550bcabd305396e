from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from outrider.search.failures import redact_secrets

KEYS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=60)


@given(st.text(max_size=30), KEYS, st.text(max_size=30))
def test_no_form_and_no_long_piece_of_a_key_survives(before, key, after):
    for form in (key, quote(key, safe=""), key.upper(), key[:8], key[-8:], f"{key}{key}"):
        shown = redact_secrets(f"{before}{form}{after}", [key]).lower()
        pieces = {key[at : at + 8].lower() for at in range(len(key) - 7)}
        assert not any(piece in shown for piece in pieces if piece not in "[key]")


@given(st.text(max_size=80))
def test_text_without_a_key_is_unchanged(text):
    assert redact_secrets(text, ["a-key-that-nobody-writes", "", "abc"]) == text


def test_short_secrets_are_masked_whole():
    assert redact_secrets("pin 1234 of 12345", ["1234"]) == "pin [key] of [key]5"
