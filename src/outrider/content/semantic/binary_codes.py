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

CODES_MAGIC = b"OUTCODE1"
CODES_HEADER = struct.Struct("<8sIIQQ")  # magic, words of a code, unused, rows, unused
ID_BYTES = 64  # as in content_chunks.id
WORD_BITS = 64  # bits
CODES_SUFFIX = ".codes"


class CodeMatch(NamedTuple):
    """A candidate: in how many signs it differs, and whose it is."""

    distance: int
    chunk: str


def encode_signs(vectors: "np.ndarray") -> "np.ndarray":
    """The signs of vectors (n, d) as uint64 of shape (words, n); what is missing to a whole word is 0."""
    bits = np.packbits(vectors > 0, axis=1, bitorder="little")
    missing = -bits.shape[1] % (WORD_BITS // 8)
    whole = np.pad(bits, ((0, 0), (0, missing)))
    return np.ascontiguousarray(whole.view("<u8").T)


def hash_content_id(content: str) -> int:
    """A content's id as a number of 64 bits."""
    return int.from_bytes(hashlib.blake2b(content.encode(), digest_size=8).digest(), "little")


@dataclass
class CodeSegment:
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

    def compute_distances(self, query: "np.ndarray") -> "np.ndarray":
        """In how many signs each row differs from the code of a query, uint16."""
        block_rows = 65_536  # rows at a time: their distances stay in the processor's cache
        total = np.zeros(self.rows, np.uint16)
        for start in range(0, self.rows, block_rows):
            block = slice(start, start + block_rows)
            for word, asked in zip(self.codes, query, strict=True):
                total[block] += np.bitwise_count(word[block] ^ asked)
        return total

    def find_nearest(self, query: "np.ndarray", count: int, within: "np.ndarray | None") -> list[CodeMatch]:
        """The `count` rows that differ least; all of them if there are not so many."""
        distances = self.compute_distances(query)
        shown = self.alive if within is None else self.alive & np.isin(self.keys, within)
        distances[~shown] = np.iinfo(np.uint16).max
        count = min(count, int(shown.sum()))
        if not count:
            return []
        places = np.argpartition(distances, count - 1)[:count]
        return [CodeMatch(int(distances[place]), self.chunks[place].decode()) for place in places]


class StoreCodes:
    """The codes of one store under one embedder. Not for several threads at once.

    Args:
        folder: Theirs alone; made when something is written.
        dimensions: Length of the vectors.
    """

    def __init__(self, folder: Path, dimensions: int) -> None:
        self._folder = folder
        self._words_per_code = -(-dimensions // WORD_BITS)
        self.segments: list[CodeSegment] = []
        self.load_new_segments()

    @property
    def last_transaction(self) -> int:
        """The last transaction that they cover."""
        return self.segments[-1].last if self.segments else 0

    @property
    def rows(self) -> int:
        """How many codes there are, those of deleted chunks included."""
        return sum(each.rows for each in self.segments)

    def load_new_segments(self) -> None:
        """Takes over what lies in the folder beyond the mark, written before or by another process."""
        for path in _find_successors(self._folder, self.last_transaction):
            segment = _load_segment(path, self._words_per_code)
            if segment is None:
                return
            self.segments.append(segment)

    def add(self, chunks: Sequence[str], contents: Sequence[str], vectors: "np.ndarray", last: int) -> None:
        """Adds the rows of the transactions after the mark, up to `last`."""
        keys = np.array([hash_content_id(each) for each in contents], np.uint64)
        ids = np.array([each.encode() for each in chunks], f"S{ID_BYTES}")
        self.segments.append(self._write_segment(self.last_transaction, last, encode_signs(vectors), keys, ids))
        while len(self.segments) > 1 and self.segments[-2].rows < 2 * self.segments[-1].rows:
            self._merge_last()

    def find_nearest(self, query: "np.ndarray", count: int, within: Collection[str] | None) -> list[CodeMatch]:
        """The likeliest `count` of each segment for a query vector (d), unordered."""
        code = encode_signs(query[None, :])[:, 0]
        keys = None if within is None else np.array([hash_content_id(each) for each in within], np.uint64)
        return [found for each in self.segments for found in each.find_nearest(code, count, keys)]

    def hide_chunks(self, chunks: Iterable[str]) -> None:
        """Never shows these again."""
        gone = np.array([each.encode() for each in chunks], f"S{ID_BYTES}")
        for each in self.segments:
            each.alive &= ~np.isin(each.chunks, gone)

    def clear(self) -> None:
        """Forgets all."""
        self.segments = []
        shutil.rmtree(self._folder, ignore_errors=True)

    def _merge_last(self) -> None:
        """Makes one of the last two segments, without what is gone."""
        pair = self.segments[-2:]
        codes = np.concatenate([each.codes[:, each.alive] for each in pair], axis=1)
        keys = np.concatenate([each.keys[each.alive] for each in pair])
        chunks = np.concatenate([each.chunks[each.alive] for each in pair])
        self.segments[-2:] = [self._write_segment(pair[0].first, pair[1].last, codes, keys, chunks)]
        for each in pair:
            with suppress(OSError):  # Windows keeps what another process has mapped; it is left out at the next look
                each.path.unlink()

    def _write_segment(
        self, first: int, last: int, codes: "np.ndarray", keys: "np.ndarray", chunks: "np.ndarray"
    ) -> CodeSegment:
        path = self._folder / f"{first}-{last}{CODES_SUFFIX}"
        self._folder.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
        with draft.open("wb") as file:
            file.write(CODES_HEADER.pack(CODES_MAGIC, self._words_per_code, 0, len(keys), 0))
            for part in (codes, keys, chunks):
                file.write(part.tobytes())
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        return _load_segment(path, self._words_per_code) or CodeSegment(path, first, last, codes, keys, chunks)


def _find_successors(folder: Path, mark: int) -> list[Path]:
    """Files that follow one another without a gap, the longest first where several begin alike."""
    spans = {path: span for path in folder.glob(f"*{CODES_SUFFIX}") if (span := _parse_span(path))}
    chain: list[Path] = []
    while following := [path for path, (first, last) in spans.items() if first == mark < last]:
        path = max(following, key=lambda each: spans[each][1])
        chain.append(path)
        mark = spans[path][1]
    return chain


def _parse_span(path: Path) -> tuple[int, int] | None:
    first, _, last = path.name.removesuffix(CODES_SUFFIX).partition("-")
    return (int(first), int(last)) if first.isdecimal() and last.isdecimal() else None


def _load_segment(path: Path, words: int) -> CodeSegment | None:
    """The segment in a file, mapped; None for what is damaged, of another size, or gone by now."""
    span = _parse_span(path)
    try:
        with path.open("rb") as file:
            magic, width, _, rows, _ = CODES_HEADER.unpack(file.read(CODES_HEADER.size))
        size = path.stat().st_size
    except (OSError, struct.error):
        return None
    whole = CODES_HEADER.size + rows * (width * 8 + 8 + ID_BYTES)
    if span is None or magic != CODES_MAGIC or width != words or size != whole:
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
