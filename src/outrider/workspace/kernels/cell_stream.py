"""Split what a kernel writes at the marks that end its cells."""

from collections.abc import Callable
from contextlib import suppress

from outrider.workspace.sandbox.output import OutputBuffer


class CellStream(OutputBuffer):
    """One stream of a kernel, with a buffer for each cell.

    Args:
        limit: Bytes to keep of each cell.
        has_reply: Whether a reply follows the mark: its length in hexadecimal digits, and its bytes.
        notify: Called when a cell's part has ended.
    """

    def __init__(self, limit: int, has_reply: bool, notify: Callable[[], None]) -> None:
        super().__init__(limit)
        self._limit = limit
        self._has_reply = has_reply
        self._notify = notify
        self._mark = b""
        self._pending = b""  # what may be the beginning of the mark
        self._after_mark: bytearray | None = None  # what has come after the mark
        self.cell = OutputBuffer(limit)
        self.reply: bytes | None = None

    def begin_cell(self, mark: bytes) -> OutputBuffer:
        """Begin a cell; return its buffer, which also gets what was written since the last one."""
        self._mark, self.reply, self._after_mark = mark, None, None
        return self.cell

    def add(self, data: bytes) -> None:
        """Add a block of output."""
        if self._after_mark is not None:
            self._after_mark += data
            self._read_reply()
            return
        if not self._mark:
            self.cell.add(data)
            return
        data = self._pending + data
        position = data.find(self._mark)
        if position < 0:
            kept = len(self._mark) - 1
            self._pending = data[-kept:]
            self.cell.add(data[:-kept])
            return
        self.cell.add(data[:position])
        self._after_mark, self._pending = bytearray(data[position + len(self._mark) :]), b""
        self._read_reply()

    def release_pending(self) -> None:
        """Take what is pending as output, because no mark can come any more."""
        self.cell.add(self._pending)
        self._pending, self._mark = b"", b""

    def _read_reply(self) -> None:
        """End the cell once its reply has arrived; later output belongs to the next cell."""
        max_reply_bytes = 4_000_000
        length_digits = 8
        assert self._after_mark is not None
        end = 0
        if self._has_reply:
            if len(self._after_mark) < length_digits:
                return
            end = length_digits
            with suppress(ValueError):  # the code can write anything instead of a length
                end += min(int(bytes(self._after_mark[:length_digits]), 16), max_reply_bytes)
        if len(self._after_mark) < end:
            return
        self.reply, rest = bytes(self._after_mark[length_digits:end]), bytes(self._after_mark[end:])
        self._mark, self._after_mark, self.cell = b"", None, OutputBuffer(self._limit)
        self.cell.add(rest)
        self._notify()
