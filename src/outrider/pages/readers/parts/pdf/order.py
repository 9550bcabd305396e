"""The order in which the lines of a PDF page are read.

PDFium's order, which is that of the content, is right for nearly all files that programs write today, so it is only
left where the lines jump about.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from statistics import median

from outrider.pages.readers.parts.pdf.line import Line

DEEPEST = 12  # cuts of a page into columns and bands


def ordered(lines: list[Line]) -> list[Line]:
    """The lines in reading order: as they come, unless they jump upwards more often than columns explain."""
    jumps = sum(after.bottom > before.top for before, after in pairwise(lines))
    return list(_cut(lines, 0)) if jumps > max(4, len(lines) // 8) else lines


def _cut(lines: list[Line], depth: int) -> Iterator[Line]:
    """Bands from top to bottom, columns from left to right, each cut again (Nagy and Seth 1984)."""
    if len(lines) < 2 or depth >= DEEPEST:
        yield from sorted(lines, key=lambda line: (-line.top, line.left))
        return
    size = median(line.size for line in lines)
    columns = _split(lines, lambda line: (line.left, line.right), size)
    if len(columns) < 2:
        bands = _split(lines, lambda line: (-line.top, -line.bottom), 0.1 * size)
        parts = bands if len(bands) > 1 else [sorted(lines, key=lambda line: (-line.top, line.left))]
    else:
        parts = columns
    if len(parts) == 1:
        yield from parts[0]
        return
    for part in parts if len(columns) > 1 else _joined(parts, size):
        yield from _cut(part, depth + 1)


def _joined(bands: list[list[Line]], size: float) -> list[list[Line]]:
    """Bands next to each other under the same gutter together again, so that columns are cut as wholes."""
    groups: list[list[Line]] = []
    for band in bands:
        both = [*groups[-1], *band] if groups else band
        if groups and len(_split(both, lambda line: (line.left, line.right), size)) > 1:
            groups[-1] = both
        else:
            groups.append(band)
    return groups if len(groups) > 1 else bands


def _split(lines: list[Line], extent: Callable[[Line], tuple[float, float]], gap: float) -> list[list[Line]]:
    """The lines in groups between which nothing reaches."""
    groups: list[list[Line]] = []
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
