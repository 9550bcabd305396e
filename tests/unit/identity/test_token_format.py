"""Test the format of tokens."""

import re

from hypothesis import given
from hypothesis import strategies as st

from outrider.identity import token_format


def test_a_token_is_recognisable_by_scanners_and_unique():
    made = {token_format.generate_token() for _ in range(200)}
    assert len(made) == 200
    assert all(re.fullmatch(r"outr_[0-9A-Za-z]{49}", token) for token in made)


def test_the_checksum_of_issued_tokens_never_changes():
    assert token_format.is_token(f"outr_{'0' * 43}2czCLJ")


@given(st.integers(5, 53), st.sampled_from(token_format.BASE62_ALPHABET))
def test_one_wrong_character_is_detected_without_the_database(place: int, letter: str):
    token = token_format.generate_token()
    mistyped = token[:place] + letter + token[place + 1 :]
    assert token_format.is_token(mistyped) is (mistyped == token)


@given(st.text())
def test_other_text_is_not_a_token(text: str):
    assert not token_format.is_token(text)


def test_the_stored_hash_is_a_plain_sha256_of_the_whole_token():
    assert token_format.hash_token("outr_x") == "7f56491cba75882347ebb50c5d957d377a41b58edd06aa1b76bad8e065f91d03"
