"""Sort the lines of a PDF page into reading order.

PDFium's order, that of the content, is right for nearly all files that programs write today, so it is only replaced
where lines jump about.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from statistics import median

from outrider.pages.readers.pdf_layout.line import PdfLine


def sort_reading_order(lines: list[PdfLine]) -> list[PdfLine]:
    """Return the lines as they come, unless they jump upwards more often than columns explain."""
    jumps = sum(after.bottom > before.top for before, after in pairwise(lines))
    return list(_iter_xy_cut(lines, 0)) if jumps > max(4, len(lines) // 8) else lines


def _iter_xy_cut(lines: list[PdfLine], depth: int) -> Iterator[PdfLine]:
    """Yield bands from top to bottom, columns from left to right, each cut again (Nagy and Seth 1984)."""
    max_depth = 12
    if len(lines) < 2 or depth >= max_depth:
        yield from sorted(lines, key=lambda line: (-line.top, line.left))
        return
    size = median(line.size for line in lines)
    columns = _split_by_gaps(lines, lambda line: (line.left, line.right), size)
    parts = columns
    if len(columns) < 2:
        parts = _split_by_gaps(lines, lambda line: (-line.top, -line.bottom), 0.1 * size)
        if len(parts) < 2:
            yield from sorted(lines, key=lambda line: (-line.top, line.left))
            return
        # Adjacent bands that share a gutter are merged, so that columns are cut as a whole.
        groups: list[list[PdfLine]] = []
        for band in parts:
            merged = [*groups[-1], *band] if groups else band
            if groups and len(_split_by_gaps(merged, lambda line: (line.left, line.right), size)) > 1:
                groups[-1] = merged
            else:
                groups.append(band)
        parts = groups if len(groups) > 1 else parts
    for part in parts:
        yield from _iter_xy_cut(part, depth + 1)


def _split_by_gaps(
    lines: list[PdfLine], extent: Callable[[PdfLine], tuple[float, float]], gap: float
) -> list[list[PdfLine]]:
    """Split lines into groups with a gap wider than `gap` between their extents."""
    groups: list[list[PdfLine]] = []
    group_end = 0.0
    for line in sorted(lines, key=lambda line: extent(line)[0]):
        start, end = extent(line)
        if groups and start - group_end <= gap:
            groups[-1].append(line)
            group_end = max(group_end, end)
        else:
            groups.append([line])
            group_end = end
    return groups
