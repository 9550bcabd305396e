"""E-mail: single messages (eml), saved web pages in their form (mhtml), and mailboxes (mbox, RFC 4155)."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from email.utils import parsedate_to_datetime

from outrider.core.errors import OutriderError
from outrider.pages.address import absolute
from outrider.pages.document import Document
from outrider.pages.extract import extract
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.parts.message import Mail, parsed
from outrider.pages.readers.parts.refusals import broken
from outrider.pages.readers.parts.writing import Draft
from outrider.pages.readers.rtf import read as read_rtf

MESSAGES = 200  # of a mailbox that are shown
ATTACHMENTS = 100
ELSEWHERE = ("Subject", "Message-ID")  # headers that are not told among the others
STUB = 0.4  # of the length of a message's HTML: a shorter plain text only says that there is HTML
TNEF = ("application/ms-tnef", "application/vnd.ms-tnef")
PACKED = (
    "(winmail.dat is what Outlook packs attachments and formatting into, and nothing here unpacks it: ask for the "
    "message as HTML or plain text, or for its files one by one)"
)
POSTMARK = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\n]{1,300}\d{4}[^\n]{0,20}\n")
FIELD = re.compile(rb"\A\s*(?:From [^\n]*\n)?[!-9;-~]{1,100}:", re.ASCII)
QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)
ADDRESS = re.compile(r"https?://[^\s<>\"'()\[\]{}]{4,2000}")


def read_message(source: Source) -> Document:
    """A message: its headers, its text (from its HTML where it has no other), and its attachments by name.

    Raises:
        Unavailable: code `broken_file`, if there are no headers.
    """
    body = source.body
    if not FIELD.match(body[:2_000].removeprefix(b"\xef\xbb\xbf")):
        raise broken(source, "message", "it does not begin with headers")
    mail = _parsed(source, body)
    draft = Draft(source, "mail")
    if mail.base and mail.html:
        return _page(source, mail)
    write(draft, mail, 1)
    draft.cut = draft.cut or mail.cut
    return draft.document(facts(mail), metadata=further(mail))


def read_mailbox(source: Source) -> Document:
    """The messages of a mailbox, one after the other.

    Raises:
        Unavailable: code `broken_file`, if it begins with no message.
    """
    starts = [found.start() for found in POSTMARK.finditer(source.body)]
    if not starts or source.body[: starts[0]].strip():
        raise broken(source, "mailbox", "it does not begin with a message")
    draft = Draft(source, "mail")
    for message in _split(source.body, starts[: MESSAGES + 1], len(starts)):
        if draft.full:
            draft.cut = True
            break
        write(draft, _parsed(source, message), 2)
    if len(starts) > MESSAGES:
        draft.add(f"(… {len(starts) - MESSAGES} more messages were not read)")
    return draft.document(metadata={"messages": len(starts)})


def _split(body: bytes, starts: list[int], total: int) -> Iterator[bytes]:
    ends = [*starts[1:], len(body)] if total == len(starts) else starts[1:]
    for start, end in zip(starts, ends, strict=False):
        yield QUOTED.sub(rb"\1", body[start:end].partition(b"\n")[2])


def _parsed(source: Source, body: bytes) -> Mail:
    try:
        return parsed(body)
    except OutriderError:
        raise
    except Exception as error:  # the parser of the standard library meets odd headers with errors of many kinds
        raise broken(source, "message", "its headers cannot be understood") from error


def write(draft: Draft, mail: Mail, level: int) -> None:
    """A message, and behind it those that it holds, one level deeper."""
    draft.heading(level, mail.headers["Subject"] or "(no subject)")
    lines = [f"{name}: {value}" for name, value in mail.headers.items() if value and name not in ELSEWHERE]
    draft.add("\n".join(f"- {line}" for line in lines))
    _text(draft, mail)
    if mail.encrypted:
        draft.add("(this message is encrypted for its recipient)")
    if mail.attachments:
        draft.add("Attachments:")
        for each in mail.attachments[:ATTACHMENTS]:
            draft.item(0, f"{each['name']} ({each['content_type']}, {each['size']} bytes)")
        if any(each["content_type"] in TNEF or each["name"].lower() == "winmail.dat" for each in mail.attachments):
            draft.add(PACKED)
        if len(mail.attachments) > ATTACHMENTS:
            draft.add(f"(… and {len(mail.attachments) - ATTACHMENTS} more)")
    for inner in mail.forwarded:
        write(draft, inner, level + 1)


def _text(draft: Draft, mail: Mail) -> None:
    page = _shown(draft, mail) if mail.html else _of_rtf(draft, mail) if mail.rtf else None
    if page is None or len(mail.text.strip()) >= STUB * len(page.text):
        draft.add(mail.text.strip())
        for found in ADDRESS.findall(mail.text[:1_000_000])[:1_000]:
            draft.address(found.rstrip(".,;:!?"))
        return
    draft.add(page.markdown)
    draft.tables += page.tables[:100]
    for link in page.links:
        draft.address(link.url, link.text)


def _shown(draft: Draft, mail: Mail) -> Document:
    """The message as programs show it that show HTML."""
    return extract(mail.html, url=_base(mail), main=False, chars=draft.source.chars, tags=draft.source.tags)


def _of_rtf(draft: Draft, mail: Mail) -> Document | None:
    with suppress(OutriderError):
        return read_rtf(replace(draft.source, body=mail.rtf, content_type="application/rtf"))
    return None


def _page(source: Source, mail: Mail) -> Document:
    """A saved web page is read as the page that it was."""
    return extract(mail.html, url=_base(mail), main=source.main, chars=source.chars, tags=source.tags)


def _base(mail: Mail) -> str:
    return absolute(mail.base, "")


def facts(mail: Mail) -> dict[str, str]:
    """Title, author and date."""
    try:
        published = parsedate_to_datetime(mail.headers["Date"]).isoformat()
    except (ValueError, TypeError, OverflowError, IndexError):
        published = ""
    return {"title": mail.headers["Subject"], "author": mail.headers["From"], "published": published}


def further(mail: Mail) -> dict[str, object]:
    """What else is known of it."""
    known = {"attachments": mail.attachments[:ATTACHMENTS], "message_id": mail.headers["Message-ID"]}
    return {name: value for name, value in known.items() if value}


message = Reader(
    "mail",
    ("message/rfc822", "message/global", "multipart/related", "application/x-mimearchive"),
    read_message,
    suffixes=(".eml", ".mht", ".mhtml"),
)
mailbox = Reader("mailbox", ("application/mbox",), read_mailbox, suffixes=(".mbox",))
