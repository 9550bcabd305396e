"""Test the format of tokens."""

import re

from hypothesis import given
from hypothesis import strategies as st

from outrider.identity import token_format


def test_a_token_can_be_found_by_scanners_and_is_never_made_twice():
    made = {token_format.generate_token() for _ in range(200)}
    assert len(made) == 200
    assert all(re.fullmatch(r"outr_[0-9A-Za-z]{49}", token) for token in made)


def test_the_checksum_stays_as_it_is_once_tokens_are_out():
    assert token_format.is_token(f"outr_{'0' * 43}2czCLJ")


@given(st.integers(5, 53), st.sampled_from(token_format.BASE62_ALPHABET))
def test_one_wrong_letter_is_noticed_without_a_look_into_the_database(place: int, letter: str):
    token = token_format.generate_token()
    mistyped = token[:place] + letter + token[place + 1 :]
    assert token_format.is_token(mistyped) is (mistyped == token)


@given(st.text())
def test_other_text_is_not_a_token(text: str):
    assert not token_format.is_token(text)


def test_what_is_kept_is_the_plain_hash_of_the_whole():
    assert token_format.hash_token("outr_x") == "7f56491cba75882347ebb50c5d957d377a41b58edd06aa1b76bad8e065f91d03"
