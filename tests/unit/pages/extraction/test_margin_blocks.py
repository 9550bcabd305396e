"""Parts of the margin that look like content are left out of an article."""

import numpy as np
import pytest

from outrider.pages.extraction.blocks.tree_walker import cut_into_blocks
from outrider.pages.extraction.classify.classifier import choose_blocks
from outrider.pages.extraction.classify.declared_blocks import DECLARED_PROBABILITY
from outrider.pages.extraction.classify.outliers import drop_dangling_pointers, drop_outliers
from outrider.pages.extraction.classify.threshold import select_blocks
from outrider.pages.extraction.main_content import parse_html

ARTICLE_HTML = "<h1>Harbour</h1>" + "<p>The ferries leave from the old pier again, said the harbour master.</p>" * 3
MARGIN = "<p>Share</p>" * 8
TEASER = "<p>Eight boats that sank in sight of the town</p>"


def list_article_texts(source: str, dropped: set[str], doubted: dict[str, float]) -> list[str]:
    """Return the texts of an article that stay if some are dropped and others are doubtful."""
    page = cut_into_blocks(parse_html(source).body)
    chosen = [at for at, text in enumerate(page.texts) if text not in dropped]
    likely = [doubted.get(text, 0.95) for text in page.texts]
    words = [float(len(text.split())) for text in page.texts]
    return [page.texts[at] for at in drop_outliers(page, chosen, likely, words)]


@pytest.mark.parametrize("source", [ARTICLE_HTML + MARGIN + TEASER, TEASER + MARGIN + ARTICLE_HTML])
def test_a_doubtful_block_far_from_the_text_is_dropped(source: str):
    teaser = "Eight boats that sank in sight of the town"
    assert teaser not in list_article_texts(source, {"Share"}, {teaser: 0.65})
    assert teaser in list_article_texts(source, {"Share"}, {teaser: 0.9})


def test_a_doubtful_block_next_to_a_declared_one_is_kept():
    source, teaser = ARTICLE_HTML + MARGIN + TEASER + "<p>2 leeks</p>", "Eight boats that sank in sight of the town"
    assert teaser not in list_article_texts(source, {"Share"}, {teaser: 0.4})
    assert teaser in list_article_texts(source, {"Share"}, {teaser: 0.4, "2 leeks": DECLARED_PROBABILITY})


def test_a_doubtful_block_next_to_the_text_is_kept():
    source, teaser = ARTICLE_HTML + "<p>Share</p>" * 2 + TEASER, "Eight boats that sank in sight of the town"
    assert teaser in list_article_texts(source, {"Share"}, {teaser: 0.65})


def test_a_large_block_is_kept_wherever_it_is():
    second = "<p>Nobody knows what the second pier will cost.</p>" * 3
    assert len(list_article_texts(ARTICLE_HTML + MARGIN + second, {"Share"}, {})) == 7
    doubted = {"Nobody knows what the second pier will cost.": 0.65}
    assert len(list_article_texts(ARTICLE_HTML + MARGIN + second, {"Share"}, doubted)) == 7


def test_headings_without_content_are_dropped():
    source = ARTICLE_HTML + "<h2>Piers</h2><p>Two are left.</p><h2>Most read</h2><h3>Today</h3>" + MARGIN
    assert list_article_texts(source, {"Share"}, {})[-2:] == ["Piers", "Two are left."]


def test_a_list_of_titles_at_the_end_stays():
    titles = [f"How to moor at pier {number}" for number in range(5)]
    source = ARTICLE_HTML + "".join(
        f"<article><h2><a href=/{at}>{title}</a></h2></article>" for at, title in enumerate(titles)
    )
    assert list_article_texts(source + MARGIN, {"Share"}, {})[-5:] == titles
    assert titles[0] not in list_article_texts(source + MARGIN, {"Share", titles[4]}, {})


def test_headings_are_kept_if_there_is_nothing_else():
    assert list_article_texts("<h1>Harbour</h1><h2>Piers</h2>", set(), {}) == ["Harbour", "Piers"]


MANY = 9  # blocks of a margin


def test_an_article_drops_blocks_that_a_listing_keeps():
    likely, words = np.array([0.9, 0.55, 0.9] + [0.0] * MANY), np.array([100.0, 80.0, 100.0] + [1.0] * MANY)
    assert select_blocks(likely, words, "article")[0][:3].tolist() == [True, False, True]
    assert select_blocks(likely, words, "listing")[0][:3].tolist() == [True, True, True]


def test_a_page_of_few_blocks_keeps_doubtful_ones():
    likely, words = np.array([0.9, 0.55, 0.9]), np.array([100.0, 80.0, 100.0])
    assert select_blocks(likely, words, "article")[0].tolist() == [True, True, True]


def test_the_best_guess_is_kept_if_no_block_is_certain():
    likely, words = np.array([0.5, 0.45, 0.7] + [0.0] * MANY), np.array([100.0, 80.0, 5.0] + [1.0] * MANY)
    assert select_blocks(likely, words, "article")[0][:3].tolist() == [True, True, True]


def list_page_texts(source: str, kind: str, doubted: str) -> list[str]:
    """Return the kept texts of a page of this kind with one block that is barely content."""
    page = cut_into_blocks(parse_html(source).body)
    likely = [0.0 if text == "Share" else 0.55 if text == doubted else 0.95 for text in page.texts]
    words = [float(len(text.split())) * 10 for text in page.texts]
    found, _ = choose_blocks(page, np.array(likely, np.float32), np.array(words, np.float32), kind)
    return [page.texts[at] for at in found]


def test_doubtful_blocks_are_kept_in_documentation_with_listings():
    doubted = "Two of the valves are closed by hand."
    source = f"{ARTICLE_HTML}{MARGIN}<p>{doubted}</p>"
    assert doubted not in list_page_texts(source, "documentation", doubted)
    assert doubted in list_page_texts(source + "<pre>close --all</pre>", "documentation", doubted)


def test_a_listing_page_of_long_paragraphs_in_one_element_is_cut_like_an_article():
    doubted = "Nobody knows what the second pier will cost."
    long = "<p>" + "The ferries leave from the old pier again, said the harbour master. " * 3 + "</p>"
    rest = f"{MARGIN}<p>{doubted}</p>"
    assert doubted not in list_page_texts(f"<div>{long * 3}</div>{rest}", "listing", doubted)
    assert doubted in list_page_texts(f"<div>{long}</div>" * 3 + rest, "listing", doubted)
    assert doubted in list_page_texts(f"<div>{long * 3}</div>{rest}", "collection", doubted)


def remains_of(source: str, dropped: set[str], kind: str = "article") -> list[str]:
    """Return the remaining texts if the classifier drops these."""
    page = cut_into_blocks(parse_html(source).body)
    chosen = [at for at, text in enumerate(page.texts) if text not in dropped]
    return [page.texts[at] for at in drop_dangling_pointers(page, chosen, kind)]


JUMP = "<p><a href=#soup>Jump to recipe</a><p>Soup warms.<h2 id=soup>Soup</h2><p>Peel."


def test_a_line_that_only_jumps_within_the_page_is_dropped():
    assert remains_of(JUMP, set()) == ["Soup warms.", "Soup", "Peel."]
    assert remains_of(JUMP, set(), "documentation")[0] == "Jump to recipe"


@pytest.mark.parametrize(
    "source",
    [
        "<p><a href=#one>One</a><p><a href=#two>Two</a><h2 id=one>First</h2><p>Go<h2 id=two>Second</h2><p>Stay",
        "<ul><li><a href=#one>One</a></ul><h2 id=one>First</h2><p>Go",
        "<p><a href=/one>One</a><h2 id=one>First</h2><p>Go",
    ],
)
def test_tables_of_contents_and_links_to_other_pages_are_kept(source: str):
    assert remains_of(source, set())[0] == "One"


@pytest.mark.parametrize(
    ("source", "is_kept"),
    [
        ("<p>Intro<h2>Contents</h2><div>1 Use</div><h2>Use</h2><p>Call it.", False),
        ("<p>Intro<h2>Contents</h2><div>1 Use</div><h3>Use</h3><p>Call it.", True),
        ("<p>Intro<h2>Contents</h2><div>1 Use</div><p>Call it.", True),
        ("<p>Intro<h2>Contents</h2><h2>Use</h2><p>Call it.", True),
    ],
)
def test_a_heading_whose_content_was_left_out_is_dropped(source: str, is_kept: bool):
    assert ("Contents" in remains_of(source, {"1 Use"})) is is_kept
