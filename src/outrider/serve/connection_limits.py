"""Bound connections that have not sent a whole request: uvicorn would hold them without end."""

import asyncio
from collections import Counter
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol


class LimitedHttpProtocol(H11Protocol):
    """uvicorn's HTTP protocol with limits on connections whose headers are incomplete.

    Connections with a request are not counted, because a proxy may hold many; idle ones are closed by uvicorn itself.

    Attributes:
        header_timeout_s: Seconds for the headers of a request.
        max_waiting: Connections of one address that may wait for headers at the same time.
    """

    header_timeout_s: ClassVar[float] = 10.0
    max_waiting: ClassVar[int] = 256
    _waiting: ClassVar[Counter[str]] = Counter()
    _header_timer: asyncio.TimerHandle | None = None
    _address: str = ""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._address = str((transport.get_extra_info("peername") or ("",))[0])
        if self._waiting[self._address] >= self.max_waiting:
            transport.abort()
        else:
            self._start_waiting()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        is_websocket = self.transport.get_protocol() is not self
        has_request = self.cycle is not None and not self.cycle.response_complete
        if is_websocket or has_request:
            self._stop_waiting()
        else:
            self._start_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _start_waiting(self) -> None:
        if self._header_timer is None and not self.transport.is_closing():
            self._waiting[self._address] += 1
            self._header_timer = self.loop.call_later(self.header_timeout_s, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None
            self._waiting[self._address] -= 1
            if not self._waiting[self._address]:
                del self._waiting[self._address]
