"""Binary codes of vectors in memory-mapped files.

They are the fast first pass of semantic search.

A code holds the sign of each dimension, which approximates the direction; the vectors with the most equal signs are
then compared exactly (binary quantization with rescoring). Each store and embedder has a folder of segments, which are
written once and renamed into place: a killed process never leaves a partial segment, and several processes need no
lock, because a segment names the transactions it covers and every process writes the same one for them.
"""

import hashlib
import os
import secrets
import shutil
import struct
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

CODES_MAGIC = b"OUTCODE1"
CODES_HEADER = struct.Struct("<8sIIQQ")  # magic, words per code, unused, rows, unused
ID_BYTES = 64  # as in content_chunks.id
WORD_BITS = 64
CODES_SUFFIX = ".codes"


class CodeMatch(NamedTuple):
    """A candidate: the number of signs that differ, and the chunk's id."""

    distance: int
    chunk: str


def encode_signs(vectors: np.ndarray) -> np.ndarray:
    """Return the signs of vectors (n, d) as uint64 (words, n); the last word is padded with 0."""
    bits = np.packbits(vectors > 0, axis=1, bitorder="little")
    padding = -bits.shape[1] % (WORD_BITS // 8)
    padded = np.pad(bits, ((0, 0), (0, padding)))
    return np.ascontiguousarray(padded.view("<u8").T)


def hash_content_id(content: str) -> int:
    """Return a 64-bit hash of a content's id."""
    return int.from_bytes(hashlib.blake2b(content.encode(), digest_size=8).digest(), "little")


@dataclass
class CodeSegment:
    """Codes of the rows that the transactions after `first` up to `last` added.

    Attributes:
        codes: uint64 (words, rows).
        keys: uint64 (rows), hashes of the contents' ids.
        chunks: bytes (rows), the chunks' ids.
        alive: bool (rows), False for chunks known to be deleted.
    """

    path: Path
    first: int
    last: int
    codes: np.ndarray
    keys: np.ndarray
    chunks: np.ndarray
    alive: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.alive = np.ones(len(self.keys), bool)

    @property
    def rows(self) -> int:
        return len(self.keys)

    def compute_distances(self, query: np.ndarray) -> np.ndarray:
        """Return how many signs of each row differ from the query's.

        The result is an array of uint16 (rows).
        """
        block_rows = 65_536  # their distances fit the processor's cache
        total = np.zeros(self.rows, np.uint16)
        for start in range(0, self.rows, block_rows):
            block = slice(start, start + block_rows)
            for word, query_word in zip(self.codes, query, strict=True):
                total[block] += np.bitwise_count(word[block] ^ query_word)
        return total

    def find_nearest(self, query: np.ndarray, count: int, within: np.ndarray | None) -> list[CodeMatch]:
        """Return the `count` rows that differ least, or all if there are fewer."""
        distances = self.compute_distances(query)
        allowed = self.alive if within is None else self.alive & np.isin(self.keys, within)
        distances[~allowed] = np.iinfo(np.uint16).max
        count = min(count, int(allowed.sum()))
        if not count:
            return []
        nearest = np.argpartition(distances, count - 1)[:count]
        return [CodeMatch(int(distances[row]), self.chunks[row].decode()) for row in nearest]


class StoreCodes:
    """The codes of one store under one embedder. Not thread-safe.

    Args:
        folder: Their own folder; created at the first write.
        dimensions: Length of the vectors.
    """

    def __init__(self, folder: Path, dimensions: int) -> None:
        self._folder = folder
        self._words_per_code = -(-dimensions // WORD_BITS)
        self.segments: list[CodeSegment] = []
        self.load_new_segments()

    @property
    def last_transaction(self) -> int:
        """The last transaction that the codes cover."""
        return self.segments[-1].last if self.segments else 0

    @property
    def rows(self) -> int:
        """The number of codes, including those of deleted chunks."""
        return sum(segment.rows for segment in self.segments)

    def load_new_segments(self) -> None:
        """Load segments for later transactions that this or another process has written."""
        spans = {path: span for path in self._folder.glob(f"*{CODES_SUFFIX}") if (span := _parse_span(path))}
        while True:
            successors = [path for path, (first, last) in spans.items() if first == self.last_transaction < last]
            if not successors:
                return
            longest = max(successors, key=lambda path: spans[path][1])
            segment = _load_segment(longest, self._words_per_code)
            if segment is None:
                return
            self.segments.append(segment)

    def add(self, chunks: Sequence[str], contents: Sequence[str], vectors: np.ndarray, last: int) -> None:
        """Add the rows of the transactions after `last_transaction` up to `last`."""
        keys = np.array([hash_content_id(content) for content in contents], np.uint64)
        ids = np.array([chunk.encode() for chunk in chunks], f"S{ID_BYTES}")
        self.segments.append(self._write_segment(self.last_transaction, last, encode_signs(vectors), keys, ids))
        while len(self.segments) > 1 and self.segments[-2].rows < 2 * self.segments[-1].rows:
            pair = self.segments[-2:]
            # Deleted chunks are left out.
            codes = np.concatenate([segment.codes[:, segment.alive] for segment in pair], axis=1)
            keys = np.concatenate([segment.keys[segment.alive] for segment in pair])
            ids = np.concatenate([segment.chunks[segment.alive] for segment in pair])
            self.segments[-2:] = [self._write_segment(pair[0].first, pair[1].last, codes, keys, ids)]
            for segment in pair:
                # Windows keeps files that another process has mapped; they are ignored, because longer ones exist.
                with suppress(OSError):
                    segment.path.unlink()

    def find_nearest(self, query: np.ndarray, count: int, within: Collection[str] | None) -> list[CodeMatch]:
        """Return the nearest `count` rows of each segment to a query vector (d), unordered."""
        code = encode_signs(query[None, :])[:, 0]
        keys = None if within is None else np.array([hash_content_id(content) for content in within], np.uint64)
        return [match for segment in self.segments for match in segment.find_nearest(code, count, keys)]

    def hide_chunks(self, chunks: Iterable[str]) -> None:
        """Exclude deleted chunks from further results."""
        deleted = np.array([chunk.encode() for chunk in chunks], f"S{ID_BYTES}")
        for segment in self.segments:
            segment.alive &= ~np.isin(segment.chunks, deleted)

    def clear(self) -> None:
        """Delete all codes."""
        self.segments = []
        shutil.rmtree(self._folder, ignore_errors=True)

    def _write_segment(
        self, first: int, last: int, codes: np.ndarray, keys: np.ndarray, chunks: np.ndarray
    ) -> CodeSegment:
        path = self._folder / f"{first}-{last}{CODES_SUFFIX}"
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        partial = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
        with partial.open("wb") as file:
            file.write(CODES_HEADER.pack(CODES_MAGIC, self._words_per_code, 0, len(keys), 0))
            for part in (codes, keys, chunks):
                file.write(part.tobytes())
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        return _load_segment(path, self._words_per_code) or CodeSegment(path, first, last, codes, keys, chunks)


def _parse_span(path: Path) -> tuple[int, int] | None:
    first, _, last = path.name.removesuffix(CODES_SUFFIX).partition("-")
    return (int(first), int(last)) if first.isdecimal() and last.isdecimal() else None


def _load_segment(path: Path, words: int) -> CodeSegment | None:
    """Map the segment of a file; None if it is damaged, of another size, or deleted."""
    span = _parse_span(path)
    try:
        with path.open("rb") as file:
            magic, width, _, rows, _ = CODES_HEADER.unpack(file.read(CODES_HEADER.size))
        size = path.stat().st_size
    except (OSError, struct.error):
        return None
    expected_size = CODES_HEADER.size + rows * (width * 8 + 8 + ID_BYTES)
    if span is None or magic != CODES_MAGIC or width != words or size != expected_size:
        return None
    data = np.memmap(path, mode="r", dtype=np.uint8, offset=CODES_HEADER.size) if rows else np.empty(0, np.uint8)
    codes, keys = rows * width * 8, rows * 8
    return CodeSegment(
        path,
        *span,
        data[:codes].view("<u8").reshape(width, rows),
        data[codes : codes + keys].view("<u8"),
        data[codes + keys :].view(f"S{ID_BYTES}"),
    )
