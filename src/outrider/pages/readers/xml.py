"""XML of no special kind: shown as it is. It is not parsed, so its entities cannot explode."""

import re

from outrider.pages.document import Document, tidy_text, to_single_line
from outrider.pages.mime.html_tokens import HtmlText
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.text import format_code_block, mark_cut

XML_TAG = re.compile(r"<[^<>]*>")
TITLE_ELEMENT = re.compile(r"<title>([^<>]{1,500})</title>", re.IGNORECASE)


def read_xml(source: ReaderInput) -> Document:
    """The source in a fence; its text without the tags."""
    markup = tidy_text(source.text)
    found = TITLE_ELEMENT.search(markup)
    lines = (line.strip() for line in XML_TAG.sub("", markup).split("\n"))
    text = HtmlText("\n".join(line for line in lines if line)).text
    title = to_single_line(HtmlText(found[1]).text) if found else ""
    return mark_cut(Document(format_code_block(markup, "xml"), tidy_text(text), title=title, kind="xml"), source)


reader = DocumentReader("xml", ("application/xml", "text/xml", "*+xml"), read_xml, suffixes=(".xml",), rank=80)
