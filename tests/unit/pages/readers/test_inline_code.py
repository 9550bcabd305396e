"""Monospaced text and code styles become code if the rest is proportional."""

import pytest

from outrider.pages.document import Document
from support.documents.office_files import build_docx, build_odf, read_document

SENTENCE = "He went down to the harbour and looked for a boat."
STYLES = (
    '<w:style w:type="paragraph" w:default="1" w:styleId="N"><w:name w:val="Normal"/></w:style>'
    '<w:style w:type="character" w:styleId="V"><w:name w:val="Verbatim Char"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="T"><w:name w:val="Shell"/><w:rPr><w:rFonts w:ascii="Consolas"/></w:rPr>'
    "</w:style>"
)


def build_run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


COURIER = '<w:rFonts w:ascii="Courier New" w:hAnsi="Courier New"/>'
FACES = (
    '<office:font-face-decls><style:font-face style:name="L" svg:font-family="&apos;Liberation Mono&apos;" '
    'style:font-pitch="fixed"/></office:font-face-decls>'
)
TYPED = '<style:style style:name="C" style:family="text"><style:text-properties style:font-name="L"/></style:style>'


def read_word(*paragraphs: str, styles: str = STYLES) -> Document:
    body = "".join(f"<w:p>{paragraph}</w:p>" for paragraph in paragraphs)
    return read_document(build_docx(body, styles=styles), "x.docx")


def read_rtf(body: str, *, standard: int = 0) -> Document:
    fonts = r"{\fonttbl{\f0\froman Times;}{\f1\fmodern\fprq1 Courier New;}}"
    return read_document(rf"{{\rtf1\ansi\deff{standard}{fonts}{body}}}".encode(), "x.rtf")


def read_odt(*paragraphs: str) -> Document:
    body = "".join(f"<text:p>{paragraph}</text:p>" for paragraph in paragraphs)
    return read_document(build_odf("text", body, FACES + TYPED), "x.odt")


@pytest.mark.parametrize("properties", ['<w:rStyle w:val="V"/>', COURIER, COURIER + "<w:b/>"])
def test_code_in_a_line_of_word(properties: str):
    document = read_word(build_run("Ask ") + build_run("ls -l ", properties) + build_run("first."))
    assert document.markdown == "Ask `ls -l` first."
    assert document.text == "Ask ls -l first."


def test_code_in_a_line_of_opendocument():
    assert read_odt('Ask <text:span text:style-name="C">ls -l</text:span> first.').markdown == "Ask `ls -l` first."


def test_code_in_a_line_of_rtf():
    assert read_rtf(r"Ask {\f1 ls -l} first.\par").markdown == "Ask `ls -l` first."


def test_backticks_in_code_are_kept():
    assert read_word(build_run("Ask ") + build_run("a`b", COURIER)).markdown == "Ask ``a`b``"


def test_lines_in_a_monospace_font_are_a_listing():
    lines = "def tide():", "    return 1"
    expected = "Before:\n\n```\ndef tide():\n    return 1\n```\n\nAfter."
    assert (
        read_word(build_run("Before:"), *(build_run(line, COURIER) for line in lines), build_run("After.")).markdown
        == expected
    )
    kept = '<text:span text:style-name="C">{}</text:span>'
    indented = "def tide():", '<text:s text:c="4"/>return 1'
    assert read_odt("Before:", *(kept.format(line) for line in indented), "After.").markdown == expected
    assert read_rtf(rf"Before:\par{{\f1 {lines[0]}\par {lines[1]}\par}}After.\par").markdown == expected


def test_a_style_with_a_monospace_font_marks_listings():
    shell = '<w:pPr><w:pStyle w:val="T"/></w:pPr>' + build_run("make")
    assert read_word(build_run("Call:"), shell).markdown == "Call:\n\n```\nmake\n```"


def test_a_document_typed_entirely_in_monospace_is_not_code():
    assert (
        read_word(build_run("Dear Ida,", COURIER), build_run(SENTENCE, COURIER)).markdown == f"Dear Ida,\n\n{SENTENCE}"
    )
    assert read_rtf(rf"{{\f1 Dear Ida,\par {SENTENCE}\par}}").markdown == f"Dear Ida,\n\n{SENTENCE}"
    assert read_rtf(r"Dear {\f1 Ida},\par", standard=1).markdown == "Dear Ida,"
    standard = f"<w:docDefaults><w:rPrDefault><w:rPr>{COURIER}</w:rPr></w:rPrDefault></w:docDefaults>"
    assert read_word(build_run("Dear "), build_run("Ida", COURIER), styles=standard).markdown == "Dear\n\nIda"


def test_a_sentence_in_a_monospace_font_is_prose():
    assert read_word(build_run("Before:"), build_run(SENTENCE, COURIER)).markdown == f"Before:\n\n{SENTENCE}"
