"""The order in which the lines of a PDF page are read.

PDFium's order, which is that of the content, is right for nearly all files that programs write today, so it is only
left where the lines jump about.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from statistics import median

from outrider.pages.readers.pdf_layout.line import PdfLine


def sort_reading_order(lines: list[PdfLine]) -> list[PdfLine]:
    """The lines in reading order: as they come, unless they jump upwards more often than columns explain."""
    jumps = sum(after.bottom > before.top for before, after in pairwise(lines))
    return list(_iter_xy_cut(lines, 0)) if jumps > max(4, len(lines) // 8) else lines


def _iter_xy_cut(lines: list[PdfLine], depth: int) -> Iterator[PdfLine]:
    """Bands from top to bottom, columns from left to right, each cut again (Nagy and Seth 1984)."""
    max_depth = 12  # cuts of a page into columns and bands
    if len(lines) < 2 or depth >= max_depth:
        yield from sorted(lines, key=lambda line: (-line.top, line.left))
        return
    size = median(line.size for line in lines)
    columns = _split_by_gaps(lines, lambda line: (line.left, line.right), size)
    if len(columns) < 2:
        bands = _split_by_gaps(lines, lambda line: (-line.top, -line.bottom), 0.1 * size)
        parts = bands if len(bands) > 1 else [sorted(lines, key=lambda line: (-line.top, line.left))]
    else:
        parts = columns
    if len(parts) == 1:
        yield from parts[0]
        return
    for part in parts if len(columns) > 1 else _merge_bands(parts, size):
        yield from _iter_xy_cut(part, depth + 1)


def _merge_bands(bands: list[list[PdfLine]], size: float) -> list[list[PdfLine]]:
    """Bands next to each other under the same gutter together again, so that columns are cut as wholes."""
    groups: list[list[PdfLine]] = []
    for band in bands:
        both = [*groups[-1], *band] if groups else band
        if groups and len(_split_by_gaps(both, lambda line: (line.left, line.right), size)) > 1:
            groups[-1] = both
        else:
            groups.append(band)
    return groups if len(groups) > 1 else bands


def _split_by_gaps(
    lines: list[PdfLine], extent: Callable[[PdfLine], tuple[float, float]], gap: float
) -> list[list[PdfLine]]:
    """The lines in groups between which nothing reaches."""
    groups: list[list[PdfLine]] = []
    reach = 0.0
    for line in sorted(lines, key=lambda line: extent(line)[0]):
        start, end = extent(line)
        if groups and start - reach <= gap:
            groups[-1].append(line)
            reach = max(reach, end)
        else:
            groups.append([line])
            reach = end
    return groups
