"""A page cut into blocks: one walk over the parser's tree.

Cells of a row stay in one block as long as they hold words only, since tables of data are kept or
dropped by rows; two line breaks in a row end a block, since old pages know no other paragraphs.
"""

import re
from collections.abc import Callable
from typing import Any

from outrider.pages.content.blocks import (
    BREAK,
    CLOSE,
    IMAGE,
    LINE,
    LINKED,
    NEXT_CELL,
    NUMBER,
    OPEN,
    TAGS,
    Blocks,
    Formula,
    Given,
    Piece,
)  # fmt: skip
from outrider.pages.content.formula import of_math, of_picture, of_script
from outrider.pages.content.hiding import hides
from outrider.pages.content.words import bits, role

CUSTOM = NUMBER["custom"]
TOLD = frozenset({"td", "th", "ol", "pre", "li"})  # elements of which the renderer asks attributes
FURNITURE = frozenset({"mw-editsection", "headerlink", "MathJax", "MathJax_Preview", "MathJax_Display"})
DROPPED = (
    "style", "template", "svg", "object", "applet", "audio", "video", "canvas", "map", "datalist", "select", "option",
    "textarea", "iframe", "noembed", "noframes", "embed", "head", "title", "rp", "frame", "frameset", "optgroup",
)  # fmt: skip
MARKED = ("b", "strong", "i", "em", "code", "kbd", "samp", "tt", "del", "s", "strike", "sup", "sub")
IGNORED = ("wbr", "input", "source", "col", "link", "meta", "area", "track", "-comment", "-doctype")
# Elements that are lines of a listing to a style sheet alone.
LINES = re.compile(r"(?:^|\s)(?:line|code-line|token-line|view-line|highlight-line|gatsby-highlight-code-line)(?:\s|$)")
PERMALINKS = frozenset({"#", "\u00b6", "\u00a7", "\U0001f517", "\u221e", "\uf0c1", "\u2693"})
LEVELS = frozenset("123456")
NEVER_HIDDEN = frozenset({"html", "body", "main", "article"})  # hidden as a whole, they wait for their scripts
NOSCRIPT_TEXT = 400  # characters from which a noscript is the page itself, as in some forums, not a tracker
LONG_CELL = 160  # characters of a cell from which a row is layout
CURTAIN = 1_500  # characters that an element hides at least, if it is a curtain
RULED = 500  # characters that rules of style sheets hide at least, if they are not to be trusted
CURTAIN_SHARE = 0.3  # of all of the page's text
NODES = 200_000
BLOCKS = 15_000  # 1,497 pages have at most 11,000
BESIDE = 4  # pieces between a formula and the picture of it
WAITING = 3  # pictures that wait for the next block with words
LINKS = 20_000
TEXT_LIMIT = 2_000_000  # characters of all blocks together
PLAIN, MARK, LINK, BLOCK, CELL, PRE, DROP, LINE_OF_CODE = range(8)  # what an element on the stack does when it ends
Hides = Callable[[Given], bool]


def cut_into_blocks(body: Any, nodes: int = NODES, hides: Hides | None = None) -> Blocks:
    """The blocks of a page that are shown.

    Rules of style sheets that hide much of a page are what its scripts begin with: they are left unheeded.
    An element that hides the bulk of its page is a curtain that a script draws, not a trick: it is
    looked behind. Of 1,497 pages every fortieth is of that kind.
    """
    walk = Walk(nodes, hides)
    page = walk.run(body)
    if walk.ruled > max(RULED, (page.hidden + walk.length) * CURTAIN_SHARE):
        walk = Walk(nodes, None)
        page = walk.run(body)
        hides = None
    if page.hidden > CURTAIN and page.hidden > walk.length:
        least = max(CURTAIN, (page.hidden + walk.length) * CURTAIN_SHARE)
        shown = frozenset(node for node, chars in walk.hidden_from.items() if chars > least)
        if shown:
            page = Walk(nodes, hides, shown).run(body)
            page.curtain = True
    return page


class Walk:
    """One pass over a tree in document order; `ids` and `ends` are the stack of open elements."""

    __slots__ = (
        "actions", "anchor", "breaks", "by_rule", "current", "drop_height", "ends", "filled", "hidden_from",
        "hidden_here", "ids", "images", "in_link", "inner", "last_break", "length", "linked", "links", "listing",
        "marked", "nodes", "page", "pieces", "ruled", "ruled_here", "shown", "signatures",
    )  # fmt: skip

    def __init__(self, nodes: int, by_rule: Hides | None, shown: frozenset[int] = frozenset()) -> None:
        self.page = Blocks()
        self.nodes = nodes
        self.by_rule = by_rule
        self.shown = shown
        self.pieces: list[Piece] = []
        self.filled = self.last_break = self.hidden_here = False
        self.length = self.in_link = self.linked = self.links = self.images = self.breaks = self.marked = self.inner = 0
        self.drop_height = 0  # of the stack, from which everything is dropped; 0 for nothing
        self.hidden_from: dict[int, int] = {}
        self.ruled_here, self.ruled = False, 0  # by a rule of a style sheet; characters so hidden
        self.listing = 0
        self.anchor = ("", 0, 0)  # of the open link: address, block, piece
        self.current = -1
        self.ids: list[int] = []
        self.ends: list[int] = []
        self.signatures: dict[tuple[int, int, str], int] = {}
        self.actions: dict[str, Callable[[Any, str], None]] = {
            **dict.fromkeys(TAGS, self._block),
            **dict.fromkeys(("dir", "html", "search"), self._block),
            **dict.fromkeys(("td", "th"), self._cell),
            **dict.fromkeys(("pre", "xmp", "listing"), self._pre),
            **dict.fromkeys(MARKED, self._mark),
            **dict.fromkeys(DROPPED, self._drop),
            **dict.fromkeys(IGNORED, self._ignore),
            "a": self._link, "br": self._break, "img": self._image, "hr": self._rule, "math": self._math,
            "noscript": self._noscript, "script": self._script,
        }  # fmt: skip

    def run(self, body: Any) -> Blocks:
        """Walks from the body's node down."""
        self._element(body, "body", BLOCK, body.attributes)
        ids, actions, text, leave, other = self.ids, self.actions, self._text, self._leave, self._other
        top, left = body.mem_id, self.nodes
        walk = body.traverse(include_text=True)
        next(walk)
        for node in walk:
            above = node.parent.mem_id
            if above != top:
                leave(above)
            tag = node.tag
            if tag == "-text":
                words = node.text_content
                if self.filled or self.listing or not words.isspace():
                    text(words)
            elif self.drop_height:
                self._below_dropped(node, tag)
            else:
                actions.get(tag, other)(node, tag)
            top = ids[-1]
            left -= 1
            if left < 0 or self.length > TEXT_LIMIT or len(self.page.texts) > BLOCKS:
                self.page.cut = True
                break
        while ids:
            self._pop()
        self.actions = {}  # its methods point back here: without a cycle all goes at once
        return self.page

    def _text(self, text: str) -> None:
        """Takes in a text node."""
        if self.drop_height:
            if self.hidden_here:
                self.page.hidden += len(text.strip())
            return
        if not self.filled:
            if not text or text.isspace():
                if self.listing:
                    self.pieces.append(text)
                return
            self.filled = True
            self.last_break = False
        elif self.last_break and not text.isspace():
            self.last_break = False
        self.pieces.append(text)
        if self.in_link:
            self.linked += len(text)

    def _below_dropped(self, node: Any, tag: str | None) -> None:
        if tag and tag[0] != "-":
            self.ids.append(node.mem_id)
            self.ends.append(PLAIN)

    def _hides(self, node: Any, tag: str, given: Given) -> bool:
        """Whether an element is hidden; if so, its content is dropped from here on."""
        own = hides(given)
        if not own and not (self.by_rule and self.by_rule(given)):
            return False
        if tag in NEVER_HIDDEN or node.mem_id in self.shown or "math" in (given.get("class") or ""):
            return False
        self._drop(node, tag)
        self.hidden_here = True
        self.ruled_here = not own
        return True

    def _ignore(self, node: Any, _tag: str) -> None:
        if node.first_child is not None:  # as in MathML and SVG
            self.ids.append(node.mem_id)
            self.ends.append(PLAIN)

    def _drop(self, node: Any, _tag: str) -> None:
        self.ids.append(node.mem_id)
        self.ends.append(DROP)
        self.drop_height = len(self.ids)
        self.hidden_here = False
        self.hidden_from[node.mem_id] = self.page.hidden

    def _other(self, node: Any, tag: str | None) -> None:
        """An element without an action: of our own page's making, or inline without a meaning."""
        if tag is None:
            return
        if "-" in tag and tag[:4] != "mjx-":
            self._block(node, tag)
            return
        given, end = node.attributes, PLAIN
        if given:
            if self._hides(node, tag, given):
                return
            if names := given.get("class"):
                if names in FURNITURE:
                    self._drop(node, tag)
                    return
                self.inner |= bits(names)
                if self.listing and LINES.search(names):
                    self.pieces.append((LINE, None))
                    end = LINE_OF_CODE
            self._note(tag, given)
        self.ids.append(node.mem_id)
        self.ends.append(end)

    def _note(self, tag: str, given: Given) -> None:
        """Notes the place that an inline element names, and the time that it tells."""
        page = self.page
        if (name := given.get("id")) and len(page.anchors) < LINKS:
            page.anchors.setdefault(name, len(page.texts))
        if tag == "time" and (value := given.get("datetime")):
            page.times.setdefault(len(page.texts), value.strip()[:40])

    def _block(self, node: Any, tag: str) -> None:
        given = node.attributes
        if given and self._hides(node, tag, given):
            return
        if self.pieces:
            self._flush()
        if given.get("role") == "heading":
            tag = _heading(given)
        self._element(node, tag, BLOCK, given)

    def _cell(self, node: Any, tag: str) -> None:
        given = node.attributes
        if given and self._hides(node, tag, given):
            return
        if self.filled:
            self.pieces.append((NEXT_CELL, -1))
        self._element(node, tag, CELL, given)

    def _pre(self, node: Any, tag: str) -> None:
        given = node.attributes
        if given and self._hides(node, tag, given):
            return
        if self.pieces:
            self._flush()
        self._element(node, "pre", PRE, given)
        self.listing += 1

    def _mark(self, node: Any, tag: str) -> None:
        given = node.attributes
        if given:
            if self._hides(node, tag, given):
                return
            if tag == "code" and self.listing and given.get("class"):
                self.page.given.setdefault(self.current, given)
        self.pieces.append((OPEN, tag))
        self.marked += 1
        self.ids.append(node.mem_id)
        self.ends.append(MARK)

    def _link(self, node: Any, tag: str) -> None:
        given = node.attributes
        if given:
            if self._hides(node, tag, given):
                return
            if names := given.get("class"):
                if names in FURNITURE:
                    self._drop(node, tag)
                    return
                self.inner |= bits(names)
        self.in_link += 1
        self.links += 1
        address = given.get("href") or ""
        if (name := given.get("id") or given.get("name")) and len(self.page.anchors) < LINKS:
            self.page.anchors.setdefault(name, len(self.page.texts))
        self.pieces.append((LINKED, address))
        self.anchor = address, len(self.page.texts), len(self.pieces)
        self.ids.append(node.mem_id)
        self.ends.append(LINK)

    def _break(self, node: Any, tag: str) -> None:
        self._ignore(node, tag)
        if self.listing:
            self.pieces.append("\n")
            return
        self.pieces.append((BREAK, None))
        self.breaks += 1
        if self.last_break:
            self._flush()
        else:
            self.last_break = True

    def _image(self, node: Any, tag: str) -> None:
        given = node.attributes
        self._ignore(node, tag)
        if (names := given.get("class")) and (formula := of_picture(names, given.get("alt") or "")):
            if formula not in [piece for piece in self.pieces[-BESIDE:] if piece.__class__ is Formula]:
                self._text(Formula(formula))
            return
        self.images += 1
        self.pieces.append((IMAGE, given))
        self.page.images.append(given)

    def _rule(self, node: Any, tag: str) -> None:
        self._flush()
        self._ignore(node, tag)

    def _math(self, node: Any, tag: str) -> None:
        if formula := of_math(node):
            self._text(Formula(formula))
            self._drop(node, tag)
        else:
            self._other(node, tag)

    def _script(self, node: Any, tag: str) -> None:
        if formula := of_script(node):
            self._text(Formula(formula))
        self._drop(node, tag)

    def _noscript(self, node: Any, tag: str) -> None:
        if len(node.text(strip=True)) < NOSCRIPT_TEXT:
            self._drop(node, tag)
        else:
            self._block(node, tag)

    def _element(self, node: Any, tag: str, end: int, given: Given) -> None:
        """A block-level element begins."""
        page, up = self.page, self.current
        number = NUMBER.get(tag, CUSTOM)
        own, classes, names = TAG_BITS[number], "", ""
        me = len(page.names)
        if given:
            said, classes, names = self._named(given)
            own |= said
            if tag in TOLD:
                page.given[me] = given
        if up > 0:
            above = page.elements[up]
            inherited, signature = above[3] | own, above[4]
        elif up == 0:
            inherited, signature = own, 0
        else:
            inherited, signature = 0, -1
        signature = self.signatures.setdefault((signature, number, classes), len(self.signatures))
        page.elements.append((up, number, own, inherited, signature, len(page.texts)))
        page.last.append(0)
        page.names.append(names)
        self.current = me
        self.ids.append(node.mem_id)
        self.ends.append(end)

    def _named(self, given: Given) -> tuple[int, str, str]:
        """What an element's names say of it: category bits, its classes, its classes and id."""
        found, names = 0, ""
        if classes := given.get("class") or "":
            found, names = bits(classes), classes
        if name := given.get("id"):
            found |= bits(name)
            names = names + " " + name
            if len(self.page.anchors) < LINKS:
                self.page.anchors.setdefault(name, len(self.page.texts))
        if name := given.get("role"):
            found |= role(name)
        return found, classes, names

    def _leave(self, above: int) -> None:
        """Closes what is open below a node."""
        ids = self.ids
        while ids and ids[-1] != above:
            self._pop()

    def _pop(self) -> None:
        node, end = self.ids.pop(), self.ends.pop()
        if end == PLAIN:
            return
        if end == MARK:
            self.pieces.append((CLOSE, None))
        elif end == LINK:
            self._close_link()
        elif end == LINE_OF_CODE:
            self.pieces.append((LINE, None))
        elif end == DROP:
            self._shown_again(node)
        else:
            self._close(end)

    def _close_link(self) -> None:
        address, block, start = self.anchor
        page = self.page
        if "#" in address and block == len(page.texts) and self._is_permalink(start):
            self._drop_words(start)
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
        """Whether a link to a place is no more than a sign behind the words that it leads to."""
        words = [piece for piece in self.pieces[start : start + 5] if isinstance(piece, str)]
        return len(self.pieces) - start < 5 and "".join(words).strip() in PERMALINKS

    def _drop_words(self, start: int) -> None:
        """Takes back the words since a piece."""
        self.linked = max(0, self.linked - sum([len(piece) for piece in self.pieces[start:] if isinstance(piece, str)]))
        del self.pieces[start:]
        self.filled = any(isinstance(piece, str) and not piece.isspace() for piece in self.pieces)

    def _close(self, end: int) -> None:
        """A block-level element ends."""
        if end == CELL:
            self._close_cell()
        elif self.pieces:
            self._flush()
        page = self.page
        page.last[self.current] = len(page.texts)
        self.current = page.elements[self.current][0]
        if end == PRE:
            self.listing -= 1

    def _close_cell(self) -> None:
        if not self.filled:
            return
        if self.breaks > 1 or sum([len(piece) for piece in self.pieces if piece.__class__ is str]) > LONG_CELL:
            self._flush()
        else:
            self.pieces.append((NEXT_CELL, self.current))

    def _shown_again(self, node: int) -> None:
        """A dropped element ends; what it hid is known now."""
        if len(self.ids) < self.drop_height:
            self.drop_height = 0
            self.hidden_here = False
            chars = self.hidden_from[node] = self.page.hidden - self.hidden_from[node]
            self.ruled += chars * self.ruled_here
            self.ruled_here = False

    def _flush(self) -> None:
        """Ends the block at hand."""
        pieces = self.pieces
        if self.filled:
            page = self.page
            text = " ".join(
                "".join([piece if isinstance(piece, str) else SOUNDS[piece[0]] for piece in pieces]).split()
            )
            page.texts.append(text)
            page.pieces.append(pieces)
            page.rows.append(
                (self.current, self.linked, self.links, self.images, self.breaks, self.marked, self.in_link, self.inner)
            )
            self.length += len(text)
            self.links = self.images = self.marked = self.inner = 0
            self.filled = False
            self.pieces = []
        else:
            self.pieces = [piece for piece in pieces if piece[0] == IMAGE][-WAITING:] if self.images else []
            if self.in_link:
                self.pieces += [piece for piece in pieces if piece[0] == LINKED][-1:]
        self.breaks = self.linked = 0
        self.last_break = False


def _heading(given: Given) -> str:
    """The heading that an element with this role is; of the second level if none is said, as ARIA has it."""
    level = given.get("aria-level") or "2"
    return f"h{level}" if level in LEVELS else "h6" if level.isdigit() else "h2"


SOUNDS = ("", "", "", " ", " ", " ", " ")  # what a piece that is no text is in the words of a block
TAG_BITS = [0] * len(TAGS)
for _tag, _name in (
    ("nav", "nav"), ("header", "header"), ("footer", "footer"), ("aside", "side"), ("main", "main"),
    ("article", "article"), ("form", "form"), ("dialog", "popup"), ("button", "action"), ("figcaption", "caption"),
    ("pre", "code"), ("address", "place"),
):  # fmt: skip
    TAG_BITS[NUMBER[_tag]] = bits(_name)
