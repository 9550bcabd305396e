"""The block at hand: its words and marks as the walk meets them, until a border of a block-level element ends it."""

from outrider.pages.content.blocks import (
    BREAK,
    CLOSE,
    IMAGE,
    LINE,
    LINKED,
    OPEN,
    Blocks,
    Formula,
    Given,
    Piece,
)  # fmt: skip
from outrider.pages.content.formula import of_picture

PERMALINKS = frozenset({"#", "\u00b6", "\u00a7", "\U0001f517", "\u221e", "\uf0c1", "\u2693"})
TOLD = 5  # characters from which words that stand twice, one behind the other, are meant to be read once
LONG_CELL = 160  # characters of a cell from which a row is layout
BESIDE = 4  # pieces between a formula and the picture of it
WAITING = 3  # pictures that wait for the next block with words
LINKS = 20_000
TEXT_LIMIT = 2_000_000  # characters of all blocks together
BLOCKS = 15_000  # 1,497 pages have at most 11,000
SOUNDS = ("", "", "", " ", " ", " ", " ")  # what a piece that is no text is in the words of a block


class Passage:
    """What has been read since the last border, and the blocks before it.

    Attributes:
        page: The blocks that are complete.
        current: The innermost open element.
        pieces: Of the block at hand.
        filled: Whether they hold words.
        listing: How many open elements are listings.
        full: Whether the page holds all that is looked at.
    """

    __slots__ = (
        "anchor", "breaks", "current", "filled", "full", "images", "in_link", "inner", "last_break", "length",
        "linked", "links", "listing", "marked", "page", "pieces",
    )  # fmt: skip

    def __init__(self) -> None:
        self.page = Blocks()
        self.pieces: list[Piece] = []
        self.filled = self.last_break = self.full = False
        self.length = self.in_link = self.linked = self.links = self.images = self.breaks = self.marked = self.inner = 0
        self.listing = 0
        self.current = -1
        self.anchor = ("", 0, 0)  # of the open link: address, block, piece

    def add(self, text: str) -> None:
        """Takes in words."""
        if not self.filled:
            if not text or text.isspace():
                if self.listing:
                    self.pieces.append(text)
                return
            self.filled = True
            self.last_break = False
        elif self.last_break and not text.isspace():
            self.last_break = False
        last = self.pieces[-1] if self.pieces else ""
        if last.__class__ is str and text.startswith(last) and len(last) >= TOLD and self._is_shut(last):
            self._tell_again(last, text)
            return
        self.pieces.append(text)
        if self.in_link:
            self.linked += len(text)

    def _is_shut(self, text: str) -> bool:
        return not self.listing and not text[-1].isspace()

    def _tell_again(self, last: str, text: str) -> None:
        """Takes in words that repeat those right before them, without a space: they are meant for screen readers."""
        more = text[len(last) :]
        if more and not more[0].isspace():
            self.pieces.append(text)
            more = text
        elif more:
            self.pieces[-1] = text
        if self.in_link:
            self.linked += len(more)

    def name_place(self, name: str) -> None:
        """Notes an id; links may lead there."""
        if len(self.page.anchors) < LINKS:
            self.page.anchors.setdefault(name, len(self.page.texts))

    def break_line(self) -> None:
        """A line ends; two ends in a row end the block."""
        if self.listing:
            self.pieces.append("\n")
            return
        self.pieces.append((BREAK, None))
        self.breaks += 1
        if self.last_break:
            self.flush()
        else:
            self.last_break = True

    def show(self, given: Given) -> None:
        """A picture; that of a formula is one, unless it has just been read."""
        if (names := given.get("class")) and (formula := of_picture(names, given.get("alt") or "")):
            if formula not in [piece for piece in self.pieces[-BESIDE:] if piece.__class__ is Formula]:
                self.add(Formula(formula))
            return
        self.images += 1
        self.pieces.append((IMAGE, given))
        self.page.images.append(given)

    def mark(self, tag: str) -> None:
        """Emphasis or code begins; it ends with `end_mark`."""
        self.pieces.append((OPEN, tag))
        self.marked += 1

    def end_mark(self) -> None:
        self.pieces.append((CLOSE, None))

    def line_of_listing(self) -> None:
        """Here a line of a listing begins or ends."""
        self.pieces.append((LINE, None))

    def link(self, address: str) -> None:
        """A link begins."""
        self.in_link += 1
        self.links += 1
        self.pieces.append((LINKED, address))
        self.anchor = address, len(self.page.texts), len(self.pieces)

    def end_link(self) -> None:
        """The link ends; one that is no more than a sign for the place where it stands was none."""
        address, block, start = self.anchor
        page = self.page
        if "#" in address and block == len(page.texts) and self._is_permalink(start):
            self._take_back(start)
        if address and address[0] != "#" and len(page.links) < LINKS:
            here = block == len(page.texts)
            words = (
                "".join([each for each in self.pieces[start:] if isinstance(each, str)]) if here else page.texts[block]
            )
            page.links.append((address, block, words))
            if words and block not in page.named:
                page.named[block] = " ".join(words[:200].split())
        self.in_link -= 1
        self.pieces.append((CLOSE, None))

    def _is_permalink(self, start: int) -> bool:
        words = [piece for piece in self.pieces[start : start + 5] if isinstance(piece, str)]
        return len(self.pieces) - start < 5 and "".join(words).strip() in PERMALINKS

    def _take_back(self, start: int) -> None:
        """Takes back the words since a piece."""
        self.linked = max(0, self.linked - sum([len(piece) for piece in self.pieces[start:] if isinstance(piece, str)]))
        del self.pieces[start:]
        self.filled = any(isinstance(piece, str) and not piece.isspace() for piece in self.pieces)

    def is_long(self) -> bool:
        """Whether it is more than a cell of a table of data holds."""
        return self.breaks > 1 or sum([len(piece) for piece in self.pieces if piece.__class__ is str]) > LONG_CELL

    def flush(self) -> None:
        """Ends the block at hand."""
        pieces = self.pieces
        if self.filled:
            self._keep(pieces)
            self.pieces = []
        else:
            self.pieces = [piece for piece in pieces if piece[0] == IMAGE][-WAITING:] if self.images else []
            if self.in_link:
                self.pieces += [piece for piece in pieces if piece[0] == LINKED][-1:]
        self.breaks = self.linked = 0
        self.last_break = False

    def _keep(self, pieces: list[Piece]) -> None:
        page = self.page
        words = "".join([piece if isinstance(piece, str) else SOUNDS[piece[0]] for piece in pieces])
        text = " ".join(words.split())
        page.texts.append(text)
        page.pieces.append(pieces)
        page.rows.append(
            (self.current, self.linked, self.links, self.images, self.breaks, self.marked, self.in_link, self.inner)
        )
        self.length += len(text)
        self.links = self.images = self.marked = self.inner = 0
        self.filled = False
        self.full = self.length > TEXT_LIMIT or len(page.texts) > BLOCKS
