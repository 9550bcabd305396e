"""Put lines that are painted late back into place.

Browsers and other programs that render HTML paint in layers: list markers and scrollable boxes come after the text
around them.
"""

import re
from bisect import bisect_left

from outrider.pages.readers.pdf_layout.line import PdfLine

MARKER = re.compile(r"[➢❖❑✓➔►▶◆•●▪■◦‣⁃∙·–○\u2022\uf0b7-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]|[.)](?:\d{1,3})")


def restore_paint_order(lines: list[PdfLine]) -> list[PdfLine]:
    """Put markers before their items; sort a page with one column from the top down."""
    max_lines = 600
    if len(lines) > max_lines:
        return lines
    lines = _attach_markers(lines)
    if not _has_order_break(lines) or not _is_single_column(lines):
        return lines
    rows: list[list[PdfLine]] = []
    for line in sorted(lines, key=lambda line: -line.bottom - line.top):
        if rows and _is_same_row(rows[-1][0], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [line for row in rows for line in sorted(row, key=lambda line: line.left)]


def _attach_markers(lines: list[PdfLine]) -> list[PdfLine]:
    """Move each marker that does not precede its item to before that item."""
    markers = [index for index, line in enumerate(lines) if len(line.cells) == 1 and MARKER.fullmatch(line.text)]
    stray = [index for index in markers if index + 1 == len(lines) or not _is_marker_of(lines[index], lines[index + 1])]
    if not stray:
        return lines
    items = sorted((line.top, index) for index, line in enumerate(lines) if index not in set(markers))
    marker_of: dict[int, PdfLine] = {}
    for marker in stray:
        if (item := _find_marked_line(lines, marker, items)) is not None and item not in marker_of:
            marker_of[item] = lines[marker]
    moved = {id(marker) for marker in marker_of.values()}
    ordered: list[PdfLine] = []
    for index, line in enumerate(lines):
        if id(line) not in moved:
            ordered += [marker_of[index], line] if index in marker_of else [line]
    return ordered


def _find_marked_line(lines: list[PdfLine], marker: int, items: list[tuple[float, int]]) -> int | None:
    """Return the index of the nearest line to the right of a marker; `items` are sorted by their top."""
    line = lines[marker]
    start = bisect_left(items, (line.bottom, -1))
    candidates = []
    for top, index in items[start:]:
        if top > line.top + 2 * line.size:
            break
        if _is_marker_of(line, lines[index]):
            candidates.append(index)
    return min(candidates, key=lambda index: lines[index].left, default=None)


def _is_marker_of(marker: PdfLine, line: PdfLine) -> bool:
    max_gap_em = 4.0
    return (
        _is_same_row(marker, line)
        and not line.table_rows
        and -0.2 * marker.size < line.left - marker.right < max_gap_em * marker.size
        and len(line.text) > 1
    )


def _is_same_row(one: PdfLine, other: PdfLine) -> bool:
    """Return whether two lines share half of the height of the lower one."""
    shared = min(one.top, other.top) - max(one.bottom, other.bottom)
    return shared > 0.5 * min(one.top - one.bottom, other.top - other.bottom)


def _has_order_break(lines: list[PdfLine]) -> bool:
    """Return whether a line comes after one that is below it in the same column."""
    lowest: PdfLine | None = None
    for line in lines:
        if lowest and line.bottom > lowest.top and line.left < lowest.right and lowest.left < line.right:
            return True
        lowest = line if lowest is None or line.bottom < lowest.bottom else lowest
    return False


def _is_single_column(lines: list[PdfLine]) -> bool:
    """Return whether at most a fifth of lines are side by side.

    A table or two does not make columns.
    """
    max_share = 0.2
    min_prose_chars, max_prose_pairs = 28, 4  # columns have more, regardless of the rest of the page
    ordered, side_by_side, prose_pairs = sorted(lines, key=lambda line: -line.top), 0, 0
    for index, line in enumerate(ordered):
        following = ordered[index + 1 : index + 4]
        neighbors = (other for other in following if _is_same_row(line, other))
        side_by_side += any(not (_is_marker_of(line, other) or _is_marker_of(other, line)) for other in neighbors)
        # Columns with different leading drift apart, so touching heights must suffice.
        prose_pairs += any(
            min(len(line.text), len(other.text)) >= min_prose_chars
            and other.top > line.bottom + 0.1 * line.size
            and (line.right < other.left or other.right < line.left)
            for other in following
        )
    return side_by_side <= max_share * len(lines) and prose_pairs <= max_prose_pairs
