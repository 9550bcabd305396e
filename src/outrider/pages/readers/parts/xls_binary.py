"""Records of a workbook from before 2007 (MS-XLS, BIFF8): its sheets, texts, formats and cells."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from outrider.pages.readers.parts.compound import BrokenCompound, Compound

BEGIN, END, CONTINUE, LOCKED = 0x0809, 0x000A, 0x003C, 0x002F
SINCE_1904, FORMAT, LOOK, LISTED, TEXTS = 0x0022, 0x041E, 0x00E0, 0x0085, 0x00FC
ROW, COLUMNS, SHARED, LABEL, NUMBER, SHORT, SHORTS = 0x0208, 0x007D, 0x00FD, 0x0204, 0x0203, 0x027E, 0x00BD
TRUTH, FORMULA, STRING, MERGED, LINK = 0x0205, 0x0006, 0x0207, 0x00E5, 0x01B8
BIFF8 = 0x0600
TABLE = 0x0010  # of cells, as opposed to a chart or a macro (section 2.4.21)
ERRORS = {0: "#NULL!", 7: "#DIV/0!", 15: "#VALUE!", 23: "#REF!", 29: "#NAME?", 36: "#NUM!", 42: "#N/A"}
STRINGS = 500_000
RECORDS = 3_000_000
MERGES = 5_000
LINKS = 5_000
URL = bytes.fromhex("E0C9EA79F9BACE118C8200AA004BA90B")  # class of an address in a link (MS-OSHARED section 2.3.7.6)
WIDE, EXTENDED, RICH = 0x1, 0x4, 0x8  # flags of a string (section 2.5.293)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell's place, counted from 0, the number of its look, and its value: a float is shown by its look."""

    row: int
    column: int
    look: int
    value: float | str
    typed: bool = False


@dataclass
class Table:
    """What a sheet tells beside its cells; rows and columns are counted from 0."""

    name: str
    start: int
    hidden: bool = False
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: list[tuple[int, int]] = field(default_factory=list)
    merges: list[tuple[int, int, int, int]] = field(default_factory=list)  # first and last row, first and last column
    links: list[tuple[int, int, str]] = field(default_factory=list)


class Book:
    """A workbook.

    Raises:
        BrokenCompound, struct.error, ValueError, IndexError: at once or when cells are read.
    """

    def __init__(self, files: Compound) -> None:
        self._data = files.read("Workbook")
        self.version = struct.unpack_from("<H", self._data, 4)[0]
        self.encrypted = self.since_1904 = False
        self.tables: list[Table] = []
        self.codes: dict[str, str] = {}
        self.looks: list[str] = []
        self._texts: list[str] = []
        self._left = RECORDS
        if self.version == BIFF8:
            self._globals()

    def cells(self, table: Table) -> Iterator[Cell]:
        """The cells of a sheet in the order of the file; what else it tells is put into `table`."""
        depth, before = 0, None
        for kind, body, more in self._records(table.start):
            if kind == BEGIN:
                depth += 1
                if depth == 1 and struct.unpack_from("<H", body, 2)[0] != TABLE:
                    return
            elif kind == END:
                depth -= 1
                if not depth:
                    return
            elif depth == 1:
                if kind == STRING and before is not None:
                    yield Cell(before[0], before[1], before[2], _Letters([body, *more]).string())
                before = struct.unpack_from("<HHH", body) if kind == FORMULA else None
                yield from self._cells(kind, body, more)
                _tell(table, kind, body)

    def _globals(self) -> None:
        for kind, body, more in self._records(0):
            if kind == LOCKED:
                self.encrypted = True
                return
            if kind == END:
                return
            self._look(kind, body, more)
            self._list(kind, body, more)

    def _look(self, kind: int, body: bytes, more: list[bytes]) -> None:
        """What a record tells of formats and styles."""
        if kind == SINCE_1904:
            self.since_1904 = body[:1] == b"\x01"
        elif kind == FORMAT:
            number = struct.unpack_from("<H", body)[0]
            self.codes[str(number)] = _Letters([body[2:], *more]).string()
        elif kind == LOOK:
            self.looks.append(str(struct.unpack_from("<H", body, 2)[0]))

    def _list(self, kind: int, body: bytes, more: list[bytes]) -> None:
        """What a record tells of sheets, and of the texts that their cells share."""
        if kind == LISTED:
            start, state, sort = struct.unpack_from("<LBB", body)
            if not sort:
                name = _Letters([body[6:]]).string(short=True)
                self.tables.append(Table(name, start, hidden=bool(state & 3)))
        elif kind == TEXTS:
            count = min(struct.unpack_from("<L", body, 4)[0], STRINGS)
            self._texts = list(_Letters([body[8:], *more]).strings(count))

    def _cells(self, kind: int, body: bytes, more: list[bytes]) -> Iterator[Cell]:
        if kind == SHARED:
            row, column, look, number = struct.unpack_from("<HHHL", body)
            yield Cell(row, column, look, self._texts[number] if number < len(self._texts) else "")
        elif kind == LABEL:
            row, column, look = struct.unpack_from("<HHH", body)
            yield Cell(row, column, look, _Letters([body[6:], *more]).string())
        elif kind == TRUTH:
            row, column, look, value, wrong = struct.unpack_from("<HHHBB", body)
            yield Cell(row, column, look, _truth(value, wrong=bool(wrong)), typed=True)
        elif kind == FORMULA:
            yield from _computed(body)
        else:
            yield from _numbers(kind, body)

    def _records(self, at: int) -> Iterator[tuple[int, bytes, list[bytes]]]:
        """Kind and content of the records from a place on, each with the ones that go on with it."""
        while at + 4 <= len(self._data):
            kind, size = struct.unpack_from("<HH", self._data, at)
            body, at = self._data[at + 4 : at + 4 + size], at + 4 + size
            more: list[bytes] = []
            while at + 4 <= len(self._data) and self._data[at : at + 2] == b"\x3c\x00":
                size = struct.unpack_from("<H", self._data, at + 2)[0]
                more.append(self._data[at + 4 : at + 4 + size])
                at += 4 + size
            self._left -= 1 + len(more)
            if self._left < 0:
                raise BrokenCompound("it holds too many parts")
            yield kind, body, more


def _numbers(kind: int, body: bytes) -> Iterator[Cell]:
    """Numbers, of which a record may hold a whole row."""
    if kind == NUMBER:
        row, column, look, value = struct.unpack_from("<HHHd", body)
        yield Cell(row, column, look, value, typed=True)
    elif kind == SHORT:
        row, column, look, value = struct.unpack_from("<HHHL", body)
        yield Cell(row, column, look, _short(value), typed=True)
    elif kind == SHORTS:
        row, first = struct.unpack_from("<HH", body)
        for at in range((len(body) - 6) // 6):
            look, value = struct.unpack_from("<HL", body, 4 + 6 * at)
            yield Cell(row, first + at, look, _short(value), typed=True)


def _tell(table: Table, kind: int, body: bytes) -> None:
    """What a record tells of rows, columns, merged cells and links."""
    if kind == ROW and struct.unpack_from("<H", body, 12)[0] & 0x20:
        table.hidden_rows.add(struct.unpack_from("<H", body)[0])
    elif kind == COLUMNS and body[8] & 1:
        table.hidden_columns.append(struct.unpack_from("<HH", body))
    elif kind == MERGED and len(table.merges) < MERGES:
        count = min(struct.unpack_from("<H", body)[0], (len(body) - 2) // 8)
        table.merges += [struct.unpack_from("<4H", body, 2 + 8 * at) for at in range(count)]
    elif kind == LINK and (at := body.find(URL)) > 0 and len(table.links) < LINKS:
        size = struct.unpack_from("<L", body, at + 16)[0]
        address = body[at + 20 : at + 20 + min(size, 4_000)].decode("utf-16-le", "replace").partition("\x00")[0]
        table.links.append((*struct.unpack_from("<H2xH", body), address))


def _computed(body: bytes) -> Iterator[Cell]:
    """A formula's last value; a string comes in a record of its own."""
    row, column, look = struct.unpack_from("<HHH", body)
    if body[12:14] != b"\xff\xff":
        yield Cell(row, column, look, struct.unpack_from("<d", body, 6)[0], typed=True)
    elif body[6] in (1, 2):
        yield Cell(row, column, look, _truth(body[8], wrong=body[6] == 2), typed=True)


def _truth(value: int, *, wrong: bool) -> str:
    return ERRORS.get(value, "#?") if wrong else "TRUE" if value else "FALSE"


def _short(value: int) -> float:
    """A number in four bytes (section 2.5.217): 30 bits of a double or of an integer, maybe a hundred times as much."""
    if value & 2:
        number = float((value >> 2) - (1 << 30 if value & 0x80000000 else 0))
    else:
        number = struct.unpack("<d", b"\0\0\0\0" + struct.pack("<L", value & 0xFFFFFFFC))[0]
    return number / 100 if value & 1 else number


class _Letters:
    """Strings that may go on from one record into the next (section 2.5.293)."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces
        self._number = self._at = 0

    def strings(self, count: int) -> Iterator[str]:
        """So many strings, as far as there are some."""
        for _ in range(count):
            self._next_if_done()
            if self._number >= len(self._pieces):
                return
            yield self.string()

    def string(self, *, short: bool = False) -> str:
        """A string behind its length, which of a short one takes one byte."""
        count = self._number_of(1 if short else 2)
        flags = self._number_of(1)
        runs = self._number_of(2) if flags & RICH and not short else 0
        extra = self._number_of(4) if flags & EXTENDED and not short else 0
        text = self._letters(count, wide=bool(flags & WIDE))
        self._skip(4 * runs + extra)
        return text

    def _letters(self, count: int, *, wide: bool) -> str:
        found: list[str] = []
        while count > 0:
            if self._next_if_done():
                wide = bool(self._number_of(1) & WIDE)
            if self._number >= len(self._pieces):
                break
            width = 2 if wide else 1
            piece = self._pieces[self._number][self._at : self._at + width * count]
            self._at += max(len(piece), 1)
            found.append(piece.decode("utf-16-le" if wide else "latin-1", "replace"))
            count -= max(len(piece) // width, 1)
        return "".join(found)

    def _number_of(self, size: int) -> int:
        self._next_if_done()
        if self._number >= len(self._pieces):
            return 0
        value = int.from_bytes(self._pieces[self._number][self._at : self._at + size], "little")
        self._at += size
        return value

    def _skip(self, size: int) -> None:
        while size > 0 and self._number < len(self._pieces):
            step = min(size, max(0, len(self._pieces[self._number]) - self._at))
            self._at, size = self._at + step, size - step
            if size and not self._next_if_done():
                return

    def _next_if_done(self) -> bool:
        """Goes on to the next record where this one is at its end; whether it did."""
        moved = False
        while self._number < len(self._pieces) and self._at >= len(self._pieces[self._number]):
            self._number, self._at, moved = self._number + 1, 0, True
        return moved
