"""The block at hand: its words and marks as the walk meets them, until a border of a block-level element ends it."""

from outrider.pages.extraction.blocks.formulas import read_formula_image
from outrider.pages.extraction.blocks.page_blocks import (  # fmt: skip
    PIECE_BREAK,
    PIECE_CLOSE,
    PIECE_CODE_LINE,
    PIECE_IMAGE,
    PIECE_LINK,
    PIECE_OPEN,
    TAG_NUMBERS,
    Attributes,
    Formula,
    InlinePiece,
    PageBlocks,
)

ITEM_TAG_NUMBER = TAG_NUMBERS["li"]
PERMALINK_SIGNS = frozenset({"#", "\u00b6", "\u00a7", "\U0001f517", "\u221e", "\uf0c1", "\u2693"})
CLOSING_PIECE = (PIECE_CLOSE, None)  # of a link or a mark
INLINE_CLOSED, INLINE_OPENED, INLINE_CLOSED_AND_OPENED = 1, 2, 3
MAX_LINKS, MAX_EMBEDS = 20_000, 500


class BlockBuilder:
    """What has been read since the last border, and the blocks before it.

    Attributes:
        page: The blocks that are complete.
        current: The innermost open element.
        pieces: Of the block at hand.
        has_words: Whether they hold words.
        listing_depth: How many open elements are listings.
        same_page_prefixes: What addresses of places in this very page begin with.
        nodes_left: How many more nodes are looked at; below zero once the page holds all that is.
        inline_boundary: What inline elements without a meaning did since the last words: `SHUT`, `OPENED` or both.
    """

    __slots__ = (
        "breaks",
        "current",
        "has_words",
        "images",
        "inline_bits",
        "inline_boundary",
        "last_break",
        "link_depth",
        "linked_chars",
        "links",
        "listing_depth",
        "marked",
        "nodes_left",
        "open_link",
        "page",
        "pieces",
        "same_page_prefixes",
        "text_chars",
    )  # fmt: skip

    def __init__(self) -> None:
        self.page = PageBlocks()
        self.pieces: list[InlinePiece] = []
        self.has_words = self.last_break = False
        self.text_chars = self.link_depth = self.linked_chars = self.links = self.images = self.breaks = self.marked = (
            self.inline_bits
        ) = 0
        self.listing_depth = self.inline_boundary = self.nodes_left = 0
        self.current = -1
        self.same_page_prefixes: tuple[str, ...] = ()
        self.open_link = ("", 0, 0)  # of the open link: address, block, piece

    def add_text(self, text: str) -> None:
        """Takes in words."""
        if not self.has_words:
            if not text or text.isspace():
                if self.listing_depth:
                    self.pieces.append(text)
                return
            self.has_words = True
            self.last_break = False
        elif self.last_break and not text.isspace():
            self.last_break = False
        last = self.pieces[-1] if self.pieces else ""
        if last.__class__ is str and not self.listing_depth and not (text := self._remove_repeated_text(last, text)):
            return
        if (
            self.inline_boundary == INLINE_CLOSED_AND_OPENED
            and last == CLOSING_PIECE
            and not self.listing_depth
            and _needs_space_between(_find_last_words(self.pieces), text)
        ):
            text = " " + text
        self.inline_boundary = 0
        self.pieces.append(text)
        if self.link_depth:
            self.linked_chars += len(text)

    def _remove_repeated_text(self, last: str, text: str) -> str:
        """What to take in of words behind those of another element: some repeat these, for screen readers."""
        min_repeated_chars = (
            5  # characters from which words that stand twice, one behind the other, are meant to be read once
        )
        if len(last) >= min_repeated_chars and text.startswith(last) and not last[-1].isspace():
            more = text[len(last) :]
            return more if not more or more[0].isspace() else text
        return (
            " " + text
            if self.inline_boundary == INLINE_CLOSED_AND_OPENED and _needs_space_between(last, text)
            else text
        )

    def record_anchor(self, name: str) -> None:
        """Notes an id; links may lead there."""
        if len(self.page.anchors) < MAX_LINKS:
            self.page.anchors.setdefault(name, len(self.page.texts))

    def break_line(self) -> None:
        """A line ends; two ends in a row end the block."""
        if self.listing_depth:
            self.pieces.append("\n")
            return
        self.pieces.append((PIECE_BREAK, None))
        self.breaks += 1
        if self.last_break:
            self.flush_block()
        else:
            self.last_break = True

    def add_image(self, given: Attributes) -> None:
        """A picture; that of a formula is one, unless it has just been read."""
        nearby_pieces = 4  # pieces between a formula and the picture of it
        if formula := read_formula_image(given):
            if formula not in [piece for piece in self.pieces[-nearby_pieces:] if piece.__class__ is Formula]:
                self.add_text(Formula(formula))
            return
        self.images += 1
        self.pieces.append((PIECE_IMAGE, given))
        self.page.images.append(given)

    def add_embed(self, address: str, words: str) -> None:
        """Something embedded, behind the words at hand; the same one is told once."""
        page, at = self.page, len(self.page.texts) + self.has_words
        if address in page.embeds or len(page.embeds) >= MAX_EMBEDS:
            return
        page.embeds[address] = at, self.current, words
        page.links.append((address, at, words))

    def begin_mark(self, tag: str) -> None:
        """Emphasis or code begins; it ends with `end_mark`."""
        self.pieces.append((PIECE_OPEN, tag))
        self.marked += 1

    def end_mark(self) -> None:
        self.pieces.append((PIECE_CLOSE, None))

    def record_checkbox(self, given: Attributes) -> None:
        """A box to tick, of a list of tasks; those of forms are none."""
        page, at = self.page, self.current
        for _ in range(3):
            if at < 0 or page.elements[at][5] != len(page.texts):
                return
            if page.elements[at][1] == ITEM_TAG_NUMBER:
                if "disabled" in given or "task" in page.names[at]:
                    page.attributes[at] = {
                        **(page.attributes.get(at) or {}),
                        "task": "x" if "checked" in given else " ",
                    }
                return
            at = page.elements[at][0]

    def mark_code_line(self) -> None:
        """Here a line of a listing begins or ends."""
        self.pieces.append((PIECE_CODE_LINE, None))

    def begin_link(self, address: str) -> None:
        """A link begins; one into this very page is told as such."""
        if self.same_page_prefixes and "#" in address and address.startswith(self.same_page_prefixes):
            address = "#" + address.partition("#")[2]
        self.link_depth += 1
        self.links += 1
        pieces, page = self.pieces, self.page
        pieces.append((PIECE_LINK, address))
        self.open_link = address, len(page.texts), len(pieces)
        if address[:1] == "#":
            page.fragment_link_blocks.add(len(page.texts))

    def end_link(self) -> None:
        """The link ends; one that is no more than a sign for the place where it stands was none."""
        address, block, start = self.open_link
        page = self.page
        if "#" in address and block == len(page.texts) and self._is_permalink(start):
            self._remove_pieces_from(start)
        if address and address[0] != "#" and len(page.links) < MAX_LINKS:
            words = _join_words(self.pieces, start) if block == len(page.texts) else page.texts[block]
            page.links.append((address, block, words))
            if words and block not in page.first_link_words:
                page.first_link_words[block] = " ".join(words[:200].split())
        self.link_depth -= 1
        self.inline_boundary |= INLINE_CLOSED
        self.pieces.append(CLOSING_PIECE)

    def _is_permalink(self, start: int) -> bool:
        words = [piece for piece in self.pieces[start : start + 5] if isinstance(piece, str)]
        return len(self.pieces) - start < 5 and "".join(words).strip() in PERMALINK_SIGNS

    def _remove_pieces_from(self, start: int) -> None:
        """Takes back the words since a piece."""
        self.linked_chars = max(
            0, self.linked_chars - sum([len(piece) for piece in self.pieces[start:] if isinstance(piece, str)])
        )
        del self.pieces[start:]
        self.has_words = any(isinstance(piece, str) and not piece.isspace() for piece in self.pieces)

    def is_long_cell(self) -> bool:
        """Whether it is more than a cell of a table of data holds."""
        max_cell_chars = 160  # characters of a cell from which a row is layout
        return self.breaks > 1 or sum([len(piece) for piece in self.pieces if piece.__class__ is str]) > max_cell_chars

    def flush_block(self) -> None:
        """Ends the block at hand."""
        max_pending_images = 3  # pictures that wait for the next block with words
        pieces = self.pieces
        if self.has_words:
            self._append_block(pieces)
            self.pieces = []
        else:
            self.pieces = (
                [piece for piece in pieces if piece[0] == PIECE_IMAGE][-max_pending_images:] if self.images else []
            )
            if self.link_depth:
                self.pieces += [piece for piece in pieces if piece[0] == PIECE_LINK][-1:]
        self.breaks = self.linked_chars = 0
        self.last_break = False

    def _append_block(self, pieces: list[InlinePiece]) -> None:
        piece_texts = ("", "", "", " ", " ", " ", " ")  # what a piece that is no text is in the words of a block
        max_blocks = 15_000  # 1,497 pages have at most 11,000
        max_text_chars = 2_000_000  # characters of all blocks together
        page = self.page
        words = pieces[0]
        if len(pieces) > 1 or words.__class__ is not str:
            words = "".join([piece if isinstance(piece, str) else piece_texts[piece[0]] for piece in pieces])
        text = collapse_spaces(words)
        page.texts.append(text)
        page.pieces.append(pieces)
        page.rows.append(
            (
                self.current,
                self.linked_chars,
                self.links,
                self.images,
                self.breaks,
                self.marked,
                self.link_depth,
                self.inline_bits,
            )
        )
        self.text_chars += len(text)
        self.links = self.images = self.marked = self.inline_bits = 0
        self.has_words = False
        if self.text_chars > max_text_chars or len(page.texts) > max_blocks:
            self.nodes_left = -1


def _find_last_words(pieces: list[InlinePiece]) -> str:
    """The words right before the end of what holds them; empty if it held no more than a picture."""
    return last if len(pieces) > 1 and isinstance(last := pieces[-2], str) else ""


def _join_words(pieces: list[InlinePiece], start: int) -> str:
    """The words of pieces from one on, most often the only one."""
    if len(pieces) == start + 1 and isinstance(last := pieces[start], str):
        return last
    return "".join([each for each in pieces[start:] if isinstance(each, str)])


def collapse_spaces(text: str) -> str:
    """A text with single spaces, and none around it; most texts are so already, or nearly."""
    text = text.strip()
    # No white space but the space is printable.
    return text if text.isprintable() and "  " not in text else " ".join(text.split())


def _needs_space_between(last: str, text: str) -> bool:
    """Whether words of two elements touch that a style sheet sets apart: a small letter or a digit, then a capital."""
    min_glued_chars = 3  # characters of words that are no part of a word
    if min(len(last), len(text)) < min_glued_chars or not text[0].isupper():
        return False
    return last[-1].islower() or last[-1].isdigit()
