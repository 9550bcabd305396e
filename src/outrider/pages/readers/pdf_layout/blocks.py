"""Group a PDF page's lines into tables, columns, listings and paragraphs.

A PDF page holds glyphs at positions; what belongs together is inferred from the gaps.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from statistics import median

from outrider.pages.readers.pdf_layout.baselines import merge_script_lines
from outrider.pages.readers.pdf_layout.bidi import RTL_CHAR, RTL_RANGES
from outrider.pages.readers.pdf_layout.late_marks import restore_paint_order
from outrider.pages.readers.pdf_layout.line import PdfCell, PdfLine
from outrider.pages.readers.pdf_layout.painted_columns import join_painted_columns, sort_reading_order
from outrider.pages.readers.pdf_layout.tables import merge_tables
from outrider.pages.readers.pdf_layout.text_columns import sort_text_columns
from outrider.pages.readers.pdf_layout.writing_modes import merge_vertical_lines

BULLET_PREFIX = re.compile(r"^[•●▪■◦○➢❖❑✓➔►▶◆‣⁃∙·–*\u2022\uf0b7-]\s+(?=\S)" + f"|^[•●▪■◦](?=[{RTL_RANGES}])")
NUMBER_PREFIX = re.compile(r"^(\d{1,3})[.)]\s+(?=\S)")
MARKER = re.compile(r"[➢❖❑✓➔►▶◆•●▪■◦‣⁃∙·–○*\u2022\uf0b7-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)]")
BULLET_SIGN = re.compile(r"[➢❖❑✓➔►▶◆•●▪■◦‣⁃∙○\u2022\uf0b7]")
ITEM_LABEL = re.compile(r"\(?(?:[a-zA-Z]|[ivx]{1,5}|\d{1,3})[.)] ")
LETTER_LABEL = re.compile(r"\(?([a-zA-Z]|[ivx]{1,5}|[IVX]{1,5})([.)]) ")

OPERATOR = re.compile(r"[=+±×∑∫]+")  # a separate cell in a formula
DOT_LEADERS = re.compile(r"(?:\s?\.){4,}\s*")
IDEOGRAPH_RANGES = "\u2e80-\u303f\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60"
# From joining lines: these scripts have no spaces between words.
IDEOGRAPH_SPACE = re.compile(f"(?<=[{IDEOGRAPH_RANGES}]) (?=[{IDEOGRAPH_RANGES}])")
ADJACENT_LINKS = re.compile(r"\]\(([^()\s]+)\) \[([^\[\]]*)\]\(\1\)")
SENTENCE_END = re.compile(r"""[.!?:;。！？]["'”’)\]]*$""")
MAX_LEADING_EM = 0.75  # a larger gap is between paragraphs
MIN_PROSE_CHARS = 28  # two longer cells in a line are columns of text, not of a table
# English keeps the hyphen after these nearly always.
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
        """The text on one line, hyphenated words joined, without the marker of an item."""
        return BULLET_PREFIX.sub("", NUMBER_PREFIX.sub("", self.full_text)) if self.kind == "item" else self.full_text

    @property
    def full_text(self) -> str:
        """The text on one line with the marker of an item."""
        pieces: list[str] = []
        for line in self.lines:
            separator = " "
            if line.hyphenated:  # some words keep their hyphen
                start = line.text.rsplit(" ", 1)[-1].lower()
                is_prefix = start in HYPHENATED_PREFIXES or (len(start) == 1 and start.isalpha())
                separator = "-" if is_prefix or "-" in start else ""
            pieces += [line.text, separator]
        text = DOT_LEADERS.sub(" … ", IDEOGRAPH_SPACE.sub("", "".join(pieces))).strip()
        # A link over several lines is one.
        while (joined := ADJACENT_LINKS.sub(r" \2](\1)", text)) != text:
            text = joined
        return text

    @property
    def bold(self) -> bool:
        return all(line.bold for line in self.lines)

    @property
    def code_text(self) -> str:
        """The lines with their indentation."""
        left = min(line.left for line in self.lines)
        widths = [(cell.right - cell.left) / len(cell.text) for line in self.lines for cell in line.cells if cell.text]
        width = max(median(widths), 0.1)
        rows: list[str] = []
        for line in self.lines:
            row = ""
            for cell in line.cells:
                row += " " * max(bool(row), min(200, round((cell.left - left) / width)) - len(row)) + cell.text
            rows.append(row)
        return "\n".join(rows)


def build_blocks(lines: list[PdfLine]) -> list[PdfBlock]:
    """Return the blocks of a page in reading order, rotated lines last."""
    scripted = merge_script_lines([line for line in lines if not line.rotated])
    upright = restore_paint_order(sort_text_columns(merge_vertical_lines(scripted)))
    rows = join_painted_columns(_merge_rows(upright))
    rows = sort_reading_order(merge_tables(rows))
    edges = LineEdges([line for line in rows if not line.table_rows])
    blocks: list[PdfBlock] = []
    for line in rows:
        if line.table_rows:
            blocks.append(PdfBlock("table", [line], [list(row) for row in line.table_rows]))
        else:
            _place_line(line, blocks, edges)
    return blocks + [PdfBlock("text", [line]) for line in lines if line.rotated]


def join_heading_lines(blocks: list[PdfBlock], min_size: float) -> list[PdfBlock]:
    """Join blocks of large type that are lines of one heading: centered, or continued in lower case.

    Args:
        blocks: The blocks of a page in reading order.
        min_size: The smallest type size of a heading, in points.
    """
    max_chars, max_offset_em, max_leading_em = 200, 0.6, 0.5
    min_width_share = 0.6  # of a line that wraps to all text
    edges = [edge for block in blocks for edge in (block.lines[0].left, block.lines[0].right)]
    text_width = max(edges, default=0.0) - min(edges, default=0.0)
    joined: list[PdfBlock] = []
    for block in blocks:
        last = joined[-1] if joined else None
        first = block.lines[0]
        if last is None or {last.kind, block.kind} != {"text"} or first.rotated or last.size < min_size:
            joined.append(block)
            continue
        above = last.lines[-1]
        is_same_style = abs(above.size - first.size) < 0.05 * above.size and above.bold == first.bold
        is_centered = abs(above.left + above.right - first.left - first.right) < 2 * max_offset_em * first.size
        is_aligned = abs(above.left - first.left) < max_offset_em * first.size
        is_wide = above.right - above.left > max(min_width_share * text_width, first.right - first.left)
        is_continued = first.text[:1].islower() or (is_centered and is_wide and not is_aligned)
        is_near = is_same_style and _is_right_below(above, first, max_leading_em) and len(above.cells) == 1
        is_short = len(last.full_text) + len(block.full_text) <= max_chars
        if is_near and is_continued and is_short and not SENTENCE_END.search(above.text[-5:]):
            joined[-1] = replace(last, lines=[*last.lines, *block.lines])
        else:
            joined.append(block)
    return joined


class LineEdges:
    """The left and right edges of a page's lines.

    `is_ragged` says that right-to-left lines are aligned on the right, so that their left edges mean nothing.
    """

    def __init__(self, lines: list[PdfLine]) -> None:
        min_long_lines = 3  # edges of fewer lines mean nothing
        groups: list[list[PdfLine]] = []
        for line in lines:
            last = groups[-1][-1] if groups else None
            if last and _is_right_below(last, line, MAX_LEADING_EM) and abs(last.size - line.size) <= 0.1 * last.size:
                groups[-1].append(line)
            else:
                groups.append([line])
        self._right_edges: dict[int, float] = {}
        for group in groups:
            self._right_edges |= dict.fromkeys(map(id, group), max(line.right for line in group))
        long = [line for line in lines if len(line.text) > MIN_PROSE_CHARS and RTL_CHAR.search(line.text)]
        same_left = _count_most_common(line.left for line in long)
        same_right = _count_most_common(line.right for line in long)
        self.is_ragged = len(long) >= min_long_lines and same_right >= 0.6 * len(long) and same_left <= 0.5 * len(long)

    def get_right_edge(self, line: PdfLine) -> float:
        """Return the right edge of the column around a line."""
        return self._right_edges.get(id(line), 0.0)


def _count_most_common(positions: Iterable[float]) -> int:
    """Return how many positions are about the same, within 6 to 12 points."""
    counts = Counter(round(position / 6) for position in positions)
    return max((count + counts[key + 1] for key, count in counts.items()), default=0)


def _merge_rows(lines: list[PdfLine]) -> list[PdfLine]:
    """Merge successive lines of one height into one line with several cells."""
    rows: list[PdfLine] = []
    for line in lines:
        previous = rows[-1] if rows else line
        shared_height = min(previous.top, line.top) - max(previous.bottom, line.bottom)
        if (
            not rows
            or (previous.table_rows or line.table_rows or previous.hyphenated)
            or shared_height <= 0.6 * min(previous.top - previous.bottom, line.top - line.bottom)
            or line.left <= previous.right - 0.2 * line.size
        ):
            rows.append(line)
            continue
        rows[-1] = PdfLine(
            (*previous.cells, *line.cells),
            min(previous.bottom, line.bottom),
            max(previous.top, line.top),
            previous.size,
            previous.bold and line.bold,
            previous.monospaced and line.monospaced,
            line.hyphenated,
            underlined=previous.underlined and line.underlined,
        )
    return [_join_markers(row) for row in rows]


def _join_markers(line: PdfLine) -> PdfLine:
    """Join a marker and its item into one cell; in tables only bullets are joined."""
    max_marker_gap_em = 4.0
    cells: list[PdfCell] = []
    for cell in line.cells:
        last = cells[-1] if cells else None
        is_marker = last and (BULLET_SIGN if len(line.cells) > 2 else MARKER).fullmatch(last.text)
        if last and is_marker and cell.left - last.right <= max_marker_gap_em * line.size:
            cells[-1] = PdfCell(f"{last.text} {cell.text}", last.left, cell.right)
        else:
            cells.append(cell)
    return replace(line, cells=tuple(cells)) if len(cells) < len(line.cells) else line


def _place_line(line: PdfLine, blocks: list[PdfBlock], edges: LineEdges) -> None:
    """Append a line to the last block, or begin a new one with it."""
    last = blocks[-1] if blocks else None
    is_in_code = last and last.kind == "code" and not any(char.isalnum() for char in line.text)
    if line.monospaced or is_in_code:
        if last and last.kind == "code" and _is_right_below(last.lines[-1], line, 2.0):
            last.lines.append(line)
        else:
            blocks.append(PdfBlock("code", [line]))
        return
    number = NUMBER_PREFIX.match(line.text)
    is_item = BULLET_PREFIX.match(line.text) or number or _is_nested_item(last, line)
    if last and not is_item and _is_next_item(last, line):
        blocks.append(PdfBlock(last.kind, [line]))
    elif last and last.kind in ("text", "item") and not is_item and _is_block_continuation(last, line, edges):
        last.lines.append(line)
    elif is_item:
        blocks.append(PdfBlock("item", [line], marker=f"{number[1]}." if number else "-"))
    else:
        blocks.append(PdfBlock("text", [line]))


def _is_nested_item(block: PdfBlock | None, line: PdfLine) -> bool:
    """Return whether a line begins a lettered list that is indented below another item."""
    label = LETTER_LABEL.match(line.text)
    if not (block and label) or block.kind != "item" or label[1] not in ("a", "i", "A", "I"):
        return False
    return line.left - block.lines[0].left > 0.5 * line.size and not block.lines[-1].hyphenated


def _is_next_item(block: PdfBlock, line: PdfLine) -> bool:
    """Return whether a line has the next letter after the block's label.

    Both have the same left edge.
    """
    label, first = LETTER_LABEL.match(line.text), block.lines[0]
    above = LETTER_LABEL.match(first.text)
    if not (label and above) or block.kind not in ("text", "item") or line.bold:
        return False
    if abs(first.left - line.left) > line.size or label[2] != above[2]:
        return False
    # The next letter, or the next Roman number.
    numerals = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv", "")
    last = above[1]
    roman = numerals[numerals.index(last.lower()) + 1] if last.lower() in numerals[:-1] else ""
    letter = chr(ord(last) + 1) if len(last) == 1 else ""
    return label[1] in (letter, roman if last.islower() else roman.upper())


def _is_block_continuation(block: PdfBlock, line: PdfLine, edges: LineEdges) -> bool:
    max_word_chars = 40  # longer ones are URLs, or of a script without spaces
    width_slack = 1.3  # letters differ in width
    last = block.lines[-1]
    if last.hyphenated:
        return True
    if DOT_LEADERS.search(last.text) or DOT_LEADERS.search(line.text):
        return False
    is_same_style = abs(last.size - line.size) <= 0.1 * last.size and last.bold == line.bold
    if not is_same_style or not _is_right_below(last, line, MAX_LEADING_EM):
        return False
    # A paragraph ends where the next line's first word had room in the last one.
    char_width = (line.right - line.left) / max(1, len(line.text))
    word = line.text.split(" ", 1)[0].partition("](")[0]
    word_end = last.right + (len(word) + 2) * char_width * width_slack
    if word_end < edges.get_right_edge(last) and len(word) < max_word_chars:
        return False
    if block.kind == "text" and not edges.is_ragged:
        left = min(previous.left for previous in block.lines[-3:])
        has_hanging_indent = len(block.lines) == 1 and ITEM_LABEL.match(last.text)
        is_indented = line.left - left > 0.8 * line.size and last.left - left < 0.8 * line.size
        if is_indented and not has_hanging_indent:  # the first line of a new paragraph
            return False
    right = max(edges.get_right_edge(last), line.right)
    return not (last.right < right - 4 * line.size and SENTENCE_END.search(last.text[-5:]))


def _is_right_below(above: PdfLine, line: PdfLine, leading: float) -> bool:
    """Return whether a line follows another with at most `leading`, in type sizes, between them."""
    gap = above.bottom - line.top
    return -0.8 * above.size < gap < leading * above.size and line.left < above.right and above.left < line.right
