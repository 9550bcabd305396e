"""What each element of a page does to the block at hand: ends it, marks a part of it, is left out.

Cells of a row stay in one block as long as they hold words only, since tables of data are kept or
dropped by rows; two line breaks in a row end a block, since old pages know no other paragraphs.
"""

import re
from collections.abc import Callable
from typing import Any, ClassVar

from outrider.pages.extraction.blocks.block_builder import INLINE_CLOSED, INLINE_CLOSED_AND_OPENED, INLINE_OPENED
from outrider.pages.extraction.blocks.class_words import CATEGORY_NUMBERS as CATEGORY
from outrider.pages.extraction.blocks.class_words import MAX_CLASS_CHARS, categorize_names
from outrider.pages.extraction.blocks.element_stack import ElementStack
from outrider.pages.extraction.blocks.embeds import AD_AND_CONSENT_BITS, EMBED_TAGS, resolve_embed
from outrider.pages.extraction.blocks.formulas import read_formula_script, read_mathml, read_rendered_formula
from outrider.pages.extraction.blocks.hidden_attributes import HIDING_ATTRIBUTES
from outrider.pages.extraction.blocks.hidden_elements import INLINE_TAGS, HidingRule
from outrider.pages.extraction.blocks.highlighters import (
    is_code_tool,
    is_copy_button,
    is_doxygen_listing,
    is_line_class,
    is_line_number,
    is_line_table,
    is_listing_class,
    is_preformatted_code,
)
from outrider.pages.extraction.blocks.page_blocks import BLOCK_TAGS, PIECE_NEXT_CELL, PIECE_OPEN, Attributes, Formula

TABLE_ROLES = {  # tables that are not made of a table's elements (WAI-ARIA 1.2, section 5.3.3)
    "table": "table", "grid": "table", "treegrid": "table", "rowgroup": "tbody", "row": "tr", "cell": "td",
    "gridcell": "td", "columnheader": "th", "rowheader": "th",
}  # fmt: skip
CELL_TAGS = frozenset({"td", "th"})
DROPPED_CLASSES = frozenset(
    {"mw-editsection", "mw-cite-backlink", "headerlink", "MathJax", "MathJax_Preview", "MathJax_Display"}
    | {"ltx_note_mark", "ltx_tag ltx_tag_note"}
    | {"MathJax_CHTML", "mjx-chtml MathJax_CHTML", "MathJax_SVG", "MathJax_SVG_Display", "mjx-chtml"}
)
PHRASING_TAGS = frozenset("p span a em strong b i small label time h1 h2 h3 h4 h5 h6".split())  # noqa: SIM905 - no blocks
TIME_TAGS = frozenset({"time", "relative-time", "time-ago"})
TIMESTAMP_CENTURIES, TIMESTAMP_PATTERN = (
    ("19", "20"),
    re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d"),
)  # a time, as title of another one
FORMULA_TAGS = frozenset(
    {"mjx-container"}
)  # elements of the same names that hold the formula, as MathML for screen readers
DROPPED_TAGS = (
    "style", "template", "svg", "applet", "canvas", "map", "datalist", "select", "textarea", "noembed", "noframes",
    "head", "title", "rp", "frame", "frameset", "optgroup",
)  # fmt: skip
CHOICE_LIST_TAGS = frozenset({"select", "optgroup", "datalist"})
MARK_TAGS = ("b", "strong", "i", "em", "code", "kbd", "samp", "tt", "del", "s", "strike", "sup", "sub")
IGNORED_TAGS = ("wbr", "source", "col", "link", "meta", "area", "track", "-comment", "-doctype")
HEADING_LEVELS = frozenset("123456")
SCREEN_READER_BIT = 1 << CATEGORY["skip"]  # of elements that only screen readers read
# What an element does when it ends; of the last three nothing, and of the last two what they hold is passed over.
(
    END_INLINE,
    END_BLOCK,
    END_MARK,
    END_LINK,
    END_CELL,
    END_LISTING,
    END_CODE_LINE,
    END_SEPARATED,
    NO_CONTENT,
    SKIP_DROPPED,
    SKIP_HIDDEN,
) = range(11)
ElementHandler = Callable[["ElementHandlers", Any, str], int]


class ElementHandlers(ElementStack):
    """The block at hand, and what the elements do to it.

    Attributes:
        plain_classes: Classes that have been met and make no listing.
    """

    __slots__ = ("plain_classes",)

    def __init__(self, by_rule: HidingRule | None, shown: frozenset[int]) -> None:
        super().__init__(by_rule, shown)
        self.plain_classes: set[str | None] = set()

    def _handle_ignored(self, node: Any, _tag: str) -> int:
        return NO_CONTENT if node.first_child is None else END_INLINE  # as in MathML and SVG

    def _handle_dropped(self, _node: Any, _tag: str) -> int:
        return SKIP_DROPPED

    def _handle_embed(self, node: Any, tag: str) -> int:
        """What is embedded: nothing that it holds is shown."""
        attributes = node.attributes
        if not self.is_hidden(node, tag, attributes):
            address, words = resolve_embed(node, tag, attributes)
            if address and not (self.current >= 0 and self.page.elements[self.current][3] & AD_AND_CONSENT_BITS):
                self.add_embed(address, words)
        return SKIP_DROPPED

    def _handle_option(self, node: Any, tag: str) -> int:
        """A choice; what a broken page holds in one, outside of any list of them, is shown."""
        up = node.parent
        return SKIP_DROPPED if up is not None and up.tag in CHOICE_LIST_TAGS else self._handle_block(node, tag)

    def _handle_unknown(self, node: Any, tag: str) -> int:
        """An element of the page's own making, or inline without a meaning."""
        if "-" not in tag or tag[:4] == "mjx-" or (node.parent is not None and node.parent.tag in PHRASING_TAGS):
            return self._handle_inline(node, tag)
        return (
            SKIP_DROPPED if self.listing_depth and is_code_tool(tag, node.attributes) else self._handle_block(node, tag)
        )

    def _handle_inline(self, node: Any, tag: str) -> int:
        """An inline element without a meaning."""
        if attributes := node.attributes:
            return (
                self._handle_block(node, tag)
                if attributes.get("role") in TABLE_ROLES
                else self._handle_inline_attributes(node, tag, attributes)
            )
        self.inline_boundary |= INLINE_OPENED
        return END_INLINE

    def _handle_inline_attributes(self, node: Any, tag: str, attributes: Attributes) -> int:
        """An inline element with attributes."""
        end = END_INLINE
        if (self.by_rule or not HIDING_ATTRIBUTES.isdisjoint(attributes)) and self.is_hidden(node, tag, attributes):
            return SKIP_HIDDEN
        if self.listing_depth:
            if is_code_tool(tag, attributes) or is_line_number(node, tag, attributes):
                return SKIP_DROPPED
            end = self._handle_code_line(attributes)
        if names := attributes.get("class"):
            if "ath" in names and (formula := read_rendered_formula(node, attributes, names)):
                self.add_text(Formula(formula))
                return SKIP_DROPPED
            if names in DROPPED_CLASSES and tag not in FORMULA_TAGS:
                return SKIP_DROPPED
            end = self._apply_inline_classes(names, end)
        if len(attributes) > 1 or not names:
            self._record_anchor_and_time(tag, attributes)
        self.inline_boundary |= INLINE_OPENED
        return end

    def _apply_inline_classes(self, names: str, end: int) -> int:
        """What an inline element of these classes does at its end, if it would do this otherwise."""
        footnote_class = "ltx_note_outer"  # a footnote where its mark is, as LaTeXML has them
        told = categorize_names(names)
        self.inline_bits |= told
        if told & SCREEN_READER_BIT and end == END_INLINE:
            return END_SEPARATED
        return end if names != footnote_class else self._aside()

    def _aside(self) -> int:
        """A note that stands in the text that it is on."""
        self.add_text(" ")
        self.pieces.append((PIECE_OPEN, "note"))
        return END_MARK

    def _handle_code_line(self, attributes: Attributes) -> int:
        """What an inline element in a listing does at its end: it may be a line, or say where a difference is."""
        if marker := attributes.get("data-code-marker"):
            self.add_text(marker)
        if "data-line" not in attributes and not is_line_class((attributes.get("class") or "")[:MAX_CLASS_CHARS]):
            return END_INLINE
        if attributes.get("lang"):
            self.page.attributes[self.current] = {**attributes, **(self.page.attributes.get(self.current) or {})}
        self.mark_code_line()
        return END_CODE_LINE

    def _record_anchor_and_time(self, tag: str, attributes: Attributes) -> None:
        """Notes the place that an inline element names, and the time that it tells."""
        if name := attributes.get("id"):
            self.record_anchor(name)
        if tag in TIME_TAGS and (value := attributes.get("datetime")):
            self.page.times.setdefault(len(self.page.texts), value.strip()[:40])
        elif (value := attributes.get("title")) and value[:2] in TIMESTAMP_CENTURIES and TIMESTAMP_PATTERN.match(value):
            self.page.times.setdefault(len(self.page.texts), value[:19])

    def _handle_block(self, node: Any, tag: str) -> int:
        attributes = node.attributes
        if attributes:
            if (
                self.by_rule
                or ((len(attributes) > 1 or "class" not in attributes) and not HIDING_ATTRIBUTES.isdisjoint(attributes))
            ) and self.is_hidden(node, tag, attributes):
                return SKIP_HIDDEN
            if "role" in attributes and (meant := _resolve_role_tag(attributes, tag)) != tag:
                if meant in CELL_TAGS:
                    return self._handle_cell(node, meant)
                tag = meant
            elif (names := attributes.get("class")) not in self.plain_classes and self._is_new_listing(names, node):
                return self._handle_listing(node, tag)
        if self.listing_depth and is_code_tool(tag, attributes):
            return SKIP_DROPPED
        if self.pieces:
            self.flush_block()
        self.begin_element(tag, attributes)
        return END_BLOCK

    def _is_new_listing(self, names: str | None, node: Any) -> bool:
        """Whether an element of these classes, which have not been met, is a listing."""
        if names and (is_listing_class(names[:MAX_CLASS_CHARS]) or is_doxygen_listing(names, node)):
            return True
        self.plain_classes.add(names)
        return False

    def _handle_table(self, node: Any, tag: str) -> int:
        return (
            self._handle_block(node, tag)
            if self.listing_depth or not is_line_table(node)
            else self._handle_listing(node, tag)
        )

    def _handle_summary(self, node: Any, tag: str) -> int:
        hidden_class = "hideme"  # a summary of rustdoc that no style sheet shows
        return SKIP_DROPPED if node.attributes.get("class") == hidden_class else self._handle_block(node, tag)

    def _handle_button(self, node: Any, tag: str) -> int:
        attributes = node.attributes
        return SKIP_DROPPED if attributes and is_copy_button(attributes) else self._handle_block(node, tag)

    def _handle_dialog(self, node: Any, tag: str) -> int:
        """A dialog, which is not shown before a script opens it."""
        if "open" in node.attributes or node.mem_id in self.revealed_nodes:
            return self._handle_block(node, tag)
        self.hidden_by_rule = False
        return SKIP_HIDDEN

    def _handle_cell(self, node: Any, tag: str) -> int:
        attributes = node.attributes
        if attributes and self.is_hidden(node, tag, attributes):
            return SKIP_HIDDEN
        if self.has_words:
            self.pieces.append((PIECE_NEXT_CELL, -1))
        self.begin_element(tag, attributes)
        return END_CELL

    def _handle_listing(self, node: Any, tag: str) -> int:
        attributes = node.attributes
        if attributes and self.is_hidden(node, tag, attributes):
            return SKIP_HIDDEN
        if self.pieces:
            self.flush_block()
        self.begin_element("pre", attributes)
        self.page.has_listings = True
        self.listing_depth += 1
        return END_LISTING

    def _handle_mark(self, node: Any, tag: str) -> int:
        attributes = node.attributes
        if attributes:
            if (self.by_rule or not HIDING_ATTRIBUTES.isdisjoint(attributes)) and self.is_hidden(node, tag, attributes):
                return SKIP_HIDDEN
            if attributes.get("class") in DROPPED_CLASSES:
                return SKIP_DROPPED
            if tag == "code" and self.listing_depth:
                self._record_code_language(attributes)
            elif (
                tag == "code"
                and not (self.has_words or self.marked)
                and "style" in attributes
                and is_preformatted_code(node, attributes)
            ):
                return self._handle_listing(node, tag)
        self.begin_mark(tag)
        return END_MARK

    def _record_code_language(self, attributes: Attributes) -> None:
        """What the first code in a listing says of its language, unless the listing itself does."""
        known = self.page.attributes.get(self.current) or {}
        if "code" not in known:
            names = f"{known.get('class') or ''} {attributes.get('class') or ''}"
            self.page.attributes[self.current] = {**attributes, **known, "class": names, "code": ""}

    def _handle_quote(self, node: Any, _tag: str) -> int:
        attributes = node.attributes
        if attributes and self.is_hidden(node, "q", attributes):
            return SKIP_HIDDEN
        self.pieces.append((PIECE_OPEN, "q"))
        return END_MARK

    def _handle_cite(self, node: Any, tag: str) -> int:
        """Who is quoted: in a line of its own, if it begins the quote."""
        up = node.parent
        quoted = up is not None and "blockquote" in (up.tag, up.parent.tag if up.parent is not None else "")
        return self._handle_block(node, "div") if quoted and not self.has_words else self._handle_inline(node, tag)

    def _handle_ruby_text(self, node: Any, _tag: str) -> int:
        """How the sign before is read, which stands above it."""
        if words := node.text().strip():
            self.add_text(f"({words})")
        return SKIP_DROPPED

    def _handle_input(self, node: Any, tag: str) -> int:
        attributes = node.attributes
        if (attributes.get("type") or "") == "checkbox" and not self.has_words:
            self.record_checkbox(attributes)
        return self._handle_ignored(node, tag)

    def _handle_link(self, node: Any, tag: str) -> int:
        attributes = node.attributes
        if attributes:
            if (self.by_rule or not HIDING_ATTRIBUTES.isdisjoint(attributes)) and self.is_hidden(node, tag, attributes):
                return SKIP_HIDDEN
            if names := attributes.get("class"):
                if names in DROPPED_CLASSES or (self.listing_depth and is_code_tool(tag, attributes)):
                    return SKIP_DROPPED
                self.inline_bits |= categorize_names(names)
            if self.listing_depth and is_line_number(node, tag, attributes):
                return SKIP_DROPPED
            if name := attributes.get("id") or attributes.get("name"):
                self.record_anchor(name)
        self.begin_link(attributes.get("href") or "")
        return END_LINK

    def _handle_break(self, node: Any, tag: str) -> int:
        self.break_line()
        return self._handle_ignored(node, tag)

    def _handle_image(self, node: Any, tag: str) -> int:
        attributes, up = node.attributes, node.parent
        if up is not None and up.tag == "picture" and (attributes.get("src") or "data:")[:5] == "data:":
            attributes = _read_picture_source(up) | attributes
        self.add_image(attributes)
        return self._handle_ignored(node, tag)

    def _handle_rule(self, node: Any, tag: str) -> int:
        self.flush_block()
        self.page.rules.add(len(self.page.texts))
        return self._handle_ignored(node, tag)

    def _handle_math(self, node: Any, tag: str) -> int:
        if formula := read_mathml(node):
            self.add_text(Formula(formula))
            return SKIP_DROPPED
        return self._handle_inline(node, tag)

    def _handle_script(self, node: Any, _tag: str) -> int:
        if formula := read_formula_script(node):
            self.add_text(Formula(formula))
        return SKIP_DROPPED

    def _handle_noscript(self, node: Any, tag: str) -> int:
        min_noscript_chars = (
            400  # characters from which a noscript is the page itself, as in some forums, not a tracker
        )
        return SKIP_DROPPED if len(node.text(strip=True)) < min_noscript_chars else self._handle_block(node, tag)

    def _end_inline(self) -> None:
        """An element without a meaning ends."""
        self.inline_boundary |= INLINE_CLOSED

    def _end_separated(self) -> None:
        """Words for screen readers end, which stand in no line with those behind them."""
        self.inline_boundary = INLINE_CLOSED_AND_OPENED

    HANDLERS: ClassVar[dict[str, ElementHandler]] = {
        **dict.fromkeys(BLOCK_TAGS, _handle_block),
        **dict.fromkeys(("dir", "html", "search"), _handle_block),
        **dict.fromkeys(("td", "th"), _handle_cell),
        **dict.fromkeys(("pre", "xmp", "listing"), _handle_listing),
        **dict.fromkeys(MARK_TAGS, _handle_mark),
        **dict.fromkeys(DROPPED_TAGS, _handle_dropped),
        **dict.fromkeys(IGNORED_TAGS, _handle_ignored),
        **dict.fromkeys(INLINE_TAGS, _handle_inline),
        **dict.fromkeys(EMBED_TAGS, _handle_embed),
        "a": _handle_link, "br": _handle_break, "img": _handle_image, "amp-img": _handle_image, "hr": _handle_rule, "math": _handle_math, "noscript": _handle_noscript,
        "script": _handle_script, "q": _handle_quote, "option": _handle_option, "cite": _handle_cite, "rt": _handle_ruby_text, "input": _handle_input,
        "dialog": _handle_dialog, "table": _handle_table, "button": _handle_button, "summary": _handle_summary, "": _handle_unknown,
    }  # fmt: skip
    # What happens at the end of an element, by the number that its action gave.
    END_HANDLERS: ClassVar[tuple[Callable[["ElementHandlers"], None], ...]] = (
        _end_inline, ElementStack.end_element, ElementStack.end_mark, ElementStack.end_link, ElementStack.end_cell, ElementStack.end_listing,
        ElementStack.mark_code_line, _end_separated,
    )  # fmt: skip


def _read_picture_source(picture: Any) -> Attributes:
    """What the first source of a picture says of where it is."""
    source = picture.css_first("source")
    attributes = source.attributes if source is not None else {}
    return {name: attributes[name] for name in ("srcset", "data-srcset") if name in attributes}


def _resolve_role_tag(attributes: Attributes, tag: str) -> str:
    """The element of HTML that one with this role stands for; its own name where it stands for none."""
    role = attributes["role"] or ""
    return _heading(attributes) if role == "heading" else TABLE_ROLES.get(role, tag)


def _heading(attributes: Attributes) -> str:
    """The heading that an element with this role is; of the second level if none is said, as ARIA has it."""
    level = attributes.get("aria-level") or "2"
    return f"h{level}" if level in HEADING_LEVELS else "h6" if level.isdigit() else "h2"
