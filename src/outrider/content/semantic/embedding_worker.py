"""Vectors for what was added: computed beside the calls, and hurried up a little before a search needs them."""

import logging
from collections.abc import Sequence

import anyio

from outrider.content.semantic.vector_index import VectorIndex
from outrider.core.errors import OutriderError

log = logging.getLogger(__name__)
CHUNKS_PER_STEP = 256  # chunks between two looks at the clock


class EmbeddingWorker:
    """Keeps the vectors of all stores complete."""

    def __init__(self, vectors: "VectorIndex | None") -> None:
        self._vectors = vectors
        self._wakeup = anyio.Event()

    def wake(self) -> None:
        """There may be something without a vector."""
        self._wakeup.set()

    async def run_forever(self) -> None:
        """Does what there is to do whenever it is woken; a failure is logged, and tried again later."""
        retry_delay_s = 60.0  # seconds after a failure
        assert self._vectors is not None
        while True:
            self._wakeup = anyio.Event()
            try:
                while await self._vectors.embed_missing(limit=CHUNKS_PER_STEP):
                    pass
            except OutriderError as error:
                log.warning("no vectors for now: %s", error.message)
                with anyio.move_on_after(retry_delay_s):
                    await self._wakeup.wait()
                    await anyio.sleep(retry_delay_s)
                continue
            await self._wakeup.wait()

    async def embed_pending(self, stores: Sequence[str]) -> int:
        """Computes what these stores lack, for some seconds at most; how many chunks are still without. Raises."""
        max_wait_s = 5.0  # seconds that a search waits for vectors
        if self._vectors is None:
            return 0
        with anyio.move_on_after(max_wait_s):
            while await self._vectors.embed_missing(stores, limit=CHUNKS_PER_STEP):
                pass
        return await self._vectors.count_pending(stores)
