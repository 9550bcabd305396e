"""Find search results in the outline of a page: headings that are links, and the text up to the next one.

This works for nearly every result page with any class names, and for accessibility trees, which have none.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

HEADING_TAGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
TAG_ROLES = (
    {
        "a": "link",
        "aside": "complementary",
        "button": "button",
        "cite": "cite",
        "footer": "contentinfo",
        "form": "form",
        "header": "banner",
        "nav": "navigation",
    }
    | dict.fromkeys(HEADING_TAGS, "heading")
    | dict.fromkeys(("b", "em", "i", "mark", "strong"), "emphasis")
)
# Parts of a page without results; the text of a result ends where one begins.
NON_RESULT_ROLES = frozenset({"banner", "complementary", "contentinfo", "form", "navigation", "search", "dialog"})
AD_LABEL = re.compile(
    r"(?:ad|ads|sponsored(?: results?)?|advertisement|anzeigen?|gesponsert|annonces?|sponsorisé|anuncios?|annunci[o]?"
    r"|patrocinado|реклама|广告)[\s·:]*",
    re.IGNORECASE,
)
# `https://example.com › docs`, as engines show the address of a result.
BREADCRUMB = re.compile(r"(?:https?://)?[\w-]+(?:\.[\w-]+)+/?(?:\S*|\s*›.*)|›.*")
MAX_OUTLINE_LINES = 20_000  # result pages have a few thousand
ELEMENT_LINE = re.compile(r"(?P<indent> *)- (?P<rest>.*)")
ELEMENT_HEAD = re.compile(r"(?P<role>[A-Za-z]+)(?: (?P<name>\"(?:[^\"\\]|\\.)*\"))?(?P<after>.*)", re.DOTALL)
URL_ATTRIBUTE = re.compile(r"url=(?P<url>.*?)\](?:: .*)?$")
REF_ATTRIBUTE = re.compile(r" \[(?:ref=e\d+|nth=\d+)\]")


@dataclass(frozen=True)
class OutlineLine:
    """One element of an outline: its depth, its role, its own text, and the address of a link."""

    depth: int
    role: str
    text: str = ""
    url: str = ""


@dataclass(frozen=True)
class OutlineResult:
    """One result in an outline."""

    title: str
    url: str
    snippet: str


def build_outline(tree: Any) -> list[OutlineLine]:
    """Return the outline of a parsed HTML document (selectolax, lexbor)."""
    max_depth = 200
    lines: list[OutlineLine] = []
    body = tree.body
    stack = [(body, 0)] if body is not None else []
    while stack and len(lines) < MAX_OUTLINE_LINES:
        node, depth = stack.pop()
        if node.tag == "-text":
            if text := " ".join(node.text_content.split()):
                lines.append(OutlineLine(depth, "text", text))
            continue
        attributes = node.attributes
        role = attributes.get("role") or TAG_ROLES.get(node.tag, "generic")
        lines.append(OutlineLine(depth, role, "", (attributes.get("href") or "") if role == "link" else ""))
        children = list(node.iter(include_text=True))
        stack += [(child, min(depth + 1, max_depth)) for child in reversed(children)]
    return lines


def find_results(lines: list[OutlineLine]) -> list[OutlineResult]:
    """Return the results in their order, without advertisements, menus and forms."""
    starts = [
        start
        for start in _find_result_starts(lines)
        if not _has_ancestor(lines, start[0], NON_RESULT_ROLES) and not _is_under_ad_heading(lines, start[0])
    ]
    ends = [*(start[0] for start in starts), len(lines)][1:]
    results = [
        _build_result(lines, start, _find_text_end(lines, start, end)) for start, end in zip(starts, ends, strict=True)
    ]
    return [result for result in results if result is not None]


def _find_text_end(lines: list[OutlineLine], start: tuple[int, int, int], end: int) -> int:
    """Return where the text of a result ends: before a link that names the site of the next result."""
    max_label_words = 6  # a longer link is a snippet, which some engines write as a link
    first = start[1]
    last = next((at for at in range(end - 1, first - 1, -1) if lines[at].text), None)
    if last is None or end == len(lines):
        return end
    ancestors = (at for at in _iter_self_and_ancestors(lines, last) if at >= first)
    link = next((at for at in ancestors if lines[at].role == "link"), None)
    if link is None or lines[link].url == lines[start[2]].url:
        return end
    label = _read_element_text(lines, link, _find_element_end(lines, link))
    return end if len(label.split()) > max_label_words else link


def _iter_self_and_ancestors(lines: list[OutlineLine], at: int) -> Iterator[int]:
    """Yield the line itself and the lines that contain it, innermost first."""
    depth = lines[at].depth + 1
    for number in range(at, -1, -1):
        if lines[number].depth < depth:
            depth = lines[number].depth
            yield number


def _find_result_starts(lines: list[OutlineLine]) -> list[tuple[int, int, int]]:
    """Return headings that are links or are in links: (first line, line after the last, line of the link)."""
    max_results = 100
    starts: list[tuple[int, int, int]] = []
    for at, line in enumerate(lines):
        if len(starts) == max_results:
            break
        if (starts and at < starts[-1][1]) or line.role not in {"link", "heading"}:
            continue
        end = _find_element_end(lines, at)
        other = "heading" if line.role == "link" else "link"
        inner = next((number for number in range(at + 1, end) if lines[number].role == other), None)
        if inner is not None:
            starts.append((at, end, at if line.role == "link" else inner))
    return starts


def _find_element_end(lines: list[OutlineLine], at: int) -> int:
    """Return the first line after the one at `at`."""
    depth = lines[at].depth
    return next((number for number in range(at + 1, len(lines)) if lines[number].depth <= depth), len(lines))


def _has_ancestor(lines: list[OutlineLine], at: int, roles: frozenset[str]) -> bool:
    return any(lines[number].role in roles for number in _iter_self_and_ancestors(lines, at) if number != at)


def _is_under_ad_heading(lines: list[OutlineLine], at: int) -> bool:
    """Return whether the nearest heading before it that is not a link announces advertisements."""
    for number in range(at - 1, -1, -1):
        if lines[number].role == "heading":
            end = _find_element_end(lines, number)
            is_link = any(line.role == "link" for line in lines[number:end])
            if is_link or _has_ancestor(lines, number, frozenset({"link"})):
                continue
            return AD_LABEL.fullmatch(_read_element_text(lines, number, end)) is not None
    return False


def _build_result(lines: list[OutlineLine], start: tuple[int, int, int], text_end: int) -> OutlineResult | None:
    max_snippet_chars = 600
    first, end, link = start
    named = link
    if lines[first].role != "heading":
        named = next(number for number in range(first, len(lines)) if lines[number].role == "heading")
    named_end = _find_element_end(lines, named)
    title = _read_element_text(lines, named, named_end)
    if not title or _has_ad_label(lines, named_end, text_end):
        return None
    snippet = " ".join(" ".join(_iter_snippet_texts(lines, end, text_end)).split())
    return OutlineResult(title, lines[link].url, snippet[:max_snippet_chars])


def _has_ad_label(lines: list[OutlineLine], at: int, end: int) -> bool:
    """Return whether a label next to the result calls it an advertisement."""
    emphasis_roles = frozenset({"emphasis", "strong", "mark"})  # around words of the query, which may be "ads"
    for number in range(at, end):
        line = lines[number]
        if line.role in NON_RESULT_ROLES or line.role == "heading":
            return False
        parent = next((lines[outer] for outer in _iter_self_and_ancestors(lines, number) if outer != number), line)
        if AD_LABEL.fullmatch(line.text) and not emphasis_roles & {line.role, parent.role}:
            return True
    return False


def _read_element_text(lines: list[OutlineLine], at: int, end: int) -> str:
    """Return the text of the element at `at`: its own, or else that of its descendants."""
    if lines[at].text:
        return lines[at].text
    return " ".join(line.text for line in lines[at + 1 : end] if line.text)


def _iter_snippet_texts(lines: list[OutlineLine], at: int, end: int) -> Iterator[str]:
    """Yield the texts up to the next result or heading.

    A part of the page without results ends them too.
    """
    ignored_roles = frozenset({"button", "cite", "image", "img", "ListMarker", "separator", "textbox", "combobox"})
    while at < end:
        line = lines[at]
        if line.role in NON_RESULT_ROLES or line.role == "heading":
            return
        if line.role in ignored_roles:
            at = _find_element_end(lines, at)
            continue
        is_leaf = at + 1 == len(lines) or lines[at + 1].depth <= line.depth
        if line.text and (is_leaf or line.role == "paragraph") and not BREADCRUMB.fullmatch(line.text):
            yield line.text
        at += 1


def parse_snapshot(text: str) -> list[OutlineLine]:
    """Return the outline; lines that do not describe an element are skipped."""
    empty_snapshots = ("(empty page)", "Empty page", "(no interactive elements)", "")
    lines: list[OutlineLine] = []
    if text.strip() in empty_snapshots:
        return lines
    for raw in text.splitlines()[:MAX_OUTLINE_LINES]:
        match = ELEMENT_LINE.fullmatch(raw)
        if match is None:
            continue
        depth, rest = len(match["indent"]) // 2, match["rest"]
        if rest.startswith("/"):  # a property of the element above, such as `/url: https://…`
            name, _, value = rest.partition(": ")
            if name == "/url" and lines and lines[-1].depth == depth - 1:
                lines[-1] = replace(lines[-1], url=_parse_scalar(value))
            continue
        if quoted := re.match(r"'((?:[^']|'')*)'(.*)", rest, re.DOTALL):
            # The old dialect is YAML, which quotes a key with a colon.
            rest = quoted[1].replace("''", "'") + quoted[2]
        if (line := _parse_line(depth, rest)) is not None:
            lines.append(line)
    return lines


def _parse_line(depth: int, rest: str) -> OutlineLine | None:
    text_roles = frozenset({"text", "StaticText", "InlineTextBox"})
    # The old dialect puts its first bracket into a name that holds quotation marks.
    head = ELEMENT_HEAD.fullmatch(REF_ATTRIBUTE.sub("", rest) if '" [ref=' in rest or "] [nth=" in rest else rest)
    if head is None:
        return None
    role, after = head["role"], head["after"]
    address = URL_ATTRIBUTE.search(after)
    value = after.partition(": ")[2] if address is None else ""
    name = _decode_name(head["name"])
    text = name or _parse_scalar(value)
    return OutlineLine(
        depth, "text" if role in text_roles else role, " ".join(text.split()), address["url"] if address else ""
    )


def _decode_name(quoted: str | None) -> str:
    if quoted is None:
        return ""
    try:
        return str(json.loads(quoted))
    except ValueError:
        return quoted[1:-1]


def _parse_scalar(value: str) -> str:
    value = value.strip()
    return _decode_name(value) if len(value) > 1 and value[0] == value[-1] == '"' else value
