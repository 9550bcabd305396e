"""The pieces of a block as one paragraph of Markdown: links, emphasis, code, pictures."""

import re
from dataclasses import dataclass, field
from typing import Any

from outrider.pages.content.walking.blocks import BREAK, CLOSE, IMAGE, LINKED, NEXT_CELL, OPEN, Formula, Given, Piece
from outrider.pages.content.writing.addresses import Addresses
from outrider.pages.content.writing.emphasis import BEGIN, END, HELD, LET, bare, held, marked, settled
from outrider.pages.content.writing.escape import begun, bracketed, escaped
from outrider.pages.content.writing.footnotes import ARROWS, BACK, MARK
from outrider.pages.content.writing.media import image_of
from outrider.pages.content.writing.style import PLAIN, Style

KINDS = {"b": "b", "strong": "b", "i": "i", "em": "i", "del": "s", "s": "s", "strike": "s"}  # of marks
SIGNS = {BREAK: "\0", NEXT_CELL: " ", IMAGE: " "}  # of pieces that are no text
CODE = frozenset({"code", "kbd", "samp", "tt"})
BRACKET = re.compile(r"(?<!\\)\[")
EMPTY = re.compile(r"\[[\s\x02]+\]|\([\s\x02]+\)|\x02")  # where a link was, and what stood around it
TICKS = re.compile(r"`+")
MARKUP = re.compile(r"[*^`~\\]")
# What is an exponent, and behind which words: numbers, brackets, variables, units of length.
POWER = re.compile(r"[-+\u2212]?(?:\d{1,3}|[a-z])|(?:\d{1,3}|[a-z])[-+\u2212](?:\d{1,3}|[a-z])|\d[a-z]")
RAISED = re.compile(r"(?:\d|\)|(?<![^\W\d_])(?:[^\W\d_]|[kcdmn]m|\u00b5m|ft|mc))\Z")
BLANK = " \n\t\r\f\0\xa0\u2002\u2003\u2009\u200a\u202f\u3000"  # what no mark may begin or end with
BLANK += "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\xad"
DRAWN = 3  # characters of a private use that a font draws as signs, and that no other reader sees
BEFORE, LONG = 4, 16  # texts, and their characters, that tell whether a raised sign is an exponent
SLASHES, FRACTION = frozenset("/\u2044"), re.compile(r"\^(\d{1,3})")
CENTS = re.compile(r"[$\u20ac\u00a3\u00a5\u20b9]\s?\d[\d,]*\Z")  # a price of which the cents may be raised
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
        if kind == OPEN and value in CODE:
            self.code += 1

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
        addresses: Of the page.
    """

    base: str
    style: Style = PLAIN
    notes: dict[str, str] = field(default_factory=dict)
    backs: set[str] = field(default_factory=set)
    references: dict[str, int] = field(default_factory=dict)
    addresses: Addresses = field(init=False)

    def __post_init__(self) -> None:
        self.addresses = Addresses(self.base)

    def of(self, pieces: list[Piece]) -> str:
        """A paragraph; line breaks stay."""
        text = self._written(pieces)
        if "\0" not in text:
            return begun(text)
        return "\n".join([begun(line) for line in map(str.strip, text.split("\0")) if line])

    def line(self, pieces: list[Piece]) -> str:
        """A paragraph on one line."""
        text = self._written(pieces)
        return " ".join(text.replace("\0", " ").split()) if "\0" in text else text

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
                    out[start:] = [END]
        text = "".join(out)
        return " ".join((EMPTY.sub("", text) if END in text else text).split())

    def link(self, words: str, address: str) -> str:
        """A link that stands by itself."""
        return begun(settled(self._linked(escaped(words), address)))

    def _written(self, pieces: list[Piece]) -> str:
        """A paragraph with single spaces; line breaks are zeros."""
        strict, said = self.style.links == "references", ""
        if len(pieces) == 1 and not strict and (only := pieces[0]).__class__ is str:
            return escaped(" ".join(only.split()))
        line = Line(strict=strict)
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
        text = " ".join("".join(line.out).split())
        return settled(text) if BEGIN in text or HELD in text else text

    def _take(self, line: Line, piece: Any) -> None:
        """Takes in a piece that is no plain text."""
        kind = piece[0]
        if kind == CLOSE:
            if line.opened:
                self._end(line)
        elif kind in (LINKED, OPEN):
            line.open(kind, piece[1])
        elif piece.__class__ is Formula:
            line.say(piece)
        else:
            line.out.append(self._sign(kind, piece[1]))

    def _end(self, line: Line) -> None:
        """The innermost mark ends. Code holds no other marks; if all of it is one link, that link holds the code."""
        kind, value, start = line.opened.pop()
        is_code = kind == OPEN and value in CODE
        line.code -= is_code
        if not line.code:
            self._close(line.out, kind, value, start)
            words, address = line.linked
            if address:
                if is_code and bare("".join(line.out[start:])).strip("` ") == words:
                    self._close(line.out, LINKED, address, start)
                line.linked = ("", "")
        elif kind == LINKED:
            line.linked = ("".join(line.out[start:]).strip(BLANK), value)
        elif value == "sup":
            self._close(line.out, kind, value, start)

    def _sign(self, kind: int, value: Any) -> str:
        """What stands for a piece that is neither text nor a mark around text."""
        return self._image(value) if kind == IMAGE and self.style.images else SIGNS.get(kind, "")

    def _close(self, out: list[str], kind: int, value: Any, start: int) -> None:
        """Puts a mark around what was written since it was opened; white space stays outside."""
        inner = out[start] if len(out) == start + 1 else "".join(out[start:])
        core = inner.strip(BLANK)
        core = " ".join(core.replace("\0", " ").split()) if "\0" in core else core
        if not core or (len(core) < DRAWN and all("\ue000" <= sign <= "\uf8ff" for sign in core)):
            return
        marked = self._linked(core, value) if kind == LINKED else _signed(core, value, out, start)
        if marked == core:
            return
        if len(core) == len(inner):
            out[start:] = [marked]
        else:
            first = inner.find(core[0])
            lead, trail = inner[: max(first, 0)], inner[len(inner.rstrip(BLANK)) :]
            out[start:] = [lead, marked, trail]

    def _linked(self, core: str, value: str) -> str:
        if value[:1] == "#":
            if self._leads_back(value, bare(core)):
                return ""
            label = self.notes.get(value[1:])
            return held(f"[^{label}]") if label and _is_mark(bare(core)) else core
        address = self.addresses[value]
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

    def _image(self, given: Given) -> str:
        image = image_of(given, self.addresses)
        alternative = image.alt.replace("[", "(").replace("]", ")") if image else ""
        return f" ![{alternative}]({image.url}) " if image and alternative else " "


def _is_mark(text: str) -> bool:
    """Whether the words of a link are the mark of a note."""
    return bool(MARK.fullmatch(text.replace("\\", "")) or MARK.fullmatch(MARKUP.sub("", text)))


def _signed(core: str, tag: str, out: list[str], start: int) -> str:
    """A text with the marks of its tag around it."""
    if kind := KINDS.get(tag):
        return marked(core, kind)
    if tag == "sup":
        said = "".join(out[max(0, start - BEFORE) : start])
        return _raised(core, bare(said.rpartition("](")[0] if said.endswith(f"){LET}") else said)[-LONG:])
    if tag == "sub" and start > 1 and out[start - 1] in SLASHES and (part := FRACTION.fullmatch(out[start - 2])):
        out[start - 2] = f" {part[1]}"  # a number and a half, not a power of it
    if tag == "note":
        return f"({core})"
    if tag == "q":
        return f"\u201c{core}\u201d"
    if tag in CODE:
        return core if f"{HELD}`" in core else held(_ticked(core))  # once, however deep code stands in code
    return core


def _raised(core: str, before: str) -> str:
    """A raised text behind another: cents of a price, an exponent, or as it is."""
    if CENTS.search(before) and len(core) == 2 and core.isdigit():
        return f".{core}"
    if not POWER.fullmatch(core) or not RAISED.search(before) or (core.isalpha() and not before[-1:].isdigit()):
        return core
    return f"^{core}" if len(core) < 2 or core.lstrip("-+\u2212").isdigit() else f"^({core})"


def _ticked(core: str) -> str:
    """A text as code: between more backticks than stand in it."""
    longest = max(map(len, TICKS.findall(core)), default=0)
    ticks = "`" * (longest + 1)
    return f"{ticks} {core} {ticks}" if longest else f"`{core}`"
