"""What runs in a process that reads for another one (see `worker`)."""

import json
import os
import pickle
import select
import sys
import threading
from contextlib import suppress
from typing import IO, Any

from outrider.core.errors import OutriderError

LENGTH_PREFIX_BYTES = 8


def main() -> None:
    """Reads documents until nobody asks for more."""
    max_growth_bytes = 1 << 30  # bytes of memory by which it may grow before it makes room for a fresh one
    told, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    for standard in (0, 1):  # parsers may write where they like
        os.dup2(os.open(os.devnull, os.O_RDWR), standard)
    _limit_memory()
    grown = _get_peak_memory() + max_growth_bytes
    while _wait_for_request(told) and (size := told.read(LENGTH_PREFIX_BYTES)):
        request = told.read(int.from_bytes(size, "big"))
        answer = json.dumps(_answer_while_parent_lives(request)).encode()
        answers.write(len(answer).to_bytes(LENGTH_PREFIX_BYTES, "big") + answer)
        answers.flush()
        if _get_peak_memory() > grown:
            return


def _answer_while_parent_lives(request: bytes) -> dict[str, Any]:
    """The answer; the process ends if its parent does meanwhile."""
    parent, done = os.getppid(), threading.Event()

    def exit_with_parent() -> None:
        parent_check_interval_s = (
            2.0  # seconds between two looks whether the parent still lives, while a document is read
        )
        while not done.wait(parent_check_interval_s):
            if os.getppid() != parent:
                os._exit(1)

    threading.Thread(target=exit_with_parent, daemon=True).start()
    try:
        return _answer_request(request)
    finally:
        done.set()


def _answer_request(request: bytes) -> dict[str, Any]:
    try:
        read, source = pickle.loads(request)  # noqa: S301 - of our own parent
        return {"document": read(source).to_dict()}
    except OutriderError as error:
        return {"error": error.to_dict()}
    except Exception as error:  # noqa: BLE001 - whatever a parser raises is its answer
        return {"failure": type(error).__name__}


def _wait_for_request(requests: IO[bytes]) -> bool:
    """Whether a request, or the end of them, came in time; some systems cannot wait for a pipe."""
    idle_timeout_s = 300.0  # seconds after which it ends by itself
    with suppress(OSError, ValueError):
        return bool(select.select([requests], [], [], idle_timeout_s)[0])
    return True


def _limit_memory() -> None:
    """Bounds the memory, where the system knows how; a parser that wants more fails alone."""
    max_memory_bytes = 4 << 30  # bytes of address space; libraries take one of the four for themselves
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        bound = max_memory_bytes if most == resource.RLIM_INFINITY else min(max_memory_bytes, most)
        resource.setrlimit(resource.RLIMIT_AS, (bound, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _get_peak_memory() -> int:
    """The most memory that was in use, in bytes; 0 where the system does not say it. It begins at the parent's."""
    with suppress(ImportError, OSError):
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return 0


if __name__ == "__main__":
    main()
