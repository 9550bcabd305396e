"""Parse an e-mail message: headers, readable text and attachments (RFC 5322, RFC 2045 to 2049)."""

import re
from contextlib import suppress
from dataclasses import dataclass, field
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.parser import BytesParser
from email.policy import Compat32
from itertools import islice
from typing import Any

from outrider.pages.document import to_single_line
from outrider.pages.mime.charset import decode_body

LINE_BREAK = re.compile(rb"\r\n?|\n")
BOUNDARY_LINE = re.compile(rb"^--", re.MULTILINE)
MULTIPART_HEADER = re.compile(rb"content-type:\s{0,8}(?:multipart/|message/rfc822)", re.IGNORECASE)
SHOWN_HEADERS = ("From", "To", "Cc", "Date", "Subject")


@dataclass
class MailMessage:
    """A parsed message.

    Attributes:
        rtf: The text where the message has neither plain text nor HTML.
        base_url: The URL of a saved web page.
        attachments: Each with `name`, `content_type` and `size` in bytes.
        forwarded: The messages inside it.
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


class _BoundedHeaders(Compat32):
    """The parser's rules, with short headers: it takes quadratic time for the parameters of one."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        max_chars = 20_000
        name, value = super().header_source_parse(sourcelines)
        return name, value[:max_chars]


def parse_mail(body: bytes, depth: int = 0) -> MailMessage:
    """Parse a message within the bounds; `is_cut` says whether it was cut.

    Args:
        body: The message.
        depth: The number of messages around it.
    """
    max_bytes, max_lines = 10_000_000, 200_000  # the parser takes up to 250 bytes for each line
    max_parts = 2_000
    max_multiparts = 40  # the parser's time grows with their depth
    end = min(
        _find_nth_match(MULTIPART_HEADER, body, max_multiparts),
        _find_nth_match(BOUNDARY_LINE, body, max_parts),
        _find_nth_match(LINE_BREAK, body, max_lines),
        max_bytes,
    )
    mail = _build_mail(BytesParser(policy=_BoundedHeaders()).parsebytes(body[:end]), depth)
    mail.is_cut = end < len(body)
    return mail


def _find_nth_match(pattern: re.Pattern[bytes], body: bytes, number: int) -> int:
    """Return where a pattern matches after `number` earlier matches; the body's length if nowhere."""
    match = next(islice(pattern.finditer(body), number, None), None)
    return match.start() if match else len(body)


def _build_mail(message: Message, depth: int) -> MailMessage:
    mail = MailMessage({name: read_header(message, name) for name in (*SHOWN_HEADERS, "Message-ID")})
    mail.base_url = read_header(message, "Snapshot-Content-Location")
    pending = [message]
    while pending:
        part = pending.pop()
        inner = part.get_payload()
        if part.get_content_type() == "message/rfc822" or not isinstance(inner, list):
            _add_part(mail, part, depth)
        else:
            pending.extend(child for child in reversed(inner) if isinstance(child, Message))
    return mail


def _add_part(mail: MailMessage, part: Message, depth: int) -> None:
    encrypted_types = frozenset({"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"})
    kind, name = part.get_content_type(), read_filename(part)
    inner = part.get_payload()
    if kind == "message/rfc822" and isinstance(inner, list) and depth < 3:
        encoding = str(part.get("Content-Transfer-Encoding")).strip().lower()
        messages = (message for message in inner if isinstance(message, Message))
        mail.forwarded += [_parse_forwarded(message, encoding, depth + 1) for message in messages]
        return
    body = None
    with suppress(ValueError, LookupError, AssertionError, TypeError):  # a broken transfer encoding
        body = part.get_payload(decode=True)
    if not isinstance(body, bytes):
        body = str(part.get_payload()).encode("utf-8", "replace")
    is_attached = part.get_content_disposition() == "attachment" or bool(name)
    if kind in encrypted_types and part.get_param("smime-type") != "signed-data":
        mail.encrypted = True
    elif kind == "text/plain" and not is_attached:
        text = _decode_text(part, body).replace("\r\n", "\n").strip("\n")
        if str(part.get_param("format")).lower() == "flowed":
            # Join the lines that were broken for transport (RFC 3676 section 4).
            text = re.sub(r"(?<=\S) \n(?!>|\n|-- \n)", " ", text)
        mail.text += "\n\n" * bool(mail.text) + text
    elif kind == "text/html" and not is_attached:
        mail.html = mail.html or _decode_text(part, body)
        mail.base_url = mail.base_url or read_header(part, "Content-Location")
    elif is_attached or (body and kind not in ("text/plain", "text/html", "application/pgp-encrypted")):
        mail.attachments.append(
            {"name": name or "(unnamed)", "content_type": to_single_line(kind, 100), "size": len(body)}
        )


def _parse_forwarded(message: Message, encoding: str, depth: int) -> MailMessage:
    """Return a message inside another one.

    Some programs encode it as a whole, although RFC 2046 section 5.2.1 forbids it.
    """
    if encoding in ("base64", "quoted-printable") and not message.keys():
        message["Content-Transfer-Encoding"] = encoding
        body = message.get_payload(decode=True)
        return parse_mail(body if isinstance(body, bytes) else b"", depth)
    return _build_mail(message, depth)


def _decode_text(part: Message, body: bytes) -> str:
    charset = part.get_param("charset")
    charset = charset if isinstance(charset, str) else None
    return decode_body(body, charset, markup=part.get_content_subtype() == "html")[0]


def read_header(message: Message, name: str) -> str:
    """Return a header's decoded text on one line; empty if it is missing (RFC 2047)."""
    return to_single_line(decode_words(str(message.get(name) or "")), 2_000)


def decode_words(value: str) -> str:
    """Return a header with its encoded words decoded, or unchanged where they are broken."""
    value = value[:10_000]
    try:
        pieces = decode_header(value)
    except (HeaderParseError, ValueError, LookupError, AssertionError, TypeError):
        return value
    return "".join(
        text
        if isinstance(text, str)
        else decode_body(text, None if charset == "unknown-8bit" else charset, markup=False)[0]
        for text, charset in pieces
    )


def read_filename(part: Message) -> str:
    """Return an attachment's name; empty if it has none."""
    try:
        name = part.get_filename()
    except (ValueError, LookupError, TypeError, AttributeError):
        name = None
    return to_single_line(decode_words(str(name)), 200) if name else ""
