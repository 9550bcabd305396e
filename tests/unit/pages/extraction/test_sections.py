"""Sections keep their headings when a page's blocks are chosen."""

import numpy as np
import pytest

from outrider.pages.extraction.blocks.tree_walker import cut_into_blocks
from outrider.pages.extraction.classify.sections import complete_sections
from outrider.pages.extraction.main_content import parse_html

REFERENCE = "documentation"
MANUAL = "<h1>tar(1)</h1><h2>Name</h2><p>tar - put files by</p></div><div><h2>Usage</h2><p>Call it.<pre>tar x</pre>"
CLASS = (
    "<main><h1>Class Gate</h1><div>java.lang.Object</div><p>A gate.<section><h2>Details</h2><ul>"
    "<li><section><h3>open</h3><div>public void open()</div></section>"
    "<li><section><h3>shut</h3><div>public void shut()</div><button>Copy</button><p>Shuts it.</section></ul></section>"
)


def list_completed_texts(source: str, dropped: set[str], kind: str = REFERENCE, likely: float = 0.2) -> list[str]:
    """Return the kept texts if the classifier drops these, each with this probability."""
    page = cut_into_blocks(parse_html(source).body)
    chosen = [at for at, text in enumerate(page.texts) if text not in dropped]
    likelihoods = np.array([likely if text in dropped else 0.9 for text in page.texts], np.float32)
    return [page.texts[at] for at in complete_sections(page, chosen, likelihoods, kind)]


@pytest.mark.parametrize("kind", [REFERENCE, "service", "listing"])
def test_the_headline_right_above_a_text_with_headings_is_kept(kind: str):
    source = "<div><h1>Brushes</h1><p>They paint.<h2>Kinds</h2><p>Three.</div>"
    assert list_completed_texts(source, {"Brushes"}, kind)[0] == "Brushes"


def test_a_manual_page_starts_with_its_name_and_summary():
    assert list_completed_texts(f"<div>{MANUAL}</div>", {"tar(1)", "Name", "tar - put files by"})[:3] == [
        "tar(1)",
        "Name",
        "tar - put files by",
    ]


def test_links_below_a_headline_stay_left_out():
    source = "<div><h2>Backups</h2><p><a href=#one>One</a><p>They last.<h3>Sizes</h3><p>Three.</div>"
    assert list_completed_texts(source, {"Backups", "One"}) == ["Backups", "They last.", "Sizes", "Three."]


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("<div><h1>Ferry sinks</h1><p>It sank.<h2>Before</h2><p>It sailed.</div>", "article"),
        ("<div><h1>Ferry sinks</h1><p>12:04, Aber<p>It sank.<h2>Before</h2><p>It sailed.</div>", REFERENCE),
        ("<div><h1>Ferry sinks</h1><p>It sank.<p>It sailed.</div>", REFERENCE),
        ("<h1>Aber</h1><div><h1>Ferry sinks</h1></div><p>It sank.<h2>Before</h2><p>It sailed.", REFERENCE),
    ],
)
def test_headlines_of_articles_and_of_other_sections_stay_left_out(source: str, kind: str):
    assert "Ferry sinks" not in list_completed_texts(source, {"Aber", "Ferry sinks", "12:04, Aber"}, kind)


@pytest.mark.parametrize("kind", [REFERENCE, "product", "article"])
def test_a_function_reference_is_kept_whole_whatever_its_page_type(kind: str):
    dropped = {"Class Gate", "java.lang.Object", "public void open()", "public void shut()", "Copy", "Shuts it."}
    found = list_completed_texts(CLASS, dropped, kind, likely=0.05)
    assert dropped - set(found) == {"Copy"}


@pytest.mark.parametrize("kind", [REFERENCE, "article"])
def test_a_reference_of_names_and_types_is_kept_whole(kind: str):
    source = (
        "<div><h1>Data.Gate</h1><p>Gates of a harbour.<h2>Use</h2><p>open :: Gate -> Bool<p>Opens it."
        "<p>shut :: Gate -> Bool<form>Filter</form><p>Shuts it.</div><div>Made by a generator</div>"
    )
    dropped = {"Data.Gate", "Use", "open :: Gate -> Bool", "Opens it.", "shut :: Gate -> Bool", "Filter"}
    found = list_completed_texts(source, dropped | {"Made by a generator"}, kind, likely=0.02)
    assert dropped - set(found) == {"Filter"}
    assert "Made by a generator" not in found


def test_prose_that_mentions_functions_is_not_a_reference():
    text = "<p>A gate is opened by its keeper, who calls open(gate) and waits." * 12
    assert list_completed_texts(f"<div>{text}</div><div>About us</div>", {"About us"}, likely=0.02)[-1] != "About us"


def test_a_line_that_repeats_the_name_of_its_heading_is_kept():
    source = "<section><h3>count_</h3><div>int count_</div></section><section><h3>Note</h3><p>So far</section>"
    assert list_completed_texts(source, {"int count_"}, "product") == ["count_", "int count_", "Note", "So far"]


@pytest.mark.parametrize(("kind", "ends"), [(REFERENCE, "Two."), ("collection", "Two."), ("service", "Comments")])
def test_a_heading_without_content_does_not_end_a_page(kind: str, ends: str):
    assert (
        list_completed_texts("<div><h1>One</h1><p>Two.<h2>Comments</h2></div><p>Write", {"Write"}, kind, 0.01)[-1]
        == ends
    )


def test_a_doubtful_line_within_documentation_is_kept_unless_it_is_a_date():
    source = "<div><p>One<p>array<p>Two<p>12:04<p>Three</div>"
    assert list_completed_texts(source, {"array", "12:04"}, likely=0.5) == ["One", "array", "Two", "Three"]


def test_a_version_below_a_headline_is_not_a_date():
    source = "<div><h1>Crate std</h1><p>1.0.0 stable<h2>Use</h2><p>Call it.</div>"
    assert list_completed_texts(source, {"Crate std", "1.0.0 stable"})[0] == "Crate std"
