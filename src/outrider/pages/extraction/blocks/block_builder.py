"""Collect text and inline marks until a block-level element ends the block."""

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
CLOSING_PIECE = (PIECE_CLOSE, None)  # ends a link or a mark
PARAGRAPH_BREAK = ((PIECE_BREAK, None), (PIECE_BREAK, None))
INLINE_CLOSED, INLINE_OPENED, INLINE_CLOSED_AND_OPENED = 1, 2, 3
MAX_LINKS, MAX_EMBEDS = 20_000, 500


class BlockBuilder:
    """Build the current block from the pieces that the tree walk delivers.

    Attributes:
        page: The completed blocks.
        current: Number of the innermost open block-level element.
        pieces: Text and marks of the current block.
        has_words: Whether the pieces hold words.
        listing_depth: How many open elements are code listings.
        same_page_prefixes: Beginnings of addresses that link to places in this page.
        next_block: The number of the current block: one object, because each element keeps it twice.
        nodes_left: How many more nodes may be visited, negative once the page is full.
        inline_boundary: Bits `INLINE_CLOSED` and `INLINE_OPENED`, for inline elements since the last words.
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
        "next_block",
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
        self.listing_depth = self.inline_boundary = self.nodes_left = self.next_block = 0
        self.current = -1
        self.same_page_prefixes: tuple[str, ...] = ()
        self.open_link = ("", 0, 0)  # address, number of its block, number of its first piece

    def add_text(self, text: str) -> None:
        """Append text to the current block."""
        if not self.has_words:
            if not text or text.isspace():
                if self.listing_depth:
                    self.pieces.append(text)
                return
            self.has_words = True
            self.last_break = False
        elif self.last_break and not text.isspace():
            self.last_break = False
        previous = self.pieces[-1] if self.pieces else ""
        if (
            previous.__class__ is str
            and not self.listing_depth
            and not (text := self._remove_repeated_text(previous, text))
        ):
            return
        if (
            self.inline_boundary == INLINE_CLOSED_AND_OPENED
            and previous == CLOSING_PIECE
            and not self.listing_depth
            and _needs_space_between(_join_words(self.pieces, -2), text)
        ):
            text = " " + text
        self.inline_boundary = 0
        self.pieces.append(text)
        if self.link_depth:
            self.linked_chars += len(text)

    def _remove_repeated_text(self, previous: str, text: str) -> str:
        """Return the text without words that repeat the preceding element for screen readers."""
        min_repeated_chars = 5  # shorter repetitions may be intended
        if len(previous) >= min_repeated_chars and text.startswith(previous) and not previous[-1].isspace():
            rest = text[len(previous) :]
            return rest if not rest or rest[0].isspace() else text
        if self.inline_boundary == INLINE_CLOSED_AND_OPENED and _needs_space_between(previous, text):
            return " " + text
        return text

    def record_anchor(self, name: str) -> None:
        """Record an id that links can point to."""
        if len(self.page.anchors) < MAX_LINKS:
            self.page.anchors.setdefault(name, len(self.page.texts))

    def break_line(self) -> None:
        """End a line. A second break in a row ends the block."""
        if self.listing_depth:
            self.pieces.append("\n")
            return
        self.pieces.append((PIECE_BREAK, None))
        self.breaks += 1
        if self.last_break:
            self.flush_block()
        else:
            self.last_break = True

    def add_image(self, attributes: Attributes) -> None:
        """Add an image, or its formula if it shows one that was not just read."""
        nearby_pieces = 4  # at most between a formula and its image
        if formula := read_formula_image(attributes):
            if formula not in [piece for piece in self.pieces[-nearby_pieces:] if piece.__class__ is Formula]:
                self.add_text(Formula(formula))
            return
        self.images += 1
        self.pieces.append((PIECE_IMAGE, attributes))
        if len(self.page.images) < MAX_LINKS:
            self.page.images.append(attributes)

    def add_embed(self, address: str, words: str) -> None:
        """Add an embed after the current words, unless the page already has its address."""
        page, next_block = self.page, len(self.page.texts) + self.has_words
        if address in page.embeds or len(page.embeds) >= MAX_EMBEDS:
            return
        page.embeds[address] = next_block, self.current, words
        page.links.append((address, next_block, words))

    def begin_mark(self, tag: str) -> None:
        """Open emphasis or inline code, which `end_mark` closes."""
        self.pieces.append((PIECE_OPEN, tag))
        self.marked += 1

    def end_mark(self) -> None:
        self.pieces.append((PIECE_CLOSE, None))

    def record_checkbox(self, attributes: Attributes) -> None:
        """Record a task list's checkbox. Other checkboxes belong to forms."""
        page, element = self.page, self.current
        for _ in range(3):  # the item may hold a paragraph or a label around the checkbox
            if element < 0 or page.elements[element][5] != len(page.texts):
                return
            if page.elements[element][1] == ITEM_TAG_NUMBER:
                if "disabled" in attributes or "task" in page.names[element]:
                    page.attributes[element] = {
                        **(page.attributes.get(element) or {}),
                        "task": "x" if "checked" in attributes else " ",
                    }
                return
            element = page.elements[element][0]

    def mark_code_line(self) -> None:
        """Mark the border of a line in a listing."""
        self.pieces.append((PIECE_CODE_LINE, None))

    def begin_link(self, address: str) -> None:
        """Open a link. Addresses of places in this page become bare fragments."""
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
        """Close a link, and drop it if it is only a permalink symbol."""
        max_permalink_pieces = 5
        address, block, start = self.open_link
        page = self.page
        if "#" in address and block == len(page.texts) and len(self.pieces) - start < max_permalink_pieces:
            label = "".join([piece for piece in self.pieces[start:] if isinstance(piece, str)])
            if label.strip() in PERMALINK_SIGNS:
                del self.pieces[start:]
                self.linked_chars = max(0, self.linked_chars - len(label))
                self.has_words = any(isinstance(piece, str) and not piece.isspace() for piece in self.pieces)
        if address and address[0] != "#" and len(page.links) < MAX_LINKS:
            words = _join_words(self.pieces, start) if block == len(page.texts) else page.texts[block]
            page.links.append((address, block, words))
            if words and block not in page.first_link_words:
                page.first_link_words[block] = " ".join(words[:200].split())
        self.link_depth -= 1
        self.inline_boundary |= INLINE_CLOSED
        self.pieces.append(CLOSING_PIECE)

    def is_long_cell(self) -> bool:
        """Return whether the current cell is too long for a data table."""
        max_cell_chars = 160  # rows with longer cells are layout
        return self.breaks > 1 or sum([len(piece) for piece in self.pieces if piece.__class__ is str]) > max_cell_chars

    def flush_block(self) -> None:
        """End the current block. Without words, it keeps its last images and open link."""
        max_pending_images = 3  # they wait for the next block with words
        pieces = self.pieces
        if self.has_words:
            self._append_block(pieces)
            self.pieces = []
        else:
            images = [piece for piece in pieces if piece[0] == PIECE_IMAGE] if self.images else []
            # The two breaks set the images apart from the words of the next block.
            self.pieces = [*images[-max_pending_images:], *PARAGRAPH_BREAK] if images else []
            if self.link_depth:
                self.pieces += [piece for piece in pieces if piece[0] == PIECE_LINK][-1:]
        self.breaks = self.linked_chars = 0
        self.last_break = False

    def _append_block(self, pieces: list[InlinePiece]) -> None:
        piece_texts = ("", "", "", " ", " ", " ", " ")  # by kind of piece: breaks and images separate words
        max_blocks = 15_000  # no page of the evaluation corpus has more than 11,000
        max_text_chars = 2_000_000  # of all blocks together
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
        self.next_block = len(page.texts)
        self.text_chars += len(text)
        self.links = self.images = self.marked = self.inline_bits = 0
        self.has_words = False
        if self.text_chars > max_text_chars or self.next_block > max_blocks:
            self.nodes_left = -1


def _join_words(pieces: list[InlinePiece], start: int) -> str:
    """Return the text of the pieces from `start` on."""
    if len(pieces) == start + 1 and isinstance(single_piece := pieces[start], str):
        return single_piece  # the usual case
    return "".join([piece for piece in pieces[start:] if isinstance(piece, str)])


def collapse_spaces(text: str) -> str:
    """Return the text stripped, with single spaces."""
    chunk_chars = 100_000  # split at once: a list of words takes ten times the memory of their text
    text = text.strip()
    # Most texts need no work. No white space but the space is printable.
    if text.isprintable() and "  " not in text:
        return text
    if len(text) <= chunk_chars:
        return " ".join(text.split())
    lines, rest = list[str](), ""
    for start in range(0, len(text), chunk_chars):
        chunk = rest + text[start : start + chunk_chars]
        words = chunk.split()
        rest = words.pop() if words and not chunk[-1].isspace() else ""
        lines.append(" ".join(words))
    return " ".join(filter(None, [*lines, rest]))


def _needs_space_between(previous: str, text: str) -> bool:
    """Return whether the words of two elements would run together.

    A style sheet usually sets them apart: a lower-case letter or a digit, then an upper-case letter.
    """
    min_glued_chars = 3  # shorter texts are parts of one word
    if min(len(previous), len(text)) < min_glued_chars or not text[0].isupper():
        return False
    return previous[-1].islower() or previous[-1].isdigit()
