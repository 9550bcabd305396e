"""Runs a reader off the event loop.

In a thread, since what readers do in Python is bounded work (see `extract`): a thread cannot be
stopped, but it is left behind at the deadline and soon done. Readers that stand on C libraries for
hostile formats run in a process, which is killed at the deadline and whose crash is its own.
Starting one costs 0.4 s and 40 MB once; it serves the following ones for five minutes.
"""

import logging
from collections.abc import Callable
from contextlib import suppress

import anyio
import anyio.to_process
import anyio.to_thread

from outrider.core.errors import OutriderError, Unavailable
from outrider.pages.document import Document
from outrider.pages.reader import Reader, Source

THREADS = 4  # readers that are left behind at their deadline take places of these until they are done
PROCESSES = 2
MEMORY = 4 << 30  # bytes of address space of a process that reads; libraries take one of the four for themselves

log = logging.getLogger(__name__)


class Runner:
    """Gives readers their threads and processes."""

    def __init__(self) -> None:
        self._threads = anyio.CapacityLimiter(THREADS)
        self._processes = anyio.CapacityLimiter(PROCESSES)

    async def run(self, reader: Reader, source: Source) -> tuple[Document, str | None]:
        """The document, and the decoded source where it is HTML.

        Raises:
            OutriderError: as the reader does.
            Unavailable: code `unreadable`, if the reader fails in a way that it should not.
        """
        try:
            if reader.isolated:
                return await _in_process(reader, source, self._processes), None
            return await anyio.to_thread.run_sync(
                _read_text, reader, source, abandon_on_cancel=True, limiter=self._threads
            )
        except OutriderError:
            raise
        except Exception as error:
            log.exception("the reader %s failed", reader.name)
            raise Unavailable(
                f"{source.url} could not be read: the {reader.name} reader failed ({type(error).__name__})",
                code="unreadable",
                hint="look for the same content at another address",
            ) from None


async def _in_process(reader: Reader, source: Source, limiter: anyio.CapacityLimiter) -> Document:
    return await anyio.to_process.run_sync(_confined, reader.read, source, cancellable=True, limiter=limiter)


def _confined(read: Callable[[Source], Document], source: Source) -> Document:
    """Reads within a bound on the process's memory, where the system knows one; beyond it the process ends."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        bound = MEMORY if most == resource.RLIM_INFINITY else min(MEMORY, most)
        resource.setrlimit(resource.RLIMIT_AS, (bound, most))
    return read(source)


def _read_text(reader: Reader, source: Source) -> tuple[Document, str | None]:
    return reader.read(source), source.text if reader.name == "html" else None
