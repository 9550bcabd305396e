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
from outrider.pages.reader import Source

LENGTH = 8  # bytes before a message that say how long it is
ANSWER = 1 << 30  # bytes that an answer has at most
# What a reader may know of our environment: where programs, libraries and scratch space are; no key and no token.
KNOWN = frozenset(
    ("PATH", "HOME", "LANG", "TMPDIR", "TEMP", "TMP", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "WINDIR")
)
KNOWN_BEGINNINGS = ("LC_", "PYTHON")


class Crashed(Exception):
    """The process ended in the middle of its work."""


class Failed(Exception):
    """The reader failed in a way that it should not; says with what."""


class Worker:
    """One such process."""

    def __init__(self) -> None:
        path = os.pathsep.join(each for each in sys.path if each)
        self._process: Any = subprocess.Popen(
            [sys.executable, "-P", "-m", "outrider.pages.worker.main"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment() | {"PYTHONPATH": path},
        )

    @property
    def lives(self) -> bool:
        return self._process.poll() is None

    def ask(self, request: bytes) -> Document:
        """The document that the process makes of a source.

        Args:
            request: Of `request`.

        Raises:
            Crashed, Failed, OutriderError: as the reader does.
        """
        answer = self._answered(request)
        if "document" in answer:
            return Document.from_dict(answer["document"])
        if "error" in answer:
            raise _error(answer["error"])
        raise Failed(str(answer.get("failure", ""))[:100])

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

    def _answered(self, request: bytes) -> dict[str, Any]:
        told, answers = self._process.stdin, self._process.stdout
        try:
            told.write(len(request).to_bytes(LENGTH, "big") + request)
            told.flush()
            size = int.from_bytes(answers.read(LENGTH), "big")
            answer = answers.read(min(size, ANSWER))
            found = json.loads(answer) if size and len(answer) == size else None
        except (OSError, ValueError) as error:
            raise Crashed from error
        if not isinstance(found, dict):
            raise Crashed
        return found


def _environment() -> dict[str, str]:
    """Ours without what a parser that was taken over could give away."""
    return {name: value for name, value in os.environ.items() if name in KNOWN or name.startswith(KNOWN_BEGINNINGS)}


_idle: list[Worker] = []  # taken and given back in one step each, from any thread
_inherited: list[Worker] = []  # of the process that forked this one: not ours to end


def _forget() -> None:
    """After a fork the child begins with none: two processes would talk to one worker."""
    _inherited.extend(_idle)
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def request(read: Callable[[Source], Document], source: Source) -> bytes:
    """What a worker is told. Raises PicklingError, AttributeError or TypeError for a function within a function."""
    return pickle.dumps((read, source), protocol=pickle.HIGHEST_PROTOCOL)


def take() -> Worker:
    """A worker that is free, or a new one."""
    while True:
        try:
            worker = _idle.pop()
        except IndexError:
            return Worker()
        if worker.lives:
            return worker
        worker.close()


def give_back(worker: Worker) -> None:
    """Keeps a worker for the next document."""
    _idle.append(worker)


@atexit.register
def _end() -> None:
    while _idle:
        _idle.pop().close()


def _error(told: dict[str, Any]) -> OutriderError:
    """The reader's error again; one of a kind that is none of ours is a failure of the world."""
    kinds = {kind.kind: kind for kind in OutriderError.__subclasses__() if kind.__module__ == errors.__name__}
    kind = kinds.get(told.get("kind", ""), Unavailable)
    given = {name: told[name] for name in ("hint", "code", "details", "retry_after") if name in told}
    return kind(str(told.get("message", "")), **given)
