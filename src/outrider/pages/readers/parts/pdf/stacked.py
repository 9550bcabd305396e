"""Indices and exponents that PDFium takes for lines of their own, put back into the line that they belong to.

Where an index stands under an exponent, as formulas set them, the next character is further left than the one before,
which ends a line for PDFium; the rest of the line becomes a third one.
"""

from dataclasses import replace

from outrider.pages.readers.parts.pdf.line import Cell, Line
from outrider.pages.readers.parts.pdf.lines import GAP, SMALLER, SUBSCRIPT, SUPERSCRIPT

LONGEST = 12  # characters of an index
BEFORE, BEHIND = 3.0, 0.3  # of the type size, by which an index may stand before, or behind, the end of its line
OFF = 0.45  # of the type size, by which the middle of an index may stand outside of the line
SPACE = 0.2  # of the type size: the least gap between words


def stacked(lines: list[Line]) -> list[Line]:
    """The lines with their indices, and with what goes on behind these."""
    made: list[Line] = []
    is_open = False  # whether an index has just been put into the last line
    for line in lines:
        host = made[-1] if made else None
        if host and _is_index(host, line):
            made[-1], is_open = _with(host, _index(host, line), line.right), True
        elif host and is_open and _goes_on(host, line):
            gap = " " if line.left - host.right > SPACE * host.size else ""
            made[-1], is_open = _with(host, gap + line.cells[0].text, line.cells[0].right, *line.cells[1:]), False
            made[-1] = replace(made[-1], hyphenated=line.hyphenated)
        else:
            made.append(line)
            is_open = False
    return made


def _is_index(host: Line, line: Line) -> bool:
    size = host.size
    return (
        line.size <= SMALLER * size
        and len(line.cells) == 1
        and len(line.text) <= LONGEST
        and not (host.rows or line.rows or host.mono or host.hyphenated)
        and -BEFORE * size < line.left - host.right < BEHIND * size
        and line.left > host.left
        and host.bottom - OFF * size < (line.bottom + line.top) / 2 < host.top + OFF * size
    )


def _goes_on(host: Line, line: Line) -> bool:
    return (
        abs(line.size - host.size) <= 0.1 * host.size
        and not line.rows
        and not line.mono
        and -BEHIND * host.size < line.left - host.right < GAP * host.size
        and min(host.top, line.top) - max(host.bottom, line.bottom) > 0.6 * (line.top - line.bottom)
    )


def _index(host: Line, line: Line) -> str:
    """An index as it is written on one line; digits have signs for that."""
    raised = line.bottom + line.top > host.bottom + host.top
    if line.text.isdecimal():
        return line.text.translate(SUPERSCRIPT if raised else SUBSCRIPT)
    return ("^" if raised else "_") * line.text[0].isalnum() + line.text


def _with(host: Line, text: str, right: float, *more: Cell) -> Line:
    last = host.cells[-1]
    return replace(host, cells=(*host.cells[:-1], Cell(last.text + text, last.left, max(last.right, right)), *more))
