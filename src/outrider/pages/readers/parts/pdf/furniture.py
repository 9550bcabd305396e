"""Running heads and feet of a PDF: what stands at the edges of its pages and belongs to none of them."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from statistics import median

from outrider.pages.readers.parts.pdf.line import Line
from outrider.pages.readers.parts.pdf.page import Page

EDGE = 0.09  # of a page's height, at its top and bottom, where running heads and page numbers stand
REPEATED = 0.3  # of the pages: a line at the edge of so many is a running head
PLACED = 0.6  # of the pages: what stands alone at one height of so many is one, whatever it says
FEWEST = 3  # pages from which on anything is repeated
OFF = 2.0  # points by which heads of two pages stand at one height
ALONE = 0.9  # of the type size: the least gap between a running head and the text
LONGEST = 120  # characters of a running head whose words change
DIGITS = re.compile(r"\d+")


def furniture(pages: list[Page], body: float) -> set[int]:
    """The identities of lines that are running heads, or count the pages.

    Args:
        pages: One after the other.
        body: The size of type that most of the text has.
    """
    return _repeated(pages) | _counting(pages) | _placed(pages, body)


def at_edge(line: Line, page: Page) -> bool:
    """Whether a line stands where running heads do."""
    edge = page.height * EDGE
    return not line.rows and (line.bottom > page.top - edge or line.top < page.bottom + edge)


def _shape(line: Line) -> str:
    return DIGITS.sub("#", line.text)


def _repeated(pages: list[Page]) -> set[int]:
    """The lines that many pages have at their edges, but for their numbers."""
    edges = [(line, _shape(line)) for page in pages for line in page.lines if at_edge(line, page)]
    counts = Counter(shape for page in pages for shape in {_shape(line) for line in page.lines if at_edge(line, page)})
    most = max(FEWEST, REPEATED * len(pages))
    heads = {shape for shape, count in counts.items() if count >= (FEWEST if "#" in shape else most)}
    return {id(line) for line, shape in edges if shape in heads}


def _counting(pages: list[Page]) -> set[int]:
    """The lines that count the pages, above or below all else on them, however far from the edge."""
    found: dict[int, list[int]] = {}
    for number, page in enumerate(pages):
        for line in {id(each): each for each in _outermost(page.lines)}.values():
            if line.text.isdecimal() and len(line.text) < 5:
                found.setdefault(int(line.text) - number, []).append(id(line))
    return {line for lines in found.values() if len(lines) >= FEWEST for line in lines}


def _outermost(lines: list[Line]) -> list[Line]:
    return [max(lines, key=lambda line: line.top), min(lines, key=lambda line: line.bottom)] if lines else []


def _placed(pages: list[Page], body: float) -> set[int]:
    """What stands alone at one height of most pages: chapters' names beside page numbers, first and last words.

    What is set larger than the text is none of it: the slides of a talk have their titles there.
    """
    found: set[int] = set()
    most = max(FEWEST, PLACED * sum(bool(page.lines) for page in pages))
    for upper in (True, False):
        bands = sorted(
            ((height, band) for page in pages for height, band in _band(page, body, upper=upper)),
            key=lambda each: each[0],
        )
        for group in _near(bands):
            if len(group) >= most and _varies(group):
                found |= {id(line) for _, band in group for line in band}
    return found


Band = tuple[float, list[Line]]


def _band(page: Page, body: float, *, upper: bool) -> Iterator[Band]:
    """The lines on the outermost height of a page, if they may be a running head, with the height."""
    lines = [line for line in page.lines if not line.aslant]
    if len(lines) < 2:
        return
    outer = max(lines, key=lambda line: line.top) if upper else min(lines, key=lambda line: line.bottom)
    middle = (outer.bottom + outer.top) / 2
    band = [line for line in lines if line.bottom < middle < line.top]
    rest = [line for line in lines if not line.bottom < middle < line.top]
    if not (band and rest) or not all(
        at_edge(line, page) and line.size <= 1.05 * body and not line.mono for line in band
    ):
        return
    gap = (
        min(line.bottom for line in band) - max(line.top for line in rest)
        if upper
        else min(line.bottom for line in rest) - max(line.top for line in band)
    )
    if gap >= ALONE * median(line.size for line in rest) and sum(len(line.text) for line in band) <= LONGEST:
        edge = page.top if upper else page.bottom
        yield abs(edge - middle), band


def _near(bands: list[Band]) -> Iterator[list[Band]]:
    """The bands that stand on one height."""
    group: list[Band] = []
    for band in bands:
        if group and band[0] - group[-1][0] > OFF:
            yield group
            group = []
        group.append(band)
    if group:
        yield group


def _varies(group: list[Band]) -> bool:
    """Whether bands have words or numbers in common, as heads do whose chapters have several pages."""
    texts = [" ".join(sorted(_shape(line) for line in band)) for _, band in group]
    numbered = sum("#" in text for text in texts)
    repeated = sum(len(list(same)) - 1 for _, same in groupby(sorted(texts)))
    return 2 * numbered >= len(texts) or repeated > 0
