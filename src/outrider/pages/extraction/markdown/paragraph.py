"""The pieces of a block as one paragraph of Markdown: links, emphasis, code, pictures."""

import re
from dataclasses import dataclass, field
from typing import Any

from outrider.pages.extraction.blocks.page_blocks import (
    PIECE_BREAK,
    PIECE_CLOSE,
    PIECE_IMAGE,
    PIECE_LINK,
    PIECE_NEXT_CELL,
    PIECE_OPEN,
    Attributes,
    Formula,
    InlinePiece,
)
from outrider.pages.extraction.markdown.addresses import UrlResolver
from outrider.pages.extraction.markdown.emphasis import (
    ATOM_END,
    ATOM_START,
    MARK_END,
    MARK_START,
    add_mark,
    protect_atom,
    render_marks,
    strip_marks,
)
from outrider.pages.extraction.markdown.escape import escape_line_start, escape_link_text, escape_text
from outrider.pages.extraction.markdown.footnotes import BACKLINK_ARROWS, BACKLINK_HREF, FOOTNOTE_MARK
from outrider.pages.extraction.markdown.media import build_image
from outrider.pages.extraction.markdown.style import DEFAULT_STYLE, MarkdownStyle

MARK_KINDS = {"b": "b", "strong": "b", "i": "i", "em": "i", "del": "s", "s": "s", "strike": "s"}  # of marks
PIECE_TEXT = {PIECE_BREAK: "\0", PIECE_NEXT_CELL: " ", PIECE_IMAGE: " "}  # of pieces that are no text
CODE_TAGS = frozenset({"code", "kbd", "samp", "tt"})
OPEN_BRACKET = re.compile(r"(?<!\\)\[")
EMPTY_LINK = re.compile(r"\[[\s\x02]+\]|\([\s\x02]+\)|\x02")  # where a link was, and what stood around it
BACKTICKS = re.compile(r"`+")
MARKUP_CHARS = re.compile(r"[*^`~\\]")
# What is an exponent, and behind which words: numbers, brackets, variables, units of length.
EXPONENT = re.compile(r"[-+\u2212]?(?:\d{1,3}|[a-z])|(?:\d{1,3}|[a-z])[-+\u2212](?:\d{1,3}|[a-z])|\d[a-z]")
EXPONENT_BASE = re.compile(r"(?:\d|\)|(?<![^\W\d_])(?:[^\W\d_]|[kcdmn]m|\u00b5m|ft|mc))\Z")
BLANK_CHARS = " \n\t\r\f\0\xa0\u2002\u2003\u2009\u200a\u202f\u3000"  # what no mark may begin or end with
BLANK_CHARS += "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\xad"
BEFORE, LONG = 4, 16  # texts, and their characters, that tell whether a raised sign is an exponent
SLASHES, NUMERATOR = frozenset("/\u2044"), re.compile(r"\^(\d{1,3})")
PRICE = re.compile(r"[$\u20ac\u00a3\u00a5\u20b9]\s?\d[\d,]*\Z")  # a price of which the cents may be raised


@dataclass(slots=True)
class ParagraphDraft:
    """A paragraph while it is written.

    Attributes:
        out: What is written.
        open_marks: The marks that are open: kind, value, and length of `out` before them.
        code_depth: How many of them are code.
        code_link: Words and address of the last link inside of code.
        escape_brackets: Whether brackets of the text would make links of what stands in them.
    """

    out: list[str] = field(default_factory=list)
    open_marks: list[tuple[int, Any, int]] = field(default_factory=list)
    code_depth: int = 0
    code_link: tuple[str, str] = ("", "")
    escape_brackets: bool = False

    def open_mark(self, kind: int, value: Any) -> None:
        """A mark begins."""
        self.open_marks.append((kind, value, len(self.out)))
        if kind == PIECE_OPEN and value in CODE_TAGS:
            self.code_depth += 1

    def append_text(self, text: str) -> None:
        """Puts words down; those that would make a link of a bracket before them are kept from doing so."""
        if not self.code_depth and text.__class__ is not Formula:
            text = escape_text(text)
            if self.escape_brackets and "[" in text:
                text = OPEN_BRACKET.sub(r"\\[", text)
            if text[:1] == "(" and next((said[-1] for said in reversed(self.out) if said), "") == "]":
                text = "\\" + text
        elif text.__class__ is Formula and not self.code_depth:
            text = protect_atom(text)
        self.out.append(text)


@dataclass(slots=True)
class ParagraphWriter:
    """Writes paragraphs of one page.

    Attributes:
        base_url: What relative addresses start from.
        style: How links and pictures are written.
        footnote_labels: The label of each footnote by the place in the page that a reference to it names.
        backlink_ids: The places that notes lead back to.
        references: The number of each address whose place is at the end of the text.
        addresses: Of the page.
    """

    base_url: str
    style: MarkdownStyle = DEFAULT_STYLE
    footnote_labels: dict[str, str] = field(default_factory=dict)
    backlink_ids: set[str] = field(default_factory=set)
    references: dict[str, int] = field(default_factory=dict)
    addresses: UrlResolver = field(init=False)

    def __post_init__(self) -> None:
        self.addresses = UrlResolver(self.base_url)

    def render_paragraph(self, pieces: list[InlinePiece]) -> str:
        """A paragraph; line breaks stay."""
        text = self._render_pieces(pieces)
        if "\0" not in text:
            return escape_line_start(text)
        return "\n".join([escape_line_start(line) for line in map(str.strip, text.split("\0")) if line])

    def render_line(self, pieces: list[InlinePiece]) -> str:
        """A paragraph on one line."""
        text = self._render_pieces(pieces)
        return " ".join(text.replace("\0", " ").split()) if "\0" in text else text

    def render_plain_text(self, pieces: list[InlinePiece]) -> str:
        """The words of a paragraph without links that lead from a note back to its mark."""
        out, opened = list[str](), list[tuple[int, Any, int]]()
        for piece in pieces:
            if isinstance(piece, str):
                out.append(piece)
            elif piece[0] in (PIECE_OPEN, PIECE_LINK):
                opened.append((*piece, len(out)))
            elif piece[0] != PIECE_CLOSE:
                out.append(" ")
            elif opened:
                kind, address, start = opened.pop()
                if (
                    kind == PIECE_LINK
                    and address[:1] == "#"
                    and self._is_backlink(address, "".join(out[start:]).strip())
                ):
                    out[start:] = [MARK_END]
        text = "".join(out)
        return " ".join((EMPTY_LINK.sub("", text) if MARK_END in text else text).split())

    def render_link(self, words: str, address: str) -> str:
        """A link that stands by itself."""
        return escape_line_start(render_marks(self._format_link(escape_text(words), address)))

    def _render_pieces(self, pieces: list[InlinePiece]) -> str:
        """A paragraph with single spaces; line breaks are zeros."""
        strict, said = self.style.links == "references", ""
        if len(pieces) == 1 and not strict and (only := pieces[0]).__class__ is str:
            return escape_text(" ".join(only.split()))
        line = ParagraphDraft(escape_brackets=strict)
        for piece in pieces:
            if piece.__class__ is str:
                said += piece  # signs that pair up may stand in two elements without a meaning
                continue
            if said:
                line.append_text(said)
                said = ""
            self._add_piece(line, piece)
        if said:
            line.append_text(said)
        while line.open_marks:
            self._apply_mark(line.out, *line.open_marks.pop())
        text = " ".join("".join(line.out).split())
        return render_marks(text) if MARK_START in text or ATOM_START in text else text

    def _add_piece(self, line: ParagraphDraft, piece: Any) -> None:
        """Takes in a piece that is no plain text."""
        kind = piece[0]
        if kind == PIECE_CLOSE:
            if line.open_marks:
                self._close_innermost(line)
        elif kind in (PIECE_LINK, PIECE_OPEN):
            line.open_mark(kind, piece[1])
        elif piece.__class__ is Formula:
            line.append_text(piece)
        else:
            line.out.append(self._render_symbol(kind, piece[1]))

    def _close_innermost(self, line: ParagraphDraft) -> None:
        """The innermost mark ends. Code holds no other marks; if all of it is one link, that link holds the code."""
        kind, value, start = line.open_marks.pop()
        is_code = kind == PIECE_OPEN and value in CODE_TAGS
        line.code_depth -= is_code
        if not line.code_depth:
            self._apply_mark(line.out, kind, value, start)
            words, address = line.code_link
            if address:
                if is_code and strip_marks("".join(line.out[start:])).strip("` ") == words:
                    self._apply_mark(line.out, PIECE_LINK, address, start)
                line.code_link = ("", "")
        elif kind == PIECE_LINK:
            line.code_link = ("".join(line.out[start:]).strip(BLANK_CHARS), value)
        elif value == "sup":
            self._apply_mark(line.out, kind, value, start)

    def _render_symbol(self, kind: int, value: Any) -> str:
        """What stands for a piece that is neither text nor a mark around text."""
        return self._render_image(value) if kind == PIECE_IMAGE and self.style.images else PIECE_TEXT.get(kind, "")

    def _apply_mark(self, out: list[str], kind: int, value: Any, start: int) -> None:
        """Puts a mark around what was written since it was opened; white space stays outside."""
        max_icon_chars = 3  # characters of a private use that a font draws as signs, and that no other reader sees
        inner = out[start] if len(out) == start + 1 else "".join(out[start:])
        core = inner.strip(BLANK_CHARS)
        core = " ".join(core.replace("\0", " ").split()) if "\0" in core else core
        if not core or (len(core) < max_icon_chars and all("\ue000" <= sign <= "\uf8ff" for sign in core)):
            return
        marked = self._format_link(core, value) if kind == PIECE_LINK else _mark_text(core, value, out, start)
        if marked == core:
            return
        if len(core) == len(inner):
            out[start:] = [marked]
        else:
            first = inner.find(core[0])
            lead, trail = inner[: max(first, 0)], inner[len(inner.rstrip(BLANK_CHARS)) :]
            out[start:] = [lead, marked, trail]

    def _format_link(self, core: str, value: str) -> str:
        if value[:1] == "#":
            if self._is_backlink(value, strip_marks(core)):
                return ""
            label = self.footnote_labels.get(value[1:])
            return protect_atom(f"[^{label}]") if label and _is_footnote_mark(strip_marks(core)) else core
        address = self.addresses[value]
        if not address or self.style.links == "none" or ("](" in core and not core.startswith("![")):
            return core
        if self.style.links == "references":
            return protect_atom(
                f"[{escape_link_text(core)}][{self.references.setdefault(address, len(self.references) + 1)}]"
            )
        return protect_atom(f"[{escape_link_text(core)}]({address})")

    def _is_backlink(self, address: str, words: str) -> bool:
        """Whether a link does no more than lead from a note back to its mark."""
        max_backlink_chars = 24  # characters of a link from a note back to its mark
        if not self.footnote_labels or len(words) > max_backlink_chars:
            return False
        return (
            address[1:] in self.backlink_ids
            or BACKLINK_HREF.match(address) is not None
            or BACKLINK_ARROWS.fullmatch(words) is not None
        )

    def _render_image(self, attributes: Attributes) -> str:
        image = build_image(attributes, self.addresses)
        alternative = image.alt.replace("[", "(").replace("]", ")") if image else ""
        return f" ![{alternative}]({image.url}) " if image and alternative else " "


def _is_footnote_mark(text: str) -> bool:
    """Whether the words of a link are the mark of a note."""
    return bool(FOOTNOTE_MARK.fullmatch(text.replace("\\", "")) or FOOTNOTE_MARK.fullmatch(MARKUP_CHARS.sub("", text)))


def _mark_text(core: str, tag: str, out: list[str], start: int) -> str:
    """A text with the marks of its tag around it."""
    if kind := MARK_KINDS.get(tag):
        return add_mark(core, kind)
    if tag == "sup":
        said = "".join(out[max(0, start - BEFORE) : start])
        return _format_superscript(
            core, strip_marks(said.rpartition("](")[0] if said.endswith(f"){ATOM_END}") else said)[-LONG:]
        )
    if tag == "sub" and start > 1 and out[start - 1] in SLASHES and (part := NUMERATOR.fullmatch(out[start - 2])):
        out[start - 2] = f" {part[1]}"  # a number and a half, not a power of it
    if tag == "note":
        return f"({core})"
    if tag == "q":
        return f"\u201c{core}\u201d"
    if tag in CODE_TAGS:
        return (
            core if f"{ATOM_START}`" in core else protect_atom(_format_code(core))
        )  # once, however deep code stands in code
    return core


def _format_superscript(core: str, before: str) -> str:
    """A raised text behind another: cents of a price, an exponent, or as it is."""
    if PRICE.search(before) and len(core) == 2 and core.isdigit():
        return f".{core}"
    if (
        not EXPONENT.fullmatch(core)
        or not EXPONENT_BASE.search(before)
        or (core.isalpha() and not before[-1:].isdigit())
    ):
        return core
    return f"^{core}" if len(core) < 2 or core.lstrip("-+\u2212").isdigit() else f"^({core})"


def _format_code(core: str) -> str:
    """A text as code: between more backticks than stand in it."""
    longest = max(map(len, BACKTICKS.findall(core)), default=0)
    ticks = "`" * (longest + 1)
    return f"{ticks} {core} {ticks}" if longest else f"`{core}`"
