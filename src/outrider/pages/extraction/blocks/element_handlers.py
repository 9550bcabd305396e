"""Handle each kind of element: end the block, mark a part of it, or skip content.

The cells of a row stay in one block while they hold only words, because data tables are kept or dropped by rows. Two
line breaks in a row end a block, because old pages have no other paragraphs.
"""

import re
from collections.abc import Callable
from typing import Any, ClassVar

from outrider.pages.extraction.blocks.block_builder import INLINE_CLOSED, INLINE_CLOSED_AND_OPENED, INLINE_OPENED
from outrider.pages.extraction.blocks.class_words import CATEGORY_NUMBERS as CATEGORY
from outrider.pages.extraction.blocks.class_words import MAX_CLASS_CHARS, categorize_names
from outrider.pages.extraction.blocks.drawings import read_drawing
from outrider.pages.extraction.blocks.element_stack import ElementStack
from outrider.pages.extraction.blocks.embeds import AD_AND_CONSENT_BITS, EMBED_TAGS, resolve_embed, shows_fallback
from outrider.pages.extraction.blocks.form_values import (
    keep_prose,
    read_gauge,
    read_input_value,
    read_selected_options,
)
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
from outrider.pages.extraction.blocks.noscripts import NoscriptReader, find_lazy_image
from outrider.pages.extraction.blocks.page_blocks import BLOCK_TAGS, PIECE_NEXT_CELL, PIECE_OPEN, Attributes, Formula

TABLE_ROLES = {  # tables built from other elements (WAI-ARIA 1.2, section 5.3.3)
    "table": "table", "grid": "table", "treegrid": "table", "rowgroup": "tbody", "row": "tr", "cell": "td",
    "gridcell": "td", "columnheader": "th", "rowheader": "th",
}  # fmt: skip
CELL_TAGS = frozenset({"td", "th"})
CELL_START = (PIECE_NEXT_CELL, -1)  # one object for all cells
DROPPED_CLASSES = frozenset(
    {"mw-editsection", "mw-cite-backlink", "headerlink", "MathJax", "MathJax_Preview", "MathJax_Display"}
    | {"ltx_note_mark", "ltx_tag ltx_tag_note"}
    | {"MathJax_CHTML", "mjx-chtml MathJax_CHTML", "MathJax_SVG", "MathJax_SVG_Display", "mjx-chtml"}
)
PHRASING_TAGS = frozenset("p span a em strong b i small label time h1 h2 h3 h4 h5 h6".split())  # noqa: SIM905 - a list
TIME_TAGS = frozenset({"time", "relative-time", "time-ago"})
TIMESTAMP_PATTERN = re.compile(r"(?:19|20)\d\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d")
DROPPED_TAGS = (
    "style", "template", "applet", "canvas", "map", "datalist", "noembed", "noframes",
    "head", "title", "rp", "frame", "frameset", "optgroup",
)  # fmt: skip
MARK_TAGS = ("b", "strong", "i", "em", "code", "kbd", "samp", "tt", "del", "s", "strike", "sup", "sub")
IGNORED_TAGS = ("wbr", "source", "col", "link", "meta", "area", "track", "-comment", "-doctype")
SCREEN_READER_BIT = 1 << CATEGORY["skip"]
# End codes: what happens when an element ends. The last three do nothing, and the last two skip the content.
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
    SKIP_CONTENT,
    SKIP_HIDDEN_CONTENT,
) = range(11)
ElementHandler = Callable[["ElementHandlers", Any, str], int]


class ElementHandlers(ElementStack):
    """Apply elements to the current block.

    Each handler takes a node and its tag, and returns an end code.

    Attributes:
        plain_classes: Class attributes known not to be listings.
        has_drawn_text: Whether the page has drawings with text, None until first needed.
        noscripts: Decides about noscript elements, None until first needed.
    """

    __slots__ = ("has_drawn_text", "noscripts", "plain_classes")

    def __init__(self, by_rule: HidingRule | None, revealed: frozenset[int]) -> None:
        super().__init__(by_rule, revealed)
        self.plain_classes: set[str | None] = set()
        self.has_drawn_text: bool | None = None
        self.noscripts: NoscriptReader | None = None

    def handle_ignored(self, node: Any, _tag: str) -> int:
        return NO_CONTENT if node.first_child is None else END_INLINE  # as in MathML and SVG

    def handle_dropped(self, _node: Any, _tag: str) -> int:
        return SKIP_CONTENT

    def handle_embed(self, node: Any, tag: str) -> int:
        """Add an embed. Its content is fallback text and never shown."""
        attributes = node.attributes
        if self.is_hidden(node, tag, attributes):
            return SKIP_HIDDEN_CONTENT
        address, words = resolve_embed(node, tag, attributes)
        if not address and tag == "object" and shows_fallback(attributes):
            return self.handle_inline(node, tag)
        if address and not (self.current >= 0 and self.page.elements[self.current][3] & AD_AND_CONSENT_BITS):
            self.add_embed(address, words)
        return SKIP_CONTENT

    def handle_drawing(self, node: Any, tag: str) -> int:
        """Add the text of an inline drawing."""
        if self.has_drawn_text is None:  # asked once, because most pages have hundreds of icons
            self.has_drawn_text = self.body.css_first("svg text, svg foreignObject") is not None
        if not self.has_drawn_text:
            return SKIP_CONTENT
        if self.is_hidden(node, tag, node.attributes):
            return SKIP_HIDDEN_CONTENT
        for text in read_drawing(node, self.is_hidden):
            self.add_text(f" {text} ")
        return SKIP_CONTENT

    def handle_field(self, node: Any, tag: str) -> int:
        """Add the value that a field of a form shows."""
        if self.is_hidden(node, tag, node.attributes):
            return SKIP_HIDDEN_CONTENT
        if value := read_selected_options(node) if tag == "select" else keep_prose(node.text()):
            self.add_text(f" {value} ")
        return SKIP_CONTENT

    def handle_gauge(self, node: Any, tag: str) -> int:
        attributes = node.attributes
        value = read_gauge(attributes, tag) if node.first_child is None or not node.text(strip=True) else ""
        if value and not self.is_hidden(node, tag, attributes):
            self.add_text(f" {value} ")
        return self.handle_inline(node, tag)

    def handle_option(self, node: Any, tag: str) -> int:
        """Skip an option, unless a broken page put content into one outside any list."""
        parent = node.parent
        if parent is not None and parent.tag in {"select", "optgroup", "datalist"}:
            return SKIP_CONTENT
        return self.handle_block(node, tag)

    def handle_unknown(self, node: Any, tag: str) -> int:
        """Handle a custom or unknown element."""
        if "-" not in tag or tag[:4] == "mjx-" or (node.parent is not None and node.parent.tag in PHRASING_TAGS):
            return self.handle_inline(node, tag)
        return (
            SKIP_CONTENT if self.listing_depth and is_code_tool(tag, node.attributes) else self.handle_block(node, tag)
        )

    def handle_inline(self, node: Any, tag: str) -> int:
        """Handle an inline element without its own meaning."""
        if attributes := node.attributes:
            return (
                self.handle_block(node, tag)
                if attributes.get("role") in TABLE_ROLES
                else self.handle_inline_attributes(node, tag, attributes)
            )
        self.inline_boundary |= INLINE_OPENED
        return END_INLINE

    def handle_inline_attributes(self, node: Any, tag: str, attributes: Attributes) -> int:
        end = END_INLINE
        if (self.by_rule or not HIDING_ATTRIBUTES.isdisjoint(attributes)) and self.is_hidden(node, tag, attributes):
            return SKIP_HIDDEN_CONTENT
        if self.listing_depth:
            if is_code_tool(tag, attributes) or is_line_number(node, tag, attributes):
                return SKIP_CONTENT
            end = self.handle_code_line(attributes)
        if names := attributes.get("class"):
            if "ath" in names and (formula := read_rendered_formula(node, attributes, names)):
                self.add_text(Formula(formula))
                return SKIP_CONTENT
            if names in DROPPED_CLASSES and tag != "mjx-container":  # which holds the formula, for screen readers
                return SKIP_CONTENT
            end = self._apply_inline_classes(names, end)
        if len(attributes) > 1 or not names:
            self._record_anchor_and_time(tag, attributes)
        self.inline_boundary |= INLINE_OPENED
        return end

    def _apply_inline_classes(self, names: str, end: int) -> int:
        """Record the categories of an inline element's classes, and return its end code."""
        bits = categorize_names(names)
        self.inline_bits |= bits
        if bits & SCREEN_READER_BIT and end == END_INLINE:
            return END_SEPARATED
        if names == "ltx_note_outer":  # LaTeXML puts footnotes next to their mark
            self.add_text(" ")
            self.pieces.append((PIECE_OPEN, "note"))
            return END_MARK
        return end

    def handle_code_line(self, attributes: Attributes) -> int:
        """Return the end code of an inline element in a listing.

        It may be a line or a diff marker.
        """
        if marker := attributes.get("data-code-marker"):
            self.add_text(marker)
        if "data-line" not in attributes and not is_line_class((attributes.get("class") or "")[:MAX_CLASS_CHARS]):
            return END_INLINE
        if attributes.get("lang"):
            self.page.attributes[self.current] = {**attributes, **(self.page.attributes.get(self.current) or {})}
        self.mark_code_line()
        return END_CODE_LINE

    def _record_anchor_and_time(self, tag: str, attributes: Attributes) -> None:
        """Record an inline element's id and machine-readable time."""
        if name := attributes.get("id"):
            self.record_anchor(name)
        if tag in TIME_TAGS and (value := attributes.get("datetime")):
            self.page.times.setdefault(len(self.page.texts), value.strip()[:40])
        elif (value := attributes.get("title")) and TIMESTAMP_PATTERN.match(value):
            self.page.times.setdefault(len(self.page.texts), value[:19])

    def handle_block(self, node: Any, tag: str) -> int:
        attributes = node.attributes
        if attributes:
            if (
                self.by_rule
                or ((len(attributes) > 1 or "class" not in attributes) and not HIDING_ATTRIBUTES.isdisjoint(attributes))
            ) and self.is_hidden(node, tag, attributes):
                return SKIP_HIDDEN_CONTENT
            if "role" in attributes and (role_tag := _resolve_role_tag(attributes, tag)) != tag:
                if role_tag in CELL_TAGS:
                    return self.handle_cell(node, role_tag)
                tag = role_tag
            elif (names := attributes.get("class")) not in self.plain_classes and self._is_new_listing(names, node):
                return self.handle_listing(node, tag)
        if self.listing_depth and is_code_tool(tag, attributes):
            return SKIP_CONTENT
        if self.pieces:
            self.flush_block()
        self.begin_element(tag, attributes)
        return END_BLOCK

    def _is_new_listing(self, names: str | None, node: Any) -> bool:
        """Return whether an element with these classes, not seen before, is a listing."""
        if names and (is_listing_class(names[:MAX_CLASS_CHARS]) or is_doxygen_listing(names, node)):
            return True
        self.plain_classes.add(names)
        return False

    def handle_table(self, node: Any, tag: str) -> int:
        return (
            self.handle_block(node, tag)
            if self.listing_depth or not is_line_table(node)
            else self.handle_listing(node, tag)
        )

    def handle_summary(self, node: Any, tag: str) -> int:
        # rustdoc's style sheet hides this summary.
        return SKIP_CONTENT if node.attributes.get("class") == "hideme" else self.handle_block(node, tag)

    def handle_button(self, node: Any, tag: str) -> int:
        attributes = node.attributes
        return SKIP_CONTENT if attributes and is_copy_button(attributes) else self.handle_block(node, tag)

    def handle_dialog(self, node: Any, tag: str) -> int:
        """Skip a dialog unless it is open from the start."""
        if "open" in node.attributes or node.mem_id in self.revealed_nodes:
            return self.handle_block(node, tag)
        self.hidden_by_rule = False
        return SKIP_HIDDEN_CONTENT

    def handle_cell(self, node: Any, tag: str) -> int:
        attributes = node.attributes
        if attributes and self.is_hidden(node, tag, attributes):
            return SKIP_HIDDEN_CONTENT
        if self.has_words:
            self.pieces.append(CELL_START)
        self.begin_element(tag, attributes)
        return END_CELL

    def handle_listing(self, node: Any, tag: str) -> int:
        attributes = node.attributes
        if attributes and self.is_hidden(node, tag, attributes):
            return SKIP_HIDDEN_CONTENT
        if self.pieces:
            self.flush_block()
        self.begin_element("pre", attributes)
        self.page.has_listings = True
        self.listing_depth += 1
        return END_LISTING

    def handle_mark(self, node: Any, tag: str) -> int:
        attributes = node.attributes
        if attributes:
            if (self.by_rule or not HIDING_ATTRIBUTES.isdisjoint(attributes)) and self.is_hidden(node, tag, attributes):
                return SKIP_HIDDEN_CONTENT
            if attributes.get("class") in DROPPED_CLASSES:
                return SKIP_CONTENT
            if tag == "code" and self.listing_depth:
                known = self.page.attributes.get(self.current) or {}
                if "code" not in known:  # the first code element declares the language
                    names = f"{known.get('class') or ''} {attributes.get('class') or ''}"
                    self.page.attributes[self.current] = {**attributes, **known, "class": names, "code": ""}
            elif (
                tag == "code"
                and not (self.has_words or self.marked)
                and "style" in attributes
                and is_preformatted_code(node, attributes)
            ):
                return self.handle_listing(node, tag)
        self.begin_mark(tag)
        return END_MARK

    def handle_quote(self, node: Any, _tag: str) -> int:
        attributes = node.attributes
        if attributes and self.is_hidden(node, "q", attributes):
            return SKIP_HIDDEN_CONTENT
        self.pieces.append((PIECE_OPEN, "q"))
        return END_MARK

    def handle_cite(self, node: Any, tag: str) -> int:
        """Handle a source: a separate line if it begins a quote."""
        parent = node.parent
        is_quoted = parent is not None and "blockquote" in (
            parent.tag,
            parent.parent.tag if parent.parent is not None else "",
        )
        return self.handle_block(node, "div") if is_quoted and not self.has_words else self.handle_inline(node, tag)

    def handle_ruby_text(self, node: Any, _tag: str) -> int:
        """Put the reading of a character in parentheses after it."""
        if words := node.text().strip():
            self.add_text(f"({words})")
        return SKIP_CONTENT

    def handle_input(self, node: Any, tag: str) -> int:
        attributes = node.attributes
        if (attributes.get("type") or "") == "checkbox" and not self.has_words:
            self.record_checkbox(attributes)
        elif (value := read_input_value(attributes)) and not self.is_hidden(node, tag, attributes):
            self.add_text(f" {value} ")
        return self.handle_ignored(node, tag)

    def handle_link(self, node: Any, tag: str) -> int:
        attributes = node.attributes
        if attributes:
            if (self.by_rule or not HIDING_ATTRIBUTES.isdisjoint(attributes)) and self.is_hidden(node, tag, attributes):
                return SKIP_HIDDEN_CONTENT
            if names := attributes.get("class"):
                if names in DROPPED_CLASSES or (self.listing_depth and is_code_tool(tag, attributes)):
                    return SKIP_CONTENT
                self.inline_bits |= categorize_names(names)
            if self.listing_depth and is_line_number(node, tag, attributes):
                return SKIP_CONTENT
            if name := attributes.get("id") or attributes.get("name"):
                self.record_anchor(name)
        self.begin_link(attributes.get("href") or "")
        return END_LINK

    def handle_break(self, node: Any, tag: str) -> int:
        self.break_line()
        return self.handle_ignored(node, tag)

    def handle_image(self, node: Any, tag: str) -> int:
        attributes, parent = node.attributes, node.parent
        if parent is not None and parent.tag == "picture" and (attributes.get("src") or "data:")[:5] == "data:":
            source = parent.css_first("source")
            offered = source.attributes if source is not None else {}
            attributes = {name: offered[name] for name in ("srcset", "data-srcset") if name in offered} | attributes
        self.add_image(attributes)
        return self.handle_ignored(node, tag)

    def handle_rule(self, node: Any, tag: str) -> int:
        self.flush_block()
        self.page.rules.add(len(self.page.texts))
        return self.handle_ignored(node, tag)

    def handle_math(self, node: Any, tag: str) -> int:
        if formula := read_mathml(node):
            self.add_text(Formula(formula))
            return SKIP_CONTENT
        return self.handle_inline(node, tag)

    def handle_script(self, node: Any, _tag: str) -> int:
        if formula := read_formula_script(node):
            self.add_text(Formula(formula))
        return SKIP_CONTENT

    def handle_noscript(self, node: Any, tag: str) -> int:
        if self.is_hidden(node, tag, node.attributes):
            return SKIP_HIDDEN_CONTENT
        if self.noscripts is None:
            self.noscripts = NoscriptReader(self.body)
        if self.noscripts.has_own_text(node):
            return self.handle_block(node, tag)
        if image := find_lazy_image(node):
            self.add_image(image)
        return SKIP_CONTENT

    def _end_inline(self) -> None:
        self.inline_boundary |= INLINE_CLOSED

    def _end_separated(self) -> None:
        """Separate text for screen readers from the text after it."""
        self.inline_boundary = INLINE_CLOSED_AND_OPENED

    HANDLERS: ClassVar[dict[str, ElementHandler]] = {
        **dict.fromkeys(BLOCK_TAGS, handle_block),
        **dict.fromkeys(("dir", "html", "search"), handle_block),
        **dict.fromkeys(("td", "th"), handle_cell),
        **dict.fromkeys(("pre", "xmp", "listing"), handle_listing),
        **dict.fromkeys(MARK_TAGS, handle_mark),
        **dict.fromkeys(DROPPED_TAGS, handle_dropped),
        **dict.fromkeys(IGNORED_TAGS, handle_ignored),
        **dict.fromkeys(INLINE_TAGS, handle_inline),
        **dict.fromkeys(EMBED_TAGS, handle_embed),
        "a": handle_link, "br": handle_break, "img": handle_image, "amp-img": handle_image, "hr": handle_rule,
        "math": handle_math, "noscript": handle_noscript, "script": handle_script, "q": handle_quote,
        "option": handle_option, "cite": handle_cite, "rt": handle_ruby_text, "input": handle_input,
        "svg": handle_drawing, "select": handle_field, "textarea": handle_field, "meter": handle_gauge,
        "progress": handle_gauge, "dialog": handle_dialog, "table": handle_table, "button": handle_button,
        "summary": handle_summary, "": handle_unknown,
    }  # fmt: skip
    # By end code.
    END_HANDLERS: ClassVar[tuple[Callable[["ElementHandlers"], None], ...]] = (
        _end_inline, ElementStack.end_element, ElementStack.end_mark, ElementStack.end_link, ElementStack.end_cell,
        ElementStack.end_listing, ElementStack.mark_code_line, _end_separated,
    )  # fmt: skip


def _resolve_role_tag(attributes: Attributes, tag: str) -> str:
    """Return the HTML tag that matches an element's role, else its own tag."""
    role = attributes["role"] or ""
    if role != "heading":
        return TABLE_ROLES.get(role, tag)
    level = attributes.get("aria-level") or "2"  # the default in ARIA
    return f"h{level}" if level in {"1", "2", "3", "4", "5", "6"} else "h6" if level.isdigit() else "h2"
