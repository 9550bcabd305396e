"""Running heads and feet of a PDF: what stands at the edges of its pages and belongs to none of them."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from statistics import median

from outrider.pages.readers.pdf_layout.line import PdfLine
from outrider.pages.readers.pdf_layout.page import PdfPage

MIN_REPEATED_PAGES = 3  # pages from which on anything is repeated
DIGITS = re.compile(r"\d+")


def find_headers_footers(pages: list[PdfPage], body: float) -> set[int]:
    """The identities of lines that are running heads, or count the pages.

    Args:
        pages: One after the other.
        body: The size of type that most of the text has.
    """
    return _find_repeated_lines(pages) | _find_page_numbers(pages) | _find_edge_bands(pages, body)


def is_at_edge(line: PdfLine, page: PdfPage) -> bool:
    """Whether a line stands where running heads do."""
    edge_share = 0.09  # of a page's height, at its top and bottom, where running heads and page numbers stand
    edge = page.height * edge_share
    return not line.table_rows and (line.bottom > page.top - edge or line.top < page.bottom + edge)


def _mask_digits(line: PdfLine) -> str:
    return DIGITS.sub("#", line.text)


def _find_repeated_lines(pages: list[PdfPage]) -> set[int]:
    """The lines that many pages have at their edges, but for their numbers."""
    min_page_share = 0.3  # of the pages: a line at the edge of so many is a running head
    edges = [(line, _mask_digits(line)) for page in pages for line in page.lines if is_at_edge(line, page)]
    counts = Counter(
        shape for page in pages for shape in {_mask_digits(line) for line in page.lines if is_at_edge(line, page)}
    )
    most = max(MIN_REPEATED_PAGES, min_page_share * len(pages))
    heads = {shape for shape, count in counts.items() if count >= (MIN_REPEATED_PAGES if "#" in shape else most)}
    return {id(line) for line, shape in edges if shape in heads}


def _find_page_numbers(pages: list[PdfPage]) -> set[int]:
    """The lines that count the pages, above or below all else on them, however far from the edge."""
    found: dict[int, list[int]] = {}
    for number, page in enumerate(pages):
        for line in {id(each): each for each in _outermost(page.lines)}.values():
            if line.text.isdecimal() and len(line.text) < 5:
                found.setdefault(int(line.text) - number, []).append(id(line))
    return {line for lines in found.values() if len(lines) >= MIN_REPEATED_PAGES for line in lines}


def _outermost(lines: list[PdfLine]) -> list[PdfLine]:
    return [max(lines, key=lambda line: line.top), min(lines, key=lambda line: line.bottom)] if lines else []


def _find_edge_bands(pages: list[PdfPage], body: float) -> set[int]:
    """What stands alone at one height of most pages: chapters' names beside page numbers, first and last words.

    What is set larger than the text is none of it: the slides of a talk have their titles there.
    """
    min_page_share = 0.6  # of the pages: what stands alone at one height of so many is one, whatever it says
    found: set[int] = set()
    most = max(MIN_REPEATED_PAGES, min_page_share * sum(bool(page.lines) for page in pages))
    for upper in (True, False):
        bands = sorted(
            ((height, band) for page in pages for height, band in _iter_edge_band(page, body, upper=upper)),
            key=lambda each: each[0],
        )
        for group in _group_by_height(bands):
            if len(group) >= most and _has_shared_text(group):
                found |= {id(line) for _, band in group for line in band}
    return found


EdgeBand = tuple[float, list[PdfLine]]


def _iter_edge_band(page: PdfPage, body: float, *, upper: bool) -> Iterator[EdgeBand]:
    """The lines on the outermost height of a page, if they may be a running head, with the height."""
    max_header_chars = 120  # characters of a running head whose words change
    min_gap_em = 0.9  # of the type size: the least gap between a running head and the text
    lines = [line for line in page.lines if not line.rotated]
    if len(lines) < 2:
        return
    outer = max(lines, key=lambda line: line.top) if upper else min(lines, key=lambda line: line.bottom)
    middle = (outer.bottom + outer.top) / 2
    band = [line for line in lines if line.bottom < middle < line.top]
    rest = [line for line in lines if not line.bottom < middle < line.top]
    if not (band and rest) or not all(
        is_at_edge(line, page) and line.size <= 1.05 * body and not line.monospaced for line in band
    ):
        return
    gap = (
        min(line.bottom for line in band) - max(line.top for line in rest)
        if upper
        else min(line.bottom for line in rest) - max(line.top for line in band)
    )
    if (
        gap >= min_gap_em * median(line.size for line in rest)
        and sum(len(line.text) for line in band) <= max_header_chars
    ):
        edge = page.top if upper else page.bottom
        yield abs(edge - middle), band


def _group_by_height(bands: list[EdgeBand]) -> Iterator[list[EdgeBand]]:
    """The bands that stand on one height."""
    max_offset_pt = 2.0  # points by which heads of two pages stand at one height
    group: list[EdgeBand] = []
    for band in bands:
        if group and band[0] - group[-1][0] > max_offset_pt:
            yield group
            group = []
        group.append(band)
    if group:
        yield group


def _has_shared_text(group: list[EdgeBand]) -> bool:
    """Whether bands have words or numbers in common, as heads do whose chapters have several pages."""
    texts = [" ".join(sorted(_mask_digits(line) for line in band)) for _, band in group]
    numbered = sum("#" in text for text in texts)
    repeated = sum(len(list(same)) - 1 for _, same in groupby(sorted(texts)))
    return 2 * numbered >= len(texts) or repeated > 0
