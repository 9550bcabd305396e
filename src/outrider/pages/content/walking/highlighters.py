"""What highlighters and editors make of listings: elements that are one without a pre, that are lines of one, and what
stands in one without being code.
"""

import re
from functools import lru_cache
from typing import Any

from outrider.pages.content.walking.blocks import Given
from outrider.pages.content.walking.listing import GUTTER
from outrider.pages.content.walking.words import LIMIT

MADE = frozenset(
    "js-file-line-container hljs-ln syntaxhighlighter crayon-pre CodeMirror-code cm-content view-lines "  # noqa: SIM905
    "ace_text-layer ltx_listing member-signature type-signature".split()
)
TOOLS = frozenset({"button", "clipboard-copy", "copy-button"})
BEARERS = frozenset({"a", "div", "span"})
TOOL = re.compile(
    r"(?:^|[\s_-])(?:btn|button|toolbar|clipboard|copy(?:-?(?:btn|button|icon|text|code|to-clipboard|link))?|ltx_listing_data)(?:\s|$)"
)
# Of elements in lines, which hold nothing but a number.
NUMBERING = re.compile(
    GUTTER.pattern
    + r"|(?:^|\s)(?:ln|lnt|linenr|source-line-no|code-number|codeLineNumber\w*|ltx_tag_listingline)(?:\s|$)"
)
DIGITS = re.compile(r"\s*\d{1,6}[.:]?\s*")
ROWS = re.compile(r"(?:^|\s)(?:blob-code|lines-code)(?:\s|$)")  # classes of cells that are lines
NESTED = 3  # elements that may stand around a number
CELLS_OF_LINE = 5  # that are looked at
COPIES = re.compile(r"^copy$|(?:^|[\s_-])(?:copy-?(?:btn|button|icon|code|link|url|to)|clipboard)(?:[\s_-]|$)")
COPYING = re.compile(r"\bcopy\b.*\b(?:code|clipboard)\b")  # in the names of things for screen readers
LINE_NAMES = re.compile(
    r"(?:^|\s)(?:line|code-line|token-line|view-line|highlight-line|gatsby-highlight-code-line)(?:\s|$)"
)
LAID_OUT = re.compile(r"white-space\s*:\s*(?:pre|break-spaces)")
FRAGMENT = "fragment"  # a listing of Doxygen, if it holds lines


@lru_cache(maxsize=2_000)
def is_listing(names: str) -> bool:
    """Whether an element of these classes is a listing that is made without a pre: by an editor, or as a table."""
    return not MADE.isdisjoint(names.split())


def holds_lines(node: Any) -> bool:
    """Whether a table is a listing by the cells of its first row."""
    for _ in range(3):  # body, row, cell
        node = _first_element(node)
        if node is None:
            return False
        if node.tag in ("td", "th"):
            break
    for _ in range(CELLS_OF_LINE):
        if node is None:
            return False
        if ROWS.search(node.attributes.get("class") or ""):
            return True
        node = _next_element(node)
    return False


def is_fragment(names: str, node: Any) -> bool:
    """Whether an element is a listing of Doxygen, each line an element."""
    first = _first_element(node) if FRAGMENT in names.split() else None
    return first is not None and "line" in (first.attributes.get("class") or "").split()


def is_laid_out(node: Any, given: Given) -> bool:
    """Whether code is a listing by its style: lines of it are shown as lines."""
    return LAID_OUT.search(given["style"] or "") is not None and "\n" in node.text().strip()


def _only_text(node: Any) -> str:
    """The text that is all that an element holds, if need be in another one; else something that is no number."""
    for _ in range(NESTED):
        node = node.first_child
        if node is None or node.next is not None:
            return "-"
        if not node.is_element_node:
            return node.text_content or "-"
    return "-"


def _first_element(node: Any) -> Any:
    inner = node.first_child
    return inner if inner is None or inner.is_element_node else _next_element(inner)


def _next_element(node: Any) -> Any:
    node = node.next
    while node is not None and not node.is_element_node:
        node = node.next
    return node


def is_line_number(node: Any, tag: str, given: Given) -> bool:
    """Whether an element in a listing is the number of a line, by its class, or as a link that leads to that line."""
    if tag == "a":
        address, words = given.get("href") or "", node.text() or ""
        return address[:1] == "#" and words.isdigit() and address.endswith(words)
    names = given.get("class")
    return bool(names) and _may_number(names[:LIMIT]) and DIGITS.fullmatch(_only_text(node)) is not None


@lru_cache(maxsize=2_000)
def _may_number(names: str) -> bool:
    return NUMBERING.search(names) is not None


@lru_cache(maxsize=2_000)
def is_line(names: str) -> bool:
    """Whether an inline element of these classes is a line of a listing, to a style sheet alone."""
    return LINE_NAMES.search(names) is not None


def copies(given: Given) -> bool:
    """Whether a button copies something, by its class or by what it is called for screen readers."""
    if "data-clipboard-target" in given or "data-clipboard-text" in given or given.get("data-bi-name") == "copy":
        return True
    names, label = (given.get("class") or "").lower(), (given.get("aria-label") or "").lower()
    if ("copy" in names or "clipboard" in names) and COPIES.search(names):
        return True
    return "copy" in label and COPYING.search(label) is not None


def is_tool(tag: str, given: Given) -> bool:
    """Whether an element in a listing is a button that copies it or the like."""
    return tag in TOOLS or (tag in BEARERS and "class" in given and _is_tool((given["class"] or "")[:LIMIT]))


@lru_cache(maxsize=2_000)
def _is_tool(names: str) -> bool:
    return TOOL.search(names) is not None
