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
from outrider.pages.document import Document, to_single_line
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.parsing.draft import DocumentDraft
from outrider.pages.readers.parsing.errors import build_broken_error, build_encrypted_error
from outrider.pages.readers.pdf_layout.blocks import PdfBlock, build_blocks
from outrider.pages.readers.pdf_layout.footnotes import NOTE_AREA_SHARE, split_footnotes
from outrider.pages.readers.pdf_layout.headers_footers import find_headers_footers, is_at_edge
from outrider.pages.readers.pdf_layout.line import PdfLine
from outrider.pages.readers.pdf_layout.page import PdfPage, read_page
from outrider.pages.readers.text import format_code_block

CREATION_DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?")
MIN_HEADING_SIZE_RATIO = 1.15  # than the body's size of type: a heading
SECTION_NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?:\.|(?=\s))|(?<=\.)\d{1,3}\b")  # the numbers of a section, as in 2.1
PAGE_NUMBER = re.compile(
    r"^[-–—\s]*(?:page\s+)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:/|of)\s*\d{1,4})?[-–—\s]*$", re.IGNORECASE
)
NUMBERED_TITLE = re.compile(r"^\d{1,4}\s|\s\d{1,4}$")
TWO_LETTERS = re.compile(r"[^\W\d_]{2}")  # what a heading has; signs of formulas are larger yet
PROGRAM_PREFIX = re.compile(r"^Microsoft (?:Word|PowerPoint|Excel) - ")


def read_pdf(source: ReaderInput) -> Document:
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
            return PdfConverter(document, source).convert()
    except pypdfium2.PdfiumError as error:
        raise _explain_error(source, error) from None


@dataclass
class PdfConverter:
    """Writes the pages of a document."""

    pdf: Any
    source: ReaderInput
    outline_levels: dict[str, dict[int, int]] = field(default_factory=dict)
    heading_sizes: list[float] = field(default_factory=list)
    body_size: float = 0
    is_mostly_bold: bool = False
    first_heading: str = ""
    item_lefts: list[float] = field(default_factory=list)
    header_footer_ids: set[int] = field(default_factory=set)  # identities of lines that are running heads
    note_count: int = 0  # footnotes
    picture_pages: list[int] = field(default_factory=list)  # pages that are no more than that

    def __post_init__(self) -> None:
        self.draft = DocumentDraft(self.source, "pdf")
        self.started_at = time.monotonic()

    def _is_out_of_time(self, share: float = 1) -> bool:
        return time.monotonic() - self.started_at > self.source.time_limit_s * share

    def convert(self) -> Document:
        scanned_notice = (
            "(There is no text in this PDF of {} pages, which were scanned or drawn. Look for another version of it, "
            "or have its letters recognised first, for instance with `ocrmypdf`.)"
        )
        total, first = len(self.pdf), self.source.first_page
        if first > total > 0:
            raise InvalidInput(
                f"{self.source.url}: there is no page {first}", hint=f"it has {total} pages: ask for one"
            )
        pages = self._read_pages()
        self.outline_levels = self._read_outline()
        self._measure_type_sizes(pages)
        self.header_footer_ids = find_headers_footers(pages, self.body_size)
        facts = self._further(total, pages)
        if facts["scanned"]:
            self.draft.add_block(scanned_notice.format(total))
        written = 0
        for number, page in enumerate([] if facts["scanned"] else pages, first):
            if written and self._is_out_of_time():
                break
            self._add_page(page, number, total)
            written += 1
        self._pictured(facts)
        self._add_attachments(facts)
        self._unread(first - 1 + (len(pages) if facts["scanned"] else written), total)
        return self.draft.build_document(self._read_facts(), metadata=facts)

    def _add_page(self, page: PdfPage, number: int, total: int) -> None:
        self.draft.add_block(f"--- page {number} of {total} ---")
        if not page.is_readable:
            self.draft.add_block("(this page cannot be read)")
        elif _is_picture(page):
            self.picture_pages.append(number)
            self.draft.add_block("(this page is a picture without text)")
        found = build_blocks([line for line in page.lines if not self._is_header_footer(line, page)])
        found, notes = split_footnotes(
            found, self.body_size, page.bottom + NOTE_AREA_SHARE * page.height, self.note_count + 1
        )
        for block in found:
            self._add_block(block, number)
        for label, note in notes:
            self.draft.add_block(f"[^{label}]: {note}", tight=True)
        self.note_count += len(notes)
        for remark in page.comments:
            self.draft.add_quote(remark)

    def _pictured(self, facts: dict[str, Any]) -> None:
        """Says which pages hold pictures in the place of words."""
        max_listed_pages = 100  # pages that are named
        picture_notice = (
            "(No text was found on page{} {}, of which pictures take the place. To have their letters recognised, use "
            "for instance `ocrmypdf --skip-text`.)"
        )
        if self.picture_pages:
            facts["pictured"] = self.picture_pages
            named = ", ".join(map(str, self.picture_pages[:max_listed_pages])) + (
                " and more" if len(self.picture_pages) > max_listed_pages else ""
            )
            self.draft.add_block(picture_notice.format("s" if len(self.picture_pages) > 1 else "", named))

    def _unread(self, last: int, total: int) -> None:
        """Says which pages there are besides, and how to get them; also where nothing more is taken."""
        if last < total:
            target = "URL" if "://" in self.source.url else "file name"
            notice = f"pages {last + 1} to {total} were not read: to read them, append #page={last + 1} to the {target}"
            self.draft.blocks.append(f"\n\n--- {notice} ---")

    def _add_attachments(self, facts: dict[str, Any]) -> None:
        """Names the files that the document carries along, and tells a form that is none to PDFium."""
        max_attachments = 200
        xfa_notice = (
            "(This is a form in XFA, which only Adobe's programs show. Ask for it as a plain PDF, or print it to one "
            "there.)"
        )
        if self.pdf.get_formtype() == pypdfium2.raw.FORMTYPE_XFA_FULL:
            self.draft.add_block(xfa_notice)
        names: list[str] = []
        try:
            count = min(max_attachments, self.pdf.count_attachments())
            names = [to_single_line(self.pdf.get_attachment(at).get_name(), 300) for at in range(count)]
        except (pypdfium2.PdfiumError, ValueError):
            return
        if names:
            facts["attachments"] = names
            self.draft.add_block("Attachments:")
            for name in names:
                self.draft.add_item(0, name)

    def _read_pages(self) -> list[PdfPage]:
        parse_time_share = 0.6  # of the time that is there for looking at pages; the rest is for writing them
        pages: list[PdfPage] = []
        size = 0
        begin = self.source.first_page - 1
        for number in range(begin, min(len(self.pdf), begin + self.source.max_pages)):
            pages.append(read_page(self.pdf, number, self.source.max_chars - size, self.draft.resolve_link))
            self.draft.hidden_count += pages[-1].hidden_lines
            size += sum(len(line.text) for line in pages[-1].lines)
            if size >= self.source.max_chars or self._is_out_of_time(parse_time_share):
                break
        return pages

    def _read_outline(self) -> dict[str, dict[int, int]]:
        """What the bookmarks call headings, with their levels by page; page 0 where a bookmark names none."""
        max_bookmarks = 5_000  # bookmarks that are looked at
        found: dict[str, dict[int, int]] = {}
        try:
            for at, entry in enumerate(self.pdf.get_toc(max_depth=6)):
                if at >= max_bookmarks:
                    break
                place = entry.get_dest()
                page = place.get_index() if place else None
                levels = found.setdefault(_normalize_title(entry.get_title()), {})
                levels.setdefault(0 if page is None else page + 1, entry.level + 1)
        except (pypdfium2.PdfiumError, ValueError, RecursionError):
            return {}
        found.pop("", None)
        return found

    def _measure_type_sizes(self, pages: list[PdfPage]) -> None:
        """The body's size of type, which most characters have, and the larger ones of headings."""
        counts: Counter[float] = Counter()
        for line in (line for page in pages for line in page.lines):
            counts[round(line.size * 2) / 2] += len(line.text)
        self.body_size = counts.most_common(1)[0][0] if counts else 0
        bold = sum(len(line.text) for page in pages for line in page.lines if line.bold)
        self.is_mostly_bold = 2 * bold > sum(counts.values())
        worded = {round(line.size * 2) / 2 for page in pages for line in page.lines if TWO_LETTERS.search(line.text)}
        self.heading_sizes = sorted(
            (size for size in worded if size > MIN_HEADING_SIZE_RATIO * self.body_size), reverse=True
        )[:4]

    def _add_block(self, block: PdfBlock, page: int) -> None:
        if block.kind == "table":
            self.draft.add_table(block.rows)
        elif block.kind == "code":
            self.draft.add_block(format_code_block(block.code_text, ""))
        elif level := self._find_heading_level(block, page):
            self.first_heading = self.first_heading or block.full_text
            self.draft.add_heading(level, block.full_text)
        elif block.kind == "item":
            self.draft.add_item(self._find_item_depth(block), block.text, block.marker)
        else:
            self.draft.add_block(block.text)
        self.item_lefts = self.item_lefts if block.kind == "item" else []

    def _find_item_depth(self, block: PdfBlock) -> int:
        """How deep an item is nested: by how many items before it begin further left, one in the other."""
        left, tolerance = block.lines[0].left, 0.5 * block.size
        self.item_lefts = [*(each for each in self.item_lefts if each < left - tolerance), left]
        return len(self.item_lefts) - 1

    def _find_heading_level(self, block: PdfBlock, page: int) -> int:
        max_heading_chars = 200  # characters that a heading has at most
        text = block.full_text
        if len(text) > max_heading_chars or " … " in text or not any(letter.isalpha() for letter in text):
            return 0
        known = self.outline_levels.get(_normalize_title(text), {})
        if level := known.get(page) or known.get(0):
            return level
        size = round(block.size * 2) / 2
        if size not in self.heading_sizes and self._is_bold_heading(block):
            return min(
                6, len(self.heading_sizes) + len(SECTION_NUMBER.findall(text[:20])) + (not SECTION_NUMBER.match(text))
            )
        if size not in self.heading_sizes or (block.kind == "item" and (block.marker == "-" or len(block.lines) > 2)):
            return 0
        return self.heading_sizes.index(size) + 1 if block.kind in ("text", "item") else 0

    def _is_bold_heading(self, block: PdfBlock) -> bool:
        """Whether a block in the body's size is a heading: short, bold as the body is not, and no sentence."""
        max_bold_heading_chars = 100  # characters that a heading has at most which is told by bold letters alone
        text, lines = block.full_text, block.lines
        return (
            block.bold
            and not self.is_mostly_bold
            and len(lines) < 3
            and block.size >= 0.95 * self.body_size
            and all(len(line.cells) == 1 for line in lines)
            and len(text) <= max_bold_heading_chars
            and text[-1] not in ".,;:"
            and (block.kind == "text" or (block.kind == "item" and block.marker != "-"))
        )

    def _is_header_footer(self, line: PdfLine, page: PdfPage) -> bool:
        """Whether a line is a running head, which also a chapter's title beside a page number is, or a page number."""
        if id(line) in self.header_footer_ids:
            return True
        if not is_at_edge(line, page):
            return False
        if PAGE_NUMBER.match(line.text[:60]):
            return True
        key = (
            _normalize_title(line.text)
            if NUMBERED_TITLE.search(line.text) and line.size <= MIN_HEADING_SIZE_RATIO * self.body_size
            else ""
        )
        return len(key) > 3 and any(key.endswith(title) for title in self.outline_levels if len(title) > 3)

    def _read_facts(self) -> dict[str, str]:
        known = self.pdf.get_metadata_dict(skip_empty=True)
        found = CREATION_DATE.match(known.get("CreationDate", ""))
        title = PROGRAM_PREFIX.sub("", to_single_line(known.get("Title")))
        return {
            "title": (title if _drop_placeholder(title) else "") or self.first_heading,
            "author": _drop_placeholder(known.get("Author", "")),
            "description": _drop_placeholder(known.get("Subject", "")),
            "published": "-".join(part for part in found.groups() if part) if found else "",
        }

    @staticmethod
    def _further(total: int, pages: list[PdfPage]) -> dict[str, Any]:
        lettered = any(line.has_letters for page in pages for line in page.lines)
        return {"pages": total, "scanned": not lettered}


def _is_picture(page: PdfPage) -> bool:
    return page.has_picture and not any(line.has_letters for line in page.lines)


def _drop_placeholder(fact: str) -> str:
    """A fact, unless it is what a program writes where nobody told it."""
    placeholders = frozenset({"", "untitled", "anonymous", "unspecified", "unknown", "user", "none", "null"})
    return "" if fact.strip("() ").lower() in placeholders else fact


def _normalize_title(text: str) -> str:
    """A title as it is compared: without numbering, case and signs."""
    return "".join(letter for letter in text.lower() if letter.isalpha())


def _explain_error(source: ReaderInput, error: Any) -> Exception:
    password_error = 4  # FPDF_ERR_PASSWORD (fpdfview.h)
    if b"/Encrypt" not in source.body and b"/XRef" not in source.body:  # PDFium may still tell an older file's error
        return build_broken_error(source, "PDF", _describe_damage(source.body))
    if getattr(error, "err_code", None) == password_error or "password" in str(error).lower():
        return build_encrypted_error(source, "PDF")
    return build_broken_error(source, "PDF", _describe_damage(source.body))


def _describe_damage(body: bytes) -> str:
    end_mark_bytes = 2_048  # bytes in which the mark of a file's end stands (ISO 32000-1 annex H.3.18)
    if re.search(rb"/Count\s+0\b", body) and b"%%EOF" in body[-end_mark_bytes:]:
        return "it has no pages"
    return "it cannot be opened" if b"%%EOF" in body[-end_mark_bytes:] else "it is cut, its end is missing"


reader = DocumentReader(
    "pdf", ("application/pdf", "application/x-pdf"), read_pdf,
    suffixes=(".pdf",), isolated=True, needs_whole_body=True, has_fragments=True, rank=10,
)  # fmt: skip
