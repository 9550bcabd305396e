"""Python's search for cycles, paused while pages are read.

Reading a page makes thousands of objects and no cycles, and sets off many searches: a sixth of its time. The switch
is one for all threads, so those that read are counted: the first turns it off, the last turns it on again, and
nothing is turned on that the host had turned off.
"""

import gc
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock


class GcPause:
    """The switch of the collector, shared by whoever pauses it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._readers = 0
        self._was_enabled = False  # as it was before the first reader

    @contextmanager
    def pause(self) -> Generator[None]:
        """No search for cycles until the last reader is done, however it ends."""
        self._begin()
        try:
            yield
        finally:
            self._end()

    def _begin(self) -> None:
        with self._lock:
            if not self._readers:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._readers += 1

    def _end(self) -> None:
        with self._lock:
            self._readers -= 1
            if not self._readers and self._was_enabled:
                gc.enable()


GC_PAUSE = GcPause()
