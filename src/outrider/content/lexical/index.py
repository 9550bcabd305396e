"""The interface of keyword indexes: derived from the database, they return candidates for ranking.

The database is the source of truth. Each store counts its changes (`generation`), and an index records the last one
that it has applied; a search first brings it up to date. So an index that was interrupted, or belongs to another
process or machine, is never wrong: at worst it is out of date, and that is detected.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol


class Watermark(NamedTuple):
    """The last change of a store that an index reflects.

    Attributes:
        generation: The store's count of changes; 0 for an empty index.
        stamp: A random text that the database assigned to this change, to recognize the index after its database was
            restored from a backup.
    """

    generation: int = 0
    stamp: str = ""


class IndexEntry(NamedTuple):
    """A chunk to be indexed.

    Attributes:
        chunk, content: Ids; the chunk is removed by `content`.
        terms: Its index terms (letters, digits and underscores), separated by spaces, each as often as it occurs, in
            any order.
        length: Its number of words, which BM25 takes as its length.
    """

    chunk: str
    content: str
    terms: str
    length: int


@dataclass(frozen=True)
class IndexChanges:
    """Changes that bring the index of one store up to a watermark.

    Attributes:
        store: Id of the store.
        watermark: The watermark of the index afterwards.
        is_full: Clear the store's index first.
        dropped: Contents whose chunks are removed (including those that are in `added` again).
        added: The chunks to add.
    """

    store: str
    watermark: Watermark
    is_full: bool = False
    dropped: Sequence[str] = ()
    added: Sequence[IndexEntry] = ()


class Posting(NamedTuple):
    """A candidate: its length in words, and the counts of the query's terms in it."""

    chunk: str
    store: str
    length: int
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Candidates:
    """Chunks that may match, with the totals of the searched stores that ranking needs.

    Attributes:
        postings: The chunks, unordered, without duplicates.
        chunks: Number of chunks of the searched stores.
        words: Total length of all of them.
        frequency: Number of chunks with each of the query's terms; terms that occur nowhere may be missing.
        stale_stores: Stores whose index is not at the watermark that the caller gave; if any, the rest is empty.
    """

    postings: Sequence[Posting] = ()
    chunks: int = 0
    words: int = 0
    frequency: Mapping[str, int] = field(default_factory=dict)
    stale_stores: Sequence[str] = ()


def collect_terms(words: Sequence[tuple[str, ...]]) -> list[str]:
    """Return all alternative terms of the words, without duplicates."""
    return list(dict.fromkeys(term for terms in words for term in terms))


class LexicalIndex(Protocol):
    """A keyword index over the chunks of all stores. Every method raises Unavailable if the index cannot be used.

    Safe for many tasks, and for several processes on the same data.
    """

    def is_exact(self, stores: Sequence[str]) -> bool:
        """Return whether candidates are the best by `ranking.rank_candidates`; if not, request more than needed."""
        ...

    async def read_watermark(self, store: str) -> Watermark:
        """Return the last change that the index reflects; `Watermark()` if it does not know the store."""
        ...

    async def apply_changes(self, changes: IndexChanges, *, seen: Watermark) -> bool:
        """Apply all of the changes, or none.

        Args:
            changes: What to remove and add.
            seen: The watermark that the changes start from. If another process has moved the index on since, nothing is
                changed.

        Returns:
            Whether the changes were applied.
        """
        ...

    async def find_candidates(
        self,
        words: Sequence[tuple[str, ...]],
        stores: Sequence[str],
        limit: int,
        *,
        within: Collection[str] | None = None,
        watermarks: Mapping[str, Watermark] | None = None,
    ) -> Candidates:
        """Return the likeliest chunks that have any of the words.

        Args:
            words: For each word of the query, as often as it occurs, its alternative terms.
            stores: The stores to search.
            limit: Number of chunks of all stores together, if there are as many; there may be more.
            within: Only chunks of these contents.
            watermarks: The watermarks of the stores' rows; saves reading the index's own first.
        """
        ...

    async def clear_store(self, store: str) -> None:
        """Remove all entries of a store, existing or not; the next sync adds everything again."""
        ...

    async def close(self) -> None:
        """Close files and connections; a later use opens them again."""
        ...
