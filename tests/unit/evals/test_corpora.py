"""Pages of several corpora in training: their weights, the omitted ones, and rewritten versions."""

from pathlib import Path

from evals.extraction.corpora import draw_versions, find_corpus, leave_out, split_benchmark, weigh_page
from evals.extraction.corpus import Sample
from evals.extraction.ideographs import rewrite_page
from evals.extraction.plain_layouts import Layout, draw_layout, rewrite_layout

from outrider.pages.extraction.blocks.page_blocks import BLOCK_TAGS, TAG_NUMBERS
from outrider.pages.extraction.blocks.tree_walker import cut_into_blocks
from outrider.pages.extraction.classify.signals import read_signals
from outrider.pages.extraction.main_content import parse_html

FERRIES_HTML = b"""<title>Ferries leave again</title>
<p>Ferries leave from the old pier, said the master. <a href="/more">Read more about ferries</a></p>
<p>Ferries wait.</p>"""


MODERN_PAGE = b"""<title>Ferries</title><meta name="description" content="Ferries leave again">
<script type="application/ld+json">{"@type": "NewsArticle"}</script>
<header class="site-header">Home</header>
<article class="story-body"><div><p>Ferries leave.</p></div><p>Ferries wait.</p></article>"""


def describe_page(name: str, site: str, kind: str = "article") -> Sample:
    return Sample(name, f"https://www.{site}.example/{name}", kind, "", (), (), Path(name))


def test_a_page_rewritten_in_ideographs_keeps_its_blocks_and_maps_words_consistently():
    tree = parse_html(FERRIES_HTML)
    before = cut_into_blocks(tree.body)
    after, signals = rewrite_page(before, read_signals(tree, ""))
    assert len(after.texts) == len(before.texts) == 2
    assert all(len(new) < len(old) and " " not in new for old, new in zip(before.texts, after.texts, strict=True))
    assert after.texts[0][:2] == after.texts[1][:2] == signals.title[:2]
    assert after.texts[1].endswith("。")
    assert all(row[1] <= len(text) for row, text in zip(after.rows, after.texts, strict=True))


def test_a_page_rewritten_as_plain_keeps_its_text_without_names_and_metadata():
    tree = parse_html(MODERN_PAGE)
    before, signals = cut_into_blocks(tree.body), read_signals(tree, "https://www.coast.example/article/ferries")
    replaced = {TAG_NUMBERS[tag]: TAG_NUMBERS["div"] for tag in ("article", "header")}
    layout = Layout(replaced, has_tables=True, has_breaks=True, rename=lambda _: "", has_signals=False)
    after, plain = rewrite_layout(before, signals, layout)
    assert after.texts == before.texts == ["Home", "Ferries leave.", "Ferries wait."]
    owners = [BLOCK_TAGS[after.elements[row[0]][1]] for row in after.rows]
    assert owners == ["table", "tr", "table"]
    assert set(after.names) == {""}
    assert all((signals.description, signals.schema_bits, signals.path_bits))
    assert (plain.title, plain.description, plain.schema_bits, plain.path_bits) == ("Ferries", "", 0, 0)


def test_invented_names_are_deterministic_and_only_some_pages_get_versions():
    names = [draw_layout(f"fundus/{number}").rename("story-body") for number in range(20)]
    assert names == [draw_layout(f"fundus/{number}").rename("story-body") for number in range(20)]
    assert "" in names
    assert not any("story" in name or "body" in name for name in names)
    versions = [
        set(draw_versions(describe_page(f"{folder}{number}", "coast")))
        for folder in ("", "fundus/", "manuals/")
        for number in range(60)
    ]
    assert set().union(*versions[:60]) == {"plain", "ideographs", "plain ideographs"}
    assert set() in versions[:60]
    assert all("plain" in found for found in versions[60:120])
    assert not any(versions[120:])


def test_no_page_of_a_tested_site_is_trained_on():
    pages = [
        describe_page("0001", "coast"),
        describe_page("0002", "hill"),
        describe_page("fundus/tide", "coast"),
        describe_page("fundus/snow", "peak"),
        describe_page("0001~plain", "coast"),
    ]
    assert [find_corpus(each) for each in pages] == ["benchmark", "benchmark", "fundus", "fundus", "rewritten"]
    assert [weigh_page(each) for each in pages] == [1.0, 1.0, 0.6, 0.6, 0.4]
    assert sorted(split_benchmark(pages, 2)) == [-1, -1, -1, 0, 1]
    assert leave_out(pages, frozenset({0})) == [1, 3]
    assert leave_out(pages, frozenset({0}), by_page=True) == [1, 2, 3]
