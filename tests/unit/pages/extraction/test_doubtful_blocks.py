"""Doubtful blocks are kept inside the element that holds the content."""

import numpy as np

from outrider.pages.extraction.blocks.tree_walker import cut_into_blocks
from outrider.pages.extraction.classify.classifier import choose_blocks
from outrider.pages.extraction.main_content import parse_html

FERRIES_HTML = "".join(
    f"<p>Ferry {number} leaves from the old pier again, says the harbour master.</p>" for number in range(9)
)
MARGIN = "<div>" + "<p>Share</p>" * 8 + "</div>"
LAST = "<h2>Sources</h2><ul><li>Tables of the tides</li><li>Lists of the lights</li></ul>"
DOUBTED = {"Sources", "Tables of the tides", "Lists of the lights"}


def list_doubted_texts_left(source: str, kind: str, doubt: float, *doubted: str) -> set[str]:
    """Return the doubtful texts that are kept on a page of this kind."""
    page = cut_into_blocks(parse_html(source).body)
    likely = [0.01 if text == "Share" else doubt if text in doubted else 0.95 for text in page.texts]
    words = [float(len(text.split())) for text in page.texts]
    found, _ = choose_blocks(page, np.array(likely, np.float32), np.array(words, np.float32), kind)
    return {page.texts[at] for at in found} & set(doubted)


def test_the_doubtful_last_section_of_an_article_is_kept():
    assert (
        list_doubted_texts_left(f"<article>{FERRIES_HTML}{LAST}</article>{MARGIN}", "article", 0.55, *DOUBTED)
        == DOUBTED
    )


def test_the_same_section_outside_the_article_is_left_out():
    assert not list_doubted_texts_left(
        f"<article>{FERRIES_HTML}</article><div>{LAST}</div>{MARGIN}", "article", 0.55, *DOUBTED
    )


def test_an_unlikely_section_of_an_article_is_left_out():
    assert not list_doubted_texts_left(f"<article>{FERRIES_HTML}{LAST}</article>{MARGIN}", "article", 0.3, *DOUBTED)


def test_structure_between_kept_blocks_of_a_listing_needs_a_lower_score_than_paragraphs():
    item = '<div><a href="/x">See all of the lights</a></div>' + "<p>Nobody has seen all of the lights.</p>" * 2
    source = f"<main>{FERRIES_HTML}{item}{FERRIES_HTML}</main>{MARGIN}"
    doubted = "See all of the lights", "Nobody has seen all of the lights."
    assert list_doubted_texts_left(source, "listing", 0.47, *doubted) == {doubted[0]}
    assert not list_doubted_texts_left(source, "listing", 0.4, *doubted)


def test_structure_between_kept_blocks_of_documentation_needs_the_lowest_score():
    members = '<table><tr><td>int<td><a href="/x">count of all of the lights</a></table>'
    source = f"<main>{FERRIES_HTML}{members}<p>Nobody has seen all of the lights.</p>{FERRIES_HTML}</main>{MARGIN}"
    doubted = "int count of all of the lights", "Nobody has seen all of the lights."
    assert list_doubted_texts_left(source, "documentation", 0.12, *doubted) == {doubted[0]}
    assert not list_doubted_texts_left(source, "documentation", 0.08, *doubted)


def test_nothing_is_added_if_nothing_was_left_out():
    assert list_doubted_texts_left(f"<main>{FERRIES_HTML}{LAST}</main>", "listing", 0.9, *DOUBTED) == DOUBTED
