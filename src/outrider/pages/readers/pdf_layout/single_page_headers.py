"""Find the running headers and footers of a page without others like it.

They are known by their place in the margin, and by words and numbers that hardly occur elsewhere.
"""

import re
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from statistics import median, median_low

from outrider.pages.readers.pdf_layout.line import PdfLine
from outrider.pages.readers.pdf_layout.page import PdfPage
from outrider.pages.readers.pdf_layout.page_labels import (
    FIRST_PAGE,
    NAMED_PAGE,
    has_page_cell,
    is_page_label,
)

EDGE_SHARE, TIGHT_SHARE = 0.09, 0.11  # of a page's height, where headers need less evidence, and no gap to the text
MIN_GAP_EM = 0.9  # between a header and the text, where its words tell less
MAX_CELLS = 3  # of a row; tables have more
MAX_SIZE_RATIO, MAX_SMALL_RATIO = 1.1, 0.93  # of a header's type size to that of the text, and of small type
LONG_NUMBER = re.compile(r"\d{6,}")
LINK_TARGET = re.compile(r"\]\([^()\s]*\)")
NOTE_START = re.compile(
    r"[*†‡§¹²³(\[]|\d{1,3}[.)]?\s|(?:source|note|table|figure|fig\.|appendix|annex|corresponding)\b", re.IGNORECASE
)
JOINED_NUMBER = re.compile(r"^\d{1,4}\s?[|•·—]|(?:[|•·—]|\b(?:19|20)\d\d\s)\s?\d{1,4}$|[–—|•·-]\s\d{1,4}/\d{1,4}$")
PUBLICATION = re.compile(
    r"\b(?:vol(?:\.|ume)\s?\d|no\.\s?\d+\W+(?:\w+ )?\d{4}|pp\.\s?\d|issn\b|isbn\b|doi(?:\.org|:)|arxiv:\d|"
    r"(?<!, )et al\.?(?:$|:)|\d{1,4}, \d{1,5}[–-]\d{1,5},? \((?:19|20)\d\d\)|all rights reserved)|©|\(c\) \d{4}"
    r"|\.(?:ind[bd]|qx[dp])\b"  # files of typesetting programs
    r"|^\d{1,2}[/.]\d{1,2}[/.]\d{2,4},? \d{1,2}:\d\d",  # as browsers print
    re.IGNORECASE,
)
# What archives and libraries stamp on a page.
DOWNLOAD = re.compile(
    r"\bdownload(?:ed)?\s(?:from|by|on|date|at)\b|^digitized by\b|^this content downloaded", re.IGNORECASE
)
# What forms and manuals print at the bottom: Form 12 (Rev. 5-2010), Cat. No. 20910X, Revision: 2.4.
DOCUMENT_CONTROL = re.compile(
    r"\brev(?:ision|\.)?:?\s\d|\bcat(?:alog|\.)\sno\.|\bp/n\s\d|\bform\s[\w-]+\s\([^)]{0,20}\d", re.IGNORECASE
)
CHAPTER_MARK = re.compile(r"[\[(]?(?:ch|chap|chapter|book|part)\.? [ivxlc\d]+\.?[\])]?", re.IGNORECASE)  # [Ch. XIX.
AMOUNT = re.compile(r"[$€£¥]|\d[.,]\d\d(?![.,]?\d)")
SITE_ADDRESS = re.compile(
    r"(?:https?://|www\.)\S+(?: .{0,20}\b\d{1,2}[/.]\d{1,2}[/.]\d{2,4}\b.*)?", re.IGNORECASE
)  # browsers print the date after it
CONTACT = re.compile(r"@|\b(?:tel|fax|phone)\b|\d{3}[ .-]\d{3,4}\b", re.IGNORECASE)  # in a letter's head


@dataclass(frozen=True)
class PagePlace:
    """Whether something shows that a page is part of something longer, and whether it may be the first page of it."""

    is_part: bool
    is_first: bool


@dataclass
class MarginBlock:
    """The outermost rows of a page, up to the first gap.

    Attributes:
        rows: The lines at each height, the outermost first.
        rest: The other lines.
        gap_em: The distance to the rest of the page in type sizes of the block.
        depth: The distance of the innermost row from the page's edge as a share of its height.
        beside: The line of the rest next to the block.
        upper: Whether the block is at the top.
        body: The type size of most of the text, in points.
    """

    rows: list[list[PdfLine]]
    rest: list[PdfLine]
    gap_em: float
    depth: float
    beside: PdfLine
    upper: bool
    body: float

    @cached_property
    def is_apart(self) -> bool:
        """Return whether the gap is wider than between words that belong together, such as entries of a contents."""
        min_wide_gap_em = 1.5
        min_leading_ratio, max_lines, min_gaps = 1.2, 8, 3
        edge = sorted(self.rest, key=lambda line: line.top, reverse=self.upper)[:max_lines]
        pairs = pairwise(sorted(edge, key=lambda line: -line.top))
        gaps = [above.bottom - below.top for above, below in pairs if above.bottom > below.top]
        leading_em = median(gaps) / self.lines[0].size if len(gaps) >= min_gaps else 0.0
        return self.gap_em > max(min_wide_gap_em, min_leading_ratio * leading_em)

    @property
    def lines(self) -> list[PdfLine]:
        return [line for row in self.rows for line in row]

    def select_header(self, place: PagePlace) -> list[PdfLine]:
        """Return the lines of a block that are a header or footer."""
        max_evident_size_ratio, max_row_chars = 1.5, 200
        rows = list(map(read_row, self.rows))
        size = max((line.size for line in self.lines if line.has_letters), default=self.body)
        if size > max_evident_size_ratio * self.body or any(len(" ".join(row)) > max_row_chars for row in rows):
            return []
        evident = [index for index in range(len(rows)) if self.is_evident(rows, index)]
        is_plain = size <= MAX_SIZE_RATIO * self.body and not any(line.monospaced for line in self.lines)
        place = replace(place, is_part=place.is_part or bool(evident))
        if is_plain and self.is_likely(rows, place):
            return self.lines
        outer = self.rows[: evident[-1] + 1] if evident else []
        return [
            line for index, row in enumerate(outer) if index in evident or len(rows[index]) <= MAX_CELLS for line in row
        ]

    def is_evident(self, rows: list[list[str]], index: int) -> bool:
        """Return whether a row has a page number, or words that only headers and footers have."""
        row, text = rows[index], " ".join(rows[index])
        if PUBLICATION.search(text) or DOWNLOAD.search(text) or any(NAMED_PAGE.search(cell) for cell in row):
            return True
        is_site = SITE_ADDRESS.fullmatch(text) and self.depth <= EDGE_SHARE
        if is_site or (not self.upper and len(row) <= MAX_CELLS and DOCUMENT_CONTROL.search(text)):
            return True
        if self.upper and len(row) > 1 and self.rows[index][0].size > MAX_SIZE_RATIO * self.body:
            return False
        is_numbered_line = is_page_label(self.beside.text)
        if self.depth <= TIGHT_SHARE and not is_numbered_line and _needs_no_gap(row, upper=self.upper):
            return True
        is_near = self.gap_em > MIN_GAP_EM and len(self.beside.cells) == 1 and self.depth <= EDGE_SHARE
        if has_page_cell(row) and all(map(_is_title, rows[:index])) and (self.is_apart or is_near):
            return True
        is_small = self.lines[0].size <= MAX_SMALL_RATIO * self.body
        return bool(JOINED_NUMBER.search(text)) and (is_small or (self.is_apart and not self.upper))

    def is_likely(self, rows: list[list[str]], place: PagePlace) -> bool:
        """Return whether all rows of a block may be a header, and the rest of the page speaks for it."""
        max_continued_size_ratio = 1.05
        min_top_gap_em, max_top_rows = 2.0, 2  # of a running head in the type of the text
        max_first_share = 0.06  # on the page with number 1, above a letter's head and a title
        if not all(map(_is_title, rows)):
            return False
        beside, lines = self.beside, self.lines
        is_small = max(line.size for line in lines) <= MAX_SMALL_RATIO * self.body
        is_continued = beside.text[:1].islower() and beside.size <= max_continued_size_ratio * self.body
        if is_continued and self.upper and len(rows) == 1 and self.depth <= EDGE_SHARE and self.gap_em > MIN_GAP_EM:
            return True
        if not place.is_part or not self.is_apart or (place.is_first and self.depth > max_first_share):
            return False
        if not self.upper:
            return self.depth <= EDGE_SHARE
        if is_small:
            return self.depth <= EDGE_SHARE or self.gap_em > min_top_gap_em
        is_in_top_margin = self.depth <= EDGE_SHARE and self.gap_em > min_top_gap_em and not place.is_first
        return is_in_top_margin and len(rows) <= max_top_rows and (beside.bold or not any(line.bold for line in lines))


def read_row(row: list[PdfLine]) -> list[str]:
    """Return the texts of a row's cells from left to right, without the targets of links."""
    max_cell_chars = 300
    cells = sorted((cell for line in row for cell in line.cells), key=lambda cell: cell.left)
    return [LINK_TARGET.sub("]", cell.text[:max_cell_chars]) for cell in cells]


def find_single_page_headers(page: PdfPage, labels: list[PdfLine], body: float) -> set[int]:
    """Return the ids of header and footer lines of a page that no other page is like.

    Args:
        page: The page.
        labels: Its lines that are page numbers.
        body: The type size of most of the text, in points.
    """
    max_edge_lines = 60  # that are looked at
    max_lines = 2_000  # of a page
    label_ids = set(map(id, labels))
    found = set(label_ids)
    is_first = any(FIRST_PAGE.fullmatch(label.text) for label in labels)
    # Text for reading, and not a rule of underscores or a part of a figure that is larger than the page.
    lines = [
        line
        for line in page.lines
        if line.has_letters
        and not line.rotated
        and (line.table_rows or (page.bottom <= line.bottom and line.top <= page.top and line.size < body * 10))
    ]
    if len(lines) > max_lines or page.height <= 0:
        return found
    # A page with a number has a running head, too, which may come first, or a footer below the number.
    for rest in (lines, [line for line in lines if id(line) not in label_ids]):
        for upper in (True, False):
            place = PagePlace(bool(found), is_first and upper)
            edge = sorted(rest, key=lambda line: line.top, reverse=upper)[:max_edge_lines]
            block = _take_outer_block(edge, page, body, upper=upper)
            outer = set(map(id, block.select_header(place))) if block else set[int]()
            # A publication's line may be above a chapter's.
            others = [line for line in edge if id(line) not in outer]
            inner = _take_outer_block(others, page, body, upper=upper) if outer else None
            found |= outer
            found |= set(map(id, inner.select_header(place))) if inner and len(inner.rows) == 1 else set()
        if not found:
            break
    # The number of an invoice may stand in its header only.
    body_text = " ".join(line.text for line in lines if id(line) not in found)
    for line in lines:
        numbers = LONG_NUMBER.findall(line.text) if id(line) in found else []
        if not PUBLICATION.search(line.text) and not DOWNLOAD.search(line.text):
            found -= {id(line)} if any(number not in body_text for number in numbers) else set()
    return found


def _take_outer_block(lines: list[PdfLine], page: PdfPage, body: float, *, upper: bool) -> MarginBlock | None:
    """Return the outermost rows of a page up to the first gap, if it is near the edge."""
    max_margin_share = 0.13  # of a page's height, at the top and the bottom, where headers and footers may be
    min_gap_em, max_rows = 0.6, 3
    rows: list[list[PdfLine]] = []
    edge = page.top if upper else page.bottom
    usual_size = median_low([line.size for line in lines]) if lines else 0
    while lines and len(rows) < max_rows:
        outer = _find_outermost(lines, upper=upper)
        middle = (outer.bottom + outer.top) / 2
        row = [line for line in lines if line.bottom <= middle <= line.top]
        lines = [line for line in lines if not line.bottom <= middle <= line.top]
        inner = min(line.bottom for line in row) if upper else max(line.top for line in row)
        depth = abs(edge - inner) / page.height
        if not lines or depth > max_margin_share or any(line.table_rows for line in row):
            return None
        rows.append(row)
        beside = _find_outermost(lines, upper=upper)
        gap = inner - beside.top if upper else beside.bottom - inner
        needs_gap = depth > TIGHT_SHARE or is_page_label(beside.text) or not _needs_no_gap(read_row(row), upper=upper)
        if not needs_gap or gap >= min_gap_em * usual_size:
            return MarginBlock(rows, lines, gap / row[0].size, depth, beside, upper, body)
    return None


def _find_outermost(lines: list[PdfLine], *, upper: bool) -> PdfLine:
    return max(lines, key=lambda line: line.top) if upper else min(lines, key=lambda line: line.bottom)


def _needs_no_gap(row: list[str], *, upper: bool) -> bool:
    """Return whether a row is a title in capitals with a page number, or the name of a form with its edition."""
    titles = [text for text in row if not is_page_label(text)]
    if not upper and any(DOCUMENT_CONTROL.search(text) for text in titles):
        return len(titles) <= MAX_CELLS
    if not has_page_cell(row) or not 1 <= len(titles) < MAX_CELLS:
        return False
    if any(NAMED_PAGE.fullmatch(text) for text in row):
        return True
    names = [text for text in titles if not CHAPTER_MARK.fullmatch(text)]
    return upper and all(text.isupper() and not NOTE_START.match(text) for text in names)


def _is_title(row: list[str]) -> bool:
    """Return whether a row may be a title: short, and not a sentence, a note, an address or a row of a table."""
    max_title_chars = 80
    text = " ".join(row)
    if len(row) > MAX_CELLS or len(text) > max_title_chars or text.endswith((".", ",", ";", ":")):
        return False
    return not (NOTE_START.match(text) or CONTACT.search(text) or AMOUNT.search(text))
