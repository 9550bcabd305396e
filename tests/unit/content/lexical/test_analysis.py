"""Index terms: the words of any script, folded and stemmed."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.content.chunking.prepare import detect_language
from outrider.content.lexical.analysis import extract_index_terms, iter_tokens, parse_query_terms


def extract_terms(text: str, name: str = "english") -> list[str]:
    return extract_index_terms([text], name)[0].split()


@pytest.mark.parametrize(
    ("asked", "written", "name"),
    [
        ("teas", "tea", "english"),
        ("Running", "run", "english"),
        ("CAFÉ", "cafe", "english"),
        ("cafe\u0301", "café", "english"),
        ("ﬁle", "file", "english"),
        ("ＴＯＫＹＯ", "tokyo", "english"),
        ("STRASSE", "Straße", "german"),
        ("Häusern", "Haus", "german"),
        ("mangeront", "manger", "french"),
        ("книгами", "книга", "russian"),
        ("日本", "日本語", ""),
        ("ข้าว", "กินข้าวแล้ว", ""),
        ("हिन्दी", "हिन्दी", "hindi"),
        ("user name", "getUserName", "english"),
        ("user", "user_name", "english"),
        ("readFile", "readfile", "english"),
        ("Peter", "Peter's", "english"),
        ("３", "3", ""),
    ],
)
def test_query_terms_match_text_in_other_forms_of_the_word(asked: str, written: str, name: str):
    there = set(extract_terms(written, name))
    assert all(there.intersection(group) for group in parse_query_terms(asked, [name]))


def test_a_word_is_kept_unstemmed_next_to_its_stem():
    assert extract_terms("teas houses") == ["tea", "teas", "hous", "houses"]
    assert extract_terms("tea") == ["tea"]


def test_a_query_in_another_language_still_matches_the_exact_word():
    there = set(extract_terms("wanderungen", "german"))
    assert all(there.intersection(group) for group in parse_query_terms("wanderungen", ["english"]))


def test_repeated_words_of_a_query_count_each_time():
    assert parse_query_terms("tea tea coffee", ["english"]) == [("tea",), ("tea",), ("coffe", "coffee")]


@given(st.text(max_size=300), st.sampled_from(["", "english", "german", "russian"]))
def test_terms_are_plain_words_with_offsets_within_the_text(text: str, name: str):
    for word in iter_tokens(text, name):
        assert 0 <= word.start < word.end <= len(text)
        assert all(re.fullmatch(r"\w+", term) for term in word.terms)


@given(st.text(max_size=300))
def test_a_text_always_matches_itself(text: str):
    there = set(extract_terms(text))
    assert all(there.intersection(group) for group in parse_query_terms(text, ["english"]) if group)


def test_the_language_of_a_text_is_detected_or_taken_as_declared():
    german = "Die Katze sitzt auf dem Tisch und schläft den ganzen Tag, weil sie müde ist und niemand sie weckt."
    assert detect_language(german) == "german"
    assert (
        detect_language("The cat sits on the table and sleeps all day because it is tired and nobody wakes it.")
        == "english"
    )
    assert detect_language("tea") == "english"
    terms_of_a_subject = "Cavity resonators for dielectric spectroscopy of compressed gases are described."
    assert detect_language(terms_of_a_subject) == "english"
    assert detect_language("Cascade di filtri direzionali, descritte nella teoria delle guide d'onda.") == "italian"
    assert detect_language("Wir fahren morgen früh mit dem Zug nach Wien.") == "german"
    assert detect_language("Jutro rano jedziemy pociągiem do Krakowa i wracamy w piątek.") == "polish"
    assert detect_language("Nikon Z5, Canon R6, Sony A7, 299.00, 1299.00, 12345678") == "english"
    assert detect_language("\ud800" * 50) == detect_language("\0" * 50 + "é") == ""
    assert detect_language("茶") == ""
    assert detect_language("Le thé", "fr-CA") == "french"


@given(st.text(alphabet="ab'sS_A1 \n.’", max_size=80), st.sampled_from(["", "english"]))
def test_terms_with_and_without_offsets_are_the_same(text: str, name: str):
    with_places = [term for word in iter_tokens(text, name) for term in word.terms]
    assert extract_terms(text, name) == with_places
