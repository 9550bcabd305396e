"""Write the chosen blocks as text and as Markdown."""

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
from outrider.pages.extraction.markdown.emphasis import strip_control_chars
from outrider.pages.extraction.markdown.escape import escape_heading, escape_text
from outrider.pages.extraction.markdown.footnotes import collect_footnotes, strip_note_mark
from outrider.pages.extraction.markdown.grid import build_grid
from outrider.pages.extraction.markdown.line_prefixes import LinePrefixes, prefix_lines
from outrider.pages.extraction.markdown.media import PageEmbed, find_embeds
from outrider.pages.extraction.markdown.paragraph import ParagraphWriter
from outrider.pages.extraction.markdown.posts import PostHead
from outrider.pages.extraction.markdown.redundant_blocks import drop_footnote_headings, drop_redundant

LI_TAG, PRE_TAG, QUOTE_TAG, P_TAG, BUTTON_TAG, DT_TAG = (
    TAG_NUMBERS[tag] for tag in ("li", "pre", "blockquote", "p", "button", "dt")
)
SIGNATURE_CLASS = re.compile(r"(?:^|\s)sig(?:\s|$)")  # of Sphinx
FENCE_PATTERN = re.compile(r"^\s*(`{3,})", re.MULTILINE)
FOOTNOTE_PART = 3  # next to TERM_PART and DETAIL_PART


def render_text(page: PageBlocks, writer: "MarkdownWriter") -> str:
    """Return the written words with an empty line between blocks. Listings keep their lines."""
    texts, paragraphs = [], writer.paragraphs
    for number in writer.order:
        owner, text = page.rows[number][0], page.texts[number]
        if page.elements[owner][1] == PRE_TAG:
            text = render_listing(page, owner, [number])
        if (
            paragraphs.footnote_labels
            and number in page.fragment_link_blocks
            and number not in writer.backlink_blocks
            and "\n" not in text
        ):
            text = paragraphs.render_plain_text(page.pieces[number])
        texts.append(f"{writer.heads[number]}\n\n{text}" if number in writer.heads else text)
    for at in sorted(writer.written_embeds, reverse=True):
        texts[at:at] = writer.written_embeds[at]
    return "\n\n".join(filter(None, texts))


@dataclass(slots=True)
class MarkdownWriter:
    """Write the blocks of one page as Markdown.

    Attributes:
        paragraphs: Writer of the page's paragraphs.
        contexts: Contexts of the page's elements.
        prefixes: Prefixes of lines in quotes and items.
        written_details: Each `dd` with written content.
        layout_tables: Tables that are layout, not data.
        parts: The written parts, each after its separator.
        tables: The rows of the data tables.
        order: The blocks in the order of writing.
        heads: By block, the head of the post that begins there.
        backlink_blocks: Blocks of notes that only link back.
        rules: The remaining blocks that follow a horizontal rule, in order.
        embeds: The remaining embeds, each with the number of chosen blocks before it.
        written_embeds: Labels of the written embeds by the number of blocks before them.
        last_part: Kind of the part written last: `TERM_PART`, `DETAIL_PART`, `FOOTNOTE_PART` or 0.
        last_holders, last_detail: Holders and `dd` of that part.
        after_paragraph, after_listing_or_table, after_term: Whether that part was one in an item.
    """

    page: PageBlocks
    paragraphs: ParagraphWriter
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
        """Return the Markdown of these blocks."""
        strip_control_chars(self.page.texts, self.page.pieces)
        notes = collect_footnotes(self.page, chosen)
        self.paragraphs.footnote_labels, self.paragraphs.backlink_ids = notes.labels, notes.backlink_ids
        note_blocks = [number for blocks in notes.blocks.values() for number in blocks]
        numeric = [number for number in chosen if self.page.texts[number][:1].isdecimal()]
        left_out = find_line_number_blocks(self.page, numeric).union(note_blocks)
        chosen = drop_footnote_headings(self.page, chosen, note_blocks, self.contexts)
        chosen = drop_redundant(self.page, [number for number in chosen if number not in left_out])
        self.order = chosen + note_blocks
        self.rules = sorted(self.page.rules)
        self.embeds = find_embeds(self.page, chosen) if self.page.embeds else []
        at = 0
        while at < len(chosen):
            number = chosen[at]
            context = self.contexts.get_context(self.page.rows[number][0])
            if self.rules:
                self._write_rule(number, context)
            if self.embeds:
                self._write_embeds(at)
            if head := self.heads.get(number):
                name = f"**{self.paragraphs.render_link(head.name, head.profile_url)}**" if head.name else ""
                date = self.paragraphs.render_link(head.date, head.permalink) if head.permalink else head.date
                self._append_text(" \u00b7 ".join(filter(None, (name, date))))
            at = self._write_next(chosen, at, context)
        self._write_embeds(at)
        self._write_footnotes(notes.blocks)
        if self.paragraphs.references:
            self._append_text(
                "\n".join([f"[{number}]: {address}" for address, number in self.paragraphs.references.items()])
            )
        return "".join(self.parts[1:])

    def _write_footnotes(self, notes: dict[str, list[int]]) -> None:
        """Write the footnotes after everything else."""
        for label, blocks in notes.items():
            text = " ".join(filter(None, [self.paragraphs.render_line(self.page.pieces[number]) for number in blocks]))
            if not text:  # the note only links back
                self.backlink_blocks.update(blocks)
                text = escape_text(" ".join([self.page.texts[number] for number in blocks]))
            self._append_text(
                f"[^{label}]: {strip_note_mark(text, label)}", FOOTNOTE_PART, joins=self.last_part == FOOTNOTE_PART
            )

    def _write_rule(self, number: int, context: BlockContext) -> None:
        """Write a preceding horizontal rule outside lists and quotes."""
        passed = bisect_right(self.rules, number)
        is_same_holder = False
        if context.holders and self.last_holders:
            outer, last_outer = context.holders[0], self.last_holders[0]
            first, last = self.page.elements[outer], self.page.elements[last_outer]
            is_same_holder = outer == last_outer or (first[:2] == last[:2] and first[1] == LI_TAG)
        if passed and self.parts and not is_same_holder:
            self._append_text("---")
        del self.rules[:passed]

    def _write_embeds(self, at: int) -> None:
        """Write the embeds before the chosen block of this number."""
        while self.embeds and self.embeds[0][0] <= at:
            _, (_, holder, address, words) = self.embeds.pop(0)
            context = self.contexts.get_context(holder)
            if context.pre < 0:
                self._write_text(self.paragraphs.render_link(words, address), context)
                self.written_embeds.setdefault(at, []).append(words)

    def _write_next(self, chosen: list[int], at: int, context: BlockContext) -> int:
        """Write the structure that begins here, and return the next block's number."""
        if context.pre >= 0:
            return self._write_listing(chosen, at, context)
        after = 0
        if context.table >= 0 and context.table not in self.layout_tables:
            after = self._write_table(chosen, at, context)
        if context.level and not after and at + 1 < len(chosen) and self._is_same_heading(chosen[at + 1], context):
            after = self._write_heading(chosen, at, context)
        if not after:
            self._write_block(chosen[at], context)
        return after or at + 1

    def _append_text(self, text: str, kind: int = 0, *, joins: bool = False) -> None:
        """Append a text outside quotes and items.

        An empty line precedes it unless it joins the last part.
        """
        self.parts += ("\n" if joins and kind else "\n\n", text)
        self.last_part, self.last_holders = kind, ()

    def _write_block(self, number: int, context: BlockContext) -> None:
        """Write a block, or each cell of a row in a layout table."""
        pieces = self.page.pieces[number]
        if context.table < 0:
            owner = self.page.rows[number][0]
            tag = self.page.elements[owner][1]
            if tag == DT_TAG and SIGNATURE_CLASS.search(self.page.names[owner]):
                # Emphasis only separates the parts of an API signature.
                openings = [(PIECE_OPEN, mark) for mark in ("em", "i", "strong", "b")]
                pieces = [(PIECE_OPEN, "") if piece in openings else piece for piece in pieces]
            self._write_pieces(pieces, context, tag)
            return
        start = 0
        for at, piece in enumerate(pieces):
            if piece.__class__ is tuple and piece[0] == PIECE_NEXT_CELL:
                self._write_pieces(pieces[start:at], context)
                start = at + 1
        self._write_pieces(pieces[start:], context)

    def _write_pieces(self, pieces: list[InlinePiece], context: BlockContext, tag: int = 0) -> None:
        if pieces and pieces[0] == CODE_OPENING and (source := render_code_paragraph(pieces)):
            self._write_text(_fence_code(source, ""), context)
            return
        if context.level:
            text = escape_heading(self.paragraphs.render_line(pieces))
            text = "#" * context.level + " " + text if text else ""
        else:
            text = self.paragraphs.render_paragraph(pieces)
        if context.term == TERM_PART:
            text = text.removeprefix(
                ": "
            )  # the mark of a definition; Texinfo writes it after a category, or after none
        if not text:
            return
        if not context.holders:
            self._write_paragraph(text, context)
            return
        is_separated = self.after_paragraph if tag == P_TAG else self._is_quote(context.holders[-1])
        is_separated = is_separated or self.after_listing_or_table
        is_separated = is_separated or (context.term == TERM_PART and not self.after_term)
        if context.term == DETAIL_PART and not context.level:
            text = ": " + text
        self._write_text(text, context, separated=is_separated)
        self.after_paragraph, self.after_term = not context.level, context.term == TERM_PART

    def _write_heading(self, chosen: list[int], at: int, context: BlockContext) -> int:
        """Write a heading of a few blocks on one line.

        Returns:
            The number of the next block, or 0 if the heading has a single block or too many.
        """
        max_blocks, max_chars = 4, 300
        end = at + 1
        while end < min(len(chosen), at + max_blocks + 1) and self._is_same_heading(chosen[end], context):
            end += 1
        blocks = chosen[at:end]
        chars = sum([len(self.page.texts[block]) for block in blocks])
        if not 1 < len(blocks) <= max_blocks or chars > max_chars:
            return 0
        # Buttons next to the words of a heading are left out.
        words = [block for block in blocks if self.page.elements[self.page.rows[block][0]][1] != BUTTON_TAG]
        if words and len(words) < len(blocks):
            self.order = [block for block in self.order if block in words or block not in blocks]
        pieces = [piece for block in words or blocks for piece in (*self.page.pieces[block], " ")]
        self._write_pieces(pieces, context)
        return end

    def _is_same_heading(self, number: int, context: BlockContext) -> bool:
        return number not in self.heads and self.contexts.get_context(self.page.rows[number][0]).part == context.part

    def _write_paragraph(self, text: str, context: BlockContext) -> None:
        """Write a paragraph outside quotes and items. A definition without its term is an ordinary one."""
        is_detail = context.term == DETAIL_PART
        # A definition can continue after the terms of a list inside it.
        is_continued = context.part != self.last_detail and context.part in self.written_details
        follows_term = is_detail and self.last_part in (TERM_PART, DETAIL_PART) and not is_continued
        if follows_term:
            text = ("  " if context.part == self.last_detail else ": ") + text
        self.last_detail = context.part
        if is_detail:
            self.written_details.add(context.part)
        kind = context.term if follows_term or context.term == TERM_PART else 0
        self._append_text(text, kind, joins=is_detail or self.last_part == TERM_PART)

    def _write_text(self, text: str, context: BlockContext, *, separated: bool = True) -> None:
        """Write lines of Markdown with the quotes and items that hold them.

        Args:
            text: Lines of Markdown.
            context: Where they are.
            separated: Whether an empty line separates them from other content of the same item.
        """
        max_nesting = 6  # deeper indentation and quotation is unreadable
        if not context.holders:
            self._append_text(text)
            return
        holders = context.holders[-max_nesting:]
        item = next((holder for holder in reversed(holders) if self.page.elements[holder][1] == LI_TAG), -1)
        new_item = -1 if item in self.prefixes.started_items else item
        separator = self._choose_separator(holders, new_item, separated=separated)
        first_prefix = self.prefixes.build_prefix(holders, new_item, first_line=True)
        if "\n" in text:
            text = prefix_lines(text, self.prefixes.build_prefix(holders, new_item), first_prefix)
        else:
            text = first_prefix + text
        self.parts += (separator, text)
        self.prefixes.started_items.add(new_item)
        self.last_part, self.last_holders = 0, holders
        self.after_paragraph = self.after_listing_or_table = self.after_term = False

    def _choose_separator(self, holders: tuple[int, ...], new_item: int, *, separated: bool) -> str:
        """Return the line break or empty line before a text, with the prefix of their common elements."""
        elements, count = self.page.elements, 0
        for holder, other in zip(holders, self.last_holders, strict=False):
            if holder != other:
                if elements[holder][:2] == elements[other][:2] and elements[holder][1] == LI_TAG:
                    return "\n"  # both texts are in items of the same list
                break
            count += 1
        if not count:
            return "\n\n"
        shared = holders[:count]
        if new_item >= 0:
            # An item that begins a list may follow its parent's words, if Markdown recognizes it there.
            is_joined = elements[shared[-1]][1] == LI_TAG
            is_joined = is_joined and self.prefixes.format_bullet(new_item) in ("- ", "1. ")
        else:
            quotes, last_quotes = filter(self._is_quote, holders), filter(self._is_quote, self.last_holders)
            is_joined = not separated and list(quotes) == list(last_quotes)
        return "\n" if is_joined else "\n" + self.prefixes.build_prefix(shared).rstrip() + "\n"

    def _is_quote(self, element: int) -> bool:
        return self.page.elements[element][1] == QUOTE_TAG

    def _write_listing(self, chosen: list[int], at: int, context: BlockContext) -> int:
        """Write a listing from all blocks of one pre, and return the number of the next block."""
        start, at = at, at + 1
        while (
            at < len(chosen)
            and chosen[at] not in self.heads
            and self.contexts.get_context(self.page.rows[chosen[at]][0]).pre == context.pre
        ):
            at += 1
        body = render_listing(self.page, context.pre, chosen[start:at])
        if body.strip():
            self._write_text(_fence_code(body, detect_code_language(self.page, context.pre)), context)
            self.after_listing_or_table = True
        return at

    def _write_table(self, chosen: list[int], at: int, context: BlockContext) -> int:
        """Write a data table and return the next block's number.

        It is 0 for a layout table.
        """
        end = at
        while end < len(chosen) and self.contexts.get_context(self.page.rows[chosen[end]][0]).table == context.table:
            end += 1
        grid, next_element = None, self.page.rows[chosen[end]][0] if end < len(chosen) else -1
        while next_element > context.table:
            next_element = self.page.elements[next_element][0]
        # If the next block is still inside the table, in a nested one, the table is layout.
        if next_element != context.table:
            grid = build_grid(self.page, context.table, chosen[at:end], self.paragraphs)
        if not grid or not grid.is_data_table() or not self.heads.keys().isdisjoint(chosen[at + 1 : end]):
            self.layout_tables.add(context.table)
            return 0
        self.tables.append(grid.rows)
        for caption in grid.captions:
            self._write_text(caption, context)
        self._write_text("\n".join(grid.render_lines()), context)
        self.after_listing_or_table = True
        return end


def _fence_code(body: str, language: str) -> str:
    fence = "`" * max(3, 1 + max((len(run) for run in FENCE_PATTERN.findall(body)), default=0))
    return f"{fence}{language}\n{body}\n{fence}"
