"""PDF, by PDFium: hundreds of pages a second, and a licence that anybody can live with.

PDFium runs in a process of its own: it is C++ that reads hostile files, knows no threads, and a
page of it cannot be interrupted, while a process can be killed.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from outrider.pages.document import Document, line_of
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.parts.pdf_layout import Block, blocks
from outrider.pages.readers.parts.pdf_lines import Line, lines
from outrider.pages.readers.parts.pdf_links import addresses
from outrider.pages.readers.parts.refusals import broken, encrypted
from outrider.pages.readers.parts.writing import Draft
from outrider.pages.readers.text import fenced

DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?")
PASSWORD = 4  # FPDF_ERR_PASSWORD (fpdfview.h)
OUTLINE = 5_000  # bookmarks that are looked at
EDGE = 0.09  # of a page's height, at its top and bottom, where running heads and page numbers stand
REPEATED = 0.3  # of the pages: a line at the edge of so many is a running head
LARGER = 1.15  # than the body's size of type: a heading
HEADING = 200  # characters that a heading has at most
NUMBER = re.compile(r"^[-–—\s]*(?:page\s+)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:/|of)\s*\d{1,4})?[-–—\s]*$", re.IGNORECASE)
NUMBERED = re.compile(r"^\d{1,4}\s|\s\d{1,4}$")
DIGITS = re.compile(r"\d+")


def read(source: Source) -> Document:
    """The text of the pages, each under a line that says its number.

    Headings are told by the file's bookmarks or else by their size of type; tables by gaps that align;
    running heads and page numbers are left out.

    Raises:
        Refused: code `encrypted`, if a password is needed.
        Unavailable: code `broken_file`, if it cannot be opened.
    """
    import pypdfium2

    try:
        with pypdfium2.PdfDocument(source.body) as document:
            return Book(document, source).document()
    except pypdfium2.PdfiumError as error:
        raise _explained(source, error) from None


@dataclass
class Page:
    """A page: its lines, its height in points, and whether it could be read."""

    lines: list[Line]
    height: float
    readable: bool = True


@dataclass
class Book:
    """Writes the pages of a document."""

    pdf: Any
    source: Source
    titles: dict[str, int] = field(default_factory=dict)
    sizes: list[float] = field(default_factory=list)
    body: float = 0
    first: str = ""

    def __post_init__(self) -> None:
        self.draft = Draft(self.source, "pdf")

    def document(self) -> Document:
        total, pages = len(self.pdf), self._pages()
        self.titles = self._outline()
        self._measure(pages)
        heads = _running_heads(pages)
        for number, page in enumerate(pages, 1):
            self.draft.add(f"--- page {number} of {total} ---")
            if not page.readable:
                self.draft.add("(this page cannot be read)")
            for block in blocks([line for line in page.lines if not self._is_furniture(line, page, heads)]):
                self._write(block)
        if len(pages) < total:
            self.draft.add(f"--- {total - len(pages)} more pages were not read ---")
        return self.draft.document(self._facts(), metadata=self._further(total, pages))

    def _pages(self) -> list[Page]:
        pages: list[Page] = []
        size = 0
        for number in range(min(len(self.pdf), self.source.pages)):
            pages.append(self._page(number, self.source.chars - size))
            size += sum(len(line.text) for line in pages[-1].lines)
            if size >= self.source.chars:
                break
        return pages

    def _page(self, number: int, limit: int) -> Page:
        """A page; one that is broken gives no lines and does not lose the others."""
        import pypdfium2

        try:
            page = self.pdf[number]
            found = Page(lines(page.get_textpage(), limit), page.get_height())
            for address in addresses(self.pdf, page):
                self.draft.address(address)
            page.close()
        except pypdfium2.PdfiumError:
            return Page([], 0, readable=False)
        return found

    def _outline(self) -> dict[str, int]:
        """What the bookmarks call headings, with their levels."""
        import pypdfium2

        found: dict[str, int] = {}
        try:
            for at, entry in enumerate(self.pdf.get_toc(max_depth=6)):
                if at >= OUTLINE:
                    break
                found.setdefault(_key(entry.get_title()), entry.level + 1)
        except (pypdfium2.PdfiumError, ValueError, RecursionError):
            return {}
        found.pop("", None)
        return found

    def _measure(self, pages: list[Page]) -> None:
        """The body's size of type, which most characters have, and the larger ones of headings."""
        counts: Counter[float] = Counter()
        for line in (line for page in pages for line in page.lines):
            counts[round(line.size * 2) / 2] += len(line.text)
        self.body = counts.most_common(1)[0][0] if counts else 0
        self.sizes = sorted((size for size in counts if size > LARGER * self.body), reverse=True)[:4]

    def _write(self, block: Block) -> None:
        if block.kind == "table":
            self.draft.rows(block.rows)
        elif block.kind == "code":
            self.draft.add(fenced(block.listing, ""))
        elif level := self._level(block):
            self.first = self.first or block.text
            self.draft.heading(level, block.text)
        elif block.kind == "item":
            self.draft.item(0, block.text, block.marker)
        else:
            self.draft.add(block.text)

    def _level(self, block: Block) -> int:
        text = block.text
        if len(text) > HEADING or " … " in text or not any(letter.isalpha() for letter in text):
            return 0
        if known := self.titles.get(_key(text)):
            return known
        size = round(block.size * 2) / 2
        return self.sizes.index(size) + 1 if size in self.sizes and block.kind == "text" else 0

    def _is_furniture(self, line: Line, page: Page, heads: set[str]) -> bool:
        """Whether a line is a running head, which also a chapter's title beside a page number is, or a page number."""
        if not _at_edge(line, page):
            return False
        if _head(line) in heads or NUMBER.match(line.text[:60]):
            return True
        key = _key(line.text) if NUMBERED.search(line.text) and line.size <= LARGER * self.body else ""
        return len(key) > 3 and any(key.endswith(title) for title in self.titles if len(title) > 3)

    def _facts(self) -> dict[str, str]:
        known = self.pdf.get_metadata_dict(skip_empty=True)
        found = DATE.match(known.get("CreationDate", ""))
        return {
            "title": line_of(known.get("Title")) or self.first,
            "author": known.get("Author", ""),
            "description": known.get("Subject", ""),
            "published": "-".join(part for part in found.groups() if part) if found else "",
        }

    @staticmethod
    def _further(total: int, pages: list[Page]) -> dict[str, Any]:
        lettered = any(letter.isalpha() for page in pages for line in page.lines for letter in line.text)
        return {"pages": total, "scanned": not lettered}


def _key(text: str) -> str:
    """A title as it is compared: without numbering, case and signs."""
    return "".join(letter for letter in text.lower() if letter.isalpha())


def _at_edge(line: Line, page: Page) -> bool:
    return line.bottom > page.height * (1 - EDGE) or line.top < page.height * EDGE


def _head(line: Line) -> str:
    return DIGITS.sub("#", line.text)


def _running_heads(pages: list[Page]) -> set[str]:
    """The lines that many pages have at their edges, but for their numbers."""
    counts = Counter(head for page in pages for head in {_head(line) for line in page.lines if _at_edge(line, page)})
    return {head for head, count in counts.items() if count >= (3 if "#" in head else max(3, REPEATED * len(pages)))}


def _explained(source: Source, error: Any) -> Exception:
    if getattr(error, "err_code", None) == PASSWORD or "password" in str(error).lower():
        return encrypted(source, "PDF")
    return broken(source, "PDF")


reader = Reader(
    "pdf", ("application/pdf", "application/x-pdf"), read, suffixes=(".pdf",), isolated=True, whole=True, rank=10
)
