"""Issue citation references.

Models write them as `:cite[abc]`, and hosts turn them into links.

The pool and its size follow docs/reference/protocol.md: every string of three characters of
`a-z0-9`, in an order that looks random and is the same in every process.
"""

import logging
import string
import time
from functools import lru_cache
from itertools import product

from outrider.core.context import Call
from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import OutriderError, Refused

log = logging.getLogger(__name__)


@lru_cache(maxsize=1)
def build_references() -> tuple[str, ...]:
    """Return all 46,656 references in their fixed order (Fisher-Yates over xorshift32, both pinned here)."""
    mask = 0xFFFFFFFF
    references = ["".join(letters) for letters in product(string.ascii_lowercase + string.digits, repeat=3)]
    state = 0x9E3779B9  # any odd number; changing it would change all references
    for last in range(len(references) - 1, 0, -1):
        state ^= (state << 13) & mask
        state ^= state >> 17
        state ^= (state << 5) & mask
        other = state % (last + 1)
        references[last], references[other] = references[other], references[last]
    return tuple(references)


class CitationPool:
    """Hands out references, never twice within one message; the counter is in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._fallback: dict[str, int] = {}

    async def take(self, call: Call, count: int) -> list[str]:
        """Return the next references for this call's message; fewer at the end of the pool.

        A host that reserves references itself sends their offset and count with the call; then
        exactly those are used. Raises Refused(code=citation_pool_exhausted) when none are left.
        """
        if call.citations is not None:
            start, reserved = call.citations
            end = start + min(reserved, count)
        else:
            message_key = "\x1f".join((call.session, call.thread or "", call.message or ""))
            end = await self._advance_counter(message_key, count)
            start = end - count
        references = list(build_references()[start:end])
        if count and not references:
            raise Refused(
                "this message has used every citation reference",
                code="citation_pool_exhausted",
                hint="finish the message; the next one starts with fresh references",
            )
        return references

    async def _advance_counter(self, key: str, count: int) -> int:
        from outrider.core.tables import citation_counters as counters

        now = time.time()
        row = {"key": to_storable_text(key, 500), "used": count, "updated_at": now}
        insert = self._database.build_insert(counters).values(row)
        changed = {"used": counters.c.used + count, "updated_at": now}
        upsert = insert.on_conflict_do_update(index_elements=["key"], set_=changed).returning(counters.c.used)
        try:
            return await self._database.run_transaction(
                lambda connection: connection.execute(upsert).scalar_one(), write=True
            )
        except OutriderError as error:
            log.warning("citation references are counted in memory: %s", error)
            # Start in the second half of the pool, which the counter in the database rarely reaches.
            self._fallback[key] = self._fallback.get(key, len(build_references()) // 2) + count
            return self._fallback[key]
