"""Read PDF by PDFium, which is fast and has a permissive license.

PDFium runs in a separate process: it is C++ that reads hostile files, is not thread-safe, and cannot be interrupted
within a page, while a process can be killed.
"""

import logging
import re
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import pypdfium2

from outrider.core.errors import InvalidInput
from outrider.core.installation import suggest_extra
from outrider.pages.document import Document, to_single_line
from outrider.pages.memory import lift_memory_limit, limit_memory_growth
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.parsing.draft import DocumentDraft
from outrider.pages.readers.parsing.errors import build_broken_error, build_encrypted_error
from outrider.pages.readers.pdf_layout.blocks import PdfBlock, build_blocks, join_heading_lines
from outrider.pages.readers.pdf_layout.footnotes import NOTE_AREA_SHARE, split_footnotes
from outrider.pages.readers.pdf_layout.headers_footers import find_headers_footers
from outrider.pages.readers.pdf_layout.line import PdfLine
from outrider.pages.readers.pdf_layout.page import PdfPage, read_page
from outrider.pages.readers.pdf_layout.recognition import find_recognizer, recognize_page
from outrider.pages.readers.text import format_code_block

CREATION_DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?")
MIN_HEADING_SIZE_RATIO = 1.15  # of a heading's type size to that of the text
SECTION_NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?:\.|(?=\s))|(?<=\.)\d{1,3}\b")  # each number in a label like 2.1
NUMBERED_TITLE = re.compile(r"^\d{1,4}\s|\s\d{1,4}$")
TWO_LETTERS = re.compile(r"[^\W\d_]{2}")  # tells headings from large symbols in formulas
PROGRAM_PREFIX = re.compile(r"^Microsoft (?:Word|PowerPoint|Excel) - ")


def read_pdf(source: ReaderInput) -> Document:
    """Return the pages' text, as far as the time limit allows.

    Each page is below a line with its number.

    Headings are found by the file's bookmarks, else by type size; tables by rules or aligned gaps. Running headers and
    page numbers are left out.

    Raises:
        InvalidInput: if it lacks the page to start at.
        Refused: code `encrypted`, if a password is needed.
        Unavailable: code `broken_file`, if it cannot be opened.
    """
    max_growth_bytes = 500_000_000  # a book of 500 pages takes 25 million
    try:
        with limit_memory_growth(max_growth_bytes), pypdfium2.PdfDocument(source.body) as document:
            if document.get_formtype() in (pypdfium2.raw.FORMTYPE_ACRO_FORM, pypdfium2.raw.FORMTYPE_XFA_FOREGROUND):
                # For forms that have XFA beside their fields, it recommends another build of PDFium.
                logging.getLogger("pypdfium2").setLevel(logging.ERROR)
                document.init_forms()  # before the first page, to know the choices
            return PdfConverter(document, source).convert()
    except pypdfium2.PdfiumError as error:
        password_error = 4  # FPDF_ERR_PASSWORD (fpdfview.h)
        has_end = b"%%EOF" in source.body[-2_048:]  # where PDF readers look for it (ISO 32000-1 annex H.3.18)
        needs_password = getattr(error, "err_code", None) == password_error or "password" in str(error).lower()
        # PDFium may still report the error of an earlier file, so the file must be able to be encrypted.
        if needs_password and (b"/Encrypt" in source.body or b"/XRef" in source.body):
            raise build_encrypted_error(source, "PDF") from None
        if not has_end:
            raise build_broken_error(source, "PDF", "it is cut, its end is missing") from None
        is_empty = re.search(rb"/Count\s+0\b", source.body)
        reason = "it has no pages" if is_empty else "it cannot be opened"
        raise build_broken_error(source, "PDF", reason) from None


@dataclass
class PdfConverter:
    """Convert the pages of a document."""

    pdf: Any
    source: ReaderInput
    outline_levels: dict[str, dict[int, int]] = field(default_factory=dict)
    heading_sizes: list[float] = field(default_factory=list)
    body_size: float = 0
    is_mostly_bold: bool = False
    first_heading: str = ""
    item_lefts: list[float] = field(default_factory=list)  # left edges of the current item and those around it
    header_footer_ids: set[int] = field(default_factory=set)  # ids of lines
    note_count: int = 0
    is_recognition_late: bool = False  # whether recognizing a page took too long
    picture_pages: list[int] = field(default_factory=list)  # pages that are a picture without text

    def __post_init__(self) -> None:
        self.draft = DocumentDraft(self.source, "pdf")
        self.started_at = time.monotonic()

    def _is_out_of_time(self, share: float = 1) -> bool:
        return time.monotonic() - self.started_at > self.source.time_limit_s * share

    def convert(self) -> Document:
        scanned_notice = (
            "(This PDF of {} pages has no text: its pages are scans or drawings. Look for another version, or "
            "recognize its text (OCR): {}.)"
        )
        total, first = len(self.pdf), self.source.first_page
        if first > total > 0:
            raise InvalidInput(
                f"page {first} is past the end of {self.source.url or 'the PDF'} ({total} pages)",
                hint=f"ask for a page from 1 to {total}",
            )
        pages = self._read_pages()
        self.outline_levels = self._read_outline()
        self._measure_type_sizes(pages)
        self.header_footer_ids = find_headers_footers(pages, self.body_size)
        has_letters = any(page.has_letters for page in pages)
        is_scanned = not has_letters and not any(page.missing_fonts for page in pages)
        metadata: dict[str, Any] = {"pages": total, "scanned": is_scanned}
        if is_scanned:
            self.draft.add_block(scanned_notice.format(total, self._suggest_recognition()))
        written = 0
        for number, page in enumerate([] if is_scanned else pages, first):
            if written and self._is_out_of_time():
                break
            self._add_page(page, number, total)
            written += 1
        self._report_picture_pages(metadata)
        self._report_recognized_pages(pages[:written], metadata)
        self._report_missing_fonts(pages, metadata)
        self._add_attachments(metadata)
        last = first - 1 + (len(pages) if is_scanned else written)
        if last < total:
            target = "URL" if "://" in self.source.url else "file name"
            notice = f"pages {last + 1} to {total} were not read: to read them, append #page={last + 1} to the {target}"
            self.draft.blocks.append(f"\n\n--- {notice} ---")  # even if the draft is full
        return self.draft.build_document(self._read_facts(), metadata=metadata)

    def _add_page(self, page: PdfPage, number: int, total: int) -> None:
        self.draft.add_block(f"--- page {number} of {total} ---")
        if not page.is_readable:
            self.draft.add_block("(this page cannot be read)")
        elif page.has_picture and not page.has_letters:
            self.picture_pages.append(number)
            self.draft.add_block("(this page is a picture without text)")
        blocks = build_blocks([line for line in page.lines if not self._is_header_footer(line, page)])
        blocks = join_heading_lines(blocks, MIN_HEADING_SIZE_RATIO * self.body_size)
        ceiling = page.bottom + NOTE_AREA_SHARE * page.height
        blocks, notes = split_footnotes(blocks, self.body_size, ceiling, self.note_count + 1)
        for block in blocks:
            self._add_block(block, number)
        for label, note in notes:
            self.draft.add_block(f"[^{label}]: {note}", tight=True)
        self.note_count += len(notes)
        for comment in page.comments:
            self.draft.add_quote(comment)

    def _report_picture_pages(self, metadata: dict[str, Any]) -> None:
        """List the pages that have pictures instead of text.

        The message says how to recognize their letters.
        """
        max_listed_pages = 100
        picture_notice = "(No text was found on page{} {}, only pictures. To recognize text in them (OCR): {}.)"
        if self.picture_pages:
            metadata["pictured"] = self.picture_pages
            more = " and more" if len(self.picture_pages) > max_listed_pages else ""
            listed = ", ".join(map(str, self.picture_pages[:max_listed_pages])) + more
            self.draft.add_block(
                picture_notice.format("s" if len(self.picture_pages) > 1 else "", listed, self._suggest_recognition())
            )

    def _suggest_recognition(self) -> str:
        """Return ways to get the text of pictures; the built-in one only if it is not installed."""
        others = "run `ocrmypdf --skip-text` on the file"
        if self.is_recognition_late:
            return f"raise pages.timeout_s, which was too short for it, or {others}"
        if find_recognizer():
            return f"Outrider tried and found no text; {others}"
        return f"{suggest_extra('ocr')}, install Tesseract (Debian's package tesseract-ocr), or {others}"

    def _report_recognized_pages(self, pages: list[PdfPage], metadata: dict[str, Any]) -> None:
        """List the pages whose text was recognized.

        The message warns that letters and numbers in it may be wrong.
        """
        numbers = [number for number, page in enumerate(pages, self.source.first_page) if page.is_recognized]
        if numbers:
            late = " There was not enough time for all: raise pages.timeout_s." if self.is_recognition_late else ""
            metadata["recognized"] = numbers
            self.draft.add_block(
                f"(The text of this PDF was recognized in pictures, so that letters and numbers may be wrong.{late})"
                if len(numbers) == len(pages)
                else f"(The text of {len(numbers)} pages, from page {numbers[0]} on, was recognized in pictures, so "
                f"that letters and numbers in it may be wrong.{late})"
            )

    def _report_missing_fonts(self, pages: list[PdfPage], metadata: dict[str, Any]) -> None:
        """Name the fonts without which text was not read, with the way to get them."""
        names = sorted({to_single_line(name, 60) for page in pages for name in page.missing_fonts})[:10]
        if names:
            metadata["missing_fonts"] = names
            self.draft.add_block(
                f"(Some text is missing: this PDF does not contain its font{'s' if len(names) > 1 else ''} "
                f"{', '.join(names)}, and this machine has none for the script. Install one where Outrider runs, for "
                "Chinese, Japanese and Korean for instance Debian's package fonts-noto-cjk, and read the PDF again.)"
            )

    def _add_attachments(self, metadata: dict[str, Any]) -> None:
        """List attached files, and report a form that PDFium cannot show."""
        max_attachments = 200
        xfa_notice = (
            "(This is an XFA form, which only Adobe's programs can display. Ask for a plain PDF, or print it to PDF "
            "with one of them.)"
        )
        if self.pdf.get_formtype() == pypdfium2.raw.FORMTYPE_XFA_FULL:
            self.draft.add_block(xfa_notice)
        names: list[str] = []
        try:
            count = min(max_attachments, self.pdf.count_attachments())
            names = [to_single_line(self.pdf.get_attachment(number).get_name(), 300) for number in range(count)]
        except (pypdfium2.PdfiumError, ValueError):
            return
        if names:
            metadata["attachments"] = names
            self.draft.add_block("Attachments:")
            for name in names:
                self.draft.add_item(0, name)

    def _read_pages(self) -> list[PdfPage]:
        parse_time_share = 0.6  # the rest of the time is for writing
        pages: list[PdfPage] = []
        size = 0
        begin = self.source.first_page - 1
        longest_s = 0.0  # that a page took to be recognized
        for number in range(begin, min(len(self.pdf), begin + self.source.max_pages)):
            page = read_page(self.pdf, number, self.source.max_chars - size, self.draft.resolve_link)
            if page.is_readable and not page.has_letters and not page.missing_fonts:
                started_at = time.monotonic()
                if pages and started_at + longest_s - self.started_at > self.source.time_limit_s * parse_time_share:
                    break
                page = self._recognize(page, number)
                if self.is_recognition_late and pages:
                    self.is_recognition_late = False  # the last line says how to continue with this page
                    break
                longest_s = max(longest_s, time.monotonic() - started_at)
            pages.append(page)
            self.draft.hidden_count += page.hidden_lines
            size += sum(len(line.text) for line in page.lines)
            if size >= self.source.max_chars or self._is_out_of_time(parse_time_share):
                break
        return pages

    def _recognize(self, page: PdfPage, number: int) -> PdfPage:
        """Return a page with the text of its picture, if something can recognize it."""
        if not (recognize := find_recognizer()):
            return page
        time_left_s = self.source.time_limit_s - (time.monotonic() - self.started_at)
        picture = self.pdf[number]
        lift_memory_limit()  # the networks take a gigabyte, and keep it for the next page
        lines, is_complete = recognize_page(picture, recognize, 0.95 * time_left_s)
        self.is_recognition_late = not is_complete
        return replace(page, lines=lines, bottom=0, top=picture.get_height(), is_recognized=True) if lines else page

    def _read_outline(self) -> dict[str, dict[int, int]]:
        """Return the levels of the bookmarks by title and page; page 0 for bookmarks without one."""
        max_bookmarks = 5_000
        outline: dict[str, dict[int, int]] = {}
        try:
            for bookmark in islice(self.pdf.get_toc(max_depth=6), max_bookmarks):
                destination = bookmark.get_dest()
                page = destination.get_index() if destination else None
                levels = outline.setdefault(_normalize_title(bookmark.get_title()), {})
                levels.setdefault(0 if page is None else page + 1, bookmark.level + 1)
        except (pypdfium2.PdfiumError, ValueError, RecursionError):
            return {}
        outline.pop("", None)
        return outline

    def _measure_type_sizes(self, pages: list[PdfPage]) -> None:
        """Set the type size of most characters, and the four largest sizes above it."""
        lines = [line for page in pages for line in page.lines]
        counts: Counter[float] = Counter()
        for line in lines:
            counts[round(line.size * 2) / 2] += len(line.text)
        self.body_size = counts.most_common(1)[0][0] if counts else 0
        bold_chars = sum(len(line.text) for line in lines if line.bold)
        self.is_mostly_bold = 2 * bold_chars > sum(counts.values())
        sizes = {round(line.size * 2) / 2 for line in lines if not line.rotated and TWO_LETTERS.search(line.text)}
        larger = (size for size in sizes if size > MIN_HEADING_SIZE_RATIO * self.body_size)
        self.heading_sizes = sorted(larger, reverse=True)[:4]

    def _add_block(self, block: PdfBlock, page: int) -> None:
        if block.kind == "table":
            self.draft.add_table(block.rows)
        elif block.kind == "code":
            self.draft.add_block(format_code_block(block.code_text, ""))
        elif level := self._find_heading_level(block, page):
            self.first_heading = self.first_heading or block.full_text
            self.draft.add_heading(level, block.full_text)
        elif block.kind == "item":
            # The items before this one that begin further left, each inside the other, give its depth.
            left, tolerance = block.lines[0].left, 0.5 * block.size
            self.item_lefts = [*(outer for outer in self.item_lefts if outer < left - tolerance), left]
            self.draft.add_item(len(self.item_lefts) - 1, block.text, block.marker)
        else:
            self.draft.add_block(block.text)
        self.item_lefts = self.item_lefts if block.kind == "item" else []

    def _find_heading_level(self, block: PdfBlock, page: int) -> int:
        """Return a block's heading level, 0 if it is not a heading."""
        max_heading_chars, max_sentence_words, min_list_commas = 200, 10, 4
        text = block.full_text
        is_margin_note = block.lines[0].rotated
        if is_margin_note or len(text) > max_heading_chars or " … " in text or not any(map(str.isalpha, text)):
            return 0
        levels = self.outline_levels.get(_normalize_title(text), {})
        if level := levels.get(page) or levels.get(0):
            return level
        is_list = text.count(",") >= min_list_commas or "@" in text or text.startswith((",", ";"))  # of authors
        if is_list or (text.endswith(".") and text.count(" ") >= max_sentence_words):
            return 0
        size = round(block.size * 2) / 2
        if size not in self.heading_sizes and self._is_bold_heading(block):
            # As deep as its section number has parts, below all larger headings.
            depth = len(SECTION_NUMBER.findall(text[:20])) + (not SECTION_NUMBER.match(text))
            return min(6, len(self.heading_sizes) + depth)
        if size not in self.heading_sizes or (block.kind == "item" and (block.marker == "-" or len(block.lines) > 2)):
            return 0
        return self.heading_sizes.index(size) + 1 if block.kind in ("text", "item") else 0

    def _is_bold_heading(self, block: PdfBlock) -> bool:
        """Return whether a block of the text's size is a heading: bold, short, and not a sentence."""
        max_bold_heading_chars = 100
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
        """Return whether a line is a running header or page number.

        It may be both, such as a chapter's title with a number.
        """
        if id(line) in self.header_footer_ids:
            return True
        if not page.is_at_edge(line):
            return False
        if not NUMBERED_TITLE.search(line.text) or line.size > MIN_HEADING_SIZE_RATIO * self.body_size:
            return False
        text = _normalize_title(line.text)
        return len(text) > 3 and any(text.endswith(title) for title in self.outline_levels if len(title) > 3)

    def _read_facts(self) -> dict[str, str]:
        metadata = self.pdf.get_metadata_dict(skip_empty=True)
        date = CREATION_DATE.match(metadata.get("CreationDate", ""))
        title = PROGRAM_PREFIX.sub("", to_single_line(metadata.get("Title")))
        return {
            "title": _drop_placeholder(title) or self.first_heading,
            "author": _drop_placeholder(metadata.get("Author", "")),
            "description": _drop_placeholder(metadata.get("Subject", "")),
            "published": "-".join(filter(None, date.groups())) if date else "",
        }


def _drop_placeholder(fact: str) -> str:
    """Return a fact, or an empty string for the placeholders that programs write."""
    placeholders = ("", "untitled", "anonymous", "unspecified", "unknown", "user", "none", "null")
    return "" if fact.strip("() ").lower() in placeholders else fact


def _normalize_title(text: str) -> str:
    """Return the letters of a title in lower case, for comparison."""
    return "".join(letter for letter in text.lower() if letter.isalpha())


reader = DocumentReader(
    "pdf", ("application/pdf", "application/x-pdf"), read_pdf,
    suffixes=(".pdf",), isolated=True, needs_whole_body=True, has_fragments=True, rank=10,
)  # fmt: skip
