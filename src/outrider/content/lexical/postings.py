"""Which chunks of a store have a word how often, in arrays: read out of its index once, and kept as long as it stays.

BM25 over arrays takes a tenth of what FTS5's own takes, which looks up each match's length (5,000 chunks, four words of
a quarter of them: 0.1 ms against 1.3), and over several stores it counts with the figures of all of them.
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from outrider.content.lexical.ranking import BM25_B, BM25_K1, weigh_terms

ID_TYPECODE, COUNT_TYPECODE = (
    "i",
    "H",
)  # how numbers of rows and counts are kept, in the machine's order: array's and numpy's letters
MAX_CACHE_BYTES = 64_000_000  # kept of all stores together


class TermPostings(NamedTuple):
    """A term's chunks, as ascending places in `Store.rows`, and how often each has it: two of int32 (n)."""

    places: "np.ndarray"
    counts: "np.ndarray"


@dataclass
class StorePostings:
    """What is known of one store as it was at one time.

    Attributes:
        version: Names that time.
        rows: int64 (n), ascending: what its index numbers its chunks by.
        lengths: float32 (n), in words.
        terms: Those that were asked for.
        size: Of all of it, in bytes.
    """

    version: Hashable
    rows: "np.ndarray"
    lengths: "np.ndarray"
    terms: dict[str, TermPostings] = field(default_factory=dict)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = self.rows.nbytes + self.lengths.nbytes

    def add_terms(self, terms: Mapping[str, TermPostings]) -> None:
        """Takes further terms in."""
        self.terms |= terms
        self.size += sum(each.places.nbytes + each.counts.nbytes for each in terms.values())


class StoreMatches(NamedTuple):
    """A store in one search: its figures, and of each asked term that it has the chunks; `within`: those that count."""

    store: StorePostings
    chunks: int
    words: int
    terms: Mapping[str, TermPostings]
    within: "np.ndarray | None" = None  # bool (n)


class TopChunks(NamedTuple):
    """Chunks of one store: places in its rows, and by term how often each has it, int32 (n) both."""

    store: int
    places: "np.ndarray"
    counts: Mapping[str, "np.ndarray"]


class PostingsCache:
    """The stores that were searched last, so many bytes of them."""

    def __init__(self, max_bytes: int = MAX_CACHE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._stores: OrderedDict[str, tuple[StorePostings, int]] = OrderedDict()  # with the size that is counted in
        self._total = 0
        self._lock = threading.Lock()

    def get(self, name: str, version: Hashable) -> StorePostings | None:
        """The store, if it is as it was."""
        with self._lock:
            store, _ = self._stores.get(name, (None, 0))
            if store is None or store.version != version:
                return None
            self._stores.move_to_end(name)
            return store

    def put(self, name: str, store: StorePostings) -> None:
        """Remembers a store, and forgets those that were not asked for longest."""
        with self._lock:
            self._total += store.size - self._stores.pop(name, (None, 0))[1]
            self._stores[name] = store, store.size
            while self._total > self._max_bytes:
                self._total -= self._stores.popitem(last=False)[1][1]

    def discard(self, name: str) -> None:
        """Lets go of a store."""
        with self._lock:
            self._total -= self._stores.pop(name, (None, 0))[1]


def parse_numbers(text: str | None) -> "np.ndarray":
    """The numbers of a text with commas between them, int64 (n)."""
    return np.fromstring(text or "", np.int64, sep=",")


def build_term_postings(rows: "np.ndarray", ids: bytes, counts: bytes) -> TermPostings:
    """Occurrences of a term out of what is kept of them; rows that are no longer there are left out.

    Args:
        rows: All of the store, int64 (n), ascending.
        ids: Rows that have the term, ascending, int32 (m).
        counts: How often each has it, uint16 (m).
    """
    each, times = np.frombuffer(ids, ID_TYPECODE), np.frombuffer(counts, COUNT_TYPECODE).astype(np.int32)
    if len(rows) and rows[-1] - rows[0] + 1 == len(rows) and len(each) and each[0] >= rows[0] and each[-1] <= rows[-1]:
        return TermPostings(each - np.int32(rows[0]), times)
    places = np.searchsorted(rows, each).astype(np.int32)
    there = np.append(rows, -1)[places] == each
    return TermPostings(places[there], times[there])


def find_top_chunks(
    query: Sequence[tuple[str, ...]], seen: Sequence[StoreMatches], frequency: Mapping[str, int], limit: int
) -> list[TopChunks]:
    """The `limit` best chunks of all stores together, by the same measure as `ranking.ranked`."""
    chunks, words = sum(each.chunks for each in seen), sum(each.words for each in seen)
    weights = weigh_terms(query, frequency, chunks)
    average = words / chunks if words else 1.0
    best = [_score_chunks(each, weights, average, limit) for each in seen]
    if not best or not limit:
        return []
    scores = np.concatenate([score for _, score in best])
    chosen = np.ones(len(scores), bool)
    if len(scores) > limit:
        chosen[np.argpartition(scores, -limit)[:-limit]] = False
    ends = np.cumsum([len(places) for places, _ in best])[:-1]
    kept = [places[these] for (places, _), these in zip(best, np.split(chosen, ends), strict=True)]
    return [
        TopChunks(number, places, {term: _count_in_chunks(found, places) for term, found in seen[number].terms.items()})
        for number, places in enumerate(kept)
        if len(places)
    ]


def _score_chunks(
    seen: StoreMatches, weights: Mapping[tuple[str, ...], float], average: float, limit: int
) -> "tuple[np.ndarray, np.ndarray]":
    """Places and scores of a store's best chunks."""
    scores = np.zeros(len(seen.store.rows))
    for terms, weight in weights.items():
        found = [seen.terms[term] for term in terms if term in seen.terms]
        if found:
            places, counts = found[0] if len(found) == 1 else _merge_alternatives(found, len(scores))
            norms = BM25_K1 * (1 - BM25_B) + (BM25_K1 * BM25_B / average) * seen.store.lengths[places]
            scores[places] += weight * counts / (counts + norms)
    if seen.within is not None:
        scores[~seen.within] = 0
    places = np.flatnonzero(scores)
    if len(places) > limit:
        places = places[np.argpartition(scores[places], -limit)[-limit:]] if limit else places[:0]
    return places, scores[places]


def _merge_alternatives(found: Sequence[TermPostings], chunks: int) -> TermPostings:
    """Of several terms the one that a chunk has most often."""
    most = np.zeros(chunks, np.int32)
    for places, counts in found:
        most[places] = np.maximum(most[places], counts)
    places = np.flatnonzero(most).astype(np.int32)
    return TermPostings(places, most[places])


def _count_in_chunks(found: TermPostings, places: "np.ndarray") -> "np.ndarray":
    """How often each of these places has the term."""
    at = np.searchsorted(found.places, places)
    there = np.append(found.places, -1)[at] == places
    return np.where(there, np.append(found.counts, 0)[at], 0)
