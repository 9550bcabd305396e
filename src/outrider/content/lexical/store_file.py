"""The keyword index of one store: a SQLite file with posting lists.

Each change adds a segment: for each term one row with all of the segment's chunks that have it. Segments of similar
size are merged, so that a term has few rows. Deleted chunks stay in their segment until then, and readers ignore them.
FTS5 finds chunks as fast, but takes several times as long to count terms and to rank.
"""

import math
import secrets
import sqlite3
import threading
from array import array
from collections import Counter
from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from outrider.content.lexical.index import IndexChanges, IndexEntry, Watermark
from outrider.content.lexical.postings import (
    COUNT_TYPECODE,
    ID_TYPECODE,
    PostingsCache,
    StoreMatches,
    StorePostings,
    TermPostings,
    build_term_postings,
    parse_numbers,
)

Postings = dict[str, tuple["array[int]", "array[int]"]]  # by term, the numbers of chunks and the counts
SCHEMA_VERSION = 3  # changes with the tables below and with the way terms are made; other files are rebuilt
MAX_SQL_VARIABLES = 900  # older SQLite takes at most 999 in a statement
MERGE_FACTOR = 8  # segments of similar size that are merged into one
STORE_FILE_SCHEMA = """
    CREATE TABLE mark (
        id INTEGER PRIMARY KEY, generation INTEGER NOT NULL, stamp TEXT NOT NULL,
        chunks INTEGER NOT NULL, words INTEGER NOT NULL
    );
    CREATE TABLE chunks (
        id INTEGER PRIMARY KEY AUTOINCREMENT, chunk TEXT NOT NULL, content TEXT NOT NULL, length INTEGER NOT NULL,
        terms INTEGER NOT NULL
    );
    CREATE INDEX chunks_content ON chunks (content);
    CREATE INDEX chunks_length ON chunks (length);
    CREATE TABLE segments (id INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL);
    CREATE TABLE postings (
        segment INTEGER NOT NULL, term TEXT NOT NULL, ids BLOB NOT NULL, counts BLOB NOT NULL,
        PRIMARY KEY (segment, term)
    ) WITHOUT ROWID;
    INSERT INTO mark VALUES (1, 0, '', 0, 0)
"""
SELECT_TOTALS = "SELECT generation, stamp, chunks, words FROM mark"
SELECT_POSTINGS = """
    SELECT ids, counts FROM segments CROSS JOIN postings ON postings.segment = segments.id AND term = ? ORDER BY segment
"""


class StoreFile:
    """The index file of one store; opened at first use. Callers hold its `lock` while they use it."""

    def __init__(self, folder: Path, store: str, cache: PostingsCache | None = None) -> None:
        self.lock = threading.Lock()
        self.closed = False
        self._folder = folder
        self._store = store
        self._cache = cache or PostingsCache()
        self._sqlite: sqlite3.Connection | None = None
        self._file_name = ""

    def read_watermark(self) -> Watermark:
        """Return the last change that the file reflects."""
        return Watermark(*self._open_connection().execute(SELECT_TOTALS).fetchone()[:2])

    def apply_changes(self, changes: IndexChanges, seen: Watermark) -> bool:
        """Apply changes; return False if the file has left the watermark that they start from."""
        with self._begin_write() as connection:
            if self.read_watermark() != seen:
                return False
            self._cache.discard(self._store)
            if changes.is_full:
                for table in ("chunks", "postings", "segments"):
                    connection.execute(f"DELETE FROM {table}")  # noqa: S608 - our own table names
                connection.execute("UPDATE mark SET chunks = 0, words = 0")
            chunks = words = 0
            count_query = "SELECT count(*), coalesce(sum(length), 0) FROM chunks WHERE content = ?"
            for content in changes.dropped:
                deleted, length = connection.execute(count_query, (content,)).fetchone()
                if deleted:
                    connection.execute("DELETE FROM chunks WHERE content = ?", (content,))
                    chunks, words = chunks + deleted, words + length
            _insert_entries(connection, changes.added)
            more_chunks = len(changes.added) - chunks
            more_words = sum(entry.length for entry in changes.added) - words
            connection.execute(
                "UPDATE mark SET generation = ?, stamp = ?, chunks = chunks + ?, words = words + ?",
                (*changes.watermark, more_chunks, more_words),
            )
        return True

    def read_matches(self, terms: Sequence[str], within: Collection[str] | None) -> tuple[Watermark, StoreMatches]:
        """Return the watermark and the postings of the terms; only the totals if there are no terms."""
        connection = self._open_connection()
        with _begin_read(connection):
            generation, stamp, chunks, words = connection.execute(SELECT_TOTALS).fetchone()
            version = self._file_name, generation, stamp, chunks, words
            store = self._cache.get(self._store, version) or _load_lengths(connection, version, with_rows=bool(terms))
            new: dict[str, TermPostings] = {}
            for term in terms:
                if term not in store.terms:
                    segments = connection.execute(SELECT_POSTINGS, (term,)).fetchall()
                    ids, counts = zip(*segments, strict=True) if segments else ((), ())
                    new[term] = build_term_postings(store.rows, b"".join(ids), b"".join(counts))
            allowed = None if within is None else _build_filter_mask(connection, store, within)
        if new:
            store.add_terms(new)
            self._cache.put(self._store, store)
        matching = {term: store.terms[term] for term in terms if len(store.terms[term].positions)}
        return Watermark(generation, stamp), StoreMatches(store, chunks, words, matching, allowed)

    def load_chunk_ids(self, seen: StorePostings, rows: Sequence[int]) -> dict[int, str] | None:
        """Return the chunk ids of rows; None if the file has changed since `seen` was read."""
        connection = self._open_connection()
        ids: dict[int, str] = {}
        with _begin_read(connection):
            if (self._file_name, *connection.execute(SELECT_TOTALS).fetchone()) != seen.version:
                return None
            for start in range(0, len(rows), MAX_SQL_VARIABLES):
                batch = rows[start : start + MAX_SQL_VARIABLES]
                query = f"SELECT id, chunk FROM chunks WHERE id IN ({','.join('?' * len(batch))})"  # noqa: S608
                ids |= dict(connection.execute(query, batch))
        return ids

    def check_integrity(self) -> None:
        """Raise sqlite3.DatabaseError if totals or postings do not match the chunks."""
        with self._begin_write() as connection:
            recorded = connection.execute("SELECT chunks, words FROM mark").fetchone()
            actual = connection.execute("SELECT count(*), coalesce(sum(length), 0) FROM chunks").fetchone()
            uncounted = dict(connection.execute("SELECT id, terms FROM chunks"))
            for ids, counts in connection.execute("SELECT ids, counts FROM postings"):
                for chunk, count in zip(array(ID_TYPECODE, ids), array(COUNT_TYPECODE, counts), strict=True):
                    if chunk in uncounted:
                        uncounted[chunk] -= count
        if recorded != actual:
            raise sqlite3.DatabaseError(f"the recorded totals are {recorded}, the actual ones {actual}")
        if wrong := sum(map(bool, uncounted.values())):
            raise sqlite3.DatabaseError(f"{wrong} chunks have postings that do not match their number of terms")

    def close(self) -> None:
        """Close the file permanently, once it is unused."""
        with self.lock:
            self.closed = True
            connection, self._sqlite = self._sqlite, None
            if connection is not None:
                connection.close()

    def _open_connection(self) -> sqlite3.Connection:
        busy_timeout_s = 15.0
        if self._sqlite is None:
            folder = self._folder / self._store
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            # File names are never reused, because SQLite would find the write-ahead log of a deleted file by its name.
            path = min(folder.glob("*.db"), default=folder / f"{secrets.token_hex(4)}.db")
            connection = sqlite3.connect(path, timeout=busy_timeout_s, isolation_level=None, check_same_thread=False)
            try:
                _prepare_schema(connection)
            except BaseException:
                connection.close()
                raise
            self._sqlite, self._file_name = connection, path.name
        return self._sqlite

    @contextmanager
    def _begin_write(self) -> Generator[sqlite3.Connection]:
        connection = self._open_connection()
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise


@contextmanager
def _begin_read(connection: sqlite3.Connection) -> Generator[None]:
    """Let several queries read the same state of the file."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")


def _prepare_schema(connection: sqlite3.Connection) -> None:
    obsolete_tables = ("frequencies", "occurrences", "words", "postings", "segments", "chunks", "mark")
    cache_kib = 512  # with a hundred open files, SQLite's default of 2,000 would add up
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute(f"PRAGMA cache_size=-{cache_kib}")
    if connection.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION:
        return
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("PRAGMA user_version").fetchone()[0] != SCHEMA_VERSION:
        for name in obsolete_tables:
            connection.execute(f"DROP TABLE IF EXISTS {name}")
        for statement in STORE_FILE_SCHEMA.split(";\n"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
    connection.execute("COMMIT")


def _insert_entries(connection: sqlite3.Connection, entries: Sequence[IndexEntry]) -> None:
    """Add chunks as a segment. Numbers are never reused, because segments still contain deleted chunks."""
    max_count = 65_535  # maximum of COUNT_TYPECODE
    if not entries:
        return
    last_id = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'chunks'"
    first = connection.execute(last_id).fetchone()[0] + 1
    postings: Postings = {}
    rows: list[tuple[object, ...]] = []
    for number, entry in enumerate(entries, first):
        terms = entry.terms.split()
        rows.append((number, entry.chunk, entry.content, entry.length, len(terms)))
        for term, count in Counter(terms).items():
            ids, counts = postings.setdefault(term, (array(ID_TYPECODE), array(COUNT_TYPECODE)))
            ids.append(number)
            counts.append(min(count, max_count))
    connection.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?, ?)", rows)
    _write_segment(connection, first, first + len(rows) - 1, postings)
    while True:
        # The newest segments of the last one's size class or smaller, as (id, first, last).
        segments: list[tuple[int, int, int]] = []
        for segment in connection.execute("SELECT id, first, last FROM segments ORDER BY id DESC"):
            if segments and _compute_size_class(segment) > _compute_size_class(segments[0]):
                break
            segments.append(segment)
        if len(segments) < MERGE_FACTOR:
            return
        _merge_segments(connection, segments[::-1])


def _write_segment(connection: sqlite3.Connection, first: int, last: int, postings: Postings) -> None:
    """Write a segment of the chunks with numbers from `first` to `last`."""
    segment = connection.execute("INSERT INTO segments (first, last) VALUES (?, ?)", (first, last)).lastrowid
    rows = ((segment, term, bytes(ids), bytes(counts)) for term, (ids, counts) in sorted(postings.items()))
    connection.executemany("INSERT INTO postings VALUES (?, ?, ?, ?)", rows)


def _compute_size_class(segment: tuple[int, int, int]) -> int:
    return int(math.log(segment[2] - segment[1] + 1, MERGE_FACTOR) + 1e-9)


def _merge_segments(connection: sqlite3.Connection, segments: Sequence[tuple[int, int, int]]) -> None:
    """Merge consecutive segments into one, without deleted chunks."""
    first, last = segments[0][1], segments[-1][2]
    alive = {row[0] for row in connection.execute("SELECT id FROM chunks WHERE id BETWEEN ? AND ?", (first, last))}
    segment_range = segments[0][0], segments[-1][0]
    merged: Postings = {}
    query = "SELECT term, ids, counts FROM postings WHERE segment BETWEEN ? AND ? ORDER BY segment, term"
    for term, stored_ids, stored_counts in connection.execute(query, segment_range):
        ids, counts = merged.setdefault(term, (array(ID_TYPECODE), array(COUNT_TYPECODE)))
        ids.frombytes(stored_ids)
        counts.frombytes(stored_counts)
    if len(alive) < last - first + 1:
        for term, (ids, counts) in list(merged.items()):
            pairs = [(chunk, count) for chunk, count in zip(ids, counts, strict=True) if chunk in alive]
            if not pairs:
                del merged[term]
                continue
            merged[term] = (
                array(ID_TYPECODE, [chunk for chunk, _ in pairs]),
                array(COUNT_TYPECODE, [count for _, count in pairs]),
            )
    connection.execute("DELETE FROM postings WHERE segment BETWEEN ? AND ?", segment_range)
    connection.execute("DELETE FROM segments WHERE id BETWEEN ? AND ?", segment_range)
    _write_segment(connection, first, last, merged)


def _load_lengths(connection: sqlite3.Connection, version: tuple[object, ...], *, with_rows: bool) -> StorePostings:
    """Load the rows and their lengths; none if the search has no terms."""
    ids = lengths = None
    if with_rows:
        # A single text with all numbers is read faster than one row for each.
        query = "SELECT group_concat(id), group_concat(length) FROM chunks INDEXED BY chunks_length"
        ids, lengths = connection.execute(query).fetchone()
    rows = parse_numbers(ids)
    order = np.argsort(rows)
    return StorePostings(version, rows[order], parse_numbers(lengths)[order].astype(np.float32))


def _build_filter_mask(connection: sqlite3.Connection, store: StorePostings, contents: Collection[str]) -> np.ndarray:
    """Return which rows belong to these contents, bool (n)."""
    ids = list(contents)
    rows = [np.empty(0, np.int64)]
    for start in range(0, len(ids), MAX_SQL_VARIABLES):
        batch = ids[start : start + MAX_SQL_VARIABLES]
        query = f"SELECT group_concat(id) FROM chunks WHERE content IN ({','.join('?' * len(batch))})"  # noqa: S608
        rows.append(parse_numbers(connection.execute(query, batch).fetchone()[0]))
    return np.isin(store.rows, np.concatenate(rows))
