"""Changes of a page are distinguished from noise, and written as text."""

import pytest

from outrider.watches.difference import MAX_DIFFERENCE_CHARS, compare_texts
from outrider.watches.results import compare_results, format_result, merge_results

OOLONG_MARKDOWN = """# Oolong
Updated 3 May 2026, 10:21
1,204 views · 3 comments
Price: $24.00
## Stock
We have 5 tins left.
"""


def test_dates_counters_adverts_pictures_and_order_are_ignored_by_default():
    cases = {
        "date": OOLONG_MARKDOWN.replace("3 May 2026, 10:21", "May 9, 2026"),
        "relative date": OOLONG_MARKDOWN.replace("3 May 2026, 10:21", "5 minutes ago"),
        "counters": OOLONG_MARKDOWN.replace("1,204", "1.3k").replace("3 comments", "12 comments"),
        "advert": OOLONG_MARKDOWN + "Advertisement\n![](https://ads.example/1.gif)\n",
        "link target": OOLONG_MARKDOWN.replace("Oolong", "[Oolong](/tea?session=9)"),
        "emphasis": OOLONG_MARKDOWN.replace("5 tins", "**5 tins**"),
        "order": OOLONG_MARKDOWN.replace("Price: $24.00\n", "") + "Price: $24.00\n",
    }
    for case, text in cases.items():
        assert compare_texts(OOLONG_MARKDOWN, text) is None, case
    for case in ("date", "counters", "order"):
        assert compare_texts(OOLONG_MARKDOWN, cases[case], strict=True), case


def test_a_difference_shows_changed_lines_under_their_headings():
    new = OOLONG_MARKDOWN.replace("$24.00", "$19.00").replace(
        "5 tins left.", "2 tins left.\nThe next delivery is late."
    )
    found = compare_texts(OOLONG_MARKDOWN, new)
    assert found
    assert found.text.splitlines() == [
        "# Oolong",
        "- Price: $24.00",
        "+ Price: $19.00",
        "## Stock",
        "- We have 5 tins left.",
        "+ We have 2 tins left.",
        "+ The next delivery is late.",
    ]
    assert found.summary == "2 lines changed, 1 added"


def test_only_the_changed_part_of_a_long_line_is_shown():
    words = "word " * 300
    found = compare_texts(f"{words}red {words}", f"{words}green {words}")
    assert found
    assert len(found.text) < 500
    assert "red" in found.text
    assert "+ …" in found.text


def test_a_difference_is_bounded():
    found = compare_texts("nothing", "\n".join(f"row number {number} {'x' * 50}" for number in range(20_000)))
    assert found
    assert len(found.text) < MAX_DIFFERENCE_CHARS + 100
    assert "more lines)" in found.text


def test_only_results_never_seen_before_count():
    first = "\n".join(format_result(f"Tea [{n}]", f"https://t.example/{n}_(a)") for n in (1, 2))
    other = "\n".join([format_result("New", "https://t.example/3"), first.splitlines()[1]])
    found = compare_results(first, other)
    assert found
    assert (found.summary, found.text) == ("1 new result", "+ [New](https://t.example/3)")
    assert compare_results(merge_results(first, other), first) is None


@pytest.mark.parametrize("noise", ["", "\n\n", "***", "| --- | --- |"])
def test_lines_without_words_do_not_count(noise: str):
    assert compare_texts(OOLONG_MARKDOWN, OOLONG_MARKDOWN + noise) is None
