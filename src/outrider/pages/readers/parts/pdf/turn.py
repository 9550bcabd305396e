"""Which way the text of a PDF page runs, and places as if it ran from left to right."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pypdfium2.raw as pdfium

from outrider.pages.readers.parts.pdf.drawn import Box

SAMPLES = 60  # characters of a page whose angle is asked for


@dataclass(frozen=True, slots=True)
class Turn:
    """Quarter turns against the clock by which a page's text is turned, and the page's own box."""

    quarters: int
    page: Box

    def box(self, box: Box) -> Box:
        """A box of the page as if the text were upright."""
        page, turned = self.page, self.quarters
        if turned == 1:
            return Box(box.bottom, page.right - box.right, box.top, page.right - box.left)
        if turned == 2:
            return Box(page.right - box.right, page.top - box.top, page.right - box.left, page.top - box.bottom)
        return Box(page.top - box.top, box.left, page.top - box.bottom, box.right) if turned == 3 else box

    def back(self, box: Box) -> Box:
        """A box of the upright page on the page as it is."""
        page, turned = self.page, self.quarters
        if turned == 1:
            return Box(page.right - box.top, box.left, page.right - box.bottom, box.right)
        return Box(box.bottom, page.top - box.right, box.top, page.top - box.left) if turned == 3 else self.box(box)


def quarters(textpage: Any, index: int) -> int:
    """The quarter turns of one character, from 0 to 3; PDFium counts them with the clock."""
    angle = pdfium.FPDFText_GetCharAngle(textpage.raw, index)
    return -round(angle / (math.pi / 2)) % 4 if angle >= 0 else 0


def turn(textpage: Any, page: Box) -> Turn:
    """How most of a page's text is turned."""
    count = textpage.count_chars()
    step = max(1, count // SAMPLES)
    counts = Counter(quarters(textpage, at) for at in range(0, count, step))
    return Turn(counts.most_common(1)[0][0] if counts else 0, page)
