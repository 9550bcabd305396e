"""In-memory posting lists of stores as arrays, and BM25 over them.

BM25 over arrays is about ten times as fast as FTS5's own ranking, and it ranks several stores by their common totals.
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from outrider.content.lexical.ranking import BM25_B, BM25_K1, weigh_terms

# How row numbers and counts are stored, in native byte order; `array` and numpy share these codes.
ID_TYPECODE, COUNT_TYPECODE = "i", "H"


class TermPostings(NamedTuple):
    """The chunks that have a term, as ascending positions in `StorePostings.rows`, and counts: int32 (n) both."""

    positions: np.ndarray
    counts: np.ndarray


@dataclass
class StorePostings:
    """The posting lists of one store at one version.

    Attributes:
        version: Identifies the version.
        rows: int64 (n), ascending: the numbers of the chunks in the index file.
        lengths: float32 (n), in words.
        terms: The terms that have been queried.
        size: Bytes of all arrays.
    """

    version: Hashable
    rows: np.ndarray
    lengths: np.ndarray
    terms: dict[str, TermPostings] = field(default_factory=dict)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = self.rows.nbytes + self.lengths.nbytes

    def add_terms(self, terms: Mapping[str, TermPostings]) -> None:
        """Add further terms."""
        self.terms |= terms
        self.size += sum(postings.positions.nbytes + postings.counts.nbytes for postings in terms.values())


class StoreMatches(NamedTuple):
    """A store in one search: its totals, the postings of the query's terms, and a mask of allowed chunks."""

    store: StorePostings
    chunks: int
    words: int
    terms: Mapping[str, TermPostings]
    within: "np.ndarray | None" = None  # bool (n)


class TopChunks(NamedTuple):
    """The best chunks of one store: positions in its rows, and counts by term, int32 (n) both."""

    store: int
    positions: np.ndarray
    counts: Mapping[str, np.ndarray]


class PostingsCache:
    """A least-recently-used cache of stores, limited in bytes."""

    def __init__(self, max_bytes: int = 64_000_000) -> None:
        self._max_bytes = max_bytes
        self._stores: OrderedDict[str, tuple[StorePostings, int]] = OrderedDict()  # with the size counted in `_total`
        self._total = 0
        self._lock = threading.Lock()

    def get(self, name: str, version: Hashable) -> StorePostings | None:
        """Return the store if it is cached in this version."""
        with self._lock:
            store, _ = self._stores.get(name, (None, 0))
            if store is None or store.version != version:
                return None
            self._stores.move_to_end(name)
            return store

    def put(self, name: str, store: StorePostings) -> None:
        """Cache a store, and evict the least recently used ones."""
        with self._lock:
            self._total += store.size - self._stores.pop(name, (None, 0))[1]
            self._stores[name] = store, store.size
            while self._total > self._max_bytes:
                self._total -= self._stores.popitem(last=False)[1][1]

    def discard(self, name: str) -> None:
        """Remove a store."""
        with self._lock:
            self._total -= self._stores.pop(name, (None, 0))[1]


def parse_numbers(text: str | None) -> np.ndarray:
    """Parse numbers separated by commas into int64 (n)."""
    return np.fromstring(text or "", np.int64, sep=",")


def build_term_postings(rows: np.ndarray, ids: bytes, counts: bytes) -> TermPostings:
    """Decode the stored postings of a term; chunks that have been deleted are left out.

    Args:
        rows: All rows of the store, int64 (n), ascending.
        ids: Rows that have the term, ascending, int32 (m).
        counts: Occurrences in each, uint16 (m).
    """
    row_ids = np.frombuffer(ids, ID_TYPECODE)
    times = np.frombuffer(counts, COUNT_TYPECODE).astype(np.int32)
    contiguous = len(rows) > 0 and rows[-1] - rows[0] + 1 == len(rows)
    if contiguous and len(row_ids) and row_ids[0] >= rows[0] and row_ids[-1] <= rows[-1]:
        return TermPostings(row_ids - np.int32(rows[0]), times)
    positions = np.searchsorted(rows, row_ids).astype(np.int32)
    exists = np.append(rows, -1)[positions] == row_ids
    return TermPostings(positions[exists], times[exists])


def find_top_chunks(
    query: Sequence[tuple[str, ...]], matches: Sequence[StoreMatches], frequency: Mapping[str, int], limit: int
) -> list[TopChunks]:
    """Return the `limit` best chunks of all stores together, scored like `ranking.rank_candidates`."""
    chunks, words = sum(store.chunks for store in matches), sum(store.words for store in matches)
    weights = weigh_terms(query, frequency, chunks)
    average_length = words / chunks if words else 1.0
    best = [_score_chunks(store, weights, average_length, limit) for store in matches]
    if not best or not limit:
        return []
    scores = np.concatenate([store_scores for _, store_scores in best])
    chosen = np.ones(len(scores), bool)
    if len(scores) > limit:
        chosen[np.argpartition(scores, -limit)[:-limit]] = False
    ends = np.cumsum([len(positions) for positions, _ in best])[:-1]
    top: list[TopChunks] = []
    for number, (mask, (positions, _)) in enumerate(zip(np.split(chosen, ends), best, strict=True)):
        if mask.any():
            counts: dict[str, np.ndarray] = {}  # counts of each term by position, int32
            for term, postings in matches[number].terms.items():
                indexes = np.searchsorted(postings.positions, positions[mask])
                exists = np.append(postings.positions, -1)[indexes] == positions[mask]
                counts[term] = np.where(exists, np.append(postings.counts, 0)[indexes], 0)
            top.append(TopChunks(number, positions[mask], counts))
    return top


def _score_chunks(
    matches: StoreMatches, weights: Mapping[tuple[str, ...], float], average_length: float, limit: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and BM25 scores of a store's best chunks."""
    chunk_count = len(matches.store.rows)
    scores = np.zeros(chunk_count)
    for terms, weight in weights.items():
        alternatives = [matches.terms[term] for term in terms if term in matches.terms]
        if not alternatives:
            continue
        positions, counts = alternatives[0]
        if len(alternatives) > 1:  # only the most frequent one in a chunk counts
            highest = np.zeros(chunk_count, np.int32)
            for positions, counts in alternatives:
                highest[positions] = np.maximum(highest[positions], counts)
            positions = np.flatnonzero(highest).astype(np.int32)
            counts = highest[positions]
        norms = BM25_K1 * (1 - BM25_B) + (BM25_K1 * BM25_B / average_length) * matches.store.lengths[positions]
        scores[positions] += weight * counts / (counts + norms)
    if matches.within is not None:
        scores[~matches.within] = 0
    positions = np.flatnonzero(scores)
    if len(positions) > limit:
        positions = positions[np.argpartition(scores[positions], -limit)[-limit:]] if limit else positions[:0]
    return positions, scores[positions]
