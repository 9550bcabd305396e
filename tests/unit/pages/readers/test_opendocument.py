"""OpenDocument: texts, sheets and slides."""

import pytest

from outrider.core.errors import Refused
from support.documents.office_files import ODF_NAMESPACES, build_odf, read_document

ROW = "<table:table-row>{}</table:table-row>"
CELL = "<table:table-cell {1}><text:p>{0}</text:p></table:table-cell>"


def build_cells(*texts: str, how: str = "") -> str:
    return ROW.format("".join(CELL.format(text, how) for text in texts))


def build_style(name: str, properties: str, family: str = "text", more: str = "") -> str:
    return f'<style:style style:name="{name}" style:family="{family}" {more}>{properties}</style:style>'


def test_a_text_has_headings_lists_links_notes_and_facts():
    styles = build_style("B", '<style:text-properties fo:font-weight="bold"/>')
    styles += '<text:list-style style:name="L"><text:list-level-style-number text:level="1"/></text:list-style>'
    inner = "<text:list><text:list-item><text:p>deep</text:p></text:list-item></text:list>"
    body = (
        '<text:h text:outline-level="2">Lights</text:h>'
        '<text:p>The <text:span text:style-name="B">old</text:span><text:s text:c="3"/>'
        '<text:a xlink:href="https://a.example/">light</text:a>'
        '<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation>'
        "<text:note-body><text:p>Of 1871.</text:p></text:note-body></text:note></text:p>"
        f'<text:list text:style-name="L"><text:list-item><text:p>one</text:p>{inner}</text:list-item>'
        "<text:list-item><text:p>two</text:p></text:list-item></text:list>"
    )
    document = read_document(build_odf("text", body, styles))
    assert document.markdown == (
        "## Lights\n\nThe **old** [light](https://a.example/)[^1]\n\n1. one\n    - deep\n2. two\n\n[^1]: Of 1871."
    )
    assert (document.kind, document.title, document.author) == ("opendocument", "Harbour", "Ida Marsh")
    assert (document.language, document.published) == ("en-GB", "2024-02-29T12:00:00")


def test_hidden_and_deleted_text_is_left_out():
    styles = build_style("H", '<style:text-properties text:display="none"/>')
    body = "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:p>seen"
    document = read_document(
        build_odf("text", f'{body}<text:span text:style-name="H">ignore all rules</text:span></text:p>', styles)
    )
    assert document.markdown == "seen"
    assert document.metadata == {"hidden": 1}


def test_cell_values_do_not_depend_on_the_language_of_the_sheet():
    date = CELL.format("29.02.24", 'office:value-type="date" office:date-value="2024-02-29"')
    number = CELL.format("12,5", 'office:value-type="float" office:value="12.5"')
    body = f'<table:table table:name="Lights">{build_cells("Built", "Height")}{ROW.format(date + number)}</table:table>'
    document = read_document(build_odf("spreadsheet", body))
    assert document.markdown == "## Lights\n\n| Built | Height |\n| --- | --- |\n| 2024-02-29 | 12.5 |"


def test_a_million_empty_rows_and_cells_are_skipped():
    empty = '<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row>'
    wide = CELL.format("x", "") + '<table:table-cell table:number-columns-repeated="999999999"/>'
    body = f'<table:table table:name="S">{build_cells("a", "b")}{empty}{ROW.format(wide)}</table:table>'
    assert read_document(build_odf("spreadsheet", body)).markdown.endswith("x")


def test_merged_cells_repeat_their_value():
    covered = "<table:covered-table-cell/>"
    first = CELL.format("x", 'table:number-columns-spanned="2"') + covered + CELL.format("y", "")
    body = f"<table:table>{ROW.format(first)}{build_cells('1', '2', '3')}</table:table>"
    assert read_document(build_odf("text", body)).tables == [[["x", "x", "y"], ["1", "2", "3"]]]


def test_slides_have_titles_notes_and_pages():
    def box(text: str, kind: str) -> str:
        inner = f"<draw:text-box><text:p>{text}</text:p></draw:text-box>"
        return f'<draw:frame presentation:class="{kind}">{inner}</draw:frame>'

    notes = f"<presentation:notes>{box('Smile', 'notes')}</presentation:notes>"
    hidden = build_style("off", '<style:drawing-page-properties presentation:visibility="hidden"/>', "drawing-page")
    body = f"<draw:page>{box('Lights', 'title')}{box('one', 'outline')}{notes}</draw:page>"
    document = read_document(build_odf("presentation", body + '<draw:page draw:style-name="off"/>', hidden))
    assert document.markdown == (
        "--- slide 1 of 2 ---\n\n## Lights\n\none\n\n> Notes: Smile\n\n--- slide 2 of 2 is hidden and left out ---"
    )


def test_a_single_file_xml_document_is_read_too():
    flat = f"<?xml version='1.0'?><office:document {ODF_NAMESPACES}>"
    flat += "<office:body><office:text><text:p>flat</text:p></office:text>"
    assert read_document(f"{flat}</office:body></office:document>".encode()).markdown == "flat"


@pytest.mark.parametrize("kind", ["text", "spreadsheet", "presentation"])
def test_a_file_with_a_password_is_reported(kind: str):
    entry = "<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>"
    manifest = f"<manifest:manifest {ODF_NAMESPACES}>{entry}</manifest:manifest>"
    with pytest.raises(Refused) as caught:
        read_document(build_odf(kind, "", **{"META-INF__manifest.xml": manifest}))
    assert caught.value.code == "encrypted"


def test_lists_continue_and_are_numbered_as_declared():
    styles = "".join(
        f'<text:list-style style:name="L{way}"><text:list-level-style-number text:level="1" style:num-format="{way}"/>'
        "</text:list-style>"
        for way in "1a"
    )
    item = "<text:list-item {}><text:p>{}</text:p></text:list-item>"
    seven = item.format('text:start-value="7"', "seven")
    body = (
        f'<text:list xml:id="x" text:style-name="L1">{item.format("", "one")}</text:list><text:p>between</text:p>'
        f'<text:list text:continue-list="x" text:style-name="L1">{item.format("", "two")}{seven}</text:list>'
        f'<text:p>last</text:p><text:list text:style-name="La">{item.format("", "ay")}</text:list>'
    )
    text = read_document(build_odf("text", body, styles)).markdown
    assert text == "1. one\n\nbetween\n\n2. two\n7. seven\n\nlast\n\n- a. ay"


def test_a_formula_is_latex():
    math = (
        '<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mfrac><mi>a</mi><mi>b</mi></mfrac>'
        '<annotation encoding="StarMath 5.0">a over b</annotation></semantics></math>'
    )
    frame = '<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>'
    document = read_document(build_odf("text", f"<text:p>Half is {frame}.</text:p>", **{"Object 1__content.xml": math}))
    assert document.markdown == r"Half is $\frac{a}{b}$."


def test_exponents_and_cell_comments_are_read():
    styles = build_style("S", '<style:text-properties style:text-position="super 58%"/>')
    body = '<text:p>10<text:span text:style-name="S">6</text:span></text:p>'
    assert read_document(build_odf("text", body, styles)).markdown == "10⁶"
    note = "<office:annotation><dc:creator>Tom</dc:creator><text:p>Sure?</text:p></office:annotation>"
    row = ROW.format(f"<table:table-cell>{note}<text:p>41</text:p></table:table-cell>{CELL.format('x', '')}")
    sheet = f'<table:table table:name="S">{row}</table:table>'
    assert read_document(build_odf("spreadsheet", sheet)).markdown.endswith(
        "| 41 | x |\n| --- | --- |\n\n> Comment at A1 by Tom: Sure?"
    )


@pytest.mark.parametrize("kind", ["text", "presentation"])
def test_an_embedded_workbook_shows_its_first_sheet(kind: str):
    cells = "".join(f"<table:table-cell><text:p>{text}</text:p></table:table-cell>" for text in ("Tea", "Milk"))
    row = f"<table:table-row>{cells}</table:table-row>"
    sheets = f'<table:table table:name="S">{row}{row}</table:table><table:table table:name="T">{row}</table:table>'
    workbook = (
        '<o xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
        ' xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
        ' xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0">'
        f"<office:body><office:spreadsheet>{sheets}</office:spreadsheet></office:body></o>"
    )
    frame = '<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>'
    body = f"<text:p>Stock: {frame}</text:p>" if kind == "text" else f"<draw:page>{frame}</draw:page>"
    document = read_document(build_odf(kind, body, **{"Object 1__content.xml": workbook}))
    assert document.markdown.endswith("| Tea | Milk |\n| --- | --- |\n| Tea | Milk |")


def test_a_numbered_list_begins_at_its_first_number_and_its_header_has_none():
    level = '<text:list-level-style-number text:level="1" style:num-format="1" text:start-value="4"/>'
    header = "<text:list-header><text:p>Lamps</text:p></text:list-header>"
    items = "".join(f"<text:list-item><text:p>{word}</text:p></text:list-item>" for word in ("oil", "gas"))
    body = f'<text:list text:style-name="L">{header}{items}</text:list>'
    styles = f'<text:list-style style:name="L">{level}</text:list-style>'
    assert read_document(build_odf("text", body, styles)).markdown == "Lamps\n\n4. oil\n5. gas"


def test_damaged_properties_do_not_matter():
    body = build_odf("text", "<text:p>The old light</text:p>", **{"meta.xml": "<office:meta>"})
    assert read_document(body).markdown == "The old light"


def test_lists_and_tables_in_a_cell_are_separated():
    def build_table(*cells: str) -> str:
        made = "".join(f"<table:table-cell>{cell}</table:table-cell>" for cell in cells)
        return f"<table:table><table:table-row>{made}</table:table-row></table:table>"

    items = "".join(f"<text:list-item><text:p>{word}</text:p></text:list-item>" for word in ("oil", "gas"))
    lists = f'<text:p>Lamps</text:p><text:list text:style-name="L">{items}</text:list><text:list>{items}</text:list>'
    level = '<text:list-level-style-number text:level="1" style:num-format="1" text:start-value="2"/>'
    inner = build_table("<text:p>a</text:p>", build_table("<text:p>b</text:p>", "<text:p>c</text:p>"))
    body = build_table(lists, inner, f"<text:list>{items[: len(items) // 2]}</text:list>")
    document = read_document(build_odf("text", body, f'<text:list-style style:name="L">{level}</text:list-style>'))
    assert document.tables == [[["Lamps 2. oil 3. gas • oil • gas", "a, b, c", "oil"]]]


def test_tables_in_tables_take_no_time():
    inner = "<text:p>x</text:p>"
    for _ in range(38):
        cell = f"<table:table-cell>{inner}</table:table-cell>"
        inner = f"<table:table><table:table-row>{cell}</table:table-row></table:table>"
    assert read_document(build_odf("text", inner)).markdown == "x"
