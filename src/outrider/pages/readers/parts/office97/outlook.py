"""A message as Outlook saves it (MS-OXMSG): properties in streams, recipients and attachments in folders of them."""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import cached_property
from typing import Any

from outrider.pages.document import line_of
from outrider.pages.readers.parts.message import SHOWN, Mail, parsed
from outrider.pages.readers.parts.office97.compound import Compound
from outrider.pages.readers.parts.office97.packed_rtf import unpacked
from outrider.pages.readers.parts.rtf_groups import codec
from outrider.pages.sniffing.charset import decode

PROPERTIES = "__properties_version1.0"
EMBEDDED = "__substg1.0_3701000D/"  # the folder of a message that is attached
FOLDER = re.compile(r"(__(recip|attach)_version1\.0_#[0-9A-Fa-f]{8}/)[^/]*")
ANSI, UNICODE, BINARY = 0x001E, 0x001F, 0x0102  # kinds of values that have a stream (MS-OXCDATA section 2.11.1)
MANY = 500  # recipients, and attachments, that are read
NAMED = 20  # recipients of a kind that are shown
DEPTH = 3  # messages in messages
SINCE_1601 = datetime(1601, 1, 1, tzinfo=UTC)
TO, CC = 1, 2  # kinds of recipients
BY_MESSAGE = 5  # how an attachment is attached
# Properties by their numbers (MS-OXPROPS).
SUBJECT, CLASS, BODY, HTML, RTF, HEADERS, ID = 0x0037, 0x001A, 0x1000, 0x1013, 0x1009, 0x007D, 0x1035
SENT, DELIVERED, BEGINS, ENDS = 0x0039, 0x0E06, 0x0060, 0x0061
SENDERS = ((0x0C1A, (0x5D01, 0x0C1F)), (0x0042, (0x5D02, 0x0065)))  # names, and addresses that belong to them
DISPLAYED = {"To": 0x0E04, "Cc": 0x0E03}
NAME, ADDRESSES, KIND = 0x3001, (0x39FE, 0x3003), 0x0C15
FILE, TYPE, DATA, METHOD = (0x3707, 0x3704, 0x3001), 0x370E, 0x3701, 0x3705
PAGES = (0x3FDE, 0x3FFD)  # code pages, of the HTML and of texts


@dataclass(frozen=True)
class Folder:
    """The properties of a message, a recipient or an attachment.

    Args:
        files: The file.
        path: The folder's path, with the slash at its end; empty for the message itself.
        start: Bytes before the first property: 32 of a message, 24 of one inside of another, 8 of the rest.
    """

    files: Compound
    path: str
    start: int

    @cached_property
    def fixed(self) -> dict[int, bytes]:
        """Values of eight bytes by the numbers of their properties (section 2.4.2.1)."""
        body = self.files.at(self.path + PROPERTIES)
        rows = (body[at : at + 16] for at in range(self.start, len(body) - 15, 16))
        return {struct.unpack_from("<H", row, 2)[0]: row[8:] for row in rows}

    def text(self, number: int) -> str:
        """A text; empty if there is none."""
        if body := self._stream(number, UNICODE):
            return body.decode("utf-16-le", "replace").rstrip("\0")
        return self._stream(number, ANSI).decode(codec(self.whole(PAGES[1]) or None), "replace").rstrip("\0")

    def data(self, number: int) -> bytes:
        """Bytes; none if there is no such property."""
        return self._stream(number, BINARY)

    def size(self, number: int) -> int:
        """The length of bytes."""
        return self.files.paths.get(self._name(number, BINARY), (0, 0))[1]

    def whole(self, number: int) -> int:
        """A whole number; 0 if there is none."""
        return struct.unpack_from("<L", self.fixed[number])[0] if number in self.fixed else 0

    def time(self, number: int) -> str:
        """A moment as mail writes it; empty if there is none."""
        ticks = struct.unpack("<Q", self.fixed[number])[0] if number in self.fixed else 0
        try:
            return format_datetime(SINCE_1601 + timedelta(microseconds=ticks // 10)) if ticks else ""
        except (OverflowError, ValueError):
            return ""

    def folders(self, kind: str, start: int = 8) -> "Iterator[Folder]":
        """Its recipients (`recip`) or attachments (`attach`)."""
        found = (FOLDER.fullmatch(path[len(self.path) :]) for path in self.files.paths if path.startswith(self.path))
        names = sorted({each[1] for each in found if each and each[2] == kind})
        return (Folder(self.files, self.path + name, start) for name in names[:MANY])

    def _stream(self, number: int, kind: int) -> bytes:
        return self.files.at(self._name(number, kind))

    def _name(self, number: int, kind: int) -> str:
        return f"{self.path}__substg1.0_{number:04X}{kind:04X}"


def message(files: Compound) -> Mail:
    """The message in a file, with those that are attached to it."""
    return _message(Folder(files, "", 32), 0)


def _message(told: Folder, depth: int) -> Mail:
    mail = Mail(_headers(told))
    mail.text = told.text(BODY).replace("\r\n", "\n")
    mail.html = _html(told)
    mail.rtf = unpacked(told.data(RTF)) if not (mail.text.strip() or mail.html.strip()) else b""
    kind = told.text(CLASS).upper()
    mail.encrypted = kind.startswith("IPM.NOTE.SMIME") and "SIGNED" not in kind
    for each in told.folders("attach"):
        _attach(mail, each, depth)
    return mail


def _headers(told: Folder) -> dict[str, str]:
    """What a person reads of the headers: as they came over the network, where that is known."""
    sent = parsed(told.text(HEADERS).encode("utf-8", "replace")).headers if told.text(HEADERS) else {}
    found = dict.fromkeys((*SHOWN, "Message-ID"), "") | {
        "Subject": told.text(SUBJECT),
        "From": next(filter(None, (_person(told, *each) for each in SENDERS)), ""),
        "Date": told.time(SENT) or told.time(DELIVERED),
        "Message-ID": told.text(ID),
    }
    people = list(told.folders("recip"))
    for name, kind in (("To", TO), ("Cc", CC)):
        listed = [_person(each, NAME, ADDRESSES) for each in people if each.whole(KIND) == kind]
        more = f" and {len(listed) - NAMED} more" if len(listed) > NAMED else ""
        found[name] = ", ".join(filter(None, listed[:NAMED])) + more or told.text(DISPLAYED[name])
    if begins := told.time(BEGINS):
        found["When"] = f"{begins} to {told.time(ENDS)}".removesuffix(" to ")
    return {name: line_of(value or sent.get(name, ""), 2_000) for name, value in found.items()}


def _person(told: Folder, name: int, addresses: tuple[int, ...]) -> str:
    """Name and address; addresses of an Exchange server that are none of the internet say nothing."""
    called = told.text(name).strip().strip("'")
    address = next((each for number in addresses if "@" in (each := told.text(number).strip())), "")
    return f"{called} <{address}>" if called and address and called != address else address or called


def _html(told: Folder) -> str:
    if body := told.data(HTML):
        number = told.whole(PAGES[0])
        return decode(body, codec(number) if number else None)[0].rstrip("\0")
    return told.text(HTML)


def _attach(mail: Mail, told: Folder, depth: int) -> None:
    inner = Folder(told.files, told.path + EMBEDDED, 24)
    if told.whole(METHOD) == BY_MESSAGE and inner.fixed and depth < DEPTH:
        mail.forwarded.append(_message(inner, depth + 1))
        return
    name = line_of(next(filter(None, (told.text(each) for each in FILE)), ""), 200)
    kind = line_of(told.text(TYPE), 100) or "unknown type"
    noted: dict[str, Any] = {"name": name or "(unnamed)", "content_type": kind, "size": told.size(DATA)}
    mail.attachments.append(noted)
