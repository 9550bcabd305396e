"""FictionBook e-books."""

import pytest

from outrider.core.errors import Unavailable
from outrider.pages.mime.sniff import detect_mime_type
from support.documents.office_files import read_document

BOOK = b"""<?xml version="1.0" encoding="utf-8"?>
<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0" xmlns:l="http://www.w3.org/1999/xlink">
<description><title-info><author><first-name>Ida</first-name><last-name>Marsh</last-name></author>
<book-title>The Old Light</book-title><lang>en</lang><date>1902</date></title-info></description>
<body><title><p>The Old Light</p></title>
<section><title><p>One &amp; all</p></title><epigraph><p>Seen at night.</p><text-author>Jo</text-author></epigraph>
<p>It <emphasis>burns</emphasis> for ships.<a l:href="#n1" type="note">[1]</a></p>
<section><title><p>Deeper</p></title><poem><stanza><v>High tide</v><v>low tide</v></stanza></poem>
<table><tr><th>Light</th><th>Built</th></tr><tr><td>Wend</td><td>1871</td></tr></table></section></section></body>
<body name="notes"><title><p>Notes</p></title><section id="n1"><title><p>1</p></title><p>Since 1871.</p></section>
</body>
<binary id="cover.png" content-type="image/png">iVBORw0KGgo=</binary></FictionBook>"""


def test_chapters_poems_tables_and_notes_are_read():
    document = read_document(BOOK, "x.fb2")
    assert document.markdown == (
        "# The Old Light\n\n## One & all\n\n> Seen at night.\n>\n> Jo\n\nIt *burns* for ships.[^1]\n\n### Deeper\n\n"
        "> High tide\n>\n> low tide\n\n| Light | Built |\n| --- | --- |\n| Wend | 1871 |\n\n[^1]: Since 1871."
    )
    assert (document.kind, document.title, document.author) == ("fictionbook", "The Old Light", "Ida Marsh")
    assert (document.language, document.published) == ("en", "1902")


@pytest.mark.parametrize("declared", ["", "text/xml", "application/octet-stream", "text/html"])
def test_it_is_recognised_by_its_root_element_under_any_declared_type(declared: str):
    assert detect_mime_type(declared, BOOK) == "application/x-fictionbook+xml"


def test_a_truncated_book_is_reported_as_broken():
    with pytest.raises(Unavailable) as caught:
        read_document(BOOK[:600], "x.fb2")
    assert caught.value.code == "broken_file"
