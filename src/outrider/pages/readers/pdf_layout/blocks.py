"""Lines of a PDF page as blocks: tables, columns, listings, items and paragraphs.

A page of a PDF is glyphs at places; what belongs together is guessed from the gaps.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import median

from outrider.pages.readers.pdf_layout.baselines import merge_script_lines
from outrider.pages.readers.pdf_layout.bidi import RTL_CHAR, RTL_RANGES
from outrider.pages.readers.pdf_layout.borderless_tables import merge_borderless_tables
from outrider.pages.readers.pdf_layout.late_marks import restore_paint_order
from outrider.pages.readers.pdf_layout.line import PdfCell, PdfLine
from outrider.pages.readers.pdf_layout.numeric_tables import merge_numeric_tables
from outrider.pages.readers.pdf_layout.reading_order import sort_reading_order
from outrider.pages.readers.pdf_layout.writing_modes import merge_vertical_lines

BULLET_PREFIX = re.compile(r"^[•●▪■◦○➢❖❑✓➔►▶◆‣⁃∙·–*\u2022\uf0b7-]\s+(?=\S)" + f"|^[•●▪■◦](?=[{RTL_RANGES}])")
NUMBER_PREFIX = re.compile(r"^(\d{1,3})[.)]\s+(?=\S)")
MARKER = re.compile(r"[➢❖❑✓➔►▶◆•●▪■◦‣⁃∙·–○*\u2022\uf0b7-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)]")
BULLET_SIGN = re.compile(r"[➢❖❑✓➔►▶◆•●▪■◦‣⁃∙○\u2022\uf0b7]")
ITEM_LABEL = re.compile(
    r"\(?(?:[a-zA-Z]|[ivx]{1,5}|\d{1,3})[.)] "
)  # what the next lines of an item are indented behind
LETTER_LABEL = re.compile(r"\(?([a-zA-Z]|[ivx]{1,5}|[IVX]{1,5})([.)]) ")
ROMAN_NUMERALS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv")
DOT_LEADERS = re.compile(r"(?:\s?\.){4,}\s*")
IDEOGRAPH_RANGES = "\u2e80-\u303f\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60"
IDEOGRAPH_SPACE = re.compile(
    f"(?<=[{IDEOGRAPH_RANGES}]) (?=[{IDEOGRAPH_RANGES}])"
)  # scripts that put no space between words
ADJACENT_LINKS = re.compile(r"\]\(([^()\s]+)\) \[([^\[\]]*)\]\(\1\)")
SENTENCE_END = re.compile(r"""[.!?:;。！？]["'”’)\]]*$""")
MAX_LEADING_EM = 0.75  # of the type size: a larger gap between lines is one between paragraphs
MIN_PROSE_CHARS = 28  # characters of a cell from which two of them in a line are columns of text, not of a table
# Beginnings behind which English writes a hyphen nearly wherever a word stands.
HYPHENATED_PREFIXES = frozenset(
    {"self", "well", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}
)


@dataclass
class PdfBlock:
    """Lines that belong together; `kind` is `text`, `item`, `code` or `table`."""

    kind: str
    lines: list[PdfLine]
    rows: list[list[str]] = field(default_factory=list)
    marker: str = "-"

    @property
    def size(self) -> float:
        return self.lines[0].size

    @property
    def text(self) -> str:
        """The words in one line, those that were broken at a line's end whole again."""
        return BULLET_PREFIX.sub("", NUMBER_PREFIX.sub("", self.full_text)) if self.kind == "item" else self.full_text

    @property
    def full_text(self) -> str:
        """The same with what stands before an item."""
        pieces = [line.text + _choose_separator(line) for line in self.lines]
        text = DOT_LEADERS.sub(" … ", IDEOGRAPH_SPACE.sub("", "".join(pieces))).strip()
        while (joined := ADJACENT_LINKS.sub(r" \2](\1)", text)) != text:
            text = joined
        return text

    @property
    def bold(self) -> bool:
        return all(line.bold for line in self.lines)

    @property
    def code_text(self) -> str:
        """The lines as they stand, indented as they are."""
        left = min(line.left for line in self.lines)
        widths = [(cell.right - cell.left) / len(cell.text) for line in self.lines for cell in line.cells if cell.text]
        width = max(median(widths), 0.1)
        return "\n".join(_indent_cells(line, left, width) for line in self.lines)


def _choose_separator(line: PdfLine) -> str:
    """What stands between a line and the next: of a word that was broken nothing, or the hyphen that it has anyway."""
    if not line.hyphenated:
        return " "
    begun = line.text.rsplit(" ", 1)[-1].lower()
    return "-" if begun in HYPHENATED_PREFIXES or "-" in begun or (len(begun) == 1 and begun.isalpha()) else ""


def build_blocks(lines: list[PdfLine]) -> list[PdfBlock]:
    """The blocks of a page in reading order."""
    found: list[PdfBlock] = []
    aslant = [line for line in lines if line.rotated]
    rows = merge_numeric_tables(
        _merge_rows(
            restore_paint_order(merge_vertical_lines(merge_script_lines([line for line in lines if not line.rotated])))
        )
    )
    runs = list(_iter_line_groups(sort_reading_order(merge_borderless_tables(rows))))
    edges = LineEdges([run for run in runs if isinstance(run, PdfLine)])
    for run in runs:
        if isinstance(run, PdfBlock):
            found.append(run)
        else:
            _place_line(run, found, edges)
    return found + [PdfBlock("text", [line]) for line in aslant]


class LineEdges:
    """Where the lines of a page begin and end.

    `is_ragged` tells that they end below one another and begin anywhere, as words that run to the left do where a
    program sets them from the left: then where a line begins says nothing.
    """

    def __init__(self, lines: list[PdfLine]) -> None:
        min_long_lines = 3  # long lines from which on their edges tell anything
        groups: list[list[PdfLine]] = []
        for line in lines:
            last = groups[-1][-1] if groups else None
            if last and _is_right_below(last, line, MAX_LEADING_EM) and abs(last.size - line.size) <= 0.1 * last.size:
                groups[-1].append(line)
            else:
                groups.append([line])
        reaches = [max(line.right for line in group) for group in groups]
        self._right_edges = {id(line): reach for group, reach in zip(groups, reaches, strict=True) for line in group}
        long = [line for line in lines if len(line.text) > MIN_PROSE_CHARS and RTL_CHAR.search(line.text)]
        begun, ended = (_count_most_common([getattr(line, side) for line in long]) for side in ("left", "right"))
        self.is_ragged = len(long) >= min_long_lines and ended >= 0.6 * len(long) and begun <= 0.5 * len(long)

    def get_right_edge(self, line: PdfLine) -> float:
        """How far right the lines around one reach that stand close together in one column."""
        return self._right_edges.get(id(line), 0.0)


def _count_most_common(places: list[float]) -> int:
    """How many of the places are about the same one."""
    counts = Counter(round(place / 6) for place in places)
    return max((count + counts[at + 1] for at, count in counts.items()), default=0)


def _indent_cells(line: PdfLine, left: float, width: float) -> str:
    text = ""
    for cell in line.cells:
        text += " " * max(bool(text), min(200, round((cell.left - left) / width)) - len(text)) + cell.text
    return text


def _merge_rows(lines: list[PdfLine]) -> list[PdfLine]:
    """Neighbours that stand on one height as one line of several cells."""
    rows: list[PdfLine] = []
    for line in lines:
        before = rows[-1] if rows else None
        if (
            before
            and not before.table_rows
            and not line.table_rows
            and _is_same_row(before, line)
            and line.left > before.right - 0.2 * line.size
            and not before.hyphenated
        ):
            cells = (*before.cells, *line.cells)
            rows[-1] = PdfLine(cells, min(before.bottom, line.bottom), max(before.top, line.top), before.size,
                            before.bold and line.bold, before.monospaced and line.monospaced, line.hyphenated,
                            underlined=before.underlined and line.underlined)  # fmt: skip
        else:
            rows.append(line)
    return [_join_markers(row) for row in rows]


def _join_markers(line: PdfLine) -> PdfLine:
    """An item whose marker stands apart is one cell with it, not a row of a table; points in a table's cells too."""
    max_marker_gap_em = 4.0  # of the type size that a marker stands before its item at most
    cells: list[PdfCell] = []
    for cell in line.cells:
        last = cells[-1] if cells else None
        marks = last and (BULLET_SIGN if len(line.cells) > 2 else MARKER).fullmatch(last.text)
        if last and marks and cell.left - last.right <= max_marker_gap_em * line.size:
            cells[-1] = PdfCell(f"{last.text} {cell.text}", last.left, cell.right)
        else:
            cells.append(cell)
    return replace(line, cells=tuple(cells)) if len(cells) < len(line.cells) else line


def _is_same_row(one: PdfLine, other: PdfLine) -> bool:
    shared = min(one.top, other.top) - max(one.bottom, other.bottom)
    return shared > 0.6 * min(one.top - one.bottom, other.top - other.bottom)


def _iter_line_groups(lines: list[PdfLine]) -> Iterator[PdfLine | PdfBlock]:
    """Single lines, and the tables and columns that several lines with gaps make."""
    at = 0
    while at < len(lines):
        if lines[at].table_rows:
            yield PdfBlock("table", [lines[at]], [list(row) for row in lines[at].table_rows])
            at += 1
            continue
        end = at
        while end < len(lines) and len(lines[end].cells) > 1 and not lines[end].monospaced:
            end += 1
            if _is_table_end(lines[at:end], lines[end : end + 1]):
                break
        run = lines[at:end]
        if len(run) > 1:
            yield from _convert_gapped_lines(run)
            at = end
        else:
            yield lines[at]
            at += 1


def _is_table_end(run: list[PdfLine], after: list[PdfLine]) -> bool:
    """Whether the rows of a table end before a line: it stands further off than they do from one another."""
    if len(run) < 2 or not after:
        return False
    gaps = [above.bottom - below.top for above, below in pairwise(run)]
    return run[-1].bottom - after[0].top > max(1.5 * run[-1].size, 2 * max(gaps))


def _split_merged_cells(run: list[PdfLine]) -> list[PdfLine]:
    """The rows of a table, cells that stand too close in one of them parted as in most others."""
    counts = Counter(len(line.cells) for line in run)
    most = max(counts, key=lambda count: (counts[count], count))
    columns = _find_columns([line for line in run if len(line.cells) == most])
    if counts[most] < 2 or len(columns) != most:
        return run
    return [_split_line_cells(line, columns) if len(line.cells) < most else line for line in run]


def _split_line_cells(line: PdfLine, columns: list[tuple[float, float]]) -> PdfLine:
    max_space_shift = 4  # letters by which the space between two cells may be off
    cells: list[PdfCell] = []
    for cell in line.cells:
        rest = cell
        under = [each for each in columns if each[0] < cell.right and cell.left < each[1]]
        for (_, end), (start, _) in pairwise(under):
            width = max((rest.right - rest.left) / max(1, len(rest.text)), 0.1)
            about = ((start + end) / 2 - rest.left) / width
            spaces = [at for at, letter in enumerate(rest.text) if letter == " " and abs(at - about) <= max_space_shift]
            if spaces:
                at = min(spaces, key=lambda space, about=about: abs(space - about))
                middle = rest.left + at * width
                cells.append(PdfCell(rest.text[:at].strip(), rest.left, min(end, middle)))
                rest = PdfCell(rest.text[at:].strip(), max(start, middle), rest.right)
        cells.append(rest)
    return replace(line, cells=tuple(cells))


def _convert_gapped_lines(run: list[PdfLine]) -> Iterator[PdfLine | PdfBlock]:
    run = _split_merged_cells(run)
    columns = _find_columns(run)
    fits = all(len({_find_column(cell, columns) for cell in line.cells}) == len(line.cells) for line in run)
    cells = [cell for line in run for cell in line.cells]
    if len(columns) < 2 or not fits or (len(run) < 3 and len(columns) < 3):
        yield from run
    elif len(columns) == 2 and len(run) > 5 and median(len(cell.text) for cell in cells) > MIN_PROSE_CHARS:
        for column in range(len(columns)):
            for line in run:
                yield from (_of(line, cell) for cell in line.cells if _find_column(cell, columns) == column)
    elif any(DOT_LEADERS.search(line.text) for line in run):
        yield from run
    else:
        rows = [["" for _ in columns] for _ in run]
        for row, line in zip(rows, run, strict=True):
            for cell in line.cells:
                row[_find_column(cell, columns)] = cell.text
        yield PdfBlock("table", run, rows)


def _of(line: PdfLine, cell: PdfCell) -> PdfLine:
    return PdfLine((cell,), line.bottom, line.top, line.size, line.bold, line.monospaced)


def _find_columns(run: list[PdfLine]) -> list[tuple[float, float]]:
    """The stretches of the page's width that the cells cover."""
    columns: list[tuple[float, float]] = []
    for left, right in sorted((cell.left, cell.right) for line in run for cell in line.cells):
        if columns and left <= columns[-1][1]:
            columns[-1] = columns[-1][0], max(columns[-1][1], right)
        else:
            columns.append((left, right))
    return columns


def _find_column(cell: PdfCell, columns: list[tuple[float, float]]) -> int:
    return next(at for at, (left, right) in enumerate(columns) if left <= cell.left <= right)


def _place_line(line: PdfLine, found: list[PdfBlock], edges: LineEdges) -> None:
    """Puts a line into the block before it, or begins a new one."""
    before = found[-1] if found else None
    signs = before and before.kind == "code" and not any(letter.isalnum() for letter in line.text)
    if line.monospaced or signs:
        if before and before.kind == "code" and _is_right_below(before.lines[-1], line, 2.0):
            before.lines.append(line)
        else:
            found.append(PdfBlock("code", [line]))
        return
    number = NUMBER_PREFIX.match(line.text)
    item = BULLET_PREFIX.match(line.text) or number or _is_nested_item(before, line)
    if before and not item and _is_next_item(before, line):
        found.append(PdfBlock(before.kind, [line]))
    elif before and before.kind in ("text", "item") and not item and _is_block_continuation(before, line, edges):
        before.lines.append(line)
    elif item:
        found.append(PdfBlock("item", [line], marker=f"{number[1]}." if number else "-"))
    else:
        found.append(PdfBlock("text", [line]))


def _is_nested_item(before: PdfBlock | None, line: PdfLine) -> bool:
    """Whether a line is the first of a list with letters that is indented under another item."""
    found = LETTER_LABEL.match(line.text)
    if not (before and found) or before.kind != "item" or found[1] not in ("a", "i", "A", "I"):
        return False
    return line.left - before.lines[0].left > 0.5 * line.size and not before.lines[-1].hyphenated


def _is_next_item(before: PdfBlock, line: PdfLine) -> bool:
    """Whether a line has the letter behind the one that the block above it begins with, and begins below it."""
    found, first = LETTER_LABEL.match(line.text), before.lines[0]
    above = LETTER_LABEL.match(first.text)
    if not (found and above) or before.kind not in ("text", "item") or line.bold:
        return False
    return abs(first.left - line.left) <= line.size and found[2] == above[2] and found[1] in _list_next_labels(above[1])


def _list_next_labels(mark: str) -> tuple[str, ...]:
    """What comes behind a letter, or behind a small Roman number, in a list."""
    at = ROMAN_NUMERALS.index(mark.lower()) + 1 if mark.lower() in ROMAN_NUMERALS else len(ROMAN_NUMERALS)
    roman = ROMAN_NUMERALS[at] if at < len(ROMAN_NUMERALS) else ""
    letter = chr(ord(mark) + 1) if len(mark) == 1 else ""
    return letter, roman if mark.islower() else roman.upper()


def _is_block_continuation(block: PdfBlock, line: PdfLine, edges: LineEdges) -> bool:
    last = block.lines[-1]
    if last.hyphenated:
        return True
    if DOT_LEADERS.search(last.text) or DOT_LEADERS.search(line.text):
        return False
    same = abs(last.size - line.size) <= 0.1 * last.size and last.bold == line.bold
    if not same or not _is_right_below(last, line, MAX_LEADING_EM):
        return False
    if _can_fit_next_word(last, line, edges.get_right_edge(last)):
        return False
    if block.kind == "text" and not edges.is_ragged:
        left = min(each.left for each in block.lines[-3:])
        hangs = len(block.lines) == 1 and ITEM_LABEL.match(last.text)
        if not hangs and line.left - left > 0.8 * line.size and last.left - left < 0.8 * line.size:
            return False
    reach = max(edges.get_right_edge(last), line.right)
    return not (last.right < reach - 4 * line.size and SENTENCE_END.search(last.text[-5:]))


def _can_fit_next_word(last: PdfLine, line: PdfLine, edge: float) -> bool:
    """Whether the next line's first word had room behind a line: then somebody ended that line."""
    max_word_chars = 40  # characters that no word has: an address, or a script without spaces
    width_slack = 1.3  # letters differ in their widths
    letters = max(1, len(line.text))
    width = (line.right - line.left) / letters
    word = line.text.split(" ", 1)[0].partition("](")[0]
    return last.right + (len(word) + 2) * width * width_slack < edge and len(word) < max_word_chars


def _is_right_below(one: PdfLine, other: PdfLine, leading: float) -> bool:
    """Whether a line stands right under another."""
    gap = one.bottom - other.top
    return -0.8 * one.size < gap < leading * one.size and other.left < one.right and one.left < other.right
