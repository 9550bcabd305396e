"""Find running headers, footers and page numbers of a PDF."""

import re
from collections import Counter
from collections.abc import Iterator
from statistics import median

from outrider.pages.readers.pdf_layout.line import PdfLine
from outrider.pages.readers.pdf_layout.margin_stamps import find_margin_stamps
from outrider.pages.readers.pdf_layout.page import PdfPage
from outrider.pages.readers.pdf_layout.page_labels import find_page_labels
from outrider.pages.readers.pdf_layout.single_page_headers import find_single_page_headers

MIN_REPEATED_PAGES = 3
MAX_HEADER_SIZE_RATIO = 1.05  # of a header's type size to that of the text
DIGITS = re.compile(r"\d+")


def find_headers_footers(pages: list[PdfPage], body: float) -> set[int]:
    """Return the ids of lines that are headers, footers or page numbers.

    Args:
        pages: Consecutive pages.
        body: The type size of most of the text, in points.
    """
    min_page_share = 0.3
    edges = [[(line, _mask_digits(line)) for line in page.lines if page.is_at_edge(line)] for page in pages]
    counts = Counter(text for page_edges in edges for text in {text for _, text in page_edges})
    min_pages = max(MIN_REPEATED_PAGES, min_page_share * len(pages))
    # A text with a changing number is a header even on few pages.
    headers = {text for text, count in counts.items() if count >= (MIN_REPEATED_PAGES if "#" in text else min_pages)}
    repeated = {id(line) for page_edges in edges for line, text in page_edges if text in headers}
    labels = [find_page_labels(page) for page in pages]
    alone = zip(pages, labels, strict=True) if len(pages) < min_pages else ()
    lone = {line for page, found in alone for line in find_single_page_headers(page, found, body)}
    stamps = {line for page in pages for line in find_margin_stamps(page.lines)}
    numbers = {id(label) for found in labels for label in found}
    return repeated | stamps | lone | numbers | _find_page_numbers(pages) | _find_edge_bands(pages, body)


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
        page.is_at_edge(line) and line.size <= MAX_HEADER_SIZE_RATIO * body and not line.monospaced for line in band
    ):
        return
    above, below = (band, rest) if upper else (rest, band)
    gap = min(line.bottom for line in above) - max(line.top for line in below)
    if gap >= min_gap_em * median(line.size for line in rest):
        yield abs((page.top if upper else page.bottom) - middle), band
