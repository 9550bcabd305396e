"""Excel workbooks: cells as tables within bounds."""

import pytest

from support.documents.office_files import (
    DIAGRAM_NAMESPACE,
    OOXML_NAMESPACES,
    RELATIONSHIP_TYPE_PREFIX,
    SHEET_NAMESPACES,
    build_diagram,
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
        (9, 12.5, "12.5 kg"),
        (10, 3, "Pier 3"),
        (11, 1_234_567, "1234567"),
        (12, 7, "7 nm"),
        (13, 1, "1"),
        (0, 4_539_578_763_621_486, "4539578763621486"),
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


def build_formula_cell(at: str, formula: str = "", value: str = "", attributes: str = "") -> str:
    kind = ' t="str"' if value and not value.isdigit() else ""
    return f'<c r="{at}"{kind}><f {attributes}>{formula}</f>{f"<v>{value}</v>" if value else ""}</c>'


def build_formula_sheet(*rows: str) -> str:
    numbered = "".join(f'<row r="{number}">{row}</row>' for number, row in enumerate(rows, 1))
    return f"<worksheet {SHEET_NAMESPACES}><sheetData>{numbered}</sheetData></worksheet>"


def test_shared_formulas_without_values_are_shown_for_each_of_their_cells():
    formula = "IF($A1&gt;B$1,LOG10(A1)+'Q1'!C2,&quot;A1&quot;)"
    sheet = build_formula_sheet(
        build_formula_cell("C1", formula, attributes='t="shared" ref="C1:C3" si="0"') + build_formula_cell("D1", "Z9"),
        build_formula_cell("C2", value="5", attributes='t="shared" si="0"') + build_formula_cell("D2", "Z9"),
        build_formula_cell("C3", attributes='t="shared" si="0"')
        + build_formula_cell("D3", attributes='t="shared" si="0"'),
        build_formula_cell("C4", attributes='t="shared" si="7"') + build_formula_cell("D4", "Z9"),
    )
    assert read_document(build_xlsx({"S": sheet})).tables == [
        [
            ["=IF($A1>B$1,LOG10(A1)+'Q1'!C2,\"A1\")", "=Z9"],
            ["5", "=Z9"],
            ["=IF($A3>B$1,LOG10(A3)+'Q1'!C4,\"A1\")", "=IF($A3>C$1,LOG10(B3)+'Q1'!D4,\"A1\")"],
            ["", "=Z9"],
        ]
    ]


def test_a_formula_that_is_a_link_becomes_one():
    sheet = build_formula_sheet(
        build_formula_cell("A1", 'HYPERLINK("https://a.example/","Light")', "Light"),
        build_formula_cell("A2", 'HYPERLINK("https://a.example/","Light")'),
        build_formula_cell("A3", 'HYPERLINK("https://b.example/")'),
        build_formula_cell("A4", 'HYPERLINK("#Tide!A1","Tide")', "Tide"),
    )
    document = read_document(build_xlsx({"S": sheet}))
    assert document.markdown.split("\n\n")[1:] == [
        "[Light](https://a.example/)",
        "[Light](https://a.example/)",
        "[https://b.example/](https://b.example/)",
        "Tide",
    ]
    assert [link.url for link in document.links] == ["https://a.example/", "https://b.example/"]


def test_formulas_that_no_program_has_computed_are_shown_instead_of_zero():
    rows = build_formula_cell("A1", "SUM(B1:B9)", "0"), build_formula_cell("A2", "B1", "3"), '<c r="A3"><v>0</v></c>'
    sheet = build_formula_sheet(*rows)
    workbook = f'<workbook {SHEET_NAMESPACES}><sheets><sheet name="S" r:id="s0"/></sheets>%s</workbook>'
    for setting, shown in (('<calcPr fullCalcOnLoad="1"/>', "=SUM(B1:B9)"), ("<calcPr/>", "0")):
        document = read_document(build_xlsx({"S": sheet}, parts={"xl/workbook.xml": workbook % setting}))
        assert document.markdown == f"## S\n\n{shown}\n\n3\n\n0"


def build_drawing(content: str, **parts: str) -> dict[str, str]:
    """Return the parts of a drawing on the first sheet, with parts that it refers to by `r0`."""
    space = "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"
    frame = f"<xdr:graphicFrame><xdr:nvGraphicFramePr><xdr:cNvPr/></xdr:nvGraphicFramePr>{content}</xdr:graphicFrame>"
    links = [(f"r{at}", kind, f"{kind}.xml") for at, kind in enumerate(parts)]
    return {
        "xl/worksheets/_rels/0.xml.rels": build_relationships(("d", "drawing", "../d/drawing.xml")),
        "xl/d/drawing.xml": f'<xdr:wsDr xmlns:xdr="{space}" {OOXML_NAMESPACES}>{frame}</xdr:wsDr>',
        "xl/d/_rels/drawing.xml.rels": build_relationships(*links),
        **{f"xl/d/{kind}.xml": content for kind, content in parts.items()},
    }


def test_a_chart_is_named_by_its_title_whose_runs_may_divide_words():
    lines = "<a:p><a:r><a:t>Li</a:t></a:r><a:r><a:t>ghts</a:t></a:r></a:p><a:p><a:r><a:t>by year</a:t></a:r></a:p>"
    chart = f"<c:chartSpace {OOXML_NAMESPACES}><c:title><c:tx><c:rich>{lines}</c:rich></c:tx></c:title></c:chartSpace>"
    parts = build_drawing('<c:chart r:id="r0"/>', chart=chart)
    assert read_document(build_xlsx({"S": build_worksheet([1])}, parts=parts)).markdown.endswith(
        "(chart: Lights by year)"
    )


def test_the_points_of_a_diagram_are_listed():
    parts = build_drawing(f'<dgm:relIds {DIAGRAM_NAMESPACE} r:dm="r0"/>', diagramData=build_diagram("Keel", "Deck"))
    assert read_document(build_xlsx({"S": build_worksheet([1])}, parts=parts)).markdown.endswith("- Keel\n    - Deck")


def test_comments_of_a_discussion_name_their_authors():
    space = 'xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"'
    comment = '<threadedComment ref="A1" personId="{p}"><text>Measured?</text></threadedComment>'
    links = build_relationships(("s0", "worksheet", "worksheets/0.xml"), ("p", "person", "people.xml"))
    parts = {
        "xl/_rels/workbook.xml.rels": links,
        "xl/people.xml": f'<personList {space}><person id="{{p}}" displayName="Ida"/></personList>',
        "xl/worksheets/_rels/0.xml.rels": build_relationships(("t", "threadedComment", "../threads.xml")),
        "xl/threads.xml": f"<ThreadedComments {space}>{comment}</ThreadedComments>",
    }
    document = read_document(build_xlsx({"S": build_worksheet([1])}, parts=parts))
    assert document.markdown.endswith("> Comment at A1 by Ida: Measured?")


def test_a_formula_that_many_cells_share_takes_little_time():
    master = build_formula_cell("A1", "+".join(["A1"] * 160), attributes='t="shared" si="0"')
    rows = [master, *['<c><f t="shared" si="0"/></c>' * 40] * 200]
    document = read_document(build_xlsx({"S": build_formula_sheet(*rows)}))
    assert document.markdown.count("=") == 1 + 500_000 // 479 + 1


@pytest.mark.parametrize(
    ("state", "shown"),
    [("visible", ""), ("hidden", "|  | Ships |\n| --- | --- |\n| 1 | 4 |\n\n(1 hidden sheet left out)")],
)
def test_the_numbers_of_a_chart_are_shown_unless_their_cells_are(state: str, shown: str):
    values = "<c:numRef><c:f>'Ida''s'!$A$1</c:f><c:numCache><c:pt idx=\"0\"><c:v>4</c:v></c:pt></c:numCache></c:numRef>"
    series = f"<c:ser><c:tx><c:v>Ships</c:v></c:tx><c:val>{values}</c:val></c:ser>"
    title = "<c:title><c:tx><c:v>Fleet</c:v></c:tx></c:title>"
    parts = build_drawing(
        '<c:chart r:id="r0"/>', chart=f"<c:chartSpace {OOXML_NAMESPACES}>{title}{series}</c:chartSpace>"
    )
    sheets = {"S": build_worksheet(["Fleet:"]), "Ida's": build_worksheet([4])}
    document = read_document(build_xlsx(sheets, states={"Ida's": state}, parts=parts))
    rest = document.markdown.split("(chart: Fleet)")[1]
    assert rest.strip() == (shown or "## Ida's\n\n4")


@pytest.mark.parametrize("hidden", ["row", "column"])
def test_comments_of_hidden_cells_are_left_out_and_counted(hidden: str):
    columns = '<cols><col min="2" max="2" hidden="1"/></cols>' if hidden == "column" else ""
    sheet = build_worksheet(["a", "b"], [1, 2], before=columns)
    sheet = sheet.replace('<row r="2">', '<row r="2" hidden="1">') if hidden == "row" else sheet
    parts = {
        "xl/worksheets/_rels/0.xml.rels": build_relationships(("c", "comments", "../comments1.xml")),
        "xl/comments1.xml": COMMENTS,
    }
    document = read_document(build_xlsx({"S": sheet}, parts=parts))
    assert "Measured?" not in document.markdown
    assert document.metadata["hidden"] == 2
