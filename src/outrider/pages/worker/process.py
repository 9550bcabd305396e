"""A process that reads for this one, so that what it does can be ended, and its memory bounded.

Why not `anyio.to_process`, nor `multiprocessing`: both run the caller's main script once more in the
process that they start, which does all of it twice where nothing guards it, and both unpickle what
comes back, which would let a parser that was taken over speak for us. Here answers are JSON.
"""

import atexit
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from outrider.core import errors
from outrider.core.errors import OutriderError, Unavailable
from outrider.pages.document import Document
from outrider.pages.reader import ReaderInput

LENGTH_PREFIX_BYTES = 8  # bytes before a message that say how long it is
# What a reader may know of our environment: where programs, libraries and scratch space are; no key and no token.
SAFE_ENVIRONMENT = frozenset(
    ("PATH", "HOME", "LANG", "TMPDIR", "TEMP", "TMP", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "WINDIR")
)


class ReaderCrashed(Exception):
    """The process ended in the middle of its work."""


class ReaderFailed(Exception):
    """The reader failed in a way that it should not; says with what."""


class ReaderProcess:
    """One such process."""

    def __init__(self) -> None:
        path = os.pathsep.join(each for each in sys.path if each)
        self._process: Any = subprocess.Popen(
            [sys.executable, "-P", "-m", "outrider.pages.worker.main"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_build_environment() | {"PYTHONPATH": path},
        )

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def read_document(self, request: bytes) -> Document:
        """The document that the process makes of a source.

        Args:
            request: Of `request`.

        Raises:
            Crashed, Failed, OutriderError: as the reader does.
        """
        answer = self._exchange_message(request)
        if "document" in answer:
            return Document.from_dict(answer["document"])
        if "error" in answer:
            raise _parse_error(answer["error"])
        raise ReaderFailed(str(answer.get("failure", ""))[:100])

    def kill(self) -> None:
        """Ends it, whatever it does; may be called from any thread."""
        with suppress(OSError):
            self._process.kill()

    def close(self) -> None:
        """Ends it and waits until nothing of it is left."""
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                pipe.close()
        self._process.wait()

    def _exchange_message(self, request: bytes) -> dict[str, Any]:
        max_answer_bytes = 1 << 30  # bytes that an answer has at most
        told, answers = self._process.stdin, self._process.stdout
        try:
            told.write(len(request).to_bytes(LENGTH_PREFIX_BYTES, "big") + request)
            told.flush()
            size = int.from_bytes(answers.read(LENGTH_PREFIX_BYTES), "big")
            answer = answers.read(min(size, max_answer_bytes))
            found = json.loads(answer) if size and len(answer) == size else None
        except (OSError, ValueError) as error:
            raise ReaderCrashed from error
        if not isinstance(found, dict):
            raise ReaderCrashed
        return found


def _build_environment() -> dict[str, str]:
    """Ours without what a parser that was taken over could give away."""
    safe_prefixes = ("LC_", "PYTHON")
    return {
        name: value for name, value in os.environ.items() if name in SAFE_ENVIRONMENT or name.startswith(safe_prefixes)
    }


_idle_processes: list[ReaderProcess] = []  # taken and given back in one step each, from any thread
_inherited_processes: list[ReaderProcess] = []  # of the process that forked this one: not ours to end


def _forget_processes() -> None:
    """After a fork the child begins with none: two processes would talk to one worker."""
    _inherited_processes.extend(_idle_processes)
    _idle_processes.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_processes)


def serialize_request(read: Callable[[ReaderInput], Document], source: ReaderInput) -> bytes:
    """What a worker is told. Raises PicklingError, AttributeError or TypeError for a function within a function."""
    return pickle.dumps((read, source), protocol=pickle.HIGHEST_PROTOCOL)


def acquire_process() -> ReaderProcess:
    """A worker that is free, or a new one."""
    while True:
        try:
            worker = _idle_processes.pop()
        except IndexError:
            return ReaderProcess()
        if worker.is_alive:
            return worker
        worker.close()


def release_process(worker: ReaderProcess) -> None:
    """Keeps a worker for the next document."""
    _idle_processes.append(worker)


@atexit.register
def _close_idle() -> None:
    while _idle_processes:
        _idle_processes.pop().close()


def _parse_error(fields: dict[str, Any]) -> OutriderError:
    """The reader's error again; one of a kind that is none of ours is a failure of the world."""
    kinds = {kind.kind: kind for kind in OutriderError.__subclasses__() if kind.__module__ == errors.__name__}
    kind = kinds.get(fields.get("kind", ""), Unavailable)
    given = {name: fields[name] for name in ("hint", "code", "details", "retry_after") if name in fields}
    return kind(str(fields.get("message", "")), **given)
