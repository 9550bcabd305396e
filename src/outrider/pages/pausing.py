"""Pause the garbage collector while pages are read.

Reading a page makes thousands of objects and no cycles, but triggers many collections. The collector is shared by all
threads, so readers are counted: the first turns it off, the last turns it on again, unless the host had turned it off.
"""

import gc
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock


class GcPause:
    """A pause of the garbage collector, shared by all readers."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._readers = 0
        self._was_enabled = False  # before the first reader

    @contextmanager
    def pause(self) -> Generator[None]:
        """Disable the garbage collector until the last reader has left its block."""
        with self._lock:
            if not self._readers:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._readers += 1
        try:
            yield
        finally:
            with self._lock:
                self._readers -= 1
                if not self._readers and self._was_enabled:
                    gc.enable()


GC_PAUSE = GcPause()
