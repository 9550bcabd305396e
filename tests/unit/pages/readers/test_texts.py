"""Plain texts, source code, feeds and data are recognized by content and cut with a notice."""

import json

import pytest

from outrider.core.errors import OutriderError, Refused, Unavailable
from outrider.pages.mime.sniff import detect_mime_type
from support.documents.office_files import build_docx, build_paragraph, read_document

SSA = """[Script Info]
Title: The pier

[Events]
Format: Layer, Start, End, Style, Text
Dialogue: 0,0:00:01.00,0:00:03.00,Default,{\\i1}Hello{\\i0},\\Nthere.
Comment: 0,0:00:03.00,0:00:04.00,Default,not shown
"""
TTML = (
    '<?xml version="1.0"?><tt xmlns="http://www.w3.org/ns/ttml"><body><div>'
    '<p begin="00:01:01.500" end="00:01:03">Hello,<br/>there.</p><p begin="90s" dur="2s">Bye.</p></div></body></tt>'
)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (SSA, "[00:00:01] Hello, there."),
        (TTML, "[00:01:01] Hello, there.\n\n[00:01:30] Bye."),
        ("0:00:01.000,0:00:03.000\nHello, there.\n", "[00:00:01] Hello, there."),
    ],
    ids=["ssa", "ttml", "sbv"],
)
def test_subtitles_in_other_formats_are_read(body: str, text: str):
    document = read_document(body.encode())
    assert (document.kind, document.markdown) == ("subtitles", text)


def test_ini_sections_are_not_json():
    assert detect_mime_type("", b"[server]\nport = 80\n") == "text/plain"
    assert detect_mime_type("", b'[\n  {"port": 80}]') == "application/json"


def test_a_sitemap_is_a_list_of_addresses():
    body = (
        b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url>'
        b"<loc>https://a.example/x</loc><lastmod>2024-02-29</lastmod></url><url><loc>https://a.example/y</loc></url></urlset>"
    )
    document = read_document(body)
    assert document.markdown == "- <https://a.example/x> (2024-02-29)\n- <https://a.example/y>"
    assert [link.url for link in document.links] == ["https://a.example/x", "https://a.example/y"]


def test_an_opml_outline_becomes_a_nested_list():
    body = (
        b'<opml version="2.0"><head><title>Mine</title></head><body><outline text="News"><outline text="Tides" '
        b'xmlUrl="https://a.example/feed" htmlUrl="https://a.example/"/></outline><outline text="Rest"/></body></opml>'
    )
    assert read_document(body).markdown == (
        "# Mine\n\n- News\n    - [Tides](https://a.example/) (feed: https://a.example/feed)\n- Rest"
    )


def test_feed_entries_name_their_author_and_link_their_media():
    body = (
        b"<rss><channel><title>Waves</title><item><title>Ebb</title><guid>https://a.example/1</guid>"
        b'<dc:creator>Ida</dc:creator><enclosure url="https://a.example/1.mp3"/></item></channel></rss>'
    )
    document = read_document(body)
    assert "- [Ebb](https://a.example/1) (Ida)\n  media: <https://a.example/1.mp3>" in document.markdown
    assert [link.url for link in document.links] == ["https://a.example/1", "https://a.example/1.mp3"]


def test_addresses_in_a_feed_are_relative_to_its_base():
    feed = (
        b"<feed xmlns='http://www.w3.org/2005/Atom' xml:base='/notes/'><entry><title>A</title><link href='3'/></entry>"
    )
    assert [link.url for link in read_document(feed).links] == ["https://harbour.example/notes/3"]


def test_a_json_feed_that_is_called_json_is_a_feed():
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": "Waves", "items": [{"url": "https://a.example/1"}]}
    assert read_document(json.dumps(feed).encode()).kind == "feed"


@pytest.mark.parametrize("name", ["a.txt", "a.json", "a.jsonl", "a.xml", "a.csv", "a.md", "a.py"])
def test_text_longer_than_the_limit_is_reported(name: str):
    body = b'<?xml version="1.0"?>' if name == "a.xml" else b"" + b'{"tide": 1, "moon": 2}\n' * 100
    body += b"x" * 500
    document = read_document(body, name, max_chars=300)
    assert document.metadata["cut"] is True
    assert "valid" not in document.metadata
    assert "not read" in document.markdown.splitlines()[-1]


def test_rows_beyond_the_limit_are_counted():
    document = read_document(b"port,ships\n" + b"Wend,12\n" * 1_000, "a.csv", max_chars=400)
    assert document.metadata["rows"] == 1_000


def test_lines_above_a_table_are_kept_as_text():
    document = read_document(b"Ships of the year\n\nPort,Ships,Boats\n" + b"Wend,12,3\n" * 5, "a.csv")
    assert document.markdown.startswith("Ships of the year\n\n| Port | Ships | Boats |")


def test_metadata_and_links_of_markdown_are_read():
    body = b'---\ntitle: "Tides"\nauthor: Ida\ndate: 2024-02-29\n---\n\nOther\n=====\n\n[up](../up.md) ![no](a.png)\n'
    document = read_document(body, "a.md")
    assert (document.title, document.author, document.published) == ("Tides", "Ida", "2024-02-29")
    assert [link.url for link in document.links] == ["https://harbour.example/up.md"]
    assert read_document(b"Other\n=====\n", "a.md").title == "Other"


@pytest.mark.parametrize("name", ["a.xls", "a.doc", "a.pdf", "a.docx"])
def test_text_with_a_documents_suffix_is_read_as_text(name: str):
    assert "Cape Wend" in read_document(b"light\theight\nCape Wend\t41\nTern\t12\n", name).text


def test_a_table_that_is_called_a_workbook_is_a_table():
    assert read_document(b"light\theight\nCape Wend\t41\n", "a.xls").tables == [
        [["light", "height"], ["Cape Wend", "41"]]
    ]


@pytest.mark.parametrize("end", [400, 900])
def test_a_truncated_office_document_is_reported_as_broken(end: int):
    body = build_docx(build_paragraph("Lights"))[:end]
    for name in ("", "a.docx"):
        with pytest.raises(Unavailable) as caught:
            read_document(body, name)
        assert caught.value.code == "broken_file"


def test_an_empty_document_is_reported_as_empty():
    with pytest.raises(OutriderError, match="it is empty"):
        read_document(b"", "a.docx")


@pytest.mark.parametrize(
    ("body", "message", "remedy"),
    [
        (bytes(60) + b"BOOKMOBI" + bytes(9), "Kindle", "EPUB"),
        (b"%!PS-Adobe-3.0\nshowpage", "PostScript", "PDF"),
        (b"PAR1\x00\x00", "data", "CSV"),
        (b"AT&TFORM\x00", "DjVu", "PDF"),
    ],
)
def test_unreadable_formats_are_named_with_a_remedy(body: bytes, message: str, remedy: str):
    with pytest.raises(Refused) as caught:
        read_document(body)
    assert message in caught.value.message
    assert remedy in caught.value.hint
