"""What programs paint later than it is read, put back into its place on a PDF page.

Browsers and programs that set HTML paint a page in layers: the markers of lists, and boxes that may be scrolled, come
after the text that stands around them.
"""

import re
from bisect import bisect_left

from outrider.pages.readers.parts.pdf.line import Line

MARK = re.compile(r"[➢❖❑✓➔►▶◆•●▪■◦‣⁃∙·–○\u2022\uf0b7-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]|[.)](?:\d{1,3})")
TURNED = re.compile(r"([.)])(\d{1,3})")
REACH = 4.0  # of the type size that a marker stands before its item at most
SHARED = 0.5  # of the lower of two lines: so much of their heights is the same where they stand beside one another
BESIDE = 0.2  # of the lines of a page with one column
MOST = 600  # lines of a page that are put into order


def in_place(lines: list[Line]) -> list[Line]:
    """The lines, markers before what they mark, and those of a page with one column from the top down."""
    if len(lines) > MOST:
        return lines
    lines = _marked(lines)
    return _downwards(lines) if _is_astray(lines) and _is_one_column(lines) else lines


def _downwards(lines: list[Line]) -> list[Line]:
    """The lines from the top down, what stands beside one another from the left to the right."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: -line.bottom - line.top):
        if rows and _is_level(rows[-1][0], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [line for row in rows for line in sorted(row, key=lambda line: line.left)]


def _marked(lines: list[Line]) -> list[Line]:
    """The lines, each marker that stands alone, and not before its item, right before it."""
    alone = [at for at, line in enumerate(lines) if len(line.cells) == 1 and MARK.fullmatch(line.text)]
    apart = [at for at in alone if at + 1 == len(lines) or not _is_mark_of(lines[at], lines[at + 1])]
    if not apart:
        return lines
    items = sorted((line.top, at) for at, line in enumerate(lines) if at not in set(alone))
    before: dict[int, Line] = {}
    for mark in apart:
        if (item := _item(lines, mark, items)) is not None and item not in before:
            before[item] = lines[mark]
    gone = {id(mark) for mark in before.values()}
    made: list[Line] = []
    for at, line in enumerate(lines):
        if id(line) not in gone:
            made += [before[at], line] if at in before else [line]
    return made


def _item(lines: list[Line], mark: int, items: list[tuple[float, int]]) -> int | None:
    """The line that a marker stands before; the nearest of several."""
    line = lines[mark]
    start = bisect_left(items, (line.bottom, -1))
    beside = []
    for top, at in items[start:]:
        if top > line.top + 2 * line.size:
            break
        if _is_mark_of(line, lines[at]):
            beside.append(at)
    return min(beside, key=lambda at: lines[at].left, default=None)


def _is_mark_of(mark: Line, line: Line) -> bool:
    return (
        _is_level(mark, line)
        and not line.rows
        and -0.2 * mark.size < line.left - mark.right < REACH * mark.size
        and len(line.text) > 1
    )


def _is_level(one: Line, other: Line) -> bool:
    shared = min(one.top, other.top) - max(one.bottom, other.bottom)
    return shared > SHARED * min(one.top - one.bottom, other.top - other.bottom)


def _is_astray(lines: list[Line]) -> bool:
    """Whether a line comes after one that stands below it in the same column."""
    lowest: Line | None = None
    for line in lines:
        if lowest and line.bottom > lowest.top and line.left < lowest.right and lowest.left < line.right:
            return True
        lowest = line if lowest is None or line.bottom < lowest.bottom else lowest
    return False


def _is_one_column(lines: list[Line]) -> bool:
    """Whether little stands beside anything else, but for markers: no more than a table or two."""
    ordered, beside = sorted(lines, key=lambda line: -line.top), 0
    for at, line in enumerate(ordered):
        near = ordered[at + 1 : at + 4]
        beside += any(
            _is_level(line, each) and not (_is_mark_of(line, each) or _is_mark_of(each, line)) for each in near
        )
    return beside <= BESIDE * len(lines)
