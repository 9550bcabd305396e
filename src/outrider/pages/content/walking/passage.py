"""The block at hand: its words and marks as the walk meets them, until a border of a block-level element ends it."""

from outrider.pages.content.walking.blocks import (
    BREAK,
    CLOSE,
    IMAGE,
    LINE,
    LINKED,
    NUMBER,
    OPEN,
    Blocks,
    Formula,
    Given,
    Piece,
)  # fmt: skip
from outrider.pages.content.walking.formula import of_picture

ITEM = NUMBER["li"]
PERMALINKS = frozenset({"#", "\u00b6", "\u00a7", "\U0001f517", "\u221e", "\uf0c1", "\u2693"})
END = (CLOSE, None)  # of a link or a mark
SHUT, OPENED, BETWEEN = 1, 2, 3
SOLID = 3  # characters of words that are no part of a word
TOLD = 5  # characters from which words that stand twice, one behind the other, are meant to be read once
LONG_CELL = 160  # characters of a cell from which a row is layout
BESIDE = 4  # pieces between a formula and the picture of it
WAITING = 3  # pictures that wait for the next block with words
LINKS, EMBEDS = 20_000, 500
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
        here: What addresses of places in this very page begin with.
        left: How many more nodes are looked at; below zero once the page holds all that is.
        seam: What inline elements without a meaning did since the last words: `SHUT`, `OPENED` or both.
    """

    __slots__ = (
        "anchor", "breaks", "current", "filled", "here", "images", "in_link", "inner", "last_break", "left", "length",
        "linked", "links", "listing", "marked", "page", "pieces", "seam",
    )  # fmt: skip

    def __init__(self) -> None:
        self.page = Blocks()
        self.pieces: list[Piece] = []
        self.filled = self.last_break = False
        self.length = self.in_link = self.linked = self.links = self.images = self.breaks = self.marked = self.inner = 0
        self.listing = self.seam = self.left = 0
        self.current = -1
        self.here: tuple[str, ...] = ()
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
        if last.__class__ is str and not self.listing and not (text := self._behind(last, text)):
            return
        if self.seam == BETWEEN and last == END and not self.listing and _is_glued(_said(self.pieces), text):
            text = " " + text
        self.seam = 0
        self.pieces.append(text)
        if self.in_link:
            self.linked += len(text)

    def _behind(self, last: str, text: str) -> str:
        """What to take in of words behind those of another element: some repeat these, for screen readers."""
        if len(last) >= TOLD and text.startswith(last) and not last[-1].isspace():
            more = text[len(last) :]
            return more if not more or more[0].isspace() else text
        return " " + text if self.seam == BETWEEN and _is_glued(last, text) else text

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
        if formula := of_picture(given):
            if formula not in [piece for piece in self.pieces[-BESIDE:] if piece.__class__ is Formula]:
                self.add(Formula(formula))
            return
        self.images += 1
        self.pieces.append((IMAGE, given))
        self.page.images.append(given)

    def embed(self, address: str, words: str) -> None:
        """Something embedded, behind the words at hand; the same one is told once."""
        page, at = self.page, len(self.page.texts) + self.filled
        if address in page.embeds or len(page.embeds) >= EMBEDS:
            return
        page.embeds[address] = at, self.current, words
        page.links.append((address, at, words))

    def mark(self, tag: str) -> None:
        """Emphasis or code begins; it ends with `end_mark`."""
        self.pieces.append((OPEN, tag))
        self.marked += 1

    def end_mark(self) -> None:
        self.pieces.append((CLOSE, None))

    def tick(self, given: Given) -> None:
        """A box to tick, of a list of tasks; those of forms are none."""
        page, at = self.page, self.current
        for _ in range(3):
            if at < 0 or page.elements[at][5] != len(page.texts):
                return
            if page.elements[at][1] == ITEM:
                if "disabled" in given or "task" in page.names[at]:
                    page.given[at] = {**(page.given.get(at) or {}), "task": "x" if "checked" in given else " "}
                return
            at = page.elements[at][0]

    def line_of_listing(self) -> None:
        """Here a line of a listing begins or ends."""
        self.pieces.append((LINE, None))

    def link(self, address: str) -> None:
        """A link begins; one into this very page is told as such."""
        if self.here and "#" in address and address.startswith(self.here):
            address = "#" + address.partition("#")[2]
        self.in_link += 1
        self.links += 1
        pieces, page = self.pieces, self.page
        pieces.append((LINKED, address))
        self.anchor = address, len(page.texts), len(pieces)
        if address[:1] == "#":
            page.jumps.add(len(page.texts))

    def end_link(self) -> None:
        """The link ends; one that is no more than a sign for the place where it stands was none."""
        address, block, start = self.anchor
        page = self.page
        if "#" in address and block == len(page.texts) and self._is_permalink(start):
            self._take_back(start)
        if address and address[0] != "#" and len(page.links) < LINKS:
            words = _words(self.pieces, start) if block == len(page.texts) else page.texts[block]
            page.links.append((address, block, words))
            if words and block not in page.named:
                page.named[block] = " ".join(words[:200].split())
        self.in_link -= 1
        self.seam |= SHUT
        self.pieces.append(END)

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
        words = pieces[0]
        if len(pieces) > 1 or words.__class__ is not str:
            words = "".join([piece if isinstance(piece, str) else SOUNDS[piece[0]] for piece in pieces])
        text = single_spaced(words)
        page.texts.append(text)
        page.pieces.append(pieces)
        page.rows.append(
            (self.current, self.linked, self.links, self.images, self.breaks, self.marked, self.in_link, self.inner)
        )
        self.length += len(text)
        self.links = self.images = self.marked = self.inner = 0
        self.filled = False
        if self.length > TEXT_LIMIT or len(page.texts) > BLOCKS:
            self.left = -1


def _said(pieces: list[Piece]) -> str:
    """The words right before the end of what holds them; empty if it held no more than a picture."""
    return last if len(pieces) > 1 and isinstance(last := pieces[-2], str) else ""


def _words(pieces: list[Piece], start: int) -> str:
    """The words of pieces from one on, most often the only one."""
    if len(pieces) == start + 1 and isinstance(last := pieces[start], str):
        return last
    return "".join([each for each in pieces[start:] if isinstance(each, str)])


def single_spaced(text: str) -> str:
    """A text with single spaces, and none around it; most texts are so already, or nearly."""
    text = text.strip()
    # No white space but the space is printable.
    return text if text.isprintable() and "  " not in text else " ".join(text.split())


def _is_glued(last: str, text: str) -> bool:
    """Whether words of two elements touch that a style sheet sets apart: a small letter or a digit, then a capital."""
    if min(len(last), len(text)) < SOLID or not text[0].isupper():
        return False
    return last[-1].islower() or last[-1].isdigit()
