"""Citation references: three characters that a model writes as `:cite[abc]` and a host turns into a link.

The pool, its size and the way to cite follow docs/reference/protocol.md: every string of three over
`a-z0-9`, in an order that looks random and is the same in every process.
"""

import logging
import string
import time
from functools import lru_cache
from itertools import product
from typing import Final

from outrider.core.context import Call
from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import OutriderError, Refused

log = logging.getLogger(__name__)


@lru_cache(maxsize=1)
def build_references() -> tuple[str, ...]:
    """All 46,656 references in their fixed order (Fisher-Yates over xorshift32, both pinned here)."""
    mask: Final = 0xFFFFFFFF
    seed: Final = 0x9E3779B9  # any odd constant; changing it would change every reference ever given
    alphabet: Final = string.ascii_lowercase + string.digits
    references = ["".join(letters) for letters in product(alphabet, repeat=3)]
    state = seed
    for last in range(len(references) - 1, 0, -1):
        state ^= (state << 13) & mask
        state ^= state >> 17
        state ^= (state << 5) & mask
        other = state % (last + 1)
        references[last], references[other] = references[other], references[last]
    return tuple(references)


class CitationPool:
    """Hands out references, never twice within one message; the count is kept in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._fallback: dict[str, int] = {}

    async def take(self, call: Call, wanted: int) -> list[str]:
        """The next references for this call's message; fewer at the end of the pool.

        A host that reserves references itself sends their offset and count with the call; then
        exactly those are used. Raises Refused(code=citation_pool_exhausted) when none are left.
        """
        start, end = await self._resolve_range(call, wanted)
        taken = list(build_references()[start:end])
        if wanted and not taken:
            raise Refused(
                "this message has used every citation reference",
                code="citation_pool_exhausted",
                hint="finish the message; the next one starts with fresh references",
            )
        return taken

    async def _resolve_range(self, call: Call, wanted: int) -> tuple[int, int]:
        if call.citations is not None:
            offset, count = call.citations
            return offset, offset + min(count, wanted)
        end = await self._advance_counter("\x1f".join((call.session, call.thread or "", call.message or "")), wanted)
        return end - wanted, end

    async def _advance_counter(self, key: str, by: int) -> int:
        try:
            return await self._advance_stored_counter(to_storable_text(key, 500), by)
        except OutriderError as error:
            log.warning("citation references are counted in memory: %s", error)
            # In the second half of the pool, where the count in the database hardly ever comes.
            self._fallback[key] = self._fallback.get(key, len(build_references()) // 2) + by
            return self._fallback[key]

    async def _advance_stored_counter(self, key: str, by: int) -> int:
        from outrider.core.tables import citation_counters as counters

        now = time.time()
        insert = self._database.build_insert(counters).values(key=key, used=by, updated_at=now)
        added = {"used": counters.c.used + by, "updated_at": now}
        insert = insert.on_conflict_do_update(index_elements=["key"], set_=added).returning(counters.c.used)
        return await self._database.run_transaction(
            lambda connection: connection.execute(insert).scalar_one(), write=True
        )
