"""Two indexes as one: small stores in one, those that have grown large in another."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from outrider.content.keywords.index import Candidates, Changes, Index, Mark

LARGE = 200_000  # chunks from which tantivy is worth its folder: it reads of a term no more than it needs


class LargeIndex(Index, Protocol):
    """An index that can tell at once whether it has anything of a store."""

    def holds(self, store: str) -> bool: ...


class GrowingIndex:
    """Moves a store to the large index, once and for good, when the small one has more than so many of its chunks.

    The move is the next catching up: the large index knows nothing of the store yet, and is given all of it.

    Args:
        small: Where stores begin.
        large: Where they go.
        limit: Chunks that a store may have in the small one.
    """

    def __init__(self, small: Index, large: LargeIndex, *, limit: int = LARGE) -> None:
        self._small = small
        self._large = large
        self._limit = limit
        self._moved: set[str] = set()

    def exact(self, stores: Sequence[str]) -> bool:
        """Where the index that has each of the stores is."""
        return all(self._of(store).exact([store]) for store in stores)

    async def generation(self, store: str) -> Mark:
        """Up to where the index that has the store reflects it."""
        return await self._of(store).generation(store)

    async def apply(self, changes: Changes, *, seen: Mark) -> bool:
        """Takes the changes over; not where the store becomes too large by them and so begins anew in the other."""
        index = self._of(changes.store)
        if index is self._small and await self._outgrown(changes):
            self._moved.add(changes.store)
            await self._small.rebuild(changes.store)
            return False
        return await index.apply(changes, seen=seen)

    async def candidates(
        self,
        words: Sequence[tuple[str, ...]],
        stores: Sequence[str],
        limit: int,
        *,
        within: Collection[str] | None = None,
        marks: Mapping[str, Mark] | None = None,
    ) -> Candidates:
        """Those of both."""
        homes = [(store, self._of(store)) for store in stores]
        both: list[Candidates] = []
        for index in (self._small, self._large):
            some = [store for store, home in homes if home is index]
            if some:
                both.append(await index.candidates(words, some, limit, within=within, marks=marks))
        return Candidates.of_all(both)

    async def rebuild(self, store: str) -> None:
        """Forgets the store wherever it is."""
        self._moved.discard(store)
        await self._small.rebuild(store)
        await self._large.rebuild(store)

    async def close(self) -> None:
        """Closes both."""
        await self._small.close()
        await self._large.close()

    def _of(self, store: str) -> Index:
        if store in self._moved or self._large.holds(store):
            return self._large
        return self._small

    async def _outgrown(self, changes: Changes) -> bool:
        before = 0 if changes.whole else (await self._small.candidates((), [changes.store], 0)).chunks
        return before + len(changes.added) > self._limit
