"""Indices and exponents that PDFium takes for lines of their own, put back into the line that they belong to.

Where an index stands under an exponent, as formulas set them, the next character is further left than the one before,
which ends a line for PDFium; the rest of the line becomes a third one.
"""

from dataclasses import replace

from outrider.pages.readers.pdf_layout.characters import (
    MAX_SCRIPT_SIZE_RATIO,
    MIN_CELL_GAP_EM,
    SUBSCRIPT_DIGITS,
    SUPERSCRIPT_DIGITS,
)
from outrider.pages.readers.pdf_layout.line import PdfCell, PdfLine

MAX_SCRIPT_OVERLAP_EM, MAX_SCRIPT_GAP_EM = (
    3.0,
    0.3,
)  # of the type size, by which an index may stand before, or behind, the end of its line


def merge_script_lines(lines: list[PdfLine]) -> list[PdfLine]:
    """The lines with their indices, and with what goes on behind these."""
    min_word_gap_em = 0.2  # of the type size: the least gap between words
    made: list[PdfLine] = []
    is_open = False  # whether an index has just been put into the last line
    for line in lines:
        host = made[-1] if made else None
        if host and _is_script_of(host, line):
            made[-1], is_open = _append_text(host, _format_script(host, line), line.right), True
        elif host and is_open and _is_line_continuation(host, line):
            gap = " " if line.left - host.right > min_word_gap_em * host.size else ""
            made[-1], is_open = (
                _append_text(host, gap + line.cells[0].text, line.cells[0].right, *line.cells[1:]),
                False,
            )
            made[-1] = replace(made[-1], hyphenated=line.hyphenated)
        else:
            made.append(line)
            is_open = False
    return made


def _is_script_of(host: PdfLine, line: PdfLine) -> bool:
    max_offset_em = 0.45  # of the type size, by which the middle of an index may stand outside of the line
    max_script_chars = 12  # characters of an index
    size = host.size
    return (
        line.size <= MAX_SCRIPT_SIZE_RATIO * size
        and len(line.cells) == 1
        and len(line.text) <= max_script_chars
        and not (host.table_rows or line.table_rows or host.monospaced or host.hyphenated)
        and -MAX_SCRIPT_OVERLAP_EM * size < line.left - host.right < MAX_SCRIPT_GAP_EM * size
        and line.left > host.left
        and host.bottom - max_offset_em * size < (line.bottom + line.top) / 2 < host.top + max_offset_em * size
    )


def _is_line_continuation(host: PdfLine, line: PdfLine) -> bool:
    return (
        abs(line.size - host.size) <= 0.1 * host.size
        and not line.table_rows
        and not line.monospaced
        and -MAX_SCRIPT_GAP_EM * host.size < line.left - host.right < MIN_CELL_GAP_EM * host.size
        and min(host.top, line.top) - max(host.bottom, line.bottom) > 0.6 * (line.top - line.bottom)
    )


def _format_script(host: PdfLine, line: PdfLine) -> str:
    """An index as it is written on one line; digits have signs for that."""
    raised = line.bottom + line.top > host.bottom + host.top
    if line.text.isdecimal():
        return line.text.translate(SUPERSCRIPT_DIGITS if raised else SUBSCRIPT_DIGITS)
    return ("^" if raised else "_") * line.text[0].isalnum() + line.text


def _append_text(host: PdfLine, text: str, right: float, *more: PdfCell) -> PdfLine:
    last = host.cells[-1]
    return replace(host, cells=(*host.cells[:-1], PdfCell(last.text + text, last.left, max(last.right, right)), *more))
