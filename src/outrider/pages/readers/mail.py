"""Read e-mail: messages (eml), saved web pages (mhtml) and mailboxes (mbox, RFC 4155)."""

import re
from contextlib import suppress
from dataclasses import replace
from email.utils import parsedate_to_datetime

from outrider.core.errors import OutriderError
from outrider.pages.document import Document
from outrider.pages.extract import extract
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.parsing.draft import DocumentDraft
from outrider.pages.readers.parsing.errors import build_broken_error
from outrider.pages.readers.parsing.mail_message import MailMessage, parse_mail
from outrider.pages.readers.rtf import read_rtf
from outrider.pages.urls import resolve_url

MAX_ATTACHMENTS = 100
MBOX_FROM_LINE = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\n]{1,300}\d{4}[^\n]{0,20}\n")
HEADER_LINE = re.compile(rb"\A\s*(?:From [^\n]*\n)?[!-9;-~]{1,100}:", re.ASCII)
QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
WEB_URL = re.compile(r"https?://[^\s<>\"'()\[\]{}]{4,2000}")


def read_message(source: ReaderInput) -> Document:
    """Return headers, text (from the HTML as a fallback) and attachment names.

    Raises:
        Unavailable: code `broken_file`, if there are no headers.
    """
    body = source.body
    if not HEADER_LINE.match(body[:2_000].removeprefix(b"\xef\xbb\xbf")):
        raise build_broken_error(source, "message", "it does not start with headers")
    mail = _parse_message(source, body)
    if mail.base_url and mail.html:  # a saved web page
        return extract(
            mail.html,
            url=resolve_url(mail.base_url, ""),
            main=source.main,
            chars=source.max_chars,
            tags=source.max_tags,
        )
    draft = DocumentDraft(source, "mail")
    write_message(draft, mail, 1)
    draft.is_cut = draft.is_cut or mail.is_cut
    return draft.build_document(build_facts(mail), metadata=build_metadata(mail))


def read_mailbox(source: ReaderInput) -> Document:
    """Return the messages of a mailbox in order, at most 200.

    Raises:
        Unavailable: code `broken_file`, if it does not start with a message.
    """
    max_messages = 200
    starts = [separator.start() for separator in MBOX_FROM_LINE.finditer(source.body)]
    if not starts or source.body[: starts[0]].strip():
        raise build_broken_error(source, "mailbox", "it does not start with a message")
    draft = DocumentDraft(source, "mail")
    shown_starts = starts[: max_messages + 1]
    ends = [*starts[1:], len(source.body)] if len(shown_starts) == len(starts) else shown_starts[1:]
    for start, end in zip(shown_starts, ends, strict=False):
        if draft.is_full:
            draft.is_cut = True
            break
        message = QUOTED_FROM.sub(rb"\1", source.body[start:end].partition(b"\n")[2])
        write_message(draft, _parse_message(source, message), 2)
    if len(starts) > max_messages:
        draft.add_block(f"(… {len(starts) - max_messages} more messages were not read)")
    return draft.build_document(metadata={"messages": len(starts)})


def _parse_message(source: ReaderInput, body: bytes) -> MailMessage:
    try:
        return parse_mail(body)
    except OutriderError:
        raise
    except Exception as error:  # the standard library raises many kinds of errors for odd headers
        raise build_broken_error(source, "message", "its headers cannot be parsed") from error


def write_message(draft: DocumentDraft, mail: MailMessage, level: int) -> None:
    """Write a message, then the messages that it forwards, one heading level deeper."""
    tnef_types = ("application/ms-tnef", "application/vnd.ms-tnef")
    draft.add_heading(level, mail.headers["Subject"] or "(no subject)")
    headers = {name: value for name, value in mail.headers.items() if value and name not in ("Subject", "Message-ID")}
    draft.add_block("\n".join(f"- {name}: {value}" for name, value in headers.items()))
    _write_text(draft, mail)
    if mail.encrypted:
        draft.add_block("(this message is encrypted for its recipient)")
    if mail.attachments:
        draft.add_block("Attachments:")
    for attachment in mail.attachments[:MAX_ATTACHMENTS]:
        draft.add_item(0, f"{attachment['name']} ({attachment['content_type']}, {attachment['size']} bytes)")
    if any(part["content_type"] in tnef_types or part["name"].lower() == "winmail.dat" for part in mail.attachments):
        draft.add_block(
            "(winmail.dat is Outlook's container for attachments and formatting, which cannot be read here: ask for "
            "the message as HTML or plain text, or for its files one by one)"
        )
    if len(mail.attachments) > MAX_ATTACHMENTS:
        draft.add_block(f"(… and {len(mail.attachments) - MAX_ATTACHMENTS} more)")
    for inner in mail.forwarded:
        write_message(draft, inner, level + 1)


def _write_text(draft: DocumentDraft, mail: MailMessage) -> None:
    # Plain text shorter than this share of the HTML's text usually says only that there is HTML.
    min_text_share = 0.4
    source, page = draft.source, None
    if mail.html:
        url = resolve_url(mail.base_url, "")
        page = extract(mail.html, url=url, main=False, chars=source.max_chars, tags=source.max_tags)
    elif mail.rtf:
        with suppress(OutriderError):
            page = read_rtf(replace(source, body=mail.rtf, content_type="application/rtf"))
    if page is None or len(mail.text.strip()) >= min_text_share * len(page.text):
        draft.add_block(mail.text.strip())
        for url in WEB_URL.findall(mail.text[:1_000_000])[:1_000]:
            draft.resolve_link(url.rstrip(".,;:!?"))
        return
    draft.add_block(page.markdown)
    draft.tables += page.tables[:100]
    for link in page.links:
        draft.resolve_link(link.url, link.text)


def build_facts(mail: MailMessage) -> dict[str, str]:
    """Return title, author and date (ISO 8601) of a message."""
    try:
        published = parsedate_to_datetime(mail.headers["Date"]).isoformat()
    except (ValueError, TypeError, OverflowError, IndexError):
        published = ""
    return {"title": mail.headers["Subject"], "author": mail.headers["From"], "published": published}


def build_metadata(mail: MailMessage) -> dict[str, object]:
    """Return a message's attachments and its Message-ID, if any."""
    known = {"attachments": mail.attachments[:MAX_ATTACHMENTS], "message_id": mail.headers["Message-ID"]}
    return {name: value for name, value in known.items() if value}


mail_reader = DocumentReader(
    "mail",
    ("message/rfc822", "message/global", "multipart/related", "application/x-mimearchive"),
    read_message,
    suffixes=(".eml", ".mht", ".mhtml"),
)
mailbox_reader = DocumentReader("mailbox", ("application/mbox",), read_mailbox, suffixes=(".mbox",))
