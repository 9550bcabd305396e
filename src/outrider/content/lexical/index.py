"""What a keyword index is: derived from the rows of the database, and asked for candidates only.

The database is the truth. Each store counts its changes (`generation`), and an index says up to which
of them it has come; whoever searches lets it catch up first. So an index that was killed half-way, or
belongs to another process or machine, is never wrong: at worst it is behind, and then it is told.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol


class Watermark(NamedTuple):
    """Up to where an index reflects a store.

    Attributes:
        generation: The store's count of changes; 0 for an empty index.
        stamp: A random text that the database gave this very change, so that an index of a database that was
            put back to an older copy does not pass for one that is ahead.
    """

    generation: int = 0
    stamp: str = ""


class IndexEntry(NamedTuple):
    """A chunk as an index takes it.

    Attributes:
        chunk, content: Ids; `content` is what the chunk is removed by.
        terms: Its index terms (letters, digits and underscores) with one space between them, each as often as it
            occurs; the order means nothing.
        length: Its number of words, which is what BM25 takes for its length.
    """

    chunk: str
    content: str
    terms: str
    length: int


@dataclass(frozen=True)
class IndexChanges:
    """What makes an index of one store reflect it.

    Attributes:
        store: Its id.
        watermark: What the index reflects afterwards.
        is_full: Everything that the index had of the store goes first.
        dropped: Contents whose chunks go (those that are in `added` again among them).
        added: The chunks that come.
    """

    store: str
    watermark: Watermark
    is_full: bool = False
    dropped: Sequence[str] = ()
    added: Sequence[IndexEntry] = ()


class Posting(NamedTuple):
    """A candidate: its length in words, and how often each of the asked terms occurs in it (those that do)."""

    chunk: str
    store: str
    length: int
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Candidates:
    """Chunks that may match, and what is to be known of all chunks of the searched stores for ranking them.

    Attributes:
        postings: Unordered, each chunk once.
        chunks: How many chunks the searched stores have.
        words: The lengths of all of them together.
        frequency: In how many chunks each asked term occurs; terms that occur nowhere may be left out.
        stale_stores: Stores that are not where the caller says the rows are; where there are some, nothing else is told.
    """

    postings: Sequence[Posting] = ()
    chunks: int = 0
    words: int = 0
    frequency: Mapping[str, int] = field(default_factory=dict)
    stale_stores: Sequence[str] = ()

    @classmethod
    def of_all(cls, found: Sequence["Candidates"]) -> "Candidates":
        """The candidates of several stores, or of several indexes, as those of one search."""
        frequency: dict[str, int] = {}
        for each in found:
            for term, count in each.frequency.items():
                frequency[term] = frequency.get(term, 0) + count
        postings = [posting for each in found for posting in each.postings]
        chunks, words = sum(each.chunks for each in found), sum(each.words for each in found)
        return cls(postings, chunks, words, frequency, [store for each in found for store in each.stale_stores])


def collect_terms(words: Sequence[tuple[str, ...]]) -> list[str]:
    """All terms that the words may stand for, each once."""
    return list(dict.fromkeys(term for terms in words for term in terms))


class LexicalIndex(Protocol):
    """A keyword index over the chunks of all stores. Every method raises Unavailable where the index cannot be used.

    Safe for many tasks, and for several processes on the same data.
    """

    def is_exact(self, stores: Sequence[str]) -> bool:
        """Whether its likeliest chunks are the best by `ranking.ranked`; where not, ask for more than are wanted."""
        ...

    async def read_watermark(self, store: str) -> Watermark:
        """Up to where the index reflects the store; `Mark()` if it knows nothing of it."""
        ...

    async def apply_changes(self, changes: IndexChanges, *, seen: Watermark) -> bool:
        """Takes the changes over, all or none of them.

        Args:
            changes: What comes and goes.
            seen: The mark that the changes start from. If another process has moved the index on since, nothing is
                done.

        Returns:
            Whether they were taken over.
        """
        ...

    async def find_candidates(
        self,
        words: Sequence[tuple[str, ...]],
        stores: Sequence[str],
        limit: int,
        *,
        within: Collection[str] | None = None,
        marks: Mapping[str, Watermark] | None = None,
    ) -> Candidates:
        """The likeliest chunks that have any of the words.

        Args:
            words: For each word of the query, as often as it occurs, the terms that it may stand for.
            stores: Where to look.
            limit: So many at least of all stores together, if there are; more may come.
            within: Only chunks of these contents.
            marks: How far the rows of stores are; spares asking `generation` first.
        """
        ...

    async def clear_store(self, store: str) -> None:
        """Forgets all of the store, so that the next catching up brings everything anew; also for one that is gone."""
        ...

    async def close(self) -> None:
        """Lets go of files and connections; a later use opens them again."""
        ...
