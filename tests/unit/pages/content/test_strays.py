"""What of a page's margin looks like content, and is left out of an article all the same."""

import numpy as np
import pytest

from outrider.pages.content.judge import choose
from outrider.pages.content.main import parsed
from outrider.pages.content.select import kept
from outrider.pages.content.strays import connected
from outrider.pages.content.walk import cut_into_blocks

TEXT = "<h1>Harbour</h1>" + "<p>The ferries leave from the old pier again, said the harbour master.</p>" * 3
MARGIN = "<p>Share</p>" * 8
TEASER = "<p>Eight boats that sank in sight of the town</p>"


def connected_of(source: str, dropped: set[str], doubted: dict[str, float]) -> list[str]:
    """The texts that stay of an article whose cut drops these, and is in doubt about those."""
    page = cut_into_blocks(parsed(source).body)
    chosen = [at for at, text in enumerate(page.texts) if text not in dropped]
    likely = [doubted.get(text, 0.95) for text in page.texts]
    words = [float(len(text.split())) for text in page.texts]
    return [page.texts[at] for at in connected(page, chosen, likely, words)]


@pytest.mark.parametrize("source", [TEXT + MARGIN + TEASER, TEASER + MARGIN + TEXT])
def test_a_doubtful_piece_far_from_the_text_goes(source: str):
    teaser = "Eight boats that sank in sight of the town"
    assert teaser not in connected_of(source, {"Share"}, {teaser: 0.65})
    assert teaser in connected_of(source, {"Share"}, {teaser: 0.9})


def test_a_doubtful_piece_beside_the_text_stays():
    source, teaser = TEXT + "<p>Share</p>" * 2 + TEASER, "Eight boats that sank in sight of the town"
    assert teaser in connected_of(source, {"Share"}, {teaser: 0.65})


def test_a_large_piece_stays_wherever_it_stands():
    second = "<p>Nobody knows what the second pier will cost.</p>" * 3
    assert len(connected_of(TEXT + MARGIN + second, {"Share"}, {})) == 7
    doubted = {"Nobody knows what the second pier will cost.": 0.65}
    assert len(connected_of(TEXT + MARGIN + second, {"Share"}, doubted)) == 7


def test_headings_with_nothing_behind_them_go():
    source = TEXT + "<h2>Piers</h2><p>Two are left.</p><h2>Most read</h2><h3>Today</h3>" + MARGIN
    assert connected_of(source, {"Share"}, {})[-2:] == ["Piers", "Two are left."]


def test_headings_alone_stay():
    assert connected_of("<h1>Harbour</h1><h2>Piers</h2>", set(), {}) == ["Harbour", "Piers"]


MANY = 9  # blocks of a margin


def test_an_article_holds_nothing_that_is_rather_no_content():
    likely, words = np.array([0.9, 0.55, 0.9] + [0.0] * MANY), np.array([100.0, 80.0, 100.0] + [1.0] * MANY)
    assert kept(likely, words, "article")[0][:3].tolist() == [True, False, True]
    assert kept(likely, words, "listing")[0][:3].tolist() == [True, True, True]


def test_a_page_of_a_few_blocks_has_no_margin_to_leave_out():
    likely, words = np.array([0.9, 0.55, 0.9]), np.array([100.0, 80.0, 100.0])
    assert kept(likely, words, "article")[0].tolist() == [True, True, True]


def test_of_an_article_that_nothing_is_sure_of_the_best_guess_is_kept():
    likely, words = np.array([0.5, 0.45, 0.7] + [0.0] * MANY), np.array([100.0, 80.0, 5.0] + [1.0] * MANY)
    assert kept(likely, words, "article")[0][:3].tolist() == [True, True, True]


def chosen_of(source: str, kind: str, doubted: str) -> list[str]:
    """The texts that are kept of a page of a kind, on which one block is rather content than not, but hardly."""
    page = cut_into_blocks(parsed(source).body)
    likely = [0.0 if text == "Share" else 0.55 if text == doubted else 0.95 for text in page.texts]
    words = [float(len(text.split())) * 10 for text in page.texts]
    found, _ = choose(page, np.array(likely, np.float32), np.array(words, np.float32), kind)
    return [page.texts[at] for at in found]


def test_what_is_in_doubt_on_documentation_with_listings_stays():
    doubted = "Two of the valves are closed by hand."
    source = f"{TEXT}{MARGIN}<p>{doubted}</p>"
    assert doubted not in chosen_of(source, "documentation", doubted)
    assert doubted in chosen_of(source + "<pre>close --all</pre>", "documentation", doubted)
