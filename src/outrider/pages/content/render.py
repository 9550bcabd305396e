"""Kept blocks as text and as Markdown."""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from outrider.pages.content.blocks import CELLS, NEXT_CELL, NUMBER, Blocks, Piece
from outrider.pages.content.escape import escaped
from outrider.pages.content.footnotes import footnotes_of
from outrider.pages.content.grid import grid_of
from outrider.pages.content.listing import language_of, line_numbers, source_of
from outrider.pages.content.phrase import Phrase

HEADINGS = {NUMBER[f"h{level}"]: level for level in range(1, 7)}
LI, PRE, QUOTE, TABLE, TERM, DETAIL, OL = (
    NUMBER[tag] for tag in ("li", "pre", "blockquote", "table", "dt", "dd", "ol")
)
LISTS = frozenset(NUMBER[tag] for tag in ("ul", "ol", "menu"))
FENCE = re.compile(r"^\s*(`{3,})", re.MULTILINE)
SIGNS = frozenset(
    "+\u2212\u2013\u2014|\u2022\u00b7\u00d7\u2715\u2716\u203a\u2039\u00bb\u00ab\u25bc\u25b2\u25be\u25b8\u25b4\u25c2/\u2039\u2193\u2191"
)
FREE = frozenset(NUMBER[tag] for tag in ("div", "button", "label", "summary", "custom"))  # no paragraphs
TERMS, DETAILS = 1, 2  # of what an element is part in a list of definitions
DEPTH = 6  # indentation and quotation deeper than this says nothing


@dataclass(frozen=True, slots=True)
class Place:
    """Where a block-level element stands: in how many quotes, in which items of which lists, in which table."""

    quotes: int = 0
    items: tuple[int, ...] = ()
    table: int = -1
    pre: int = -1
    level: int = 0
    term: int = 0


NOWHERE = Place()


def text_of(page: Blocks, chosen: list[int], heads: dict[int, str]) -> str:
    """The words, blocks an empty line apart; listings keep their lines."""
    plain = [
        page.texts[number] if page.elements[page.rows[number][0]][1] != PRE else _lines(page, number)
        for number in chosen
    ]
    if heads:
        told = zip(chosen, plain, strict=True)
        plain = [f"{heads[number]}\n\n{text}" if number in heads else text for number, text in told]
    return "\n\n".join(plain)


def _without_echoes(page: Blocks, chosen: list[int]) -> list[int]:
    """The blocks without the signs of buttons, and without headings that say the same as one right before them, as
    cards that turn around have them.
    """
    shown = [number for number in chosen if len(page.texts[number]) > 2 or not _is_sign(page, number)]
    kept = shown[:1]
    for before, number in pairwise(shown):
        same = page.texts[number] == page.texts[before]
        if not (same and _heads(page, number) and _heads(page, before)):
            kept.append(number)
    return kept


def _is_sign(page: Blocks, number: int) -> bool:
    """Whether a block is a sign that opens or shuts something, or stands between things."""
    return SIGNS.issuperset(page.texts[number]) and page.elements[page.rows[number][0]][1] in FREE


def _heads(page: Blocks, number: int) -> bool:
    return page.elements[page.rows[number][0]][1] in HEADINGS


def _lines(page: Blocks, number: int) -> str:
    return source_of(page, page.rows[number][0], [number])


@dataclass(slots=True)
class Writer:
    """Renders the blocks of one page."""

    page: Blocks
    phrase: Phrase
    places: dict[int, Place] = field(default_factory=dict)
    numbers: dict[int, int] = field(default_factory=dict)
    begun: set[int] = field(default_factory=set)
    layout: set[int] = field(default_factory=set)
    parts: list[str] = field(default_factory=list)
    tables: list[list[list[str]]] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    heads: dict[int, str] = field(default_factory=dict)
    tight: str = ""

    def write(self, chosen: list[int]) -> str:
        """All of these blocks, in order."""
        notes = footnotes_of(self.page, chosen)
        self.phrase.notes = notes.labels
        told = [number for blocks in notes.blocks.values() for number in blocks]
        left_out = line_numbers(self.page, chosen).union(told)
        chosen = [number for number in chosen if number not in left_out] if left_out else chosen
        chosen = _without_echoes(self.page, chosen)
        self.order = chosen + told
        at = 0
        while at < len(chosen):
            place = self._place(self.page.rows[chosen[at]][0])
            if chosen[at] in self.heads:
                self._head(self.heads[chosen[at]])
            if place.pre >= 0:
                at = self._listing(chosen, at, place)
            elif place.table >= 0 and place.table not in self.layout and (after := self._table(chosen, at, place)):
                at = after
            else:
                self._blocks(chosen[at], place)
                at += 1
        for label, blocks in notes.blocks.items():
            text = " ".join(filter(None, [self.phrase.line(self.page.pieces[number]) for number in blocks]))
            text = text or escaped(" ".join([self.page.texts[number] for number in blocks]))  # no more than a way back
            self._add(f"[^{label}]: {text}", "note")
        if self.phrase.references:
            self._add("\n".join([f"[{number}]: {address}" for address, number in self.phrase.references.items()]))
        return "".join(self.parts[1:])

    def _add(self, text: str, kind: str = "", *, joins: bool = True) -> None:
        """Puts a text down: without an empty line where it joins one of its kind."""
        self.parts += ("\n" if joins and kind and kind == self.tight else "\n\n", text)
        self.tight = kind

    def _head(self, head: str) -> None:
        """Who wrote what follows, and when."""
        name, between, date = head.rpartition(" \u00b7 ")
        self._add(f"**{escaped(name or date)}**{between}{date if name else ''}" if not head[:4].isdigit() else head)

    def _blocks(self, number: int, place: Place) -> None:
        """A block; a row of a table that is layout is one of several."""
        pieces = self.page.pieces[number]
        if place.table < 0:
            self._block(pieces, place)
            return
        start = 0
        for at, piece in enumerate(pieces):
            if piece.__class__ is tuple and piece[0] == NEXT_CELL:
                self._block(pieces[start:at], place)
                start = at + 1
        self._block(pieces[start:], place)

    def _block(self, pieces: list[Piece], place: Place) -> None:
        text = self.phrase.line(pieces) if place.level else self.phrase.of(pieces)
        if not text:
            return
        if place.level:
            text = "#" * place.level + " " + text
        elif place.term == DETAILS and (place.items or self.tight == "term"):  # one whose term is gone says it all
            text = ": " + text
        lead = "> " * min(place.quotes, DEPTH)
        if place.items:
            self._item(text, place, lead)
        else:
            named = place.term == TERMS or (place.term == DETAILS and self.tight == "term")
            self._add(_led(text, lead), "term" if named else "", joins=place.term == DETAILS)

    def _item(self, text: str, place: Place, lead: str) -> None:
        item = place.items[-1]
        indent = " " * sum(len(self._bullet(each)) for each in place.items[-DEPTH:-1] if each in self.begun)
        begun = item in self.begun
        self.begun.add(item)
        bullet = self._bullet(item)
        rest = lead + indent + " " * len(bullet)
        self._add(_led(text, rest, rest if begun else lead + indent + bullet), "item")

    def _bullet(self, item: int) -> str:
        elements = self.page.elements
        parent = elements[item][0]
        if parent < 0 or elements[parent][1] != OL:
            return "- "
        return f"{self._number(item, parent)}. "

    def _number(self, item: int, parent: int) -> int:
        """The number of an item in its ordered list."""
        if item not in self.numbers:
            start = (self.page.given.get(parent) or {}).get("start") or "1"
            count = int(start) if start.isascii() and start.isdigit() and len(start) < 7 else 1
            elements, at = self.page.elements, parent + 1
            while at < len(elements) and elements[at][0] >= parent:
                if elements[at][0] == parent and elements[at][1] == LI:
                    value = (self.page.given.get(at) or {}).get("value") or ""
                    count = int(value) if value.isascii() and value.isdigit() and len(value) < 7 else count
                    self.numbers[at] = count
                    count += 1
                at += 1
        return self.numbers.get(item, 1)

    def _listing(self, chosen: list[int], at: int, place: Place) -> int:
        """A listing, fenced: all blocks of one pre; where they end."""
        start = at
        while at < len(chosen) and self._place(self.page.rows[chosen[at]][0]).pre == place.pre:
            at += 1
        body = source_of(self.page, place.pre, chosen[start:at])
        if body.strip():
            fence = "`" * max(3, 1 + max((len(run) for run in FENCE.findall(body)), default=0))
            text = f"{fence}{language_of(self.page, place.pre)}\n{body}\n{fence}"
            self._inside(text, place)
        return at

    def _inside(self, text: str, place: Place) -> None:
        """A listing or a table: in the item that it stands in, or by itself."""
        lead = "> " * min(place.quotes, DEPTH)
        if place.items:
            self._item(text, place, lead)
        else:
            self._add(_led(text, lead))

    def _table(self, chosen: list[int], at: int, place: Place) -> int:
        """A table of data as a grid; where it ends, or 0 for a table that is layout."""
        end = at
        while end < len(chosen) and self._place(self.page.rows[chosen[end]][0]).table == place.table:
            end += 1
        if end < len(chosen) and self._holds(place.table, self.page.rows[chosen[end]][0]):
            self.layout.add(place.table)
            return 0
        grid = grid_of(self.page, place.table, chosen[at:end], self.phrase)
        if not grid.is_data():
            self.layout.add(place.table)
            return 0
        self.tables.append(grid.rows)
        for caption in grid.captions:
            self._inside(caption, place)
        self._inside("\n".join(grid.lines()), place)
        return end

    def _holds(self, table: int, element: int) -> bool:
        """Whether an element stands in a table, though in another one inside of it."""
        while element > table:
            element = self.page.elements[element][0]
        return element == table

    def _place(self, element: int) -> Place:
        """Where an element stands, told from the nearest ancestor that is known."""
        path = []
        while element >= 0 and element not in self.places:
            path.append(element)
            element = self.page.elements[element][0]
        place = self.places[element] if element >= 0 else NOWHERE
        for each in reversed(path):
            place = self.places[each] = _within(place, self.page.elements[each][1], each)
        return place


def _within(place: Place, tag: int, element: int) -> Place:
    """The place of an element of this tag in an element of that place."""
    make = CHANGES.get(tag)
    return make(place, tag, element) if make else place


def _cell(place: Place, _tag: int, _element: int) -> Place:
    return Place(place.quotes, (), place.table, place.pre, 0, 0)


CHANGES = {
    QUOTE: lambda p, _t, _e: Place(p.quotes + 1, p.items, p.table, p.pre, p.level, p.term),
    LI: lambda p, _t, e: Place(p.quotes, (*p.items, e), p.table, p.pre, p.level, 0),
    TABLE: lambda p, _t, e: Place(p.quotes, p.items, e, p.pre, p.level, p.term),
    PRE: lambda p, _t, e: Place(p.quotes, p.items, p.table, e if p.pre < 0 else p.pre, p.level, p.term),
    TERM: lambda p, _t, _e: Place(p.quotes, p.items, p.table, p.pre, p.level, TERMS),
    DETAIL: lambda p, _t, _e: Place(p.quotes, p.items, p.table, p.pre, p.level, DETAILS),
    **{tag: lambda p, t, _e: Place(p.quotes, p.items, p.table, p.pre, HEADINGS[t], 0) for tag in HEADINGS},
    **dict.fromkeys(CELLS, _cell),
}


def _led(text: str, lead: str, first: str | None = None) -> str:
    """The text with this before each line, the first line with that."""
    first = lead if first is None else first
    return first + text.replace("\n", "\n" + lead) if lead or first else text
