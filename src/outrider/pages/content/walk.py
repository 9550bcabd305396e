"""A page cut into blocks: one walk over the parser's tree.

Cells of a row stay in one block as long as they hold words only, since tables of data are kept or
dropped by rows; two line breaks in a row end a block, since old pages know no other paragraphs.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, ClassVar

from outrider.pages.content.blocks import NEXT_CELL, NUMBER, OPEN, TAGS, Blocks, Formula, Given
from outrider.pages.content.formula import of_math, of_script
from outrider.pages.content.hiding import CLUES, hides
from outrider.pages.content.listing import is_listing, is_tool
from outrider.pages.content.passage import OPENED, SHUT, Passage
from outrider.pages.content.words import bits, role

CUSTOM = NUMBER["custom"]
TOLD = frozenset({"td", "th", "ol", "pre", "li"})  # elements of which the renderer asks attributes
FURNITURE = frozenset(
    {"mw-editsection", "mw-cite-backlink", "headerlink", "MathJax", "MathJax_Preview", "MathJax_Display"}
)
PHRASES = frozenset("p span a em strong b i small label time h1 h2 h3 h4 h5 h6".split())  # noqa: SIM905 - no blocks
TIMES = frozenset({"time", "relative-time", "time-ago"})
CENTURIES, STAMP = ("19", "20"), re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")  # a time, as title of another one
BEARING = frozenset({"mjx-container"})  # elements of the same names that hold the formula, as MathML for screen readers
DROPPED = (
    "style", "template", "svg", "object", "applet", "audio", "video", "canvas", "map", "datalist", "select", "option",
    "textarea", "iframe", "noembed", "noframes", "embed", "head", "title", "rp", "frame", "frameset", "optgroup",
)  # fmt: skip
MARKED = ("b", "strong", "i", "em", "code", "kbd", "samp", "tt", "del", "s", "strike", "sup", "sub")
IGNORED = ("wbr", "source", "col", "link", "meta", "area", "track", "-comment", "-doctype")
# Elements that are lines of a listing to a style sheet alone.
LINES = re.compile(r"(?:^|\s)(?:line|code-line|token-line|view-line|highlight-line|gatsby-highlight-code-line)(?:\s|$)")
LEVELS = frozenset("123456")
NEVER_HIDDEN = frozenset({"html", "body", "main", "article"})  # hidden as a whole, they wait for their scripts
NOSCRIPT_TEXT = 400  # characters from which a noscript is the page itself, as in some forums, not a tracker
CURTAIN = 1_500  # characters that an element hides at least, if it is a curtain
CURTAINS = (1, 4, 4)  # times the text that is shown, which is hidden at least before another curtain is drawn
RULED = 500  # characters that rules of style sheets hide at least, if they are not to be trusted
CURTAIN_SHARE = 0.3  # of all of the page's text
NODES = 200_000
OWN_NUMBERS = 1_000  # from which on the parser's numbers of names are those of the page's own names; it knows 200
# What an element does when it ends; of the last three nothing, and of the last two what they hold is passed over.
PLAIN, BLOCK, MARK, LINK, CELL, PRE, LINE_OF_CODE, NOTHING, DROP, HIDDEN = range(10)
INLINE = ("span", "u", "small", "font", "big", "abbr", "time", "ins", "mark", "dfn", "var", "bdi", "bdo")
Hides = Callable[[Given], bool]
Action = Callable[["Walk", Any, str], int]


def cut_into_blocks(body: Any, nodes: int = NODES, hides: Hides | None = None, url: str = "") -> Blocks:
    """The blocks of a page that are shown.

    Rules of style sheets that hide much of a page are what its scripts begin with: they are left unheeded.
    An element that hides the bulk of its page is a curtain that a script draws, not a trick: it is
    looked behind, and behind a second one where nearly all is still hidden. Of 1,497 pages every fortieth is of that
    kind.
    """
    here = _here(url)
    walk = Walk(hides, here)
    page = walk.run(body, nodes)
    if walk.ruled > max(RULED, (page.hidden + walk.length) * CURTAIN_SHARE):
        walk = Walk(None, here)
        page = walk.run(body, nodes)
        hides = None
    shown: frozenset[int] = frozenset()
    for times in CURTAINS:
        if page.hidden <= max(CURTAIN, walk.length * times) or not (behind := _curtains(walk, page.hidden) - shown):
            break
        shown |= behind
        walk = Walk(hides, here, shown)
        page = walk.run(body, nodes)
        page.curtain = True
    return page


def _here(url: str) -> tuple[str, ...]:
    """What addresses of places in a page begin with."""
    page = url.partition("#")[0]
    root = page.find("/", page.find("//") + 2)
    return (f"{page}#", f"{page[root:]}#") if root > 0 else ()


def _curtains(walk: "Walk", hidden: int) -> frozenset[int]:
    """The elements that hide the bulk of a page of which so many characters are hidden."""
    least = max(CURTAIN, (hidden + walk.length) * CURTAIN_SHARE)
    return frozenset(node for node, chars in walk.hidden_from.items() if chars > least)


class Walk(Passage):
    """One pass over a tree in document order."""

    __slots__ = ("above", "by_rule", "hidden_from", "left", "ruled", "ruled_here", "shown", "signatures")

    def __init__(self, by_rule: Hides | None, here: tuple[str, ...] = (), shown: frozenset[int] = frozenset()) -> None:
        super().__init__()
        self.here = here
        self.by_rule = by_rule
        self.shown = shown
        self.above: list[tuple[Any, int]] = []  # the open elements, and what they do when they end
        self.left = 0
        self.hidden_from: dict[int, int] = {}
        self.ruled_here, self.ruled = False, 0  # by a rule of a style sheet; characters so hidden
        self.signatures: dict[tuple[int, int, str], int] = {}

    def run(self, body: Any, nodes: int) -> Blocks:
        """Walks from the body's node down, over so many nodes."""
        self._element("body", body.attributes)
        self.left = nodes
        above, enter, known, text = self.above, self._enter, _known(), _text_id()
        node = body.first_child
        while node is not None or above:
            if node is None:
                node, end = above.pop()
                self._leave(end)
                node = node.next
            elif (kind := node.tag_id) == text:
                words = node.text_content
                if self.filled or self.listing or not words.isspace():
                    self.add(words)
                node = node.next
            else:
                node = enter(node, known.get(kind) or _unknown(node))
        self._close()
        return self.page

    def _enter(self, node: Any, named: tuple[Action, str]) -> Any:
        """Takes in an element; what comes next: the first node in it, the next one beside it, or None."""
        action, tag = named
        end = action(self, node, tag)
        self.left -= 2  # it and the text before it
        if self.full or self.left < 0:
            return self._stop(end)
        if end < NOTHING:
            inner = node.first_child
            if inner is not None:
                self.above.append((node, end))
                return inner
            self._leave(end)
        elif end > NOTHING:
            self._pass_over(node, end)
        return node.next

    def _stop(self, end: int) -> None:
        """Ends all that is open: the page holds more than is looked at."""
        self.page.cut = True
        for _, each in reversed([*self.above, (None, end)]):
            self._leave(each)
        self.above.clear()

    def _pass_over(self, node: Any, end: int) -> None:
        """Leaves out what an element holds; counts the characters of what is hidden."""
        if _holds_elements(node):
            self.seam |= SHUT
        if end == DROP:
            return
        inside = [each.text_content for each in node.traverse(include_text=True, skip_empty=True)]
        chars = self.hidden_from[node.mem_id] = sum([len(text.strip()) for text in inside if text])
        self.page.hidden += chars
        self.ruled += chars * self.ruled_here
        self.left -= len(inside)

    def _hides(self, node: Any, tag: str, given: Given) -> bool:
        """Whether an element is hidden."""
        own = not CLUES.isdisjoint(given) and hides(given)
        if not own and not (self.by_rule and self.by_rule(given)):
            return False
        if tag in NEVER_HIDDEN or node.mem_id in self.shown or "math" in (given.get("class") or ""):
            return False
        self.ruled_here = not own
        return True

    def _ignore(self, node: Any, _tag: str) -> int:
        return NOTHING if node.first_child is None else PLAIN  # as in MathML and SVG

    def _drop(self, _node: Any, _tag: str) -> int:
        return DROP

    def _named(self, node: Any, tag: str) -> int:
        """An element of the page's own making, or inline without a meaning."""
        if "-" not in tag or tag[:4] == "mjx-" or (node.parent is not None and node.parent.tag in PHRASES):
            return self._inline(node, tag)
        return DROP if self.listing and is_tool(tag, node.attributes) else self._block(node, tag)

    def _inline(self, node: Any, tag: str) -> int:
        """An inline element without a meaning."""
        given, end = node.attributes, PLAIN
        if given:
            if self._hides(node, tag, given):
                return HIDDEN
            if self.listing and is_tool(tag, given):
                return DROP
            if names := given.get("class"):
                if names in FURNITURE and tag not in BEARING:
                    return DROP
                self.inner |= bits(names)
                if self.listing and LINES.search(names):
                    self.line_of_listing()
                    end = LINE_OF_CODE
            self._note(tag, given)
        self.seam |= OPENED
        return end

    def _note(self, tag: str, given: Given) -> None:
        """Notes the place that an inline element names, and the time that it tells."""
        if name := given.get("id"):
            self.name_place(name)
        if tag in TIMES and (value := given.get("datetime")):
            self.page.times.setdefault(len(self.page.texts), value.strip()[:40])
        elif (value := given.get("title")) and value[:2] in CENTURIES and STAMP.match(value):
            self.page.times.setdefault(len(self.page.texts), value[:19])

    def _block(self, node: Any, tag: str) -> int:
        given = node.attributes
        if given:
            if (self.by_rule or not CLUES.isdisjoint(given)) and self._hides(node, tag, given):
                return HIDDEN
            if "role" in given and given["role"] == "heading":
                tag = _heading(given)
            elif (names := given.get("class")) and is_listing(names):
                return self._pre(node, tag)
        if self.listing and is_tool(tag, given):
            return DROP
        if self.pieces:
            self.flush()
        self._element(tag, given)
        return BLOCK

    def _dialog(self, node: Any, tag: str) -> int:
        """A dialog, which is not shown before a script opens it."""
        if "open" in node.attributes or node.mem_id in self.shown:
            return self._block(node, tag)
        self.ruled_here = False
        return HIDDEN

    def _cell(self, node: Any, tag: str) -> int:
        given = node.attributes
        if given and self._hides(node, tag, given):
            return HIDDEN
        if self.filled:
            self.pieces.append((NEXT_CELL, -1))
        self._element(tag, given)
        return CELL

    def _pre(self, node: Any, tag: str) -> int:
        given = node.attributes
        if given and self._hides(node, tag, given):
            return HIDDEN
        if self.pieces:
            self.flush()
        self._element("pre", given)
        self.listing += 1
        return PRE

    def _mark(self, node: Any, tag: str) -> int:
        given = node.attributes
        if given:
            if self._hides(node, tag, given):
                return HIDDEN
            if tag == "code" and self.listing and given.get("class"):
                self.page.given.setdefault(self.current, given)
        self.mark(tag)
        return MARK

    def _quote(self, node: Any, _tag: str) -> int:
        given = node.attributes
        if given and self._hides(node, "q", given):
            return HIDDEN
        self.pieces.append((OPEN, "q"))
        return MARK

    def _cite(self, node: Any, tag: str) -> int:
        """Who is quoted: in a line of its own, if it begins the quote."""
        up = node.parent
        quoted = up is not None and "blockquote" in (up.tag, up.parent.tag if up.parent is not None else "")
        return self._block(node, "div") if quoted and not self.filled else self._inline(node, tag)

    def _reading(self, node: Any, _tag: str) -> int:
        """How the sign before is read, which stands above it."""
        if words := node.text().strip():
            self.add(f"({words})")
        return DROP

    def _input(self, node: Any, tag: str) -> int:
        given = node.attributes
        if (given.get("type") or "") == "checkbox" and not self.filled:
            self.tick(given)
        return self._ignore(node, tag)

    def _link(self, node: Any, tag: str) -> int:
        given = node.attributes
        if given:
            if self._hides(node, tag, given):
                return HIDDEN
            if names := given.get("class"):
                if names in FURNITURE or (self.listing and is_tool(tag, given)):
                    return DROP
                self.inner |= bits(names)
            if name := given.get("id") or given.get("name"):
                self.name_place(name)
        self.link(given.get("href") or "")
        return LINK

    def _break(self, node: Any, tag: str) -> int:
        self.break_line()
        return self._ignore(node, tag)

    def _image(self, node: Any, tag: str) -> int:
        self.show(node.attributes)
        return self._ignore(node, tag)

    def _rule(self, node: Any, tag: str) -> int:
        self.flush()
        return self._ignore(node, tag)

    def _math(self, node: Any, tag: str) -> int:
        if formula := of_math(node):
            self.add(Formula(formula))
            return DROP
        return self._inline(node, tag)

    def _script(self, node: Any, _tag: str) -> int:
        if formula := of_script(node):
            self.add(Formula(formula))
        return DROP

    def _noscript(self, node: Any, tag: str) -> int:
        return DROP if len(node.text(strip=True)) < NOSCRIPT_TEXT else self._block(node, tag)

    def _element(self, tag: str, given: Given) -> None:
        """A block-level element begins."""
        page, up = self.page, self.current
        number = NUMBER.get(tag, CUSTOM)
        own, classes, names = TAG_BITS[number], "", ""
        elements = page.elements
        self.current = me = len(elements)
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
            if tag in TOLD:
                page.given[me] = given
            self._sign(me, number, given)
        if up > 0:
            _, _, _, inherited, signature, _ = elements[up]
            inherited |= own
        else:  # the body's own say counts for nothing below it
            inherited, signature = (0, -1) if up else (own, 0)
        signature = self.signatures.setdefault((signature, number, classes), len(self.signatures))
        elements.append((up, number, own, inherited, signature, len(page.texts)))
        page.last.append(0)
        page.names.append(names)

    def _sign(self, me: int, number: int, given: Given) -> None:
        """Notes what an element says about who wrote what it holds."""
        if "itemprop" in given and given["itemprop"] == "author":
            self.page.authors.add(me)
        if name := given.get("data-author") or (number == CUSTOM and given.get("author")):
            self.page.signed[me] = name

    def _leave(self, end: int) -> None:
        """An element ends."""
        if end == BLOCK:
            self._close()
        elif end == PLAIN:
            self.seam |= SHUT
        elif end == LINK:
            self.end_link()
        elif end == MARK:
            self.end_mark()
        elif end == CELL:
            self._close_cell()
        elif end == LINE_OF_CODE:
            self.line_of_listing()
        elif end == PRE:
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

    ACTIONS: ClassVar[dict[str, Action]] = {
        **dict.fromkeys(TAGS, _block),
        **dict.fromkeys(("dir", "html", "search"), _block),
        **dict.fromkeys(("td", "th"), _cell),
        **dict.fromkeys(("pre", "xmp", "listing"), _pre),
        **dict.fromkeys(MARKED, _mark),
        **dict.fromkeys(DROPPED, _drop),
        **dict.fromkeys(IGNORED, _ignore),
        **dict.fromkeys(INLINE, _inline),
        "a": _link, "br": _break, "img": _image, "hr": _rule, "math": _math, "noscript": _noscript, "script": _script,
        "q": _quote, "cite": _cite, "rt": _reading, "input": _input, "dialog": _dialog,
        "": _named,
    }  # fmt: skip


def _unknown(node: Any) -> tuple[Action, str]:
    """What to do with an element whose number tells nothing: it is of the page's own making, or a rare one."""
    tag = node.tag or "-comment"
    return Walk.ACTIONS.get(tag) or Walk.ACTIONS[""], tag


@lru_cache(maxsize=1)
def _known() -> dict[int, tuple[Action, str]]:
    """What to do with elements, by the parser's numbers of their names: those cost less to ask for than names.

    Only names that the parser knows have numbers that are the same in every tree.
    """
    from selectolax.lexbor import LexborHTMLParser

    tree: Any = LexborHTMLParser("<!---->")
    numbers = {tag: tree.create_node(tag).tag_id for tag in Walk.ACTIONS if tag and tag[0] != "-"}
    numbers["-comment"] = tree.root.prev.tag_id
    return {number: (Walk.ACTIONS[tag], tag) for tag, number in numbers.items() if number < OWN_NUMBERS}


@lru_cache(maxsize=1)
def _text_id() -> int:
    """The parser's number of text."""
    from selectolax.lexbor import LexborHTMLParser

    tree: Any = LexborHTMLParser("x")
    return tree.body.first_child.tag_id


def _holds_elements(node: Any) -> bool:
    inner = node.first_child
    while inner is not None and not inner.is_element_node:
        inner = inner.next
    return inner is not None


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
