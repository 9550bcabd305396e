"""Text that a page repeats appears once; what recurs line by line stays."""

import numpy as np
import pytest

from outrider.pages.extraction.blocks.tree_walker import cut_into_blocks
from outrider.pages.extraction.classify.block_arrays import build_block_arrays
from outrider.pages.extraction.classify.classifier import smooth_scores
from outrider.pages.extraction.classify.duplicates import drop_duplicates
from outrider.pages.extraction.main_content import extract_main_content, parse_html

ONE = "The river ran under the market square in a pipe of concrete for sixty years before anybody asked why."
TWO = "Engineers lifted the slabs one street at a time, planted willows, and left some room for the floods."
THREE = "It was cheaper than a new pipe, and far cheaper than the cellars that were flooded in every spring."


def list_texts_left(source: str) -> list[str]:
    """Return the remaining texts if all blocks are chosen."""
    page = cut_into_blocks(parse_html(source).body)
    words = np.array([len(text.split()) for text in page.texts], np.float32)
    return [page.texts[at] for at in drop_duplicates(page, list(range(len(page.texts))), words)]


def test_a_passage_repeated_for_another_screen_width_is_kept_once():
    source = f"<div><p>{ONE}<p>{TWO}</div><p>{THREE}<div class=mobile><p>{ONE}<p>{TWO}</div><p>So far."
    assert list_texts_left(source) == [ONE, TWO, THREE, "So far."]


def test_a_passage_repeated_three_times_is_kept_once():
    widths = [f"<div class={width}><p>{ONE}<p>{TWO}</div>" for width in ("wide", "narrow", "print")]
    assert list_texts_left("".join(widths)) == [ONE, TWO]


@pytest.mark.parametrize(
    "source",
    [
        f"<div class=a><p>{ONE}</div><p>{TWO}<div class=b><p>{ONE}</div>",
        f"<div class=post><p>{ONE}<p>{TWO}</div>" * 3,
        "<ul>" + "<li>Warm up for ten minutes<li>Run<li>Cool down for ten minutes" * 6 + "</ul>",
        f"<table><tr><th>Port<th>Said<tr><td>Aber<td>{ONE}<tr><td>Aber<td>{ONE}</table>",
        f"<pre>{ONE * 3}</pre><p>Then<pre>{ONE * 3}</pre>",
        f"<div class=a><p>{ONE}<p>{TWO}</div><p>{THREE}<div class=b><p>{TWO}<p>{ONE}</div>",
    ],
)
def test_repeated_lines_of_posts_tables_and_code_are_kept(source: str):
    page = cut_into_blocks(parse_html(source).body)
    assert list_texts_left(source) == page.texts


def test_a_page_that_only_repeats_itself_still_yields_text():
    text = extract_main_content(f"<body>{f'<div><p>{ONE}<p>{TWO}</div>' * 40}").text
    assert ONE in text
    assert TWO in text


def test_items_of_one_list_are_judged_together():
    items = "".join(f"<li class=card>{name}" for name in ("Aber", "Borth", "Conwy", "Deganwy"))
    page = cut_into_blocks(parse_html(f"<p>Ports of the coast<ul>{items}</ul>").body)
    scores, words = np.array([3, 2, 2, 2, -2], np.float32), np.ones(5, np.float32)
    found = smooth_scores(scores, build_block_arrays(page).block_signature, words)
    assert found.tolist() == [3, 1.5, 1.5, 1.5, -0.5]


def test_fewer_than_three_of_a_kind_are_judged_alone():
    page = cut_into_blocks(parse_html("<p>Ports of the coast<ul><li>Aber<li>Borth</ul>").body)
    scores = np.array([3, 2, -2], np.float32)
    assert (
        smooth_scores(scores, build_block_arrays(page).block_signature, np.ones(3, np.float32)).tolist()
        == scores.tolist()
    )
