"""Kept blocks as text and as Markdown."""

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from outrider.pages.extraction.blocks.code_listings import (
    CODE_OPENING,
    detect_code_language,
    find_line_number_blocks,
    render_code_paragraph,
    render_listing,
)
from outrider.pages.extraction.blocks.page_blocks import (
    PIECE_NEXT_CELL,
    PIECE_OPEN,
    TAG_NUMBERS,
    InlinePiece,
    PageBlocks,
)
from outrider.pages.extraction.markdown.block_context import DETAIL_PART, TERM_PART, BlockContext, BlockContexts
from outrider.pages.extraction.markdown.embeds import PageEmbed, find_embeds
from outrider.pages.extraction.markdown.emphasis import strip_control_chars
from outrider.pages.extraction.markdown.escape import escape_heading, escape_text
from outrider.pages.extraction.markdown.footnotes import collect_footnotes, strip_note_mark
from outrider.pages.extraction.markdown.grid import build_grid
from outrider.pages.extraction.markdown.line_prefixes import LinePrefixes, prefix_lines
from outrider.pages.extraction.markdown.paragraph import ParagraphWriter
from outrider.pages.extraction.markdown.posts import PostHead
from outrider.pages.extraction.markdown.redundant_blocks import drop_footnote_headings, drop_redundant

LI_TAG, PRE_TAG, QUOTE_TAG, P_TAG, BUTTON_TAG, DT_TAG = (
    TAG_NUMBERS[tag] for tag in ("li", "pre", "blockquote", "p", "button", "dt")
)
SIGNATURE_CLASS = re.compile(r"(?:^|\s)sig(?:\s|$)")  # as Sphinx names them
FENCE_PATTERN = re.compile(r"^\s*(`{3,})", re.MULTILINE)
FOOTNOTE_PART = 3  # what a text is, beside a term or what it means
PARTS, HEADED = 4, 300  # blocks and characters of a heading


def render_text(page: PageBlocks, writer: "MarkdownWriter") -> str:
    """The words that were written, blocks an empty line apart; listings keep their lines."""
    chosen, heads = writer.order, writer.heads
    plain = [
        page.texts[number] if page.elements[page.rows[number][0]][1] != PRE_TAG else _lines(page, number)
        for number in chosen
    ]
    if writer.phrase.footnote_labels:
        for at, number in enumerate(chosen):
            if number in page.fragment_link_blocks and number not in writer.backlink_blocks and "\n" not in plain[at]:
                plain[at] = writer.phrase.render_plain_text(page.pieces[number])
    if heads:
        told = zip(chosen, plain, strict=True)
        plain = [f"{heads[number]}\n\n{text}" if number in heads else text for number, text in told]
    for at in sorted(writer.written_embeds, reverse=True):
        plain[at:at] = writer.written_embeds[at]
    return "\n\n".join(filter(None, plain))


def _lines(page: PageBlocks, number: int) -> str:
    return render_listing(page, page.rows[number][0], [number])


@dataclass(slots=True)
class MarkdownWriter:
    """Renders the blocks of one page.

    Attributes:
        contexts: Of the page's elements.
        prefixes: What stands before its lines.
        written_details: Each `dd` of which something was put down.
        layout_tables: Tables that are no data.
        parts: What was put down.
        tables: The rows of those that are.
        order: The blocks in the order in which they were put down.
        heads: What stands before blocks that begin a post.
        backlink_blocks: Blocks of notes that are no more than a way back.
        rules: The blocks ahead before which a rule is drawn, in order.
        embeds: What is embedded ahead, each with the number of chosen blocks before it.
        written_embeds: What was embedded: its words by the number of blocks in `order` before them.
        tight, held, detail, paragraph, whole, named: Kind, holders and `dd` of what was put down last; whether it was
            a paragraph, or a table or listing, or a term in an item.
    """

    page: PageBlocks
    phrase: ParagraphWriter
    contexts: BlockContexts = field(init=False)
    prefixes: LinePrefixes = field(init=False)
    written_details: set[int] = field(default_factory=set)
    layout_tables: set[int] = field(default_factory=set)
    parts: list[str] = field(default_factory=list)
    tables: list[list[list[str]]] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    heads: dict[int, PostHead] = field(default_factory=dict)
    backlink_blocks: set[int] = field(default_factory=set)
    rules: list[int] = field(default_factory=list)
    embeds: list[tuple[int, PageEmbed]] = field(default_factory=list)
    written_embeds: dict[int, list[str]] = field(default_factory=dict)
    last_part: int = 0
    last_holders: tuple[int, ...] = ()
    last_detail: int = -1
    after_paragraph: bool = False
    after_listing_or_table: bool = False
    after_term: bool = False

    def __post_init__(self) -> None:
        self.contexts, self.prefixes = BlockContexts(self.page), LinePrefixes(self.page)

    def write_blocks(self, chosen: list[int]) -> str:
        """All of these blocks, in order."""
        strip_control_chars(self.page.texts, self.page.pieces)
        notes = collect_footnotes(self.page, chosen)
        self.phrase.footnote_labels, self.phrase.backlink_ids = notes.labels, notes.backlink_ids
        told = [number for blocks in notes.blocks.values() for number in blocks]
        texts = self.page.texts
        left_out = find_line_number_blocks(self.page, [each for each in chosen if texts[each][:1].isdecimal()]).union(
            told
        )
        chosen = [
            number
            for number in drop_footnote_headings(self.page, chosen, told, self.contexts)
            if number not in left_out
        ]
        chosen = drop_redundant(self.page, chosen)
        self.order = chosen + told
        self.rules = sorted(self.page.rules)
        self.embeds = find_embeds(self.page, chosen) if self.page.embeds else []
        at = 0
        while at < len(chosen):
            number = chosen[at]
            place = self.contexts.get_context(self.page.rows[number][0])
            if self.rules:
                self._write_rule(number, place)
            if self.embeds:
                self._write_embeds(at)
            if number in self.heads:
                self._write_post_head(self.heads[number])
            at = self._write_next(chosen, at, place)
        self._write_embeds(at)
        self._write_footnotes(notes.blocks)
        if self.phrase.references:
            self._append_text(
                "\n".join([f"[{number}]: {address}" for address, number in self.phrase.references.items()])
            )
        return "".join(self.parts[1:])

    def _write_footnotes(self, notes: dict[str, list[int]]) -> None:
        """The footnotes, behind all else."""
        for label, blocks in notes.items():
            text = " ".join(filter(None, [self.phrase.render_line(self.page.pieces[number]) for number in blocks]))
            if not text:  # no more than a way back
                self.backlink_blocks.update(blocks)
                text = escape_text(" ".join([self.page.texts[number] for number in blocks]))
            self._append_text(
                f"[^{label}]: {strip_note_mark(text, label)}", FOOTNOTE_PART, joins=self.last_part == FOOTNOTE_PART
            )

    def _write_rule(self, number: int, place: BlockContext) -> None:
        """A rule, where the page draws one between what was put down last and this block, and no item holds it."""
        passed = bisect_right(self.rules, number)
        if passed and self.parts and not place.holders:
            self._append_text("---")
        del self.rules[:passed]

    def _write_embeds(self, at: int) -> None:
        """What is embedded before the chosen block of this number, and behind what was put down last."""
        while self.embeds and self.embeds[0][0] <= at:
            _, (_, holder, address, words) = self.embeds.pop(0)
            place = self.contexts.get_context(holder)
            if place.pre < 0:
                self._write_text(self.phrase.render_link(words, address), place)
                self.written_embeds.setdefault(at, []).append(words)

    def _write_next(self, chosen: list[int], at: int, place: BlockContext) -> int:
        """Puts down what begins with a block; where it ends."""
        if place.pre >= 0:
            return self._write_listing(chosen, at, place)
        after = 0
        if place.table >= 0 and place.table not in self.layout_tables:
            after = self._write_table(chosen, at, place)
        if place.level and not after and at + 1 < len(chosen) and self._is_same_heading(chosen[at + 1], place):
            after = self._write_heading(chosen, at, place)
        if not after:
            self._write_block(chosen[at], place)
        return after or at + 1

    def _append_text(self, text: str, kind: int = 0, *, joins: bool = False) -> None:
        """Puts a text down that no quote and no item holds: without an empty line where it joins what it follows."""
        self.parts += ("\n" if joins and kind else "\n\n", text)
        self.last_part, self.last_holders = kind, ()

    def _write_post_head(self, head: PostHead) -> None:
        """Who wrote what follows, and when."""
        name = f"**{self.phrase.render_link(head.name, head.profile_url)}**" if head.name else ""
        date = self.phrase.render_link(head.date, head.permalink) if head.permalink else head.date
        self._append_text(" \u00b7 ".join(filter(None, (name, date))))

    def _write_block(self, number: int, place: BlockContext) -> None:
        """A block; a row of a table that is layout is one of several."""
        pieces = self.page.pieces[number]
        if place.table < 0:
            tag = self.page.elements[self.page.rows[number][0]][1]
            self._write_pieces(self._strip_signature_emphasis(number) if tag == DT_TAG else pieces, place, tag)
            return
        start = 0
        for at, piece in enumerate(pieces):
            if piece.__class__ is tuple and piece[0] == PIECE_NEXT_CELL:
                self._write_pieces(pieces[start:at], place)
                start = at + 1
        self._write_pieces(pieces[start:], place)

    def _strip_signature_emphasis(self, number: int) -> list[InlinePiece]:
        """The pieces of a term; those of a signature of code without emphasis, which only tells its parts apart."""
        emphasis_tags = frozenset({"em", "i", "strong", "b"})
        page = self.page
        if not SIGNATURE_CLASS.search(page.names[page.rows[number][0]]):
            return page.pieces[number]
        return [
            (PIECE_OPEN, "")
            if piece.__class__ is tuple and piece[0] == PIECE_OPEN and piece[1] in emphasis_tags
            else piece
            for piece in page.pieces[number]
        ]

    def _write_pieces(self, pieces: list[InlinePiece], place: BlockContext, tag: int = 0) -> None:
        if pieces and pieces[0] == CODE_OPENING and (source := render_code_paragraph(pieces)):
            self._write_text(_fence_code(source, ""), place)
            return
        text = escape_heading(self.phrase.render_line(pieces)) if place.level else self.phrase.render_paragraph(pieces)
        if not text:
            return
        if place.level:
            text = "#" * place.level + " " + text
        if place.holders:
            apart = self.after_listing_or_table or (
                self.after_paragraph if tag == P_TAG else self.page.elements[place.holders[-1]][1] == QUOTE_TAG
            )
            apart = apart or (place.term == TERM_PART and not self.after_term)
            self._write_text(
                ": " + text if place.term == DETAIL_PART and not place.level else text, place, separated=apart
            )
            self.after_paragraph, self.after_term = not place.level, place.term == TERM_PART
            return
        self._write_paragraph(text, place)

    def _write_heading(self, chosen: list[int], at: int, place: BlockContext) -> int:
        """A heading of some blocks, on one line; where it ends, or 0 for one of a single block, or of too many."""
        end = at + 1
        while end < min(len(chosen), at + PARTS + 1) and self._is_same_heading(chosen[end], place):
            end += 1
        blocks = chosen[at:end]
        if not 1 < len(blocks) <= PARTS or sum([len(self.page.texts[block]) for block in blocks]) > HEADED:
            return 0
        blocks = self._drop_buttons(blocks)
        pieces = [piece for block in blocks for piece in (*self.page.pieces[block], " ")]
        self._write_pieces(pieces, place)
        return end

    def _drop_buttons(self, blocks: list[int]) -> list[int]:
        """The blocks of a heading without buttons that stand beside its words."""
        words = [block for block in blocks if self.page.elements[self.page.rows[block][0]][1] != BUTTON_TAG]
        if words and len(words) < len(blocks):
            self.order = [block for block in self.order if block in words or block not in blocks]
        return words or blocks

    def _is_same_heading(self, number: int, place: BlockContext) -> bool:
        """Whether a block is part of the same heading."""
        return number not in self.heads and self.contexts.get_context(self.page.rows[number][0]).part == place.part

    def _write_paragraph(self, text: str, place: BlockContext) -> None:
        """Puts a paragraph down; a definition without its term is one like any other."""
        goes_on = place.part != self.last_detail and place.part in self.written_details  # behind terms that stand in it
        named = place.term == TERM_PART or (
            place.term == DETAIL_PART and self.last_part in (TERM_PART, DETAIL_PART) and not goes_on
        )
        if named and place.term == DETAIL_PART:
            text = ("  " if place.part == self.last_detail else ": ") + text
        self.last_detail = place.part
        if place.term == DETAIL_PART:
            self.written_details.add(place.part)
        self._append_text(
            text, place.term if named else 0, joins=place.term == DETAIL_PART or self.last_part == TERM_PART
        )

    def _write_text(self, text: str, place: BlockContext, *, separated: bool = True) -> None:
        """Puts a text down where it stands: alone, or in the quotes and items that hold it.

        Args:
            text: Lines of Markdown.
            place: Where it stands.
            separated: Whether an empty line sets it apart from what stands before it in the same item.
        """
        max_nesting = 6  # indentation and quotation deeper than this says nothing
        if not place.holders:
            self._append_text(text)
            return
        holders = place.holders[-max_nesting:]
        begins = self._find_new_item(holders)
        shared, beside = self._find_shared_holders(holders)
        if not shared and not beside:
            between = "\n\n"
        elif beside or (
            self._can_join_item(begins, shared) if begins >= 0 else not separated and self._is_quoted_alike(holders)
        ):
            between = "\n"
        else:
            between = "\n" + self.prefixes.build_prefix(shared).rstrip() + "\n"
        first = self.prefixes.build_prefix(holders, begins, first_line=True)
        self.parts += (
            between,
            first + text
            if "\n" not in text
            else prefix_lines(text, self.prefixes.build_prefix(holders, begins), first),
        )
        self.prefixes.started_items.add(begins)
        self.last_part, self.last_holders, self.after_paragraph, self.after_listing_or_table, self.after_term = (
            0,
            holders,
            False,
            False,
            False,
        )

    def _find_new_item(self, holders: tuple[int, ...]) -> int:
        """The innermost item, if nothing of it has been put down; else -1."""
        for each in reversed(holders):
            if self.page.elements[each][1] == LI_TAG:
                return -1 if each in self.prefixes.started_items else each
        return -1

    def _find_shared_holders(self, holders: tuple[int, ...]) -> tuple[tuple[int, ...], bool]:
        """What holds the last text and this one, and whether the next that hold them are items of one list."""
        if not self.last_holders:
            return (), False
        elements, count = self.page.elements, 0
        for mine, other in zip(holders, self.last_holders, strict=False):
            if mine != other:
                beside = elements[mine][0] == elements[other][0] and elements[mine][1] == elements[other][1] == LI_TAG
                return holders[:count], beside
            count += 1
        return holders[:count], False

    def _can_join_item(self, item: int, shared: tuple[int, ...]) -> bool:
        """Whether an item that begins a list may follow the words of the item around it without an empty line."""
        return self.page.elements[shared[-1]][1] == LI_TAG and self.prefixes.format_bullet(item) in ("- ", "1. ")

    def _is_quoted_alike(self, holders: tuple[int, ...]) -> bool:
        return self._list_quotes(holders) == self._list_quotes(self.last_holders)

    def _list_quotes(self, holders: tuple[int, ...]) -> list[int]:
        return [each for each in holders if self.page.elements[each][1] == QUOTE_TAG]

    def _write_listing(self, chosen: list[int], at: int, place: BlockContext) -> int:
        """A listing, fenced: all blocks of one pre; where they end."""
        start, at = at, at + 1
        while (
            at < len(chosen)
            and chosen[at] not in self.heads
            and self.contexts.get_context(self.page.rows[chosen[at]][0]).pre == place.pre
        ):
            at += 1
        body = render_listing(self.page, place.pre, chosen[start:at])
        if body.strip():
            self._write_text(_fence_code(body, detect_code_language(self.page, place.pre)), place)
            self.after_listing_or_table = True
        return at

    def _write_table(self, chosen: list[int], at: int, place: BlockContext) -> int:
        """A table of data as a grid; where it ends, or 0 for a table that is layout."""
        end = at
        while end < len(chosen) and self.contexts.get_context(self.page.rows[chosen[end]][0]).table == place.table:
            end += 1
        grid = None
        if not (end < len(chosen) and self._is_inside_table(place.table, self.page.rows[chosen[end]][0])):
            grid = build_grid(self.page, place.table, chosen[at:end], self.phrase)
        if not grid or not grid.is_data_table() or not self.heads.keys().isdisjoint(chosen[at + 1 : end]):
            self.layout_tables.add(place.table)
            return 0
        self.tables.append(grid.rows)
        for caption in grid.captions:
            self._write_text(caption, place)
        self._write_text("\n".join(grid.render_lines()), place)
        self.after_listing_or_table = True
        return end

    def _is_inside_table(self, table: int, element: int) -> bool:
        """Whether an element stands in a table, though in another one inside of it."""
        while element > table:
            element = self.page.elements[element][0]
        return element == table


def _fence_code(body: str, language: str) -> str:
    fence = "`" * max(3, 1 + max((len(run) for run in FENCE_PATTERN.findall(body)), default=0))
    return f"{fence}{language}\n{body}\n{fence}"
