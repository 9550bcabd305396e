"""Results in the outline of a page: headings that are links, and the text up to the next one.

That holds for nearly every result page whatever its class names are, and for accessibility trees, which have none.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
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
# Parts of a page that hold no results; a result's text ends where one begins.
NON_RESULT_ROLES = frozenset({"banner", "complementary", "contentinfo", "form", "navigation", "search", "dialog"})
AD_LABEL = re.compile(
    r"(?:ad|ads|sponsored(?: results?)?|advertisement|anzeigen?|gesponsert|annonces?|sponsorisé|anuncios?|annunci[o]?"
    r"|patrocinado|реклама|广告)[\s·:]*",
    re.IGNORECASE,
)
# `https://example.com › docs`, as engines show where a result lies.
BREADCRUMB = re.compile(r"(?:https?://)?[\w-]+(?:\.[\w-]+)+/?(?:\S*|\s*›.*)|›.*")
MAX_OUTLINE_LINES = 20_000  # of a page; result pages have some thousands


@dataclass(frozen=True)
class OutlineLine:
    """One element of an outline: how deep it lies, what it is, what it says itself, and where it leads."""

    depth: int
    role: str
    text: str = ""
    url: str = ""


@dataclass(frozen=True)
class OutlineResult:
    """One result as the outline has it."""

    title: str
    url: str
    snippet: str


def build_outline(tree: Any) -> list[OutlineLine]:
    """The outline of a parsed HTML document (selectolax, lexbor)."""
    max_depth = 200  # levels of a page that are told apart
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
        inside = list(node.iter(include_text=True))
        stack += [(child, min(depth + 1, max_depth)) for child in reversed(inside)]
    return lines


def find_results(lines: list[OutlineLine]) -> list[OutlineResult]:
    """The results, in their order; advertisements and what stands in menus and forms are left out."""
    starts = [start for start in _find_result_starts(lines) if not _elsewhere(lines, start[0])]
    ends = [*(start[0] for start in starts), len(lines)][1:]
    found = [
        _build_result(lines, start, _find_text_end(lines, start, until))
        for start, until in zip(starts, ends, strict=True)
    ]
    return [each for each in found if each is not None]


def _find_text_end(lines: list[OutlineLine], start: tuple[int, int, int], until: int) -> int:
    """Where the text of a result ends: a link just before the next one's heading names that one's site."""
    first = start[1]
    last = next((at for at in range(until - 1, first - 1, -1) if lines[at].text), None)
    if last is None or until == len(lines):
        return until
    at = next(
        (
            number
            for number in _iter_self_and_ancestors(lines, last)
            if number >= first and lines[number].role == "link"
        ),
        None,
    )
    return until if at is None or lines[at].url == lines[start[2]].url or _is_snippet_link(lines, at) else at


def _iter_self_and_ancestors(lines: list[OutlineLine], at: int) -> Iterator[int]:
    """The line itself and those that it lies in, innermost first."""
    depth = lines[at].depth + 1
    for number in range(at, -1, -1):
        if lines[number].depth < depth:
            depth = lines[number].depth
            yield number


def _is_snippet_link(lines: list[OutlineLine], at: int) -> bool:
    """Whether a link says more than a name: there are engines that make links of their snippets."""
    max_label_words = 6
    return len(_read_element_text(lines, at, _find_element_end(lines, at)).split()) > max_label_words


def _find_result_starts(lines: list[OutlineLine]) -> list[tuple[int, int, int]]:
    """Where a heading is a link or a link holds a heading: (first line, line after it, line of the link)."""
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
    """The first line that no longer lies within the one at `at`."""
    depth = lines[at].depth
    return next((number for number in range(at + 1, len(lines)) if lines[number].depth <= depth), len(lines))


def _elsewhere(lines: list[OutlineLine], at: int) -> bool:
    return any(line.role in NON_RESULT_ROLES for line in _iter_ancestors(lines, at)) or _is_under_ad_heading(lines, at)


def _iter_ancestors(lines: list[OutlineLine], at: int) -> Iterator[OutlineLine]:
    return (lines[number] for number in _iter_self_and_ancestors(lines, at) if number != at)


def _is_under_ad_heading(lines: list[OutlineLine], at: int) -> bool:
    """Whether the nearest plain heading before it announces advertisements."""
    for number in range(at - 1, -1, -1):
        if lines[number].role == "heading":
            end = _find_element_end(lines, number)
            if any(line.role == "link" for line in lines[number:end]) or _inside_link(lines, number):
                continue
            return AD_LABEL.fullmatch(_read_element_text(lines, number, end)) is not None
    return False


def _inside_link(lines: list[OutlineLine], at: int) -> bool:
    return any(line.role == "link" for line in _iter_ancestors(lines, at))


def _build_result(lines: list[OutlineLine], start: tuple[int, int, int], until: int) -> OutlineResult | None:
    max_snippet_chars = 600  # characters
    first, end, link = start
    named = link if lines[first].role == "heading" else _heading(lines, first)
    title = _read_element_text(lines, named, _find_element_end(lines, named))
    said = list(_iter_snippet_texts(lines, end, until))
    if not title or _has_ad_label(lines, _find_element_end(lines, named), until):
        return None
    return OutlineResult(title, lines[link].url, " ".join(" ".join(said).split())[:max_snippet_chars])


def _has_ad_label(lines: list[OutlineLine], at: int, end: int) -> bool:
    """Whether a label beside the result calls it an advertisement; an emphasised word is one that was looked for."""
    emphasis_roles = frozenset({"emphasis", "strong", "mark"})  # engines put it around the words that were looked for
    for number in range(at, end):
        line = lines[number]
        if line.role in NON_RESULT_ROLES or line.role == "heading":
            return False
        inside = next(_iter_ancestors(lines, number), line)
        if AD_LABEL.fullmatch(line.text) and not emphasis_roles & {line.role, inside.role}:
            return True
    return False


def _heading(lines: list[OutlineLine], at: int) -> int:
    return next(number for number in range(at, len(lines)) if lines[number].role == "heading")


def _read_element_text(lines: list[OutlineLine], at: int, end: int) -> str:
    """What the element at `at` says: its own name, else what is in it."""
    if lines[at].text:
        return lines[at].text
    return " ".join(line.text for line in lines[at + 1 : end] if line.text)


def _iter_snippet_texts(lines: list[OutlineLine], at: int, end: int) -> Iterator[str]:
    """The texts from one result to the next, to a heading, or to a part of the page that holds no results."""
    ignored_roles = frozenset({"button", "cite", "image", "img", "ListMarker", "separator", "textbox", "combobox"})
    while at < end:
        line = lines[at]
        if line.role in NON_RESULT_ROLES or line.role == "heading":
            return
        if line.role in ignored_roles:
            at = _find_element_end(lines, at)
            continue
        leaf = at + 1 == len(lines) or lines[at + 1].depth <= line.depth
        if line.text and (leaf or line.role == "paragraph") and not BREADCRUMB.fullmatch(line.text):
            yield line.text
        at += 1
