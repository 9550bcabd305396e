"""Hostile and damaged documents end in an error or in bounded work."""

import io
import random
import struct
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.core.errors import NotConfigured, OutriderError, Refused, Unavailable
from outrider.pages.reader import ReaderInput
from outrider.pages.registry import load_readers
from support.documents.office_files import (
    OOXML_NAMESPACES,
    build_all_kinds,
    build_docx,
    build_epub,
    build_odf,
    build_paragraph,
    build_pptx,
    build_slide,
    build_worksheet,
    build_xlsx,
    build_zip,
    read_document,
)

KINDS = build_all_kinds()
ARCHIVES = ["word", "powerpoint", "excel", "odt", "ods", "epub"]
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def read_outcome(body: bytes, name: str = "") -> str:
    """The kind of the document, or the code of the error."""
    try:
        return read_document(body, name).kind
    except OutriderError as error:
        return error.code if error.message and error.hint else "an error that says nothing"


def replace_member(body: bytes, name: str, content: bytes | str) -> bytes:
    """An archive with one member changed."""
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        members = {each: archive.read(each) for each in archive.namelist()}
    return build_zip(members | {name: content}, stored=("mimetype",))


MAIN = {
    "word": "word/document.xml", "powerpoint": "ppt/presentation.xml", "excel": "xl/workbook.xml",
    "odt": "content.xml", "ods": "content.xml", "epub": "OPS/package.opf",
}  # fmt: skip
NO_XML = {
    "laughs": '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><a>&b;</a>',
    "outside": '<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]><a>&a;</a>',
    "open": "<a><b>",
    "zeros": "\x00" * 100,
    "klingon": "<?xml version='1.0' encoding='klingon'?><a/>",
    "nothing": "",
}


@pytest.mark.parametrize("kind", ARCHIVES)
@pytest.mark.parametrize("content", NO_XML.values(), ids=NO_XML)
def test_invalid_xml_and_entity_declarations_are_refused(kind: str, content: str):
    assert read_outcome(replace_member(KINDS[kind], MAIN[kind], content), f"x.{kind}") == "broken_file"


@pytest.mark.parametrize("kind", ARCHIVES)
@pytest.mark.nightly
def test_an_archive_that_unpacks_beyond_the_bound_is_refused(kind: str):
    bomb = b"<a>" + b" " * (65 << 20) + b"</a>"
    assert read_outcome(replace_member(KINDS[kind], MAIN[kind], bomb), f"x.{kind}") == "too_large"


def test_an_archive_of_a_hundred_thousand_files_is_refused():
    body = KINDS["word"] + b"PK\x01\x02" * 100_000
    assert read_outcome(body) == "too_large"


@pytest.mark.parametrize("kind", KINDS)
def test_a_document_truncated_anywhere_is_read_or_reported(kind: str):
    body = KINDS[kind]
    for end in range(0, len(body), max(1, len(body) // 25)):
        assert read_outcome(body[:end], f"x.{kind}")


@pytest.mark.parametrize("kind", KINDS)
def test_a_document_with_wrong_bytes_is_read_or_reported(kind: str):
    chance = random.Random(7)
    for _ in range(60):
        body = bytearray(KINDS[kind])
        for _ in range(chance.randint(1, 4)):
            body[chance.randrange(len(body))] = chance.randrange(256)
        assert read_outcome(bytes(body), f"x.{kind}")


@pytest.mark.parametrize("kind", ["docx", "xlsx", "pptx"])
def test_a_password_protected_member_is_reported(kind: str):
    body = KINDS[{"docx": "word", "xlsx": "excel", "pptx": "powerpoint"}[kind]]
    marked = bytearray(body)
    at = -1
    while (at := marked.find(b"PK\x01\x02", at + 1)) != -1:
        marked[at + 8] |= 1
    assert read_outcome(bytes(marked)) == "encrypted"


@pytest.mark.parametrize("name", ["report.docx", "plan.xlsx", ""])
def test_an_office_file_with_a_password_is_reported(name: str):
    body = OLE + bytes(1_000) + "EncryptedPackage".encode("utf-16le") + bytes(100)
    with pytest.raises(Refused) as caught:
        read_document(body, name)
    assert caught.value.code == "encrypted"
    assert "password" in caught.value.message


@pytest.mark.parametrize(
    ("stream", "what"),
    [("WordDocument", "Word 97"), ("Workbook", "Excel 97"), ("PowerPoint Document", "PowerPoint 97")],
)
def test_an_unreadable_old_office_file_is_named_with_its_remedy(stream: str, what: str):
    body = OLE + bytes(1_000) + stream.encode("utf-16le") + bytes(100)
    with pytest.raises((NotConfigured, Unavailable)) as caught:
        read_document(body)
    assert what in caught.value.message
    assert caught.value.code in ("missing_extra", "broken_file")


DEEP = 30_000


@pytest.mark.parametrize(
    "body",
    [
        build_docx("<w:tbl><w:tr><w:tc>" * DEEP),
        build_docx("<w:tbl><w:tr><w:tc>" * 5_000 + build_paragraph("x") + "</w:tc></w:tr></w:tbl>" * 5_000),
        build_docx(build_paragraph("<m:oMath>" + "<m:sSup><m:e>" * 3_000 + "</m:e></m:sSup>" * 3_000 + "</m:oMath>")),
        build_pptx(build_slide("<p:grpSp>" * 5_000 + "</p:grpSp>" * 5_000)),
        build_odf("text", "<text:list><text:list-item>" * 5_000 + "</text:list-item></text:list>" * 5_000),
        build_epub({"a.xhtml": "<div>" * DEEP}),
        b"{\\rtf1 " + b"{\\*\\fldinst " * DEEP,
        b'{"cells":' + b"[" * DEEP,
    ],
    ids=["never closed", "tables", "formula", "groups", "lists", "book", "rtf", "notebook"],
)
def test_deeply_nested_structures_are_read_or_refused(body: bytes):
    assert read_outcome(body)


def test_elements_beyond_the_bound_are_left_out_and_that_is_reported():
    document = read_document(build_docx(build_paragraph("word") * 5_000), max_tags=1_000)
    assert document.metadata["cut"] is True
    assert document.markdown.count("word") < 2_500


def test_rows_and_columns_beyond_any_sheet_are_read_or_refused():
    giant = build_worksheet(["a", "b"], [1, 2]).replace('r="A2"', 'r="ZZZ9999999"')
    assert read_outcome(build_xlsx({"S": giant})) == "excel"
    merged = '<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>' * 100
    assert read_outcome(build_xlsx({"S": build_worksheet(["a", "b"], [1, 2], after=merged)})) == "excel"
    spans = 'table:number-columns-spanned="99999999" table:number-rows-spanned="99999999"'
    cell = f"<table:table-cell {spans}><text:p>x</text:p></table:table-cell>"
    table = f"<table:table><table:table-row>{cell}</table:table-row></table:table>"
    assert read_outcome(build_odf("text", table)) == "opendocument"


def test_a_style_based_on_itself_causes_no_endless_loop():
    style = '<w:style w:type="paragraph" w:styleId="a"><w:basedOn w:val="a"/></w:style>'
    styles = f"<w:styles {OOXML_NAMESPACES}>{style}</w:styles>"
    assert read_outcome(replace_member(build_docx(build_paragraph("x", "a")), "word/styles.xml", styles)) == "word"


ELEMENT_NAMES = [
    "w:p", "w:r", "w:t", "w:tbl", "w:tr", "w:tc", "w:hyperlink", "w:fldChar", "w:sdt", "w:sdtContent", "m:oMath", "m:f",
    "m:num", "w:footnoteReference", "w:drawing", "wp:docPr", "c:chart", "mc:AlternateContent", "mc:Choice", "w:pPr",
]  # fmt: skip
ATTRIBUTES = ["w:val", "w:id", "r:id", "w:fldCharType", "w:instr", "descr"]


TOKENS = st.one_of(
    st.tuples(
        st.sampled_from(ELEMENT_NAMES),
        st.sampled_from(ATTRIBUTES),
        st.sampled_from(["", "1", "-9", "begin", "end", "x"]),
    ),
    st.sampled_from(["", "text"]),
)


def build_nested(tokens: list[str | tuple[str, str, str]]) -> str:
    """Build nested elements and texts; an empty token ends the current element."""
    made, opened = "", []
    for token in tokens:
        if isinstance(token, tuple):
            opened.append(token[0])
            made += f'<{token[0]} {token[1]}="{token[2]}">'
        elif token or not opened:
            made += token
        else:
            made += f"</{opened.pop()}>"
    return made + "".join(f"</{name}>" for name in reversed(opened))


@given(st.lists(TOKENS, max_size=40))
def test_elements_in_any_order_are_read(tokens: list[str | tuple[str, str, str]]):
    assert read_outcome(build_docx(build_nested(tokens))) == "word"


@given(st.sampled_from(sorted(KINDS)), st.data())
def test_every_reader_survives_documents_of_every_other_kind(kind: str, data: st.DataObject):
    reader = data.draw(st.sampled_from(load_readers()))
    try:
        assert reader.read(ReaderInput(KINDS[kind], "https://a.b/x", reader.types[0])).kind
    except OutriderError as error:
        assert error.hint  # noqa: PT017


def test_a_zip_directory_that_points_beyond_the_file_is_refused():
    body = bytearray(KINDS["word"])
    at = body.rfind(b"PK\x05\x06")
    struct.pack_into("<L", body, at + 16, 2**31)
    assert read_outcome(bytes(body)) == "broken_file"


def test_rows_past_those_shown_are_counted_and_not_kept():
    row = "<table:table-row><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row>"
    document = read_document(build_odf("spreadsheet", f"<table:table>{row * 6_000}</table:table>"))
    assert "(… 1000 more rows of this sheet were not read)" in document.markdown
    assert "cut" not in document.metadata
