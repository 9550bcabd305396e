"""Read Outlook messages (MS-OXMSG): properties in streams, recipients and attachments in storages."""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import cached_property

from outrider.pages.document import to_single_line
from outrider.pages.mime.charset import decode_body
from outrider.pages.readers.office97.compound_file import CompoundFile
from outrider.pages.readers.parsing.mail_message import SHOWN_HEADERS, MailMessage, parse_mail
from outrider.pages.readers.parsing.rtf_tokens import find_codec

STORAGE_PATH = re.compile(r"(__(recip|attach)_version1\.0_#[0-9A-Fa-f]{8}/)[^/]*")
ANSI_TYPE, UNICODE_TYPE, BINARY_TYPE = 0x001E, 0x001F, 0x0102  # of values in streams (MS-OXCDATA section 2.11.1)
# The initial content of the window (section 2.1.3.1.1).
INITIAL_DICTIONARY = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans Serif"
    rb"SymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)


class Pid:
    """Numbers of properties (MS-OXPROPS)."""

    MESSAGE_CLASS, SUBJECT, SENT, START, END, HEADERS = 0x001A, 0x0037, 0x0039, 0x0060, 0x0061, 0x007D
    DISPLAY_CC, DISPLAY_TO, DELIVERED = 0x0E03, 0x0E04, 0x0E06
    BODY, RTF, HTML, MESSAGE_ID = 0x1000, 0x1009, 0x1013, 0x1035
    RECIPIENT_TYPE, DISPLAY_NAME, SMTP_ADDRESS, EMAIL_ADDRESS = 0x0C15, 0x3001, 0x39FE, 0x3003
    SENDER, SENDER_SMTP, SENDER_ADDRESS = 0x0C1A, 0x5D01, 0x0C1F
    SENT_FOR, SENT_FOR_SMTP, SENT_FOR_ADDRESS = 0x0042, 0x5D02, 0x0065
    ATTACH_DATA, ATTACH_FILE_NAME, ATTACH_METHOD, ATTACH_LONG_NAME, ATTACH_MIME = 0x3701, 0x3704, 0x3705, 0x3707, 0x370E
    INTERNET_CODE_PAGE, MESSAGE_CODE_PAGE = 0x3FDE, 0x3FFD


@dataclass(frozen=True)
class MessageStorage:
    """The properties of a message, a recipient or an attachment.

    Args:
        files: The compound file.
        path: The storage's path with a slash at its end; empty for the outermost message.
        start: Bytes before the first property: 32 in a message, 24 in an embedded one, else 8.
        parent_codec: The encoding of the older texts of the message around it.
    """

    files: CompoundFile
    path: str
    start: int
    parent_codec: str = ""

    @cached_property
    def fixed_values(self) -> dict[int, bytes]:
        """Values of eight bytes by property number (section 2.4.2.1)."""
        body = self.files.read_path(f"{self.path}__properties_version1.0")
        rows = (body[at : at + 16] for at in range(self.start, len(body) - 15, 16))
        return {struct.unpack_from("<H", row, 2)[0]: row[8:] for row in rows}

    @cached_property
    def codec(self) -> str:
        """The encoding of its older texts: stated here, or of the message around it, else detected."""
        if code_page := self.read_integer(Pid.MESSAGE_CODE_PAGE):
            return find_codec(code_page)
        if self.parent_codec:
            return self.parent_codec
        sample = b" ".join(self._read_stream(number, ANSI_TYPE) for number in (Pid.SUBJECT, Pid.BODY))
        return decode_body(sample, markup=False)[1] if sample.strip() else "cp1252"

    def read_text(self, number: int) -> str:
        """Return a text; empty if there is none."""
        if body := self._read_stream(number, UNICODE_TYPE):
            return body.decode("utf-16-le", "replace").rstrip("\0")
        return self._read_stream(number, ANSI_TYPE).decode(self.codec, "replace").rstrip("\0")

    def read_bytes(self, number: int) -> bytes:
        """Return binary data; empty if there is none."""
        return self._read_stream(number, BINARY_TYPE)

    def get_size(self, number: int) -> int:
        """Return the number of bytes of binary data."""
        return self.files.paths.get(self._build_stream_path(number, BINARY_TYPE), (0, 0))[1]

    def read_integer(self, number: int) -> int:
        """Return a whole number; 0 if there is none."""
        return struct.unpack_from("<L", self.fixed_values[number])[0] if number in self.fixed_values else 0

    def format_time(self, number: int) -> str:
        """Return a time in the format of e-mail headers; empty if there is none."""
        ticks = struct.unpack("<Q", self.fixed_values[number])[0] if number in self.fixed_values else 0
        epoch = datetime(1601, 1, 1, tzinfo=UTC)
        try:
            return format_datetime(epoch + timedelta(microseconds=ticks // 10)) if ticks else ""
        except (OverflowError, ValueError):
            return ""

    def iter_storages(self, kind: str, start: int = 8) -> "Iterator[MessageStorage]":
        """Return an iterator over its recipients (`recip`) or attachments (`attach`), at most 500."""
        max_storages = 500
        inner = (path[len(self.path) :] for path in self.files.paths if path.startswith(self.path))
        matches = map(STORAGE_PATH.fullmatch, inner)
        names = sorted({match[1] for match in matches if match and match[2] == kind})
        return (MessageStorage(self.files, self.path + name, start, self.codec) for name in names[:max_storages])

    def _read_stream(self, number: int, kind: int) -> bytes:
        return self.files.read_path(self._build_stream_path(number, kind))

    def _build_stream_path(self, number: int, kind: int) -> str:
        return f"{self.path}__substg1.0_{number:04X}{kind:04X}"


def read_mail(files: CompoundFile) -> MailMessage:
    """Return the message in a file, with messages that are attached to it."""
    return _build_mail(MessageStorage(files, "", 32), 0)


def _build_mail(storage: MessageStorage, depth: int) -> MailMessage:
    mail = MailMessage(_read_headers(storage))
    mail.text = storage.read_text(Pid.BODY).replace("\r\n", "\n")
    if html := storage.read_bytes(Pid.HTML):
        code_page = storage.read_integer(Pid.INTERNET_CODE_PAGE)
        mail.html = decode_body(html, find_codec(code_page) if code_page else None)[0].rstrip("\0")
    else:
        mail.html = storage.read_text(Pid.HTML)
    if not (mail.text.strip() or mail.html.strip()):
        mail.rtf = decompress_rtf(storage.read_bytes(Pid.RTF))
    message_class = storage.read_text(Pid.MESSAGE_CLASS).upper()
    mail.encrypted = message_class.startswith("IPM.NOTE.SMIME") and "SIGNED" not in message_class
    embedded_message = 5  # an attachment method
    max_depth = 3
    names = (Pid.ATTACH_LONG_NAME, Pid.ATTACH_FILE_NAME, Pid.DISPLAY_NAME)
    for part in storage.iter_storages("attach"):
        inner = MessageStorage(part.files, f"{part.path}__substg1.0_3701000D/", 24, part.codec)
        if part.read_integer(Pid.ATTACH_METHOD) == embedded_message and inner.fixed_values and depth < max_depth:
            mail.forwarded.append(_build_mail(inner, depth + 1))
            continue
        name = to_single_line(next(filter(None, map(part.read_text, names)), ""), 200)
        content_type = to_single_line(part.read_text(Pid.ATTACH_MIME), 100) or "unknown type"
        size = part.get_size(Pid.ATTACH_DATA)
        mail.attachments.append({"name": name or "(unnamed)", "content_type": content_type, "size": size})
    return mail


def _read_headers(storage: MessageStorage) -> dict[str, str]:
    """Return the shown headers from properties; where those are empty, from the headers of transport."""
    transport = storage.read_text(Pid.HEADERS)
    transport_headers = parse_mail(transport.encode("utf-8", "replace")).headers if transport else {}
    sender = _format_person(storage, Pid.SENDER, Pid.SENDER_SMTP, Pid.SENDER_ADDRESS)
    headers = dict.fromkeys((*SHOWN_HEADERS, "Message-ID"), "") | {
        "Subject": storage.read_text(Pid.SUBJECT),
        "From": sender or _format_person(storage, Pid.SENT_FOR, Pid.SENT_FOR_SMTP, Pid.SENT_FOR_ADDRESS),
        "Date": storage.format_time(Pid.SENT) or storage.format_time(Pid.DELIVERED),
        "Message-ID": storage.read_text(Pid.MESSAGE_ID),
        "To": _format_recipients(storage, 1) or storage.read_text(Pid.DISPLAY_TO),
        "Cc": _format_recipients(storage, 2) or storage.read_text(Pid.DISPLAY_CC),
    }
    if start := storage.format_time(Pid.START):
        headers["When"] = f"{start} to {storage.format_time(Pid.END)}".removesuffix(" to ")
    return {name: to_single_line(value or transport_headers.get(name, ""), 2_000) for name, value in headers.items()}


def _format_recipients(storage: MessageStorage, recipient_type: int) -> str:
    max_named = 20
    people = [
        _format_person(recipient, Pid.DISPLAY_NAME, Pid.SMTP_ADDRESS, Pid.EMAIL_ADDRESS)
        for recipient in storage.iter_storages("recip")
        if recipient.read_integer(Pid.RECIPIENT_TYPE) == recipient_type
    ]
    more = f" and {len(people) - max_named} more" if len(people) > max_named else ""
    return ", ".join(filter(None, people[:max_named])) + more


def _format_person(storage: MessageStorage, name: int, *addresses: int) -> str:
    """Return name and address; internal addresses of an Exchange server, without an @, are ignored."""
    person = storage.read_text(name).strip().strip("'")
    candidates = (storage.read_text(number).strip() for number in addresses)
    address = next((candidate for candidate in candidates if "@" in candidate), "")
    return f"{person} <{address}>" if person and address and person != address else address or person


def decompress_rtf(body: bytes) -> bytes:
    """Return the RTF up to the first damage; empty if the body is not compressed RTF."""
    max_bytes = 20_000_000
    if len(body) < 16:
        return b""
    size, signature = struct.unpack_from("<L4s", body, 4)
    if signature == b"MELA":  # stored without compression
        return body[16 : 16 + size]
    return _decompress_body(body[16:], min(size, max_bytes)) if signature == b"LZFu" else b""


def _decompress_body(body: bytes, size: int) -> bytes:
    window_bytes = 4_096
    output, at = bytearray(INITIAL_DICTIONARY), 0
    end = len(INITIAL_DICTIONARY) + size
    while at < len(body) and len(output) < end:
        flags, at = body[at], at + 1
        for bit in range(8):
            if not flags >> bit & 1:
                output += body[at : at + 1]
                at += 1
                continue
            reference = int.from_bytes(body[at : at + 2], "big")
            position, length, at = reference >> 4, (reference & 15) + 2, at + 2
            distance = (len(output) - position) % window_bytes
            # A reference to the current position marks the end.
            if distance == 0 or distance > len(output) or at > len(body):
                return bytes(output[len(INITIAL_DICTIONARY) : end])
            for _ in range(length):
                output.append(output[-distance])
    return bytes(output[len(INITIAL_DICTIONARY) : end])
