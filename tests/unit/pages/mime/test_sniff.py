"""A body is read by its content, not by its name."""

import pytest

from outrider import extract
from outrider.core.errors import Refused
from outrider.pages.mime.sniff import detect_mime_type
from outrider.pages.registry import find_reader
from support.fakes.website import PIXEL_PNG, build_pdf

HTML = b"<!DOCTYPE html><html><p>x"


@pytest.mark.parametrize(
    ("declared", "body", "read_as"),
    [
        ("", HTML, "text/html"),
        ("application/octet-stream", b"\n <!-- a --><!-- b --><html>", "text/html"),
        ("application/json", HTML, "text/html"),
        ("application/xml", b'<?xml version="1.0"?><html xmlns="x">', "text/html"),
        ("text/html", b'<?xml version="1.0"?><!-- x --><rss version="2.0">', "application/rss+xml"),
        ("text/xml", b'<feed xmlns="http://www.w3.org/2005/Atom">', "application/rss+xml"),
        ("", b'<?xml version="1.0"?><book/>', "application/xml"),
        ("", b'{"a": 1}', "application/json"),
        ("", b"just words", "text/plain"),
        ("text/plain", HTML, "text/plain"),
        ("text/plain", b"\x00\x01\x02binary", "application/octet-stream"),
        ("text/plain", b"\xff\xfeh\x00i\x00", "text/plain"),
        ("text/html", b"%PDF-1.7\n\x00", "application/pdf"),
        ("text/html", PIXEL_PNG, "image/png"),
        ("text/plain", b"\x1f\x8b\x08\x00", "application/gzip"),
        ("text/plain", b"BMW builds cars", "text/plain"),
        ("text/plain", b"MZ is a country code", "text/plain"),
        ("text/html", b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
    ],
)
def test_types_are_detected_by_content(declared: str, body: bytes, read_as: str):
    assert detect_mime_type(declared, body) == read_as


@pytest.mark.parametrize(
    ("url", "body", "read_as"),
    [("https://a.b/x.md", b"# Hi", "text/markdown"), ("https://a.b/x.csv?y=1", b"a,b", "text/csv")],
)
def test_a_suffix_decides_between_kinds_of_text(url: str, body: bytes, read_as: str):
    assert detect_mime_type("text/plain", body, url) == read_as


def test_a_thousand_comments_before_the_root_take_no_time():
    assert detect_mime_type("text/xml", b"<!---->" * 200 + b"<x>") == "text/xml"


@pytest.mark.parametrize(
    ("body", "declared", "named", "remedy"),
    [
        (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed", "archive", "files"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/vnd.ms-project", "Office", "PDF"),
        (b"\x00\x00\x00\x18ftypmp42", "video/mp4", "video", "transcript"),
        (b"ID3\x04\x00", "audio/mpeg", "audio", "transcript"),
        (b"wOF2\x00", "font/woff2", "font", "another"),
        (b"\x00asm\x01", "application/wasm", "program", "source"),
        (b"\x7fELF\x02", "application/octet-stream", "program", "source"),
        (b"\x00\x01\x02\x03\x04", "", "binary", "text"),
    ],
)
def test_an_unreadable_file_is_named_with_its_size_and_a_remedy(body: bytes, declared: str, named: str, remedy: str):
    with pytest.raises(Refused) as caught:
        find_reader(detect_mime_type(declared, body), "https://a.b/file", 2_400_000)
    error = caught.value
    assert error.code == "unreadable_type"
    assert named in error.message
    assert "2.4 MB" in error.message
    assert remedy in error.hint


def test_a_picture_is_distinguished_from_an_unreadable_file():
    with pytest.raises(Refused) as caught:
        find_reader(detect_mime_type("", PIXEL_PNG))
    assert caught.value.code == "image"


def test_every_kind_has_its_reader():
    kinds = {"text/html": "html", "application/pdf": "pdf", "application/atom+xml": "feed", "text/css": "text"}
    kinds |= {
        "application/ld+json": "json",
        "text/vnd.new": "text",
        "application/mathml+xml": "xml",
        "text/csv": "table",
    }
    assert {mime: find_reader(mime).name for mime in kinds} == kinds
    assert detect_mime_type("application/pdf", build_pdf("x")) == "application/pdf"


@pytest.mark.parametrize(
    ("declared", "body", "url", "read_as"),
    [
        ("application/zip", b"port,ships\nWend,12\n", "https://a.b/x.csv", "text/csv"),
        ("audio/aac", b"[Script Info]\nTitle: x\n", "https://a.b/x.ass", "text/x-ssa"),
        ("application/pdf", b"There is no such report.", "https://a.b/x.pdf", "text/plain"),
        ("image/svg+xml", b"<svg xmlns='x'/>", "https://a.b/x.svg", "image/svg+xml"),
        ("text/html", b'{"tide": "high"}', "https://a.b/api", "application/json"),
        ("text/html", b"1\n00:00:01,000 --> 00:00:02,000\nHi", "https://a.b/x", "application/x-subrip"),
        ("text/html", b"# Tides\n", "https://a.b/x.md", "text/markdown"),
        ("text/html", b"<p># Tides", "https://a.b/x.md", "text/html"),
        ("text/html", b"No tags at all", "https://a.b/x", "text/html"),
        ("text/html", b"<?xml version='1.0'?><urlset xmlns='x'>", "https://a.b/x", "application/sitemap+xml"),
    ],
)
def test_text_with_a_wrong_declared_type_is_read_as_what_it_is(declared: str, body: bytes, url: str, read_as: str):
    assert detect_mime_type(declared, body, url) == read_as


@pytest.mark.parametrize(
    ("url", "body", "read_as"),
    [
        ("https://a.b/guide.rst", b"Tides\n=====\n\nwords", "text/plain"),
        ("https://a.b/guide.rst", b"Tides <b>and</b> moons", "text/html"),
        ("https://a.b/guide.php", b"Tides and moons", "text/html"),
        ("https://a.b/v1.2", b"Tides and moons", "text/html"),
    ],
)
def test_text_declared_as_html_is_text_if_its_name_and_content_agree(url: str, body: bytes, read_as: str):
    assert detect_mime_type("text/html", body, url) == read_as


def test_a_declared_page_with_control_characters_is_read_as_browsers_do():
    for body in (
        b"<!DOCTYPE html><title>a</title><p>one\x00two\x1bthree",
        b"\x00\x00<html><p>words",
        b"<\x00p>words" + b"\x00" * 400,
        b"words without a tag\x00 and more of them " * 4,
    ):
        assert detect_mime_type("text/html", body) == "text/html", body[:40]
    assert detect_mime_type("text/html", bytes(range(256)) * 4) == "application/octet-stream"
    text = extract(b"<!DOCTYPE html><title>a</title><p>The tide\x00 comes \x1bin twice a day.<p>Always.").markdown
    assert "The tide comes in twice a day." in text


def test_audio_and_video_are_never_taken_for_text():
    frame = b"\xff\xfb\x90\x64" + b"U" * 413  # 128 kbit/s at 44.1 kHz: 417 bytes, none of them a control character
    silence = (b"\x7f\x00" * 700)[:1_400]
    for body, kind in (
        (frame * 3, "audio/mpeg"),
        (b"FORM\x00\x00\x10\x00AIFFCOMM" + silence, "audio/aiff"),
        (b".snd\x00\x00\x00\x18" + silence, "audio/basic"),
        (b"RIFF\x24\x08\x00\x00WAVEfmt " + silence, "audio/wave"),
        (b"OggS\x00\x02" + silence, "application/ogg"),
        (b"\x00\x00\x00\x20ftypisom" + silence, "video/mp4"),
        (b"\x1a\x45\xdf\xa3" + silence, "video/webm"),
        ((b"G\x40\x00\x10" + b"a" * 184) * 8, "video/mp2t"),
        (b"FLV\x01\x05" + silence, "video/x-flv"),
    ):
        for declared in ("", "text/html", "text/plain", "application/json", "application/octet-stream"):
            assert detect_mime_type(declared, body) == kind, (kind, declared)
    assert detect_mime_type("video/mp4", b"Only letters, but served as a film") == "video/mp4"
    assert detect_mime_type("video/mp4", HTML) == "text/html", "an error page of the server"
    assert detect_mime_type("audio/x-mpegurl", b"#EXTM3U\nsong.mp3") == "text/plain"
