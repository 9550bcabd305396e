"""Signs of vectors, a bit each, in files that are mapped into memory: what makes a search among a million quick.

A vector's signs tell its direction roughly; the vectors that agree in most of them are looked at exactly afterwards
(binary quantisation with rescoring). One folder a store and embedder, in it segments that are written once and
renamed into place, so that a killed process leaves nothing half done and several processes need no lock: a segment
says which transactions it covers, and whoever else covers them writes the same.
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

MAGIC = b"OUTCODE1"
HEADER = struct.Struct("<8sIIQQ")  # magic, words of a code, unused, rows, unused
ID_BYTES = 64  # as in content_chunks.id
WORD = 64  # bits
BLOCK = 65_536  # rows at a time: their distances stay in the processor's cache
SUFFIX = ".codes"


class Found(NamedTuple):
    """A candidate: in how many signs it differs, and whose it is."""

    distance: int
    chunk: str


def encoded(vectors: "np.ndarray") -> "np.ndarray":
    """The signs of vectors (n, d) as uint64 of shape (words, n); what is missing to a whole word is 0."""
    bits = np.packbits(vectors > 0, axis=1, bitorder="little")
    missing = -bits.shape[1] % (WORD // 8)
    whole = np.pad(bits, ((0, 0), (0, missing)))
    return np.ascontiguousarray(whole.view("<u8").T)


def key(content: str) -> int:
    """A content's id as a number of 64 bits."""
    return int.from_bytes(hashlib.blake2b(content.encode(), digest_size=8).digest(), "little")


@dataclass
class Segment:
    """Codes of the rows that the transactions after `first` up to `last` added.

    Attributes:
        codes: uint64 (words, rows).
        keys: uint64 (rows), of the contents.
        chunks: bytes (rows), the ids.
        alive: bool (rows), False for what is known to be gone.
    """

    path: Path
    first: int
    last: int
    codes: "np.ndarray"
    keys: "np.ndarray"
    chunks: "np.ndarray"
    alive: "np.ndarray" = field(init=False)

    def __post_init__(self) -> None:
        self.alive = np.ones(len(self.keys), bool)

    @property
    def rows(self) -> int:
        return len(self.keys)

    def distances(self, query: "np.ndarray") -> "np.ndarray":
        """In how many signs each row differs from the code of a query, uint16."""
        total = np.zeros(self.rows, np.uint16)
        for start in range(0, self.rows, BLOCK):
            block = slice(start, start + BLOCK)
            for word, asked in zip(self.codes, query, strict=True):
                total[block] += np.bitwise_count(word[block] ^ asked)
        return total

    def nearest(self, query: "np.ndarray", count: int, within: "np.ndarray | None") -> list[Found]:
        """The `count` rows that differ least; all of them if there are not so many."""
        distances = self.distances(query)
        shown = self.alive if within is None else self.alive & np.isin(self.keys, within)
        distances[~shown] = np.iinfo(np.uint16).max
        count = min(count, int(shown.sum()))
        if not count:
            return []
        places = np.argpartition(distances, count - 1)[:count]
        return [Found(int(distances[place]), self.chunks[place].decode()) for place in places]


class StoreCodes:
    """The codes of one store under one embedder. Not for several threads at once.

    Args:
        folder: Theirs alone; made when something is written.
        dimensions: Length of the vectors.
    """

    def __init__(self, folder: Path, dimensions: int) -> None:
        self._folder = folder
        self._words = -(-dimensions // WORD)
        self.segments: list[Segment] = []
        self.look()

    @property
    def mark(self) -> int:
        """The last transaction that they cover."""
        return self.segments[-1].last if self.segments else 0

    @property
    def rows(self) -> int:
        """How many codes there are, those of deleted chunks included."""
        return sum(each.rows for each in self.segments)

    def look(self) -> None:
        """Takes over what lies in the folder beyond the mark, written before or by another process."""
        for path in _chain(self._folder, self.mark):
            segment = _read(path, self._words)
            if segment is None:
                return
            self.segments.append(segment)

    def add(self, chunks: Sequence[str], contents: Sequence[str], vectors: "np.ndarray", last: int) -> None:
        """Adds the rows of the transactions after the mark, up to `last`."""
        keys = np.array([key(each) for each in contents], np.uint64)
        ids = np.array([each.encode() for each in chunks], f"S{ID_BYTES}")
        self.segments.append(self._written(self.mark, last, encoded(vectors), keys, ids))
        while len(self.segments) > 1 and self.segments[-2].rows < 2 * self.segments[-1].rows:
            self._merge()

    def nearest(self, query: "np.ndarray", count: int, within: Collection[str] | None) -> list[Found]:
        """The likeliest `count` of each segment for a query vector (d), unordered."""
        code = encoded(query[None, :])[:, 0]
        keys = None if within is None else np.array([key(each) for each in within], np.uint64)
        return [found for each in self.segments for found in each.nearest(code, count, keys)]

    def lose(self, chunks: Iterable[str]) -> None:
        """Never shows these again."""
        gone = np.array([each.encode() for each in chunks], f"S{ID_BYTES}")
        for each in self.segments:
            each.alive &= ~np.isin(each.chunks, gone)

    def empty(self) -> None:
        """Forgets all."""
        self.segments = []
        shutil.rmtree(self._folder, ignore_errors=True)

    def _merge(self) -> None:
        """Makes one of the last two segments, without what is gone."""
        pair = self.segments[-2:]
        codes = np.concatenate([each.codes[:, each.alive] for each in pair], axis=1)
        keys = np.concatenate([each.keys[each.alive] for each in pair])
        chunks = np.concatenate([each.chunks[each.alive] for each in pair])
        self.segments[-2:] = [self._written(pair[0].first, pair[1].last, codes, keys, chunks)]
        for each in pair:
            with suppress(OSError):  # Windows keeps what another process has mapped; it is left out at the next look
                each.path.unlink()

    def _written(self, first: int, last: int, codes: "np.ndarray", keys: "np.ndarray", chunks: "np.ndarray") -> Segment:
        path = self._folder / f"{first}-{last}{SUFFIX}"
        self._folder.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
        with draft.open("wb") as file:
            file.write(HEADER.pack(MAGIC, self._words, 0, len(keys), 0))
            for part in (codes, keys, chunks):
                file.write(part.tobytes())
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        return _read(path, self._words) or Segment(path, first, last, codes, keys, chunks)


def _chain(folder: Path, mark: int) -> list[Path]:
    """Files that follow one another without a gap, the longest first where several begin alike."""
    spans = {path: span for path in folder.glob(f"*{SUFFIX}") if (span := _span(path))}
    chain: list[Path] = []
    while following := [path for path, (first, last) in spans.items() if first == mark < last]:
        path = max(following, key=lambda each: spans[each][1])
        chain.append(path)
        mark = spans[path][1]
    return chain


def _span(path: Path) -> tuple[int, int] | None:
    first, _, last = path.name.removesuffix(SUFFIX).partition("-")
    return (int(first), int(last)) if first.isdecimal() and last.isdecimal() else None


def _read(path: Path, words: int) -> Segment | None:
    """The segment in a file, mapped; None for what is damaged, of another size, or gone by now."""
    span = _span(path)
    try:
        with path.open("rb") as file:
            magic, width, _, rows, _ = HEADER.unpack(file.read(HEADER.size))
        size = path.stat().st_size
    except (OSError, struct.error):
        return None
    whole = HEADER.size + rows * (width * 8 + 8 + ID_BYTES)
    if span is None or magic != MAGIC or width != words or size != whole:
        return None
    data = np.memmap(path, mode="r", dtype=np.uint8, offset=HEADER.size) if rows else np.empty(0, np.uint8)
    codes, keys = rows * width * 8, rows * 8
    return Segment(
        path,
        *span,
        data[:codes].view("<u8").reshape(width, rows),
        data[codes : codes + keys].view("<u8"),
        data[codes + keys :].view(f"S{ID_BYTES}"),
    )
