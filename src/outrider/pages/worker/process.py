"""Run the processes that read documents.

They can be killed, and their memory is limited.

`anyio.to_process` and `multiprocessing` run the caller's main script again in the new process, which repeats its work
where nothing guards it, and unpickle the result, which would let a compromised parser run code here. These processes
answer in JSON.
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
from outrider.relay.child_environment import select_child_environment

LENGTH_PREFIX_BYTES = 8  # before each message


class ReaderCrashed(Exception):
    """The process ended while it was reading."""


class ReaderFailed(Exception):
    """The reader raised an unexpected exception, whose type this names."""


class ReaderProcess:
    """A process that reads documents one after the other."""

    def __init__(self) -> None:
        path = os.pathsep.join(filter(None, sys.path))
        # A compromised parser must not see keys and tokens.
        environment = select_child_environment(dict(os.environ), "PYTHON")
        self._process: Any = subprocess.Popen(
            [sys.executable, "-P", "-m", "outrider.pages.worker.main"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment | {"PYTHONPATH": path},
        )

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def read_document(self, request: bytes) -> Document:
        """Return the document that the process reads from a source.

        Args:
            request: The result of `serialize_request`.

        Raises:
            ReaderCrashed: The process ended.
            ReaderFailed: The reader failed unexpectedly.
            OutriderError: Raised by the reader.
        """
        max_answer_bytes = 1 << 30
        requests, answers = self._process.stdin, self._process.stdout
        try:
            requests.write(len(request).to_bytes(LENGTH_PREFIX_BYTES, "big") + request)
            requests.flush()
            size = int.from_bytes(answers.read(LENGTH_PREFIX_BYTES), "big")
            source = answers.read(min(size, max_answer_bytes))
            answer = json.loads(source) if size and len(source) == size else None
        except (OSError, ValueError) as error:
            raise ReaderCrashed from error
        if not isinstance(answer, dict):
            raise ReaderCrashed
        if "document" in answer:
            return Document.from_dict(answer["document"])
        if "error" in answer:
            fields = answer["error"]
            kinds = {kind.kind: kind for kind in OutriderError.__subclasses__() if kind.__module__ == errors.__name__}
            kind = kinds.get(fields.get("kind", ""), Unavailable)  # unknown kinds get this, too
            arguments = {name: fields[name] for name in ("hint", "code", "details", "retry_after") if name in fields}
            raise kind(str(fields.get("message", "")), **arguments)
        raise ReaderFailed(str(answer.get("failure", ""))[:100])

    def kill(self) -> None:
        """Kill the process. May be called from any thread."""
        with suppress(OSError):
            self._process.kill()

    def close(self) -> None:
        """Kill the process and wait until it has ended."""
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                pipe.close()
        self._process.wait()


_idle_processes: list[ReaderProcess] = []  # `append` and `pop` are atomic, so any thread may use it
_inherited_processes: list[ReaderProcess] = []  # referenced so that they are not closed: they belong to the parent


def _forget_processes() -> None:
    """Forget the parent's processes after a fork, because two processes must not share a worker."""
    _inherited_processes.extend(_idle_processes)
    _idle_processes.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_processes)


def serialize_request(read: Callable[[ReaderInput], Document], source: ReaderInput) -> bytes:
    """Serialize a reader function and its input.

    Raises:
        PicklingError, AttributeError, TypeError: The function is nested in another one.
    """
    return pickle.dumps((read, source), protocol=pickle.HIGHEST_PROTOCOL)


def acquire_process() -> ReaderProcess:
    """Return an idle process, or start one."""
    while True:
        try:
            worker = _idle_processes.pop()
        except IndexError:
            return ReaderProcess()
        if worker.is_alive:
            return worker
        worker.close()


def release_process(worker: ReaderProcess) -> None:
    """Keep a process for the next document."""
    _idle_processes.append(worker)


@atexit.register
def _close_idle() -> None:
    while _idle_processes:
        _idle_processes.pop().close()
