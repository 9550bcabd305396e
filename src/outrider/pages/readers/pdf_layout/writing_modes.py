"""Handle text that runs from right to left or downwards."""

import re
from dataclasses import replace
from itertools import pairwise

from outrider.pages.readers.pdf_layout.bidi import ANY_LETTER, RTL_CHAR
from outrider.pages.readers.pdf_layout.line import PdfCell, PdfLine

CJK_CHAR = re.compile("[\u2e80-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60]")


def order_rtl_columns(rows: list[list[str]]) -> list[list[str]]:
    """Reverse the columns of a table whose letters mostly run from right to left."""
    text = "".join(cell for row in rows for cell in row)
    return [row[::-1] for row in rows] if 2 * len(RTL_CHAR.findall(text)) > len(ANY_LETTER.findall(text)) else rows


def merge_vertical_lines(lines: list[PdfLine]) -> list[PdfLine]:
    """Turn the vertical lines of a page into paragraphs, from right to left.

    A page with less than 60 % of its letters in vertical lines is returned unchanged.
    """
    min_vertical_share = 0.6
    vertical = [line for line in lines if _is_vertical_line(line)]
    letters = sum(len(line.text) for line in lines)
    if len(vertical) < 2 or sum(len(line.text) for line in vertical) < min_vertical_share * letters:
        return lines
    columns = sorted(vertical, key=lambda line: -line.right)
    lowest, size = min(line.bottom for line in columns), columns[0].size
    texts = [columns[0].text]
    for previous, line in pairwise(columns):
        # A column that reaches the bottom is continued in the next one.
        if previous.bottom < lowest + 1.5 * size and abs(previous.size - line.size) < 0.1 * size:
            texts[-1] += line.text
        else:
            texts.append(line.text)
    top = max(line.top for line in columns)
    paragraphs = []
    for number, text in enumerate(texts):
        # Placed below one another, with gaps that separate paragraphs.
        cell, line_top = PdfCell(text, columns[-1].left, columns[0].right), top - 3 * number * size
        paragraphs.append(replace(columns[0], cells=(cell,), bottom=line_top - size, top=line_top))
    return paragraphs + [line for line in lines if line not in vertical]


def _is_vertical_line(line: PdfLine) -> bool:
    if line.table_rows or len(line.cells) != 1 or not CJK_CHAR.search(line.text):
        return False
    return line.top - line.bottom > 3.0 * (line.right - line.left)
