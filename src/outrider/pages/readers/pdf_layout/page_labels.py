"""Recognize the page numbers of a PDF by their printed form."""

import re
from heapq import nsmallest

from outrider.pages.readers.pdf_layout.line import PdfLine
from outrider.pages.readers.pdf_layout.page import PdfPage

# Page numbers in their printed forms: 12, xii, (xii), A-3, 3 - 12, Page 12 of 90, 12 | Page, [ 12 ].
PAGE_WORD = r"(?:page|seite|página|pagina|p[aá]g\.|стр\.|p\.)"
TOTAL = r"(?:/|of|von|de|di|из)\s?\d{1,4}"
ROMAN_NUMBER = r"(?=[ivx]|[lc]\w)c{0,3}(?:x[cl]|l?x{0,3})(?:i[xv]|v?i{0,3})"
PAGE_LABEL = re.compile(
    rf"[-–—|(\s]*(?:{PAGE_WORD}[\s|–-]*)?(?:[a-z]-\d{{1,3}}|\d{{1,2}} ?[-–] ?\d{{1,4}}|\d{{1,4}}|{ROMAN_NUMBER})"
    rf"(?:\s*{TOTAL})?[-–—|)\s]*|\d{{1,4}} ?\| ?p ?a ?g ?e|\[ \d{{1,4}} \]",
    re.IGNORECASE,
)
NAMED_PAGE = re.compile(
    rf"(?:^|[\s(|–—-]){PAGE_WORD}[\s|]*\d{{1,4}}(?: ?{TOTAL})?[\s)]*$|第 ?\d{{1,4}} ?页", re.IGNORECASE
)
FIRST_PAGE = re.compile(rf"\W*(?:{PAGE_WORD}\W*)?[1i](?:\s*{TOTAL})?\W*", re.IGNORECASE)
# A number of an invoice and the like, which is not a page number.
NUMBER_LABEL = re.compile(
    r"(?:[.:#№]|\b(?:no|nr|number|nummer|date|total|invoice|order|id|form|receipt|bill|case|exhibit|table))$",
    re.IGNORECASE,
)


def is_page_label(text: str) -> bool:
    """Return whether a text is a page number."""
    return PAGE_LABEL.fullmatch(text[:60]) is not None


def find_page_labels(page: PdfPage) -> list[PdfLine]:
    """Return the lines at the edges that are page numbers, and not numbers of a table, a form or a figure.

    Nothing else is at their height, or nothing is further out.
    """
    max_labels = 40  # a figure or a table has more numbers at an edge
    labels = [line for line in page.lines if page.is_at_edge(line) and is_page_label(line.text)]
    if len(labels) > max_labels:
        return []
    found = [label for label in labels if _is_alone(label, page) or _is_outermost(label, page)]
    return found or _find_centered_number(page)


def _find_centered_number(page: PdfPage) -> list[PdfLine]:
    """Return the last line if it is a number in the middle, below a gap, at any distance from the edge."""
    min_lines, min_gap_em, max_offset_share = 6, 1.5, 0.02
    lines = [line for line in page.lines if not line.rotated]
    if len(lines) < min_lines:
        return []
    last, lower = nsmallest(2, lines, key=lambda line: line.bottom)
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    offset = (last.left + last.right) / 2 - (left + right) / 2
    is_number = last.text.isdecimal() and len(last.text) < 5 and not last.table_rows
    is_apart = lower.bottom - last.top > min_gap_em * last.size
    return [last] if is_number and is_apart and abs(offset) < max_offset_share * (right - left) else []


def _is_alone(label: PdfLine, page: PdfPage) -> bool:
    return not any(
        line.bottom < label.top and label.bottom < line.top
        for line in page.lines
        if line is not label and not line.rotated
    )


def _is_outermost(label: PdfLine, page: PdfPage) -> bool:
    middle = (label.bottom + label.top) / 2
    if middle > (page.bottom + page.top) / 2:
        return not any(line.bottom > middle for line in page.lines)
    return not any(line.top < middle for line in page.lines)


def has_page_cell(texts: list[str]) -> bool:
    """Return whether a cell of a row is a page number, and not that of an invoice."""
    if len(texts) == 1:
        return is_page_label(texts[0])
    numbers = [index for index, text in enumerate(texts) if is_page_label(text)]
    is_outer = bool(numbers) and (numbers[0] == 0 or numbers[-1] == len(texts) - 1)
    is_label = any(index and NUMBER_LABEL.search(texts[index - 1]) for index in numbers)
    return not is_label and (len(numbers) == 1 or (is_outer and len(numbers) < len(texts)))
