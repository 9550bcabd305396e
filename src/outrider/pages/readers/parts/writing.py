"""Markdown in the making: blocks, lists, tables and notes, in bounds that are told where they cut."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from outrider.pages.address import absolute
from outrider.pages.document import Document, Link, line_of, plain, tidy
from outrider.pages.reader import Source
from outrider.pages.readers.parts.signs import shown
from outrider.pages.readers.parts.xml import DEPTH, Budget

COLUMNS = 60
INDENT = "    "  # four spaces nest under both kinds of markers (CommonMark 0.31 section 5.2)
DEEPEST = 8
LINKS = 10_000
TABLES = 500
TITLE = 300  # characters of a heading
NOTHING = "(this document holds no text)"
ABOVE = str.maketrans("0123456789+-=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ")
TICKS = re.compile("`+")
BELOW = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")


@dataclass(frozen=True, slots=True)
class Run:
    """Characters of one style; `address` is where they lead, already absolute.

    `rise` is above 0 for exponents and below it for indices; what is made of characters is asked of `raised`.
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
        """What tells it from its neighbours: in code the emphasis is that of a highlighter."""
        if self.code and not self.literal:
            return False, False, False, self.address, False, True
        return self.bold, self.italic, self.struck, self.address, self.literal, False


def too_deep(count: int) -> str:
    """What is said where elements are nested deeper than is read."""
    return f"({count} elements of this document were not read: they are nested deeper than {DEPTH} levels)"


def raised(text: str, rise: int) -> str:
    """Digits above or below the line as such, since 10⁶ is not 106; letters, which can be read, as they are."""
    signs = ABOVE if rise > 0 else BELOW
    return text.translate(signs) if rise and all(ord(letter) in signs for letter in text.strip()) else text


def inline(runs: Iterable[Run]) -> str:
    """The runs as Markdown: neighbours of one style together, white space outside of the marks."""
    pieces: list[str] = []
    for style, group in groupby(runs, key=lambda run: run.style):
        bold, italic, struck, address, literal, code = style
        text = shown("".join(run.text for run in group))
        mark = "" if literal else ("**" if bold else "") + ("*" if italic else "") + ("~~" if struck else "")
        pieces.append(_marked(_quoted(text) if code else text, mark, address))
    return "".join(pieces).strip()


def unmarked(runs: Iterable[Run]) -> str:
    """The runs' characters on one line, without marks or links."""
    return " ".join(shown("".join(run.text for run in runs)).split())


def _quoted(text: str) -> str:
    """Characters as inline code (CommonMark 0.31 section 6.1), white space outside of it; lines each by itself."""
    if "\n" in text:
        return "\n".join(map(_quoted, text.split("\n")))
    bare = text.strip()
    if not bare:
        return text
    longest = max((len(ticks) for ticks in TICKS.findall(bare)), default=0)
    fence, edge = "`" * (longest + 1), " " if bare[0] == "`" or bare[-1] == "`" else ""
    lead, trail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{lead}{fence}{edge}{bare}{edge}{fence}{trail}"


def _marked(text: str, mark: str, address: str) -> str:
    bare = text.strip()
    if not bare or not (mark or address):
        return text
    lead, trail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    if "\n" not in bare and any(letter.isalnum() for letter in bare):
        bare = f"{mark}{bare}{mark[::-1]}"
    if address and "](" not in bare and "\n" not in bare:
        bare = f"[{bare.replace('[', '(').replace(']', ')')}]({address})"
    return lead + bare + trail


def table(rows: Sequence[Sequence[str]], *, columns: int = COLUMNS) -> str:
    """Rows in pipes, the first one the head; columns beyond the bound are counted in the head."""
    widest = max((len(row) for row in rows), default=0)
    shown = min(widest, columns)
    lines = ["| " + " | ".join(_cell(text) for text in _row(row, shown)) + " |" for row in rows]
    if widest > shown:
        lines = [f"{line} {'…' if at else f'(and {widest - shown} more columns)'} |" for at, line in enumerate(lines)]
        shown += 1
    return "\n".join([lines[0], "|" + " --- |" * shown, *lines[1:]]) if lines else ""


def spread(cells: Sequence[tuple[str, int]], width: int) -> list[str]:
    """Cells with their spans as columns: each repeats its text, but a title over the whole row stands once."""
    if len(cells) == 1 and cells[0][1] >= width > 1:
        return [cells[0][0]] + [""] * (width - 1)
    return [text for text, span in cells for _ in range(max(1, span))][:width]


def _row(row: Sequence[str], width: int) -> list[str]:
    return [*row[:width], *([""] * (width - len(row)))]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


@dataclass
class Draft:
    """A document while it is written. What comes after `source.chars` characters is left out, and that is said.

    Args:
        source: Its bounds, and the address that relative links start from.
        kind: The reader's name.
    """

    source: Source
    kind: str
    blocks: list[str] = field(default_factory=list)
    links: dict[str, Link] = field(default_factory=dict)
    tables: list[list[list[str]]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    hidden: int = 0
    cut: bool = False
    deep: int = 0
    _size: int = 0
    _tight: bool = False

    @property
    def full(self) -> bool:
        """Whether nothing more is taken."""
        return self.cut or self._size >= self.source.chars

    def spent(self, budget: Budget) -> None:
        """Remembers what of the source was not looked at."""
        self.cut = self.cut or budget.spent
        self.deep += budget.deep

    def add(self, text: str, *, tight: bool = False) -> None:
        """A block; one that is tight stands close to a tight one before it."""
        if not text.strip():
            return
        if self.full:
            self.cut = True
            return
        text = text[: self.source.chars - self._size]
        self._size += len(text)
        self.blocks.append(("\n" if tight and self._tight else "\n\n") + text)
        self._tight = tight

    def heading(self, level: int, text: str) -> None:
        """A heading of level 1 to 6."""
        text = " ".join(text.split())
        if text:
            self.add("#" * min(6, max(1, level)) + " " + text[:TITLE])

    def item(self, level: int, text: str, marker: str = "-") -> None:
        """An item of a list, `level` 0 the outermost."""
        if text.strip():
            lead = INDENT * min(max(0, level), DEEPEST)
            rest = "\n" + lead + " " * (len(marker) + 1)
            self.add(f"{lead}{marker} " + text.strip().replace("\n", rest), tight=True)

    def rows(self, rows: list[list[str]], *, columns: int = COLUMNS) -> None:
        """A table; one of a single cell or a single column is text with a border around it."""
        rows = [row for row in rows if any(cell.strip() for cell in row)]
        if not rows:
            return
        if max(map(len, rows)) == 1:
            for row in rows:
                self.add(row[0])
            return
        self.add(table(rows, columns=columns))
        if len(self.tables) < TABLES:
            self.tables.append([[" ".join(cell.split()) for cell in row[:columns]] for row in rows])

    def quote(self, text: str) -> None:
        """Somebody's words, set apart."""
        if text.strip():
            self.add("> " + text.strip().replace("\n", "\n> "))

    def address(self, address: str, text: str = "") -> str:
        """A link's address, absolute, and remembered; empty if it leads nowhere a reader may go."""
        found = absolute(address, self.source.url)
        if found and len(self.links) < LINKS:
            self.links.setdefault(found, Link(line_of(text, 300), found))
        return found

    def note(self, label: str, text: str) -> None:
        """A footnote or a comment, for the end of the document."""
        if text.strip() and not self.full:
            note = f"[^{label}]: " + text.strip()[: self.source.chars - self._size].replace("\n", "\n    ")
            self._size += len(note)
            self.notes.append(note)

    def document(self, facts: Mapping[str, str] | None = None, *, metadata: dict[str, Any] | None = None) -> Document:
        """What was written, with the notes at its end.

        Args:
            facts: `title`, `author`, `description`, `language`, `published`, `site`, as far as they are known.
            metadata: Further facts.
        """
        blocks = [*self.blocks, *(("\n" if at else "\n\n") + note for at, note in enumerate(self.notes))]
        if self.cut:
            blocks.append("\n\n(the rest of this document was not read: it is longer than the limit)")
        if self.deep:
            blocks.append(f"\n\n{too_deep(self.deep)}")
        markdown, known = tidy("".join(blocks)) or NOTHING, facts or {}
        told = dict(metadata or {}) | ({"hidden": self.hidden} if self.hidden else {})
        return Document(
            markdown,
            plain(markdown),
            title=line_of(known.get("title")),
            description=line_of(known.get("description")),
            language=line_of(known.get("language"), 20),
            published=line_of(known.get("published"), 40),
            author=line_of(known.get("author")),
            site=line_of(known.get("site")),
            kind=self.kind,
            links=list(self.links.values()),
            tables=[[[tidy(cell) for cell in row] for row in rows] for rows in self.tables],
            metadata=told | ({"cut": True} if self.cut or self.deep else {}),
        )
