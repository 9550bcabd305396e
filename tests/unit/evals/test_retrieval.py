"""The quality gate of search: scores exceed their floors, hybrid beats both its parts, and nDCG is right."""

import shutil

import pytest
from evals.retrieval.evaluate import OWN_FOLDER, JudgedSet, compute_ndcg, measure_peers, read_set
from evals.retrieval.gate import find_failures, find_low_scores
from evals.retrieval.peers import PUBLISHED_NDCG, list_installed, tokenize


@pytest.mark.nightly
def test_built_in_search_quality_stays_above_its_floors():
    assert find_failures(providers=["builtin"]) == []


def test_a_changed_set_is_noticed(tmp_path):
    copy = shutil.copytree(OWN_FOLDER, tmp_path / "judged")
    (copy / "queries.jsonl").write_text('{"_id": "q1", "text": "tea"}\n', encoding="utf-8")
    (copy / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ttea1\t2\n", encoding="utf-8")
    assert [each.partition(":")[0] for each in find_failures(copy, [])] == ["the judged set is not the pinned one"]


def test_a_hybrid_that_is_worse_than_a_part_fails():
    assert find_low_scores("builtin", {"keyword": 0.9, "semantic": 0.8, "hybrid": 0.85}) == [
        "builtin: hybrid 0.850 does not beat 0.900"
    ]
    assert len(find_low_scores("builtin", {"keyword": 0.1, "semantic": 0.8, "hybrid": 0.9})) == 1


@pytest.mark.parametrize(
    ("found", "value"),
    [(["a", "b"], 1.0), (["b", "a"], 0.8597), (["x"], 0.0), (["x"] * 10 + ["a"], 0.0), ([], 0.0), (["a"], 0.7602)],
)
def test_ndcg_matches_published_values(found: list[str], value: float):
    assert compute_ndcg(found, {"a": 2, "b": 1}) == pytest.approx(value, abs=1e-4)


def test_every_judgement_names_a_text_and_a_question_of_many_scripts():
    judged = read_set(OWN_FOLDER)
    assert all(set(grades) <= set(judged.texts) for grades in judged.grades.values())
    assert len(judged.questions) >= 90
    asked = "".join(judged.questions.values())
    assert all(letter in asked for letter in "茶の김قпअกλ")


def test_other_libraries_rank_the_same_texts_with_the_same_measure():
    texts = {"a": ("Tea", "leaves steeped"), "b": ("", "coffee"), "c": ("", "water"), "d": ("", "milk")}
    judged = JudgedSet("nfcorpus", texts, {"q": "teas"}, {"q": {"a": 1}})
    assert measure_peers(judged)["published"] == PUBLISHED_NDCG["nfcorpus"]
    assert {measure_peers(judged)[name] for name in list_installed()} <= {1.0}
    assert tokenize("The Leaves were steeped, and that is it") == ["leav", "were", "steep"]
