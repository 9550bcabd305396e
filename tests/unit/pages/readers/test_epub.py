"""E-books: chapters in reading order, notes and titles."""

import pytest

from outrider.core.errors import Refused
from support.documents.office_files import build_epub, read_document

ENC = '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><EncryptedData xmlns="http://www.w3.org/2001/04/xmlenc#">'
ENC += '<EncryptionMethod Algorithm="{}"/></EncryptedData></encryption>'


def test_chapters_follow_the_spine_and_take_missing_headings_from_the_contents():
    book = build_epub(
        {"b.xhtml": "<h1>Fog</h1><p>It came in.</p>", "a.xhtml": "<p>The lamp was lit.</p>"},
        titles={"b.xhtml": "One", "a.xhtml": "Two"},
    )
    document = read_document(book)
    assert document.markdown == "# Fog\n\nIt came in.\n\n## Two\n\nThe lamp was lit."
    assert (document.kind, document.title, document.author) == ("epub", "The Harbour", "Ida Marsh, Bo Reed")
    assert (document.language, document.published) == ("en", "2024-02-29")
    assert document.metadata["identifiers"] == ["urn:isbn:1"]


def test_only_links_to_the_web_stay_links():
    document = read_document(
        build_epub({"a.xhtml": '<p>See <a href="b.xhtml">two</a> and <a href="https://a.example/">this</a></p>'})
    )
    assert document.markdown == "See two and [this](https://a.example/)"
    assert [link.url for link in document.links] == ["https://a.example/"]


def test_obfuscated_fonts_are_accepted_and_rights_management_is_refused():
    font = {"META-INF__encryption.xml": ENC.format("http://www.idpf.org/2008/embedding")}
    assert read_document(build_epub({"a.xhtml": "<p>open</p>"}, titles=None, **font)).markdown == "open"
    with pytest.raises(Refused) as caught:
        read_document(
            build_epub({"a.xhtml": "x"}, **{"META-INF__encryption.xml": ENC.format("http://ns.adobe.com/adept/x")})
        )
    assert caught.value.code == "encrypted"
    assert "rights" in caught.value.message


def test_a_long_book_is_cut_and_reports_it():
    document = read_document(
        build_epub({f"{at}.xhtml": f"<p>{'word ' * 200}</p>" for at in range(50)}), max_chars=3_000
    )
    assert len(document.markdown) < 3_200
    assert document.metadata["cut"] is True


def test_notes_of_each_chapter_keep_their_own_labels():
    note = (
        '<p>Text<a epub:type="noteref" href="#n1">1</a>.</p><aside epub:type="footnote" id="n1"><p>Of {}.</p></aside>'
    )
    text = read_document(build_epub({"a.xhtml": note.format("ebb"), "b.xhtml": note.format("flood")})).markdown
    assert "[^1]: Of ebb." in text
    assert "Text[^2-1]." in text
    assert "[^2-1]: Of flood." in text


def test_text_of_a_book_with_image_pages_is_read_once():
    book = build_epub({"1.jpg": "", "2.jpg": "", "a.xhtml": "<p>The lamp was lit.</p>"})
    assert read_document(book).markdown == "The lamp was lit."


def test_aria_hidden_captions_from_pandoc_are_read():
    figure = '<figure><img src="a.png" alt="The light"/><figcaption aria-hidden="true">The light</figcaption></figure>'
    book = build_epub({"a.xhtml": f"<h1>Fog</h1><p>It came in.</p>{figure}"})
    assert "The light" in read_document(book).markdown
