"""Related blocks of a page are kept together."""

import numpy as np
import pytest

from outrider import extract
from outrider.pages.extraction.blocks.tree_walker import cut_into_blocks
from outrider.pages.extraction.classify.complete_structures import add_headings, complete_lists, complete_tables
from outrider.pages.extraction.main_content import parse_html

TABLE_HTML = "<table><tr><th>Port<th>Depth<tr><td>Aber<td>4 m<tr><td>Borth<td>2 m<tr><td>Conwy<td>6 m</table>"


def list_texts_left(source: str, dropped: set[str]) -> list[str]:
    """Return the kept texts if the classifier drops these."""
    page = cut_into_blocks(parse_html(source).body)
    chosen = [at for at, text in enumerate(page.texts) if text not in dropped]
    return [page.texts[at] for at in complete_tables(page, chosen)]


@pytest.mark.parametrize(
    ("source", "dropped"),
    [
        (TABLE_HTML, {"Port Depth"}),
        (TABLE_HTML, {"Port Depth", "Conwy 6 m"}),
        (TABLE_HTML.replace("<th>", "<td>"), {"Port Depth"}),
        (
            f"<p>Depths<h3>Ports</h3>{TABLE_HTML}<p>So far",
            {"Ports", "Port Depth", "Aber 4 m", "Borth 2 m", "Conwy 6 m"},
        ),
        ("<p>One<h2>Then</h2><p>Two", {"Then"}),
        ("<pre><div>one</div><div>two</div><div>three</div></pre>", {"two"}),
        ("<p>One<h2><span><div>Then</div></span></h2><p>Two", {"Then"}),
    ],
)
def test_parts_of_a_chosen_structure_are_chosen_too(source: str, dropped: set[str]):
    assert dropped < set(list_texts_left(source, dropped))


def test_a_listing_between_chosen_blocks_is_chosen_without_its_buttons():
    source = "<p>One<pre>run it</pre><button>Copy</button><p>Two<pre>leave it</pre>"
    assert list_texts_left(source, {"run it", "Copy", "leave it"}) == ["One", "run it", "Two"]


@pytest.mark.parametrize(
    ("source", "dropped"),
    [
        (TABLE_HTML, {"Port Depth", "Aber 4 m", "Conwy 6 m"}),
        ("<h2>Popular</h2><p>One", {"Popular"}),
        ("<p>One<h2>Popular</h2><h2>Then</h2><p>Two", {"Popular"}),
        ("<p>One<h2>Popular</h2><p>Ten knots<p>Two", {"Popular", "Ten knots"}),
        ("<table><tr><td>One<tr><td>Subscribe<tr><td>Two</table>", {"Subscribe"}),
    ],
)
def test_isolated_blocks_stay_left_out(source: str, dropped: set[str]):
    assert dropped.isdisjoint(list_texts_left(source, dropped))


@pytest.mark.parametrize(
    ("likely", "kept"),
    [
        ([0.2, 0.3, 0.9, 0.2], ["Harbours", "Aber", "Four metres"]),
        ([0.01, 0.3, 0.9, 0.2], ["Aber", "Four metres"]),
        ([0.2, 0.01, 0.9, 0.2], ["Four metres"]),
    ],
)
def test_headings_directly_above_the_content_are_kept_unless_very_unlikely(likely: list[float], kept: list[str]):
    page = cut_into_blocks(parse_html("<h1>Harbours</h1><h2>Aber</h2><p>Four metres</p><p>Subscribe").body)
    assert [page.texts[at] for at in add_headings(page, [2], np.array(likely, np.float32))] == kept


LIST = "<ul><li>Aber<li>Borth<li>Conwy<li>Dale</ul>"
CARDS = "<ul><li><h3>Aber, which has four metres</h3><p>Buy</p><li><h3>Borth</h3><li><h3>Conwy</h3></ul>"


@pytest.mark.parametrize(
    ("source", "dropped"),
    [
        (LIST, {"Borth", "Dale"}),
        (CARDS, {"Buy"}),
        ("<div><div>One</div><div>Two</div><div>Three</div></div>", {"Two"}),
        ("<dl><dt>Port</dt><dd>Where ships lie.</dd></dl>", {"Port"}),
    ],
)
def test_a_half_chosen_list_is_completed_unless_its_rest_is_very_unlikely(source: str, dropped: set[str]):
    page = cut_into_blocks(parse_html(source).body)
    chosen = [at for at, text in enumerate(page.texts) if text not in dropped]
    likely = np.full(len(page.texts), 0.2, np.float32)
    assert complete_lists(page, chosen, likely) == list(range(len(page.texts)))
    assert (complete_lists(page, chosen, likely * np.float32(0.1)) == chosen) == ("<dl>" not in source)


IN_TEXT = f"<div><p>Ships call at these ports.</p>{LIST}<p>Nothing else is deep enough.</p></div>"


@pytest.mark.parametrize(
    ("before", "are_kept"), [("Ships call at:", True), ("船は次の港に寄る：", True), ("Ships", False)]
)
def test_a_list_after_a_colon_is_kept_unless_an_item_is_very_unlikely(before: str, are_kept: bool):
    page = cut_into_blocks(parse_html(f"<div><p>{before}</p>{LIST}<p>Subscribe.</p></div>").body)
    likely = np.full(6, 0.15, np.float32)
    assert complete_lists(page, [0], likely) == (list(range(5)) if are_kept else [0])
    likely[3] = 0.05
    assert complete_lists(page, [0], likely) == [0]


def test_a_list_between_kept_paragraphs_is_kept_unless_an_item_is_unlikely():
    page = cut_into_blocks(parse_html(IN_TEXT).body)
    likely = np.full(6, 0.25, np.float32)
    assert complete_lists(page, [0, 5], likely) == list(range(6))
    assert complete_lists(page, [0], likely) == [0]
    likely[3] = 0.15
    assert complete_lists(page, [0, 5], likely) == [0, 5]


@pytest.mark.parametrize(
    "source",
    [
        IN_TEXT.replace("<p>Nothing", "<p>More</p><p>Nothing"),
        IN_TEXT.replace("<ul>", "").replace("</ul>", "").replace("<li>", "<p>"),
    ],
)
def test_a_list_separated_from_kept_paragraphs_stays_left_out(source: str):
    page = cut_into_blocks(parse_html(source).body)
    ends = [0, len(page.texts) - 1]
    assert complete_lists(page, ends, np.full(len(page.texts), 0.25, np.float32)) == ends


@pytest.mark.parametrize(
    ("source", "dropped"), [(LIST, {"Aber", "Borth", "Dale"}), (CARDS, {"Aber, which has four metres"})]
)
def test_a_list_with_less_than_half_its_items_chosen_is_not_completed(source: str, dropped: set[str]):
    page = cut_into_blocks(parse_html(source).body)
    chosen = [at for at, text in enumerate(page.texts) if text not in dropped]
    assert complete_lists(page, chosen, np.full(len(page.texts), 0.2, np.float32)) == chosen


@pytest.mark.parametrize(
    ("kind", "is_kept"),
    [("service", True), ("listing", True), ("product", True), ("collection", False), ("article", False), ("", False)],
)
def test_a_link_between_two_entries_of_a_service_page_is_kept(kind: str, is_kept: bool):
    card = "<div><h3>{0}</h3><p>A long word about {0}.</p><p><a href=/x>More on {0}</a></p></div>"
    page = cut_into_blocks(parse_html(card.format("Aber") + card.format("Borth")).body)
    chosen = [0, 1, 3, 4]
    likely = np.full(len(page.texts), 0.2, np.float32)
    assert (2 in complete_lists(page, chosen, likely, kind)) == is_kept
    assert 5 not in complete_lists(page, chosen, likely, kind)
    assert 2 not in complete_lists(page, chosen, likely * np.float32(0.1), kind)


@pytest.mark.parametrize(("count", "are_kept"), [(5, True), (6, False)])
def test_a_few_links_between_two_entries_of_a_service_page_are_kept(count: int, are_kept: bool):
    links = "".join(f"<p><a href=/{number}>Harbour {number}</a></p>" for number in range(count))
    page = cut_into_blocks(parse_html(f"<div><p>Aber</p></div><div>{links}</div><div><p>Borth</p></div>").body)
    chosen, likely = [0, count + 1], np.full(count + 2, 0.2, np.float32)
    assert (complete_lists(page, chosen, likely, "service") == list(range(count + 2))) == are_kept
    likely[2] = 0.01
    assert complete_lists(page, chosen, likely, "service") == chosen


def test_a_sentence_between_links_keeps_them_out():
    source = "<p>Aber</p><p><a href=/x>Borth</a></p><p>Nobody lives <a href=/y>there</a></p><p>Conwy</p>"
    page = cut_into_blocks(parse_html(source).body)
    assert complete_lists(page, [0, 3], np.full(4, 0.2, np.float32), "service") == [0, 3]


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        (
            "<h1>Tides</h1><p>They turn.</p><ul><li>ebb</li><li>flood</li></ul>",
            "# Tides\n\nThey turn.\n\n- ebb\n- flood",
        ),
        ("<p>Run it:</p><pre>make all</pre>", "Run it:\n\n```\nmake all\n```"),
        (
            "<p>It was said.</p><blockquote>No!</blockquote><p>Then it was done.</p>",
            "It was said.\n\n> No!\n\nThen it was done.",
        ),
    ],
)
def test_a_page_of_few_blocks_loses_nothing_between_its_content_no_heading_and_no_listing(html: str, markdown: str):
    assert extract(html).markdown == markdown


def test_a_page_of_few_blocks_is_extracted_without_its_surroundings():
    around = "<div><a href=/>Start</a> <a href=/a>Wares</a></div>", "<footer>© Quay</footer>"
    inside = "<h1>Page not found</h1><p>What you look for is not here any more.</p>"
    assert extract(inside.join(around)).markdown == "# Page not found\n\nWhat you look for is not here any more."
