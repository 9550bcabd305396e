"""Pages of several corpora in training: what they count, what is left out, and the same pages in another script."""

from pathlib import Path

from evals.extraction.corpora import ID_SUFFIX, find_corpus, leave_out, split_benchmark, weigh
from evals.extraction.corpus import Sample
from evals.extraction.ideographs import rewrite_page

from outrider.pages.extraction.blocks.tree_walker import cut_into_blocks
from outrider.pages.extraction.classify.signals import read_signals
from outrider.pages.extraction.main_content import parse_html

PAGE = b"""<title>Ferries leave again</title>
<p>Ferries leave from the old pier, said the master. <a href="/more">Read more about ferries</a></p>
<p>Ferries wait.</p>"""


def describe_page(name: str, site: str) -> Sample:
    return Sample(name, f"https://www.{site}.example/{name}", "article", "", (), (), Path(name))


def test_a_page_in_ideographs_has_the_same_blocks_and_the_same_word_for_a_word():
    tree = parse_html(PAGE)
    before = cut_into_blocks(tree.body)
    after, signals = rewrite_page(before, read_signals(tree, ""))
    assert len(after.texts) == len(before.texts) == 2
    assert all(len(new) < len(old) and " " not in new for old, new in zip(before.texts, after.texts, strict=True))
    assert after.texts[0][:2] == after.texts[1][:2] == signals.title[:2]
    assert after.texts[1].endswith("。")
    assert all(row[1] <= len(text) for row, text in zip(after.rows, after.texts, strict=True))


def test_no_page_of_a_tested_site_is_trained_on():
    pages = [
        describe_page("0001", "coast"),
        describe_page("0002", "hill"),
        describe_page("fundus/tide", "coast"),
        describe_page("fundus/snow", "peak"),
        describe_page(f"0001{ID_SUFFIX}", "coast"),
    ]
    assert [find_corpus(each) for each in pages] == ["benchmark", "benchmark", "fundus", "fundus", "rewritten"]
    assert [weigh(each) for each in pages] == [1.0, 1.0, 0.6, 0.6, 0.3]
    assert sorted(split_benchmark(pages, 2)) == [-1, -1, -1, 0, 1]
    assert leave_out(pages, frozenset({0})) == [1, 3]
    assert leave_out(pages, frozenset({0}), by_page=True) == [1, 2, 3]
