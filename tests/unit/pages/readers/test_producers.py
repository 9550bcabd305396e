"""Files of LibreOffice, pandoc, Word and Excel that differ from the standards."""

import pytest

from support.documents.office_files import (
    build_docx,
    build_list_item,
    build_odf,
    build_paragraph,
    build_relationships,
    build_worksheet,
    build_xlsx,
    read_document,
)

FIELD = (
    '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>{}</w:instrText></w:r>'
    '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>here</w:t></w:r>'
    '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
)


def build_styles(*styles: tuple[str, str, str]) -> str:
    return "".join(
        f'<w:style w:type="paragraph" w:styleId="{name}"><w:name w:val="{called}"/><w:basedOn w:val="{based}"/>'
        "</w:style>"
        for name, called, based in styles
    )


def test_styles_based_on_the_title_do_not_become_headings():
    styles = build_styles(("T", "Title", ""), ("A", "Author", "T"), ("H", "heading 1", ""), ("C", "TOC Heading", "H"))
    document = read_document(
        build_docx(
            build_paragraph("Tides", "T")
            + build_paragraph("Ida", "A")
            + build_paragraph("Contents", "C")
            + build_paragraph("One", "H"),
            styles=styles,
        ),
        "x.docx",
    )
    assert document.markdown == "# Tides\n\nIda\n\n## One"
    look = (
        '<style:style style:name="Author" style:family="paragraph" style:parent-style-name="Title"/>'
        '<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Author"/>'
    )
    body = '<text:p text:style-name="Title">Tides</text:p><text:p text:style-name="P1">Ida</text:p>'
    assert read_document(build_odf("text", body, look), "x.odt").markdown == "# Tides\n\nIda"


def test_an_item_without_a_marker_continues_in_the_one_before():
    level = '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="{}"/><w:lvlText w:val="{}"/></w:lvl>'
    numbering = "".join(
        f'<w:abstractNum w:abstractNumId="{at}">{level.format(way, text)}</w:abstractNum>'
        for at, way, text in ((1, "decimal", "%1."), (2, "bullet", " "))
    ) + "".join(f'<w:num w:numId="{at}"><w:abstractNumId w:val="{at}"/></w:num>' for at in (1, 2))
    body = build_list_item("One", 1) + build_list_item("More of it.", 2) + build_list_item("Two", 1)
    assert (
        read_document(build_docx(body, numbering=numbering), "x.docx").markdown == "1. One\n\n    More of it.\n\n2. Two"
    )


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (r'HYPERLINK "https://a.example/x" \l "part"', "[here](https://a.example/x#part)"),
        (r'HYPERLINK \l "part"', "here"),
        (r'HYPERLINK \n \t "https://a.example/"', "[here](https://a.example/)"),
    ],
)
def test_fields_link_to_web_addresses_but_not_within_the_document(code: str, expected: str):
    assert read_document(build_docx(FIELD.format(code.replace('"', "&quot;"))), "x.docx").markdown == expected
    source = rf"{{\rtf1{{\field{{\*\fldinst {code.replace(chr(92), chr(92) * 2)}}}{{\fldrslt here}}}}\par}}"
    assert read_document(source.encode(), "x.rtf").markdown == expected


def test_ruby_annotations_are_dropped_and_a_page_break_separates_words():
    ruby = "<w:ruby><w:rt><w:r><w:t>kan</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢</w:t></w:r></w:rubyBase></w:ruby>"
    body = f'<w:p><w:r>{ruby}</w:r><w:r><w:t>字</w:t><w:br w:type="page"/><w:t>next</w:t></w:r></w:p>'
    assert read_document(build_docx(body), "x.docx").markdown == "漢字\nnext"


def test_items_that_only_hold_a_list_are_not_counted():
    style = (
        '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1"/>'
        '<text:list-level-style-number text:level="2" style:num-format="1"/></text:list-style>'
    )
    body = (
        '<text:list text:style-name="L"><text:list-item><text:p>one</text:p></text:list-item>'
        "<text:list-item><text:list><text:list-item><text:p>deep</text:p></text:list-item></text:list></text:list-item>"
        "<text:list-item><text:p>two</text:p></text:list-item></text:list>"
    )
    assert read_document(build_odf("text", body, style), "x.odt").markdown == "1. one\n    1. deep\n2. two"


def test_text_in_drawn_shapes_becomes_its_own_paragraph():
    body = "<text:p>Before.<draw:custom-shape><text:p>In the box</text:p></draw:custom-shape></text:p>"
    assert read_document(build_odf("text", body), "x.odt").markdown == "Before.\n\nIn the box"


def test_a_chart_whose_frame_says_more_than_where_it_is():
    chart = (
        '<x xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        'xmlns:chart="urn:oasis:names:tc:opendocument:xmlns:chart:1.0" '
        'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
        'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><chart:chart><table:table>'
        "<table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>"
        "<table:table-cell><text:p>41</text:p></table:table-cell></table:table-row></table:table></chart:chart></x>"
    )
    frame = '<text:p><draw:frame><draw:object xlink:href="./Object 1"><text:p/></draw:object></draw:frame></text:p>'
    assert read_document(build_odf("text", frame, **{"Object 1__content.xml": chart}), "x.odt").tables == [
        [["a", "41"]]
    ]


def test_a_cell_of_rtf_holds_its_list():
    row = (
        r"\trowd\cellx2000\cellx4000\pard\plain\intbl Bananas\cell\pard\plain\intbl{\listtext\pard\plain \'b7\tab}"
        r"wrapper\par\pard\plain\intbl{\listtext\pard\plain \'b7\tab}colour\cell\row\pard "
    )
    document = read_document((r"{\rtf1 " + row * 2 + r"After.\par}").encode(), "x.rtf")
    assert document.tables == [[["Bananas", "wrapper colour"]] * 2]


def test_a_footnote_in_an_rtf_heading_is_moved_out_of_it():
    styles = r"{\stylesheet{\s1 heading 1;}{\s9 footnote text;}}"
    body = r"\pard\s1 Tides{\footnote\pard\plain\s9 Twice a day.}\par"
    markdown = read_document(rf"{{\rtf1 {styles}{body}}}".encode(), "x.rtf").markdown
    assert markdown == "# Tides[^1]\n\n[^1]: Twice a day."


def test_text_boxes_over_the_cells_of_a_sheet_are_read():
    space = "http://schemas.openxmlformats.org/drawingml/2006/"
    words = "<xdr:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></xdr:txBody>"
    drawing = (
        f'<xdr:wsDr xmlns:xdr="{space}spreadsheetDrawing" xmlns:a="{space}main"><xdr:sp><xdr:nvSpPr>'
        f'<xdr:cNvPr id="1" name="Box"/></xdr:nvSpPr>{words.format("Mind the tide")}'
        '</xdr:sp><xdr:pic><xdr:nvPicPr><xdr:cNvPr id="2" descr="a lamp"/></xdr:nvPicPr></xdr:pic>'
        f'<xdr:sp><xdr:nvSpPr><xdr:cNvPr id="3" hidden="1"/></xdr:nvSpPr>{words.format("unseen")}</xdr:sp></xdr:wsDr>'
    )
    parts = {
        "xl/drawings/drawing1.xml": drawing,
        "xl/worksheets/_rels/0.xml.rels": build_relationships(("d", "drawing", "../drawings/drawing1.xml")),
    }
    document = read_document(build_xlsx({"Lights": build_worksheet(["Wend"])}, parts=parts), "x.xlsx")
    assert document.markdown.endswith("Mind the tide\n\n(picture: a lamp)")
    assert document.metadata["hidden"] == 1


def test_code_lines_of_an_e_book_form_one_listing():
    lines = "".join(f"<p><code>{line}</code></p>" for line in ("def tide():", "    return 1"))
    book = (
        f'<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><body>{lines}<p>Ebb.</p></body></FictionBook>'
    )
    assert read_document(book.encode(), "x.fb2").markdown == "```\ndef tide():\n    return 1\n```\n\nEbb."
