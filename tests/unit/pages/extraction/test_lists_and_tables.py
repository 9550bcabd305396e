"""Lists keep their numbers, and columns their alignment."""

import pytest

from outrider.pages.extract import extract


def extract_markdown(body: str) -> str:
    return extract(body, url="https://site.example/a/", main=False).markdown


def render_table(*cells: str) -> list[str]:
    """Return the line below a table's header, given its columns' attributes."""
    row = "".join(f"<td {cell}>{at}" for at, cell in enumerate(cells))
    source = f"<table><tr>{'<th>x' * len(cells)}</tr><tr>{row}<tr>{row}</table>"
    return extract_markdown(source).splitlines()[1].strip("| ").split(" | ")


@pytest.mark.parametrize(
    ("cell", "side"),
    [
        ("align=right", "--:"),
        ("align=CENTER", ":-:"),
        ("style='color: red; text-align: right'", "--:"),
        ("style='text-align:end'", "--:"),
        ("class='text-center wide'", ":-:"),
        ("class=org-right", "--:"),
        ("align=left", "---"),
        ("align=justify", "---"),
        ("style='text-align: left' align=right", "---"),
        ("class=right-column", "---"),
        ("", "---"),
    ],
)
def test_columns_are_aligned_as_their_cells_are(cell: str, side: str):
    assert render_table("", cell) == ["---", side]


def test_a_column_is_aligned_as_most_of_its_cells_are():
    rows = "<tr><td align=right>1<td>a<tr><td align=right>2<td align=right>b<tr><td>3<td>c"
    assert extract_markdown(f"<table>{rows}</table>").splitlines()[1] == "| --: | --- |"


def test_spans_and_empty_columns_do_not_shift_alignments():
    rows = "<tr><th colspan=2 align=center>a<th><th>b<tr><td>1<td>2<td><td align=right>3"
    assert extract_markdown(f"<table>{rows}</table>").splitlines() == [
        "| a | a | b |",
        "| --- | --- | --: |",
        "| 1 | 2 | 3 |",
    ]


@pytest.mark.parametrize(
    ("given", "labels"),
    [
        ("", ["1. ", "2. "]),
        ("start=4", ["4. ", "5. "]),
        ("reversed", ["2. ", "1. "]),
        ("type=1", ["1. ", "2. "]),
        ("type=a", ["- a. ", "- b. "]),
        ("type=A start=26", ["- Z. ", "- AA. "]),
        ("type=i start=3", ["- iii. ", "- iv. "]),
        ("type=I start=1994", ["- MCMXCIV. ", "- MCMXCV. "]),
        ("type=i reversed", ["- ii. ", "- i. "]),
        ("style='list-style-type: lower-roman'", ["- i. ", "- ii. "]),
        ("style='list-style: upper-alpha outside'", ["- A. ", "- B. "]),
        ("class='loweralpha simple'", ["- a. ", "- b. "]),
        ("style='list-style: none'", ["- ", "- "]),
        ("type=a start=0", ["- ", "- a. "]),
    ],
)
def test_list_items_show_the_numbers_or_letters_that_readers_see(given: str, labels: list[str]):
    source = f"<ol {given}><li>one<li>two</ol>"
    assert extract_markdown(source) == "\n".join(
        f"{label}{word}" for label, word in zip(labels, ["one", "two"], strict=True)
    )


def test_content_of_a_lettered_item_is_indented_by_its_bullet_alone():
    source = "<ol type=a><li value=3><p>one<p>more<ul><li>inner</ul><li>two</ol>"
    assert extract_markdown(source) == "- c. one\n\n  more\n  - inner\n- d. two"


def test_the_text_of_a_list_does_not_depend_on_its_numbering():
    assert extract("<ol type=a><li>one<li>two</ol>", main=False).text == "one\n\ntwo"


def test_long_addresses_of_links_do_not_make_a_table_layout():
    links = ", ".join(f"<a href='/{'reference' * 12}/{number}'>type {number}</a>" for number in range(8))
    assert extract_markdown(f"<table><tr><td>void<td>f({links})<tr><td>int<td>g()</table>").startswith(
        "| void | f([type 0]("
    )
