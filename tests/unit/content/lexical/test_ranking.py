"""Ranking and highlights: scores from 0 to 1, and the words that caused them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.content.highlight import EXCERPT_CHARS, find_best_excerpt
from outrider.content.lexical.analysis import parse_query_terms
from outrider.content.lexical.index import Candidates, Posting
from outrider.content.lexical.ranking import rank_candidates, weigh_terms

COUNTS = st.dictionaries(st.sampled_from("bcdf"), st.integers(1, 50), max_size=4)
POSTINGS = st.lists(st.tuples(st.integers(1, 500), COUNTS), min_size=1, max_size=20)


def build_candidates(rows: list[tuple[int, dict[str, int]]], more: int = 0) -> Candidates:
    postings = [
        Posting(f"c{n}", "s", max(length, sum(counts.values())), counts) for n, (length, counts) in enumerate(rows)
    ]
    frequency = {term: sum(term in each.counts for each in postings) for term in "bcdf"}
    return Candidates(postings, len(postings) + more, sum(each.length for each in postings) + 100 * more, frequency)


@given(POSTINGS, st.lists(st.sampled_from([("b",), ("f",), ("c", "d"), ()]), max_size=6), st.integers(0, 1_000))
def test_scores_are_between_0_and_1_in_descending_order(rows, query, more: int):
    best = rank_candidates(query, build_candidates(rows, more))
    scores = [score for _, score in best]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score < 1 for score in scores)
    wanted = {term for terms in query for term in terms}
    assert {chunk for chunk, _ in best} == {f"c{n}" for n, (_, counts) in enumerate(rows) if wanted & counts.keys()}


def test_scores_match_the_bm25_formula():
    """Two chunks of 10 and 20 words, computed by hand: idf = ln(1 + 1.5/1.5), norm = 1.2 (0.5 + 0.5 * 10/15)."""
    found = Candidates([Posting("c", "s", 10, {"b": 3})], 2, 30, {"b": 1})
    [(_, score)] = rank_candidates([("b",)], found)
    assert score == pytest.approx(3 / (3 + 1.2 * (0.5 + 0.5 * 10 / 15)))


def test_a_rare_word_outweighs_a_frequent_one_unless_that_is_repeated_often():
    rows = [(10, {"c": 1}), (10, {"b": 1}), *[(10, {"c": 1})] * 8]
    assert rank_candidates([("c",), ("b",)], build_candidates(rows))[0][0] == "c1"
    assert rank_candidates([("c",)] * 40 + [("b",)], build_candidates(rows, more=20))[0][0] != "c1"


def test_question_words_count_less_than_the_words_they_ask_about():
    query = parse_query_terms("where is it", ["english"]) + parse_query_terms("lamp", ["english"])
    frequency = {"where": 1, "is": 1, "it": 1, "lamp": 2}
    found = Candidates(
        [Posting("asks", "s", 10, {"where": 1, "is": 1, "it": 1}), Posting("answers", "s", 10, {"lamp": 1})],
        9, 90, frequency,
    )  # fmt: skip
    assert [chunk for chunk, _ in rank_candidates(query, found)] == ["answers", "asks"]
    willing = parse_query_terms("willing", ["english"])
    assert rank_candidates(willing, Candidates([Posting("c", "s", 10, {"will": 1})], 9, 90, {"will": 1}))
    assert weigh_terms(willing, {"will": 1}, 9)[willing[0]] > weigh_terms(query, frequency, 9)[query[0]]


@given(st.text(max_size=600), st.text(max_size=60))
def test_an_excerpt_is_a_short_slice_and_its_matches_are_in_it(text: str, query: str):
    terms = frozenset(term for terms in parse_query_terms(query, ["english"]) for term in terms)
    excerpt = find_best_excerpt(text, terms, "english")
    assert 0 <= excerpt.start <= excerpt.end <= len(text)
    assert excerpt.end - excerpt.start <= EXCERPT_CHARS
    assert all(match in text[excerpt.start : excerpt.end] for match in excerpt.matches)


def test_an_excerpt_shows_where_most_of_the_words_occur():
    text = "green leaves. " + "nothing of note here. " * 30 + "Green tea needs water. " + "again nothing. " * 30
    excerpt = find_best_excerpt(text, frozenset({"green", "tea", "water"}), "english")
    assert "Green tea needs water" in text[excerpt.start : excerpt.end]
    assert excerpt.matches == ("Green", "tea", "water")
