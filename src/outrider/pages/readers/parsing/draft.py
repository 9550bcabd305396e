"""Build a document's Markdown from blocks, lists, tables and notes, within bounds."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from outrider.pages.document import Document, DocumentLink, strip_markdown, tidy_text, to_single_line
from outrider.pages.reader import ReaderInput
from outrider.pages.readers.parsing.symbol_fonts import replace_private_signs
from outrider.pages.readers.parsing.xml import MAX_DEPTH, ElementBudget
from outrider.pages.urls import resolve_url

MAX_COLUMNS = 60
ITEM_INDENT = "    "  # nests under bullets and numbers alike (CommonMark 0.31 section 5.2)

SUPERSCRIPTS = str.maketrans("0123456789+-=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ")
UNEVEN_SPACE = re.compile(r"\A\s|\s\Z|\s\s|[^\S ]")
BACKTICKS = re.compile("`+")
SUBSCRIPTS = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")


@dataclass(frozen=True, slots=True)
class TextRun:
    """Characters of one style.

    Attributes:
        address: The absolute URL that they link to.
        literal: Whether the text is Markdown already.
        rise: Above 0 for superscripts, below it for subscripts; `format_script_digits` converts them.
    """

    text: str
    bold: bool = False
    italic: bool = False
    struck: bool = False
    address: str = ""
    literal: bool = False
    rise: int = 0
    code: bool = False

    @property
    def style(self) -> tuple[bool, bool, bool, str, bool, bool]:
        """Return what separates runs; in code, emphasis is ignored because highlighters produce it."""
        if self.code and not self.literal:
            return False, False, False, self.address, False, True
        return self.bold, self.italic, self.struck, self.address, self.literal, False


def describe_skipped_depth(count: int) -> str:
    """Return the notice about elements that are nested too deeply to be read."""
    return f"({count} elements of this document were not read: they are nested deeper than {MAX_DEPTH} levels)"


def format_script_digits(text: str, rise: int) -> str:
    """Return raised or lowered digits as Unicode characters (10⁶ is not 106), letters unchanged."""
    signs = SUPERSCRIPTS if rise > 0 else SUBSCRIPTS
    return text.translate(signs) if rise and all(ord(char) in signs for char in text.strip()) else text


def render_inline(runs: Iterable[TextRun]) -> str:
    """Return the runs as Markdown, equal styles merged and white space outside the marks."""
    pieces: list[str] = []
    for style, group in groupby(runs, key=lambda run: run.style):
        bold, italic, struck, address, literal, code = style
        text = replace_private_signs("".join(run.text for run in group))
        mark = "" if literal else ("**" if bold else "") + ("*" if italic else "") + ("~~" if struck else "")
        text = _quote_code(text) if code else text
        bare = text.strip()
        if bare and (mark or address):
            lead, trail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
            if "\n" not in bare and any(letter.isalnum() for letter in bare):
                bare = f"{mark}{bare}{mark[::-1]}"
            if address and "](" not in bare and "\n" not in bare:
                bare = format_link(bare, address)
            text = lead + bare + trail
        pieces.append(text)
    return "".join(pieces).strip()


def render_plain(runs: Iterable[TextRun]) -> str:
    """Return the runs' characters on one line, without marks or links."""
    return " ".join(replace_private_signs("".join(run.text for run in runs)).split())


def _quote_code(text: str) -> str:
    """Return text as inline code (CommonMark 0.31 section 6.1), each line by itself."""
    if "\n" in text:
        return "\n".join(map(_quote_code, text.split("\n")))
    bare = text.strip()
    if not bare:
        return text
    longest = max((len(ticks) for ticks in BACKTICKS.findall(bare)), default=0)
    fence, edge = "`" * (longest + 1), " " if bare[0] == "`" or bare[-1] == "`" else ""
    lead, trail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{lead}{fence}{edge}{bare}{edge}{fence}{trail}"


def format_link(text: str, url: str) -> str:
    """Return a Markdown link; brackets in its text become round."""
    return f"[{text.replace('[', '(').replace(']', ')')}]({url})"


def format_item(text: str, marker: str) -> tuple[str, str]:
    """Return an item's text and Markdown marker; markers that Markdown lacks go into the text."""
    plain = marker.removesuffix(".").removesuffix(")")
    if marker == "-" or (plain.isascii() and plain.isdigit() and len(plain) < 10 and plain != marker):
        return text, marker
    return f"{marker} {text}" if marker else text, "-"


def join_lines(text: str) -> str:
    """Return a text on one line; the same object if it is, since cells may be long."""
    return " ".join(text.split()) if UNEVEN_SPACE.search(text) else text


def render_table(rows: Sequence[Sequence[str]], *, columns: int = MAX_COLUMNS, width: int = 0) -> str:
    """Return rows as a Markdown table, the first one its header; columns past the bound, of `width`, are counted."""
    widest = max(width, *map(len, rows)) if rows else 0
    shown_columns = min(widest, columns)
    filled = ([*row[:shown_columns], *([""] * (shown_columns - len(row)))] for row in rows)
    lines = ["| " + " | ".join(join_lines(text).replace("|", "\\|") for text in row) + " |" for row in filled]
    if widest > shown_columns:
        more = f"(and {widest - shown_columns} more columns)"
        lines = [f"{line} {'…' if number else more} |" for number, line in enumerate(lines)]
        shown_columns += 1
    return "\n".join([lines[0], "|" + " --- |" * shown_columns, *lines[1:]]) if lines else ""


def spread_spans(cells: Sequence[tuple[str, int]], width: int) -> list[str]:
    """Repeat each cell's text over its span; a title over the whole row appears once."""
    if len(cells) == 1 and cells[0][1] >= width > 1:
        return [cells[0][0]] + [""] * (width - 1)
    return [text for text, span in cells for _ in range(max(1, span))][:width]


@dataclass
class DocumentDraft:
    """A document while it is written, cut with a notice after `source.max_chars` characters.

    Args:
        source: Its bounds, and the URL that relative links start from.
        kind: The reader's name.
    """

    source: ReaderInput
    kind: str
    blocks: list[str] = field(default_factory=list)
    links: dict[str, DocumentLink] = field(default_factory=dict)
    tables: list[list[list[str]]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    hidden_count: int = 0
    is_cut: bool = False
    skipped_deep: int = 0
    _written_chars: int = 0
    _is_last_tight: bool = False
    _open_levels: list[int] = field(default_factory=list)  # of the items that the next one may be nested in

    @property
    def is_full(self) -> bool:
        """Return whether further text would be dropped."""
        return self.is_cut or self._written_chars >= self.source.max_chars

    def record_budget(self, budget: ElementBudget) -> None:
        """Record which elements of the source were not looked at."""
        self.is_cut = self.is_cut or budget.is_spent
        self.skipped_deep += budget.skipped_deep

    def add_block(self, text: str, *, tight: bool = False) -> None:
        """Add a block; a tight one directly follows a tight one before it, without a blank line."""
        if not text.strip():
            return
        if self.is_full:
            self.is_cut = True
            return
        text = text[: self.source.max_chars - self._written_chars]
        self._written_chars += len(text)
        if not tight and not text.startswith(ITEM_INDENT):
            self._open_levels.clear()
        self.blocks.append(("\n" if tight and self._is_last_tight else "\n\n") + text)
        self._is_last_tight = tight

    def add_heading(self, level: int, text: str) -> None:
        """Add a heading, its level clamped to 1 to 6."""
        max_heading_chars = 300
        text = " ".join(text.split())
        if text:
            self.add_block("#" * min(6, max(1, level)) + " " + text[:max_heading_chars])

    def add_item(self, level: int, text: str, marker: str = "-") -> None:
        """Add a list item; `level` 0 is the outermost.

        It is nested in the last item of a lower level, because Markdown takes text with more indentation for code.
        """
        max_depth = 8
        if text.strip():
            while self._open_levels and self._open_levels[-1] >= level:
                self._open_levels.pop()
            lead = ITEM_INDENT * min(len(self._open_levels), max_depth)
            self._open_levels.append(level)
            rest = "\n" + lead + " " * (len(marker) + 1)
            self.add_block(f"{lead}{marker} " + text.strip().replace("\n", rest), tight=True)

    def add_table(
        self, rows: list[list[str]], *, columns: int = MAX_COLUMNS, has_head: bool = True, width: int = 0
    ) -> None:
        """Add a table; a single column is written as paragraphs.

        Args:
            rows: Its cells.
            columns: How many columns are shown at most.
            has_head: Whether the first row is the head; else an empty one is shown above it.
            width: How many columns there are, if the rows have been cut.
        """
        max_tables = 500
        rows = [row for row in rows if any(cell.strip() for cell in row)]
        if not rows:
            return
        if max(map(len, rows)) == 1:
            for row in rows:
                self.add_block(row[0])
            return
        rows = self._bound_rows(rows)
        self.add_block(render_table(rows if has_head else [[""] * len(rows[0]), *rows], columns=columns, width=width))
        if len(self.tables) < max_tables:
            self.tables.append([[join_lines(cell) for cell in row[:columns]] for row in rows])

    def _bound_rows(self, rows: list[list[str]]) -> list[list[str]]:
        """Return the rows that have room in the document.

        There may be too many, since merged cells repeat long texts.
        """
        chars_left = self.source.max_chars - self._written_chars
        for number, row in enumerate(rows):
            chars_left -= sum(map(len, row[:MAX_COLUMNS]))
            if chars_left < 0:
                return rows[: number + 1]
        return rows

    def add_quote(self, text: str) -> None:
        """Add a block quote."""
        if text.strip():
            self.add_block("> " + text.strip().replace("\n", "\n> "))

    def resolve_link(self, address: str, text: str = "") -> str:
        """Record a link and return its absolute URL.

        It is empty unless it is a web or mail address.
        """
        max_links = 10_000
        resolved = resolve_url(address, self.source.url)
        if resolved and len(self.links) < max_links:
            self.links.setdefault(resolved, DocumentLink(to_single_line(text, 300), resolved))
        return resolved

    def add_note(self, label: str, text: str) -> None:
        """Add a footnote or a comment, shown at the end of the document."""
        if text.strip() and not self.is_full:
            note = f"[^{label}]: " + text.strip()[: self.source.max_chars - self._written_chars].replace("\n", "\n    ")
            self._written_chars += len(note)
            self.notes.append(note)

    def build_document(
        self, facts: Mapping[str, str] | None = None, *, metadata: dict[str, Any] | None = None
    ) -> Document:
        """Return the document, with the notes at its end.

        Args:
            facts: Those of `title`, `author`, `description`, `language`, `published` and `site` that are known.
            metadata: Further facts.
        """
        empty_notice = "(this document holds no text)"
        blocks = [*self.blocks, *(("\n" if number else "\n\n") + note for number, note in enumerate(self.notes))]
        if self.is_cut:
            blocks.append("\n\n(the rest of this document was not read: it is longer than the limit)")
        if self.skipped_deep:
            blocks.append(f"\n\n{describe_skipped_depth(self.skipped_deep)}")
        markdown, known = tidy_text("".join(blocks)) or empty_notice, facts or {}
        extra = dict(metadata or {}) | ({"hidden": self.hidden_count} if self.hidden_count else {})
        return Document(
            markdown,
            strip_markdown(markdown),
            title=to_single_line(known.get("title")),
            description=to_single_line(known.get("description")),
            language=to_single_line(known.get("language"), 20),
            published=to_single_line(known.get("published"), 40),
            author=to_single_line(known.get("author")),
            site=to_single_line(known.get("site")),
            kind=self.kind,
            links=list(self.links.values()),
            tables=[[[tidy_text(cell) for cell in row] for row in rows] for rows in self.tables],
            metadata=extra | ({"cut": True} if self.is_cut or self.skipped_deep else {}),
        )
