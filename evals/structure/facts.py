"""Derive the structure of a page's main content from the page and the reference text.

An element counts if its words stand in the reference with some of those around them. Words that the page says more
often than the reference are counted only where most of what stands around them agrees, once for each place in the
reference: the heading, and not its twin in a table of contents; the link in the text, and not that of a footer or of a
slide that is there twice. Of the links that were taken before, one in seventy was such a twin.
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

from evals.extraction.metric import words
from outrider.pages.mime.charset import decode_body

UNSEEN = frozenset("script style template noscript head title textarea select option iframe object svg".split())  # noqa: SIM905
_BLOCKS = (
    "p div ul ol li menu dl dt dd table tr td th pre blockquote figure figcaption section article header footer aside "
    "main nav form fieldset details summary hr address h1 h2 h3 h4 h5 h6"
)
BLOCKS = frozenset(_BLOCKS.split())
HEADINGS = {f"h{level}": level for level in range(1, 7)}
AROUND = 3  # words before or after that must stand in the reference too, so that no word of a menu is taken for content
LINES = re.compile(r"(?:^|\s)(?:line|code-line|token-line|view-line|gatsby-highlight-code-line)(?:\s|$)")  # of listings
SEAM, SEAMS = "\0", re.compile(r"\0*\n\0*|\0+")  # between lines of which the source need not break
SHORT = 4  # words below which those before and after must
LONG = 12  # words from which a text is known without those around it
NEAR = 24  # words before and behind that tell of several places which one the reference means
OFTEN = 400  # times from which words are too common to be told apart
CELL_WORDS = 60  # a table with larger cells lays out


@dataclass(frozen=True)
class Facts:
    """What is marked up, in the order of the page.

    Attributes:
        code: Listings, as they stand, without the line breaks around them.
        rows: Of each row of a table of data its cells that are not empty.
        items: Text of each item of a list before any list inside of it, and whether the list is ordered.
        headings: Level and text.
        links: Text and absolute address; of a link around paragraphs only some of its words are asked for.
        math: Formulas in LaTeX.
    """

    code: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    items: list[tuple[str, bool]] = field(default_factory=list)
    headings: list[tuple[int, str]] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    math: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, data: dict[str, list[Any]]) -> "Facts":
        """From JSON; what is missing is empty."""
        facts = cls(**data)
        facts.items[:] = [(text, bool(ordered)) for text, ordered in facts.items]
        facts.headings[:] = [(level, text) for level, text in facts.headings]
        facts.links[:] = [(text, url) for text, url in facts.links]
        return facts

    def to_dict(self) -> dict[str, list[Any]]:
        """As JSON-able data."""
        return asdict(self)


class Text:
    """Words in order, to be asked whether and where others stand in it."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self._flat = _flat(words)
        self._starts = list(accumulate((len(word) + 2 for word in words), initial=0))

    def holds(self, some: Iterable[str]) -> bool:
        """Whether these words stand there one after another."""
        return bool(found := _flat(some)) and found in self._flat

    def places(self, some: Iterable[str]) -> list[int]:
        """Numbers of the words that they begin with."""
        found, wanted, places = -1, _flat(some), list[int]()
        while wanted and len(places) <= OFTEN and (found := self._flat.find(wanted, found + 1)) >= 0:
            places.append(bisect_left(self._starts, found))
        return places


def _flat(words: Iterable[str]) -> str:
    return "".join([f" {word} " for word in words])


@dataclass
class Sequence:
    """The words of a page in order, and of each element where its own begin and end."""

    words: list[str] = field(default_factory=list)
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)


class Alignment:
    """Which elements of a page the reference holds."""

    def __init__(self, sequence: Sequence, reference: Text) -> None:
        self._spans, self._page, self._reference = sequence.spans, Text(sequence.words), reference
        self._known: dict[tuple[str, ...], set[int]] = {}

    def holds(self, node: Any) -> bool:
        """Whether an element's words stand in the reference, with some around them unless they are many, and no other
        place of the page has a better claim to where they stand.
        """
        start, end = self._spans.get(node.mem_id, (0, 0))
        own = self._page.words[start:end]
        return bool(own) and self._stands(start, end, own) and start in self._meant(tuple(own))

    def _stands(self, start: int, end: int, own: list[str]) -> bool:
        reference = self._reference
        if len(own) >= LONG:
            return reference.holds(own)
        before, after = self._page.words[max(0, start - AROUND) : start], self._page.words[end : end + AROUND]
        if len(own) < SHORT:
            return reference.holds(before + own + after)
        return reference.holds(before + own) or reference.holds(own + after)

    def _meant(self, own: tuple[str, ...]) -> set[int]:
        """Where these words stand in the page and are meant by the reference."""
        if own not in self._known:
            self._known[own] = self._claimed(own)
        return self._known[own]

    def _claimed(self, own: tuple[str, ...]) -> set[int]:
        here, there = self._page.places(own), self._reference.places(own)
        if len(here) <= len(there) or max(len(here), len(there)) > OFTEN:
            return set(here)
        pairs = [(-self._agreement(mine, its, len(own)), mine, its) for mine in here for its in there]
        meant, taken = set[int](), set[int]()
        for _, mine, its in sorted(pairs):
            if mine not in meant and its not in taken:
                meant.add(mine)
                taken.add(its)
        return meant

    def _agreement(self, mine: int, its: int, length: int) -> int:
        """How many of the words around a place of the page, on each side, stand around a place of the reference."""
        return sum(
            (
                Counter(around(self._page.words, mine, length)) & Counter(around(self._reference.words, its, length))
            ).total()
            for around in (_before, _behind)
        )


def _before(words: list[str], at: int, _: int) -> list[str]:
    return words[max(0, at - NEAR) : at]


def _behind(words: list[str], at: int, length: int) -> list[str]:
    return words[at + length : at + length + NEAR]


def facts_of(html: bytes | str, url: str, reference: str) -> Facts:
    """The facts of a page whose main content is known as text."""
    tree = LexborHTMLParser(html if isinstance(html, str) else decode_body(html)[0])
    if tree.body is None:
        return Facts()
    known, sequence = Text(words(reference)), Sequence()
    _walk(tree.body, sequence)
    aligned = Alignment(sequence, known)
    base = tree.css_first("base[href]")
    base_url = urljoin(url, (base.attributes.get("href") or "") if base else "")
    taken = [node for node in tree.body.traverse() if node.tag in TAKEN and aligned.holds(node)]
    facts = Facts()
    for node in taken:
        _take(node, facts, base_url)
    facts.math.extend(_formulas(tree.body, sequence, known))
    return facts


def _walk(node: Any, sequence: Sequence) -> None:
    start = len(sequence.words)
    for child in node.iter(include_text=True):
        if child.tag == "-text":
            sequence.words += words(child.text_content or "")
        elif child.tag and child.tag not in UNSEEN and child.tag[0] != "-":
            _walk(child, sequence)
    sequence.spans[node.mem_id] = (start, len(sequence.words))


def _take(node: Any, facts: Facts, base: str) -> None:
    tag = node.tag
    if tag == "pre":
        facts.code.extend(_code(node))
    elif tag == "tr":
        facts.rows.extend(_row(node))
    elif tag == "li":
        facts.items.extend(_item(node))
    elif tag in HEADINGS and not _inside(node, {"table", "li", "pre", "button"}):
        facts.headings.append((HEADINGS[tag], _text(node)))
    elif tag == "a":
        facts.links.extend(_link(node, base))


TAKEN = frozenset({"pre", "tr", "li", "a", *HEADINGS})


def _code(node: Any) -> Iterator[str]:
    """A listing; numbers of lines are none."""
    if _inside(node, {"pre"}) or node.css_first("pre pre"):
        return
    parts: list[str] = []
    _lines(node, parts)
    body = SEAMS.sub("\n", "".join(parts)).replace("\r\n", "\n").replace("\xa0", " ").strip("\n").rstrip()
    if not "".join(words(body)).isdigit():
        yield body


def _lines(node: Any, parts: list[str]) -> None:
    """The text of a listing; blocks in it are lines, as browsers show them."""
    for child in node.iter(include_text=True):
        if child.tag == "-text":
            parts.append(child.text_content or "")
        elif child.tag == "br":
            parts.append("\n")
        elif child.tag not in UNSEEN:
            _line(child, parts)


def _line(node: Any, parts: list[str]) -> None:
    edge = node.tag in BLOCKS
    if LINES.search(node.attributes.get("class") or "") and not edge:
        parts.append(SEAM)
        _lines(node, parts)
        parts.append(SEAM)
        return
    if edge and parts and not parts[-1].endswith("\n"):
        parts.append("\n")
    _lines(node, parts)
    if edge and parts and not parts[-1].endswith("\n"):
        parts.append("\n")


def _row(node: Any) -> Iterator[list[str]]:
    table = _above(node, "table")
    if table is None or table.attributes.get("role") == "presentation" or table.css_first("table table, table pre"):
        return
    if _above(table, "table") is not None:
        return
    rows = [[_text(cell) for cell in row.iter() if cell.tag in ("td", "th")] for row in table.css("tr")]
    if max((len(words(cell)) for row in rows for cell in row), default=0) > CELL_WORDS:
        return
    if sum(sum(bool(words(cell)) for cell in row) > 1 for row in rows) < 2:
        return
    cells = [text for cell in node.iter() if cell.tag in ("td", "th") and words(text := _text(cell))]
    if len(cells) > 1:
        yield cells


def _item(node: Any) -> Iterator[tuple[str, bool]]:
    if node.parent is None or node.parent.tag not in ("ul", "ol", "menu") or _inside(node, {"table", "pre"}):
        return
    text = " ".join(_before_inner(node)).strip()
    if words(text):
        yield text, node.parent.tag == "ol"


def _before_inner(node: Any) -> list[str]:
    """The text of an item before the first list, table or listing in it."""
    found: list[str] = []
    for child in node.iter(include_text=True):
        if child.tag in ("ul", "ol", "menu", "table", "pre", "dl", "blockquote"):
            break
        if child.tag == "-text":
            found.append(child.text_content or "")
        elif child.tag not in UNSEEN:
            if child.css_first("ul, ol, table, pre, dl, blockquote"):
                found += _before_inner(child)
                break
            found.append(_text(child))
    return [part for part in (" ".join(part.split()) for part in found) if part]


def _link(node: Any, base: str) -> Iterator[tuple[str, str]]:
    href = (node.attributes.get("href") or "").strip()
    if not href or href.startswith("#") or _inside(node, {"pre", "code"}):
        return
    try:
        url = urljoin(base, "".join(href.split("\n")))
    except ValueError:
        return
    if "#" in url and url.partition("#")[0] == base.partition("#")[0]:  # a place in the page itself
        return
    if url.startswith(("http://", "https://")) and words(text := _text(node)):
        wraps = any(child.tag in BLOCKS for child in node.traverse() if child.mem_id != node.mem_id)
        yield ("" if wraps else text), url


def _formulas(body: Any, sequence: Sequence, known: Text) -> Iterator[str]:
    """Formulas of which the words, or those before and after, stand in the reference."""
    for node in body.css('annotation[encoding="application/x-tex"], math[alttext]'):
        source = node.text() if node.tag == "annotation" else node.attributes.get("alttext") or ""
        math = node if node.tag == "math" else _above(node, "math")
        if math is None or (node.tag == "math" and node.css_first('annotation[encoding="application/x-tex"]')):
            continue
        start, end = sequence.spans.get(math.mem_id, (0, 0))
        around = sequence.words[max(0, start - 4) : start], sequence.words[end : end + 4]
        inside = words(source)
        if (inside and known.holds(inside) and len(inside) > 2) or all(part and known.holds(part) for part in around):
            yield " ".join(source.split())


def _text(node: Any) -> str:
    """The words that an element shows, with single spaces; paragraphs do not run together."""
    parts: list[str] = []
    _gather(node, parts)
    return " ".join("".join(parts).split())


def _gather(node: Any, parts: list[str]) -> None:
    for child in node.iter(include_text=True):
        if child.tag == "-text":
            parts.append(child.text_content or "")
        elif child.tag == "br":
            parts.append(" ")
        elif child.tag not in UNSEEN:
            edge = " " if child.tag in BLOCKS else ""
            parts.append(edge)
            _gather(child, parts)
            parts.append(edge)


def _above(node: Any, tag: str) -> Any:
    node = node.parent
    while node is not None and node.tag != tag:
        node = node.parent
    return node


def _inside(node: Any, tags: set[str]) -> bool:
    node = node.parent
    while node is not None:
        if node.tag in tags:
            return True
        node = node.parent
    return False
