"""Render the pieces of a block as a Markdown paragraph: links, emphasis, code, images."""

import re
from dataclasses import dataclass, field
from typing import Any

from outrider.pages.extraction.blocks.block_builder import collapse_spaces
from outrider.pages.extraction.blocks.page_blocks import (
    PIECE_BREAK,
    PIECE_CLOSE,
    PIECE_IMAGE,
    PIECE_LINK,
    PIECE_NEXT_CELL,
    PIECE_OPEN,
    Formula,
    InlinePiece,
)
from outrider.pages.extraction.markdown.addresses import UrlResolver
from outrider.pages.extraction.markdown.emphasis import (
    ATOM_END,
    ATOM_START,
    MARK_END,
    MARK_START,
    UNESCAPED_BACKTICK,
    add_mark,
    protect_atom,
    render_marks,
    strip_marks,
)
from outrider.pages.extraction.markdown.escape import escape_line_start, escape_link_text, escape_text
from outrider.pages.extraction.markdown.footnotes import BACKLINK_ARROWS, BACKLINK_HREF, FOOTNOTE_MARK
from outrider.pages.extraction.markdown.media import build_image
from outrider.pages.extraction.markdown.style import DEFAULT_STYLE, MarkdownStyle

MARK_KINDS = {"b": "b", "strong": "b", "i": "i", "em": "i", "del": "s", "s": "s", "strike": "s"}
PIECE_TEXT = {PIECE_BREAK: "\0", PIECE_NEXT_CELL: " ", PIECE_IMAGE: " "}
CODE_TAGS = frozenset({"code", "kbd", "samp", "tt"})
OPEN_BRACKET = re.compile(r"(?<!\\)\[")
EMPTY_LINK = re.compile(r"\[[\s\x02]+\]|\([\s\x02]+\)|\x02")  # a removed link and the brackets around it
BACKTICKS = re.compile(r"`+")
PARAGRAPH_BREAK = re.compile(r"\n{3,}")
MARKUP_CHARS = re.compile(r"[*^`~\\]")
# An exponent, and the text that can have one: numbers, brackets, variables, units of length.
EXPONENT = re.compile(r"[-+\u2212]?(?:\d{1,3}|[a-z])|(?:\d{1,3}|[a-z])[-+\u2212](?:\d{1,3}|[a-z])|\d[a-z]")
EXPONENT_BASE = re.compile(r"(?:\d|\)|(?<![^\W\d_])(?:[^\W\d_]|[kcdmn]m|\u00b5m|ft|mc))\Z")
BLANK_CHARS = " \n\t\r\f\0\xa0\u2002\u2003\u2009\u200a\u202f\u3000"  # no mark may begin or end with these
BLANK_CHARS += "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\xad"
NUMERATOR = re.compile(r"\A\^(\d{1,3})\Z")
PRICE = re.compile(r"[$\u20ac\u00a3\u00a5\u20b9]\s?\d[\d,]*\Z")  # its cents may be raised


@dataclass(slots=True)
class ParagraphDraft:
    """A paragraph while it is written.

    Attributes:
        parts: The written parts.
        open_marks: The open marks: kind, value, and number of parts before them.
        code_depth: How many of them are code.
        code_link: Words and address of the last link inside code.
        escape_brackets: Whether brackets in the text could become links.
    """

    parts: list[str] = field(default_factory=list)
    open_marks: list[tuple[int, Any, int]] = field(default_factory=list)
    code_depth: int = 0
    code_link: tuple[str, str] = ("", "")
    escape_brackets: bool = False

    def open_mark(self, kind: int, value: Any) -> None:
        self.open_marks.append((kind, value, len(self.parts)))
        if kind == PIECE_OPEN and value in CODE_TAGS:
            self.code_depth += 1

    def append_text(self, text: str) -> None:
        """Append text without forming a link with a bracket before it.

        It is escaped if necessary.
        """
        if not self.code_depth and text.__class__ is not Formula:
            text = escape_text(text)
            if "`" in text and any(kind == PIECE_LINK for kind, _, _ in self.open_marks):
                text = UNESCAPED_BACKTICK.sub(r"\\`", text)  # it could pair up with one after the link
            if self.escape_brackets and "[" in text:
                text = OPEN_BRACKET.sub(r"\\[", text)
            if text[:1] == "(" and next((part[-1] for part in reversed(self.parts) if part), "") == "]":
                text = "\\" + text
        elif text.__class__ is Formula and not self.code_depth:
            text = protect_atom(text)
        self.parts.append(text)

    def escape_last_backslash(self) -> None:
        """Escape a final backslash.

        It would escape the mark or line break after it.
        """
        text = self.parts[-1]
        is_odd = (len(text) - len(text.rstrip("\\"))) % 2
        if is_odd and not self.code_depth and text.__class__ is not Formula:
            self.parts[-1] = text + "\\"


@dataclass(slots=True)
class ParagraphWriter:
    """Write the paragraphs of one page.

    Attributes:
        base_url: What relative addresses start from.
        style: How links and images are written.
        footnote_labels: Label of each footnote by the anchor that its references link to.
        backlink_ids: Anchors that notes link back to.
        references: Number of each address that is listed at the end of the text.
        addresses: Resolver of the page.
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
        """Render a paragraph with its line breaks."""
        text = self._render_pieces(pieces)
        if "\0" not in text:
            return escape_line_start(text)
        lines = [escape_line_start(line.strip()) for line in text.split("\0")]
        # Two breaks in a row end a paragraph, as after a separate image.
        return PARAGRAPH_BREAK.sub("\n\n", "\n".join(lines)).strip("\n") if "" in lines else "\n".join(lines)

    def render_line(self, pieces: list[InlinePiece]) -> str:
        """Render a paragraph on one line."""
        text = self._render_pieces(pieces)
        return " ".join(text.replace("\0", " ").split()) if "\0" in text else text

    def render_plain_text(self, pieces: list[InlinePiece]) -> str:
        """Return the words of a paragraph without links from a note back to its mark."""
        parts, open_marks = list[str](), list[tuple[int, Any, int]]()
        for piece in pieces:
            if isinstance(piece, str):
                parts.append(piece)
            elif piece[0] in (PIECE_OPEN, PIECE_LINK):
                open_marks.append((*piece, len(parts)))
            elif piece[0] != PIECE_CLOSE:
                parts.append(" ")
            elif open_marks:
                kind, address, start = open_marks.pop()
                is_fragment_link = kind == PIECE_LINK and address[:1] == "#"
                if is_fragment_link and self._is_backlink(address, "".join(parts[start:]).strip()):
                    parts[start:] = [MARK_END]
        text = "".join(parts)
        return collapse_spaces(EMPTY_LINK.sub("", text) if MARK_END in text else text)

    def render_link(self, words: str, address: str) -> str:
        """Render a link on a separate line."""
        return escape_line_start(render_marks(self._format_link(escape_text(words), address)))

    def _render_pieces(self, pieces: list[InlinePiece]) -> str:
        """Render a paragraph with single spaces and a zero character for each line break."""
        has_references, text = self.style.links == "references", ""
        if len(pieces) == 1 and not has_references and (single_piece := pieces[0]).__class__ is str:
            return escape_text(collapse_spaces(single_piece))
        draft = ParagraphDraft(escape_brackets=has_references)
        for piece in pieces:
            if piece.__class__ is str:
                text += piece  # characters that pair up may be in two elements without a meaning
                continue
            if text:
                draft.append_text(text)
                draft.escape_last_backslash()
                text = ""
            self._add_piece(draft, piece)
        if text:
            draft.append_text(text)
        while draft.open_marks:
            self._apply_mark(draft.parts, *draft.open_marks.pop())
        text = collapse_spaces("".join(draft.parts))
        return render_marks(text) if MARK_START in text or ATOM_START in text else text

    def _add_piece(self, draft: ParagraphDraft, piece: Any) -> None:
        """Add a piece that is not plain text."""
        kind = piece[0]
        if kind == PIECE_CLOSE:
            if draft.open_marks:
                self._close_innermost(draft)
        elif kind in (PIECE_LINK, PIECE_OPEN):
            draft.open_mark(kind, piece[1])
        elif piece.__class__ is Formula:
            draft.append_text(piece)
        elif kind == PIECE_IMAGE and self.style.images:
            image = build_image(piece[1], self.addresses)
            label = image.alt.replace("[", "(").replace("]", ")") if image else ""
            draft.parts.append(f" ![{label}]({image.url}) " if image and label else " ")
        else:
            draft.parts.append(PIECE_TEXT.get(kind, ""))

    def _close_innermost(self, draft: ParagraphDraft) -> None:
        """Close the innermost mark. Code holds no other marks, and a link that is all of it goes around it."""
        kind, value, start = draft.open_marks.pop()
        is_code = kind == PIECE_OPEN and value in CODE_TAGS
        draft.code_depth -= is_code
        if not draft.code_depth:
            self._apply_mark(draft.parts, kind, value, start)
            words, address = draft.code_link
            if address:
                if is_code and strip_marks("".join(draft.parts[start:])).strip("` ") == words:
                    self._apply_mark(draft.parts, PIECE_LINK, address, start)
                draft.code_link = ("", "")
        elif kind == PIECE_LINK:
            draft.code_link = ("".join(draft.parts[start:]).strip(BLANK_CHARS), value)
        elif value == "sup":
            self._apply_mark(draft.parts, kind, value, start)

    def _apply_mark(self, parts: list[str], kind: int, value: Any, start: int) -> None:
        """Put a mark around everything written since it was opened, with white space outside."""
        max_icon_chars = 3  # private-use characters are icons of a font
        inner = parts[start] if len(parts) == start + 1 else "".join(parts[start:])
        core = inner.strip(BLANK_CHARS)
        if "\0" in core and (kind == PIECE_LINK or value not in MARK_KINDS):
            core = " ".join(core.replace("\0", " ").split())
        if not core or (len(core) < max_icon_chars and all("\ue000" <= character <= "\uf8ff" for character in core)):
            return
        marked = self._format_link(core, value) if kind == PIECE_LINK else _mark_text(core, value, parts, start)
        if marked == core:
            return
        if len(core) == len(inner):
            parts[start:] = [marked]
        else:
            first = inner.find(core[0])
            leading, trailing = inner[: max(first, 0)], inner[len(inner.rstrip(BLANK_CHARS)) :]
            parts[start:] = [leading, marked, trailing]

    def _format_link(self, core: str, value: str) -> str:
        if value[:1] == "#":
            if self._is_backlink(value, strip_marks(core)):
                return ""
            label, mark = self.footnote_labels.get(value[1:]), strip_marks(core)
            if label and (
                FOOTNOTE_MARK.fullmatch(mark.replace("\\", "")) or FOOTNOTE_MARK.fullmatch(MARKUP_CHARS.sub("", mark))
            ):
                return protect_atom(f"[^{label}]")
            return core
        address = self.addresses[value]
        if not address or self.style.links == "none" or ("](" in core and not core.startswith("![")):
            return core
        if self.style.links == "references":
            number = self.references.setdefault(address, len(self.references) + 1)
            return protect_atom(f"[{escape_link_text(core)}][{number}]")
        return protect_atom(f"[{escape_link_text(core)}]({address})")

    def _is_backlink(self, address: str, words: str) -> bool:
        """Return whether a link only leads from a note back to its mark."""
        max_backlink_chars = 24
        if not self.footnote_labels or len(words) > max_backlink_chars:
            return False
        return (
            address[1:] in self.backlink_ids
            or BACKLINK_HREF.match(address) is not None
            or BACKLINK_ARROWS.fullmatch(words) is not None
        )


def _mark_text(core: str, tag: str, parts: list[str], start: int) -> str:
    """Put the marks of a tag around a text."""
    if kind := MARK_KINDS.get(tag):
        return add_mark(core, kind)
    if tag == "sup":
        before = "".join(parts[max(0, start - 4) : start])
        before = before.rpartition("](")[0] if before.endswith(f"){ATOM_END}") else before
        return _format_superscript(core, strip_marks(before)[-16:])
    if tag == "sub" and start > 1 and parts[start - 1] in {"/", "\u2044"}:
        # The raised number before the slash was the numerator of a fraction, not an exponent.
        parts[start - 2] = NUMERATOR.sub(r" \1", parts[start - 2])
    if tag == "note":
        return f"({core})"
    if tag == "q":
        return f"\u201c{core}\u201d"
    if tag in CODE_TAGS and f"{ATOM_START}`" not in core:  # code inside code is marked once
        longest = max(map(len, BACKTICKS.findall(core)), default=0)
        ticks = "`" * (longest + 1)
        return protect_atom(f"{ticks} {core} {ticks}" if longest else f"`{core}`")
    return core


def _format_superscript(core: str, before: str) -> str:
    """Format a raised text by the text before it: as cents of a price, as an exponent, or unchanged."""
    if PRICE.search(before) and len(core) == 2 and core.isdigit():
        return f".{core}"
    if (
        not EXPONENT.fullmatch(core)
        or not EXPONENT_BASE.search(before)
        or (core.isalpha() and not before[-1:].isdigit())
    ):
        return core
    return f"^{core}" if len(core) < 2 or core.lstrip("-+\u2212").isdigit() else f"^({core})"
