"""PDF, by PDFium: hundreds of pages a second, and a licence that anybody can live with.

PDFium runs in a process of its own: it is C++ that reads hostile files, knows no threads, and a
page of it cannot be interrupted, while a process can be killed.
"""

import re
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pypdfium2

from outrider.core.errors import InvalidInput
from outrider.pages.document import Document, line_of
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.parts.pdf.footnotes import LOWER, parted
from outrider.pages.readers.parts.pdf.furniture import at_edge, furniture
from outrider.pages.readers.parts.pdf.layout import Block, blocks
from outrider.pages.readers.parts.pdf.line import Line
from outrider.pages.readers.parts.pdf.page import Page, read_page
from outrider.pages.readers.parts.refusals import broken, encrypted
from outrider.pages.readers.parts.writing import Draft
from outrider.pages.readers.text import fenced

DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?")
PASSWORD = 4  # FPDF_ERR_PASSWORD (fpdfview.h)
OUTLINE = 5_000  # bookmarks that are looked at
LARGER = 1.15  # than the body's size of type: a heading
HEADING = 200  # characters that a heading has at most
SHORT = 100  # characters that a heading has at most which is told by bold letters alone
SECTION = re.compile(r"(?<![\w.])\d{1,3}(?:\.|(?=\s))|(?<=\.)\d{1,3}\b")  # the numbers of a section, as in 2.1
NUMBER = re.compile(r"^[-–—\s]*(?:page\s+)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:/|of)\s*\d{1,4})?[-–—\s]*$", re.IGNORECASE)
NUMBERED = re.compile(r"^\d{1,4}\s|\s\d{1,4}$")
WORD = re.compile(r"[^\W\d_]{2}")  # what a heading has; signs of formulas are larger yet
SCANNED = (
    "(There is no text in this PDF of {} pages, which were scanned or drawn. Look for another version of it, or have "
    "its letters recognised first, for instance with `ocrmypdf`.)"
)
PICTURED = (
    "(No text was found on page{} {}, of which pictures take the place. To have their letters recognised, use for "
    "instance `ocrmypdf --skip-text`.)"
)
TOLD = 100  # pages that are named
END = 2_048  # bytes in which the mark of a file's end stands (ISO 32000-1 annex H.3.18)
XFA = "(This is a form in XFA, which only Adobe's programs show. Ask for it as a plain PDF, or print it to one there.)"
ATTACHMENTS = 200
PROGRAM = re.compile(r"^Microsoft (?:Word|PowerPoint|Excel) - ")
LOOKING = 0.6  # of the time that is there for looking at pages; the rest is for writing them
UNTOLD = frozenset({"", "untitled", "anonymous", "unspecified", "unknown", "user", "none", "null"})


def read(source: Source) -> Document:
    """The text of the pages, each under a line that says its number, as far as the time allows.

    Headings are told by the file's bookmarks or else by their size of type; tables by gaps that align;
    running heads and page numbers are left out.

    Raises:
        InvalidInput: if it has no page of the number that it shall be read from.
        Refused: code `encrypted`, if a password is needed.
        Unavailable: code `broken_file`, if it cannot be opened.
    """
    try:
        with pypdfium2.PdfDocument(source.body) as document:
            return Book(document, source).document()
    except pypdfium2.PdfiumError as error:
        raise _explained(source, error) from None


@dataclass
class Book:
    """Writes the pages of a document."""

    pdf: Any
    source: Source
    titles: dict[str, dict[int, int]] = field(default_factory=dict)
    sizes: list[float] = field(default_factory=list)
    body: float = 0
    bold: bool = False
    first: str = ""
    lefts: list[float] = field(default_factory=list)
    furniture: set[int] = field(default_factory=set)  # identities of lines that are running heads
    notes: int = 0  # footnotes
    pictures: list[int] = field(default_factory=list)  # pages that are no more than that

    def __post_init__(self) -> None:
        self.draft = Draft(self.source, "pdf")
        self.began = time.monotonic()

    def _is_late(self, share: float = 1) -> bool:
        return time.monotonic() - self.began > self.source.seconds * share

    def document(self) -> Document:
        total, first = len(self.pdf), self.source.first
        if first > total > 0:
            raise InvalidInput(
                f"{self.source.url}: there is no page {first}", hint=f"it has {total} pages: ask for one"
            )
        pages = self._pages()
        self.titles = self._outline()
        self._measure(pages)
        self.furniture = furniture(pages, self.body)
        facts = self._further(total, pages)
        if facts["scanned"]:
            self.draft.add(SCANNED.format(total))
        written = 0
        for number, page in enumerate([] if facts["scanned"] else pages, first):
            if written and self._is_late():
                break
            self._page(page, number, total)
            written += 1
        self._pictured(facts)
        self._attached(facts)
        self._unread(first - 1 + (len(pages) if facts["scanned"] else written), total)
        return self.draft.document(self._facts(), metadata=facts)

    def _page(self, page: Page, number: int, total: int) -> None:
        self.draft.add(f"--- page {number} of {total} ---")
        if not page.readable:
            self.draft.add("(this page cannot be read)")
        elif _is_picture(page):
            self.pictures.append(number)
            self.draft.add("(this page is a picture without text)")
        found = blocks([line for line in page.lines if not self._is_furniture(line, page)])
        found, notes = parted(found, self.body, page.bottom + LOWER * page.height, self.notes + 1)
        for block in found:
            self._write(block, number)
        for label, note in notes:
            self.draft.add(f"[^{label}]: {note}", tight=True)
        self.notes += len(notes)
        for remark in page.remarks:
            self.draft.quote(remark)

    def _pictured(self, facts: dict[str, Any]) -> None:
        """Says which pages hold pictures in the place of words."""
        if self.pictures:
            facts["pictured"] = self.pictures
            named = ", ".join(map(str, self.pictures[:TOLD])) + (" and more" if len(self.pictures) > TOLD else "")
            self.draft.add(PICTURED.format("s" if len(self.pictures) > 1 else "", named))

    def _unread(self, last: int, total: int) -> None:
        """Says which pages there are besides, and how to get them; also where nothing more is taken."""
        if last < total:
            what = "address" if "://" in self.source.url else "file's name"
            told = f"pages {last + 1} to {total} were not read; for them put #page={last + 1} behind the {what}"
            self.draft.blocks.append(f"\n\n--- {told} ---")

    def _attached(self, facts: dict[str, Any]) -> None:
        """Names the files that the document carries along, and tells a form that is none to PDFium."""
        if self.pdf.get_formtype() == pypdfium2.raw.FORMTYPE_XFA_FULL:
            self.draft.add(XFA)
        names: list[str] = []
        try:
            count = min(ATTACHMENTS, self.pdf.count_attachments())
            names = [line_of(self.pdf.get_attachment(at).get_name(), 300) for at in range(count)]
        except (pypdfium2.PdfiumError, ValueError):
            return
        if names:
            facts["attachments"] = names
            self.draft.add("Attachments:")
            for name in names:
                self.draft.item(0, name)

    def _pages(self) -> list[Page]:
        pages: list[Page] = []
        size = 0
        begin = self.source.first - 1
        for number in range(begin, min(len(self.pdf), begin + self.source.pages)):
            pages.append(read_page(self.pdf, number, self.source.chars - size, self.draft.address))
            self.draft.hidden += pages[-1].hidden
            size += sum(len(line.text) for line in pages[-1].lines)
            if size >= self.source.chars or self._is_late(LOOKING):
                break
        return pages

    def _outline(self) -> dict[str, dict[int, int]]:
        """What the bookmarks call headings, with their levels by page; page 0 where a bookmark names none."""
        found: dict[str, dict[int, int]] = {}
        try:
            for at, entry in enumerate(self.pdf.get_toc(max_depth=6)):
                if at >= OUTLINE:
                    break
                place = entry.get_dest()
                page = place.get_index() if place else None
                levels = found.setdefault(_key(entry.get_title()), {})
                levels.setdefault(0 if page is None else page + 1, entry.level + 1)
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
        bold = sum(len(line.text) for page in pages for line in page.lines if line.bold)
        self.bold = 2 * bold > sum(counts.values())
        worded = {round(line.size * 2) / 2 for page in pages for line in page.lines if WORD.search(line.text)}
        self.sizes = sorted((size for size in worded if size > LARGER * self.body), reverse=True)[:4]

    def _write(self, block: Block, page: int) -> None:
        if block.kind == "table":
            self.draft.rows(block.rows)
        elif block.kind == "code":
            self.draft.add(fenced(block.listing, ""))
        elif level := self._level(block, page):
            self.first = self.first or block.whole
            self.draft.heading(level, block.whole)
        elif block.kind == "item":
            self.draft.item(self._depth(block), block.text, block.marker)
        else:
            self.draft.add(block.text)
        self.lefts = self.lefts if block.kind == "item" else []

    def _depth(self, block: Block) -> int:
        """How deep an item is nested: by how many items before it begin further left, one in the other."""
        left, tolerance = block.lines[0].left, 0.5 * block.size
        self.lefts = [*(each for each in self.lefts if each < left - tolerance), left]
        return len(self.lefts) - 1

    def _level(self, block: Block, page: int) -> int:
        text = block.whole
        if len(text) > HEADING or " … " in text or not any(letter.isalpha() for letter in text):
            return 0
        known = self.titles.get(_key(text), {})
        if level := known.get(page) or known.get(0):
            return level
        size = round(block.size * 2) / 2
        if size not in self.sizes and self._is_bold_heading(block):
            return min(6, len(self.sizes) + len(SECTION.findall(text[:20])) + (not SECTION.match(text)))
        if size not in self.sizes or (block.kind == "item" and (block.marker == "-" or len(block.lines) > 2)):
            return 0
        return self.sizes.index(size) + 1 if block.kind in ("text", "item") else 0

    def _is_bold_heading(self, block: Block) -> bool:
        """Whether a block in the body's size is a heading: short, bold as the body is not, and no sentence."""
        text, lines = block.whole, block.lines
        return (
            block.bold
            and not self.bold
            and len(lines) < 3
            and block.size >= 0.95 * self.body
            and all(len(line.cells) == 1 for line in lines)
            and len(text) <= SHORT
            and text[-1] not in ".,;:"
            and (block.kind == "text" or (block.kind == "item" and block.marker != "-"))
        )

    def _is_furniture(self, line: Line, page: Page) -> bool:
        """Whether a line is a running head, which also a chapter's title beside a page number is, or a page number."""
        if id(line) in self.furniture:
            return True
        if not at_edge(line, page):
            return False
        if NUMBER.match(line.text[:60]):
            return True
        key = _key(line.text) if NUMBERED.search(line.text) and line.size <= LARGER * self.body else ""
        return len(key) > 3 and any(key.endswith(title) for title in self.titles if len(title) > 3)

    def _facts(self) -> dict[str, str]:
        known = self.pdf.get_metadata_dict(skip_empty=True)
        found = DATE.match(known.get("CreationDate", ""))
        title = PROGRAM.sub("", line_of(known.get("Title")))
        return {
            "title": (title if _told(title) else "") or self.first,
            "author": _told(known.get("Author", "")),
            "description": _told(known.get("Subject", "")),
            "published": "-".join(part for part in found.groups() if part) if found else "",
        }

    @staticmethod
    def _further(total: int, pages: list[Page]) -> dict[str, Any]:
        lettered = any(line.lettered for page in pages for line in page.lines)
        return {"pages": total, "scanned": not lettered}


def _is_picture(page: Page) -> bool:
    return page.pictured and not any(line.lettered for line in page.lines)


def _told(fact: str) -> str:
    """A fact, unless it is what a program writes where nobody told it."""
    return "" if fact.strip("() ").lower() in UNTOLD else fact


def _key(text: str) -> str:
    """A title as it is compared: without numbering, case and signs."""
    return "".join(letter for letter in text.lower() if letter.isalpha())


def _explained(source: Source, error: Any) -> Exception:
    if b"/Encrypt" not in source.body and b"/XRef" not in source.body:  # PDFium may still tell an older file's error
        return broken(source, "PDF", _damage(source.body))
    if getattr(error, "err_code", None) == PASSWORD or "password" in str(error).lower():
        return encrypted(source, "PDF")
    return broken(source, "PDF", _damage(source.body))


def _damage(body: bytes) -> str:
    if re.search(rb"/Count\s+0\b", body) and b"%%EOF" in body[-END:]:
        return "it has no pages"
    return "it cannot be opened" if b"%%EOF" in body[-END:] else "it is cut, its end is missing"


reader = Reader(
    "pdf", ("application/pdf", "application/x-pdf"), read,
    suffixes=(".pdf",), isolated=True, whole=True, places=True, rank=10,
)  # fmt: skip
