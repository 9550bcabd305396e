"""Split Rich Text Format 1.9.1 into control words, groups and characters."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

# Possessive throughout: each byte is looked at once.
RTF_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32}+)(-?\d{1,10}+)?+ ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n]++|([^\\{}\r\n]{1,4096}+)",
    re.DOTALL,
)
CHARSET_CODECS = {  # \fcharset to code page
    77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "cp950", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250", 255: "cp437",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ControlWord:
    """A control word and its number, None if it has none."""

    name: str
    value: int | None = None

    @property
    def is_on(self) -> bool:
        """Return whether it switches something on, as `b` does and `b0` does not."""
        return self.value != 0


@dataclass(frozen=True, slots=True)
class RtfBytes:
    """Characters in the code page of the current font."""

    data: bytes


@dataclass(frozen=True, slots=True)
class GroupEdge:
    """The start or end of a group."""

    opening: bool


RtfToken = ControlWord | RtfBytes | GroupEdge


def iter_tokens(body: bytes, limit: int) -> Iterator[RtfToken]:
    """Yield at most `limit` tokens in order; binary image data are skipped."""
    # Control symbols as the control words that mean the same; `sign` is one character.
    symbol_words = {
        b"\n": ControlWord("par"),
        b"\r": ControlWord("par"),
        b"~": ControlWord("sign", 0x20),
        b"_": ControlWord("sign", 0x2011),
        b"-": ControlWord("-"),
        b"*": ControlWord("*"),
    }
    at = 0
    while limit > 0 and (match := RTF_TOKEN.match(body, at)):
        at = match.end()
        limit -= match[0][0] not in b"\r\n"
        if match[1]:
            name, value = match[1].decode("ascii"), int(match[2]) if match[2] else None
            if name == "bin":
                at += max(0, value or 0)
            else:
                yield ControlWord(name, value)
        elif match[3]:
            yield RtfBytes(bytes.fromhex(match[3].decode("ascii")))
        elif match[4]:
            yield symbol_words.get(match[4]) or RtfBytes(match[4])
        elif match[5]:
            yield GroupEdge(match[5] == b"{")
        elif match[6]:
            yield RtfBytes(match[6])


def find_codec(number: int | None) -> str:
    """Return the codec of a Windows code page; cp1252 if it is unknown."""
    names = {10000: "mac_roman", 65001: "utf-8", 936: "gb18030", 708: "iso8859-6"}
    name = names.get(number or 0, f"cp{number}")
    try:
        codecs.lookup(name)
    except LookupError:
        return "cp1252"
    return name


@dataclass(frozen=True, slots=True)
class GroupState:
    """Formatting inside a group, which ends with it."""

    to: str = ""  # where its text goes: empty for the body, `-` for dropped text, else a destination's name
    bold: bool = False
    italic: bool = False
    struck: bool = False
    hidden: bool = False
    font: int = -1
    skipped: int = 1  # fallback bytes after a Unicode character (\uc), to be skipped
    address: str = ""
    rise: int = 0


class GroupStack:
    """The open groups and their state."""

    def __init__(self) -> None:
        self.current = GroupState()
        self._outer: list[GroupState] = []
        self._too_deep = 0

    def update(self, **values: Any) -> None:
        """Change the state until the group ends."""
        self.current = replace(self.current, **values)

    def cross_edge(self, *, opening: bool) -> GroupState | None:
        """Open a group, or close one and return its state."""
        max_depth = 1_000  # deeper groups share the state of the one above them
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
