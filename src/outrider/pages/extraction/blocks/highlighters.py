"""What highlighters and editors make of listings: elements that are one without a pre, that are lines of one, and what
stands in one without being code.
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
# Of elements in lines, which hold nothing but a number.
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
    """Whether an element of these classes is a listing that is made without a pre: by an editor, or as a table."""
    return not LISTING_CLASSES.isdisjoint(names.split())


def is_line_table(node: Any) -> bool:
    """Whether a table is a listing by the cells of its first row."""
    max_cells = 5  # that are looked at
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
    """Whether an element is a listing of Doxygen, each line an element."""
    doxygen_class = "fragment"  # a listing of Doxygen, if it holds lines
    first = _find_first_element(node) if doxygen_class in names.split() else None
    return first is not None and "line" in (first.attributes.get("class") or "").split()


def is_preformatted_code(node: Any, given: Attributes) -> bool:
    """Whether code is a listing by its style: lines of it are shown as lines."""
    return PREFORMATTED_STYLE_PATTERN.search(given["style"] or "") is not None and "\n" in node.text().strip()


def _read_single_text(node: Any) -> str:
    """The text that is all that an element holds, if need be in another one; else something that is no number."""
    max_wrappers = 3  # elements that may stand around a number
    for _ in range(max_wrappers):
        node = node.first_child
        if node is None or node.next is not None:
            return "-"
        if not node.is_element_node:
            return node.text_content or "-"
    return "-"


def _find_first_element(node: Any) -> Any:
    inner = node.first_child
    return inner if inner is None or inner.is_element_node else _find_next_element(inner)


def _find_next_element(node: Any) -> Any:
    node = node.next
    while node is not None and not node.is_element_node:
        node = node.next
    return node


def is_line_number(node: Any, tag: str, given: Attributes) -> bool:
    """Whether an element in a listing is the number of a line, by its class, or as a link that leads to that line."""
    if tag == "a":
        address, words = given.get("href") or "", node.text() or ""
        return address[:1] == "#" and words.isdigit() and address.endswith(words)
    names = given.get("class")
    return (
        bool(names)
        and _is_line_number_class(names[:MAX_CLASS_CHARS])
        and LINE_NUMBER_PATTERN.fullmatch(_read_single_text(node)) is not None
    )


@lru_cache(maxsize=2_000)
def _is_line_number_class(names: str) -> bool:
    return LINE_NUMBER_CLASS_PATTERN.search(names) is not None


@lru_cache(maxsize=2_000)
def is_line_class(names: str) -> bool:
    """Whether an inline element of these classes is a line of a listing, to a style sheet alone."""
    return LINE_CLASS_PATTERN.search(names) is not None


def is_copy_button(given: Attributes) -> bool:
    """Whether a button copies something, by its class or by what it is called for screen readers."""
    if "data-clipboard-target" in given or "data-clipboard-text" in given or given.get("data-bi-name") == "copy":
        return True
    names, label = (given.get("class") or "").lower(), (given.get("aria-label") or "").lower()
    if ("copy" in names or "clipboard" in names) and COPY_CLASS_PATTERN.search(names):
        return True
    return "copy" in label and COPY_LABEL_PATTERN.search(label) is not None


def is_code_tool(tag: str, given: Attributes) -> bool:
    """Whether an element in a listing is a button that copies it or the like."""
    return tag in TOOL_TAGS or (
        tag in TOOL_CONTAINER_TAGS and "class" in given and _is_tool_class((given["class"] or "")[:MAX_CLASS_CHARS])
    )


@lru_cache(maxsize=2_000)
def _is_tool_class(names: str) -> bool:
    return TOOL_CLASS_PATTERN.search(names) is not None
