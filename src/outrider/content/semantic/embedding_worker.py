"""Compute missing vectors in the background.

A search waits a few seconds for them.
"""

import logging
from collections.abc import Sequence

import anyio

from outrider.content.semantic.vector_index import VectorIndex
from outrider.core.errors import OutriderError

log = logging.getLogger(__name__)
CHUNKS_PER_STEP = 256  # between two checks of the time limit


class EmbeddingWorker:
    """Keeps the vectors of all stores complete."""

    def __init__(self, vectors: VectorIndex | None) -> None:
        self._vectors = vectors
        self._wakeup = anyio.Event()

    def wake(self) -> None:
        """Inform the background task that chunks may have been added."""
        self._wakeup.set()

    async def run_forever(self) -> None:
        """Embed missing chunks whenever woken; failures are logged and retried."""
        retry_delay_s = 60.0
        assert self._vectors is not None
        while True:
            self._wakeup = anyio.Event()
            try:
                while await self._vectors.embed_missing(limit=CHUNKS_PER_STEP):
                    pass
            except OutriderError as error:
                log.warning("passages could not be embedded: %s", error.message)
                with anyio.move_on_after(retry_delay_s):
                    await self._wakeup.wait()
                    await anyio.sleep(retry_delay_s)
                continue
            await self._wakeup.wait()

    async def embed_pending(self, stores: Sequence[str]) -> int:
        """Embed missing chunks for a few seconds at most; return how many are still missing. Raises Unavailable."""
        max_wait_s = 5.0
        if self._vectors is None:
            return 0
        with anyio.move_on_after(max_wait_s):
            while await self._vectors.embed_missing(stores, limit=CHUNKS_PER_STEP):
                pass
        return await self._vectors.count_pending(stores)
