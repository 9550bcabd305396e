"""Capture the output of a program, up to a limit."""

from collections import deque


class OutputBuffer:
    """One stream: keeps the first and the last half of the limit, and counts the dropped bytes in between.

    Args:
        limit: Bytes to keep.
    """

    def __init__(self, limit: int) -> None:
        self._half_limit = limit // 2
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self.total = 0

    def add(self, data: bytes) -> None:
        """Add a block of output."""
        self.total += len(data)
        head_space = max(0, self._half_limit - len(self._head))
        self._head += data[:head_space]
        if rest := data[head_space:]:
            self._tail.append(rest)
            self._tail_size += len(rest)
        while self._tail and self._tail_size - len(self._tail[0]) >= self._half_limit:
            self._tail_size -= len(self._tail.popleft())

    @property
    def dropped(self) -> int:
        """Number of bytes that were dropped."""
        return self.total - len(self._head) - self._tail_size

    @property
    def text(self) -> str:
        """The kept output as UTF-8, with a line about the dropped bytes."""
        head, tail = bytes(self._head), b"".join(self._tail)
        if self.dropped:
            return f"{_decode_output(head)}\n… ({self.dropped:,} bytes were dropped here) …\n{_decode_output(tail)}"
        return _decode_output(head + tail)


def _decode_output(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\r\n", "\n")
