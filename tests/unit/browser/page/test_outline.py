"""Cutting, filtering and comparing outlines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.browser.protocol.refs import escape_refs, unescape_refs
from outrider.browser.snapshot.outline import diff_outlines, filter_interactive, filter_matching, find_refs, limit_lines

OUTLINE_LINES = st.lists(
    st.text(alphabet="ab \ne12[]<>", max_size=30).map(lambda line: line.replace("\n", "")), max_size=40
)


@given(OUTLINE_LINES, st.integers(1, 60))
def test_pieces_join_to_the_whole(lines: list[str], limit: int) -> None:
    read: list[str] = []
    offset: int | None = 0
    while offset is not None:
        piece = limit_lines(lines, limit, offset)
        read += lines[piece.offset : piece.offset + piece.shown]
        assert piece.shown or not lines
        offset = piece.next_offset
    assert read == lines


@given(OUTLINE_LINES)
def test_an_unchanged_outline_has_no_difference(lines: list[str]) -> None:
    assert not diff_outlines(lines, list(lines))


@given(OUTLINE_LINES, OUTLINE_LINES)
def test_every_new_line_is_reported(before: list[str], after: list[str]) -> None:
    told = {line[2:] for line in diff_outlines(before, after).lines if line[:1] in "+~"}
    assert {line.strip() for line in after} - {line.strip() for line in before} <= told


def test_a_changed_line_of_the_same_element_is_reported_as_a_change() -> None:
    changed = diff_outlines(['textbox "Name" e1', "a"], ['textbox "Name" e1 = "x"', "a"])
    assert changed.lines == ('~ textbox e1 = "x"',)


TOOLBAR = " ".join(f'button "Format {n}" e{n}' for n in range(1, 9))
CELLS = [*(f"cell {n} of the row" for n in range(8)), 'checkbox "Paid" e7', 'button "Delete" e8']
ROW = " | ".join(["Bob Miller", *CELLS])
TABS = " ".join(f'tab "Chapter {n}" e{n}' for n in range(1, 9))
FORM_OUTLINE = (
    'Name * textbox "Name" e1 = "Ann" City textbox "City" e2 = "Graz" I agree checkbox "I agree" e3 button "Send" e4'
)


@pytest.mark.parametrize(
    ("line", "old", "new", "told"),
    [
        (TOOLBAR, "e4", "e4 pressed", "~ button e4 pressed"),
        (TOOLBAR, "e8", "e8 disabled", "~ button e8 disabled"),
        (TOOLBAR.replace("e4", "e4 pressed"), " pressed", "", "~ button e4"),
        (ROW, '"Paid" e7', '"Paid" e7 checked', '~ Bob Miller | … 8 cells | checkbox "Paid" e7 checked …'),
        (ROW, "cell 5 of the row", "Vienna", "~ Bob Miller | … 5 cells | Vienna …"),
        (ROW, "cell 0 of the row", "Linz", "~ Bob Miller | Linz …"),
        (FORM_OUTLINE, "Graz", "Linz [or fa9]", '~ textbox e2 = "Linz [or fa9]" I agree'),
        (FORM_OUTLINE, "e3", "e3 checked", "~ checkbox e3 checked"),
        ('slider "Size" e1 = "3" (0–9)', '"3"', '"4"', '~ slider e1 = "4"'),
        ('combobox "e" e1 = "a" (a, b)', "(a, b)", "(a, c)", '~ combobox e1 = "a" (a, c)'),
        ('textbox "Name" e1', "Name", "Names", '~ textbox "Names" e1'),
        ('Wrong! textbox "Name" e1 invalid', "Wrong! ", "", '~ textbox "Name" e1 invalid'),
        (
            'Wrong! textbox "Name" e1 invalid',
            'Wrong! textbox "Name" e1 invalid',
            'textbox "Name" e1',
            '~ textbox "Name" e1',
        ),
    ],
)
def test_a_line_reports_the_control_that_changed(line: str, old: str, new: str, told: str) -> None:
    assert diff_outlines([line, "end"], [line.replace(old, new), "end"]).lines == (told,)


def test_changes_in_two_places_are_reported_without_the_lines_between() -> None:
    near, wide = "~ tab e2 tab e4 selected", "~ tab e1 tab e8 selected"
    for was, now, told in (("e2", "e4", near), ("e1", "e8", wide)):
        before, after = TABS.replace(was, f"{was} selected"), TABS.replace(now, f"{now} selected")
        assert diff_outlines([before], [after]).lines == (told,)


def test_a_removed_item_is_named_by_its_references_and_a_counter_as_changed() -> None:
    before = ["- checkbox e1", " <Buy milk e2>", '- button "Undo" e3', "1 item left", "Page 1", "end"]
    after = ["- checkbox e4", " <Call mum e5>", "2 items left!", "end"]
    told = ("- e1–e3", "- Page 1", "+ checkbox e4", "+ <Call mum e5>", "~ 2 items left!")
    assert diff_outlines(before, after).lines == told
    assert diff_outlines(["- <Buy milk e2>", "end"], ["end"]).lines == ("- <Buy milk e2>",)
    assert diff_outlines(["Item 1", "Item 2", "end"], ["Item 3", "Item 4", "end"]).lines[0] == "- Item 1"


def test_items_removed_in_several_places_are_grouped_and_moved_ones_are_not() -> None:
    before = ["<Milk e1>", "button e2", "one", "<Tea e3>", "two", "<Jam e4>", "three", "four"]
    after = ["one", "1", "two", "three", "four", "<Jam e4>"]
    assert diff_outlines(before, after).lines == ("- e1–e3", "+ 1", "+ <Jam e4>")


def test_removed_lines_beyond_a_limit_are_counted() -> None:
    changed = diff_outlines([f"line {n}" for n in range(20)] + ["end"], ["end"])
    assert changed.lines[-1] == "- … 17 more lines"


def test_a_completely_changed_page_is_reported_as_whole() -> None:
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


def test_a_line_is_never_cut_within_a_reference() -> None:
    for length in range(1_990, 2_001):
        line = f"[{'x' * length} e123] and more" + " words" * 300
        assert set(find_refs(limit_lines([line], 100).text.replace("…", ""))) <= {"e123"}
        assert "e123" in limit_lines([line], 100).text or not find_refs(limit_lines([line], 100).text.replace("…", ""))


def test_a_value_of_any_length_is_read_in_pieces_without_extra_references() -> None:
    for value in ("A1" * 10_000, "word " * 4_000, ("x" * 1_999 + "e12") * 9):
        line = f'textbox "Long" e1 = "{value}" read-only'
        shown, offset = [], 0
        while offset is not None:
            piece = limit_lines(["before", line, "after"], 6_000, offset)
            shown, offset = [*shown, *piece.text.split("\n")], piece.next_offset
        assert "".join(shown).replace("…", "").replace(" ", "") == f"before{line}after".replace(" ", "")
        assert [ref for part in shown for ref in find_refs(part)] == ["e1"]


def test_interactive_lines_are_shown_under_their_headings() -> None:
    lines = ["# A", "text", "nav", " [x e1]", "## B", "more text"]
    assert filter_interactive(lines) == ["# A", "nav", " [x e1]"]


def test_matching_lines_are_shown_under_their_headings() -> None:
    lines = ["# A", "table", " one | 1", " Two | 2", "# B", "three"]
    assert filter_matching(lines, "two") == ["# A", "table", " Two | 2"]


def test_only_text_that_looks_like_a_reference_is_escaped_and_still_found() -> None:
    cases = {
        'button "Close" e1': r'button "Close" e\1',
        "[e12] <ea3> ref=fa4, (e5)": r"[e\12] <ea\3> ref=fa\4, (e\5)",
        "aws ec2, es6, fp16, utf8, E5, e0x1, name_e1": "aws ec2, es6, fp16, utf8, E5, e0x1, name_e1",
        "\u4ef7e1\u683c \u04351 \uff45\uff11": "\u4ef7e\\1\u683c \u0435\\1 \uff45\\\uff11",
    }
    assert {text: escape_refs(text) for text in cases} == cases
    assert [unescape_refs(text) for text in cases.values()] == list(cases)
    assert filter_matching([r'"the e\5 model"', "x"], "e5 model") == [r'"the e\5 model"']
