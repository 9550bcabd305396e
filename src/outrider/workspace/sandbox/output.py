"""What a program writes: taken as fast as it comes, and kept up to a limit."""

from collections import deque


class OutputBuffer:
    """One stream: the first half of the limit is kept, and the last; what lies between is counted and dropped.

    Args:
        limit: Bytes that are kept.
    """

    def __init__(self, limit: int) -> None:
        self._half_limit = limit // 2
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self.total = 0

    def add(self, data: bytes) -> None:
        """Takes what has been read."""
        self.total += len(data)
        fits = max(0, self._half_limit - len(self._head))
        self._head += data[:fits]
        if rest := data[fits:]:
            self._tail.append(rest)
            self._tail_size += len(rest)
        while self._tail and self._tail_size - len(self._tail[0]) >= self._half_limit:
            self._tail_size -= len(self._tail.popleft())

    @property
    def dropped(self) -> int:
        """Bytes that are kept no more."""
        return self.total - len(self._head) - self._tail_size

    @property
    def text(self) -> str:
        """What is kept, as UTF-8; a line tells what was dropped."""
        head, tail = bytes(self._head), b"".join(self._tail)
        if self.dropped:
            return f"{_decode_output(head)}\n… ({self.dropped:,} bytes were dropped here) …\n{_decode_output(tail)}"
        return _decode_output(head + tail)


def _decode_output(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\r\n", "\n")
