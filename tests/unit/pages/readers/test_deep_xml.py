"""Readers of XML formats report elements that are nested too deeply."""

import pytest

from support.documents.office_files import (
    build_docx,
    build_odf,
    build_paragraph,
    build_pptx,
    build_shape,
    build_slide,
    read_document,
)

DEEP = 200  # levels
BOOK = '<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><body><p>Seen.</p>{}</body></FictionBook>'
SHEETS = (
    '<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" '
    'xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"><Worksheet ss:Name="A"><Table><Row>'
    '<Cell><Data ss:Type="String">Seen.</Data>{}</Cell></Row></Table></Worksheet></Workbook>'
)


def build_nested(tag: str, inner: str = "lost") -> str:
    return f"<{tag}>" * DEEP + inner + f"</{tag}>" * DEEP


DOCUMENTS = {
    "x.docx": build_docx(
        build_paragraph("Seen.") + f"<w:p>{build_nested('w:smartTag', '<w:r><w:t>lost</w:t></w:r>')}</w:p>"
    ),
    "x.odt": build_odf("text", f"<text:p>Seen.</text:p><text:p>{build_nested('text:span')}</text:p>"),
    "x.pptx": build_pptx(build_slide(build_shape("Seen."), build_nested("p:grpSp"))),
    "x.fb2": BOOK.format(build_nested("section", "<p>lost</p>")).encode(),
    "x.xls": SHEETS.format(build_nested("x")).encode(),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_elements_that_are_nested_too_deep_are_reported(name: str):
    document = read_document(DOCUMENTS[name], name)
    assert "Seen." in document.text
    assert "lost" not in document.text
    assert document.metadata["cut"] is True
    for rendering in (document.text, document.markdown):
        assert rendering.rstrip().endswith(
            "elements of this document were not read: they are nested deeper than 120 levels)"
        )


def test_a_document_of_ordinary_depth_is_not_reported_as_cut():
    document = read_document(
        build_odf("text", f"<text:p>{'<text:span>' * 60}Seen.{'</text:span>' * 60}</text:p>"), "x.odt"
    )
    assert document.text == "Seen."
    assert "cut" not in document.metadata
