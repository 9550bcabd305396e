"""Vectors for what was added: computed beside the calls, and hurried up a little before a search needs them."""

import logging
from collections.abc import Sequence

import anyio

from outrider.content.meaning.vectors import Vectors
from outrider.core.errors import OutriderError

log = logging.getLogger(__name__)
PATIENCE = 5.0  # seconds that a search waits for vectors
PAUSE = 60.0  # seconds after a failure
AT_ONCE = 256  # chunks between two looks at the clock


class Minding:
    """Keeps the vectors of all stores complete."""

    def __init__(self, vectors: "Vectors | None") -> None:
        self._vectors = vectors
        self._bell = anyio.Event()

    def wake(self) -> None:
        """There may be something without a vector."""
        self._bell.set()

    async def forever(self) -> None:
        """Does what there is to do whenever it is woken; a failure is logged, and tried again later."""
        assert self._vectors is not None
        while True:
            self._bell = anyio.Event()
            try:
                while await self._vectors.embed(limit=AT_ONCE):
                    pass
            except OutriderError as error:
                log.warning("no vectors for now: %s", error.message)
                with anyio.move_on_after(PAUSE):
                    await self._bell.wait()
                    await anyio.sleep(PAUSE)
                continue
            await self._bell.wait()

    async def ready(self, stores: Sequence[str]) -> int:
        """Computes what these stores lack, for some seconds at most; how many chunks are still without. Raises."""
        if self._vectors is None:
            return 0
        with anyio.move_on_after(PATIENCE):
            while await self._vectors.embed(stores, limit=AT_ONCE):
                pass
        return await self._vectors.pending(stores)
