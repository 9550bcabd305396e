"""What programs paint later than it is read, put back into its place on a PDF page.

Browsers and programs that set HTML paint a page in layers: the markers of lists, and boxes that may be scrolled, come
after the text that stands around them.
"""

import re
from bisect import bisect_left

from outrider.pages.readers.pdf_layout.line import PdfLine

MARKER = re.compile(r"[➢❖❑✓➔►▶◆•●▪■◦‣⁃∙·–○\u2022\uf0b7-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]|[.)](?:\d{1,3})")
TURNED = re.compile(r"([.)])(\d{1,3})")


def restore_paint_order(lines: list[PdfLine]) -> list[PdfLine]:
    """The lines, markers before what they mark, and those of a page with one column from the top down."""
    max_lines = 600  # lines of a page that are put into order
    if len(lines) > max_lines:
        return lines
    lines = _attach_markers(lines)
    return _sort_top_down(lines) if _has_order_break(lines) and _is_single_column(lines) else lines


def _sort_top_down(lines: list[PdfLine]) -> list[PdfLine]:
    """The lines from the top down, what stands beside one another from the left to the right."""
    rows: list[list[PdfLine]] = []
    for line in sorted(lines, key=lambda line: -line.bottom - line.top):
        if rows and _is_same_row(rows[-1][0], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [line for row in rows for line in sorted(row, key=lambda line: line.left)]


def _attach_markers(lines: list[PdfLine]) -> list[PdfLine]:
    """The lines, each marker that stands alone, and not before its item, right before it."""
    alone = [at for at, line in enumerate(lines) if len(line.cells) == 1 and MARKER.fullmatch(line.text)]
    apart = [at for at in alone if at + 1 == len(lines) or not _is_marker_of(lines[at], lines[at + 1])]
    if not apart:
        return lines
    items = sorted((line.top, at) for at, line in enumerate(lines) if at not in set(alone))
    before: dict[int, PdfLine] = {}
    for mark in apart:
        if (item := _find_marked_line(lines, mark, items)) is not None and item not in before:
            before[item] = lines[mark]
    gone = {id(mark) for mark in before.values()}
    made: list[PdfLine] = []
    for at, line in enumerate(lines):
        if id(line) not in gone:
            made += [before[at], line] if at in before else [line]
    return made


def _find_marked_line(lines: list[PdfLine], mark: int, items: list[tuple[float, int]]) -> int | None:
    """The line that a marker stands before; the nearest of several."""
    line = lines[mark]
    start = bisect_left(items, (line.bottom, -1))
    beside = []
    for top, at in items[start:]:
        if top > line.top + 2 * line.size:
            break
        if _is_marker_of(line, lines[at]):
            beside.append(at)
    return min(beside, key=lambda at: lines[at].left, default=None)


def _is_marker_of(mark: PdfLine, line: PdfLine) -> bool:
    max_marker_gap_em = 4.0  # of the type size that a marker stands before its item at most
    return (
        _is_same_row(mark, line)
        and not line.table_rows
        and -0.2 * mark.size < line.left - mark.right < max_marker_gap_em * mark.size
        and len(line.text) > 1
    )


def _is_same_row(one: PdfLine, other: PdfLine) -> bool:
    min_overlap = (
        0.5  # of the lower of two lines: so much of their heights is the same where they stand beside one another
    )
    shared = min(one.top, other.top) - max(one.bottom, other.bottom)
    return shared > min_overlap * min(one.top - one.bottom, other.top - other.bottom)


def _has_order_break(lines: list[PdfLine]) -> bool:
    """Whether a line comes after one that stands below it in the same column."""
    lowest: PdfLine | None = None
    for line in lines:
        if lowest and line.bottom > lowest.top and line.left < lowest.right and lowest.left < line.right:
            return True
        lowest = line if lowest is None or line.bottom < lowest.bottom else lowest
    return False


def _is_single_column(lines: list[PdfLine]) -> bool:
    """Whether little stands beside anything else, but for markers: no more than a table or two."""
    max_side_share = 0.2  # of the lines of a page with one column
    ordered, beside = sorted(lines, key=lambda line: -line.top), 0
    for at, line in enumerate(ordered):
        near = ordered[at + 1 : at + 4]
        beside += any(
            _is_same_row(line, each) and not (_is_marker_of(line, each) or _is_marker_of(each, line)) for each in near
        )
    return beside <= max_side_share * len(lines)
