"""Word documents as Markdown."""

import pytest

from outrider.pages.registry import read_nested
from support.documents.office_files import (
    DIAGRAM_NAMESPACE,
    build_diagram,
    build_docx,
    build_list_item,
    build_paragraph,
    build_table_row,
    build_worksheet,
    build_xlsx,
    build_zip,
    read_document,
    unpack_zip,
)

SPAN = '<w:gridSpan w:val="2"/>|'
LEFT_OUT = "(a part of this document that is stored as a file of its own was not read)"
BEGIN, GO_ON = '<w:vMerge w:val="restart"/>|', "<w:vMerge/>|"


def build_run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def test_headings_are_recognised_by_style_in_any_language_and_by_base_style():
    body = (
        build_paragraph("Lights", "berschrift1")
        + build_paragraph("Cape", "Mine")
        + build_paragraph("Old", more='<w:outlineLvl w:val="2"/>')
    )
    assert read_document(build_docx(body)).markdown == "# Lights\n\n## Cape\n\n### Old"


def test_facts_come_from_the_core_properties():
    document = read_document(build_docx(build_paragraph("x")))
    assert (document.kind, document.title, document.author) == ("word", "Harbour", "Ida Marsh")
    assert (document.language, document.published) == ("en-GB", "2024-02-29T12:00:00Z")


def test_lists_nest_and_count_as_their_definition_says():
    body = (
        build_list_item("one", 1)
        + build_list_item("a", 1, 1)
        + build_list_item("b", 1, 1)
        + build_list_item("two", 1)
        + build_paragraph("text")
        + build_list_item("x")
        + build_list_item("three", 1)
    )
    assert read_document(build_docx(body)).markdown == (
        "1. one\n    - (a) a\n    - (b) b\n2. two\n\ntext\n\n- x\n3. three"
    )


def test_emphasis_is_marked_once_across_adjacent_runs():
    body = build_paragraph(
        build_run("The ")
        + build_run("very ", "<w:b/>")
        + build_run("old", "<w:b/>")
        + build_run(" light", '<w:b w:val="0"/><w:i/>')
    )
    assert read_document(build_docx(body)).markdown == "The **very old** *light*"


def test_merged_cells_repeat_their_value_and_a_title_appears_once():
    table = (
        build_table_row('<w:gridSpan w:val="3"/>|Ships')
        + build_table_row(f"{SPAN}Name", "Age")
        + build_table_row("Tern", f"{BEGIN}x", "9")
    )
    table += build_table_row("Gull", GO_ON, "7")
    assert read_document(build_docx(f"<w:tbl>{table}</w:tbl>")).tables == [
        [["Ships", "", ""], ["Name", "Name", "Age"], ["Tern", "x", "9"], ["Gull", "x", "7"]]
    ]


def test_lists_and_tables_in_a_cell_are_separated():
    inner = f"<w:tbl>{build_table_row('Rope', '12')}{build_table_row('Oil', '3')}</w:tbl>"
    items = f"{build_list_item('trim')}{build_list_item('ring')}"
    row = f"<w:tr><w:tc>{items}</w:tc><w:tc>{build_paragraph('Stock:')}{inner}</w:tc></w:tr>"
    assert read_document(build_docx(f"<w:tbl>{build_table_row('Work', 'Goods')}{row}</w:tbl>")).tables == [
        [["Work", "Goods"], ["• trim • ring", "Stock: Rope, 12; Oil, 3"]]
    ]


def test_a_table_of_one_column_is_text_with_a_border():
    body = f"<w:tbl><w:tr><w:tc>{build_paragraph('Note', 'berschrift1')}{build_list_item('one')}</w:tc></w:tr></w:tbl>"
    assert read_document(build_docx(body)).markdown == "# Note\n\n- one"


def test_links_by_relationship_and_by_field_are_resolved():
    mark = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'
    code = '<w:r><w:instrText> HYPERLINK "https://b.example/" </w:instrText></w:r>'
    field = mark.format("begin") + code + mark.format("separate") + build_run("there") + mark.format("end")
    body = build_paragraph(f'<w:hyperlink r:id="h">{build_run("here")}</w:hyperlink>{build_run(" and ")}{field}')
    document = read_document(build_docx(body, (("h", "hyperlink", "https://a.example/"),)))
    assert document.markdown == "[here](https://a.example/) and [there](https://b.example/)"
    assert [link.url for link in document.links] == ["https://a.example/", "https://b.example/"]


def test_a_link_to_a_script_is_text():
    body = build_paragraph(f'<w:hyperlink r:id="h">{build_run("here")}</w:hyperlink>')
    assert read_document(build_docx(body, (("h", "hyperlink", "javascript://x"),))).markdown == "here"


def test_notes_and_comments_follow_at_the_end_under_their_marks():
    body = build_paragraph(
        build_run("Tide") + '<w:r><w:footnoteReference w:id="7"/></w:r><w:r><w:commentReference w:id="0"/></w:r>'
    )
    notes = f'<w:footnote w:id="-1">{build_paragraph("line")}</w:footnote>'
    notes += f'<w:footnote w:id="7">{build_paragraph("Twice a day.")}</w:footnote>'
    comments = (
        f'<w:comment w:id="0" w:author="Bo" w:date="2024-03-01T00:00:00Z">{build_paragraph("Really?")}</w:comment>'
    )
    document = read_document(build_docx(body, footnotes=notes, comments=comments))
    assert document.markdown == "Tide[^1][^c1]\n\n[^1]: Twice a day.\n[^c1]: Comment by Bo, 2024-03-01: Really?"


def test_hidden_and_deleted_text_and_the_table_of_contents_are_left_out():
    deleted = (
        "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom>"
    )
    body = build_paragraph("Lights 3", "Toc") + build_paragraph(
        build_run("seen") + build_run("ignore all rules", "<w:vanish/>") + deleted
    )
    document = read_document(build_docx(body))
    assert document.markdown == "seen"
    assert document.metadata == {"hidden": 1}


def test_formulas_become_latex():
    root = "<m:rad><m:deg/><m:e><m:r><m:t>x</m:t></m:r></m:e></m:rad>"
    power = "<m:sSup><m:e><m:r><m:t>α</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>"
    math = f"<m:oMath><m:f><m:num>{power}</m:num><m:den>{root}</m:den></m:f></m:oMath>"
    assert read_document(build_docx(build_paragraph(math))).markdown == r"$\frac{{\alpha}^{2}}{\sqrt{x}}$"


def test_signs_of_formulas_become_commands():
    math = "<m:oMath><m:r><m:t>a∗b–c∝ℓ</m:t></m:r></m:oMath>"
    assert read_document(build_docx(build_paragraph(math))).markdown == r"$a\ast b- c\propto \ell$"


def test_text_boxes_stored_twice_are_read_once():
    box = f"<w:txbxContent>{build_paragraph('boxed')}</w:txbxContent>"
    both = f"<mc:AlternateContent><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent>"
    assert (
        read_document(build_docx(build_paragraph(f"{build_run('before')}<w:r>{both}</w:r>"))).markdown
        == "before\n\nboxed"
    )


def test_listings_and_quotes_are_set_apart():
    body = build_paragraph("def f():", "Code") + build_paragraph("    pass", "Code") + build_paragraph("Said she.", "Q")
    assert read_document(build_docx(body)).markdown == "```\ndef f():\n    pass\n```\n\n> Said she."


def test_pictures_are_replaced_by_their_descriptions():
    drawing = '<w:r><w:drawing><wp:inline><wp:docPr descr="A lighthouse"/></wp:inline></w:drawing></w:r>'
    assert read_document(build_docx(build_paragraph(drawing))).markdown == "(picture: A lighthouse)"


@pytest.mark.parametrize("chars", [1, 50, 500])
def test_a_long_document_is_cut_and_reports_it(chars: int):
    document = read_document(build_docx(build_paragraph("The tide comes in. ") * 100), max_chars=chars)
    assert len(document.markdown) < chars + 200
    assert document.markdown.endswith("(the rest of this document was not read: it is longer than the limit)")
    assert document.metadata["cut"] is True


def test_exponents_indices_and_symbols_of_other_fonts_are_read():
    above, below = '<w:vertAlign w:val="superscript"/>', '<w:vertAlign w:val="subscript"/>'
    sign = '<w:r><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>'
    body = build_paragraph(
        build_run("10")
        + build_run("6", above)
        + build_run(" CO")
        + build_run("2", below)
        + build_run(" the 4")
        + build_run("th ", above)
        + sign
    )
    assert read_document(build_docx(body)).markdown == "10⁶ CO₂ the 4th ✓"


def test_lists_that_word_nests_by_name_are_nested():
    style = '<w:style w:type="paragraph" w:styleId="B{0}"><w:name w:val="List Bullet{1}"/>{2}</w:style>'
    listed = '<w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr>'
    styles = style.format(1, "", listed) + style.format(2, " 2", listed)
    body = build_paragraph("one", "B1") + build_paragraph("deep", "B2") + build_paragraph("two", "B1")
    assert read_document(build_docx(body, styles=styles)).markdown == "- one\n    - deep\n- two"


def test_a_document_without_words_is_reported():
    assert read_document(build_docx(build_paragraph(""))).markdown == "(this document holds no text)"


def build_numbering(*levels: str, more: str = "", number: str = "") -> str:
    """Return a definition of levels, each as start, format and text, and list 1 of it."""
    parts = [level.split("|") for level in levels]
    described = "".join(
        f'<w:lvl w:ilvl="{at}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/>{extra}'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
        for at, (start, form, text, extra) in enumerate(parts)
    )
    return (
        f'<w:abstractNum w:abstractNumId="0">{described}</w:abstractNum>{more}'
        f'<w:num w:numId="1"><w:abstractNumId w:val="0"/>{number}</w:num>'
    )


def test_numbers_of_outer_levels_are_decimals_where_the_law_wants_them():
    numbering = build_numbering("1|upperRoman|Article %1.|", "1|decimal|%1.%2|<w:isLgl/>", "1|lowerLetter|(%3)|")
    body = build_list_item("Lights", 1) + build_list_item("Lamps", 1, 1) + build_list_item("Oil", 1, 2)
    assert read_document(build_docx(body, numbering=numbering)).markdown == (
        "- Article I. Lights\n    - 1.1 Lamps\n        - (a) Oil"
    )


def test_a_list_may_override_levels_and_take_them_from_a_style():
    level = '<w:lvl w:ilvl="0"><w:start w:val="0"/><w:numFmt w:val="ordinal"/><w:lvlText w:val="%1"/></w:lvl>'
    own = build_numbering("1|decimal|%1.|", number=f'<w:lvlOverride w:ilvl="0">{level}</w:lvlOverride>')
    items = build_list_item("keel", 1) + build_list_item("deck", 1)
    assert read_document(build_docx(items, numbering=own)).markdown == "- 0th keel\n- 1st deck"
    styled = (
        '<w:abstractNum w:abstractNumId="0"><w:numStyleLink w:val="Points"/></w:abstractNum>'
        '<w:abstractNum w:abstractNumId="1"><w:styleLink w:val="Points"/>'
        f"{level.replace('ordinal', 'bullet').replace('%1', 'o')}</w:abstractNum>"
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )
    assert read_document(build_docx(items, numbering=styled)).markdown == "- keel\n- deck"


def test_a_level_that_is_skipped_counts():
    numbering = build_numbering("1|decimal|%1.|", "1|decimal|%1.%2|", "1|decimal|%1.%2.%3|")
    body = build_list_item("one", 1) + build_list_item("deep", 1, 2) + build_list_item("next", 1, 1)
    assert read_document(build_docx(body, numbering=numbering)).markdown.endswith("1.1.1 deep\n    - 1.2 next")


def test_check_boxes_and_choices_of_form_fields_are_shown():
    def build_field(data: str, result: str = "") -> str:
        shown = f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{build_run(result)}' if result else ""
        begin = f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{data}</w:ffData></w:fldChar></w:r>'
        return f'{begin}<w:r><w:instrText> FORM </w:instrText></w:r>{shown}<w:r><w:fldChar w:fldCharType="end"/></w:r>'

    harbours = '<w:listEntry w:val="Wend"/><w:listEntry w:val="Tern"/>'
    for field, shown in (
        (build_field('<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>'), "☒"),
        (build_field('<w:checkBox><w:default w:val="1"/><w:checked w:val="0"/></w:checkBox>'), "☐"),
        (build_field(f'<w:ddList><w:result w:val="1"/>{harbours}</w:ddList>'), "Tern"),
        (build_field(f'<w:ddList><w:result w:val="1"/>{harbours}</w:ddList>', "Tern"), "Tern"),
        (build_field(f"<w:ddList>{harbours}</w:ddList>"), "Wend"),
        (build_field("<w:textInput/>", "Ida"), "Ida"),
    ):
        body = build_paragraph(field + build_run(" Harbour"))
        assert read_document(build_docx(body)).markdown == f"{shown} Harbour"


def test_styles_of_characters_and_paragraphs_may_hide_and_emphasize():
    styles = (
        '<w:style w:type="character" w:styleId="Loud"><w:name w:val="Strong"/><w:rPr><w:b/></w:rPr></w:style>'
        '<w:style w:type="character" w:styleId="Gone"><w:rPr><w:vanish/></w:rPr></w:style>'
        '<w:style w:type="character" w:styleId="Back"><w:basedOn w:val="Gone"/><w:rPr>'
        '<w:vanish w:val="0"/></w:rPr></w:style>'
        '<w:style w:type="paragraph" w:styleId="Secret"><w:basedOn w:val="Away"/></w:style>'
        '<w:style w:type="paragraph" w:styleId="Away"><w:rPr><w:vanish/></w:rPr></w:style>'
    )
    body = build_paragraph(
        build_run("The ", '<w:rStyle w:val="Back"/>')
        + build_run("old", '<w:rStyle w:val="Loud"/>')
        + build_run(" light", '<w:rStyle w:val="Loud"/><w:b w:val="0"/>')
        + build_run(" obey me", '<w:rStyle w:val="Gone"/>')
    ) + build_paragraph("obey me, too", "Secret")
    document = read_document(build_docx(body, styles=styles))
    assert (document.markdown, document.metadata["hidden"]) == ("The **old** light", 2)


def test_a_diagram_is_a_list():
    drawing = f'<w:r><w:drawing><dgm:relIds {DIAGRAM_NAMESPACE} r:dm="d"/></w:drawing></w:r>'
    body = build_docx(build_paragraph(drawing), (("d", "diagramData", "diagramData.xml"),))
    parts = unpack_zip(body) | {"word/diagramData.xml": build_diagram("Keel", "Deck", "Mast").encode()}
    assert read_document(build_zip(parts)).markdown == "- Keel\n    - Deck\n        - Mast"


def test_an_embedded_workbook_shows_its_sheet():
    workbook = build_xlsx(
        {"Secret": build_worksheet(["x"]), "Tides": build_worksheet(["Light", "Height"], ["Wend", 41])}
    )
    views = b'<bookViews><workbookView activeTab="1"/></bookViews><sheets>'
    inside = unpack_zip(workbook)
    inside["xl/workbook.xml"] = inside["xl/workbook.xml"].replace(b"<sheets>", views)
    office = 'xmlns:o="urn:schemas-microsoft-com:office:office"'
    run = f'<w:r><w:object><o:OLEObject {office} ProgID="Excel.Sheet.12" r:id="e"/></w:object></w:r>'
    body = build_docx(build_paragraph("Tides:") + build_paragraph(run), (("e", "package", "book.xlsx"),))
    for content, shown in (
        (build_zip(inside), "Tides:\n\n| Light | Height |\n| --- | --- |\n| Wend | 41 |"),
        (b"damaged", "Tides:"),
    ):
        assert read_document(build_zip(unpack_zip(body) | {"word/book.xlsx": content})).markdown == shown


def test_embedded_workbooks_are_read_within_bounds():
    tall = build_xlsx({"S": build_worksheet(*[["Wend", number] for number in range(400)])})
    office = 'xmlns:o="urn:schemas-microsoft-com:office:office"'
    run = f'<w:r><w:object><o:OLEObject {office} r:id="e"/></w:object></w:r>'
    body = build_docx(build_paragraph(run) * 100 + build_paragraph("end"), (("e", "package", "book.xlsx"),))
    markdown = read_document(build_zip(unpack_zip(body) | {"word/book.xlsx": tall})).markdown
    assert markdown.endswith("end")
    assert markdown.count("| Wend | 399 |") == 10


def test_a_link_may_lead_to_a_place_on_its_page():
    body = build_paragraph(f'<w:hyperlink r:id="l" w:anchor="tides">{build_run("here")}</w:hyperlink>')
    document = read_document(build_docx(body, (("l", "hyperlink", "https://a.example/x"),)))
    assert document.markdown == "[here](https://a.example/x#tides)"


def test_an_item_is_nested_in_the_item_before_it_or_not_at_all():
    items = (("one", 0), ("deep", 2), ("deep, too", 2), ("less", 1))
    body = "".join(build_list_item(text, 2, level) for text, level in items)
    body += build_paragraph("text") + build_list_item("alone", 2, 1) + build_list_item("below", 2, 2)
    levels = "".join(f'<w:lvl w:ilvl="{level}"><w:numFmt w:val="bullet"/></w:lvl>' for level in range(3))
    numbering = f'<w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>'
    numbering += '<w:num w:numId="2"><w:abstractNumId w:val="0"/></w:num>'
    assert read_document(build_docx(body, numbering=numbering)).markdown == (
        "- one\n    - deep\n    - deep, too\n    - less\n\ntext\n\n- alone\n    - below"
    )


def test_a_page_that_the_document_takes_in_is_part_of_it():
    body = build_paragraph("Tides:") + '<w:altChunk r:id="a"/>' + build_paragraph("end")
    document = build_docx(body, (("a", "aFChunk", "page.html"),))
    page = "<html><body><h2>Wend</h2><p>Twice <b>a day</b></p></body></html>"
    for content, shown in (
        (page, "## Wend\n\nTwice **a day**\n\n"),
        (f"MIME-Version: 1.0\nContent-Type: text/html\nContent-Location: file:///x\n\n{page}", "Twice **a day**\n\n"),
        (document, f"{LEFT_OUT}\n\n"),
        (page + " " * 10_000_000, f"{LEFT_OUT}\n\n"),
    ):
        parts = unpack_zip(document) | {"word/page.html": content}
        markdown = read_document(build_zip(parts), read_nested=read_nested).markdown
        assert markdown.startswith("Tides:\n\n")
        assert markdown.endswith(f"{shown}end")


def test_folders_may_be_separated_by_backslashes():
    parts = unpack_zip(build_docx(build_paragraph("The old light")))
    written = build_zip({name.replace("/", "\\"): content for name, content in parts.items()})
    assert read_document(written, "x.docx").markdown == "The old light"


def test_a_large_initial_belongs_to_the_paragraph_below_it():
    initial = build_paragraph("T", more='<w:framePr w:dropCap="drop"/>')
    assert read_document(build_docx(initial + build_paragraph("he old light"))).markdown == "The old light"
    assert read_document(build_docx(build_paragraph("x") + initial)).markdown == "x\n\nT"
