"""Cutting, filtering and comparing outlines."""

from hypothesis import given
from hypothesis import strategies as st

from outrider.browser.snapshot.difference import diff_outlines
from outrider.browser.snapshot.outline import filter_interactive, filter_matching, find_refs, limit_lines

LINES = st.lists(st.text(alphabet="ab \ne12[]<>", max_size=30).map(lambda line: line.replace("\n", "")), max_size=40)


@given(LINES, st.integers(1, 60))
def test_pieces_join_to_the_whole(lines: list[str], limit: int) -> None:
    read: list[str] = []
    offset: int | None = 0
    while offset is not None:
        piece = limit_lines(lines, limit, offset)
        read += lines[piece.offset : piece.offset + piece.shown]
        assert piece.shown or not lines
        offset = piece.next_offset
    assert read == lines


@given(LINES)
def test_no_change_is_no_difference(lines: list[str]) -> None:
    assert not diff_outlines(lines, list(lines))


@given(LINES, LINES)
def test_every_new_line_is_told(before: list[str], after: list[str]) -> None:
    told = {line[2:] for line in diff_outlines(before, after).lines if line[:1] in "+~"}
    assert {line.strip() for line in after} - {line.strip() for line in before} <= told


def test_a_line_about_the_same_element_is_a_change() -> None:
    changed = diff_outlines(['textbox "Name" e1', "a"], ['textbox "Name" e1 = "x"', "a"])
    assert changed.lines == ('~ textbox "Name" e1 = "x"',)


def test_many_lines_that_went_are_counted() -> None:
    changed = diff_outlines([f"line {n}" for n in range(20)] + ["end"], ["end"])
    assert changed.lines[-1] == "- … 17 more lines"


def test_a_changed_page_is_whole() -> None:
    before = [f"old line {n} of this page" for n in range(50)]
    after = [f"quite another line {n} on it" for n in range(50)]
    assert diff_outlines(before, after).whole
    assert not diff_outlines(before, [*before[:-1], "last"]).whole


def test_ten_thousand_lines_are_compared_by_presence() -> None:
    before = [f"row {n}" for n in range(10_000)]
    after = ["new", *before[:5_000], *before[5_001:], "end"]
    assert diff_outlines(before, after).lines == ("- row 5000", "+ new", "+ end")


def test_references_are_read_from_every_notation() -> None:
    line = 'text [docs e1] button "Save" e2 disabled <card fa4> (img "e9x") e5'
    assert find_refs(line) == ["e1", "e2", "fa4", "e5"]


def test_what_can_be_done_is_shown_under_its_headings() -> None:
    lines = ["# A", "text", "nav", " [x e1]", "## B", "more text"]
    assert filter_interactive(lines) == ["# A", "nav", " [x e1]"]


def test_what_is_found_is_shown_where_it_stands() -> None:
    lines = ["# A", "table", " one | 1", " Two | 2", "# B", "three"]
    assert filter_matching(lines, "two") == ["# A", "table", " Two | 2"]
