"""Run document readers in threads and processes, off the event loop.

What readers do in Python is bounded work, so a thread suffices: it cannot be stopped, but is abandoned at the deadline
and soon done. Readers that use C libraries for hostile formats, and large documents, are read in a process, which is
killed at the deadline and may crash. Starting one takes 0.3 s and 40 MB once, and it serves later documents until it
has been idle for five minutes.
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
    """Run readers in a limited number of threads and processes."""

    def __init__(self) -> None:
        max_threads = 4  # readers that were abandoned at their deadline count until they are done
        self._threads = anyio.CapacityLimiter(max_threads)
        self._processes = anyio.CapacityLimiter(MAX_READER_PROCESSES)

    async def read_document(self, reader: DocumentReader, source: ReaderInput) -> tuple[Document, str | None]:
        """Read a document. Return it with the decoded source if it is HTML.

        Raises:
            OutriderError: Raised by the reader.
            Refused: With code `too_large`, if the reader exceeds the memory limit.
            Unavailable: With code `unreadable`, if the reader fails unexpectedly.
        """
        try:
            if request := _build_process_request(reader, source):
                return await _read_in_process(request, self._processes), None
            return await anyio.to_thread.run_sync(
                lambda: (reader.read(source), source.text if reader.name == "html" else None),
                abandon_on_cancel=True,
                limiter=self._threads,
            )
        except OutriderError:
            raise
        except Exception as error:  # noqa: BLE001 - a parser may raise anything
            raise _explain_failure(reader, source, error) from None


def _build_process_request(reader: DocumentReader, source: ReaderInput) -> bytes:
    """Serialize the request for a process, or return b"" if a thread suffices."""
    min_process_bytes = 200_000  # compressed documents of this size may take seconds
    if reader.isolated:
        return serialize_request(reader.read, source)
    if not reader.needs_whole_body or len(source.body) < min_process_bytes:
        return b""
    try:
        return serialize_request(reader.read, source)
    except (PicklingError, AttributeError, TypeError):  # the nested function of a plugin
        return b""


async def _read_in_process(request_bytes: bytes, limiter: anyio.CapacityLimiter) -> Document:
    async with limiter:
        worker = await anyio.to_thread.run_sync(acquire_process)
        is_reusable = False
        try:
            document = await anyio.to_thread.run_sync(worker.read_document, request_bytes, abandon_on_cancel=True)
            is_reusable = True
        except (OutriderError, ReaderFailed):
            is_reusable = True
            raise
        finally:
            if is_reusable:
                release_process(worker)
            else:
                worker.kill()
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(worker.close)
    return document


def _explain_failure(reader: DocumentReader, source: ReaderInput, error: Exception) -> OutriderError:
    """Log where a reader failed unexpectedly, and return the error to raise."""
    name, crashed = source.url or "the document", isinstance(error, ReaderCrashed)
    failure = str(error) if isinstance(error, ReaderFailed) else type(error).__name__
    description = "its process ended" if crashed else failure
    if not isinstance(error, ReaderCrashed | ReaderFailed):
        last = traceback.extract_tb(error.__traceback__)[-1]
        description = f"{failure} at {PurePath(last.filename).name}:{last.lineno}"
    log.warning("the reader %s failed: %s", reader.name, description)
    if failure == "MemoryError":
        message = f"{name} needs more memory than the limit for documents"
        return Refused(message, code="too_large", hint="look for a smaller copy of it, or a part of it")
    reason = "its parser crashed, or needed more memory than it may have"
    reason = reason if crashed else f"the {reader.name} reader failed ({failure})"
    hint = "look for another copy of it, in another format if there is one, or read a later part (#page=2 of a PDF)"
    return Unavailable(f"{name} could not be read: {reason}", code="unreadable", hint=hint)
