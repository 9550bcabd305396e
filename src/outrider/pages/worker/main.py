"""Run the process that reads documents for another one (see `process.py`)."""

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
    """Read documents until the parent ends or a limit is reached.

    The limits are idle time and memory.
    """
    max_growth_bytes = 1 << 30  # then a fresh process takes over
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    for descriptor in (0, 1):  # parsers may print
        os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
    _limit_memory()
    max_memory_bytes = _get_peak_memory() + max_growth_bytes
    while _wait_for_request(requests) and (size := requests.read(LENGTH_PREFIX_BYTES)):
        request = requests.read(int.from_bytes(size, "big"))
        answer = json.dumps(_answer_while_parent_lives(request)).encode()
        answers.write(len(answer).to_bytes(LENGTH_PREFIX_BYTES, "big") + answer)
        answers.flush()
        if _get_peak_memory() > max_memory_bytes:
            return


def _answer_while_parent_lives(request: bytes) -> dict[str, Any]:
    """Answer a request, and exit if the parent ends in the meantime."""
    parent, done = os.getppid(), threading.Event()

    def exit_with_parent() -> None:
        parent_check_interval_s = 2.0
        while not done.wait(parent_check_interval_s):
            if os.getppid() != parent:
                os._exit(1)

    threading.Thread(target=exit_with_parent, daemon=True).start()
    try:
        read, source = pickle.loads(request)  # noqa: S301 - from the parent process
        return {"document": read(source).to_dict()}
    except OutriderError as error:
        return {"error": error.to_dict()}
    except Exception as error:  # noqa: BLE001 - a parser may raise anything
        return {"failure": type(error).__name__}
    finally:
        done.set()


def _wait_for_request(requests: IO[bytes]) -> bool:
    """Return whether a request, or the end of the pipe, came before the idle timeout.

    Some systems cannot wait for a pipe. There it returns at once.
    """
    idle_timeout_s = 300.0
    with suppress(OSError, ValueError):
        return bool(select.select([requests], [], [], idle_timeout_s)[0])
    return True


def _limit_memory() -> None:
    """Limit the address space if possible, so that only a greedy parser fails."""
    max_memory_bytes = 4 << 30  # of address space; libraries take a quarter of it
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, hard_limit = resource.getrlimit(resource.RLIMIT_AS)
        soft_limit = max_memory_bytes if hard_limit == resource.RLIM_INFINITY else min(max_memory_bytes, hard_limit)
        resource.setrlimit(resource.RLIMIT_AS, (soft_limit, hard_limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _get_peak_memory() -> int:
    """Return the peak memory in bytes, or 0 if unknown.

    It begins at the parent's.
    """
    with suppress(ImportError, OSError):
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return 0


if __name__ == "__main__":
    main()
