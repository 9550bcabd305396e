"""E-mail: single messages (eml), saved web pages in their form (mhtml), and mailboxes (mbox, RFC 4155)."""

import re
from collections.abc import Iterator
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
    """A message: its headers, its text (from its HTML where it has no other), and its attachments by name.

    Raises:
        Unavailable: code `broken_file`, if there are no headers.
    """
    body = source.body
    if not HEADER_LINE.match(body[:2_000].removeprefix(b"\xef\xbb\xbf")):
        raise build_broken_error(source, "message", "it does not begin with headers")
    mail = _parse_message(source, body)
    draft = DocumentDraft(source, "mail")
    if mail.base_url and mail.html:
        return _page(source, mail)
    write_message(draft, mail, 1)
    draft.is_cut = draft.is_cut or mail.is_cut
    return draft.build_document(build_facts(mail), metadata=build_metadata(mail))


def read_mailbox(source: ReaderInput) -> Document:
    """The messages of a mailbox, one after the other.

    Raises:
        Unavailable: code `broken_file`, if it begins with no message.
    """
    max_messages = 200  # of a mailbox that are shown
    starts = [found.start() for found in MBOX_FROM_LINE.finditer(source.body)]
    if not starts or source.body[: starts[0]].strip():
        raise build_broken_error(source, "mailbox", "it does not begin with a message")
    draft = DocumentDraft(source, "mail")
    for message in _split_messages(source.body, starts[: max_messages + 1], len(starts)):
        if draft.is_full:
            draft.is_cut = True
            break
        write_message(draft, _parse_message(source, message), 2)
    if len(starts) > max_messages:
        draft.add_block(f"(… {len(starts) - max_messages} more messages were not read)")
    return draft.build_document(metadata={"messages": len(starts)})


def _split_messages(body: bytes, starts: list[int], total: int) -> Iterator[bytes]:
    ends = [*starts[1:], len(body)] if total == len(starts) else starts[1:]
    for start, end in zip(starts, ends, strict=False):
        yield QUOTED_FROM.sub(rb"\1", body[start:end].partition(b"\n")[2])


def _parse_message(source: ReaderInput, body: bytes) -> MailMessage:
    try:
        return parse_mail(body)
    except OutriderError:
        raise
    except Exception as error:  # the parser of the standard library meets odd headers with errors of many kinds
        raise build_broken_error(source, "message", "its headers cannot be understood") from error


def write_message(draft: DocumentDraft, mail: MailMessage, level: int) -> None:
    """A message, and behind it those that it holds, one level deeper."""
    tnef_notice = (
        "(winmail.dat is what Outlook packs attachments and formatting into, and nothing here unpacks it: ask for the "
        "message as HTML or plain text, or for its files one by one)"
    )
    tnef_types = ("application/ms-tnef", "application/vnd.ms-tnef")
    omitted_headers = ("Subject", "Message-ID")  # headers that are not told among the others
    draft.add_heading(level, mail.headers["Subject"] or "(no subject)")
    lines = [f"{name}: {value}" for name, value in mail.headers.items() if value and name not in omitted_headers]
    draft.add_block("\n".join(f"- {line}" for line in lines))
    _write_text(draft, mail)
    if mail.encrypted:
        draft.add_block("(this message is encrypted for its recipient)")
    if mail.attachments:
        draft.add_block("Attachments:")
        for each in mail.attachments[:MAX_ATTACHMENTS]:
            draft.add_item(0, f"{each['name']} ({each['content_type']}, {each['size']} bytes)")
        if any(
            each["content_type"] in tnef_types or each["name"].lower() == "winmail.dat" for each in mail.attachments
        ):
            draft.add_block(tnef_notice)
        if len(mail.attachments) > MAX_ATTACHMENTS:
            draft.add_block(f"(… and {len(mail.attachments) - MAX_ATTACHMENTS} more)")
    for inner in mail.forwarded:
        write_message(draft, inner, level + 1)


def _write_text(draft: DocumentDraft, mail: MailMessage) -> None:
    min_text_share = 0.4  # of the length of a message's HTML: a shorter plain text only says that there is HTML
    page = _shown(draft, mail) if mail.html else _extract_rtf(draft, mail) if mail.rtf else None
    if page is None or len(mail.text.strip()) >= min_text_share * len(page.text):
        draft.add_block(mail.text.strip())
        for found in WEB_URL.findall(mail.text[:1_000_000])[:1_000]:
            draft.resolve_link(found.rstrip(".,;:!?"))
        return
    draft.add_block(page.markdown)
    draft.tables += page.tables[:100]
    for link in page.links:
        draft.resolve_link(link.url, link.text)


def _shown(draft: DocumentDraft, mail: MailMessage) -> Document:
    """The message as programs show it that show HTML."""
    return extract(
        mail.html, url=_resolve_base(mail), main=False, chars=draft.source.max_chars, tags=draft.source.max_tags
    )


def _extract_rtf(draft: DocumentDraft, mail: MailMessage) -> Document | None:
    with suppress(OutriderError):
        return read_rtf(replace(draft.source, body=mail.rtf, content_type="application/rtf"))
    return None


def _page(source: ReaderInput, mail: MailMessage) -> Document:
    """A saved web page is read as the page that it was."""
    return extract(mail.html, url=_resolve_base(mail), main=source.main, chars=source.max_chars, tags=source.max_tags)


def _resolve_base(mail: MailMessage) -> str:
    return resolve_url(mail.base_url, "")


def build_facts(mail: MailMessage) -> dict[str, str]:
    """Title, author and date."""
    try:
        published = parsedate_to_datetime(mail.headers["Date"]).isoformat()
    except (ValueError, TypeError, OverflowError, IndexError):
        published = ""
    return {"title": mail.headers["Subject"], "author": mail.headers["From"], "published": published}


def build_metadata(mail: MailMessage) -> dict[str, object]:
    """What else is known of it."""
    known = {"attachments": mail.attachments[:MAX_ATTACHMENTS], "message_id": mail.headers["Message-ID"]}
    return {name: value for name, value in known.items() if value}


mail_reader = DocumentReader(
    "mail",
    ("message/rfc822", "message/global", "multipart/related", "application/x-mimearchive"),
    read_message,
    suffixes=(".eml", ".mht", ".mhtml"),
)
mailbox_reader = DocumentReader("mailbox", ("application/mbox",), read_mailbox, suffixes=(".mbox",))
