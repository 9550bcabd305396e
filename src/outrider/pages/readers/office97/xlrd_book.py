"""Workbooks from before 2007 (MS-XLS and its forerunners) by xlrd, bounded, and without what it stumbles over.

xlrd has read such files for twenty years, and gives up at once on an odd name, drawing or note, none of which holds a
cell; of damaged files it keeps nothing. All that it reads comes through one method, which is the place for bounds.
Heavy: imported by the one reader that needs it, when it reads.
"""

import struct

from xlrd.book import Book as Library
from xlrd.sheet import Sheet as Table

EOF_RECORD, DIMENSIONS_RECORDS, HYPERLINK_RECORD, STYLE_RECORD = 0x000A, (0x0000, 0x0200), 0x01B8, 0x0293
# Names, whose formulas may unfold without end; other books; blank cells, fonts, views, page breaks, conditions.
SKIPPED_RECORDS = frozenset((0x18, 0x17, 0x23, 0x1AE, 0x01, 0x201, 0xBE, 0x92, 0x5C, 0x8C, 0x3E, 0x23E, 0xA0, 0x41))
SKIPPED_RECORDS |= {0x1A, 0x1B, 0x15F, 0x1B0, 0x1B1, 0x225, 0x55, 0x99, 0xAB, 0x800, 0x872, 0x31, 0x231, 0x45}
# Links, comments and what they hang on, and merged cells: a sheet is worth more than they are.
OPTIONAL_RECORDS = frozenset((HYPERLINK_RECORD, 0x1C, 0x5D, 0x1B6, 0xE5))
GLOBALS_STREAM, SHEET_STREAM = 0x05, 0x10  # types of streams (MS-XLS section 2.4.21)
ALONE = (20, 21, 30, 40)  # versions in which the file is one sheet


class EncryptedWorkbookError(Exception):
    """The workbook has a password."""


class DamagedWorkbookError(Exception):
    """The workbook cannot be read."""


class _NullLog:
    """Where the library writes its warnings."""

    def write(self, text: str) -> int:
        return len(text)


class XlrdBook(Library):
    """A workbook, whose sheets are read one after the other.

    Args:
        stream: Its records, as they stand in the stream `Workbook` or `Book` of the file.

    Raises:
        Locked, Damaged: at once.
    """

    def __init__(self, stream: bytes) -> None:
        max_records = 3_000_000  # and rows
        super().__init__()
        self._records_left, self._linked_cells, self._has_dimensions = max_records, 0, False
        self._skips_optional = self.is_cut = False
        if not stream:
            raise DamagedWorkbookError("it holds no workbook")
        try:
            self._load_workbook(stream)
        except (EncryptedWorkbookError, DamagedWorkbookError, MemoryError):
            raise
        except Exception as error:
            raise DamagedWorkbookError("it is damaged") from error

    @property
    def is_spent(self) -> bool:
        """Whether it holds more than is read."""
        return self._records_left < 0

    def sheets(self) -> list[tuple[str, bool]]:
        """Name of each sheet, and whether it is hidden."""
        return [(name, bool(seen & 3)) for name, seen in zip(self._sheet_names, self._sheet_visibility, strict=True)]

    def list_formats(self) -> tuple[dict[str, str], list[str]]:
        """The formats of its own by their numbers, and the number of each style's."""
        codes = {str(each.format_key): each.format_str for each in self.format_list if each.format_str}
        return codes, [str(each.format_key) for each in self.xf_list]

    def read_sheet(self, number: int) -> tuple[Table, bool]:
        """A sheet, and whether all of it could be read; what it has beside cells is given up first."""
        known = self._sheet_list[number]
        if known is not None:
            return known, True
        table, cut = Table(self, 0, self._sheet_names[number], number), self.is_cut
        for self._skips_optional in (False, True):
            self.is_cut = cut
            try:
                self._position = self._sh_abs_posn[number]
                self.getbof(SHEET_STREAM)
                table = Table(self, self._position, table.name, number)
                table.read(self)
            except (EncryptedWorkbookError, MemoryError):
                raise
            except Exception:  # noqa: BLE001, S112 - the library fails in any way over damage
                continue
            self._records_left -= table.nrows  # a single cell at the end makes all rows above it
            return table, True
        return table, False

    def get_record_parts(self) -> tuple[int, int, bytes]:
        """Kind, length and content of the next record; the end of the stream is an end, again and again."""
        unknown_kind = -1  # a kind of record that the library passes over
        self._records_left -= 1
        if self._records_left < 0:
            raise DamagedWorkbookError("it holds too many parts")
        if self._position + 4 > len(self.mem or b""):
            self.is_cut = True
            return EOF_RECORD, 0, b""
        kind, size, data = super().get_record_parts()
        self.is_cut = self.is_cut or len(data) < size
        return (unknown_kind if self._is_skipped(kind, data) else kind), size, data

    def handle_filepass(self, data: bytes) -> None:  # noqa: ARG002 - as the library calls it
        raise EncryptedWorkbookError

    def _is_skipped(self, kind: int, data: bytes) -> bool:
        """Whether the library shall not see a record."""
        excel_5_version = 50
        max_linked_cells = 100_000  # cells
        if kind in SKIPPED_RECORDS or (self._skips_optional and kind in OPTIONAL_RECORDS):
            return True
        if kind == STYLE_RECORD:  # which tells the older ones that there are no more formats to come
            return self.biff_version >= excel_5_version
        if kind in DIMENSIONS_RECORDS:  # each one throws all rows away
            sized, self._has_dimensions = self._has_dimensions, True
            return sized or self.biff_version >= excel_5_version
        if kind != HYPERLINK_RECORD or len(data) < 8:
            return False
        top, bottom, left, right = struct.unpack_from("<4H", data)  # one over a whole sheet would be 16 million
        self._linked_cells += max(0, bottom - top + 1) * max(0, right - left + 1)
        return self._linked_cells > max_linked_cells

    def _load_workbook(self, stream: bytes) -> None:
        """As the library's `open_workbook` goes about it."""
        self.biff2_8_load(
            file_contents=stream, logfile=_NullLog(), formatting_info=True, on_demand=True, ragged_rows=True
        )
        self.biff_version = self.getbof(GLOBALS_STREAM)
        if not self.biff_version:
            raise DamagedWorkbookError("its version is unknown")
        if self.biff_version in ALONE:
            self.fake_globals_get_sheet()
            return
        self.parse_globals()
        self._sheet_list = self._sheet_list or [None for _ in self._sheet_names]
