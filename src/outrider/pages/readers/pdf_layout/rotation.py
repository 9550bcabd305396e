"""Which way the text of a PDF page runs, and places as if it ran from left to right."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pypdfium2.raw as pdfium

from outrider.pages.readers.pdf_layout.graphics import Box


@dataclass(frozen=True, slots=True)
class PageRotation:
    """Quarter turns against the clock by which a page's text is turned, and the page's own box."""

    quarter_turns: int
    page_box: Box

    def to_upright(self, box: Box) -> Box:
        """A box of the page as if the text were upright."""
        page, turned = self.page_box, self.quarter_turns
        if turned == 1:
            return Box(box.bottom, page.right - box.right, box.top, page.right - box.left)
        if turned == 2:
            return Box(page.right - box.right, page.top - box.top, page.right - box.left, page.top - box.bottom)
        return Box(page.top - box.top, box.left, page.top - box.bottom, box.right) if turned == 3 else box

    def to_page(self, box: Box) -> Box:
        """A box of the upright page on the page as it is."""
        page, turned = self.page_box, self.quarter_turns
        if turned == 1:
            return Box(page.right - box.top, box.left, page.right - box.bottom, box.right)
        return (
            Box(box.bottom, page.top - box.right, box.top, page.top - box.left) if turned == 3 else self.to_upright(box)
        )


def get_quarter_turns(textpage: Any, index: int) -> int:
    """The quarter turns of one character, from 0 to 3; PDFium counts them with the clock."""
    angle = pdfium.FPDFText_GetCharAngle(textpage.raw, index)
    return -round(angle / (math.pi / 2)) % 4 if angle >= 0 else 0


def detect_rotation(textpage: Any, page: Box) -> PageRotation:
    """How most of a page's text is turned."""
    max_samples = 60  # characters of a page whose angle is asked for
    count = textpage.count_chars()
    step = max(1, count // max_samples)
    counts = Counter(get_quarter_turns(textpage, at) for at in range(0, count, step))
    return PageRotation(counts.most_common(1)[0][0] if counts else 0, page)
