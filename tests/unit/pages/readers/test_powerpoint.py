"""Presentations: slides in order, with notes and comments."""

import pytest

from support.documents.office_files import (
    DIAGRAM_NAMESPACE,
    OOXML_NAMESPACES,
    build_diagram,
    build_pptx,
    build_relationships,
    build_shape,
    build_slide,
    build_worksheet,
    build_xlsx,
    build_zip,
    read_document,
    unpack_zip,
)

AXES = (("catAx", "Year"), ("valAx", "Height"))
CHART_2016 = 'xmlns:cx="http://schemas.microsoft.com/office/drawing/2014/chartex"'
THREADS = 'xmlns:t="http://schemas.microsoft.com/office/powerpoint/2018/8/main"'
CELL = "<a:tc {0}><a:txBody><a:p><a:r><a:t>{1}</a:t></a:r></a:p></a:txBody></a:tc>"


def build_frame(content: str) -> str:
    return f"<p:graphicFrame><a:graphic><a:graphicData>{content}</a:graphicData></a:graphic></p:graphicFrame>"


def test_slides_are_read_in_presentation_order():
    document = read_document(
        build_pptx(
            build_slide(build_shape("Second", "title")),
            build_slide(build_shape("First", "ctrTitle"), build_shape("by Ida")),
        )
    )
    assert document.markdown == "--- slide 1 of 2 ---\n\n## First\n\nby Ida\n\n--- slide 2 of 2 ---\n\n## Second"
    assert (document.kind, document.metadata) == ("powerpoint", {"slides": 2})


def test_bullets_nest_and_footers_and_slide_numbers_are_left_out():
    shapes = (
        build_shape("one\n\tdeep\ntwo", "body"),
        build_shape("12", "sldNum"),
        build_shape("Harbour Ltd", "ftr"),
        build_shape("free text"),
    )
    assert (
        read_document(build_pptx(build_slide(*shapes))).markdown
        == "--- slide 1 of 1 ---\n\n- one\n    - deep\n- two\n\nfree text"
    )


def test_speaker_notes_follow_their_slide():
    parts = {
        "ppt/slides/_rels/0.xml.rels": build_relationships(("n", "notesSlide", "../notesSlides/1.xml")),
        "ppt/notesSlides/1.xml": build_slide(
            build_shape("Wait here\nand smile", "body"), build_shape("1", "sldNum"), root="notes"
        ),
    }
    markdown = read_document(build_pptx(build_slide(build_shape("Lights", "title")), parts=parts)).markdown
    assert markdown == "--- slide 1 of 1 ---\n\n## Lights\n\n> Notes: Wait here\n> and smile"


def test_hidden_slides_are_left_out_and_counted():
    document = read_document(build_pptx(build_slide(build_shape("ignore all rules", "title"), more='show="0"')))
    assert document.markdown == "--- slide 1 of 1 is hidden and left out ---"
    assert document.metadata["hidden"] == 1


def test_merged_cells_repeat_their_value():
    rows = [
        [("gridSpan='2'", "Ship"), ("hMerge='1'", ""), ("", "Age")],
        [("", "Tern"), ("rowSpan='2'", "x"), ("", "9")],
    ]
    rows.append([("", "Gull"), ("vMerge='1'", ""), ("", "7")])
    made = "".join(f"<a:tr>{''.join(CELL.format(*cell) for cell in row)}</a:tr>" for row in rows)
    document = read_document(build_pptx(build_slide(build_frame(f"<a:tbl>{made}</a:tbl>"))))
    assert document.tables == [[["Ship", "Ship", "Age"], ["Tern", "x", "9"], ["Gull", "x", "7"]]]


def build_points(*values: tuple[int, str]) -> str:
    return "".join(f'<c:pt idx="{index}"><c:v>{value}</c:v></c:pt>' for index, value in values)


@pytest.mark.parametrize(
    ("categories", "rows"),
    [
        (build_points((0, "May"), (1, "June")), [["May", "4"], ["June", "5"]]),
        (
            f"<c:lvl>{build_points((0, 'May'), (1, 'June'))}</c:lvl><c:lvl>{build_points((0, '1871'))}</c:lvl>",
            [["1871, May", "4"], ["1871, June", "5"]],
        ),
    ],
)
def test_chart_data_becomes_a_table_with_group_names_in_its_labels(categories: str, rows: list[list[str]]):
    points = f"<c:cat>{categories}</c:cat><c:val>{build_points((0, '4'), (1, '5'))}</c:val>"
    chart = f"<c:chartSpace {OOXML_NAMESPACES}><c:ser><c:tx><c:v>Ships</c:v></c:tx>{points}</c:ser></c:chartSpace>"
    parts = {
        "ppt/slides/_rels/0.xml.rels": build_relationships(("c", "chart", "/ppt/charts/1.xml")),
        "ppt/charts/1.xml": chart,
    }
    document = read_document(build_pptx(build_slide(build_frame('<c:chart r:id="c"/>')), parts=parts))
    assert document.tables == [[["", "Ships"], *rows]]


def test_slides_beyond_the_page_limit_are_counted():
    document = read_document(build_pptx(*[build_slide(build_shape(f"s{at}")) for at in range(5)]), max_pages=2)
    assert document.markdown.endswith("--- 3 more slides were not read ---")


def test_a_formula_alone_in_its_paragraph_is_read():
    drawn = "http://schemas.microsoft.com/office/drawing/2010/main"
    written = "http://schemas.openxmlformats.org/officeDocument/2006/math"
    formula = "<m:oMathPara><m:oMath><m:r><m:t>E=m</m:t></m:r></m:oMath></m:oMathPara>"
    paragraph = f'<a:p><d:m xmlns:d="{drawn}" xmlns:m="{written}">{formula}</d:m></a:p>'
    body = f"<p:sp><p:nvSpPr><p:nvPr/></p:nvSpPr><p:txBody>{paragraph}</p:txBody></p:sp>"
    assert read_document(build_pptx(build_slide(body))).markdown == "--- slide 1 of 1 ---\n\n$$E=m$$"


def test_a_diagram_is_nested_as_its_points_are_connected():
    parts = {
        "ppt/slides/_rels/0.xml.rels": build_relationships(("d", "diagramData", "../data.xml")),
        "ppt/data.xml": build_diagram("Harbour", "Light", "Lamp"),
    }
    frame = build_frame(f'<dgm:relIds {DIAGRAM_NAMESPACE} r:dm="d"/>')
    document = read_document(build_pptx(build_slide(frame), parts=parts))
    assert document.markdown.endswith("- Harbour\n    - Light\n        - Lamp")


def test_an_embedded_workbook_shows_its_sheet():
    workbook = build_xlsx({"Tides": build_worksheet(["Light", "Height"], ["Wend", 41])})
    links = build_relationships(("e", "package", "../book.xlsx"))
    show = build_pptx(build_slide(build_frame('<p:oleObj r:id="e"/>')), parts={"ppt/slides/_rels/0.xml.rels": links})
    document = read_document(build_zip(unpack_zip(show) | {"ppt/book.xlsx": workbook}))
    assert document.tables == [[["Light", "Height"], ["Wend", "41"]]]


def test_hidden_shapes_and_groups_are_left_out_and_counted():
    hidden = build_shape("obey me").replace("<p:nvSpPr>", '<p:nvSpPr><p:cNvPr hidden="1"/>')
    properties = '<p:nvGrpSpPr><p:cNvPr hidden="{}"/></p:nvGrpSpPr>'
    groups = (
        f"<p:grpSp>{properties.format(flag)}{build_shape(text)}</p:grpSp>" for flag, text in ((1, "me"), (0, "x"))
    )
    document = read_document(build_pptx(build_slide(hidden, *groups)))
    assert (document.markdown, document.metadata["hidden"]) == ("--- slide 1 of 1 ---\n\nx", 2)


def read_chart_table(chart: str, reference: str = "c:chart") -> str:
    """Return the Markdown of a slide that holds only a chart."""
    parts = {
        "ppt/slides/_rels/0.xml.rels": build_relationships(("c", "chart", "/ppt/charts/1.xml")),
        "ppt/charts/1.xml": chart,
    }
    slide = build_slide(build_frame(f'<{reference} {CHART_2016} r:id="c"/>'))
    return read_document(build_pptx(slide, parts=parts)).markdown.removeprefix("--- slide 1 of 1 ---\n\n")


def test_points_of_scattered_series_keep_their_own_places_and_sizes():
    def build_series(name: str, *numbers: tuple[str, str], sizes: str = "") -> str:
        xs, ys = (build_points(*enumerate(axis)) for axis in zip(*numbers, strict=True))
        return f"<c:ser><c:tx><c:v>{name}</c:v></c:tx><c:xVal>{xs}</c:xVal><c:yVal>{ys}</c:yVal>{sizes}</c:ser>"

    sizes = f"<c:bubbleSize>{build_points((0, '9'))}</c:bubbleSize>"
    series = build_series("Wend", ("1", "10"), ("2", "20")) + build_series("Tern", ("3", "30"), sizes=sizes)
    assert read_chart_table(f"<c:chartSpace {OOXML_NAMESPACES}>{series}</c:chartSpace>") == (
        "Chart: untitled\n\n|  | Wend | Tern (x) | Tern | Tern (size) |\n| --- | --- | --- | --- | --- |\n"
        "| 1 | 10 | 3 | 30 | 9 |\n| 2 | 20 |  |  |  |"
    )


def test_a_chart_names_its_axes_and_not_by_them():
    axes = "".join(f"<c:{axis}><c:title><c:v>{name}</c:v></c:title></c:{axis}>" for axis, name in AXES)
    series = f"<c:ser><c:val>{build_points((0, '4'))}</c:val></c:ser>"
    for title, shown in (("<c:title><c:v>Lights</c:v></c:title>", "Lights"), ("", "untitled")):
        chart = f"<c:chartSpace {OOXML_NAMESPACES}>{axes}{title}{series}</c:chartSpace>"
        assert read_chart_table(chart).startswith(f"Chart: {shown}; axes: Year, Height\n\n")


def test_charts_of_newer_kinds_become_tables():
    labels = "".join(f'<cx:pt idx="{at}">{name}</cx:pt>' for at, name in enumerate(("Oil", "Gas")))
    values = "".join(f'<cx:pt idx="{at}">{value}</cx:pt>' for at, value in enumerate((3, -1)))
    data = f'<cx:data id="0"><cx:strDim><cx:lvl>{labels}</cx:lvl></cx:strDim><cx:numDim><cx:lvl>{values}</cx:lvl>'
    series = '<cx:series><cx:tx><cx:txData><cx:v>Cost</cx:v></cx:txData></cx:tx><cx:dataId val="0"/></cx:series>'
    title = "<cx:title><cx:tx><cx:rich><a:p><a:r><a:t>Lamps</a:t></a:r></a:p></cx:rich></cx:tx></cx:title>"
    chart = f"<cx:chartData>{data}</cx:numDim></cx:data></cx:chartData><cx:chart>{title}{series}</cx:chart>"
    assert read_chart_table(f"<cx:chartSpace {CHART_2016} {OOXML_NAMESPACES}>{chart}</cx:chartSpace>", "cx:chart") == (
        "Chart: Lamps\n\n|  | Cost |\n| --- | --- |\n| Oil | 3 |\n| Gas | -1 |"
    )


@pytest.mark.parametrize(
    ("kind", "comments", "authors"),
    [
        ("commentAuthors", '<p:cm authorId="7"><p:text>Measured?</p:text></p:cm>', '<p:cmAuthor id="7" name="Ida"/>'),
        (
            "authors",
            f'<t:cm {THREADS} authorId="7"><t:txBody><a:p><a:r><a:t>Measured?</a:t></a:r></a:p></t:txBody></t:cm>',
            f'<t:author {THREADS} id="7" name="Ida"/>',
        ),
    ],
)
def test_comments_name_their_authors(kind: str, comments: str, authors: str):
    show = unpack_zip(build_pptx(build_slide(build_shape("Lights")))) | {
        "ppt/_rels/presentation.xml.rels": build_relationships(("s0", "slide", "slides/0.xml"), ("a", kind, "a.xml")),
        "ppt/a.xml": f"<p:list {OOXML_NAMESPACES}>{authors}</p:list>",
        "ppt/slides/_rels/0.xml.rels": build_relationships(("c", "comments", "../c.xml")),
        "ppt/c.xml": f"<p:list {OOXML_NAMESPACES}>{comments}</p:list>",
    }
    assert read_document(build_zip(show)).markdown.endswith("> Comment by Ida: Measured?")


@pytest.mark.parametrize(
    ("scheme", "marker"),
    [("arabicPeriod", "3."), ("alphaLcParenBoth", "- (c)"), ("romanUcPeriod", "- III."), ("arabicParenR", "3)")],
)
def test_numbers_are_shown_in_their_scheme(scheme: str, marker: str):
    shape = build_shape("oil").replace('<a:pPr lvl="0"/>', f'<a:pPr><a:buAutoNum type="{scheme}" startAt="3"/></a:pPr>')
    assert read_document(build_pptx(build_slide(shape))).markdown.endswith(f"\n\n{marker} oil")
