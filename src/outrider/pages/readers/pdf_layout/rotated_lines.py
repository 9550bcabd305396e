"""Join the words of rotated text, each of which PDFium takes for a line."""

from dataclasses import replace

from outrider.pages.readers.pdf_layout.line import PdfCell, PdfLine


def join_rotated_lines(lines: list[PdfLine]) -> list[PdfLine]:
    """Join successive rotated words of one line."""
    joined: list[PdfLine] = []
    for line in lines:
        if joined and _is_same_line(joined[-1], line):
            last = joined[-1]
            cell = PdfCell(f"{last.text} {line.text}", min(last.left, line.left), max(last.right, line.right))
            bottom, top = min(last.bottom, line.bottom), max(last.top, line.top)
            joined[-1] = replace(last, cells=(cell,), bottom=bottom, top=top)
        else:
            joined.append(line)
    return joined


def _is_same_line(last: PdfLine, line: PdfLine) -> bool:
    max_gap_em, max_offset_em = 0.8, 0.3
    return (
        (last.rotated and line.rotated and not last.hyphenated)
        and abs(last.left - line.left) + abs(last.right - line.right) < max_offset_em * line.size
        and -0.1 * line.size < max(line.bottom - last.top, last.bottom - line.top) < max_gap_em * line.size
    )
