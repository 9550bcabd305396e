"""XML of no special kind: shown as it is. It is not parsed, so its entities cannot explode."""

import re

from outrider.pages.document import Document, line_of, tidy
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.text import ended, fenced
from outrider.pages.sniffing.markup import Text

TAG = re.compile(r"<[^<>]*>")
TITLE = re.compile(r"<title>([^<>]{1,500})</title>", re.IGNORECASE)


def read(source: Source) -> Document:
    """The source in a fence; its text without the tags."""
    markup = tidy(source.text)
    found = TITLE.search(markup)
    lines = (line.strip() for line in TAG.sub("", markup).split("\n"))
    text = Text("\n".join(line for line in lines if line)).text
    title = line_of(Text(found[1]).text) if found else ""
    return ended(Document(fenced(markup, "xml"), tidy(text), title=title, kind="xml"), source)


reader = Reader("xml", ("application/xml", "text/xml", "*+xml"), read, suffixes=(".xml",), rank=80)
