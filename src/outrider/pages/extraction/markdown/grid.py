"""A table as rows of cells, spans resolved.

What spans rows is repeated in each, and a heading that spans columns in each of them, so that every row can be read
by itself and every column has its name; a cell of data that spans columns stands in the first.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from outrider.pages.extraction.blocks.code_listings import render_listing
from outrider.pages.extraction.blocks.page_blocks import (
    CELL_TAG_NUMBERS,
    PIECE_NEXT_CELL,
    TAG_NUMBERS,
    Attributes,
    InlinePiece,
    PageBlocks,
)
from outrider.pages.extraction.markdown.paragraph import ParagraphWriter

TR_TAG, TABLE_TAG, THEAD_TAG, TFOOT_TAG, TH_TAG, ITEM_TAG, PRE_TAG = (
    TAG_NUMBERS[tag] for tag in ("tr", "table", "thead", "tfoot", "th", "li", "pre")
)
MAX_GRID_COLUMNS = 60
MAX_GRID_ROWS = 20_000  # from which a table is told row by row, as layout is; a page has at most 15,000 blocks
ALIGNMENTS = {"": "---", "center": ":-:", "right": "--:"}
TEXT_ALIGN = re.compile(r"text-align\s*:\s*(\w+)", re.IGNORECASE)
ALIGN_CLASS = re.compile(r"(?:^|\s)(?:(?:has-)?text|org|align)-?(right|center|end)(?:\s|$)")


@dataclass(slots=True)
class TableGrid:
    """The rows of a table, all of one length, each cell on one line.

    Attributes:
        rows: The cells.
        has_header: Whether the first row names the columns; where no cell is marked as heading, it does.
        captions: Paragraphs that stand in no cell.
        alignments: Of each column, how its cells are aligned, as the line below a table's head has it.
        has_heading_cells: Whether any cell is marked as heading.
        code_chars: Characters of listings of several lines, which a cell cannot show.
    """

    rows: list[list[str]] = field(default_factory=list)
    has_header: bool = True
    captions: list[str] = field(default_factory=list)
    alignments: list[str] = field(default_factory=list)
    has_heading_cells: bool = False
    code_chars: int = 0

    def is_data_table(self) -> bool:
        """Whether it reads as a table: two columns and rows at least, no long cells, and not mostly listings."""
        min_text_to_code = 4  # times the characters of listings of several lines that a table has at least
        max_headed_cell_chars = 3_000  # the same of a table that has headings
        max_cell_chars = 600  # characters of a cell; what holds more is layout
        if len(self.rows) < 2 or not 2 <= len(self.rows[0]) <= MAX_GRID_COLUMNS:
            return False
        if self.code_chars and min_text_to_code * self.code_chars > sum(
            [len(cell) for row in self.rows for cell in row]
        ):
            return False
        limit = max_headed_cell_chars if self.has_heading_cells else max_cell_chars
        return not any(len(cell) > limit for row in self.rows for cell in row)

    def render_lines(self) -> list[str]:
        """The table in Markdown: in pipes, or as records of a very wide one."""
        max_pipe_columns = 20  # columns from which a row is told as a record
        if len(self.rows[0]) > max_pipe_columns and self.has_header:
            unsaid = "; ".join(
                [column[0] for column in zip(*self.rows, strict=True) if column[0] and not any(column[1:])]
            )
            return [
                *([f"- {unsaid}"] if unsaid else []),
                *[self._format_record(row) for row in self.rows[1:] if any(row)],
            ]
        rows = ["| " + " | ".join([cell.replace("|", "\\|") for cell in row]) + " |" for row in self.rows]
        head = [] if self.has_header else ["|" + "  |" * len(self.rows[0])]
        rows[0:0] = head
        sides = self.alignments or ["---"] * len(self.rows[0])
        return [rows[0], f"| {' | '.join(sides)} |", *rows[1:]]

    def _format_record(self, row: list[str]) -> str:
        named = zip(self.rows[0], row, strict=True)
        return "- " + "; ".join([f"{name}: {cell}" if name else cell for name, cell in named if cell])


def build_grid(page: PageBlocks, table: int, blocks: list[int], phrase: ParagraphWriter) -> TableGrid:
    """The rows of a table that hold any of these blocks."""
    rows = _collect_rows(page, table)
    if len(rows) >= MAX_GRID_ROWS:
        return TableGrid()
    texts = _collect_cell_texts(page, blocks, phrase)
    grid = TableGrid(captions=texts.pop(-1, []))
    spans: dict[int, tuple[int, str]] = {}
    found: list[tuple[int, list[int], list[str]]] = []
    columns: dict[int, int] = {}
    for row, cells in rows.items():
        heading = _is_header_row(page, row, cells)
        line = _build_row(page, cells, texts, spans, columns, heading=heading)
        if any(line):
            found.append((row, cells, line))
    if len(found) > 2 and _is_title_row(found[0][2], found[0][1]):
        grid.captions.append(found.pop(0)[2][0])
    lines = [line for _, _, line in found]
    told = _find_used_columns(lines)
    grid.rows = _pad_rows(lines, told)
    grid.alignments = _detect_alignments(page, columns, told)
    grid.code_chars = _count_code_chars(page, blocks)
    grid.has_heading_cells = any(page.elements[cell][1] == TH_TAG for _, cells, _ in found for cell in cells)
    grid.has_header = bool(found) and (not grid.has_heading_cells or _is_header_row(page, *found[0][:2]))
    return grid


def _find_used_columns(lines: list[list[str]]) -> list[int]:
    """The columns that are not empty in all rows: those held a picture, or nothing."""
    width = max(map(len, lines), default=0)
    return [at for at in range(width) if any(at < len(line) and line[at] for line in lines)]


def _pad_rows(lines: list[list[str]], columns: list[int]) -> list[list[str]]:
    """The rows, all of one length, of these columns."""
    width = max(map(len, lines), default=0)
    if len(columns) < width:
        return [[line[at] if at < len(line) else "" for at in columns] for line in lines]
    return [line + [""] * (width - len(line)) for line in lines]


def _detect_alignments(page: PageBlocks, columns: dict[int, int], used: list[int]) -> list[str]:
    """How most cells of each column are aligned; none if all begin where lines do."""
    aligned: dict[int, Counter[str]] = {}
    for cell, column in columns.items():
        if (attributes := page.attributes.get(cell)) and (side := _detect_cell_alignment(attributes)):
            aligned.setdefault(column, Counter())[side] += 1
    if not aligned:
        return []
    total = Counter(columns.values())
    most = {column: sides.most_common(1)[0] for column, sides in aligned.items()}
    return [ALIGNMENTS[most[at][0]] if at in most and 2 * most[at][1] >= total[at] else ALIGNMENTS[""] for at in used]


def _detect_cell_alignment(attributes: Attributes) -> str:
    """Where a cell's words stand, by its style, its attribute or its class; empty for the beginning of the line."""
    style, names = attributes.get("style") or "", attributes.get("class") or ""
    found = TEXT_ALIGN.search(style) if "align" in style else None
    side = found[1] if found else attributes.get("align") or ""
    if not side and (found := ALIGN_CLASS.search(names)):
        side = found[1]
    side = side.strip().lower()
    return "right" if side == "end" else side if side in ALIGNMENTS else ""


def _is_title_row(line: list[str], cells: list[int]) -> bool:
    """Whether a row is one cell over all columns: what the table is about, and no column's name."""
    return len(cells) == 1 and len(line) > 1 and bool(line[0])


def _is_header_row(page: PageBlocks, row: int, cells: list[int]) -> bool:
    """Whether a row names columns: it is the table's head, or all its cells are headings but for an empty first one."""
    tags = [page.elements[cell][1] for cell in cells]
    if page.elements[page.elements[row][0]][1] == THEAD_TAG:
        return True
    first = page.elements[cells[0]] if cells else (0,) * 6
    empty = bool(cells) and first[5] == page.last[cells[0]]
    return len(tags) > 1 and all(tag == TH_TAG for tag in (tags[1:] if empty else tags))


def _build_row(
    page: PageBlocks,
    cells: list[int],
    texts: dict[int, list[str]],
    spans: dict[int, tuple[int, str]],
    columns: dict[int, int],
    *,
    heading: bool,
) -> list[str]:
    """One row; notes the column of each cell that has one of its own."""
    line: list[str] = []
    own = any(cell in texts for cell in cells)
    for cell in cells:
        _carry_row_spans(line, spans, own=own)
        across, down = _parse_span(page, cell, "colspan"), _parse_span(page, cell, "rowspan")
        if across == 1:
            columns[cell] = len(line)
        text = " ".join(" ".join(texts.get(cell, ())).split())
        for at in range(min(across, MAX_GRID_COLUMNS + 1 - len(line))):
            said = text if not at or heading else ""
            spans[len(line)] = (down - 1, said)
            line.append(said)
    _carry_row_spans(line, spans, own=own)
    return line


def _carry_row_spans(line: list[str], spans: dict[int, tuple[int, str]], *, own: bool) -> None:
    """Puts down what spans from the rows above; into a row that has no text of its own, nothing."""
    while (found := spans.get(len(line), (0, "")))[0] > 0:
        spans[len(line)] = (found[0] - 1, found[1])
        line.append(found[1] if own else "")


def _parse_span(page: PageBlocks, cell: int, name: str) -> int:
    value = ((page.attributes.get(cell) or {}).get(name) or "").strip()
    return max(1, min(int(value), 1_000)) if value.isascii() and value.isdigit() and len(value) < 5 else 1


def _collect_rows(page: PageBlocks, table: int) -> dict[int, list[int]]:
    """The cells of each row of this very table; those of its foot come last, wherever it stands."""
    rows: dict[int, list[int]] = {}
    elements = page.elements
    at = table + 1
    while at < len(elements) and elements[at][0] >= table and len(rows) < MAX_GRID_ROWS:
        parent, tag = elements[at][0], elements[at][1]
        if tag == TR_TAG:
            rows[at] = []
        elif tag in CELL_TAG_NUMBERS and parent in rows:
            rows[parent].append(at)
        at += 1
    foot = [row for row in rows if elements[elements[row][0]][1] == TFOOT_TAG]
    return rows | {row: rows.pop(row) for row in foot} if foot else rows


def _collect_cell_texts(page: PageBlocks, blocks: list[int], phrase: ParagraphWriter) -> dict[int, list[str]]:
    """The paragraphs of each cell; of -1 those that stand in none."""
    found: dict[int, list[str]] = {}
    for number in blocks:
        start: list[InlinePiece] = []
        owner = page.rows[number][0]
        cell = _find_cell(page, owner)
        for piece in page.pieces[number]:
            if isinstance(piece, tuple) and piece[0] == PIECE_NEXT_CELL:
                if piece[1] >= 0:
                    found.setdefault(piece[1], []).append(phrase.render_line(start))
                    start = []
            else:
                start.append(piece)
        if text := phrase.render_line(start) if start else "":
            if page.elements[owner][1] == PRE_TAG:
                text = _format_cell_code(page, number) or text
            bullet = "\u2022 " if cell >= 0 and page.elements[owner][1] == ITEM_TAG else ""
            found.setdefault(cell, []).append(bullet + text)
    return found


def _count_code_chars(page: PageBlocks, blocks: list[int]) -> int:
    """The characters of listings of several lines."""
    listings = [block for block in blocks if page.elements[page.rows[block][0]][1] == PRE_TAG]
    sources = [render_listing(page, page.rows[block][0], [block]) for block in listings]
    return sum([len(source) for source in sources if "\n" in source])


def _format_cell_code(page: PageBlocks, number: int) -> str:
    """A listing as code, each line by itself: a cell can show no other; empty for one that holds marks of code."""
    source = render_listing(page, page.rows[number][0], [number])
    return "" if "`" in source else " ".join([f"`{line.strip()}`" for line in source.split("\n") if line.strip()])


def _find_cell(page: PageBlocks, element: int) -> int:
    """The cell that an element stands in; -1 if a table comes first."""
    while element >= 0 and page.elements[element][1] not in CELL_TAG_NUMBERS:
        element = -1 if page.elements[element][1] == TABLE_TAG else page.elements[element][0]
    return element
