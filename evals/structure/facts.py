"""Derive the structure of a page's main content from the page and the reference text.

An element counts if its words are in the reference with some of their context. Words that occur more often on the page
than in the reference count only where most of their context agrees, once for each place in the reference: the heading,
and not its copy in a table of contents; the link in the text, and not that in a footer or in a repeated slide. Before
this rule, one in seventy links was such a copy.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from typing import Any
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser

from evals.extraction.metric import split_words
from outrider.pages.mime.charset import decode_body

UNSEEN_TAGS = frozenset("script style template noscript head title textarea select option iframe object svg".split())  # noqa: SIM905
_BLOCKS = (
    "p div ul ol li menu dl dt dd table tr td th pre blockquote figure figcaption section article header footer aside "
    "main nav form fieldset details summary hr address h1 h2 h3 h4 h5 h6"
)
BLOCK_TAGS = frozenset(_BLOCKS.split())
HEADING_LEVELS = {f"h{level}": level for level in range(1, 7)}
LINE_CLASSES = re.compile(
    r"(?:^|\s)(?:line|code-line|token-line|view-line|gatsby-highlight-code-line)(?:\s|$)"
)  # of listings
SEAM, SEAMS = "\0", re.compile(r"\0*\n\0*|\0+")  # between lines without a break in the source
NEIGHBOR_WORDS = 24  # context on each side that identifies one of several places
MAX_PLACES = 400  # occurrences above which words are too common to distinguish


@dataclass(frozen=True)
class Facts:
    """The structure of a page, in its order.

    Attributes:
        code: Listings, unchanged, without the line breaks around them.
        rows: The non-empty cells of each row of data tables.
        items: Text of each item of a list before any list inside of it, and whether the list is ordered.
        headings: Level and text.
        links: Text and absolute address; a link around paragraphs only needs some of its words.
        math: Formulas in LaTeX.
    """

    code: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    items: list[tuple[str, bool]] = field(default_factory=list)
    headings: list[tuple[int, str]] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    math: list[str] = field(default_factory=list)

    @classmethod
    def from_json(cls, data: dict[str, list[Any]]) -> "Facts":
        """Build from JSON; missing kinds are empty."""
        facts = cls(**data)
        facts.items[:] = [(text, bool(ordered)) for text, ordered in facts.items]
        facts.headings[:] = [(level, text) for level, text in facts.headings]
        facts.links[:] = [(text, url) for text, url in facts.links]
        return facts

    def to_dict(self) -> dict[str, list[Any]]:
        """Return data for JSON."""
        return asdict(self)


class WordSequence:
    """Words in order, with a fast search for runs of words."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self._flat = _join_words(words)
        self._starts = list(accumulate((len(word) + 2 for word in words), initial=0))

    def has_run(self, some: Iterable[str]) -> bool:
        """Return whether these words occur one after another."""
        return bool(found := _join_words(some)) and found in self._flat

    def find_runs(self, some: Iterable[str]) -> list[int]:
        """Return the positions where these words begin."""
        found, wanted, places = -1, _join_words(some), list[int]()
        while wanted and len(places) <= MAX_PLACES and (found := self._flat.find(wanted, found + 1)) >= 0:
            places.append(bisect_left(self._starts, found))
        return places


def _join_words(words: Iterable[str]) -> str:
    return "".join([f" {word} " for word in words])


@dataclass
class PageWords:
    """The words of a page in order, and the span of each element."""

    words: list[str] = field(default_factory=list)
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)


class Alignment:
    """Find the elements of a page that are in the reference."""

    def __init__(self, sequence: PageWords, reference: WordSequence) -> None:
        self._spans, self._page, self._reference = sequence.spans, WordSequence(sequence.words), reference
        self._known: dict[tuple[str, ...], set[int]] = {}

    def has_element(self, node: Any) -> bool:
        """Return whether the reference has an element's words at this place."""
        start, end = self._spans.get(node.mem_id, (0, 0))
        own = self._page.words[start:end]
        return bool(own) and self._is_in_reference(start, end, own) and start in self._find_meant_places(tuple(own))

    def _is_in_reference(self, start: int, end: int, own: list[str]) -> bool:
        long_text_words = 12  # with as many words, a text needs no context
        short_text_words = 4  # with fewer words, the context on both sides must match
        context_words = 3  # words of context that must also be in the reference, so that words of menus do not count
        reference = self._reference
        if len(own) >= long_text_words:
            return reference.has_run(own)
        before, after = (
            self._page.words[max(0, start - context_words) : start],
            self._page.words[end : end + context_words],
        )
        if len(own) < short_text_words:
            return reference.has_run(before + own + after)
        return reference.has_run(before + own) or reference.has_run(own + after)

    def _find_meant_places(self, own: tuple[str, ...]) -> set[int]:
        """Find the places of these words on the page that match the reference."""
        if own not in self._known:
            self._known[own] = self._match_places(own)
        return self._known[own]

    def _match_places(self, own: tuple[str, ...]) -> set[int]:
        here, there = self._page.find_runs(own), self._reference.find_runs(own)
        if len(here) <= len(there) or max(len(here), len(there)) > MAX_PLACES:
            return set(here)
        pairs = [(-self._count_agreeing_words(mine, its, len(own)), mine, its) for mine in here for its in there]
        meant, taken = set[int](), set[int]()
        for _, mine, its in sorted(pairs):
            if mine not in meant and its not in taken:
                meant.add(mine)
                taken.add(its)
        return meant

    def _count_agreeing_words(self, mine: int, its: int, length: int) -> int:
        """Count the common words around a place of the page and a place of the reference."""
        return sum(
            (
                Counter(around(self._page.words, mine, length)) & Counter(around(self._reference.words, its, length))
            ).total()
            for around in (_take_words_before, _take_words_after)
        )


def _take_words_before(words: list[str], at: int, _: int) -> list[str]:
    return words[max(0, at - NEIGHBOR_WORDS) : at]


def _take_words_after(words: list[str], at: int, length: int) -> list[str]:
    return words[at + length : at + length + NEIGHBOR_WORDS]


def derive_facts(html: bytes | str, url: str, reference: str) -> Facts:
    """Derive the facts of a page whose main content is known as text."""
    tree = LexborHTMLParser(html if isinstance(html, str) else decode_body(html)[0])
    if tree.body is None:
        return Facts()
    known, sequence = WordSequence(split_words(reference)), PageWords()
    _collect_words(tree.body, sequence)
    aligned = Alignment(sequence, known)
    base = tree.css_first("base[href]")
    base_url = urljoin(url, (base.attributes.get("href") or "") if base else "")
    taken = [node for node in tree.body.traverse() if node.tag in FACT_TAGS and aligned.has_element(node)]
    facts = Facts()
    for node in taken:
        _add_facts(node, facts, base_url)
    facts.math.extend(_read_formulas(tree.body, sequence, known))
    return facts


def _collect_words(node: Any, sequence: PageWords) -> None:
    start = len(sequence.words)
    for child in node.iter(include_text=True):
        if child.tag == "-text":
            sequence.words += split_words(child.text_content or "")
        elif child.tag and child.tag not in UNSEEN_TAGS and child.tag[0] != "-":
            _collect_words(child, sequence)
    sequence.spans[node.mem_id] = (start, len(sequence.words))


def _add_facts(node: Any, facts: Facts, base: str) -> None:
    tag = node.tag
    if tag == "pre":
        facts.code.extend(_read_code(node))
    elif tag == "tr":
        facts.rows.extend(_read_row(node))
    elif tag == "li":
        facts.items.extend(_read_item(node))
    elif tag in HEADING_LEVELS and not _has_ancestor(node, {"table", "li", "pre", "button"}):
        facts.headings.append((HEADING_LEVELS[tag], _read_text(node)))
    elif tag == "a":
        facts.links.extend(_read_link(node, base))


FACT_TAGS = frozenset({"pre", "tr", "li", "a", *HEADING_LEVELS})


def _read_code(node: Any) -> Iterator[str]:
    """Yield the text of a listing, but not a column of line numbers."""
    if _has_ancestor(node, {"pre"}) or node.css_first("pre pre"):
        return
    parts: list[str] = []
    _collect_lines(node, parts)
    body = SEAMS.sub("\n", "".join(parts)).replace("\r\n", "\n").replace("\xa0", " ").strip("\n").rstrip()
    if not "".join(split_words(body)).isdigit():
        yield body


def _collect_lines(node: Any, parts: list[str]) -> None:
    """Collect the text of a listing; blocks in it are lines, as in browsers."""
    for child in node.iter(include_text=True):
        if child.tag == "-text":
            parts.append(child.text_content or "")
        elif child.tag == "br":
            parts.append("\n")
        elif child.tag not in UNSEEN_TAGS:
            _collect_line(child, parts)


def _collect_line(node: Any, parts: list[str]) -> None:
    edge = node.tag in BLOCK_TAGS
    if LINE_CLASSES.search(node.attributes.get("class") or "") and not edge:
        parts.append(SEAM)
        _collect_lines(node, parts)
        parts.append(SEAM)
        return
    if edge and parts and not parts[-1].endswith("\n"):
        parts.append("\n")
    _collect_lines(node, parts)
    if edge and parts and not parts[-1].endswith("\n"):
        parts.append("\n")


def _read_row(node: Any) -> Iterator[list[str]]:
    max_cell_words = 60  # a table with larger cells is layout
    table = _find_ancestor(node, "table")
    if table is None or table.attributes.get("role") == "presentation" or table.css_first("table table, table pre"):
        return
    if _find_ancestor(table, "table") is not None:
        return
    rows = [[_read_text(cell) for cell in row.iter() if cell.tag in ("td", "th")] for row in table.css("tr")]
    if max((len(split_words(cell)) for row in rows for cell in row), default=0) > max_cell_words:
        return
    if sum(sum(bool(split_words(cell)) for cell in row) > 1 for row in rows) < 2:
        return
    cells = [text for cell in node.iter() if cell.tag in ("td", "th") and split_words(text := _read_text(cell))]
    if len(cells) > 1:
        yield cells


def _read_item(node: Any) -> Iterator[tuple[str, bool]]:
    if node.parent is None or node.parent.tag not in ("ul", "ol", "menu") or _has_ancestor(node, {"table", "pre"}):
        return
    text = " ".join(_read_item_text(node)).strip()
    if split_words(text):
        yield text, node.parent.tag == "ol"


def _read_item_text(node: Any) -> list[str]:
    """Return the text of an item before the first list, table or listing in it."""
    found: list[str] = []
    for child in node.iter(include_text=True):
        if child.tag in ("ul", "ol", "menu", "table", "pre", "dl", "blockquote"):
            break
        if child.tag == "-text":
            found.append(child.text_content or "")
        elif child.tag not in UNSEEN_TAGS:
            if child.css_first("ul, ol, table, pre, dl, blockquote"):
                found += _read_item_text(child)
                break
            found.append(_read_text(child))
    return [part for part in (" ".join(part.split()) for part in found) if part]


def _read_link(node: Any, base: str) -> Iterator[tuple[str, str]]:
    href = (node.attributes.get("href") or "").strip()
    if not href or href.startswith("#") or _has_ancestor(node, {"pre", "code"}):
        return
    try:
        url = urljoin(base, "".join(href.split("\n")))
    except ValueError:
        return
    if "#" in url and url.partition("#")[0] == base.partition("#")[0]:  # a link within the page
        return
    if url.startswith(("http://", "https://")) and split_words(text := _read_text(node)):
        wraps = any(child.tag in BLOCK_TAGS for child in node.traverse() if child.mem_id != node.mem_id)
        yield ("" if wraps else text), url


def _read_formulas(body: Any, sequence: PageWords, known: WordSequence) -> Iterator[str]:
    """Yield formulas that are in the reference, or whose context is."""
    for node in body.css('annotation[encoding="application/x-tex"], math[alttext]'):
        source = node.text() if node.tag == "annotation" else node.attributes.get("alttext") or ""
        math = node if node.tag == "math" else _find_ancestor(node, "math")
        if math is None or (node.tag == "math" and node.css_first('annotation[encoding="application/x-tex"]')):
            continue
        start, end = sequence.spans.get(math.mem_id, (0, 0))
        around = sequence.words[max(0, start - 4) : start], sequence.words[end : end + 4]
        inside = split_words(source)
        if (inside and known.has_run(inside) and len(inside) > 2) or all(
            part and known.has_run(part) for part in around
        ):
            yield " ".join(source.split())


def _read_text(node: Any) -> str:
    """Return the words of an element with single spaces; paragraphs do not run together."""
    parts: list[str] = []
    _collect_text(node, parts)
    return " ".join("".join(parts).split())


def _collect_text(node: Any, parts: list[str]) -> None:
    for child in node.iter(include_text=True):
        if child.tag == "-text":
            parts.append(child.text_content or "")
        elif child.tag == "br":
            parts.append(" ")
        elif child.tag not in UNSEEN_TAGS:
            edge = " " if child.tag in BLOCK_TAGS else ""
            parts.append(edge)
            _collect_text(child, parts)
            parts.append(edge)


def _find_ancestor(node: Any, tag: str) -> Any:
    node = node.parent
    while node is not None and node.tag != tag:
        node = node.parent
    return node


def _has_ancestor(node: Any, tags: set[str]) -> bool:
    node = node.parent
    while node is not None:
        if node.tag in tags:
            return True
        node = node.parent
    return False
