"""One e-mail message: its headers, the part that a person reads, and what is attached (RFC 5322, RFC 2045 to 2049)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.parser import BytesParser
from email.policy import compat32
from itertools import islice
from typing import Any

from outrider.pages.document import to_single_line
from outrider.pages.mime.charset import decode_body

BOUNDARY_LINE = re.compile(rb"^--", re.MULTILINE)
MULTIPART_HEADER = re.compile(rb"content-type:\s{0,8}(?:multipart/|message/rfc822)", re.IGNORECASE)
SHOWN_HEADERS = ("From", "To", "Cc", "Date", "Subject")
ADDRESSES = 20  # of one header that are shown


@dataclass
class MailMessage:
    """A message.

    `rtf` is its text where that is all there is, `attachments` are names with types and sizes, `forwarded` are
    messages inside of it.
    """

    headers: dict[str, str]
    text: str = ""
    html: str = ""
    rtf: bytes = b""
    base_url: str = ""
    encrypted: bool = False
    is_cut: bool = False
    attachments: list[dict[str, Any]] = field(default_factory=list)
    forwarded: list["MailMessage"] = field(default_factory=list)


def parse_mail(body: bytes) -> MailMessage:
    """The message in these bytes, as far as the bounds let it be read."""
    max_bytes = 10_000_000  # bytes of one message; the parser takes twenty times that
    max_parts = 2_000  # that one message may seem to have
    max_multiparts = 40  # multiparts in one message; the parser's time grows with their depth
    end = min(
        _find_nth_match(MULTIPART_HEADER, body, max_multiparts),
        _find_nth_match(BOUNDARY_LINE, body, max_parts),
        max_bytes,
    )
    mail = _build_mail(BytesParser(policy=compat32).parsebytes(body[:end]), 0)
    mail.is_cut = end < len(body)
    return mail


def _find_nth_match(pattern: re.Pattern[bytes], body: bytes, number: int) -> int:
    """Where a pattern stands for the so-manieth time; the end if it does not so often."""
    found = next(islice(pattern.finditer(body), number, None), None)
    return found.start() if found else len(body)


def _build_mail(message: Message, depth: int) -> MailMessage:
    mail = MailMessage({name: read_header(message, name) for name in (*SHOWN_HEADERS, "Message-ID")})
    mail.base_url = read_header(message, "Snapshot-Content-Location")
    for part in _iter_leaf_parts(message):
        _add_part(mail, part, depth)
    return mail


def _iter_leaf_parts(message: Message) -> Iterator[Message]:
    """The parts that hold something, those of forwarded messages not among them."""
    waiting = [message]
    while waiting:
        part = waiting.pop()
        inner = part.get_payload()
        if part.get_content_type() == "message/rfc822" or not isinstance(inner, list):
            yield part
        else:
            waiting.extend(each for each in reversed(inner) if isinstance(each, Message))


def _add_part(mail: MailMessage, part: Message, depth: int) -> None:
    encrypted_types = frozenset({"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"})
    kind, name = part.get_content_type(), read_filename(part)
    inner = part.get_payload()
    if kind == "message/rfc822" and isinstance(inner, list) and depth < 3:
        mail.forwarded += [_build_mail(each, depth + 1) for each in inner if isinstance(each, Message)]
        return
    body = _decode_transfer(part)
    attached = part.get_content_disposition() == "attachment" or bool(name)
    if kind in encrypted_types and part.get_param("smime-type") != "signed-data":
        mail.encrypted = True
    elif kind == "text/plain" and not attached:
        mail.text += "\n\n" * bool(mail.text) + _unwrap_flowed(part, _decode_text(part, body))
    elif kind == "text/html" and not attached:
        mail.html = mail.html or _decode_text(part, body)
        mail.base_url = mail.base_url or read_header(part, "Content-Location")
    elif attached or (body and kind not in ("text/plain", "text/html", "application/pgp-encrypted")):
        mail.attachments.append(
            {"name": name or "(unnamed)", "content_type": to_single_line(kind, 100), "size": len(body)}
        )


def _decode_transfer(part: Message) -> bytes:
    """A part without its transfer encoding; as it came where that is broken."""
    try:
        body = part.get_payload(decode=True)
    except (ValueError, LookupError, AssertionError, TypeError):
        body = None
    return body if isinstance(body, bytes) else str(part.get_payload()).encode("utf-8", "replace")


def _decode_text(part: Message, body: bytes) -> str:
    charset = part.get_param("charset")
    return decode_body(
        body, charset if isinstance(charset, str) else None, markup=part.get_content_subtype() == "html"
    )[0]


def _unwrap_flowed(part: Message, text: str) -> str:
    """Lines that were broken for the way joined again (RFC 3676 section 4)."""
    text = text.replace("\r\n", "\n").strip("\n")
    if str(part.get_param("format")).lower() != "flowed":
        return text
    return re.sub(r"(?<=\S) \n(?!>|\n|-- \n)", " ", text)


def read_header(message: Message, name: str) -> str:
    """A header as a person reads it, on one line; empty if it is missing (RFC 2047)."""
    return to_single_line(decode_words(str(message.get(name) or "")), 2_000)


def decode_words(value: str) -> str:
    """A header's encoded words resolved; as it is, where they are broken."""
    value = value[:10_000]
    try:
        pieces = decode_header(value)
    except (HeaderParseError, ValueError, LookupError, AssertionError, TypeError):
        return value
    return "".join(_decode_piece(*piece) for piece in pieces)


def _decode_piece(text: str | bytes, charset: str | None) -> str:
    if isinstance(text, str):
        return text
    return decode_body(text, None if charset in (None, "unknown-8bit") else charset, markup=False)[0]


def read_filename(part: Message) -> str:
    """The name of an attachment; empty if it has none."""
    try:
        name = part.get_filename()
    except (ValueError, LookupError, TypeError, AttributeError):
        name = None
    return to_single_line(decode_words(str(name)), 200) if name else ""
