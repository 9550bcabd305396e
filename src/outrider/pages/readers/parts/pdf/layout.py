"""Lines of a PDF page as blocks: tables, columns, listings, items and paragraphs.

A page of a PDF is glyphs at places; what belongs together is guessed from the gaps.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import median

from outrider.pages.readers.parts.pdf.bidi import LEFTWARD, RIGHT_TO_LEFT
from outrider.pages.readers.parts.pdf.figures import with_figures
from outrider.pages.readers.parts.pdf.line import Cell, Line
from outrider.pages.readers.parts.pdf.order import ordered
from outrider.pages.readers.parts.pdf.painted import in_place
from outrider.pages.readers.parts.pdf.scripts import downward
from outrider.pages.readers.parts.pdf.stacked import stacked
from outrider.pages.readers.parts.pdf.wrapped import wrapped

BULLET = re.compile(r"^[•●▪■◦○➢❖❑✓➔►▶◆‣⁃∙·–*\u2022\uf0b7-]\s+(?=\S)" + f"|^[•●▪■◦](?=[{RIGHT_TO_LEFT}])")
NUMBERED = re.compile(r"^(\d{1,3})[.)]\s+(?=\S)")
MARKER = re.compile(r"[➢❖❑✓➔►▶◆•●▪■◦‣⁃∙·–○*\u2022\uf0b7-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)]")
POINT = re.compile(r"[➢❖❑✓➔►▶◆•●▪■◦‣⁃∙○\u2022\uf0b7]")
LETTERED = re.compile(r"\(?(?:[a-zA-Z]|[ivx]{1,5}|\d{1,3})[.)] ")  # what the next lines of an item are indented behind
LETTER = re.compile(r"\(?([a-zA-Z]|[ivx]{1,5}|[IVX]{1,5})([.)]) ")
ROMANS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv")
APART = 4.0  # of the type size that a marker stands before its item at most
LEADERS = re.compile(r"(?:\s?\.){4,}\s*")
IDEOGRAPH = "\u2e80-\u303f\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60"
UNSPACED = re.compile(f"(?<=[{IDEOGRAPH}]) (?=[{IDEOGRAPH}])")  # scripts that put no space between words
SAME_LINK = re.compile(r"\]\(([^()\s]+)\) \[([^\[\]]*)\]\(\1\)")
STOP = re.compile(r"""[.!?:;。！？]["'”’)\]]*$""")
LEADING = 0.75  # of the type size: a larger gap between lines is one between paragraphs
PROSE = 28  # characters of a cell from which two of them in a line are columns of text, not of a table
ROOMY = 1.3  # letters differ in their widths
# Beginnings behind which English writes a hyphen nearly wherever a word stands.
KEPT = frozenset({"self", "well", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"})
WORD = 40  # characters that no word has: an address, or a script without spaces
NEAR = 4  # letters by which the space between two cells may be off
RAGGED = 3  # long lines from which on their edges tell anything


@dataclass
class Block:
    """Lines that belong together; `kind` is `text`, `item`, `code` or `table`."""

    kind: str
    lines: list[Line]
    rows: list[list[str]] = field(default_factory=list)
    marker: str = "-"

    @property
    def size(self) -> float:
        return self.lines[0].size

    @property
    def text(self) -> str:
        """The words in one line, those that were broken at a line's end whole again."""
        return BULLET.sub("", NUMBERED.sub("", self.whole)) if self.kind == "item" else self.whole

    @property
    def whole(self) -> str:
        """The same with what stands before an item."""
        pieces = [line.text + _joint(line) for line in self.lines]
        text = LEADERS.sub(" … ", UNSPACED.sub("", "".join(pieces))).strip()
        while (joined := SAME_LINK.sub(r" \2](\1)", text)) != text:
            text = joined
        return text

    @property
    def bold(self) -> bool:
        return all(line.bold for line in self.lines)

    @property
    def listing(self) -> str:
        """The lines as they stand, indented as they are."""
        left = min(line.left for line in self.lines)
        widths = [(cell.right - cell.left) / len(cell.text) for line in self.lines for cell in line.cells if cell.text]
        width = max(median(widths), 0.1)
        return "\n".join(_spaced(line, left, width) for line in self.lines)


def _joint(line: Line) -> str:
    """What stands between a line and the next: of a word that was broken nothing, or the hyphen that it has anyway."""
    if not line.hyphenated:
        return " "
    begun = line.text.rsplit(" ", 1)[-1].lower()
    return "-" if begun in KEPT or "-" in begun or (len(begun) == 1 and begun.isalpha()) else ""


def blocks(lines: list[Line]) -> list[Block]:
    """The blocks of a page in reading order."""
    found: list[Block] = []
    aslant = [line for line in lines if line.aslant]
    rows = with_figures(_rows(in_place(downward(stacked([line for line in lines if not line.aslant])))))
    runs = list(_runs(ordered(wrapped(rows))))
    edges = Edges([run for run in runs if isinstance(run, Line)])
    for run in runs:
        if isinstance(run, Block):
            found.append(run)
        else:
            _place(run, found, edges)
    return found + [Block("text", [line]) for line in aslant]


class Edges:
    """Where the lines of a page begin and end.

    `ragged` tells that they end below one another and begin anywhere, as words that run to the left do where a
    program sets them from the left: then where a line begins says nothing.
    """

    def __init__(self, lines: list[Line]) -> None:
        groups: list[list[Line]] = []
        for line in lines:
            last = groups[-1][-1] if groups else None
            if last and _near(last, line, LEADING) and abs(last.size - line.size) <= 0.1 * last.size:
                groups[-1].append(line)
            else:
                groups.append([line])
        reaches = [max(line.right for line in group) for group in groups]
        self._reaches = {id(line): reach for group, reach in zip(groups, reaches, strict=True) for line in group}
        long = [line for line in lines if len(line.text) > PROSE and LEFTWARD.search(line.text)]
        begun, ended = (_common([getattr(line, side) for line in long]) for side in ("left", "right"))
        self.ragged = len(long) >= RAGGED and ended >= 0.6 * len(long) and begun <= 0.5 * len(long)

    def reach(self, line: Line) -> float:
        """How far right the lines around one reach that stand close together in one column."""
        return self._reaches.get(id(line), 0.0)


def _common(places: list[float]) -> int:
    """How many of the places are about the same one."""
    counts = Counter(round(place / 6) for place in places)
    return max((count + counts[at + 1] for at, count in counts.items()), default=0)


def _spaced(line: Line, left: float, width: float) -> str:
    text = ""
    for cell in line.cells:
        text += " " * max(bool(text), min(200, round((cell.left - left) / width)) - len(text)) + cell.text
    return text


def _rows(lines: list[Line]) -> list[Line]:
    """Neighbours that stand on one height as one line of several cells."""
    rows: list[Line] = []
    for line in lines:
        before = rows[-1] if rows else None
        if (
            before
            and not before.rows
            and not line.rows
            and _level(before, line)
            and line.left > before.right - 0.2 * line.size
            and not before.hyphenated
        ):
            cells = (*before.cells, *line.cells)
            rows[-1] = Line(cells, min(before.bottom, line.bottom), max(before.top, line.top), before.size,
                            before.bold and line.bold, before.mono and line.mono, line.hyphenated,
                            ruled=before.ruled and line.ruled)  # fmt: skip
        else:
            rows.append(line)
    return [_marked(row) for row in rows]


def _marked(line: Line) -> Line:
    """An item whose marker stands apart is one cell with it, not a row of a table; points in a table's cells too."""
    cells: list[Cell] = []
    for cell in line.cells:
        last = cells[-1] if cells else None
        marks = last and (POINT if len(line.cells) > 2 else MARKER).fullmatch(last.text)
        if last and marks and cell.left - last.right <= APART * line.size:
            cells[-1] = Cell(f"{last.text} {cell.text}", last.left, cell.right)
        else:
            cells.append(cell)
    return replace(line, cells=tuple(cells)) if len(cells) < len(line.cells) else line


def _level(one: Line, other: Line) -> bool:
    shared = min(one.top, other.top) - max(one.bottom, other.bottom)
    return shared > 0.6 * min(one.top - one.bottom, other.top - other.bottom)


def _runs(lines: list[Line]) -> Iterator[Line | Block]:
    """Single lines, and the tables and columns that several lines with gaps make."""
    at = 0
    while at < len(lines):
        if lines[at].rows:
            yield Block("table", [lines[at]], [list(row) for row in lines[at].rows])
            at += 1
            continue
        end = at
        while end < len(lines) and len(lines[end].cells) > 1 and not lines[end].mono:
            end += 1
            if _is_apart(lines[at:end], lines[end : end + 1]):
                break
        run = lines[at:end]
        if len(run) > 1:
            yield from _gapped(run)
            at = end
        else:
            yield lines[at]
            at += 1


def _is_apart(run: list[Line], after: list[Line]) -> bool:
    """Whether the rows of a table end before a line: it stands further off than they do from one another."""
    if len(run) < 2 or not after:
        return False
    gaps = [above.bottom - below.top for above, below in pairwise(run)]
    return run[-1].bottom - after[0].top > max(1.5 * run[-1].size, 2 * max(gaps))


def _parted(run: list[Line]) -> list[Line]:
    """The rows of a table, cells that stand too close in one of them parted as in most others."""
    counts = Counter(len(line.cells) for line in run)
    most = max(counts, key=lambda count: (counts[count], count))
    columns = _columns([line for line in run if len(line.cells) == most])
    if counts[most] < 2 or len(columns) != most:
        return run
    return [_parted_at(line, columns) if len(line.cells) < most else line for line in run]


def _parted_at(line: Line, columns: list[tuple[float, float]]) -> Line:
    cells: list[Cell] = []
    for cell in line.cells:
        rest = cell
        under = [each for each in columns if each[0] < cell.right and cell.left < each[1]]
        for (_, end), (start, _) in pairwise(under):
            width = max((rest.right - rest.left) / max(1, len(rest.text)), 0.1)
            about = ((start + end) / 2 - rest.left) / width
            spaces = [at for at, letter in enumerate(rest.text) if letter == " " and abs(at - about) <= NEAR]
            if spaces:
                at = min(spaces, key=lambda space, about=about: abs(space - about))
                middle = rest.left + at * width
                cells.append(Cell(rest.text[:at].strip(), rest.left, min(end, middle)))
                rest = Cell(rest.text[at:].strip(), max(start, middle), rest.right)
        cells.append(rest)
    return replace(line, cells=tuple(cells))


def _gapped(run: list[Line]) -> Iterator[Line | Block]:
    run = _parted(run)
    columns = _columns(run)
    fits = all(len({_column(cell, columns) for cell in line.cells}) == len(line.cells) for line in run)
    cells = [cell for line in run for cell in line.cells]
    if len(columns) < 2 or not fits or (len(run) < 3 and len(columns) < 3):
        yield from run
    elif len(columns) == 2 and len(run) > 5 and median(len(cell.text) for cell in cells) > PROSE:
        for column in range(len(columns)):
            for line in run:
                yield from (_of(line, cell) for cell in line.cells if _column(cell, columns) == column)
    elif any(LEADERS.search(line.text) for line in run):
        yield from run
    else:
        rows = [["" for _ in columns] for _ in run]
        for row, line in zip(rows, run, strict=True):
            for cell in line.cells:
                row[_column(cell, columns)] = cell.text
        yield Block("table", run, rows)


def _of(line: Line, cell: Cell) -> Line:
    return Line((cell,), line.bottom, line.top, line.size, line.bold, line.mono)


def _columns(run: list[Line]) -> list[tuple[float, float]]:
    """The stretches of the page's width that the cells cover."""
    columns: list[tuple[float, float]] = []
    for left, right in sorted((cell.left, cell.right) for line in run for cell in line.cells):
        if columns and left <= columns[-1][1]:
            columns[-1] = columns[-1][0], max(columns[-1][1], right)
        else:
            columns.append((left, right))
    return columns


def _column(cell: Cell, columns: list[tuple[float, float]]) -> int:
    return next(at for at, (left, right) in enumerate(columns) if left <= cell.left <= right)


def _place(line: Line, found: list[Block], edges: Edges) -> None:
    """Puts a line into the block before it, or begins a new one."""
    before = found[-1] if found else None
    signs = before and before.kind == "code" and not any(letter.isalnum() for letter in line.text)
    if line.mono or signs:
        if before and before.kind == "code" and _near(before.lines[-1], line, 2.0):
            before.lines.append(line)
        else:
            found.append(Block("code", [line]))
        return
    number = NUMBERED.match(line.text)
    item = BULLET.match(line.text) or number or _is_under(before, line)
    if before and not item and _is_next(before, line):
        found.append(Block(before.kind, [line]))
    elif before and before.kind in ("text", "item") and not item and _goes_on(before, line, edges):
        before.lines.append(line)
    elif item:
        found.append(Block("item", [line], marker=f"{number[1]}." if number else "-"))
    else:
        found.append(Block("text", [line]))


def _is_under(before: Block | None, line: Line) -> bool:
    """Whether a line is the first of a list with letters that is indented under another item."""
    found = LETTER.match(line.text)
    if not (before and found) or before.kind != "item" or found[1] not in ("a", "i", "A", "I"):
        return False
    return line.left - before.lines[0].left > 0.5 * line.size and not before.lines[-1].hyphenated


def _is_next(before: Block, line: Line) -> bool:
    """Whether a line has the letter behind the one that the block above it begins with, and begins below it."""
    found, first = LETTER.match(line.text), before.lines[0]
    above = LETTER.match(first.text)
    if not (found and above) or before.kind not in ("text", "item") or line.bold:
        return False
    return abs(first.left - line.left) <= line.size and found[2] == above[2] and found[1] in _after(above[1])


def _after(mark: str) -> tuple[str, ...]:
    """What comes behind a letter, or behind a small Roman number, in a list."""
    at = ROMANS.index(mark.lower()) + 1 if mark.lower() in ROMANS else len(ROMANS)
    roman = ROMANS[at] if at < len(ROMANS) else ""
    letter = chr(ord(mark) + 1) if len(mark) == 1 else ""
    return letter, roman if mark.islower() else roman.upper()


def _goes_on(block: Block, line: Line, edges: Edges) -> bool:
    last = block.lines[-1]
    if last.hyphenated:
        return True
    if LEADERS.search(last.text) or LEADERS.search(line.text):
        return False
    same = abs(last.size - line.size) <= 0.1 * last.size and last.bold == line.bold
    if not same or not _near(last, line, LEADING):
        return False
    if _would_fit(last, line, edges.reach(last)):
        return False
    if block.kind == "text" and not edges.ragged:
        left = min(each.left for each in block.lines[-3:])
        hangs = len(block.lines) == 1 and LETTERED.match(last.text)
        if not hangs and line.left - left > 0.8 * line.size and last.left - left < 0.8 * line.size:
            return False
    reach = max(edges.reach(last), line.right)
    return not (last.right < reach - 4 * line.size and STOP.search(last.text[-5:]))


def _would_fit(last: Line, line: Line, edge: float) -> bool:
    """Whether the next line's first word had room behind a line: then somebody ended that line."""
    letters = max(1, len(line.text))
    width = (line.right - line.left) / letters
    word = line.text.split(" ", 1)[0].partition("](")[0]
    return last.right + (len(word) + 2) * width * ROOMY < edge and len(word) < WORD


def _near(one: Line, other: Line, leading: float) -> bool:
    """Whether a line stands right under another."""
    gap = one.bottom - other.top
    return -0.8 * one.size < gap < leading * one.size and other.left < one.right and one.left < other.right
