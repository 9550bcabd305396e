"""Parse XML as small trees, in bounded time and memory.

Expat does the parsing. A document that declares entities is refused: none of the formats read here needs them, and
they can expand without end or include other files (CWE-776, CWE-611). Elements are counted against a budget, the memory
of one tree is bounded, and elements nested deeper than in any real document are left out and counted.
"""

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

MAX_DEPTH = 120  # a table in a table in a text box takes 30
NAMESPACE_PREFIXES = {  # the prefixes used here, equal for transitional and strict namespaces (ISO/IEC 29500-1, -4)
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main": "w",
    "http://purl.oclc.org/ooxml/wordprocessingml/main": "w",
    "http://schemas.openxmlformats.org/drawingml/2006/main": "a",
    "http://purl.oclc.org/ooxml/drawingml/main": "a",
    "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing": "wp",
    "http://purl.oclc.org/ooxml/drawingml/wordprocessingDrawing": "wp",
    "http://schemas.openxmlformats.org/drawingml/2006/chart": "c",
    "http://purl.oclc.org/ooxml/drawingml/chart": "c",
    "http://schemas.microsoft.com/office/drawing/2014/chartex": "cx",
    "http://schemas.openxmlformats.org/drawingml/2006/diagram": "dgm",
    "http://purl.oclc.org/ooxml/drawingml/diagram": "dgm",
    "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing": "xdr",
    "http://purl.oclc.org/ooxml/drawingml/spreadsheetDrawing": "xdr",
    "http://schemas.openxmlformats.org/presentationml/2006/main": "p",
    "http://purl.oclc.org/ooxml/presentationml/main": "p",
    "http://schemas.openxmlformats.org/spreadsheetml/2006/main": "s",
    "http://purl.oclc.org/ooxml/spreadsheetml/main": "s",
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships": "r",
    "http://purl.oclc.org/ooxml/officeDocument/relationships": "r",
    "http://schemas.openxmlformats.org/package/2006/relationships": "rel",
    "http://schemas.openxmlformats.org/officeDocument/2006/math": "m",
    "http://purl.oclc.org/ooxml/officeDocument/math": "m",
    "http://schemas.openxmlformats.org/markup-compatibility/2006": "mc",
    "http://schemas.openxmlformats.org/package/2006/metadata/core-properties": "cp",
    "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments": "tc",
    "http://schemas.microsoft.com/office/powerpoint/2018/8/main": "p188",
    "urn:schemas-microsoft-com:vml": "v",
    "urn:schemas-microsoft-com:office:spreadsheet": "ss",
    "urn:schemas-microsoft-com:office:excel": "x",
    "urn:schemas-microsoft-com:office:office": "o",
    "urn:oasis:names:tc:opendocument:xmlns:office:1.0": "office",
    "urn:oasis:names:tc:opendocument:xmlns:text:1.0": "text",
    "urn:oasis:names:tc:opendocument:xmlns:table:1.0": "table",
    "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0": "draw",
    "urn:oasis:names:tc:opendocument:xmlns:style:1.0": "style",
    "urn:oasis:names:tc:opendocument:xmlns:meta:1.0": "meta",
    "urn:oasis:names:tc:opendocument:xmlns:presentation:1.0": "presentation",
    "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0": "manifest",
    "urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0": "svg",
    "urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0": "fo",
    "urn:oasis:names:tc:opendocument:xmlns:container": "container",
    "urn:oasis:names:tc:opendocument:xmlns:chart:1.0": "chart",
    "http://www.w3.org/1999/xlink": "xlink",
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://purl.org/dc/terms/": "dcterms",
    "http://www.idpf.org/2007/opf": "opf",
    "http://www.daisy.org/z3986/2005/ncx/": "ncx",
    "http://www.w3.org/1998/Math/MathML": "math",
    "http://www.w3.org/2001/04/xmlenc#": "enc",
}

BINARY_ELEMENTS = frozenset({"binary", "office:binary-data"})  # pictures as text, which is left out
ELEMENT_BYTES = 120  # with its place in a list
NO_ATTRIBUTES: dict[str, str] = {}  # shared by all elements without attributes, to save memory


class MalformedXML(Exception):
    """The source is not XML, or declares entities."""


@dataclass
class ElementBudget:
    """The number of elements that may still be looked at, shared by all parts of one document.

    `skipped_deep` counts elements that were left out because they are nested too deeply.
    """

    remaining: int
    is_spent: bool = False
    skipped_deep: int = 0


class BudgetSpent(Exception):
    """The budget is spent; never leaves this module."""


@dataclass(slots=True, eq=False)
class XmlElement:
    """An element, named with the prefix in `NAMESPACE_PREFIXES` (`w:p`), without one in other namespaces."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: Sequence["XmlElement | str"] = ()

    def get(self, name: str, default: str = "") -> str:
        """Return an attribute, named with a prefix if it has a namespace."""
        return self.attributes.get(name, default)

    def iter_children(self) -> Iterator["XmlElement"]:
        """Iterate over the child elements."""
        return (child for child in self.children if isinstance(child, XmlElement))

    def iter_named(self, *names: str) -> Iterator["XmlElement"]:
        """Iterate over the child elements of these names."""
        return (child for child in self.children if isinstance(child, XmlElement) and child.name in names)

    def find(self, *path: str) -> "XmlElement | None":
        """Return the first element down a path of names, or None."""
        element: XmlElement | None = self
        for name in path:
            element = next(element.iter_named(name), None) if element else None
        return element

    def get_value(self, *path: str, attribute: str) -> str | None:
        """Return an attribute of the element down a path: empty if missing, None without the element."""
        element = self.find(*path)
        return element.get(attribute) if element is not None else None

    def walk(self) -> Iterator["XmlElement"]:
        """Yield the element and all its descendants in document order."""
        pending: list[XmlElement] = [self]
        while pending:
            element = pending.pop()
            yield element
            pending.extend(reversed(list(element.iter_children())))

    def iter_descendants(self, *names: str) -> Iterator["XmlElement"]:
        """Iterate over all descendants of these names."""
        return (element for element in self.walk() if element.name in names and element is not self)

    def iter_outermost(self, *names: str) -> Iterator["XmlElement"]:
        """Yield the descendants of these names that are not inside another of them.

        Of the alternatives in `mc:AlternateContent` only one is visited.
        """
        pending = list(reversed(list(self.iter_children())))
        while pending:
            element = pending.pop()
            if element.name in names:
                yield element
            elif element.name == "mc:AlternateContent":
                pending.append(element.find("mc:Choice") or element.find("mc:Fallback") or XmlElement(""))
            else:
                pending.extend(reversed(list(element.iter_children())))

    @property
    def text(self) -> str:
        """Return all characters inside the element."""
        pending: list[XmlElement | str] = [self]
        pieces: list[str] = []
        while pending:
            piece = pending.pop()
            if isinstance(piece, str):
                pieces.append(piece)
            else:
                pending.extend(reversed(piece.children))
        return "".join(pieces)


def iter_elements(
    chunks: Iterable[bytes], names: Iterable[str], budget: ElementBudget, starts: Iterable[str] = ()
) -> Iterator[XmlElement]:
    """Yield the outermost elements of these names, each as soon as it ends; others are discarded.

    Args:
        chunks: The source, in pieces of any length.
        names: For instance `w:p`.
        budget: When it is spent the stream ends with the current element cut.
        starts: Elements around those that are yielded where they begin, without children.

    Raises:
        MalformedXML: if the source is not XML, or declares entities.
    """
    parser = _ElementParser(frozenset(names), budget, starts=frozenset(starts))
    try:
        for chunk in chunks:
            parser.feed(chunk)
            yield from parser.take_done()
        parser.feed(b"", last=True)
    except BudgetSpent:
        parser.finish()
    yield from parser.take_done()


def parse_tree(
    source: bytes | Iterable[bytes], budget: ElementBudget, shorten: Callable[[XmlElement], None] | None = None
) -> XmlElement:
    """Return the root element, empty if the budget is spent.

    Args:
        source: The bytes, or pieces of them.
        budget: When it is spent, or the tree is too large, the tree ends there.
        shorten: Called with each element at its end, to drop the parts that will not be read.

    Raises:
        MalformedXML: as `iter_elements` does.
    """
    parser = _ElementParser(frozenset(), budget, shorten)
    chunks = iter([source] if isinstance(source, bytes) else source)
    try:
        for chunk in chunks:
            parser.feed(chunk)
        parser.feed(b"", last=True)
    except BudgetSpent:
        parser.finish()
        deque(chunks, maxlen=0)  # an archive that unpacks to too much is refused anyway
    return next(iter(parser.take_done()), XmlElement(""))


class _ElementParser:
    """Build the wanted elements with their descendants; the root if none are named."""

    def __init__(
        self,
        names: frozenset[str],
        budget: ElementBudget,
        shorten: Callable[[XmlElement], None] | None = None,
        starts: frozenset[str] = frozenset(),
    ) -> None:
        self._expat: Any = expat.ParserCreate(namespace_separator=" ")
        self._expat.buffer_text = True
        self._expat.buffer_size = 1 << 16
        self._expat.StartElementHandler = self._on_start
        self._expat.EndElementHandler = self._on_end
        self._expat.CharacterDataHandler = self._on_text
        self._expat.EntityDeclHandler = self._on_entity
        self._wanted = names
        self._budget = budget
        self._shorten, self._starts = shorten, starts
        self._open: list[tuple[XmlElement, list[XmlElement | str], int]] = []  # children so far, and memory before it
        self._tree_bytes = self._tree_chars = 0  # of the outermost open element, about
        self._done: list[XmlElement] = []
        self._too_deep = 0
        self._pieces_without_event = 0
        self._names: dict[str, str] = {}

    def feed(self, chunk: bytes, *, last: bool = False) -> None:
        """Parse a chunk in pieces; a tag that is longer than eight pieces is refused.

        Expat keeps a tag in memory until it ends, and takes a hundred bytes for each attribute.
        """
        max_pieces_without_event = 8
        piece_bytes = 1 << 18
        for start in range(0, len(chunk), piece_bytes):
            self._pieces_without_event += 1
            self._parse_piece(chunk[start : start + piece_bytes])
            if self._pieces_without_event > max_pieces_without_event:
                raise MalformedXML("one of its tags is megabytes long")
        if last:
            self._parse_piece(b"", last=True)

    def _parse_piece(self, piece: bytes, *, last: bool = False) -> None:
        try:
            self._expat.Parse(piece, last)
        except (expat.ExpatError, ValueError, LookupError) as error:
            raise MalformedXML(str(error)) from None

    def take_done(self) -> list[XmlElement]:
        done, self._done = self._done, []
        return done

    def finish(self) -> None:
        """Finish the element that was open when the budget was spent."""
        outermost = self._open[:1]
        while self._open:
            element, children, _ = self._open.pop()
            element.children = children
        self._done += [element for element, *_ in outermost]

    def _on_start(self, name: str, attributes: dict[str, str]) -> None:
        self._pieces_without_event = 0
        self._budget.remaining -= 1
        if self._budget.remaining < 0:
            self._budget.is_spent = True
            raise BudgetSpent
        name = self._shorten_name(name)
        if not self._open and self._wanted and name not in self._wanted:
            if name in self._starts:
                self._done.append(XmlElement(name))
            return
        if len(self._open) >= MAX_DEPTH:
            self._too_deep += 1
            self._budget.skipped_deep += 1
            return
        if attributes and " " in "".join(attributes):
            attributes = {self._shorten_name(key): value for key, value in attributes.items()}
        element = XmlElement(name, attributes or NO_ATTRIBUTES)
        if self._open:
            self._open[-1][1].append(element)
        self._open.append((element, [], self._tree_bytes))
        attribute_bytes = 80  # of an entry and its place in a dictionary, besides its value
        self._take_memory(
            ELEMENT_BYTES + sum([attribute_bytes + sys.getsizeof(value) for value in attributes.values()])
        )

    def _on_end(self, _name: str) -> None:
        if self._too_deep:
            self._too_deep -= 1
        elif self._open:
            element, pieces, bytes_before = self._open.pop()
            children = element.children = tuple(pieces)  # a list takes twice as much
            if self._shorten:
                self._shorten(element)
                if element.children is not children:
                    self._tree_bytes = bytes_before + ELEMENT_BYTES
            if not self._open:
                self._tree_bytes = self._tree_chars = 0
                self._done.append(element)

    def _on_text(self, text: str) -> None:
        self._pieces_without_event = 0
        if self._open and not self._too_deep:
            element, children, _ = self._open[-1]
            if element.name in BINARY_ELEMENTS:
                return
            children.append(text)
            self._tree_chars += len(text)
            self._take_memory(sys.getsizeof(text))

    def _take_memory(self, size: int) -> None:
        """Count memory of the open tree. Raises BudgetSpent."""
        max_tree_bytes, max_tree_chars = 28_000_000, 6_000_000  # a book of 500 pages takes a third
        self._tree_bytes += size
        if self._tree_bytes > max_tree_bytes or self._tree_chars > max_tree_chars:
            self._budget.is_spent = True
            raise BudgetSpent

    def _on_entity(self, *_: Any) -> None:
        raise MalformedXML("it declares entities")

    def _shorten_name(self, name: str) -> str:
        if " " not in name:
            return name
        short = self._names.get(name)
        if short is None:
            space, _, local = name.rpartition(" ")
            prefix = NAMESPACE_PREFIXES.get(space, "")
            short = self._names[name] = f"{prefix}:{local}" if prefix else local
        return short
