"""Scripts of a PDF page that run another way: to the left as Hebrew and Arabic do, or from the top down."""

import re
from dataclasses import replace
from itertools import pairwise

from outrider.pages.readers.pdf_layout.bidi import ANY_LETTER, RTL_CHAR
from outrider.pages.readers.pdf_layout.line import PdfCell, PdfLine

CJK_CHAR = re.compile("[\u2e80-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60]")


def order_rtl_columns(rows: list[list[str]]) -> list[list[str]]:
    """The rows of a table as they are read: where most letters run to the left, so do the columns."""
    text = "".join(cell for row in rows for cell in row)
    return [row[::-1] for row in rows] if 2 * len(RTL_CHAR.findall(text)) > len(ANY_LETTER.findall(text)) else rows


def merge_vertical_lines(lines: list[PdfLine]) -> list[PdfLine]:
    """The lines of a page that is written from the top down: its columns from the right on, as paragraphs."""
    min_vertical_share = 0.6  # of the letters of a page that stand in such lines
    tall = [line for line in lines if _is_vertical_line(line)]
    letters = sum(len(line.text) for line in lines)
    if len(tall) < 2 or sum(len(line.text) for line in tall) < min_vertical_share * letters:
        return lines
    columns = sorted(tall, key=lambda line: -line.right)
    lowest, size = min(line.bottom for line in columns), columns[0].size
    texts = [columns[0].text]
    for before, line in pairwise(columns):
        if before.bottom < lowest + 1.5 * size and abs(before.size - line.size) < 0.1 * size:
            texts[-1] += line.text
        else:
            texts.append(line.text)
    top = max(line.top for line in columns)
    cells = [PdfCell(text, columns[-1].left, columns[0].right) for text in texts]
    made = [
        replace(columns[0], cells=(cell,), bottom=top - (3 * at + 1) * size, top=top - 3 * at * size)
        for at, cell in enumerate(cells)
    ]
    return made + [line for line in lines if line not in tall]


def _is_vertical_line(line: PdfLine) -> bool:
    min_height_ratio = 3.0  # times as high as it is wide: a line that runs from the top down
    high, wide = line.top - line.bottom, line.right - line.left
    return (
        not line.table_rows
        and len(line.cells) == 1
        and high > min_height_ratio * wide
        and CJK_CHAR.search(line.text) is not None
    )
