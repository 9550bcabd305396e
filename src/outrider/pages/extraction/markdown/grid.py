"""Build tables as rows of cells with spans resolved.

Cells that span rows are repeated in each row, and headings that span columns in each column, so that every row can be
read alone and every column has a name. Data cells that span columns stay in the first.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from outrider.pages.extraction.blocks.code_listings import render_listing
from outrider.pages.extraction.blocks.page_blocks import (
    CELL_TAG_NUMBERS,
    PIECE_NEXT_CELL,
    TAG_NUMBERS,
    InlinePiece,
    PageBlocks,
)
from outrider.pages.extraction.markdown.paragraph import ParagraphWriter

TR_TAG, TABLE_TAG, THEAD_TAG, TFOOT_TAG, TH_TAG, ITEM_TAG, PRE_TAG = (
    TAG_NUMBERS[tag] for tag in ("tr", "table", "thead", "tfoot", "th", "li", "pre")
)
MAX_GRID_COLUMNS = 60
MAX_GRID_ROWS = 20_000  # longer tables are written row by row
ALIGNMENTS = {"": "---", "center": ":-:", "right": "--:"}
TEXT_ALIGN = re.compile(r"text-align\s*:\s*(\w+)", re.IGNORECASE)
LINK_TARGET_PATTERN = re.compile(r"\]\([^)\s]*\)")
ALIGN_CLASS = re.compile(r"(?:^|\s)(?:(?:has-)?text|org|align)-?(right|center|end)(?:\s|$)")


@dataclass(slots=True)
class TableGrid:
    """The rows of a table, all of one length, each cell on one line.

    Attributes:
        rows: The cells.
        has_header: Whether the first row names the columns, as it does if no cell is marked as a heading.
        captions: Paragraphs outside cells.
        alignments: Per column, its part of the line below the header, or empty if all columns are aligned as usual.
        has_heading_cells: Whether any cell is marked as a heading.
        code_chars: Characters of listings of several lines, which a cell cannot show.
    """

    rows: list[list[str]] = field(default_factory=list)
    has_header: bool = True
    captions: list[str] = field(default_factory=list)
    alignments: list[str] = field(default_factory=list)
    has_heading_cells: bool = False
    code_chars: int = 0

    def is_data_table(self) -> bool:
        """Return whether this reads as a table: at least two rows and columns, no long cells, not mostly listings."""
        max_code_share = 0.25  # of all characters
        max_headed_cell_chars = 3_000  # in a table with heading cells
        max_cell_chars = 600  # tables with longer cells are layout
        if len(self.rows) < 2 or not 2 <= len(self.rows[0]) <= MAX_GRID_COLUMNS:
            return False
        chars = sum([len(cell) for row in self.rows for cell in row])
        if self.code_chars and self.code_chars > max_code_share * chars:
            return False
        limit = max_headed_cell_chars if self.has_heading_cells else max_cell_chars
        # Addresses of links are not shown, and long in reference manuals.
        long_cells = [cell for row in self.rows for cell in row if len(cell) > limit]
        return all(len(LINK_TARGET_PATTERN.sub("]", cell)) <= limit for cell in long_cells)

    def render_lines(self) -> list[str]:
        """Render the table in Markdown, as a pipe table or as records if it is very wide."""
        max_pipe_columns = 20
        if len(self.rows[0]) > max_pipe_columns and self.has_header:
            # Each row is an item of `name: cell`, after an item with the names of empty columns.
            empty = [column[0] for column in zip(*self.rows, strict=True) if column[0] and not any(column[1:])]
            records = [f"- {'; '.join(empty)}"] if empty else []
            for row in filter(any, self.rows[1:]):
                named = zip(self.rows[0], row, strict=True)
                records.append("- " + "; ".join([f"{name}: {cell}" if name else cell for name, cell in named if cell]))
            return records
        rows = ["| " + " | ".join([cell.replace("|", "\\|") for cell in row]) + " |" for row in self.rows]
        head = [] if self.has_header else ["|" + "  |" * len(self.rows[0])]
        rows[0:0] = head
        alignments = self.alignments or ["---"] * len(self.rows[0])
        return [rows[0], f"| {' | '.join(alignments)} |", *rows[1:]]


def build_grid(page: PageBlocks, table: int, blocks: list[int], paragraphs: ParagraphWriter) -> TableGrid:
    """Build the rows of a table that hold any of these blocks."""
    rows = _collect_rows(page, table)
    if len(rows) >= MAX_GRID_ROWS:
        return TableGrid()
    texts = _collect_cell_texts(page, blocks, paragraphs)
    grid = TableGrid(captions=texts.pop(-1, []))
    spans: dict[int, tuple[int, str]] = {}
    filled: list[tuple[int, list[int], list[str]]] = []
    columns: dict[int, int] = {}
    for row, cells in rows.items():
        line = _build_row(page, cells, texts, spans, columns, heading=_is_header_row(page, row, cells, texts))
        if any(line):
            filled.append((row, cells, line))
    # A first row of one cell over all columns is a title.
    if len(filled) > 2 and len(filled[0][1]) == 1 and len(filled[0][2]) > 1 and filled[0][2][0]:
        grid.captions.append(filled.pop(0)[2][0])
    lines = [line for _, _, line in filled]
    width = max(map(len, lines), default=0)
    # Columns that are empty in all rows held an image, or nothing.
    used = [column for column in range(width) if any(column < len(line) and line[column] for line in lines)]
    grid.rows = [[line[column] if column < len(line) else "" for column in used] for line in lines]
    grid.alignments = _detect_alignments(page, columns, used)
    listings = [block for block in blocks if page.elements[page.rows[block][0]][1] == PRE_TAG]
    sources = [render_listing(page, page.rows[block][0], [block]) for block in listings]
    grid.code_chars = sum([len(source) for source in sources if "\n" in source])
    grid.has_heading_cells = any(page.elements[cell][1] == TH_TAG for _, cells, _ in filled for cell in cells)
    grid.has_header = bool(filled) and (not grid.has_heading_cells or _is_header_row(page, *filled[0][:2], texts))
    return grid


def _detect_alignments(page: PageBlocks, columns: dict[int, int], used: list[int]) -> list[str]:
    """Return each column's usual alignment; empty if all are default."""
    aligned: dict[int, Counter[str]] = {}
    for cell, column in columns.items():
        attributes = page.attributes.get(cell)
        if not attributes:
            continue
        style, names = attributes.get("style") or "", attributes.get("class") or ""
        match = TEXT_ALIGN.search(style) if "align" in style else None
        side = match[1] if match else attributes.get("align") or ""
        if not side and (match := ALIGN_CLASS.search(names)):
            side = match[1]
        side = side.strip().lower()
        if side in ("right", "end", "center"):
            aligned.setdefault(column, Counter())["center" if side == "center" else "right"] += 1
    if not aligned:
        return []
    total = Counter(columns.values())
    most_common = {column: sides.most_common(1)[0] for column, sides in aligned.items()}
    alignments = []
    for column in used:
        side, count = most_common.get(column, ("", 0))
        alignments.append(ALIGNMENTS[side if 2 * count >= total[column] else ""])
    return alignments


def _is_header_row(page: PageBlocks, row: int, cells: list[int], texts: dict[int, list[str]]) -> bool:
    """Return whether a row belongs to the header, ignoring empty cells."""
    min_headings = 2  # next to empty cells; one heading alone begins a group of rows
    if page.elements[page.elements[row][0]][1] == THEAD_TAG:
        return True
    tags = [page.elements[cell][1] for cell in cells]
    is_empty = [not any(texts.get(cell, ())) for cell in cells]
    if tags.count(TH_TAG) >= min_headings:
        return all(tag == TH_TAG or empty for tag, empty in zip(tags, is_empty, strict=True))
    return tags[1:] == [TH_TAG] and is_empty[0]


def _build_row(
    page: PageBlocks,
    cells: list[int],
    texts: dict[int, list[str]],
    spans: dict[int, tuple[int, str]],
    columns: dict[int, int],
    *,
    heading: bool,
) -> list[str]:
    """Build one row, and record the column of each cell that does not span several."""
    line: list[str] = []
    has_text = any(cell in texts for cell in cells)
    for cell in cells:
        _carry_row_spans(line, spans, has_text=has_text)
        colspan, rowspan = _parse_span(page, cell, "colspan"), _parse_span(page, cell, "rowspan")
        if colspan == 1:
            columns[cell] = len(line)
        text = " ".join(" ".join(texts.get(cell, ())).split())
        for offset in range(min(colspan, MAX_GRID_COLUMNS + 1 - len(line))):
            cell_text = text if not offset or heading else ""
            spans[len(line)] = (rowspan - 1, cell_text)
            line.append(cell_text)
    _carry_row_spans(line, spans, has_text=has_text)
    return line


def _carry_row_spans(line: list[str], spans: dict[int, tuple[int, str]], *, has_text: bool) -> None:
    """Append the cells that span from the rows above.

    They are empty in a row without text of its own.
    """
    while (span := spans.get(len(line), (0, "")))[0] > 0:
        rows_left, text = span
        spans[len(line)] = (rows_left - 1, text)
        line.append(text if has_text else "")


def _parse_span(page: PageBlocks, cell: int, name: str) -> int:
    value = ((page.attributes.get(cell) or {}).get(name) or "").strip()
    return max(1, min(int(value), 1_000)) if value.isascii() and value.isdigit() and len(value) < 5 else 1


def _collect_rows(page: PageBlocks, table: int) -> dict[int, list[int]]:
    """Return the cells of each row of this table, without nested tables and with the foot last."""
    rows: dict[int, list[int]] = {}
    elements = page.elements
    element = table + 1
    while element < len(elements) and elements[element][0] >= table and len(rows) < MAX_GRID_ROWS:
        parent, tag = elements[element][0], elements[element][1]
        if tag == TR_TAG:
            rows[element] = []
        elif tag in CELL_TAG_NUMBERS and parent in rows:
            rows[parent].append(element)
        element += 1
    foot = [row for row in rows if elements[elements[row][0]][1] == TFOOT_TAG]
    return rows | {row: rows.pop(row) for row in foot} if foot else rows


def _collect_cell_texts(page: PageBlocks, blocks: list[int], paragraphs: ParagraphWriter) -> dict[int, list[str]]:
    """Return the paragraphs of each cell, and of -1 those outside cells."""
    texts: dict[int, list[str]] = {}
    for number in blocks:
        pieces: list[InlinePiece] = []
        owner = page.rows[number][0]
        cell = owner  # the cell around the block, or -1 if a table is nearer
        while cell >= 0 and page.elements[cell][1] not in CELL_TAG_NUMBERS:
            cell = -1 if page.elements[cell][1] == TABLE_TAG else page.elements[cell][0]
        for piece in page.pieces[number]:
            if isinstance(piece, tuple) and piece[0] == PIECE_NEXT_CELL:
                if piece[1] >= 0:
                    texts.setdefault(piece[1], []).append(paragraphs.render_line(pieces))
                    pieces = []
            else:
                pieces.append(piece)
        if text := paragraphs.render_line(pieces) if pieces else "":
            texts.setdefault(cell, []).append(_format_cell_block(page, number, cell, text))
    return texts


def _format_cell_block(page: PageBlocks, number: int, cell: int, text: str) -> str:
    """Format a block for a table cell.

    Listings become inline code for each line, and items get a bullet.
    """
    owner = page.rows[number][0]
    tag = page.elements[owner][1]
    if tag == PRE_TAG:
        source = render_listing(page, owner, [number])
        code = [f"`{line.strip()}`" for line in source.split("\n") if line.strip() and "`" not in source]
        return " ".join(code) or text
    return "\u2022 " + text if cell >= 0 and tag == ITEM_TAG else text
