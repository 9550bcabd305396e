"""E-mail messages and mailboxes: headers, text and attachments."""

import base64
from email.message import EmailMessage

from hypothesis import given
from hypothesis import strategies as st

from outrider.core.errors import OutriderError
from support.documents.office_files import build_all_kinds, read_document


def build_message(subject: str = "Lights", **headers: str) -> EmailMessage:
    made = EmailMessage()
    made["Subject"], made["From"], made["To"] = subject, "Ida Märsh <ida@harbour.example>", "bo@harbour.example"
    made["Date"], made["Message-ID"] = "Tue, 05 Mar 2024 08:30:00 +0100", "<1@harbour.example>"
    for name, value in headers.items():
        made[name] = value
    return made


def test_the_text_part_is_read_and_attachments_are_named():
    made = build_message("Grüße")
    made.set_content("Hello,\n\nsee https://a.example/x.\n")
    made.add_alternative("<p>Hello in HTML</p>", subtype="html")
    made.add_attachment(b"x" * 100, maintype="application", subtype="pdf", filename="Gezeiten für März.pdf")
    document = read_document(made.as_bytes(), "x.eml")
    assert document.markdown == (
        "# Grüße\n\n- From: Ida Märsh <ida@harbour.example>\n- To: bo@harbour.example\n"
        "- Date: Tue, 05 Mar 2024 08:30:00 +0100\n\nHello,\n\nsee https://a.example/x.\n\n"
        "Attachments:\n\n- Gezeiten für März.pdf (application/pdf, 100 bytes)"
    )
    assert (document.kind, document.title, document.published) == ("mail", "Grüße", "2024-03-05T08:30:00+01:00")
    assert document.metadata["attachments"][0]["size"] == 100
    assert [link.url for link in document.links] == ["https://a.example/x"]


def test_an_html_only_message_becomes_markdown():
    made = build_message()
    made.set_content("<h2>Tides</h2><p>See <a href='https://a.example/'>here</a>", subtype="html")
    assert read_document(made.as_bytes()).markdown.endswith("## Tides\n\nSee [here](https://a.example/)")


def test_a_forwarded_message_follows_below():
    inner, outer = build_message("Inner"), build_message("Outer")
    inner.set_content("the first words")
    outer.set_content("see below")
    outer.add_attachment(inner)
    markdown = read_document(outer.as_bytes()).markdown
    assert markdown.startswith("# Outer")
    assert markdown.endswith("the first words")
    assert "\n\n## Inner\n" in markdown


def test_flowed_lines_are_joined():
    flowed = b"From: a@b.c\nDate: x\nMessage-ID: <1>\nContent-Type: text/plain; format=flowed\n\nOne \nline.\n\nTwo.\n"
    assert read_document(flowed).markdown.endswith("One line.\n\nTwo.")


def test_an_encrypted_message_is_reported():
    body = b"From: a@b.c\nMessage-ID: <1>\nContent-Type: application/pkcs7-mime; smime-type=enveloped-data\n\nMIIB\n"
    assert "(this message is encrypted for its recipient)" in read_document(body).markdown


def test_a_saved_web_page_archive_is_read_as_the_page():
    page = (
        b"From: <Saved by Blink>\nSnapshot-Content-Location: https://a.example/tide\nMIME-Version: 1.0\n"
        b'Content-Type: multipart/related; boundary="x"\n\n--x\nContent-Type: text/html; charset=utf-8\n'
        b"Content-Transfer-Encoding: quoted-printable\n\n<title>Tide</title><p><a href=3D'/b'>next</a> page\n--x--\n"
    )
    document = read_document(page, "page.mhtml")
    assert (document.kind, document.title) == ("article", "Tide")
    assert "[next](https://a.example/b)" in document.markdown


def test_a_mailbox_lists_its_messages_one_after_another():
    document = read_document(build_all_kinds()["mbox"], "box.mbox")
    assert document.markdown.startswith("## one\n\n- From: Ida\n\nHello\n\n## two")
    assert document.markdown.endswith("From here")
    assert document.metadata == {"messages": 2}


def test_a_large_mailbox_says_how_much_is_left():
    one = b"From i@h.example Tue Mar 05 08:30:00 2024\nFrom: Ida\nSubject: s\n\nHello\n\n"
    assert "(… 50 more messages were not read)" in read_document(one * 250, "box.mbox").markdown


def test_thousands_of_nested_parts_take_no_time():
    part = 'Content-Type: multipart/mixed; boundary="{0}"\n\n--{0}\n'
    body = (
        "From: a@b.c\nDate: x\nMessage-ID: <1>\n" + "".join(part.format(at) for at in range(5_000)) + "\n\nx\n" * 20_000
    )
    assert read_document(body.encode()).kind == "mail"


HEADERS = st.lists(
    st.tuples(
        st.sampled_from(["Subject", "Date", "Content-Type", "Content-Disposition", "Content-Transfer-Encoding"]),
        st.one_of(
            st.text('aé=?;:/"<>@日 \t\x00', max_size=40),
            st.sampled_from(
                ["=?utf-8?b?x?=", "=?x?q?=E9?=", "multipart/mixed; boundary=a", "text/html; charset=klingon", "base64",
                 "attachment; filename*=utf-9''%E9", "message/rfc822", "text/plain; charset*=x'", "quoted-printable"]
            ),
        ),
    ),
    max_size=8,
)  # fmt: skip


@given(HEADERS, st.binary(max_size=100))
def test_any_headers_are_read_or_refused_by_name(headers: list[tuple[str, str]], body: bytes):
    head = "".join(f"{name}: {value}\n" for name, value in [("From", "a"), *headers])
    try:
        read_document(head.encode() + b"\n--a\n" + body, "x.eml")
    except OutriderError as error:
        assert error.hint  # noqa: PT017


def test_html_is_preferred_if_the_plain_text_is_only_a_placeholder():
    mail = build_message()
    mail.set_content("Please look at this in a program that shows HTML.")
    mail.add_alternative("<h1>Tides</h1>" + "<p>The tide comes in twice a day.</p>" * 20, subtype="html")
    assert "# Tides\n\nThe tide comes in" in read_document(mail.as_bytes()).markdown
    whole = build_message()
    whole.set_content("The tide comes in twice a day. " * 20)
    whole.add_alternative("<p>" + "The tide comes in twice a day. " * 20 + "<b>!</b></p>", subtype="html")
    assert "**" not in read_document(whole.as_bytes()).markdown


def test_an_attachment_only_outlook_can_unpack_is_reported_with_a_remedy():
    mail = build_message()
    mail.set_content("See the file.")
    mail.add_attachment(b"\x78\x9f\x3e\x22", maintype="application", subtype="ms-tnef", filename="winmail.dat")
    assert "ask for the message as HTML or plain text" in read_document(mail.as_bytes()).markdown


def test_a_message_that_was_encoded_as_a_whole_is_read():
    inner = base64.encodebytes(b"Subject: Tide\n\nIt comes in twice a day.").decode()
    outer = f"From: a@e.org\nContent-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n{inner}"
    assert "## Tide\n\nIt comes in twice a day." in read_document(outer.encode(), "x.eml").markdown
