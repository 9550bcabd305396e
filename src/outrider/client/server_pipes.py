"""Pipes to a server of tools: the shared process through its relay, or else a server of our own."""

import os
import sys
import threading
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from outrider import __version__
from outrider.relay.relay import run_relay

if TYPE_CHECKING:
    import subprocess


class ServerPipes:
    """The two ends of the pipes, and the thread that serves them.

    Args:
        arguments: As after `outrider mcp`.

    Attributes:
        outgoing: Takes a message a line.
        incoming: Gives a message a line.
    """

    def __init__(self, arguments: list[str]) -> None:
        request_end, write_end = os.pipe()
        read_end, answer_end = os.pipe()
        self.outgoing: IO[bytes] = os.fdopen(write_end, "wb")
        self.incoming: IO[bytes] = os.fdopen(read_end, "rb")
        self._own_server: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._serve, args=(arguments, request_end, answer_end), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the connection; a server of our own ends with it."""
        with suppress(OSError):
            self.outgoing.close()
        self._thread.join(timeout=5.0)
        if self._own_server is not None:
            self._own_server.terminate()

    def _serve(self, arguments: list[str], request_end: int, answer_end: int) -> None:
        try:
            if run_relay(arguments, (request_end, answer_end), __version__) is None:
                import subprocess  # takes longer to import than all else here

                command = [sys.executable, "-m", "outrider", "mcp", "--no-daemon", *arguments]
                self._own_server = subprocess.Popen(command, stdin=request_end, stdout=answer_end)  # noqa: S603
                os.close(request_end)
                request_end = -1
                self._own_server.wait()
        finally:
            for descriptor in (request_end, answer_end):
                if descriptor >= 0:
                    os.close(descriptor)
