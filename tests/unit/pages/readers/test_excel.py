"""Excel workbooks: cells as tables within bounds."""

import pytest

from support.documents.office_files import (
    RELATIONSHIP_TYPE_PREFIX,
    SHEET_NAMESPACES,
    build_relationships,
    build_worksheet,
    build_xlsx,
    read_document,
)

COMMENTS = (
    f'<comments {SHEET_NAMESPACES}><authors><author>Bo</author></authors><commentList><comment ref="B2" authorId="0">'
)
COMMENTS += "<text><r><t>Measured?</t></r></text></comment></commentList></comments>"


def test_sheets_have_names_titles_and_tables():
    rows = ["Lights of the coast", "", ""], [], ["Name", "Height"], ["Cape Wend", 41], ["Tern", 12.100000000000001]
    document = read_document(build_xlsx({"Lights": build_worksheet(*rows)}))
    assert document.markdown == (
        "## Lights\n\nLights of the coast\n\n| Name | Height |\n| --- | --- |\n| Cape Wend | 41 |\n| Tern | 12.1 |"
    )
    assert (document.kind, document.metadata["sheets"]) == ("excel", ["Lights"])


@pytest.mark.parametrize(
    ("style", "number", "shown"),
    [
        (1, 45_351, "2024-02-29"),
        (1, 1, "1900-01-01"),
        (1, 61, "1900-03-01"),
        (2, 45_351.5, "2024-02-29 12:00:00"),
        (3, 0.125, "12.5%"),
        (4, 45_351, "2024-02-29"),
        (5, 1.5, "36:00:00"),
        (1, -3, "-3"),
        (0, 1e300, "1e+300"),
        (99, 7, "7"),
        (6, -1234.5, "-1234.5 €"),
        (7, 12, "CHF 12"),
        (8, 123, "00123"),
    ],
)
def test_numbers_are_shown_in_their_cell_formats(style: int, number: float, shown: str):
    assert (
        read_document(build_xlsx({"S": build_worksheet(["a", "b"], ["x", (style, number)])})).tables[0][1][1] == shown
    )


def test_merged_cells_repeat_their_value():
    merged = '<mergeCells><mergeCell ref="A2:A3"/><mergeCell ref="A1:C1"/></mergeCells>'
    document = read_document(build_xlsx({"S": build_worksheet(["Title"], ["x", 1, 2], ["", 3, 4], after=merged)}))
    assert document.tables == [[["x", "1", "2"], ["x", "3", "4"]]]
    assert "Title\n\n|" in document.markdown


def test_a_first_row_of_values_is_not_a_header_unless_they_are_years():
    for rows, head in (
        ((["Wend", 41, 118], ["Tern", 12, 64]), "|  |  |  |"),
        ((["Light", 2023, 2024], ["Wend", 118, 121]), "| Light | 2023 | 2024 |"),
    ):
        document = read_document(build_xlsx({"S": build_worksheet(*rows)}))
        assert document.markdown.split("\n\n")[1].startswith(f"{head}\n| --- | --- | --- |\n")
        assert document.tables == [[[str(cell) for cell in row] for row in rows]]


def test_an_empty_row_between_rows_of_text_does_not_end_their_table():
    rows = ["Light", "Keeper"], ["Wend", "Ann"], [], ["Tern", "Ben"]
    document = read_document(build_xlsx({"S": build_worksheet(*rows)}))
    assert document.tables == [[["Light", "Keeper"], ["Wend", "Ann"], ["Tern", "Ben"]]]


def test_links_and_comments_are_kept():
    links = f'<hyperlinks><hyperlink ref="A2" r:id="h" xmlns:r="{RELATIONSHIP_TYPE_PREFIX[:-1]}"/></hyperlinks>'
    parts = {
        "xl/worksheets/_rels/0.xml.rels": build_relationships(
            ("h", "hyperlink", "https://a.example/"), ("c", "comments", "../comments1.xml")
        ),
        "xl/comments1.xml": COMMENTS,
    }
    document = read_document(
        build_xlsx({"S": build_worksheet(["Name", "Height"], ["Wend", 41], after=links)}, parts=parts)
    )
    assert "| [Wend](https://a.example/) | 41 |" in document.markdown
    assert "> Comment at B2 by Bo: Measured?" in document.markdown


def test_hidden_sheets_rows_and_columns_are_left_out_and_counted():
    columns = '<cols><col min="2" max="2" hidden="1"/></cols>'
    shown = build_worksheet(["a", "secret", "c"], ["1", "2", "3"], ["4", "5", "6"], before=columns)
    shown = shown.replace('<row r="3">', '<row r="3" hidden="1">')
    document = read_document(
        build_xlsx({"S": shown, "Secret": build_worksheet(["x"])}, states={"Secret": "veryHidden"})
    )
    assert document.tables == [[["a", "", "c"], ["1", "", "3"]]]
    assert "(1 hidden row and 1 hidden column left out)" in document.markdown
    assert document.metadata["hidden"] == 3
    assert "secret" not in document.markdown.lower()


def test_an_oversized_sheet_reports_how_much_was_left_out():
    tall = build_worksheet(["n", "m"], *[[at, at] for at in range(7_000)])
    assert "(… 2001 more rows of this sheet were not read)" in read_document(build_xlsx({"S": tall})).markdown
    cells = "".join(f'<c t="str"><v>c{at}</v></c>' for at in range(100))
    wide = f"<worksheet {SHEET_NAMESPACES}><sheetData><row>{cells}</row><row>{cells}</row></sheetData></worksheet>"
    head, _, line = read_document(build_xlsx({"S": wide})).markdown.split("\n")[2:]
    assert head.endswith("| c59 | (and 40 more columns) |")
    assert line.count("|") == head.count("|")


def test_a_formula_without_a_value_is_shown():
    body = build_worksheet(["a", "b"], [1, 2]).replace("<v>2</v>", "<f>SUM(A1:A2)</f>")
    assert read_document(build_xlsx({"S": body})).tables == [[["a", "b"], ["1", "=SUM(A1:A2)"]]]


def test_rows_after_a_gap_continue_under_the_same_head():
    document = read_document(
        build_xlsx({"S": build_worksheet(["a", "b"], ["x", 1], [], ["y", 2], [], ["c", "d"], ["z", 3])})
    )
    assert document.tables == [[["a", "b"], ["x", "1"], ["y", "2"]], [["c", "d"], ["z", "3"]]]


def test_long_texts_shared_by_many_cells_are_cut_at_the_limit():
    rows = [[f"{'x' * 400}{number % 3}", "b", "c"] for number in range(100)]
    merged = '<mergeCells><mergeCell ref="A1:B100"/></mergeCells>'
    document = read_document(build_xlsx({"S": build_worksheet(*rows, after=merged * 100)}), max_chars=20_000)
    assert document.metadata["cut"] is True
    assert len(document.markdown) < 30_000


def test_a_cell_is_cut_at_excels_limit():
    document = read_document(build_xlsx({"S": build_worksheet(["a", "b"], ["x" * 40_000, "y"])}))
    assert len(document.tables[0][1][0]) == 32_767
