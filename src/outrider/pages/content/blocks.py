"""A page cut into blocks: one walk over the parser's tree, everything later stages need in flat lists.

A block is what stands between two borders of block-level elements: a paragraph, a heading, an item, a
row of a table, a listing. Cells of a row stay in one block as long as they hold words only, since
tables of data are kept or dropped by rows; two line breaks in a row end a block, since old pages know
no other paragraphs.
"""

from dataclasses import dataclass, field
from typing import Any

from outrider.pages.content.hiding import hides
from outrider.pages.content.words import bits, role

BLOCK, PLAIN, MARK, LINK, VOID, DROP, CELL, PRE, MATH, NOSCRIPT = range(10)
TAGS = (  # order is the model's: append only
    "p li h1 h2 h3 h4 h5 h6 td th tr pre blockquote div dt dd figcaption summary label button caption article section "
    "main nav header footer aside form ul ol dl table tbody thead tfoot figure details dialog fieldset body address "
    "center legend menu hgroup option textarea select optgroup custom"
).split()
NUMBER = {tag: number for number, tag in enumerate(TAGS)}
CUSTOM = NUMBER["custom"]
KINDS: dict[str, int] = {
    **dict.fromkeys(TAGS, BLOCK),
    **dict.fromkeys(("dir", "html", "frameset", "search", "rt-block", "noframes"), BLOCK),
    **dict.fromkeys(("td", "th"), CELL),
    **dict.fromkeys(("b", "strong", "i", "em", "code", "kbd", "samp", "tt", "del", "s", "strike", "sup", "sub"), MARK),
    **dict.fromkeys(("br", "hr", "img", "wbr", "input", "source", "col", "link", "meta", "area", "track"), VOID),
    **dict.fromkeys(
        [
            "script",
            "style",
            "template",
            "svg",
            "object",
            "applet",
            "audio",
            "video",
            "canvas",
            "map",
            "datalist",
            "select",
            "option",
            "textarea",
            "iframe",
            "noembed",
            "noframes",
            "embed",
            "head",
            "title",
            "rp",
            "frame",
            "frameset",
        ],
        DROP,
    ),
    "a": LINK,
    "pre": PRE,
    "xmp": PRE,
    "listing": PRE,
    "math": MATH,
    "noscript": NOSCRIPT,
}
NEVER_HIDDEN = frozenset({"html", "body", "main", "article"})  # hidden as a whole, they wait for their scripts
NOSCRIPT_TEXT = 400  # characters from which a noscript is the page itself, as in some forums, not a tracker
LONG_CELL = 160  # characters of a cell from which a row is layout
CURTAIN = 1_500  # characters that an element hides at least, if it is a curtain
CURTAIN_SHARE = 0.3  # of all of the page's text
NODES = 400_000
TEXT_LIMIT = 2_000_000  # characters of all blocks together

# What a piece of a block is, when it is no text: (kind, value).
OPEN, CLOSE, BREAK, IMAGE, NEXT_CELL, FORMULA = range(6)
Piece = str | tuple[int, Any]


@dataclass(slots=True)
class Blocks:
    """What the walk found; every list of `elements` has one entry per block-level element, of `blocks` one per block.

    Attributes:
        texts: Words of each block with single spaces, or with exact white space where `listing` is set.
        pieces: The same with marks for the renderer.
        owner: Number of the element whose child the block is.
        linked: Characters inside of links.
        links, images, breaks, inner: How many, and the class words of inline elements inside.
        parent, tag, own, all, signature, first, last: Of the elements; `first` to `last` are block numbers.
    """

    texts: list[str] = field(default_factory=list)
    pieces: list[list[Piece]] = field(default_factory=list)
    owner: list[int] = field(default_factory=list)
    linked: list[int] = field(default_factory=list)
    links: list[int] = field(default_factory=list)
    images: list[int] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)
    marked: list[int] = field(default_factory=list)
    inner: list[int] = field(default_factory=list)
    anchored: list[int] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    tag: list[int] = field(default_factory=list)
    own: list[int] = field(default_factory=list)
    all: list[int] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)
    signature: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    hidden: int = 0
    cut: bool = False
    curtain: bool = False


def cut_into_blocks(body: Any) -> Blocks:
    """The blocks of a page that are shown.

    An element that hides the bulk of its page is a curtain that a script draws, not a trick: it is
    looked behind. Of 1,497 pages every fortieth is of that kind.
    """
    walk = Walk()
    page = walk.run(body)
    if page.hidden > CURTAIN and page.hidden > walk.length:
        least = max(CURTAIN, (page.hidden + walk.length) * CURTAIN_SHARE)
        shown = frozenset(mem for mem, chars in walk.hidden_from.items() if chars > least)
        if shown:
            page = Walk(shown).run(body)
            page.curtain = True
    return page


class Walk:
    """One pass over a tree in document order."""

    def __init__(self, shown: frozenset[int] = frozenset()) -> None:
        self.page = Blocks()
        self.shown = shown
        self.pieces: list[Piece] = []
        self.filled = False
        self.length = 0
        self.in_link = self.linked = self.links = self.images = self.breaks = self.marked = self.inner = 0
        self.last_break = False
        self.dropped = 0  # stack height from which everything is dropped; 0 for nothing
        self.hidden_here = False
        self.hidden_from: dict[int, int] = {}
        self.listing = 0
        self.current = -1
        self.ids: list[int] = []
        self.ends: list[int] = []
        self.signatures: dict[tuple[int, int, str], int] = {}

    def run(self, body: Any) -> Blocks:
        """Walks from the body's node down."""
        self._element(body, "body", 0)
        top = body.mem_id
        left = NODES
        ids, text, enter = self.ids, self._text, self._enter
        walk = body.traverse(include_text=True)
        next(walk)
        for node in walk:
            above = node.parent.mem_id
            if above != top:
                self._leave(above)
                top = above
            tag = node.tag
            if tag == "-text":
                if not self.dropped:
                    text(node.text_content)
                elif self.hidden_here:
                    self.page.hidden += len(node.text_content.strip())  # what is hidden is counted
            elif enter(node, tag):
                top = ids[-1]
            left -= 1
            if left < 0 or self.length > TEXT_LIMIT:
                self.page.cut = True
                break
        while self.ids:
            self._pop()
        return self.page

    def _text(self, text: str) -> None:
        """Takes in a text node."""
        if self.filled:
            self.pieces.append(text)
            if self.in_link:
                self.linked += len(text)
            if self.last_break and not text.isspace():
                self.last_break = False
        elif not text.isspace() and text:
            self.filled = True
            self.last_break = False
            self.pieces.append(text)
            if self.in_link:
                self.linked += len(text)
        elif self.listing:
            self.pieces.append(text)

    def _enter(self, node: Any, tag: str | None) -> bool:
        """An element begins; whether it was put on the stack."""
        kind = KINDS.get(tag or "-", -1)
        if self.dropped:
            if kind != VOID and tag and tag[0] != "-":
                self.ids.append(node.mem_id)
                self.ends.append(PLAIN)
                return True
            return False
        if kind == -1:
            if tag is None or tag[0] == "-":
                return False
            kind = BLOCK if "-" in tag else PLAIN
        if kind == VOID:
            self._void(node, tag)
            return False
        given = node.attributes
        if kind == DROP or (given and hides(given) and tag not in NEVER_HIDDEN and node.mem_id not in self.shown):
            return self._drop(node, hidden=kind != DROP)
        if kind == PLAIN:
            return self._plain(node, given)
        return self._act(node, tag or "", kind, given)

    def _drop(self, node: Any, *, hidden: bool) -> bool:
        self.ids.append(node.mem_id)
        self.ends.append(DROP)
        self.dropped = len(self.ids)
        self.hidden_here = hidden
        self.hidden_from[node.mem_id] = self.page.hidden
        return True

    def _plain(self, node: Any, given: dict[str, str | None]) -> bool:
        if given and self.filled is not None:
            names = given.get("class")
            if names:
                self.inner |= bits(names)
        self.ids.append(node.mem_id)
        self.ends.append(PLAIN)
        return True

    def _act(self, node: Any, tag: str, kind: int, given: dict[str, str | None]) -> bool:
        if kind == NOSCRIPT and len(node.text(strip=True)) < NOSCRIPT_TEXT:
            return self._drop(node, hidden=False)
        if kind == LINK:
            self._link(given)
        elif kind == MARK:
            self.pieces.append((OPEN, tag))
            self.marked += 1
        elif kind == MATH:
            self.pieces.append((FORMULA, node))
            self.filled = True
            kind = PLAIN
        else:
            self._border(kind)
            self._element(node, tag, kind, given)
            if kind == PRE:
                self.listing += 1
            return True
        self.ids.append(node.mem_id)
        self.ends.append(kind)
        return True

    def _link(self, given: dict[str, str | None]) -> None:
        self.in_link += 1
        self.links += 1
        names = given.get("class")
        if names:
            self.inner |= bits(names)
        self.pieces.append((OPEN, given.get("href") or ""))

    def _void(self, node: Any, tag: str | None) -> None:
        if tag == "br":
            self.pieces.append((BREAK, None) if not self.listing else "\n")
            self.breaks += 1
            if self.last_break and not self.listing:
                self._flush()
            else:
                self.last_break = True
        elif tag == "img":
            self.images += 1
            self.pieces.append((IMAGE, node))
        elif tag == "hr":
            self._flush()

    def _element(self, node: Any, tag: str, kind: int, given: dict[str, str | None] | None = None) -> None:
        page, up = self.page, self.current
        number = NUMBER.get(tag, CUSTOM)
        own, names = 0, ""
        if given:
            names = given.get("class") or ""
            own = bits(names) if names else 0
            if name := given.get("id"):
                own |= bits(name)
                names = names + " " + name
            if name := given.get("role"):
                own |= role(name)
        own |= TAG_BITS[number]
        me = len(page.parent)
        page.parent.append(up)
        page.tag.append(number)
        page.own.append(own)
        if up >= 0:
            page.all.append(page.all[up] | own if up else own)
            page.depth.append(page.depth[up] + 1)
            key = (page.signature[up], number, given.get("class") or "" if given else "")
        else:
            page.all.append(0)
            page.depth.append(0)
            key = (-1, number, names)
        page.signature.append(self.signatures.setdefault(key, len(self.signatures)))
        page.names.append(names)
        page.first.append(len(page.texts))
        page.last.append(0)
        self.current = me
        self.ids.append(node.mem_id)
        self.ends.append(kind)

    def _border(self, kind: int) -> None:
        """A block-level element begins or ends."""
        if kind != CELL:
            if self.pieces:
                self._flush()
        elif self.filled:
            self.pieces.append((NEXT_CELL, self.current))

    def _leave(self, above: int) -> None:
        """Closes what is open below a node."""
        ids = self.ids
        while ids and ids[-1] != above:
            self._pop()

    def _pop(self) -> None:
        mem = self.ids.pop()
        kind = self.ends.pop()
        if kind == PLAIN:
            return
        if kind == DROP:
            self._shown_again(mem)
        elif kind == MARK:
            self.pieces.append((CLOSE, None))
        elif kind == LINK:
            self.in_link -= 1
            self.pieces.append((CLOSE, None))
        else:
            self._close(kind)

    def _shown_again(self, mem: int) -> None:
        if len(self.ids) < self.dropped:
            self.dropped = 0
            self.hidden_here = False
            self.hidden_from[mem] = self.page.hidden - self.hidden_from[mem]

    def _close(self, kind: int) -> None:
        if kind == CELL:
            if self.filled and (self.breaks > 1 or sum(map(len, filter(_is_text, self.pieces))) > LONG_CELL):
                self._flush()
            elif self.filled:
                self.pieces.append((NEXT_CELL, self.current))
        elif self.pieces:
            self._flush()
        page = self.page
        page.last[self.current] = len(page.texts)
        self.current = page.parent[self.current]
        if kind == PRE:
            self.listing -= 1

    def _flush(self) -> None:
        """Ends the block at hand."""
        if self.filled:
            page, pieces = self.page, self.pieces
            text = " ".join(
                "".join(
                    [
                        piece if piece.__class__ is str else " " if piece[0] != OPEN and piece[0] != CLOSE else ""
                        for piece in pieces
                    ]
                ).split()
            )
            page.texts.append(text)
            page.pieces.append(pieces)
            page.owner.append(self.current)
            page.linked.append(self.linked)
            page.links.append(self.links)
            page.images.append(self.images)
            page.breaks.append(self.breaks)
            page.marked.append(self.marked)
            page.inner.append(self.inner)
            page.anchored.append(self.in_link)
            self.length += len(text)
            self.linked = self.links = self.images = self.breaks = self.marked = self.inner = 0
            self.filled = False
        else:
            self.breaks = self.linked = 0
        self.last_break = False
        self.pieces = []


def _is_text(piece: Piece) -> bool:
    return piece.__class__ is str


TAG_BITS = [0] * len(TAGS)
for _tag, _name in (
    ("nav", "nav"), ("header", "header"), ("footer", "footer"), ("aside", "side"), ("main", "main"),
    ("article", "article"), ("form", "form"), ("dialog", "popup"), ("button", "action"), ("figcaption", "caption"),
    ("pre", "code"), ("address", "place"),
):  # fmt: skip
    TAG_BITS[NUMBER[_tag]] = bits(_name)
