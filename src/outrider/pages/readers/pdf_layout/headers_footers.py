"""Find running headers, footers and page numbers of a PDF."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from statistics import median

from outrider.pages.readers.pdf_layout.line import PdfLine
from outrider.pages.readers.pdf_layout.page import PdfPage

MIN_REPEATED_PAGES = 3
MAX_HEADER_SIZE_RATIO = 1.05  # of a header's type size to that of the text
DIGITS = re.compile(r"\d+")
# Page numbers in their printed forms: 12, xii, (xii), A-3, 3 - 12, Page 12 of 90, 12 | Page.
PAGE_WORD = r"(?:page|seite|página|pagina|стр\.|p\.)"
PAGE_LABEL = re.compile(
    rf"[-–—|\[(\s]*(?:{PAGE_WORD}[\s|–-]*)?(?:[a-z]-\d{{1,3}}|\d{{1,2}} ?[-–] ?\d{{1,4}}|\d{{1,4}}|[ivxlc]{{1,7}})"
    rf"(?:\s*(?:/|of|von|de|из)\s*\d{{1,4}})?[-–—|\])\s]*|\d{{1,4}} ?\| ?p ?a ?g ?e",
    re.IGNORECASE,
)
NAMED_PAGE = re.compile(
    rf"(?:^|[\s(|–—-]){PAGE_WORD}[\s|]*\d{{1,4}}(?: ?(?:/|of|von|de) ?\d{{1,4}})?[\s)]*$", re.IGNORECASE
)
JOINED_NUMBER = re.compile(r"^\d{1,4}\s?[|•·—]|(?:[|•·—]|\b(?:19|20)\d\d\s)\s?\d{1,4}$")
NOTE_START = re.compile(
    r"[*†‡§¹²³(\[]|\d{1,3}[.)]?\s|(?:source|note|table|figure|fig\.|appendix|annex|corresponding)\b", re.IGNORECASE
)
# A number of an invoice and the like, which is not a page number.
NUMBER_LABEL = re.compile(r"(?:[.:#№]|\b(?:no|nr|number|nummer|date|total|invoice|order|id))$", re.IGNORECASE)
PUBLICATION = re.compile(
    r"\b(?:vol(?:\.|ume)\s?\d|no\.\s?\d+\W+(?:\w+ )?\d{4}|pp\.\s?\d|issn\b|isbn\b|doi(?:\.org|:)|et al\.?$|arxiv:\d|"
    r"all rights reserved|downloaded from)|©|\(c\) \d{4}"
    r"|^\d{1,2}[/.]\d{1,2}[/.]\d{2,4},? \d{1,2}:\d\d",  # as browsers print
    re.IGNORECASE,
)


def find_headers_footers(pages: list[PdfPage], body: float) -> set[int]:
    """Return the ids of lines that are headers, footers or page numbers.

    Args:
        pages: Consecutive pages.
        body: The type size of most of the text, in points.
    """
    min_page_share = 0.3
    edges = [[(line, _mask_digits(line)) for line in page.lines if is_at_edge(line, page)] for page in pages]
    counts = Counter(text for page_edges in edges for text in {text for _, text in page_edges})
    min_pages = max(MIN_REPEATED_PAGES, min_page_share * len(pages))
    # A text with a changing number is a header even on few pages.
    headers = {text for text, count in counts.items() if count >= (MIN_REPEATED_PAGES if "#" in text else min_pages)}
    repeated = {id(line) for page_edges in edges for line, text in page_edges if text in headers}
    lone = {line for page in pages for line in _find_lone_headers(page, body)} if len(pages) < min_pages else set()
    return repeated | lone | _find_page_numbers(pages) | _find_edge_bands(pages, body)


def is_at_edge(line: PdfLine, page: PdfPage) -> bool:
    """Return whether a line is in the top or bottom 9 % of a page."""
    edge = 0.09 * page.height
    return not line.table_rows and (line.bottom > page.top - edge or line.top < page.bottom + edge)


def _mask_digits(line: PdfLine) -> str:
    return DIGITS.sub("#", line.text)


def _find_page_numbers(pages: list[PdfPage]) -> set[int]:
    """Find first and last lines that count with the pages, however far from the edge."""
    lines_by_offset: dict[int, list[int]] = {}
    for number, page in enumerate(pages):
        if not page.lines:
            continue
        top = max(page.lines, key=lambda line: line.top)
        bottom = min(page.lines, key=lambda line: line.bottom)
        for line in [top] if top is bottom else [top, bottom]:
            if line.text.isdecimal() and len(line.text) < 5:
                lines_by_offset.setdefault(int(line.text) - number, []).append(id(line))
    return {line for lines in lines_by_offset.values() if len(lines) >= MIN_REPEATED_PAGES for line in lines}


def _find_edge_bands(pages: list[PdfPage], body: float) -> set[int]:
    """Find lines that are alone at the same height of most pages.

    Chapter names are an example.

    Type larger than the text is excluded, since slides have their titles there.
    """
    min_page_share = 0.6
    max_offset_pt = 2.0
    header_ids: set[int] = set()
    min_pages = max(MIN_REPEATED_PAGES, min_page_share * sum(bool(page.lines) for page in pages))
    for upper in (True, False):
        bands = [band for page in pages for band in _iter_edge_band(page, body, upper=upper)]
        groups: list[list[EdgeBand]] = []  # those at the same height
        for band in sorted(bands, key=lambda band: band[0]):
            if groups and band[0] - groups[-1][-1][0] <= max_offset_pt:
                groups[-1].append(band)
            else:
                groups.append([band])
        for group in groups:
            # Headers of long chapters repeat words, others hold numbers.
            texts = [" ".join(sorted(map(_mask_digits, lines))) for _, lines in group]
            numbered = sum("#" in text for text in texts)
            has_repeats = len(set(texts)) < len(texts)
            if len(group) >= min_pages and (2 * numbered >= len(texts) or has_repeats):
                header_ids |= {id(line) for _, lines in group for line in lines}
    return header_ids


def _find_lone_headers(page: PdfPage, body: float) -> Iterator[int]:
    """Yield the ids of header and footer lines of a page that no other page is like."""
    max_bands = 2  # a publication's line above a chapter's, for instance
    found: set[int] = set()
    has_label = any(PAGE_LABEL.fullmatch(line.text[:60]) and is_at_edge(line, page) for line in page.lines)
    for _ in range(2):  # a page with a number has a running head, too, which may come first
        for upper in (True, False):
            lines, is_numbered = page.lines, bool(found) or has_label
            for _ in range(max_bands):
                band = next((band for _, band in _iter_edge_band(replace(page, lines=lines), body, upper=upper)), [])
                lines = [line for line in lines if line not in band]
                if not band or not _is_lone_header(band, lines, body, upper=upper, numbered=is_numbered):
                    break
                found |= set(map(id, band))
    yield from found


def _is_lone_header(band: list[PdfLine], rest: list[PdfLine], body: float, *, upper: bool, numbered: bool) -> bool:
    """Return whether the outermost lines are a header or footer.

    They have a page number or a publication's name, or are above text that continues.

    Args:
        band: The lines at one height.
        rest: The other lines of the page.
        body: The type size of most of the text, in points.
        upper: Whether the band is at the top.
        numbered: Whether the page has a number elsewhere, and so is part of something longer.
    """
    max_title_chars, max_small_ratio, min_gap_em = 80, 0.93, 1.5
    texts = [cell.text[:200] for cell in sorted((cell for line in band for cell in line.cells), key=lambda c: c.left)]
    text = " ".join(texts)[:200]
    beside = max(rest, key=lambda line: line.top) if upper else min(rest, key=lambda line: line.bottom)
    gap = band[0].bottom - beside.top if upper else beside.bottom - band[0].top
    is_apart = gap > min_gap_em * band[0].size
    if PUBLICATION.search(text) or any(NAMED_PAGE.search(cell) for cell in texts):
        return True
    if (is_apart or len(beside.cells) == 1) and _has_page_cell(texts):
        return True
    is_small = band[0].size <= max_small_ratio * body
    is_title = len(text) <= max_title_chars and not text.endswith((".", ",", ";", ":")) and not NOTE_START.match(text)
    if JOINED_NUMBER.search(text) and (is_small or (is_apart and not upper)):
        return True
    if numbered and is_apart and is_title and (is_small or not upper):
        return True
    return upper and is_title and beside.text[:1].islower() and beside.size <= MAX_HEADER_SIZE_RATIO * body


def _has_page_cell(texts: list[str]) -> bool:
    """Return whether a cell is a page number, and not that of an invoice."""
    if len(texts) == 1:
        return PAGE_LABEL.fullmatch(texts[0]) is not None
    numbers = [index for index, text in enumerate(texts) if PAGE_LABEL.fullmatch(text)]
    is_outer = bool(numbers) and (numbers[0] == 0 or numbers[-1] == len(texts) - 1)
    is_label = any(index and NUMBER_LABEL.search(texts[index - 1]) for index in numbers)
    return not is_label and (len(numbers) == 1 or (is_outer and len(numbers) < len(texts)))


EdgeBand = tuple[float, list[PdfLine]]  # distance from the page's edge in points, lines


def _iter_edge_band(page: PdfPage, body: float, *, upper: bool) -> Iterator[EdgeBand]:
    """Yield the outermost lines of a page, if they can be a header or footer."""
    max_header_chars = 120
    min_gap_em = 0.9
    lines = [line for line in page.lines if not line.rotated]
    if len(lines) < 2:
        return
    outer = max(lines, key=lambda line: line.top) if upper else min(lines, key=lambda line: line.bottom)
    middle = (outer.bottom + outer.top) / 2
    band = [line for line in lines if line.bottom < middle < line.top]
    rest = [line for line in lines if not line.bottom < middle < line.top]
    if not band or not rest or sum(len(line.text) for line in band) > max_header_chars:
        return
    if not all(
        is_at_edge(line, page) and line.size <= MAX_HEADER_SIZE_RATIO * body and not line.monospaced for line in band
    ):
        return
    above, below = (band, rest) if upper else (rest, band)
    gap = min(line.bottom for line in above) - max(line.top for line in below)
    if gap >= min_gap_em * median(line.size for line in rest):
        yield abs((page.top if upper else page.bottom) - middle), band
