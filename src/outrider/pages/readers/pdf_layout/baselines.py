"""Merge subscripts and superscripts that PDFium takes for separate lines.

Where a subscript is set below a superscript, as in formulas, the next character is further left than the previous one.
PDFium ends a line there, and the rest of the line becomes a third one.
"""

from dataclasses import replace

from outrider.pages.readers.pdf_layout.characters import (
    MAX_SCRIPT_SIZE_RATIO,
    MIN_CELL_GAP_EM,
    SUBSCRIPT_DIGITS,
    SUPERSCRIPT_DIGITS,
)
from outrider.pages.readers.pdf_layout.line import PdfCell, PdfLine

# How far before or past the end of its line a subscript or superscript may begin.
MAX_SCRIPT_OVERLAP_EM, MAX_SCRIPT_GAP_EM = 3.0, 0.3


def merge_script_lines(lines: list[PdfLine]) -> list[PdfLine]:
    """Append subscripts and superscripts, and the text after them, to their lines."""
    min_word_gap_em = 0.2
    merged: list[PdfLine] = []
    is_open = False  # whether the last line ends with a script that was just appended
    for line in lines:
        host = merged[-1] if merged else None
        if host and _is_script_of(host, line):
            raised = line.bottom + line.top > host.bottom + host.top
            if line.text.isdecimal():
                script = line.text.translate(SUPERSCRIPT_DIGITS if raised else SUBSCRIPT_DIGITS)
            else:
                script = ("^" if raised else "_") * line.text[0].isalnum() + line.text
            merged[-1] = _append_text(host, script, line.right)
            is_open = True
            continue
        if host and is_open and _is_line_continuation(host, line):
            gap = " " if line.left - host.right > min_word_gap_em * host.size else ""
            first, *more = line.cells
            merged[-1] = replace(_append_text(host, gap + first.text, first.right, *more), hyphenated=line.hyphenated)
        else:
            merged.append(line)
        is_open = False
    return merged


def _is_script_of(host: PdfLine, line: PdfLine) -> bool:
    max_offset_em = 0.45  # of a script's middle above or below the line
    max_script_chars = 12
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


def _append_text(host: PdfLine, text: str, right: float, *more: PdfCell) -> PdfLine:
    last = host.cells[-1]
    return replace(host, cells=(*host.cells[:-1], PdfCell(last.text + text, last.left, max(last.right, right)), *more))
