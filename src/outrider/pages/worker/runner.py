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
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.worker.process import (
    ReaderCrashed,
    ReaderFailed,
    acquire_process,
    release_process,
    serialize_request,
)

MAX_READER_PROCESSES = 2

log = logging.getLogger(__name__)


class ReaderRunner:
    """Gives readers their threads and processes."""

    def __init__(self) -> None:
        max_threads = 4  # readers that are left behind at their deadline take places of these until they are done
        self._threads = anyio.CapacityLimiter(max_threads)
        self._processes = anyio.CapacityLimiter(MAX_READER_PROCESSES)

    async def read_document(self, reader: DocumentReader, source: ReaderInput) -> tuple[Document, str | None]:
        """The document, and the decoded source where it is HTML.

        Raises:
            OutriderError: as the reader does.
            Refused: code `too_large`, if it takes more memory than a reader may have.
            Unavailable: code `unreadable`, if the reader fails in a way that it should not.
        """
        try:
            if told := _build_process_request(reader, source):
                return await _read_in_process(told, self._processes), None
            return await anyio.to_thread.run_sync(
                _read_in_thread, reader, source, abandon_on_cancel=True, limiter=self._threads
            )
        except OutriderError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a parser raises
            log.warning("the reader %s failed: %s", reader.name, _describe_failure(error))
            raise _explain_failure(reader, source, error) from None


def _build_process_request(reader: DocumentReader, source: ReaderInput) -> bytes:
    """What a process is told that shall read this; empty where a thread will do."""
    min_process_bytes = (
        200_000  # bytes of a document, packed ten times as small as its text, from which reading may take seconds
    )
    if reader.isolated:
        return serialize_request(reader.read, source)
    if not reader.needs_whole_body or len(source.body) < min_process_bytes:
        return b""
    try:
        return serialize_request(reader.read, source)
    except (PicklingError, AttributeError, TypeError):  # a plugin's, which need not stand at the top of a module
        return b""


async def _read_in_process(request_bytes: bytes, limiter: anyio.CapacityLimiter) -> Document:
    async with limiter:
        worker = await anyio.to_thread.run_sync(acquire_process)
        done = False
        try:
            document = await anyio.to_thread.run_sync(worker.read_document, request_bytes, abandon_on_cancel=True)
            done = True
        except (OutriderError, ReaderFailed):
            done = True
            raise
        finally:
            if done:
                release_process(worker)
            else:
                worker.kill()
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(worker.close)
    return document


def _describe_failure(error: Exception) -> str:
    """What happened, and where in the code, on one line; of another process what that says."""
    if isinstance(error, ReaderCrashed | ReaderFailed):
        return "its process ended" if isinstance(error, ReaderCrashed) else str(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {PurePath(last.filename).name}:{last.lineno}"


def _explain_failure(reader: DocumentReader, source: ReaderInput, error: Exception) -> OutriderError:
    place, failure = (
        source.url or "the document",
        str(error) if isinstance(error, ReaderFailed) else type(error).__name__,
    )
    if failure == "MemoryError":
        return Refused(
            f"{place} takes more memory than a document may have",
            code="too_large",
            hint="look for a smaller copy of it, or a part of it",
        )
    why = "its parser broke down over it" if isinstance(error, ReaderCrashed) else f"the {reader.name} reader failed"
    return Unavailable(
        f"{place} could not be read: {why}" + ("" if isinstance(error, ReaderCrashed) else f" ({failure})"),
        code="unreadable",
        hint="look for another copy of it, in another format if there is one",
    )


def _read_in_thread(reader: DocumentReader, source: ReaderInput) -> tuple[Document, str | None]:
    return reader.read(source), source.text if reader.name == "html" else None
