"""Detect how text is rotated, and make its coordinates upright."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pypdfium2.raw as pdfium

from outrider.pages.readers.pdf_layout.graphics import Box


@dataclass(frozen=True, slots=True)
class PageRotation:
    """Counterclockwise quarter turns of a page's text, and the page's box."""

    quarter_turns: int
    page_box: Box

    def to_upright(self, box: Box) -> Box:
        """Convert a box from the page's coordinates to those of upright text."""
        page = self.page_box
        if self.quarter_turns == 1:
            return Box(box.bottom, page.right - box.right, box.top, page.right - box.left)
        if self.quarter_turns == 2:
            return Box(page.right - box.right, page.top - box.top, page.right - box.left, page.top - box.bottom)
        if self.quarter_turns == 3:
            return Box(page.top - box.top, box.left, page.top - box.bottom, box.right)
        return box

    def to_page(self, box: Box) -> Box:
        """Convert a box from the coordinates of upright text to the page's."""
        page = self.page_box
        if self.quarter_turns == 1:
            return Box(page.right - box.top, box.left, page.right - box.bottom, box.right)
        if self.quarter_turns == 3:
            return Box(box.bottom, page.top - box.right, box.top, page.top - box.left)
        return self.to_upright(box)  # a half turn is its own inverse


def get_quarter_turns(textpage: Any, index: int) -> int:
    """Return a character's counterclockwise quarter turns, 0 to 3; PDFium's angles are clockwise."""
    angle = pdfium.FPDFText_GetCharAngle(textpage.raw, index)
    return -round(angle / (math.pi / 2)) % 4 if angle >= 0 else 0


def detect_rotation(textpage: Any, page: Box) -> PageRotation:
    """Return the rotation that most of a page's text has."""
    max_samples = 60
    count = textpage.count_chars()
    step = max(1, count // max_samples)
    counts = Counter(get_quarter_turns(textpage, at) for at in range(0, count, step))
    return PageRotation(counts.most_common(1)[0][0] if counts else 0, page)
