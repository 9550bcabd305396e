"""Find what archives stamp in the margins of a PDF page."""

import re

from outrider.pages.readers.pdf_layout.line import PdfLine
from outrider.pages.readers.pdf_layout.page_labels import is_page_label
from outrider.pages.readers.pdf_layout.single_page_headers import DOWNLOAD, PUBLICATION

CITABLE_NUMBER = re.compile(r"arxiv:", re.IGNORECASE)
JOURNAL_CODE = re.compile(r"[A-Z]{2,8}\d{0,4}\(\d{4}\)\d+")


def find_margin_stamps(lines: list[PdfLine]) -> set[int]:
    """Return the ids of rotated lines beside all text that are about the copy, or a page number.

    A number by which the document can be cited is kept.
    """
    rotated = [line for line in lines if line.rotated]
    upright = [line for line in lines if not line.rotated and line.has_letters] if rotated else []
    if not upright:
        return set()
    left, right = min(line.left for line in upright), max(line.right for line in upright)
    return {
        id(line)
        for line in rotated
        if (line.right <= left or line.left >= right)
        and not CITABLE_NUMBER.match(line.text)
        and (
            any(pattern.search(line.text) for pattern in (DOWNLOAD, PUBLICATION, JOURNAL_CODE))
            or is_page_label(line.text)
        )
    }
