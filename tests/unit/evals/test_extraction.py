"""The gate of main content: what it accepts, and what it does not let through."""

import shutil

import pytest
from evals.extraction.corpus import OWN, TYPES, samples
from evals.extraction.evaluate import measure
from evals.extraction.gate import OWN_DIGEST, OWN_FLOORS, UNSEEN_FLOORS, below, failures, small
from evals.extraction.metric import shingles

from outrider.pages.extraction.classify.model import load_model
from outrider.pages.extraction.main_content import extract_main_content

SCRIPTS = {"ja": "\u3042", "ar": "\u0627", "he": "\u05d0", "th": "\u0e01", "hi": "\u0905", "ru": "\u0430"}


@pytest.fixture
def copy(tmp_path):
    return shutil.copytree(OWN, tmp_path / "corpus")


def test_the_package_is_as_good_as_was_measured():
    assert failures() == []


def test_a_changed_page_is_noticed(copy):
    page = copy / "html" / "article-en.html"
    page.write_text(page.read_text(encoding="utf-8").replace("sixty", "seventy"), encoding="utf-8")
    assert any("another than was pinned" in each for each in small(copy, OWN_DIGEST, {}))


def test_a_changed_reference_is_noticed(copy):
    pages = copy / "pages.jsonl"
    pages.write_text(pages.read_text(encoding="utf-8").replace("sixty", "seventy", 1), encoding="utf-8")
    assert any("another than was pinned" in each for each in small(copy, OWN_DIGEST, {}))


def test_pages_that_lose_their_content_fall_below_the_floor(copy):
    for sample in samples(copy):
        sample.html_file.write_text("<p>zzyzx qwrk</p>", encoding="utf-8")
    found = small(copy, OWN_DIGEST, OWN_FLOORS)
    assert any("small corpus: F1 of all is 0.0, floor" in each for each in found)


def test_scores_below_their_floors_or_missing_are_named():
    good = dict.fromkeys(UNSEEN_FLOORS, 1.0)
    assert below("unseen sites", good, UNSEEN_FLOORS) == []
    assert below("unseen sites", good | {"forum": 0.1}, UNSEEN_FLOORS) == [
        f"unseen sites: F1 of forum is 0.1, floor {UNSEEN_FLOORS['forum']}"
    ]
    assert len(below("unseen sites", {}, UNSEEN_FLOORS)) == len(UNSEEN_FLOORS)


def test_the_small_corpus_has_every_kind_in_many_scripts_and_is_not_trivial():
    corpus = list(samples(OWN))
    assert {sample.type for sample in corpus} == set(TYPES)
    for language, letter in SCRIPTS.items():
        assert any(letter in sample.text for sample in corpus if sample.id.endswith(f"-{language}"))
    assert any("<table width=" in sample.html().decode() for sample in corpus)
    whole = measure(corpus, lambda sample, source: extract_main_content(source, sample.url, main=False).text)
    assert whole["all"] < OWN_FLOORS["all"] - 0.1


def test_the_model_says_where_it_comes_from_and_how_it_scored_on_unseen_sites():
    told = load_model().provenance
    assert told["licence"] == "CC-BY-4.0"
    assert set(told["scores"]) == {"all", *TYPES}
    assert told["folds"] == [told["scores"]["all"]]
    assert {"fundus", "manuals", "newspaper3k"} <= told["held_out"].keys()
    assert "manuals" not in told["more"]


def test_runs_of_words_are_counted_in_their_order():
    assert shingles("The tide comes in, the tide", 2) == {"the tide": 2, "tide comes": 1, "comes in": 1, "in the": 1}
    assert shingles("Two words", 4) == {"two words": 1}
    assert not shingles("", 4)
