"""Recognize the markup of syntax highlighters and code editors.

They make listings without `pre`, lines as elements, and put line numbers and copy buttons inside listings.
"""

import re
from functools import lru_cache
from typing import Any

from outrider.pages.extraction.blocks.class_words import MAX_CLASS_CHARS
from outrider.pages.extraction.blocks.code_listings import GUTTER_CLASS_PATTERN
from outrider.pages.extraction.blocks.page_blocks import Attributes

LISTING_CLASSES = frozenset(
    "js-file-line-container hljs-ln syntaxhighlighter crayon-pre CodeMirror-code cm-content view-lines "  # noqa: SIM905
    "ace_text-layer ltx_listing member-signature type-signature".split()
)
TOOL_TAGS = frozenset({"button", "clipboard-copy", "copy-button"})
TOOL_CONTAINER_TAGS = frozenset({"a", "div", "span"})
TOOL_CLASS_PATTERN = re.compile(
    r"(?:^|[\s_-])(?:btn|button|toolbar|clipboard|copy(?:-?(?:btn|button|icon|text|code|to-clipboard|link))?|ltx_listing_data)(?:\s|$)"
)
# Classes of inline elements that hold a line number.
LINE_NUMBER_CLASS_PATTERN = re.compile(
    GUTTER_CLASS_PATTERN.pattern
    + r"|(?:^|\s)(?:ln|lnt|linenr|source-line-no|code-number|codeLineNumber\w*|ltx_tag_listingline)(?:\s|$)"
)
LINE_NUMBER_PATTERN = re.compile(r"\s*\d{1,6}[.:]?\s*")
LINE_CELL_CLASS_PATTERN = re.compile(r"(?:^|\s)(?:blob-code|lines-code)(?:\s|$)")  # classes of cells that are lines
COPY_CLASS_PATTERN = re.compile(
    r"^copy$|(?:^|[\s_-])(?:copy-?(?:btn|button|icon|code|link|url|to)|clipboard)(?:[\s_-]|$)"
)
COPY_LABEL_PATTERN = re.compile(r"\bcopy\b.*\b(?:code|clipboard)\b")  # in the names of things for screen readers
LINE_CLASS_PATTERN = re.compile(
    r"(?:^|\s)(?:line|code-line|token-line|view-line|highlight-line|gatsby-highlight-code-line)(?:\s|$)"
)
PREFORMATTED_STYLE_PATTERN = re.compile(r"white-space\s*:\s*(?:pre|break-spaces)")


@lru_cache(maxsize=2_000)
def is_listing_class(names: str) -> bool:
    """Return whether these classes mark a listing without `pre`, as editors make."""
    return not LISTING_CLASSES.isdisjoint(names.split())


def is_line_table(node: Any) -> bool:
    """Return whether the cells of a table's first row are lines of a listing."""
    max_cells = 5  # the line numbers come first
    for _ in range(3):  # body, row, cell
        node = _find_first_element(node)
        if node is None:
            return False
        if node.tag in ("td", "th"):
            break
    for _ in range(max_cells):
        if node is None:
            return False
        if LINE_CELL_CLASS_PATTERN.search(node.attributes.get("class") or ""):
            return True
        node = _find_next_element(node)
    return False


def is_doxygen_listing(names: str, node: Any) -> bool:
    """Return whether an element is a Doxygen listing with an element for each line."""
    first = _find_first_element(node) if "fragment" in names.split() else None
    return first is not None and "line" in (first.attributes.get("class") or "").split()


def is_preformatted_code(node: Any, attributes: Attributes) -> bool:
    """Return whether inline code is a listing because its style keeps line breaks."""
    return PREFORMATTED_STYLE_PATTERN.search(attributes["style"] or "") is not None and "\n" in node.text().strip()


def _find_first_element(node: Any) -> Any:
    inner = node.first_child
    return inner if inner is None or inner.is_element_node else _find_next_element(inner)


def _find_next_element(node: Any) -> Any:
    node = node.next
    while node is not None and not node.is_element_node:
        node = node.next
    return node


def is_line_number(node: Any, tag: str, attributes: Attributes) -> bool:
    """Return whether a listing's element is a line number.

    Its class or a link to its line shows that.
    """
    if tag == "a":
        address, words = attributes.get("href") or "", node.text() or ""
        return address[:1] == "#" and words.isdigit() and address.endswith(words)
    max_wrappers = 3  # elements around a number
    names = attributes.get("class")
    if not names or not _is_line_number_class(names[:MAX_CLASS_CHARS]):
        return False
    for _ in range(max_wrappers):
        node = node.first_child
        if node is None or node.next is not None:
            return False
        if not node.is_element_node:
            return LINE_NUMBER_PATTERN.fullmatch(node.text_content or "") is not None
    return False


@lru_cache(maxsize=2_000)
def _is_line_number_class(names: str) -> bool:
    return LINE_NUMBER_CLASS_PATTERN.search(names) is not None


@lru_cache(maxsize=2_000)
def is_line_class(names: str) -> bool:
    """Return whether these classes mark an inline element as a line of a listing."""
    return LINE_CLASS_PATTERN.search(names) is not None


def is_copy_button(attributes: Attributes) -> bool:
    """Return whether a button copies something, by its class or its accessible label."""
    if (
        "data-clipboard-target" in attributes
        or "data-clipboard-text" in attributes
        or attributes.get("data-bi-name") == "copy"
    ):
        return True
    names, label = (attributes.get("class") or "").lower(), (attributes.get("aria-label") or "").lower()
    if ("copy" in names or "clipboard" in names) and COPY_CLASS_PATTERN.search(names):
        return True
    return "copy" in label and COPY_LABEL_PATTERN.search(label) is not None


def is_code_tool(tag: str, attributes: Attributes) -> bool:
    """Return whether an element in a listing is a tool such as a copy button."""
    return tag in TOOL_TAGS or (
        tag in TOOL_CONTAINER_TAGS
        and "class" in attributes
        and _is_tool_class((attributes["class"] or "")[:MAX_CLASS_CHARS])
    )


@lru_cache(maxsize=2_000)
def _is_tool_class(names: str) -> bool:
    return TOOL_CLASS_PATTERN.search(names) is not None
