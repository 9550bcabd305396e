"""What each element of a page does to the block at hand: ends it, marks a part of it, is left out.

Cells of a row stay in one block as long as they hold words only, since tables of data are kept or
dropped by rows; two line breaks in a row end a block, since old pages know no other paragraphs.
"""

import re
from collections.abc import Callable
from typing import Any, ClassVar

from outrider.pages.content.walking.blocks import NEXT_CELL, OPEN, TAGS, Formula, Given
from outrider.pages.content.walking.embeds import EMBEDDING, UNSEEN, embedded
from outrider.pages.content.walking.formula import of_drawn, of_math, of_script
from outrider.pages.content.walking.hiding import CLUES
from outrider.pages.content.walking.highlighters import (
    copies,
    holds_lines,
    is_fragment,
    is_laid_out,
    is_line,
    is_line_number,
    is_listing,
    is_tool,
)
from outrider.pages.content.walking.nesting import Nesting
from outrider.pages.content.walking.passage import BETWEEN, OPENED, SHUT
from outrider.pages.content.walking.unseen import INLINE, Hides
from outrider.pages.content.walking.words import LIMIT, bits
from outrider.pages.content.walking.words import NUMBER as CATEGORY

TABULAR = {  # tables that are not made of a table's elements (WAI-ARIA 1.2, section 5.3.3)
    "table": "table", "grid": "table", "treegrid": "table", "rowgroup": "tbody", "row": "tr", "cell": "td",
    "gridcell": "td", "columnheader": "th", "rowheader": "th",
}  # fmt: skip
CELLS = frozenset({"td", "th"})
FURNITURE = frozenset(
    {"mw-editsection", "mw-cite-backlink", "headerlink", "MathJax", "MathJax_Preview", "MathJax_Display"}
    | {"ltx_note_mark", "ltx_tag ltx_tag_note"}
    | {"MathJax_CHTML", "mjx-chtml MathJax_CHTML", "MathJax_SVG", "MathJax_SVG_Display", "mjx-chtml"}
)
ASIDE = "ltx_note_outer"  # a footnote where its mark is, as LaTeXML has them
UNSHOWN = "hideme"  # a summary of rustdoc that no style sheet shows
PHRASES = frozenset("p span a em strong b i small label time h1 h2 h3 h4 h5 h6".split())  # noqa: SIM905 - no blocks
TIMES = frozenset({"time", "relative-time", "time-ago"})
CENTURIES, STAMP = ("19", "20"), re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")  # a time, as title of another one
BEARING = frozenset({"mjx-container"})  # elements of the same names that hold the formula, as MathML for screen readers
DROPPED = (
    "style", "template", "svg", "applet", "canvas", "map", "datalist", "select", "textarea", "noembed", "noframes",
    "head", "title", "rp", "frame", "frameset", "optgroup",
)  # fmt: skip
CHOICES = frozenset({"select", "optgroup", "datalist"})
MARKED = ("b", "strong", "i", "em", "code", "kbd", "samp", "tt", "del", "s", "strike", "sup", "sub")
IGNORED = ("wbr", "source", "col", "link", "meta", "area", "track", "-comment", "-doctype")
LEVELS = frozenset("123456")
UNSEEN_WORDS = 1 << CATEGORY["skip"]  # of elements that only screen readers read
NOSCRIPT_TEXT = 400  # characters from which a noscript is the page itself, as in some forums, not a tracker
# What an element does when it ends; of the last three nothing, and of the last two what they hold is passed over.
PLAIN, BLOCK, MARK, LINK, CELL, PRE, LINE_OF_CODE, APART, NOTHING, DROP, HIDDEN = range(11)
Action = Callable[["Elements", Any, str], int]


class Elements(Nesting):
    """The block at hand, and what the elements do to it.

    Attributes:
        usual: Classes that have been met and make no listing.
    """

    __slots__ = ("usual",)

    def __init__(self, by_rule: Hides | None, shown: frozenset[int]) -> None:
        super().__init__(by_rule, shown)
        self.usual: set[str | None] = set()

    def _ignore(self, node: Any, _tag: str) -> int:
        return NOTHING if node.first_child is None else PLAIN  # as in MathML and SVG

    def _drop(self, _node: Any, _tag: str) -> int:
        return DROP

    def _embed(self, node: Any, tag: str) -> int:
        """What is embedded: nothing that it holds is shown."""
        given = node.attributes
        if not self.hides(node, tag, given):
            address, words = embedded(node, tag, given)
            if address and not (self.current >= 0 and self.page.elements[self.current][3] & UNSEEN):
                self.embed(address, words)
        return DROP

    def _option(self, node: Any, tag: str) -> int:
        """A choice; what a broken page holds in one, outside of any list of them, is shown."""
        up = node.parent
        return DROP if up is not None and up.tag in CHOICES else self._block(node, tag)

    def _named(self, node: Any, tag: str) -> int:
        """An element of the page's own making, or inline without a meaning."""
        if "-" not in tag or tag[:4] == "mjx-" or (node.parent is not None and node.parent.tag in PHRASES):
            return self._inline(node, tag)
        return DROP if self.listing and is_tool(tag, node.attributes) else self._block(node, tag)

    def _inline(self, node: Any, tag: str) -> int:
        """An inline element without a meaning."""
        if given := node.attributes:
            return self._block(node, tag) if given.get("role") in TABULAR else self._described(node, tag, given)
        self.seam |= OPENED
        return PLAIN

    def _described(self, node: Any, tag: str, given: Given) -> int:
        """An inline element with attributes."""
        end = PLAIN
        if (self.by_rule or not CLUES.isdisjoint(given)) and self.hides(node, tag, given):
            return HIDDEN
        if self.listing:
            if is_tool(tag, given) or is_line_number(node, tag, given):
                return DROP
            end = self._line(given)
        if names := given.get("class"):
            if "ath" in names and (formula := of_drawn(node, given, names)):
                self.add(Formula(formula))
                return DROP
            if names in FURNITURE and tag not in BEARING:
                return DROP
            end = self._called(names, end)
        if len(given) > 1 or not names:
            self._note(tag, given)
        self.seam |= OPENED
        return end

    def _called(self, names: str, end: int) -> int:
        """What an inline element of these classes does at its end, if it would do this otherwise."""
        told = bits(names)
        self.inner |= told
        if told & UNSEEN_WORDS and end == PLAIN:
            return APART
        return end if names != ASIDE else self._aside()

    def _aside(self) -> int:
        """A note that stands in the text that it is on."""
        self.add(" ")
        self.pieces.append((OPEN, "note"))
        return MARK

    def _line(self, given: Given) -> int:
        """What an inline element in a listing does at its end: it may be a line, or say where a difference is."""
        if marker := given.get("data-code-marker"):
            self.add(marker)
        if "data-line" not in given and not is_line((given.get("class") or "")[:LIMIT]):
            return PLAIN
        if given.get("lang"):
            self.page.given[self.current] = {**given, **(self.page.given.get(self.current) or {})}
        self.line_of_listing()
        return LINE_OF_CODE

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
            if (
                self.by_rule or ((len(given) > 1 or "class" not in given) and not CLUES.isdisjoint(given))
            ) and self.hides(node, tag, given):
                return HIDDEN
            if "role" in given and (meant := _meant(given, tag)) != tag:
                if meant in CELLS:
                    return self._cell(node, meant)
                tag = meant
            elif (names := given.get("class")) not in self.usual and self._is_listing(names, node):
                return self._pre(node, tag)
        if self.listing and is_tool(tag, given):
            return DROP
        if self.pieces:
            self.flush()
        self.begin(tag, given)
        return BLOCK

    def _is_listing(self, names: str | None, node: Any) -> bool:
        """Whether an element of these classes, which have not been met, is a listing."""
        if names and (is_listing(names[:LIMIT]) or is_fragment(names, node)):
            return True
        self.usual.add(names)
        return False

    def _table(self, node: Any, tag: str) -> int:
        return self._block(node, tag) if self.listing or not holds_lines(node) else self._pre(node, tag)

    def _summary(self, node: Any, tag: str) -> int:
        return DROP if node.attributes.get("class") == UNSHOWN else self._block(node, tag)

    def _button(self, node: Any, tag: str) -> int:
        given = node.attributes
        return DROP if given and copies(given) else self._block(node, tag)

    def _dialog(self, node: Any, tag: str) -> int:
        """A dialog, which is not shown before a script opens it."""
        if "open" in node.attributes or node.mem_id in self.shown:
            return self._block(node, tag)
        self.ruled_here = False
        return HIDDEN

    def _cell(self, node: Any, tag: str) -> int:
        given = node.attributes
        if given and self.hides(node, tag, given):
            return HIDDEN
        if self.filled:
            self.pieces.append((NEXT_CELL, -1))
        self.begin(tag, given)
        return CELL

    def _pre(self, node: Any, tag: str) -> int:
        given = node.attributes
        if given and self.hides(node, tag, given):
            return HIDDEN
        if self.pieces:
            self.flush()
        self.begin("pre", given)
        self.page.coded = True
        self.listing += 1
        return PRE

    def _mark(self, node: Any, tag: str) -> int:
        given = node.attributes
        if given:
            if (self.by_rule or not CLUES.isdisjoint(given)) and self.hides(node, tag, given):
                return HIDDEN
            if given.get("class") in FURNITURE:
                return DROP
            if tag == "code" and self.listing:
                self._inner_code(given)
            elif tag == "code" and not (self.filled or self.marked) and "style" in given and is_laid_out(node, given):
                return self._pre(node, tag)
        self.mark(tag)
        return MARK

    def _inner_code(self, given: Given) -> None:
        """What the first code in a listing says of its language, unless the listing itself does."""
        known = self.page.given.get(self.current) or {}
        if "code" not in known:
            names = f"{known.get('class') or ''} {given.get('class') or ''}"
            self.page.given[self.current] = {**given, **known, "class": names, "code": ""}

    def _quote(self, node: Any, _tag: str) -> int:
        given = node.attributes
        if given and self.hides(node, "q", given):
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
            if (self.by_rule or not CLUES.isdisjoint(given)) and self.hides(node, tag, given):
                return HIDDEN
            if names := given.get("class"):
                if names in FURNITURE or (self.listing and is_tool(tag, given)):
                    return DROP
                self.inner |= bits(names)
            if self.listing and is_line_number(node, tag, given):
                return DROP
            if name := given.get("id") or given.get("name"):
                self.name_place(name)
        self.link(given.get("href") or "")
        return LINK

    def _break(self, node: Any, tag: str) -> int:
        self.break_line()
        return self._ignore(node, tag)

    def _image(self, node: Any, tag: str) -> int:
        given, up = node.attributes, node.parent
        if up is not None and up.tag == "picture" and (given.get("src") or "data:")[:5] == "data:":
            given = _of_sources(up) | given
        self.show(given)
        return self._ignore(node, tag)

    def _rule(self, node: Any, tag: str) -> int:
        self.flush()
        self.page.rules.add(len(self.page.texts))
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

    def _shut(self) -> None:
        """An element without a meaning ends."""
        self.seam |= SHUT

    def _set_apart(self) -> None:
        """Words for screen readers end, which stand in no line with those behind them."""
        self.seam = BETWEEN

    ACTIONS: ClassVar[dict[str, Action]] = {
        **dict.fromkeys(TAGS, _block),
        **dict.fromkeys(("dir", "html", "search"), _block),
        **dict.fromkeys(("td", "th"), _cell),
        **dict.fromkeys(("pre", "xmp", "listing"), _pre),
        **dict.fromkeys(MARKED, _mark),
        **dict.fromkeys(DROPPED, _drop),
        **dict.fromkeys(IGNORED, _ignore),
        **dict.fromkeys(INLINE, _inline),
        **dict.fromkeys(EMBEDDING, _embed),
        "a": _link, "br": _break, "img": _image, "amp-img": _image, "hr": _rule, "math": _math, "noscript": _noscript,
        "script": _script, "q": _quote, "option": _option, "cite": _cite, "rt": _reading, "input": _input,
        "dialog": _dialog, "table": _table, "button": _button, "summary": _summary, "": _named,
    }  # fmt: skip
    # What happens at the end of an element, by the number that its action gave.
    ENDS: ClassVar[tuple[Callable[["Elements"], None], ...]] = (
        _shut, Nesting.end, Nesting.end_mark, Nesting.end_link, Nesting.end_cell, Nesting.end_listing,
        Nesting.line_of_listing, _set_apart,
    )  # fmt: skip


def _of_sources(picture: Any) -> Given:
    """What the first source of a picture says of where it is."""
    source = picture.css_first("source")
    given = source.attributes if source is not None else {}
    return {name: given[name] for name in ("srcset", "data-srcset") if name in given}


def _meant(given: Given, tag: str) -> str:
    """The element of HTML that one with this role stands for; its own name where it stands for none."""
    role = given["role"] or ""
    return _heading(given) if role == "heading" else TABULAR.get(role, tag)


def _heading(given: Given) -> str:
    """The heading that an element with this role is; of the second level if none is said, as ARIA has it."""
    level = given.get("aria-level") or "2"
    return f"h{level}" if level in LEVELS else "h6" if level.isdigit() else "h2"
