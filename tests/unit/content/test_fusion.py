"""Hybrid ranking: scores are added by weight; good hits of both searches rank before the best of one."""

from hypothesis import given
from hypothesis import strategies as some

from outrider.content.search import CALIBRATION_DEPTH, fuse_rankings

rankings = some.lists(
    some.dictionaries(some.sampled_from("abcdefgh"), some.floats(0, 1), max_size=8).map(
        lambda scores: sorted(scores.items(), key=lambda each: -each[1])
    ),
    min_size=1,
    max_size=3,
)


def test_a_result_good_in_both_rankings_beats_the_best_of_one():
    words, meaning = [("both", 0.6), ("words", 0.7)], [("both", 0.7), ("meaning", 0.8)]
    assert fuse_rankings([words, meaning])[0][0] == "both"


def test_the_weight_decides_between_two_that_disagree():
    words, meaning = [("w", 0.8), ("m", 0.1)], [("m", 0.8), ("w", 0.1)]
    assert fuse_rankings([words, meaning], [0.8, 0.2])[0][0] == "w"
    assert fuse_rankings([words, meaning], [0.2, 0.8])[0][0] == "m"


def test_the_best_of_poor_results_stays_behind_a_good_one():
    assert [chunk for chunk, _ in fuse_rankings([[("bad", 0.1)], [("good", 0.7), ("bad", 0.1)]])] == ["good", "bad"]


def test_a_score_shared_by_all_texts_counts_for_nothing():
    alike = [(f"c{n}", 0.8) for n in range(CALIBRATION_DEPTH)]
    scores = dict(fuse_rankings([[("found", 0.5)], [("near", 0.9), *alike]]))
    assert scores["c7"] == 0
    assert scores["near"] > 0


def test_an_empty_ranking_keeps_the_order_of_the_other():
    assert [chunk for chunk, _ in fuse_rankings([[], [("a", 0.9), ("b", 0.4)]])] == ["a", "b"]
    assert fuse_rankings([[], []]) == []


@given(rankings)
def test_each_chunk_appears_once_with_a_score_between_0_and_1_best_first(found: list[list[tuple[str, float]]]):
    result = fuse_rankings(found)
    assert sorted(chunk for chunk, _ in result) == sorted({chunk for each in found for chunk, _ in each})
    scores = [score for _, score in result]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1.0000001 for score in scores)
