"""XML of documents as a stream of small trees, in bounded time and memory.

Expat does the parsing. A document that declares entities is refused: none of the formats read here
needs them, and they are what explodes or reads other files (CWE-776, CWE-611). Elements are counted,
and what is nested deeper than any real document is left out, which is counted.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

MAX_DEPTH = 120  # a table in a table in a text box takes 30
NAMESPACE_PREFIXES = {  # namespaces, transitional and strict ones alike (ISO/IEC 29500-1 and -4), by the prefix used here
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main": "w",
    "http://purl.oclc.org/ooxml/wordprocessingml/main": "w",
    "http://schemas.openxmlformats.org/drawingml/2006/main": "a",
    "http://purl.oclc.org/ooxml/drawingml/main": "a",
    "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing": "wp",
    "http://purl.oclc.org/ooxml/drawingml/wordprocessingDrawing": "wp",
    "http://schemas.openxmlformats.org/drawingml/2006/chart": "c",
    "http://purl.oclc.org/ooxml/drawingml/chart": "c",
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

NO_ATTRIBUTES: dict[str, str] = {}  # most elements have no attributes, and share that


class MalformedXML(Exception):
    """What was to be XML is none, or declares entities."""


@dataclass
class ElementBudget:
    """How many elements may still be looked at; shared by all parts of one document.

    `skipped_deep` counts those that were left out because they are nested too deep.
    """

    remaining: int
    is_spent: bool = False
    skipped_deep: int = 0


class BudgetSpent(Exception):
    """The budget is spent; never leaves this module."""


@dataclass(slots=True, eq=False)
class XmlElement:
    """An element: its name with the prefix of `SPACES` (`w:p`), without one if its namespace is none of them."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list["XmlElement | str"] = field(default_factory=list)

    def get(self, name: str, default: str = "") -> str:
        """An attribute: with a prefix if it has a namespace of its own."""
        return self.attributes.get(name, default)

    def iter_children(self) -> Iterator["XmlElement"]:
        """The child elements."""
        return (child for child in self.children if isinstance(child, XmlElement))

    def iter_named(self, *names: str) -> Iterator["XmlElement"]:
        """The child elements of these names."""
        return (child for child in self.children if isinstance(child, XmlElement) and child.name in names)

    def find(self, *path: str) -> "XmlElement | None":
        """The first element down a path of names; None if there is none."""
        found: XmlElement | None = self
        for name in path:
            found = next(found.iter_named(name), None) if found else None
        return found

    def get_value(self, *path: str, attribute: str) -> str | None:
        """An attribute of the element down a path; None if the element is missing, empty if the attribute is."""
        found = self.find(*path)
        return found.get(attribute) if found is not None else None

    def walk(self) -> Iterator["XmlElement"]:
        """The element and all below it, in the order of their tags."""
        waiting: list[XmlElement] = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(reversed(list(element.iter_children())))

    def iter_descendants(self, *names: str) -> Iterator["XmlElement"]:
        """All elements below of these names."""
        return (element for element in self.walk() if element.name in names and element is not self)

    def iter_outermost(self, *names: str) -> Iterator["XmlElement"]:
        """The elements below of these names that are in no other of them; one of two equal versions only."""
        waiting = list(reversed(list(self.iter_children())))
        while waiting:
            element = waiting.pop()
            if element.name in names:
                yield element
            elif element.name == "mc:AlternateContent":
                waiting.append(element.find("mc:Choice") or element.find("mc:Fallback") or XmlElement(""))
            else:
                waiting.extend(reversed(list(element.iter_children())))

    @property
    def text(self) -> str:
        """All characters in it."""
        waiting: list[XmlElement | str] = [self]
        pieces: list[str] = []
        while waiting:
            piece = waiting.pop()
            if isinstance(piece, str):
                pieces.append(piece)
            else:
                waiting.extend(reversed(piece.children))
        return "".join(pieces)


def iter_elements(chunks: Iterable[bytes], names: Iterable[str], budget: ElementBudget) -> Iterator[XmlElement]:
    """The outermost elements of these names, each as soon as it ends; everything else passes by.

    Args:
        chunks: The source, in pieces of any length.
        names: For instance `w:p`.
        budget: When it is spent the stream ends, the element at hand cut.

    Raises:
        MalformedXML: it is no XML, or declares entities.
    """
    parser = _ElementParser(frozenset(names), budget)
    try:
        for chunk in chunks:
            parser.feed(chunk)
            yield from parser.take_done()
        parser.feed(b"", last=True)
    except BudgetSpent:
        parser.finish()
    yield from parser.take_done()


def parse_tree(source: bytes, budget: ElementBudget) -> XmlElement:
    """The root with all in it; an empty element if the budget was spent before. Raises as `stream` does."""
    return next(iter_elements([source], (), budget), XmlElement(""))


class _ElementParser:
    """Builds the wanted elements; all of them below the root if none are named."""

    def __init__(self, wanted: frozenset[str], budget: ElementBudget) -> None:
        self._expat: Any = expat.ParserCreate(namespace_separator=" ")
        self._expat.buffer_text = True
        self._expat.buffer_size = 1 << 16
        self._expat.StartElementHandler = self._on_start
        self._expat.EndElementHandler = self._on_end
        self._expat.CharacterDataHandler = self._on_text
        self._expat.EntityDeclHandler = self._on_entity
        self._error: type[Exception] = expat.ExpatError
        self._wanted = wanted
        self._budget = budget
        self._open: list[XmlElement] = []
        self._done: list[XmlElement] = []
        self._too_deep = 0
        self._silent = 0
        self._names: dict[str, str] = {}

    def feed(self, chunk: bytes, *, last: bool = False) -> None:
        max_silent_pieces = (
            8  # pieces without any tag or text: expat keeps a tag whole, and a hundred bytes for each attribute
        )
        max_piece_bytes = 1 << 18  # bytes that are parsed at once
        for at in range(0, len(chunk), max_piece_bytes):
            self._silent += 1
            self._parse_piece(chunk[at : at + max_piece_bytes])
            if self._silent > max_silent_pieces:
                raise MalformedXML("one of its tags takes megabytes")
        if last:
            self._parse_piece(b"", last=True)

    def _parse_piece(self, piece: bytes, *, last: bool = False) -> None:
        try:
            self._expat.Parse(piece, last)
        except (self._error, ValueError, LookupError) as error:
            raise MalformedXML(str(error)) from None

    def take_done(self) -> list[XmlElement]:
        done, self._done = self._done, []
        return done

    def finish(self) -> None:
        """Gives the element that was open when the budget was spent."""
        self._done += self._open[:1]

    def _on_start(self, name: str, attributes: dict[str, str]) -> None:
        self._silent = 0
        self._budget.remaining -= 1
        if self._budget.remaining < 0:
            self._budget.is_spent = True
            raise BudgetSpent
        name = self._shorten_name(name)
        if not self._open and self._wanted and name not in self._wanted:
            return
        if len(self._open) >= MAX_DEPTH:
            self._too_deep += 1
            self._budget.skipped_deep += 1
            return
        element = XmlElement(name, self._shorten_attributes(attributes) if attributes else NO_ATTRIBUTES)
        if self._open:
            self._open[-1].children.append(element)
        self._open.append(element)

    def _on_end(self, _name: str) -> None:
        if self._too_deep:
            self._too_deep -= 1
        elif self._open:
            element = self._open.pop()
            if not self._open:
                self._done.append(element)

    def _on_text(self, text: str) -> None:
        self._silent = 0
        if self._open and not self._too_deep:
            self._open[-1].children.append(text)

    def _on_entity(self, *_: Any) -> None:
        raise MalformedXML("it declares entities")

    def _shorten_attributes(self, attributes: dict[str, str]) -> dict[str, str]:
        if " " not in "".join(attributes):
            return attributes
        return {self._shorten_name(key): value for key, value in attributes.items()}

    def _shorten_name(self, name: str) -> str:
        if " " not in name:
            return name
        short = self._names.get(name)
        if short is None:
            space, _, local = name.rpartition(" ")
            prefix = NAMESPACE_PREFIXES.get(space, "")
            short = self._names[name] = f"{prefix}:{local}" if prefix else local
        return short
