"""Load workbooks from before 2007 (MS-XLS) with xlrd.

Reading is bounded and survives damage.

xlrd fails on any odd name, drawing or note, although none of them holds a cell, and keeps nothing of damaged files. It
reads all records through `get_record_parts`, which bounds and skips them here.
"""

import struct

from xlrd.biffh import XL_EOF, XL_WORKBOOK_GLOBALS, XL_WORKSHEET
from xlrd.book import Book
from xlrd.sheet import Sheet

HYPERLINK_RECORD = 0x01B8
# Names, whose formulas may expand without end; other books; blank cells, fonts, views, page breaks, conditions.
SKIPPED_RECORDS = frozenset((0x18, 0x17, 0x23, 0x1AE, 0x01, 0x201, 0xBE, 0x92, 0x5C, 0x8C, 0x3E, 0x23E, 0xA0, 0x41))
SKIPPED_RECORDS |= {0x1A, 0x1B, 0x15F, 0x1B0, 0x1B1, 0x225, 0x55, 0x99, 0xAB, 0x800, 0x872, 0x31, 0x231, 0x45}
SKIPPED_RECORDS |= {0x0000, 0x0200, 0x0293}  # dimensions, each of which makes xlrd drop all rows before it; styles
# Links, comments and their drawings, and merged cells: dropped if a sheet cannot be read with them.
OPTIONAL_RECORDS = frozenset((HYPERLINK_RECORD, 0x1C, 0x5D, 0x1B6, 0xE5))


class EncryptedWorkbookError(Exception):
    """The workbook has a password."""


class DamagedWorkbookError(Exception):
    """The workbook cannot be read."""


class OldWorkbookError(Exception):
    """The workbook is from Excel 4 or earlier (BIFF2 to BIFF4)."""


class _NullLog:
    """Discard the library's warnings."""

    def write(self, text: str) -> int:
        return len(text)


class XlrdBook(Book):
    """A workbook whose sheets are read one at a time.

    Args:
        stream: The records in the stream `Workbook` or `Book` of the file.

    Raises:
        EncryptedWorkbookError: if it has a password.
        OldWorkbookError: if it is from Excel 4 or earlier.
        DamagedWorkbookError: if it cannot be read.
    """

    def __init__(self, stream: bytes) -> None:
        max_records = 3_000_000  # rows of a sheet are counted, too
        super().__init__()
        self._records_left, self._linked_cells = max_records, 0
        self._skips_optional = self.is_cut = False
        if not stream:
            raise DamagedWorkbookError("it holds no workbook")
        try:
            self._load_workbook(stream)
        except (EncryptedWorkbookError, OldWorkbookError, DamagedWorkbookError, MemoryError):
            raise
        except Exception as error:
            raise DamagedWorkbookError("it is damaged") from error

    @property
    def is_spent(self) -> bool:
        """Return whether it holds more records than are read."""
        return self._records_left < 0

    def sheets(self) -> list[tuple[str, bool]]:
        """Return each sheet's name and whether it is hidden."""
        return [
            (name, bool(visibility & 3))
            for name, visibility in zip(self._sheet_names, self._sheet_visibility, strict=True)
        ]

    def list_formats(self) -> tuple[dict[str, str], list[str]]:
        """Return the format codes by their numbers, and each cell style's format number."""
        codes = {str(known.format_key): known.format_str for known in self.format_list if known.format_str}
        return codes, [str(style.format_key) for style in self.xf_list]

    def read_sheet(self, number: int) -> tuple[Sheet, bool]:
        """Return a sheet, and whether all of it could be read.

        If it is damaged, links, comments and merged cells are dropped first, then the rows from the damage on.
        """
        loaded = self._sheet_list[number]
        if loaded is not None:
            return loaded, True
        sheet, was_cut = Sheet(self, 0, self._sheet_names[number], number), self.is_cut
        for self._skips_optional in (False, True):
            self.is_cut = was_cut
            try:
                self._position = self._sh_abs_posn[number]
                self.getbof(XL_WORKSHEET)
                sheet = Sheet(self, self._position, sheet.name, number)
                sheet.read(self)
            except (EncryptedWorkbookError, MemoryError):
                raise
            except Exception:  # noqa: BLE001, S112 - the library fails in any way over damage
                continue
            self._records_left -= sheet.nrows  # a single cell at the end creates all rows above it
            return sheet, True
        return sheet, False

    def get_record_parts(self) -> tuple[int, int, bytes]:
        """Return kind, length and content of the next record; past the end, EOF records without end."""
        ignored_kind = -1  # xlrd skips kinds that it does not know
        max_linked_cells = 100_000
        self._records_left -= 1
        if self._records_left < 0:
            raise DamagedWorkbookError("it holds too many parts")
        if self._position + 4 > len(self.mem or b""):
            self.is_cut = True
            return XL_EOF, 0, b""
        kind, size, data = super().get_record_parts()
        self.is_cut = self.is_cut or len(data) < size
        is_skipped = kind in SKIPPED_RECORDS or (self._skips_optional and kind in OPTIONAL_RECORDS)
        if kind == HYPERLINK_RECORD and len(data) >= 8 and not is_skipped:
            top, bottom, left, right = struct.unpack_from("<4H", data)  # xlrd stores a link for each cell of its range
            self._linked_cells += max(0, bottom - top + 1) * max(0, right - left + 1)
            is_skipped = self._linked_cells > max_linked_cells
        return (ignored_kind if is_skipped else kind), size, data

    def handle_sst(self, data: bytes) -> None:
        """Load the shared texts; some programs state more of them than there are, which xlrd refuses."""
        stated, position = struct.unpack_from("<i", data, 4)[0], self._position
        low, high = 1, max(1, min(stated, len(self.mem or b"") // 3))  # a text takes three bytes at least
        number = high
        while True:  # find the largest number for which there are texts
            self._position = position
            try:
                super().handle_sst(data[:4] + struct.pack("<i", number) + data[8:])
                low = number
            except (AssertionError, IndexError, struct.error):
                high = number - 1
            if low >= high:
                return
            number = (low + high + 1) // 2

    def handle_filepass(self, data: bytes) -> None:  # noqa: ARG002 - as the library calls it
        raise EncryptedWorkbookError

    def _load_workbook(self, stream: bytes) -> None:
        """Load the workbook's globals, as xlrd's `open_workbook` does."""
        self.biff2_8_load(
            file_contents=stream, logfile=_NullLog(), formatting_info=True, on_demand=True, ragged_rows=True
        )
        self.biff_version = self.getbof(XL_WORKBOOK_GLOBALS)
        if not self.biff_version:
            raise DamagedWorkbookError("its version is unknown")
        if self.biff_version < 50:  # xlrd counts in tenths: 50 is Excel 5
            # Scripts write one sheet's records after an Excel 5 header without a version.
            if not stream.startswith(b"\x09\x08"):
                raise OldWorkbookError
            self.fake_globals_get_sheet()
            return
        self.parse_globals()
        self._sheet_list = self._sheet_list or [None for _ in self._sheet_names]
