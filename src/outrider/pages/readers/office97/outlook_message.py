"""A message as Outlook saves it (MS-OXMSG): properties in streams, recipients and attachments in folders of them."""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import cached_property
from typing import Any

from outrider.pages.document import to_single_line
from outrider.pages.mime.charset import decode_body
from outrider.pages.readers.office97.compound_file import CompoundFile
from outrider.pages.readers.office97.compressed_rtf import decompress_rtf
from outrider.pages.readers.parsing.mail_message import SHOWN_HEADERS, MailMessage, parse_mail
from outrider.pages.readers.parsing.rtf_tokens import find_codec

STORAGE_PATH = re.compile(r"(__(recip|attach)_version1\.0_#[0-9A-Fa-f]{8}/)[^/]*")
ANSI_TYPE, UNICODE_TYPE, BINARY_TYPE = (
    0x001E,
    0x001F,
    0x0102,
)  # kinds of values that have a stream (MS-OXCDATA section 2.11.1)
FILETIME_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
TO_RECIPIENT, CC_RECIPIENT = 1, 2  # kinds of recipients
# Properties by their numbers (MS-OXPROPS).
PID_SUBJECT, PID_MESSAGE_CLASS, PID_BODY, PID_HTML, PID_RTF, PID_HEADERS, PID_MESSAGE_ID = (
    0x0037,
    0x001A,
    0x1000,
    0x1013,
    0x1009,
    0x007D,
    0x1035,
)
PID_SENT, PID_DELIVERED, PID_START, PID_END = 0x0039, 0x0E06, 0x0060, 0x0061
PID_DISPLAY_NAME, PID_ADDRESSES, PID_RECIPIENT_TYPE = 0x3001, (0x39FE, 0x3003), 0x0C15
PID_FILE_NAMES, PID_MIME_TYPE, PID_ATTACH_DATA, PID_ATTACH_METHOD = (0x3707, 0x3704, 0x3001), 0x370E, 0x3701, 0x3705
CODE_PAGE_PROPERTIES = (0x3FDE, 0x3FFD)  # code pages, of the HTML and of texts


@dataclass(frozen=True)
class MessageStorage:
    """The properties of a message, a recipient or an attachment.

    Args:
        files: The file.
        path: The folder's path, with the slash at its end; empty for the message itself.
        start: Bytes before the first property: 32 of a message, 24 of one inside of another, 8 of the rest.
    """

    files: CompoundFile
    path: str
    start: int

    @cached_property
    def fixed_values(self) -> dict[int, bytes]:
        """Values of eight bytes by the numbers of their properties (section 2.4.2.1)."""
        properties_stream = "__properties_version1.0"
        body = self.files.read_path(self.path + properties_stream)
        rows = (body[at : at + 16] for at in range(self.start, len(body) - 15, 16))
        return {struct.unpack_from("<H", row, 2)[0]: row[8:] for row in rows}

    def read_text(self, number: int) -> str:
        """A text; empty if there is none."""
        if body := self._read_stream(number, UNICODE_TYPE):
            return body.decode("utf-16-le", "replace").rstrip("\0")
        return (
            self._read_stream(number, ANSI_TYPE)
            .decode(find_codec(self.read_integer(CODE_PAGE_PROPERTIES[1]) or None), "replace")
            .rstrip("\0")
        )

    def read_bytes(self, number: int) -> bytes:
        """Bytes; none if there is no such property."""
        return self._read_stream(number, BINARY_TYPE)

    def get_size(self, number: int) -> int:
        """The length of bytes."""
        return self.files.paths.get(self._build_stream_path(number, BINARY_TYPE), (0, 0))[1]

    def read_integer(self, number: int) -> int:
        """A whole number; 0 if there is none."""
        return struct.unpack_from("<L", self.fixed_values[number])[0] if number in self.fixed_values else 0

    def format_time(self, number: int) -> str:
        """A moment as mail writes it; empty if there is none."""
        ticks = struct.unpack("<Q", self.fixed_values[number])[0] if number in self.fixed_values else 0
        try:
            return format_datetime(FILETIME_EPOCH + timedelta(microseconds=ticks // 10)) if ticks else ""
        except (OverflowError, ValueError):
            return ""

    def iter_storages(self, kind: str, start: int = 8) -> "Iterator[MessageStorage]":
        """Its recipients (`recip`) or attachments (`attach`)."""
        max_storages = 500  # recipients, and attachments, that are read
        found = (
            STORAGE_PATH.fullmatch(path[len(self.path) :]) for path in self.files.paths if path.startswith(self.path)
        )
        names = sorted({each[1] for each in found if each and each[2] == kind})
        return (MessageStorage(self.files, self.path + name, start) for name in names[:max_storages])

    def _read_stream(self, number: int, kind: int) -> bytes:
        return self.files.read_path(self._build_stream_path(number, kind))

    def _build_stream_path(self, number: int, kind: int) -> str:
        return f"{self.path}__substg1.0_{number:04X}{kind:04X}"


def read_mail(files: CompoundFile) -> MailMessage:
    """The message in a file, with those that are attached to it."""
    return _build_mail(MessageStorage(files, "", 32), 0)


def _build_mail(storage: MessageStorage, depth: int) -> MailMessage:
    mail = MailMessage(_read_headers(storage))
    mail.text = storage.read_text(PID_BODY).replace("\r\n", "\n")
    mail.html = _html(storage)
    mail.rtf = decompress_rtf(storage.read_bytes(PID_RTF)) if not (mail.text.strip() or mail.html.strip()) else b""
    kind = storage.read_text(PID_MESSAGE_CLASS).upper()
    mail.encrypted = kind.startswith("IPM.NOTE.SMIME") and "SIGNED" not in kind
    for each in storage.iter_storages("attach"):
        _add_attachment(mail, each, depth)
    return mail


def _read_headers(storage: MessageStorage) -> dict[str, str]:
    """What a person reads of the headers: as they came over the network, where that is known."""
    displayed_properties = {"To": 0x0E04, "Cc": 0x0E03}
    sender_properties = (
        (0x0C1A, (0x5D01, 0x0C1F)),
        (0x0042, (0x5D02, 0x0065)),
    )  # names, and addresses that belong to them
    max_named = 20  # recipients of a kind that are shown
    sent = (
        parse_mail(storage.read_text(PID_HEADERS).encode("utf-8", "replace")).headers
        if storage.read_text(PID_HEADERS)
        else {}
    )
    found = dict.fromkeys((*SHOWN_HEADERS, "Message-ID"), "") | {
        "Subject": storage.read_text(PID_SUBJECT),
        "From": next(filter(None, (_format_person(storage, *each) for each in sender_properties)), ""),
        "Date": storage.format_time(PID_SENT) or storage.format_time(PID_DELIVERED),
        "Message-ID": storage.read_text(PID_MESSAGE_ID),
    }
    people = list(storage.iter_storages("recip"))
    for name, kind in (("To", TO_RECIPIENT), ("Cc", CC_RECIPIENT)):
        listed = [
            _format_person(each, PID_DISPLAY_NAME, PID_ADDRESSES)
            for each in people
            if each.read_integer(PID_RECIPIENT_TYPE) == kind
        ]
        more = f" and {len(listed) - max_named} more" if len(listed) > max_named else ""
        found[name] = ", ".join(filter(None, listed[:max_named])) + more or storage.read_text(
            displayed_properties[name]
        )
    if begins := storage.format_time(PID_START):
        found["When"] = f"{begins} to {storage.format_time(PID_END)}".removesuffix(" to ")
    return {name: to_single_line(value or sent.get(name, ""), 2_000) for name, value in found.items()}


def _format_person(storage: MessageStorage, name: int, addresses: tuple[int, ...]) -> str:
    """Name and address; addresses of an Exchange server that are none of the internet say nothing."""
    called = storage.read_text(name).strip().strip("'")
    address = next((each for number in addresses if "@" in (each := storage.read_text(number).strip())), "")
    return f"{called} <{address}>" if called and address and called != address else address or called


def _html(told: MessageStorage) -> str:
    if body := told.read_bytes(PID_HTML):
        number = told.read_integer(CODE_PAGE_PROPERTIES[0])
        return decode_body(body, find_codec(number) if number else None)[0].rstrip("\0")
    return told.read_text(PID_HTML)


def _add_attachment(mail: MailMessage, storage: MessageStorage, depth: int) -> None:
    by_message = 5  # how an attachment is attached
    max_depth = 3  # messages in messages
    embedded_folder = "__substg1.0_3701000D/"  # the folder of a message that is attached
    inner = MessageStorage(storage.files, storage.path + embedded_folder, 24)
    if storage.read_integer(PID_ATTACH_METHOD) == by_message and inner.fixed_values and depth < max_depth:
        mail.forwarded.append(_build_mail(inner, depth + 1))
        return
    name = to_single_line(next(filter(None, (storage.read_text(each) for each in PID_FILE_NAMES)), ""), 200)
    kind = to_single_line(storage.read_text(PID_MIME_TYPE), 100) or "unknown type"
    noted: dict[str, Any] = {
        "name": name or "(unnamed)",
        "content_type": kind,
        "size": storage.get_size(PID_ATTACH_DATA),
    }
    mail.attachments.append(noted)
