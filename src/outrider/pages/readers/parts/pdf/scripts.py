"""Scripts of a PDF page that run another way: to the left as Hebrew and Arabic do, or from the top down."""

import re
from dataclasses import replace
from itertools import pairwise

from outrider.pages.readers.parts.pdf.bidi import LEFTWARD, LETTER
from outrider.pages.readers.parts.pdf.line import Cell, Line

UPRIGHT = re.compile("[\u2e80-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60]")
TALL = 3.0  # times as high as it is wide: a line that runs from the top down
MOST = 0.6  # of the letters of a page that stand in such lines


def leftward(rows: list[list[str]]) -> list[list[str]]:
    """The rows of a table as they are read: where most letters run to the left, so do the columns."""
    text = "".join(cell for row in rows for cell in row)
    return [row[::-1] for row in rows] if 2 * len(LEFTWARD.findall(text)) > len(LETTER.findall(text)) else rows


def downward(lines: list[Line]) -> list[Line]:
    """The lines of a page that is written from the top down: its columns from the right on, as paragraphs."""
    tall = [line for line in lines if _is_tall(line)]
    letters = sum(len(line.text) for line in lines)
    if len(tall) < 2 or sum(len(line.text) for line in tall) < MOST * letters:
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
    cells = [Cell(text, columns[-1].left, columns[0].right) for text in texts]
    made = [
        replace(columns[0], cells=(cell,), bottom=top - (3 * at + 1) * size, top=top - 3 * at * size)
        for at, cell in enumerate(cells)
    ]
    return made + [line for line in lines if line not in tall]


def _is_tall(line: Line) -> bool:
    high, wide = line.top - line.bottom, line.right - line.left
    return not line.rows and len(line.cells) == 1 and high > TALL * wide and UPRIGHT.search(line.text) is not None
