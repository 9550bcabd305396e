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

from outrider.pages.document import line_of
from outrider.pages.sniffing.charset import decode

NESTED = 40  # multiparts in one message; the parser's time grows with their depth
PARTS = 2_000  # that one message may seem to have
LARGEST = 10_000_000  # bytes of one message; the parser takes twenty times that
BOUNDARY = re.compile(rb"^--", re.MULTILINE)
MULTIPART = re.compile(rb"content-type:\s{0,8}(?:multipart/|message/rfc822)", re.IGNORECASE)
SHOWN = ("From", "To", "Cc", "Date", "Subject")
ADDRESSES = 20  # of one header that are shown
ENCRYPTED = frozenset({"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"})


@dataclass
class Mail:
    """A message.

    `rtf` is its text where that is all there is, `attachments` are names with types and sizes, `forwarded` are
    messages inside of it.
    """

    headers: dict[str, str]
    text: str = ""
    html: str = ""
    rtf: bytes = b""
    base: str = ""
    encrypted: bool = False
    cut: bool = False
    attachments: list[dict[str, Any]] = field(default_factory=list)
    forwarded: list["Mail"] = field(default_factory=list)


def parsed(body: bytes) -> Mail:
    """The message in these bytes, as far as the bounds let it be read."""
    end = min(_place(MULTIPART, body, NESTED), _place(BOUNDARY, body, PARTS), LARGEST)
    mail = _read(BytesParser(policy=compat32).parsebytes(body[:end]), 0)
    mail.cut = end < len(body)
    return mail


def _place(pattern: re.Pattern[bytes], body: bytes, number: int) -> int:
    """Where a pattern stands for the so-manieth time; the end if it does not so often."""
    found = next(islice(pattern.finditer(body), number, None), None)
    return found.start() if found else len(body)


def _read(message: Message, depth: int) -> Mail:
    mail = Mail({name: header(message, name) for name in (*SHOWN, "Message-ID")})
    mail.base = header(message, "Snapshot-Content-Location")
    for part in _leaves(message):
        _take(mail, part, depth)
    return mail


def _leaves(message: Message) -> Iterator[Message]:
    """The parts that hold something, those of forwarded messages not among them."""
    waiting = [message]
    while waiting:
        part = waiting.pop()
        inner = part.get_payload()
        if part.get_content_type() == "message/rfc822" or not isinstance(inner, list):
            yield part
        else:
            waiting.extend(each for each in reversed(inner) if isinstance(each, Message))


def _take(mail: Mail, part: Message, depth: int) -> None:
    kind, name = part.get_content_type(), filename(part)
    inner = part.get_payload()
    if kind == "message/rfc822" and isinstance(inner, list) and depth < 3:
        mail.forwarded += [_read(each, depth + 1) for each in inner if isinstance(each, Message)]
        return
    body = _bytes(part)
    attached = part.get_content_disposition() == "attachment" or bool(name)
    if kind in ENCRYPTED and part.get_param("smime-type") != "signed-data":
        mail.encrypted = True
    elif kind == "text/plain" and not attached:
        mail.text += "\n\n" * bool(mail.text) + _flowed(part, _decoded(part, body))
    elif kind == "text/html" and not attached:
        mail.html = mail.html or _decoded(part, body)
        mail.base = mail.base or header(part, "Content-Location")
    elif attached or (body and kind not in ("text/plain", "text/html", "application/pgp-encrypted")):
        mail.attachments.append({"name": name or "(unnamed)", "content_type": line_of(kind, 100), "size": len(body)})


def _bytes(part: Message) -> bytes:
    """A part without its transfer encoding; as it came where that is broken."""
    try:
        body = part.get_payload(decode=True)
    except (ValueError, LookupError, AssertionError, TypeError):
        body = None
    return body if isinstance(body, bytes) else str(part.get_payload()).encode("utf-8", "replace")


def _decoded(part: Message, body: bytes) -> str:
    charset = part.get_param("charset")
    return decode(body, charset if isinstance(charset, str) else None, markup=part.get_content_subtype() == "html")[0]


def _flowed(part: Message, text: str) -> str:
    """Lines that were broken for the way joined again (RFC 3676 section 4)."""
    text = text.replace("\r\n", "\n").strip("\n")
    if str(part.get_param("format")).lower() != "flowed":
        return text
    return re.sub(r"(?<=\S) \n(?!>|\n|-- \n)", " ", text)


def header(message: Message, name: str) -> str:
    """A header as a person reads it, on one line; empty if it is missing (RFC 2047)."""
    return line_of(worded(str(message.get(name) or "")), 2_000)


def worded(value: str) -> str:
    """A header's encoded words resolved; as it is, where they are broken."""
    value = value[:10_000]
    try:
        pieces = decode_header(value)
    except (HeaderParseError, ValueError, LookupError, AssertionError, TypeError):
        return value
    return "".join(_piece(*piece) for piece in pieces)


def _piece(text: str | bytes, charset: str | None) -> str:
    if isinstance(text, str):
        return text
    return decode(text, None if charset in (None, "unknown-8bit") else charset, markup=False)[0]


def filename(part: Message) -> str:
    """The name of an attachment; empty if it has none."""
    try:
        name = part.get_filename()
    except (ValueError, LookupError, TypeError, AttributeError):
        name = None
    return line_of(worded(str(name)), 200) if name else ""
