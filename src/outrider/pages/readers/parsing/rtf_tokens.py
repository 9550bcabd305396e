"""Rich Text Format as control words, groups and characters (Rich Text Format Specification 1.9.1)."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

# Possessive throughout: each byte is looked at once.
RTF_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32}+)(-?\d{1,10}+)?+ ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n]++|([^\\{}\r\n]++)",
    re.DOTALL,
)
CHARSET_CODECS = {  # \fcharset to code page
    77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "cp950", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250", 255: "cp437",
}  # fmt: skip
CODE_PAGE_CODECS = {10000: "mac_roman", 65001: "utf-8", 936: "gb18030", 708: "iso8859-6"}


@dataclass(frozen=True, slots=True)
class ControlWord:
    """A control word and its number, None if it has none."""

    name: str
    value: int | None = None

    @property
    def is_on(self) -> bool:
        """Whether it switches something on, as `b` does and `b0` does not."""
        return self.value != 0


@dataclass(frozen=True, slots=True)
class RtfBytes:
    """Characters in the code page of the font at hand."""

    data: bytes


@dataclass(frozen=True, slots=True)
class GroupEdge:
    """A group begins or ends."""

    opening: bool


RtfToken = ControlWord | RtfBytes | GroupEdge
CONTROL_SYMBOLS = {b"~": " ", b"_": "\u2011", b"-": ""}


def iter_tokens(body: bytes, limit: int) -> Iterator[RtfToken]:
    """The tokens in order, at most `limit`; data of pictures in binary are passed over."""
    at = 0
    while limit > 0 and (found := RTF_TOKEN.match(body, at)):
        at = found.end()
        limit -= found[0][0] not in b"\r\n"
        if found[1]:
            name, value = found[1].decode("ascii"), int(found[2]) if found[2] else None
            if name == "bin":
                at += max(0, value or 0)
            else:
                yield ControlWord(name, value)
        elif found[3]:
            yield RtfBytes(bytes.fromhex(found[3].decode("ascii")))
        elif found[4]:
            yield _parse_control_symbol(found[4])
        elif found[5]:
            yield GroupEdge(found[5] == b"{")
        elif found[6]:
            yield RtfBytes(found[6])


def _parse_control_symbol(sign: bytes) -> RtfToken:
    if sign in (b"\n", b"\r"):
        return ControlWord("par")
    if sign in CONTROL_SYMBOLS:
        return ControlWord("sign", ord(CONTROL_SYMBOLS[sign])) if CONTROL_SYMBOLS[sign] else ControlWord("-")
    return ControlWord("*") if sign == b"*" else RtfBytes(sign)


def find_codec(number: int | None) -> str:
    """The codec of a Windows code page; Latin where there is none."""
    name = CODE_PAGE_CODECS.get(number or 0, f"cp{number}")
    try:
        codecs.lookup(name)
    except LookupError:
        return "cp1252"
    return name


@dataclass(frozen=True, slots=True)
class GroupState:
    """What holds inside of a group."""

    to: str = ""  # where its text goes: empty for the body, `-` for nowhere, else a destination's name
    bold: bool = False
    italic: bool = False
    struck: bool = False
    hidden: bool = False
    font: int = -1
    skipped: int = 1  # bytes that stand for a Unicode character where it is not known (\\uc)
    address: str = ""
    rise: int = 0


class GroupStack:
    """The groups that are open."""

    def __init__(self) -> None:
        self.current = GroupState()
        self._outer: list[GroupState] = []
        self._too_deep = 0

    def update(self, **values: Any) -> None:
        """Something changes until the group ends."""
        self.current = replace(self.current, **values)

    def cross_edge(self, *, opening: bool) -> GroupState | None:
        """Begins a group, or ends one and gives what it was."""
        max_depth = 1_000  # groups deeper than this belong to the one above them
        if opening:
            if len(self._outer) >= max_depth:
                self._too_deep += 1
            else:
                self._outer.append(self.current)
            return None
        ended = self.current
        if self._too_deep:
            self._too_deep -= 1
        elif self._outer:
            self.current = self._outer.pop()
            return ended
        return None
