"""The quality gate of main content accepts good results and refuses worse ones."""

import shutil

import pytest
from evals.extraction.corpus import OWN_CORPUS, PAGE_TYPES, read_samples
from evals.extraction.evaluate import measure_extractor
from evals.extraction.gate import (
    OWN_DIGEST,
    OWN_FLOORS,
    UNSEEN_FLOORS,
    check_small_corpus,
    find_failures,
    find_low_scores,
)
from evals.extraction.metric import count_shingles

from outrider.pages.extraction.classify.model import load_model
from outrider.pages.extraction.main_content import extract_main_content

SCRIPTS = {"ja": "\u3042", "ar": "\u0627", "he": "\u05d0", "th": "\u0e01", "hi": "\u0905", "ru": "\u0430"}


@pytest.fixture
def copy(tmp_path):
    return shutil.copytree(OWN_CORPUS, tmp_path / "corpus")


def test_extraction_quality_stays_above_its_floors():
    assert find_failures() == []


def test_a_changed_page_is_noticed(copy):
    page = copy / "html" / "article-en.html"
    page.write_text(page.read_text(encoding="utf-8").replace("sixty", "seventy"), encoding="utf-8")
    assert any("is not the pinned one" in each for each in check_small_corpus(copy, OWN_DIGEST, {}))


def test_a_changed_reference_is_noticed(copy):
    pages = copy / "pages.jsonl"
    pages.write_text(pages.read_text(encoding="utf-8").replace("sixty", "seventy", 1), encoding="utf-8")
    assert any("is not the pinned one" in each for each in check_small_corpus(copy, OWN_DIGEST, {}))


def test_pages_that_lose_their_content_fall_below_the_floor(copy):
    for sample in read_samples(copy):
        sample.html_file.write_text("<p>zzyzx qwrk</p>", encoding="utf-8")
    found = check_small_corpus(copy, OWN_DIGEST, OWN_FLOORS)
    assert any("small corpus: F1 of all is 0.0, floor" in each for each in found)


def test_scores_below_their_floors_or_missing_are_named():
    good = dict.fromkeys(UNSEEN_FLOORS, 1.0)
    assert find_low_scores("unseen sites", good, UNSEEN_FLOORS) == []
    assert find_low_scores("unseen sites", good | {"forum": 0.1}, UNSEEN_FLOORS) == [
        f"unseen sites: F1 of forum is 0.1, floor {UNSEEN_FLOORS['forum']}"
    ]
    assert len(find_low_scores("unseen sites", {}, UNSEEN_FLOORS)) == len(UNSEEN_FLOORS)


def test_the_small_corpus_has_every_kind_in_many_scripts_and_is_not_trivial():
    corpus = list(read_samples(OWN_CORPUS))
    assert {sample.type for sample in corpus} == set(PAGE_TYPES)
    for language, letter in SCRIPTS.items():
        assert any(letter in sample.text for sample in corpus if sample.id.endswith(f"-{language}"))
    assert any("<table width=" in sample.read_html().decode() for sample in corpus)
    whole = measure_extractor(corpus, lambda sample, source: extract_main_content(source, sample.url, main=False).text)
    assert whole["all"] < OWN_FLOORS["all"] - 0.1


def test_the_model_states_its_origin_and_its_scores_on_unseen_sites():
    told = load_model().provenance
    assert told["licence"] == "CC-BY-4.0"
    assert set(told["scores"]) == {"all", *PAGE_TYPES}
    assert told["folds"] == [told["scores"]["all"]]
    assert {"fundus", "manuals", "newspaper3k"} <= told["held_out"].keys()
    assert "manuals" not in told["more"]


def test_word_sequences_are_counted_in_order():
    assert count_shingles("The tide comes in, the tide", 2) == {
        "the tide": 2,
        "tide comes": 1,
        "comes in": 1,
        "in the": 1,
    }
    assert count_shingles("Two words", 4) == {"two words": 1}
    assert not count_shingles("", 4)
