"""A page cut into blocks: one walk over the parser's tree.

Cells of a row stay in one block as long as they hold words only, since tables of data are kept or
dropped by rows; two line breaks in a row end a block, since old pages know no other paragraphs.
"""

import re
from collections.abc import Callable
from itertools import islice
from typing import Any

from outrider.pages.content.blocks import NEXT_CELL, NUMBER, TAGS, Blocks, Formula, Given
from outrider.pages.content.formula import of_math, of_script
from outrider.pages.content.hiding import CLUES, hides
from outrider.pages.content.passage import OPENED, SHUT, Passage
from outrider.pages.content.words import bits, role

CUSTOM = NUMBER["custom"]
TOLD = frozenset({"td", "th", "ol", "pre", "li"})  # elements of which the renderer asks attributes
FURNITURE = frozenset({"mw-editsection", "headerlink", "MathJax", "MathJax_Preview", "MathJax_Display"})
BEARING = frozenset({"mjx-container"})  # elements of the same names that hold the formula, as MathML for screen readers
DROPPED = (
    "style", "template", "svg", "object", "applet", "audio", "video", "canvas", "map", "datalist", "select", "option",
    "textarea", "iframe", "noembed", "noframes", "embed", "head", "title", "rp", "frame", "frameset", "optgroup",
)  # fmt: skip
MARKED = ("b", "strong", "i", "em", "code", "kbd", "samp", "tt", "del", "s", "strike", "sup", "sub")
IGNORED = ("wbr", "input", "source", "col", "link", "meta", "area", "track", "-comment", "-doctype")
# Elements that are lines of a listing to a style sheet alone.
LINES = re.compile(r"(?:^|\s)(?:line|code-line|token-line|view-line|highlight-line|gatsby-highlight-code-line)(?:\s|$)")
LEVELS = frozenset("123456")
NEVER_HIDDEN = frozenset({"html", "body", "main", "article"})  # hidden as a whole, they wait for their scripts
NOSCRIPT_TEXT = 400  # characters from which a noscript is the page itself, as in some forums, not a tracker
CURTAIN = 1_500  # characters that an element hides at least, if it is a curtain
RULED = 500  # characters that rules of style sheets hide at least, if they are not to be trusted
CURTAIN_SHARE = 0.3  # of all of the page's text
NODES = 200_000
PLAIN, BLOCK, MARK, LINK, CELL, PRE, DROP, LINE_OF_CODE = range(8)  # what an element on the stack does when it ends
Hides = Callable[[Given], bool]


def cut_into_blocks(body: Any, nodes: int = NODES, hides: Hides | None = None) -> Blocks:
    """The blocks of a page that are shown.

    Rules of style sheets that hide much of a page are what its scripts begin with: they are left unheeded.
    An element that hides the bulk of its page is a curtain that a script draws, not a trick: it is
    looked behind. Of 1,497 pages every fortieth is of that kind.
    """
    walk = Walk(hides)
    page = walk.run(body, nodes)
    if walk.ruled > max(RULED, (page.hidden + walk.length) * CURTAIN_SHARE):
        walk = Walk(None)
        page = walk.run(body, nodes)
        hides = None
    if page.hidden > CURTAIN and page.hidden > walk.length:
        least = max(CURTAIN, (page.hidden + walk.length) * CURTAIN_SHARE)
        shown = frozenset(node for node, chars in walk.hidden_from.items() if chars > least)
        if shown:
            page = Walk(hides, shown).run(body, nodes)
            page.curtain = True
    return page


class Walk(Passage):
    """One pass over a tree in document order; `ids` and `ends` are the stack of open elements."""

    __slots__ = (
        "actions", "by_rule", "drop_height", "ends", "hidden_from", "hidden_here", "ids", "ruled", "ruled_here",
        "shown", "signatures",
    )  # fmt: skip

    def __init__(self, by_rule: Hides | None, shown: frozenset[int] = frozenset()) -> None:
        super().__init__()
        self.by_rule = by_rule
        self.shown = shown
        self.hidden_here = False
        self.drop_height = 0  # of the stack, from which everything is dropped; 0 for nothing
        self.hidden_from: dict[int, int] = {}
        self.ruled_here, self.ruled = False, 0  # by a rule of a style sheet; characters so hidden
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

    def run(self, body: Any, nodes: int) -> Blocks:
        """Walks from the body's node down, over so many nodes."""
        self._element(body, "body", BLOCK, body.attributes)
        ids, actions, text, leave, other = self.ids, self.actions, self._text, self._leave, self._other
        top = body.mem_id
        walk = body.traverse(include_text=True)
        next(walk)
        for node in islice(walk, nodes):
            above = node.parent.mem_id
            if above != top:
                leave(above)
                top = above
            tag = node.tag
            if tag == "-text":
                if self.drop_height and not self.hidden_here:
                    continue
                words = node.text_content
                if self.filled or self.listing or not words.isspace():
                    text(words)
                continue
            if self.drop_height:
                self._below_dropped(node, tag)
            else:
                actions.get(tag, other)(node, tag)
            if self.full:
                break
            top = ids[-1]
        self.page.cut = self.full or next(walk, None) is not None
        leave(-1)
        self.actions = {}  # its methods point back here: without a cycle all goes at once
        return self.page

    def _text(self, text: str) -> None:
        """Takes in a text node."""
        if not self.drop_height:
            self.add(text)
        elif self.hidden_here:
            self.page.hidden += len(text.strip())

    def _below_dropped(self, node: Any, tag: str | None) -> None:
        if tag and tag[0] != "-":
            self.ids.append(node.mem_id)
            self.ends.append(PLAIN)

    def _hides(self, node: Any, tag: str, given: Given) -> bool:
        """Whether an element is hidden; if so, its content is dropped from here on."""
        own = not CLUES.isdisjoint(given) and hides(given)
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
                if names in FURNITURE and tag not in BEARING:
                    self._drop(node, tag)
                    return
                self.inner |= bits(names)
                if self.listing and LINES.search(names):
                    self.line_of_listing()
                    end = LINE_OF_CODE
            self._note(tag, given)
        self.seam |= OPENED
        self.ids.append(node.mem_id)
        self.ends.append(end)

    def _note(self, tag: str, given: Given) -> None:
        """Notes the place that an inline element names, and the time that it tells."""
        if name := given.get("id"):
            self.name_place(name)
        if tag == "time" and (value := given.get("datetime")):
            self.page.times.setdefault(len(self.page.texts), value.strip()[:40])

    def _block(self, node: Any, tag: str) -> None:
        given = node.attributes
        if given:
            if (self.by_rule or not CLUES.isdisjoint(given)) and self._hides(node, tag, given):
                return
            if "role" in given and given["role"] == "heading":
                tag = _heading(given)
        if self.pieces:
            self.flush()
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
            self.flush()
        self._element(node, "pre", PRE, given)
        self.listing += 1

    def _mark(self, node: Any, tag: str) -> None:
        given = node.attributes
        if given:
            if self._hides(node, tag, given):
                return
            if tag == "code" and self.listing and given.get("class"):
                self.page.given.setdefault(self.current, given)
        self.mark(tag)
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
            if name := given.get("id") or given.get("name"):
                self.name_place(name)
        self.link(given.get("href") or "")
        self.ids.append(node.mem_id)
        self.ends.append(LINK)

    def _break(self, node: Any, tag: str) -> None:
        self._ignore(node, tag)
        self.break_line()

    def _image(self, node: Any, tag: str) -> None:
        self._ignore(node, tag)
        self.show(node.attributes)

    def _rule(self, node: Any, tag: str) -> None:
        self.flush()
        self._ignore(node, tag)

    def _math(self, node: Any, tag: str) -> None:
        if formula := of_math(node):
            self.add(Formula(formula))
            self._drop(node, tag)
        else:
            self._other(node, tag)

    def _script(self, node: Any, tag: str) -> None:
        if formula := of_script(node):
            self.add(Formula(formula))
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
        self.current = me = len(page.names)
        if given:
            if "class" in given and (classes := given["class"] or ""):
                own |= bits(classes)
                names = classes
            if "id" in given and (name := given["id"]):
                own |= bits(name)
                names = names + " " + name
                self.name_place(name)
            if "role" in given and (name := given["role"]):
                own |= role(name)
            if "itemprop" in given and given["itemprop"] == "author":
                page.authors.add(me)
            if tag in TOLD:
                page.given[me] = given
        if up > 0:
            above = page.elements[up]
            inherited, signature = above[3] | own, above[4]
        else:  # the body's own say counts for nothing below it
            inherited, signature = (0, -1) if up else (own, 0)
        signature = self.signatures.setdefault((signature, number, classes), len(self.signatures))
        page.elements.append((up, number, own, inherited, signature, len(page.texts)))
        page.last.append(0)
        page.names.append(names)
        self.ids.append(node.mem_id)
        self.ends.append(end)

    def _leave(self, above: int) -> None:
        """Closes what is open below a node."""
        ids, ends, page = self.ids, self.ends, self.page
        while ids and ids[-1] != above:
            node, end = ids.pop(), ends.pop()
            if end == BLOCK:
                if self.pieces:
                    self.flush()
                me = self.current
                page.last[me] = len(page.texts)
                self.current = page.elements[me][0]
            elif end:
                self._end(node, end)
            else:
                self.seam |= SHUT

    def _end(self, node: int, end: int) -> None:
        """An element that is not only an inline or a block-level one ends."""
        if end == MARK:
            self.end_mark()
        elif end == LINK:
            self.end_link()
        elif end == LINE_OF_CODE:
            self.line_of_listing()
        elif end == DROP:
            self._shown_again(node)
        elif end == CELL:
            self._close_cell()
        else:
            self._close()
            self.listing -= 1

    def _close(self) -> None:
        """A block-level element ends."""
        if self.pieces:
            self.flush()
        page, me = self.page, self.current
        page.last[me] = len(page.texts)
        self.current = page.elements[me][0]

    def _close_cell(self) -> None:
        """A cell ends: its words wait for the rest of the row, unless they are long."""
        page, me = self.page, self.current
        if self.filled:
            if self.is_long():
                self.flush()
            else:
                self.pieces.append((NEXT_CELL, me))
        page.last[me] = len(page.texts)
        self.current = page.elements[me][0]

    def _shown_again(self, node: int) -> None:
        """A dropped element ends; what it hid is known now."""
        if len(self.ids) < self.drop_height:
            self.drop_height = 0
            self.hidden_here = False
            chars = self.hidden_from[node] = self.page.hidden - self.hidden_from[node]
            self.ruled += chars * self.ruled_here
            self.ruled_here = False


def _heading(given: Given) -> str:
    """The heading that an element with this role is; of the second level if none is said, as ARIA has it."""
    level = given.get("aria-level") or "2"
    return f"h{level}" if level in LEVELS else "h6" if level.isdigit() else "h2"


TAG_BITS = [0] * len(TAGS)
for _tag, _name in (
    ("nav", "nav"), ("header", "header"), ("footer", "footer"), ("aside", "side"), ("main", "main"),
    ("article", "article"), ("form", "form"), ("dialog", "popup"), ("button", "action"), ("figcaption", "caption"),
    ("pre", "code"), ("address", "place"),
):  # fmt: skip
    TAG_BITS[NUMBER[_tag]] = bits(_name)
