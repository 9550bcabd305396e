"""The quality gate of structure passes, can fail, and measures correctly."""

from pathlib import Path

import pytest
from evals.structure.evaluate import read_own_pages
from evals.structure.facts import Facts, derive_facts
from evals.structure.gate import OWN_FLOORS, find_failures
from evals.structure.judge import Mark, judge_facts
from evals.structure.round_trip import measure_round_trip, read_examples

from outrider import extract

GUIDE_URL = "https://manual.example/guide/"
GUIDE_HTML = """<nav><ul><li><a href="/">Home</a></li><li><a href="/news">News</a></li></ul></nav>
<main><h1>Lights of the coast</h1><p>There are four lights, as <a href="wend">the list of Wend</a> says.</p>
<ul><li>old ones <ol><li>Reed</li></ol></li></ul><pre>def light():<br>    pass</pre>
<table><tr><th>Name</th><th>Height</th></tr><tr><td>Wend</td><td></td><td>41 m</td></tr></table>
<p>Its height is <math alttext="h^2"><mi>h</mi></math> at least, in metres of course.</p>
</main><a href="/imprint">Imprint</a>"""
REFERENCE = """Lights of the coast There are four lights, as the list of Wend says. old ones Reed def light(): pass
Name Height Wend 41 m Its height is h at least, in metres of course."""
FACTS = Facts(
    code=["def light():\n    pass"],
    rows=[["Name", "Height"], ["Wend", "41 m"]],
    items=[("old ones", False), ("Reed", True)],
    headings=[(1, "Lights of the coast")],
    links=[("the list of Wend", "https://manual.example/guide/wend")],
    math=["h^2"],
)
GOOD = """# Lights of the coast

There are four lights, as [the list of Wend](https://manual.example/guide/wend) says.

- old ones
  1. Reed

```python
def light():
    pass
```

| Name | Height | |
| --- | --- | --- |
| **Wend** | | 41 m |

Its height is $h^2$ at least."""


def test_structure_quality_stays_above_its_floors():
    assert find_failures(read_own_pages(), OWN_FLOORS) == []


def test_the_gate_fails_if_only_text_is_kept():
    found = find_failures(read_own_pages(), OWN_FLOORS, lambda html, url: extract(html, url=url).text)
    assert [each.partition(":")[0] for each in found] == ["code", "rows", "items", "headings", "links"]


def test_facts_come_from_the_markup_of_the_main_content():
    assert derive_facts(GUIDE_HTML, GUIDE_URL, REFERENCE) == FACTS


def test_correctly_rendered_facts_count_as_kept():
    assert {mark for marks in judge_facts(FACTS, GOOD).values() for mark in marks} == {Mark.KEPT}


@pytest.mark.parametrize(
    ("kind", "at", "right", "wrong"),
    [
        ("code", 0, "    pass", "  pass"),
        ("code", 0, "```", ""),
        ("rows", 1, "| | 41 m |", "41 m"),
        ("rows", 0, "| Name | Height | |", "Name Height"),
        ("items", 1, "1. Reed", "- Reed"),
        ("items", 0, "- old ones", "old ones"),
        ("headings", 0, "# Lights", "Lights"),
        ("links", 0, "/guide/wend)", "/wend)"),
        ("links", 0, "(https://manual.example/guide/wend)", "(wend)"),
        ("math", 0, "$h^2$", "h^2"),
    ],
)
def test_facts_rendered_as_something_else_do_not_count_as_kept(kind: str, at: int, right: str, wrong: str):
    assert right in GOOD
    assert judge_facts(FACTS, GOOD.replace(right, wrong))[kind][at] is not Mark.KEPT


def test_headings_are_kept_in_their_order_whatever_their_level():
    facts = Facts(headings=[(1, "One"), (2, "Two"), (3, "Three")])
    assert judge_facts(facts, "## One\n\n### Two\n\n#### Three")["headings"] == [Mark.KEPT] * 3
    assert judge_facts(facts, "# One\n\n## Two\n\n## Three")["headings"][2] is Mark.PLAIN


def test_missing_facts_are_distinguished_from_those_that_lost_their_form():
    found = judge_facts(Facts(headings=[(1, "One"), (2, "Two")], links=[("x", "https://a.example/")]), "Two")
    assert found["headings"] == [Mark.MISSING, Mark.PLAIN]
    assert found["links"] == [Mark.MISSING]


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("a [b] c", "[a [b] c](https://a.example/x_(y))"),
        ("a b", "[**a** b](<https://a.example/x_(y)>)"),
        ("picture", '[![picture](p.png)](https://a.example/x_(y) "title")'),
    ],
)
def test_links_are_read_as_markdown_has_them(text: str, markdown: str):
    assert judge_facts(Facts(links=[(text, "https://a.example/x_(y)")]), markdown)["links"] == [Mark.KEPT]


def test_markdown_characters_and_tracking_parameters_make_no_difference():
    facts = Facts(items=[("call __str__() *now*", False)], links=[("a_b _c_", "https://a.example/?x=1&srsltid=AfmB")])
    found = judge_facts(facts, "- call `__str__()` \\*now\\*\n\n[a_b \\_c\\_](https://a.example/?x=1)")
    assert found["items"] == found["links"] == [Mark.KEPT]


def test_facts_are_derived_from_the_page_as_browsers_decode_it():
    page = "<meta charset=windows-1252><h1>Tides at ten o\u2019clock</h1>".encode("cp1252")
    assert derive_facts(page, GUIDE_URL, "Tides at ten o\u2019clock").headings == [(1, "Tides at ten o\u2019clock")]


TWINS = """<nav><ul><li><a href="/a">Lights of the coast</a></li><li><a href="/b">Piers of the town</a></li></ul></nav>
<p>There are four of them; see <a href="/in-the-text">Lights of the coast</a> for their heights and colours.</p>
<div><p>There are four of them; see</p> <a href="/slide">Lights of the coast</a> <p>and turn the page.</p></div>"""


def test_of_duplicate_links_the_one_that_matches_the_reference_context_counts():
    reference = "There are four of them; see Lights of the coast for their heights and colours."
    assert derive_facts(TWINS, GUIDE_URL, reference).links == [
        ("Lights of the coast", "https://manual.example/in-the-text")
    ]


def test_duplicate_links_count_as_often_as_they_occur_in_the_reference():
    card = "<div><a href='/{0}'>Look at the light</a> <p>of {0}</p></div>"
    page = card.format("Wend") + card.format("Reed")
    found = derive_facts(page, GUIDE_URL, "Look at the light of Wend Look at the light of Reed").links
    assert [url.rpartition("/")[2] for _, url in found] == ["Wend", "Reed"]


def test_words_separated_only_by_a_style_sheet_match():
    facts = Facts(headings=[(2, "Gear1500 lamp")], links=[("Gear1500 lamp", "https://a.example/x")])
    found = judge_facts(facts, "## Gear 1500 lamp\n\n[Gear 1500 lamp](https://a.example/x)")
    assert found["headings"] == found["links"] == [Mark.KEPT]
    assert judge_facts(facts, "## Gear 1500 lamps")["headings"] == [Mark.MISSING]


def test_thousands_of_brackets_take_no_time():
    assert judge_facts(Facts(links=[("a", GUIDE_URL)]), "[" * 50_000 + "a" + "](x" * 50_000)["links"] == [Mark.PLAIN]


def test_a_markdown_round_trip_is_compared_with_the_original_page(tmp_path: Path):
    fence = "`" * 32
    shown = [
        "<p>a<br />\n<em>b</em></p>\n",
        "<ul>\n<li>\n<p>a</p>\n</li>\n</ul>\n",
        "<h2>a</h2>\n<h2>a</h2>\n",
        "<del>a</del>\n",
    ]
    spec = "".join(f"{fence} example\nmarkdown\n.\n{html}{fence}\n\n" for html in shown)
    (tmp_path / "spec.txt").write_text(spec, encoding="utf-8")
    found = measure_round_trip(read_examples(tmp_path))
    assert (found.examples, found.same) == (3, 2), "raw HTML is left out, and a repeated heading is lost"
    assert [number for number, _, _ in found.lost] == [3]
    assert 0.8 < found.words < 1
