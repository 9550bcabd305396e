"""Kept blocks as text and as Markdown."""

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from outrider.pages.content.walking.blocks import NEXT_CELL, NUMBER, OPEN, Blocks, Piece
from outrider.pages.content.walking.listing import CODE, code_of, language_of, line_numbers, source_of
from outrider.pages.content.writing.echoes import without_echoes, without_emptied
from outrider.pages.content.writing.embeds import Embed, embeds_among
from outrider.pages.content.writing.emphasis import clear
from outrider.pages.content.writing.escape import escaped, headed
from outrider.pages.content.writing.footnotes import footnotes_of, without_mark
from outrider.pages.content.writing.grid import grid_of
from outrider.pages.content.writing.leads import Leads, led
from outrider.pages.content.writing.phrase import Phrase
from outrider.pages.content.writing.places import DETAILS, TERMS, Place, Places
from outrider.pages.content.writing.posts import Head

LI, PRE, QUOTE, P, BUTTON, TERM = (NUMBER[tag] for tag in ("li", "pre", "blockquote", "p", "button", "dt"))
SIGNATURE = re.compile(r"(?:^|\s)sig(?:\s|$)")  # as Sphinx names them
EMPHASIS = frozenset({"em", "i", "strong", "b"})
FENCE = re.compile(r"^\s*(`{3,})", re.MULTILINE)
NOTE = 3  # what a text is, beside a term or what it means
PARTS, HEADED = 4, 300  # blocks and characters of a heading
DEPTH = 6  # indentation and quotation deeper than this says nothing


def text_of(page: Blocks, writer: "Writer") -> str:
    """The words that were written, blocks an empty line apart; listings keep their lines."""
    chosen, heads = writer.order, writer.heads
    plain = [
        page.texts[number] if page.elements[page.rows[number][0]][1] != PRE else _lines(page, number)
        for number in chosen
    ]
    if writer.phrase.notes:
        for at, number in enumerate(chosen):
            if number in page.jumps and number not in writer.ways and "\n" not in plain[at]:
                plain[at] = writer.phrase.spoken(page.pieces[number])
    if heads:
        told = zip(chosen, plain, strict=True)
        plain = [f"{heads[number]}\n\n{text}" if number in heads else text for number, text in told]
    for at in sorted(writer.shown, reverse=True):
        plain[at:at] = writer.shown[at]
    return "\n\n".join(filter(None, plain))


def _lines(page: Blocks, number: int) -> str:
    return source_of(page, page.rows[number][0], [number])


@dataclass(slots=True)
class Writer:
    """Renders the blocks of one page.

    Attributes:
        places: Of the page's elements.
        leads: What stands before its lines.
        defined: Each `dd` of which something was put down.
        layout: Tables that are no data.
        parts: What was put down.
        tables: The rows of those that are.
        order: The blocks in the order in which they were put down.
        heads: What stands before blocks that begin a post.
        ways: Blocks of notes that are no more than a way back.
        rules: The blocks ahead before which a rule is drawn, in order.
        embeds: What is embedded ahead, each with the number of chosen blocks before it.
        shown: What was embedded: its words by the number of blocks in `order` before them.
        tight, held, detail, paragraph, whole, named: Kind, holders and `dd` of what was put down last; whether it was
            a paragraph, or a table or listing, or a term in an item.
    """

    page: Blocks
    phrase: Phrase
    places: Places = field(init=False)
    leads: Leads = field(init=False)
    defined: set[int] = field(default_factory=set)
    layout: set[int] = field(default_factory=set)
    parts: list[str] = field(default_factory=list)
    tables: list[list[list[str]]] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    heads: dict[int, Head] = field(default_factory=dict)
    ways: set[int] = field(default_factory=set)
    rules: list[int] = field(default_factory=list)
    embeds: list[tuple[int, Embed]] = field(default_factory=list)
    shown: dict[int, list[str]] = field(default_factory=dict)
    tight: int = 0
    held: tuple[int, ...] = ()
    detail: int = -1
    paragraph: bool = False
    whole: bool = False
    named: bool = False

    def __post_init__(self) -> None:
        self.places, self.leads = Places(self.page), Leads(self.page)

    def write(self, chosen: list[int]) -> str:
        """All of these blocks, in order."""
        clear(self.page.texts, self.page.pieces)
        notes = footnotes_of(self.page, chosen)
        self.phrase.notes, self.phrase.backs = notes.labels, notes.backs
        told = [number for blocks in notes.blocks.values() for number in blocks]
        texts = self.page.texts
        left_out = line_numbers(self.page, [each for each in chosen if texts[each][:1].isdecimal()]).union(told)
        chosen = [number for number in without_emptied(self.page, chosen, told, self.places) if number not in left_out]
        chosen = without_echoes(self.page, chosen)
        self.order = chosen + told
        self.rules = sorted(self.page.rules)
        self.embeds = embeds_among(self.page, chosen) if self.page.embeds else []
        at = 0
        while at < len(chosen):
            number = chosen[at]
            place = self.places.of(self.page.rows[number][0])
            if self.rules:
                self._rule(number, place)
            if self.embeds:
                self._embed(at)
            if number in self.heads:
                self._head(self.heads[number])
            at = self._next(chosen, at, place)
        self._embed(at)
        self._notes(notes.blocks)
        if self.phrase.references:
            self._add("\n".join([f"[{number}]: {address}" for address, number in self.phrase.references.items()]))
        return "".join(self.parts[1:])

    def _notes(self, notes: dict[str, list[int]]) -> None:
        """The footnotes, behind all else."""
        for label, blocks in notes.items():
            text = " ".join(filter(None, [self.phrase.line(self.page.pieces[number]) for number in blocks]))
            if not text:  # no more than a way back
                self.ways.update(blocks)
                text = escaped(" ".join([self.page.texts[number] for number in blocks]))
            self._add(f"[^{label}]: {without_mark(text, label)}", NOTE, joins=self.tight == NOTE)

    def _rule(self, number: int, place: Place) -> None:
        """A rule, where the page draws one between what was put down last and this block, and no item holds it."""
        passed = bisect_right(self.rules, number)
        if passed and self.parts and not place.holders:
            self._add("---")
        del self.rules[:passed]

    def _embed(self, at: int) -> None:
        """What is embedded before the chosen block of this number, and behind what was put down last."""
        while self.embeds and self.embeds[0][0] <= at:
            _, (_, holder, address, words) = self.embeds.pop(0)
            place = self.places.of(holder)
            if place.pre < 0:
                self._put(self.phrase.link(words, address), place)
                self.shown.setdefault(at, []).append(words)

    def _next(self, chosen: list[int], at: int, place: Place) -> int:
        """Puts down what begins with a block; where it ends."""
        if place.pre >= 0:
            return self._listing(chosen, at, place)
        after = 0
        if place.table >= 0 and place.table not in self.layout:
            after = self._table(chosen, at, place)
        if place.level and not after and at + 1 < len(chosen) and self._goes_on(chosen[at + 1], place):
            after = self._heading(chosen, at, place)
        if not after:
            self._blocks(chosen[at], place)
        return after or at + 1

    def _add(self, text: str, kind: int = 0, *, joins: bool = False) -> None:
        """Puts a text down that no quote and no item holds: without an empty line where it joins what it follows."""
        self.parts += ("\n" if joins and kind else "\n\n", text)
        self.tight, self.held = kind, ()

    def _head(self, head: Head) -> None:
        """Who wrote what follows, and when."""
        name = f"**{self.phrase.link(head.name, head.profile)}**" if head.name else ""
        date = self.phrase.link(head.date, head.place) if head.place else head.date
        self._add(" \u00b7 ".join(filter(None, (name, date))))

    def _blocks(self, number: int, place: Place) -> None:
        """A block; a row of a table that is layout is one of several."""
        pieces = self.page.pieces[number]
        if place.table < 0:
            tag = self.page.elements[self.page.rows[number][0]][1]
            self._block(self._unmarked(number) if tag == TERM else pieces, place, tag)
            return
        start = 0
        for at, piece in enumerate(pieces):
            if piece.__class__ is tuple and piece[0] == NEXT_CELL:
                self._block(pieces[start:at], place)
                start = at + 1
        self._block(pieces[start:], place)

    def _unmarked(self, number: int) -> list[Piece]:
        """The pieces of a term; those of a signature of code without emphasis, which only tells its parts apart."""
        page = self.page
        if not SIGNATURE.search(page.names[page.rows[number][0]]):
            return page.pieces[number]
        return [
            (OPEN, "") if piece.__class__ is tuple and piece[0] == OPEN and piece[1] in EMPHASIS else piece
            for piece in page.pieces[number]
        ]

    def _block(self, pieces: list[Piece], place: Place, tag: int = 0) -> None:
        if pieces and pieces[0] == CODE and (source := code_of(pieces)):
            self._put(_fenced(source, ""), place)
            return
        text = headed(self.phrase.line(pieces)) if place.level else self.phrase.of(pieces)
        if not text:
            return
        if place.level:
            text = "#" * place.level + " " + text
        if place.holders:
            apart = self.whole or (self.paragraph if tag == P else self.page.elements[place.holders[-1]][1] == QUOTE)
            apart = apart or (place.term == TERMS and not self.named)
            self._put(": " + text if place.term == DETAILS and not place.level else text, place, apart=apart)
            self.paragraph, self.named = not place.level, place.term == TERMS
            return
        self._define(text, place)

    def _heading(self, chosen: list[int], at: int, place: Place) -> int:
        """A heading of some blocks, on one line; where it ends, or 0 for one of a single block, or of too many."""
        end = at + 1
        while end < min(len(chosen), at + PARTS + 1) and self._goes_on(chosen[end], place):
            end += 1
        blocks = chosen[at:end]
        if not 1 < len(blocks) <= PARTS or sum([len(self.page.texts[block]) for block in blocks]) > HEADED:
            return 0
        blocks = self._without_buttons(blocks)
        pieces = [piece for block in blocks for piece in (*self.page.pieces[block], " ")]
        self._block(pieces, place)
        return end

    def _without_buttons(self, blocks: list[int]) -> list[int]:
        """The blocks of a heading without buttons that stand beside its words."""
        words = [block for block in blocks if self.page.elements[self.page.rows[block][0]][1] != BUTTON]
        if words and len(words) < len(blocks):
            self.order = [block for block in self.order if block in words or block not in blocks]
        return words or blocks

    def _goes_on(self, number: int, place: Place) -> bool:
        """Whether a block is part of the same heading."""
        return number not in self.heads and self.places.of(self.page.rows[number][0]).part == place.part

    def _define(self, text: str, place: Place) -> None:
        """Puts a paragraph down; a definition without its term is one like any other."""
        goes_on = place.part != self.detail and place.part in self.defined  # behind terms that stand in it
        named = place.term == TERMS or (place.term == DETAILS and self.tight in (TERMS, DETAILS) and not goes_on)
        if named and place.term == DETAILS:
            text = ("  " if place.part == self.detail else ": ") + text
        self.detail = place.part
        if place.term == DETAILS:
            self.defined.add(place.part)
        self._add(text, place.term if named else 0, joins=place.term == DETAILS or self.tight == TERMS)

    def _put(self, text: str, place: Place, *, apart: bool = True) -> None:
        """Puts a text down where it stands: alone, or in the quotes and items that hold it.

        Args:
            text: Lines of Markdown.
            place: Where it stands.
            apart: Whether an empty line sets it apart from what stands before it in the same item.
        """
        if not place.holders:
            self._add(text)
            return
        holders = place.holders[-DEPTH:]
        begins = self._begins(holders)
        shared, beside = self._shared(holders)
        if not shared and not beside:
            between = "\n\n"
        elif beside or (self._joins(begins, shared) if begins >= 0 else not apart and self._is_quoted_alike(holders)):
            between = "\n"
        else:
            between = "\n" + self.leads.before(shared).rstrip() + "\n"
        first = self.leads.before(holders, begins, first=True)
        self.parts += (
            between,
            first + text if "\n" not in text else led(text, self.leads.before(holders, begins), first),
        )
        self.leads.begun.add(begins)
        self.tight, self.held, self.paragraph, self.whole, self.named = 0, holders, False, False, False

    def _begins(self, holders: tuple[int, ...]) -> int:
        """The innermost item, if nothing of it has been put down; else -1."""
        for each in reversed(holders):
            if self.page.elements[each][1] == LI:
                return -1 if each in self.leads.begun else each
        return -1

    def _shared(self, holders: tuple[int, ...]) -> tuple[tuple[int, ...], bool]:
        """What holds the last text and this one, and whether the next that hold them are items of one list."""
        if not self.held:
            return (), False
        elements, count = self.page.elements, 0
        for mine, other in zip(holders, self.held, strict=False):
            if mine != other:
                beside = elements[mine][0] == elements[other][0] and elements[mine][1] == elements[other][1] == LI
                return holders[:count], beside
            count += 1
        return holders[:count], False

    def _joins(self, item: int, shared: tuple[int, ...]) -> bool:
        """Whether an item that begins a list may follow the words of the item around it without an empty line."""
        return self.page.elements[shared[-1]][1] == LI and self.leads.bullet(item) in ("- ", "1. ")

    def _is_quoted_alike(self, holders: tuple[int, ...]) -> bool:
        return self._quotes(holders) == self._quotes(self.held)

    def _quotes(self, holders: tuple[int, ...]) -> list[int]:
        return [each for each in holders if self.page.elements[each][1] == QUOTE]

    def _listing(self, chosen: list[int], at: int, place: Place) -> int:
        """A listing, fenced: all blocks of one pre; where they end."""
        start, at = at, at + 1
        while (
            at < len(chosen)
            and chosen[at] not in self.heads
            and self.places.of(self.page.rows[chosen[at]][0]).pre == place.pre
        ):
            at += 1
        body = source_of(self.page, place.pre, chosen[start:at])
        if body.strip():
            self._put(_fenced(body, language_of(self.page, place.pre)), place)
            self.whole = True
        return at

    def _table(self, chosen: list[int], at: int, place: Place) -> int:
        """A table of data as a grid; where it ends, or 0 for a table that is layout."""
        end = at
        while end < len(chosen) and self.places.of(self.page.rows[chosen[end]][0]).table == place.table:
            end += 1
        grid = None
        if not (end < len(chosen) and self._holds(place.table, self.page.rows[chosen[end]][0])):
            grid = grid_of(self.page, place.table, chosen[at:end], self.phrase)
        if not grid or not grid.is_data() or not self.heads.keys().isdisjoint(chosen[at + 1 : end]):
            self.layout.add(place.table)
            return 0
        self.tables.append(grid.rows)
        for caption in grid.captions:
            self._put(caption, place)
        self._put("\n".join(grid.lines()), place)
        self.whole = True
        return end

    def _holds(self, table: int, element: int) -> bool:
        """Whether an element stands in a table, though in another one inside of it."""
        while element > table:
            element = self.page.elements[element][0]
        return element == table


def _fenced(body: str, language: str) -> str:
    fence = "`" * max(3, 1 + max((len(run) for run in FENCE.findall(body)), default=0))
    return f"{fence}{language}\n{body}\n{fence}"
