"""Outlook messages."""

import random
import struct
from datetime import timedelta

import pytest

from outrider.core.errors import OutriderError, Unavailable
from outrider.pages.readers.office97.outlook_message import decompress_rtf
from support.documents.compound_files import build_compound_file
from support.documents.office_files import read_document
from support.documents.outlook_files import (
    SENT_AT,
    build_attachment,
    build_message,
    build_properties,
    build_text_streams,
)

MESSAGE = build_compound_file(
    build_message(
        **{
            "__attach_version1.0_#00000000": build_attachment("tide table.pdf", "application/pdf", b"%PDF-" * 2_000),
            "__attach_version1.0_#00000001": build_attachment("light.png", "image/png", b"PNG"),
        }
    )
)


def test_headers_text_and_attachments_are_read():
    document = read_document(MESSAGE, "x.msg")
    assert document.markdown == (
        "# The old light\n\n- From: Ida Marsh <ida@wend.example>\n"
        "- To: Jo Tern <jo@tern.example>, crew@tern.example\n- Cc: Harbour <harbour@wend.example>\n"
        "- Date: Sat, 14 Mar 2026 09:30:00 +0000\n\nIt burns.\n\nSee you.\n\nAttachments:\n\n"
        "- tide table.pdf (application/pdf, 10000 bytes)\n- light.png (image/png, 3 bytes)"
    )
    assert (document.kind, document.title, document.author) == (
        "mail", "The old light", "Ida Marsh <ida@wend.example>",
    )  # fmt: skip
    assert document.published == "2026-03-14T09:30:00+00:00"
    assert [each["name"] for each in document.metadata["attachments"]] == ["tide table.pdf", "light.png"]


def test_html_is_preferred_if_it_says_more_and_read_in_its_own_charset():
    html = "<p>Der <b>alte</b> Turm brennt über dem Fluß, <a href='https://a.example/'>hier</a>.</p>".encode("cp1252")
    body = build_compound_file(
        {
            **build_message(),
            **build_text_streams(p1000=" "),
            "__properties_version1.0": build_properties(32, p3FDE0003=1252),
            "__substg1.0_10130102": html,
        }
    )
    document = read_document(body, "x.msg")
    assert "Der **alte** Turm brennt über dem Fluß, [hier](https://a.example/)." in document.markdown


def test_old_outlook_texts_are_decoded_in_the_declared_code_page():
    body = build_compound_file(
        {"__properties_version1.0": build_properties(32, p3FFD0003=1251)}
        | build_text_streams("cp1251", p0037="Маяк", p0C1A="Ида", p1000="Он горит."),
    )
    assert read_document(body, "x.msg").markdown == "# Маяк\n\n- From: Ида\n\nОн горит."


def test_attachment_names_are_decoded_in_the_messages_or_a_detected_code_page():
    words = build_text_streams("cp1251", p0037="Старый маяк", p1000="Он горит всю ночь, и лодки находят дорогу домой.")
    attachment = {"__properties_version1.0": build_properties(8), **build_text_streams("cp1251", p3707="таблица.txt")}
    for stated in ({"p3FFD0003": 1251}, {}):
        properties = {"__properties_version1.0": build_properties(32, **stated)}
        body = build_compound_file({**properties, **words, "__attach_version1.0_#00000000": attachment})
        markdown = read_document(body, "x.msg").markdown
        assert markdown.startswith("# Старый маяк\n\nОн горит всю ночь, и лодки находят дорогу домой.")
        assert "таблица.txt" in markdown


def test_a_message_in_a_message_comes_after_it():
    inner = {**build_message(24), **build_text_streams(p0037="The older light")}
    body = build_compound_file(
        build_message(
            **{
                "__attach_version1.0_#00000000": {
                    "__properties_version1.0": build_properties(8, p37050003=5),
                    "__substg1.0_3701000D": inner,
                }
            }
        )
    )
    markdown = read_document(body, "x.msg").markdown
    assert markdown.startswith("# The old light\n")
    assert "\n\n## The older light\n\n- From: Ida Marsh <ida@wend.example>\n" in markdown


def test_internet_headers_fill_missing_outlook_properties():
    headers = (
        "From: Ida <ida@wend.example>\r\nDate: Sat, 14 Mar 2026 10:30:00 +0100\r\nMessage-ID: <1@wend.example>\r\n\r\n"
    )
    body = build_compound_file(
        {"__properties_version1.0": bytes(32)} | build_text_streams(p0037="Tides", p007D=headers, p0E04="Jo Tern")
    )
    document = read_document(body, "x.msg")
    assert document.markdown == (
        "# Tides\n\n- From: Ida <ida@wend.example>\n- To: Jo Tern\n- Date: Sat, 14 Mar 2026 10:30:00 +0100"
    )
    assert document.metadata["message_id"] == "<1@wend.example>"


def test_an_appointment_shows_its_time():
    times = build_properties(32, p00600040=SENT_AT, p00610040=SENT_AT + timedelta(hours=1))
    body = build_compound_file(
        {"__properties_version1.0": times} | build_text_streams(p001A="IPM.Appointment", p0037="Low water")
    )
    expected = "- When: Sat, 14 Mar 2026 09:30:00 +0000 to Sat, 14 Mar 2026 10:30:00 +0000"
    assert expected in read_document(body, "x.msg").markdown


def pack_rtf(rtf: bytes) -> bytes:
    """Compress RTF like Exchange but without copies: eight letters after each zero byte."""
    body = b"".join(b"\0" + rtf[at : at + 8] for at in range(0, len(rtf), 8))
    return struct.pack("<LL4sL", len(body) + 12, len(rtf), b"LZFu", 0) + body


def test_a_text_that_is_only_there_as_packed_rtf_is_read():
    rtf = rb"{\rtf1\ansi The {\b old} light burns.\par}"
    body = build_compound_file(
        {"__properties_version1.0": bytes(32), "__substg1.0_10090102": pack_rtf(rtf)}
        | build_text_streams(p0037="Light")
    )
    assert read_document(body, "x.msg").markdown == "# Light\n\nThe **old** light burns."


def test_compressed_rtf_may_copy_from_its_initial_dictionary():
    # The example of MS-OXRTFCP section 3.1.
    body = bytes.fromhex(
        "2d000000 2b000000 4c5a4675 f1c5c7a7 03000a00 72637067 31323542 320af320 68656c09 00206277 05b06c64 7d0a800f a0"
    )
    assert decompress_rtf(body) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"


def test_an_encrypted_message_is_reported():
    body = build_compound_file(
        {"__properties_version1.0": bytes(32), "__attach_version1.0_#00000000": build_attachment("smime.p7m", "", b"x")}
        | build_text_streams(p0037="Secret", p001A="IPM.Note.SMIME")
    )
    assert "(this message is encrypted for its recipient)" in read_document(body, "x.msg").markdown


def test_an_empty_message_is_broken():
    with pytest.raises(Unavailable) as caught:
        read_document(build_compound_file({"__properties_version1.0": bytes(32)}), "x.msg")
    assert caught.value.code == "broken_file"


def read_outcome(body: bytes) -> str:
    """The kind of the document, or the code of the error."""
    try:
        return read_document(body, "x.msg").kind
    except OutriderError as error:
        return error.code if error.hint else "an error that says nothing"


def test_a_truncated_or_damaged_message_is_read_or_reported():
    chance = random.Random(7)
    bodies = [MESSAGE[:end] for end in range(0, len(MESSAGE), 700)]
    for _ in range(100):
        body = bytearray(MESSAGE)
        for _ in range(chance.choice((1, 4, 40))):
            body[chance.randrange(8, len(body))] = chance.randrange(256)
        bodies.append(bytes(body))
    outcomes = {"mail", "broken_file", "unreadable_type", "word", "excel97", "text"}
    assert {read_outcome(body) for body in bodies} <= outcomes
