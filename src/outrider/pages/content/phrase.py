"""The pieces of a block as one paragraph of Markdown: links, emphasis, code, pictures."""

import re
from dataclasses import dataclass, field
from typing import Any

from outrider.pages.address import absolute
from outrider.pages.content.blocks import BREAK, CLOSE, IMAGE, LINKED, NEXT_CELL, OPEN, Formula, Given, Piece
from outrider.pages.content.emphasis import BEGIN, HELD, bare, held, marked, settled
from outrider.pages.content.escape import begun, bracketed, escaped
from outrider.pages.content.footnotes import ARROWS, BACK, MARK
from outrider.pages.content.media import image_of
from outrider.pages.content.style import PLAIN, Style

KINDS = {"b": "b", "strong": "b", "i": "i", "em": "i", "del": "s", "s": "s", "strike": "s"}  # of marks
CODE = frozenset({"code", "kbd", "samp", "tt"})
BRACKET = re.compile(r"(?<!\\)\[")
EMPTY = re.compile(r"\[\s*\]|\(\s*\)")  # what stood around a link
TICKS = re.compile(r"`+")
MARKUP = re.compile(r"[*^`~\\]")
# What is an exponent, and behind which words: numbers, brackets, variables, units of length.
POWER = re.compile(r"[-+\u2212]?(?:\d{1,3}|[a-z])|(?:\d{1,3}|[a-z])[-+\u2212](?:\d{1,3}|[a-z])|\d[a-z]")
RAISED = re.compile(r"(?:\d|\)|(?<![^\W\d_])(?:[^\W\d_]|[kcdmn]m|\u00b5m|ft|mc))\Z")
BLANK = " \n\t\r\f\0\xa0\u2002\u2003\u2009\u200a\u202f\u3000"  # what no mark may begin or end with
BLANK += "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\xad"
BEFORE, LONG = 4, 16  # texts, and their characters, that tell whether a raised sign is an exponent
CENTS = re.compile(r"[$\u20ac\u00a3\u00a5\u20b9]\s?\d[\d,]*\Z")  # a price of which the cents may be raised
ADDRESSES = 20_000
BACKWARD = 24  # characters of a link from a note back to its mark


@dataclass(slots=True)
class Line:
    """A paragraph while it is written.

    Attributes:
        out: What is written.
        opened: The marks that are open: kind, value, and length of `out` before them.
        code: How many of them are code.
        linked: Words and address of the last link inside of code.
        strict: Whether brackets of the text would make links of what stands in them.
    """

    out: list[str] = field(default_factory=list)
    opened: list[tuple[int, Any, int]] = field(default_factory=list)
    code: int = 0
    linked: tuple[str, str] = ("", "")
    strict: bool = False

    def open(self, kind: int, value: Any) -> None:
        """A mark begins."""
        self.opened.append((kind, value, len(self.out)))
        self.code += _is_code(kind, value)

    def say(self, text: str) -> None:
        """Puts words down; those that would make a link of a bracket before them are kept from doing so."""
        if not self.code and text.__class__ is not Formula:
            text = escaped(text)
            if self.strict and "[" in text:
                text = BRACKET.sub(r"\\[", text)
            if text[:1] == "(" and next((said[-1] for said in reversed(self.out) if said), "") == "]":
                text = "\\" + text
        elif text.__class__ is Formula and not self.code:
            text = held(text)
        self.out.append(text)


@dataclass(slots=True)
class Phrase:
    """Writes paragraphs of one page.

    Attributes:
        base: What relative addresses start from.
        style: How links and pictures are written.
        notes: The label of each footnote by the place in the page that a reference to it names.
        backs: The places that notes lead back to.
        references: The number of each address whose place is at the end of the text.
    """

    base: str
    style: Style = PLAIN
    notes: dict[str, str] = field(default_factory=dict)
    backs: set[str] = field(default_factory=set)
    references: dict[str, int] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict)

    def of(self, pieces: list[Piece]) -> str:
        """A paragraph; line breaks stay."""
        text = " ".join(self._written(pieces).split())
        if "\0" not in text:
            return begun(text)
        return "\n".join([begun(line) for line in map(str.strip, text.split("\0")) if line])

    def line(self, pieces: list[Piece]) -> str:
        """A paragraph on one line."""
        return " ".join(self._written(pieces).replace("\0", " ").split())

    def spoken(self, pieces: list[Piece]) -> str:
        """The words of a paragraph without links that lead from a note back to its mark."""
        out, opened = list[str](), list[tuple[int, Any, int]]()
        for piece in pieces:
            if isinstance(piece, str):
                out.append(piece)
            elif piece[0] in (OPEN, LINKED):
                opened.append((*piece, len(out)))
            elif piece[0] != CLOSE:
                out.append(" ")
            elif opened:
                kind, address, start = opened.pop()
                if kind == LINKED and address[:1] == "#" and self._leads_back(address, "".join(out[start:]).strip()):
                    del out[start:]
        return " ".join(EMPTY.sub("", "".join(out)).split())

    def _written(self, pieces: list[Piece]) -> str:
        line, said = Line(strict=self.style.links == "references"), ""
        for piece in pieces:
            if piece.__class__ is str:
                said += piece  # signs that pair up may stand in two elements without a meaning
                continue
            if said:
                line.say(said)
                said = ""
            self._take(line, piece)
        if said:
            line.say(said)
        while line.opened:
            self._close(line.out, *line.opened.pop())
        text = "".join(line.out)
        return settled(text) if BEGIN in text or HELD in text else text

    def _take(self, line: Line, piece: Any) -> None:
        """Takes in a piece that is no plain text."""
        if isinstance(piece, str):
            line.say(piece)
        elif piece[0] == CLOSE:
            if line.opened:
                self._end(line)
        elif piece[0] in (OPEN, LINKED):
            line.open(*piece)
        else:
            line.out.append(self._sign(*piece))

    def _end(self, line: Line) -> None:
        """The innermost mark ends. Code holds no other marks; if all of it is one link, that link holds the code."""
        kind, value, start = line.opened.pop()
        line.code -= _is_code(kind, value)
        if not line.code:
            self._close(line.out, kind, value, start)
            words, address = line.linked
            if address and _is_code(kind, value) and bare("".join(line.out[start:])).strip("` ") == words:
                self._close(line.out, LINKED, address, start)
            line.linked = ("", "")
        elif kind == LINKED:
            line.linked = ("".join(line.out[start:]).strip(BLANK), value)
        elif value == "sup":
            self._close(line.out, kind, value, start)

    def _sign(self, kind: int, value: Any) -> str:
        """What stands for a piece that is neither text nor a mark around text."""
        if kind == IMAGE and self.style.images:
            return self._image(value)
        return {BREAK: "\0", NEXT_CELL: " ", IMAGE: " "}.get(kind, "")

    def _close(self, out: list[str], kind: int, value: Any, start: int) -> None:
        """Puts a mark around what was written since it was opened; white space stays outside."""
        inner = "".join(out[start:])
        core = inner.strip(BLANK)
        core = " ".join(core.replace("\0", " ").split()) if "\0" in core else core
        if not core:
            return
        marked = self._linked(core, value) if kind == LINKED else _signed(core, value, out, start)
        if marked != core:
            first = inner.find(core[0])
            lead, trail = inner[: max(first, 0)], inner[len(inner.rstrip(BLANK)) :]
            out[start:] = [lead, marked, trail]

    def _linked(self, core: str, value: str) -> str:
        if value[:1] == "#":
            if self._leads_back(value, bare(core)):
                return ""
            label = self.notes.get(value[1:])
            return held(f"[^{label}]") if label and _is_mark(bare(core)) else core
        address = self._address(value)
        if not address or self.style.links == "none" or ("](" in core and not core.startswith("![")):
            return core
        if self.style.links == "references":
            return held(f"[{bracketed(core)}][{self.references.setdefault(address, len(self.references) + 1)}]")
        return held(f"[{bracketed(core)}]({address})")

    def _leads_back(self, address: str, words: str) -> bool:
        """Whether a link does no more than lead from a note back to its mark."""
        if not self.notes or len(words) > BACKWARD:
            return False
        return address[1:] in self.backs or BACK.match(address) is not None or ARROWS.fullmatch(words) is not None

    def _address(self, address: str) -> str:
        found = self.known.get(address)
        if found is None:
            if len(self.known) > ADDRESSES:
                self.known.clear()
            found = self.known[address] = absolute(address, self.base)
        return found

    def _image(self, given: Given) -> str:
        image = image_of(given, self.base)
        alternative = image.alt.replace("[", "(").replace("]", ")") if image else ""
        return f" ![{alternative}]({image.url}) " if image and alternative else " "


def _is_mark(text: str) -> bool:
    """Whether the words of a link are the mark of a note."""
    return bool(MARK.fullmatch(text.replace("\\", "")) or MARK.fullmatch(MARKUP.sub("", text)))


def _is_code(kind: int, tag: str) -> bool:
    return kind == OPEN and tag in CODE


def _signed(core: str, tag: str, out: list[str], start: int) -> str:
    """A text with the marks of its tag around it."""
    if tag == "sup":
        before = bare("".join(out[max(0, start - BEFORE) : start]))[-LONG:]
        if CENTS.search(before) and len(core) == 2 and core.isdigit():
            return f".{core}"
        if not POWER.fullmatch(core) or not RAISED.search(before) or (core.isalpha() and not before[-1:].isdigit()):
            return core
        return f"^{core}" if len(core) < 2 or core.lstrip("-+\u2212").isdigit() else f"^({core})"
    if tag == "q":
        return f"\u201c{core}\u201d"
    if tag in CODE:
        return core if f"{HELD}`" in core else held(_ticked(core))  # once, however deep code stands in code
    return marked(core, KINDS[tag]) if tag in KINDS else core


def _ticked(core: str) -> str:
    """A text as code: between more backticks than stand in it."""
    longest = max(map(len, TICKS.findall(core)), default=0)
    ticks = "`" * (longest + 1)
    return f"{ticks} {core} {ticks}" if longest else f"`{core}`"
