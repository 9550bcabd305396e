"""Runs a reader off the event loop.

In a thread, since what readers do in Python is bounded work (see `extract`): a thread cannot be
stopped, but it is left behind at the deadline and soon done. Readers that stand on C libraries for
hostile formats, and large documents, are read by a process, which is killed at the deadline and whose
crash is its own. Starting one costs 0.3 s and 40 MB once; it serves the following ones for five minutes.
"""

import logging
import traceback
from pathlib import PurePath
from pickle import PicklingError

import anyio
import anyio.to_thread

from outrider.core.errors import OutriderError, Refused, Unavailable
from outrider.pages.document import Document
from outrider.pages.reader import Reader, Source
from outrider.pages.worker.worker import Crashed, Failed, give_back, request, take

THREADS = 4  # readers that are left behind at their deadline take places of these until they are done
PROCESSES = 2
LARGE = 200_000  # bytes of a document, packed ten times as small as its text, from which reading may take seconds

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
            Refused: code `too_large`, if it takes more memory than a reader may have.
            Unavailable: code `unreadable`, if the reader fails in a way that it should not.
        """
        try:
            if told := _apart(reader, source):
                return await _in_process(told, self._processes), None
            return await anyio.to_thread.run_sync(
                _read_text, reader, source, abandon_on_cancel=True, limiter=self._threads
            )
        except OutriderError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a parser raises
            log.warning("the reader %s failed: %s", reader.name, _place(error))
            raise _explained(reader, source, error) from None


def _apart(reader: Reader, source: Source) -> bytes:
    """What a process is told that shall read this; empty where a thread will do."""
    if reader.isolated:
        return request(reader.read, source)
    if not reader.whole or len(source.body) < LARGE:
        return b""
    try:
        return request(reader.read, source)
    except (PicklingError, AttributeError, TypeError):  # a plugin's, which need not stand at the top of a module
        return b""


async def _in_process(told: bytes, limiter: anyio.CapacityLimiter) -> Document:
    async with limiter:
        worker = await anyio.to_thread.run_sync(take)
        done = False
        try:
            document = await anyio.to_thread.run_sync(worker.ask, told, abandon_on_cancel=True)
            done = True
        except (OutriderError, Failed):
            done = True
            raise
        finally:
            if done:
                give_back(worker)
            else:
                worker.kill()
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(worker.close)
    return document


def _place(error: Exception) -> str:
    """What happened, and where in the code, on one line; of another process what that says."""
    if isinstance(error, Crashed | Failed):
        return "its process ended" if isinstance(error, Crashed) else str(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {PurePath(last.filename).name}:{last.lineno}"


def _explained(reader: Reader, source: Source, error: Exception) -> OutriderError:
    place, failure = source.url or "the document", str(error) if isinstance(error, Failed) else type(error).__name__
    if failure == "MemoryError":
        return Refused(
            f"{place} takes more memory than a document may have",
            code="too_large",
            hint="look for a smaller copy of it, or a part of it",
        )
    why = "its parser broke down over it" if isinstance(error, Crashed) else f"the {reader.name} reader failed"
    return Unavailable(
        f"{place} could not be read: {why}" + ("" if isinstance(error, Crashed) else f" ({failure})"),
        code="unreadable",
        hint="look for another copy of it, in another format if there is one",
    )


def _read_text(reader: Reader, source: Source) -> tuple[Document, str | None]:
    return reader.read(source), source.text if reader.name == "html" else None
