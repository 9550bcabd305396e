"""Read XML of unknown kinds as source text.

It is not parsed, so its entities cannot expand.
"""

import re

from outrider.pages.document import Document, tidy_text, to_single_line
from outrider.pages.mime.html_tokens import HtmlText
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.text import format_code_block, mark_cut

XML_TAG = re.compile(r"<[^<>]*>")
TITLE_ELEMENT = re.compile(r"<title>([^<>]{1,500})</title>", re.IGNORECASE)


def read_xml(source: ReaderInput) -> Document:
    """Return the source in a code fence; the plain text has no tags. Never raises."""
    markup = tidy_text(source.text)
    title_element = TITLE_ELEMENT.search(markup)
    lines = (line.strip() for line in XML_TAG.sub("", markup).split("\n"))
    text = HtmlText("\n".join(line for line in lines if line)).text
    title = to_single_line(HtmlText(title_element[1]).text) if title_element else ""
    return mark_cut(Document(format_code_block(markup, "xml"), tidy_text(text), title=title, kind="xml"), source)


reader = DocumentReader("xml", ("application/xml", "text/xml", "*+xml"), read_xml, suffixes=(".xml",), rank=80)
