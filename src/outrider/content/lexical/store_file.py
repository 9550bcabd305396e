"""The keyword index of one store: a SQLite file that says which chunks have a word how often.

What one change adds is a segment: for each term one row with all of its chunks. Segments of like size are merged, so
that a term has few rows. What is removed stays in its segment until then, and whoever reads leaves it out. FTS5, which
was here before, finds as quickly, but takes five times as long to say how often each chunk has a term, and ten to rank.
"""

import math
import secrets
import sqlite3
import threading
from array import array
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

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

SCHEMA_VERSION = 3  # counts changes of the tables below, and of how terms are made; a file of another is built anew
MAX_SQL_VARIABLES = 900  # values in one statement; SQLite's own limit was 999 for long
MERGE_FACTOR = 8  # segments of like size that become one
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
SELECT_FIGURES = "SELECT generation, stamp, chunks, words FROM mark"
# One text of all numbers is read three times as fast as a row for each.
SELECT_LENGTHS = "SELECT group_concat(id), group_concat(length) FROM chunks INDEXED BY chunks_length"
SELECT_POSTINGS = """
    SELECT ids, counts FROM segments CROSS JOIN postings ON postings.segment = segments.id AND term = ? ORDER BY segment
"""


class StoreFile:
    """The index of one store; opened at first use. Whoever works with it holds its `lock`."""

    def __init__(self, folder: Path, store: str, memory: PostingsCache | None = None) -> None:
        self.lock = threading.Lock()
        self.closed = False
        self._folder = folder
        self._store = store
        self._cache = memory or PostingsCache()
        self._sqlite: sqlite3.Connection | None = None
        self._file_name = ""

    def read_watermark(self) -> Watermark:
        """Up to where it reflects the store."""
        return Watermark(*self._open_connection().execute(SELECT_FIGURES).fetchone()[:2])

    def apply_changes(self, changes: IndexChanges, seen: Watermark) -> bool:
        """Takes changes over; False if the file is no longer where they start from."""
        with self._begin_write() as connection:
            if self.read_watermark() != seen:
                return False
            self._cache.discard(self._store)
            if changes.is_full:
                _empty(connection)
            chunks, words = _delete_contents(connection, changes.dropped)
            _insert_entries(connection, changes.added)
            figures = len(changes.added) - chunks, sum(each.length for each in changes.added) - words
            connection.execute(
                "UPDATE mark SET generation = ?, stamp = ?, chunks = chunks + ?, words = words + ?",
                (*changes.watermark, *figures),
            )
        return True

    def read_matches(self, terms: Sequence[str], within: Collection[str] | None) -> tuple[Watermark, StoreMatches]:
        """Who has which of the terms; the figures alone where none is asked for."""
        connection = self._open_connection()
        with _begin_read(connection):
            generation, stamp, chunks, words = connection.execute(SELECT_FIGURES).fetchone()
            version = self._file_name, generation, stamp, chunks, words
            store = self._cache.get(self._store, version) or _load_lengths(connection, version, known=bool(terms))
            new = {term: _occurrences(connection, store, term) for term in terms if term not in store.terms}
            allowed = None if within is None else _build_filter_mask(connection, store, within)
        if new:
            store.add_terms(new)
            self._cache.put(self._store, store)
        found = {term: store.terms[term] for term in terms if len(store.terms[term].places)}
        return Watermark(generation, stamp), StoreMatches(store, chunks, words, found, allowed)

    def load_chunk_ids(self, seen: StorePostings, rows: Sequence[int]) -> dict[int, str] | None:
        """The chunks of these rows; None if the file is no longer as it was seen."""
        select_chunk_ids = "SELECT id, chunk FROM chunks WHERE id IN ({})"
        connection = self._open_connection()
        found: dict[int, str] = {}
        with _begin_read(connection):
            if (self._file_name, *connection.execute(SELECT_FIGURES).fetchone()) != seen.version:
                return None
            for first in range(0, len(rows), MAX_SQL_VARIABLES):
                some = rows[first : first + MAX_SQL_VARIABLES]
                found |= dict(connection.execute(select_chunk_ids.format(",".join("?" * len(some))), some))
        return found

    def check_integrity(self) -> None:
        """Raises sqlite3.DatabaseError where the terms do not fit the chunks, or the figures do not."""
        with self._begin_write() as connection:
            said = connection.execute("SELECT chunks, words FROM mark").fetchone()
            there = connection.execute("SELECT count(*), coalesce(sum(length), 0) FROM chunks").fetchone()
            terms = dict(connection.execute("SELECT id, terms FROM chunks"))
            for ids, counts in connection.execute("SELECT ids, counts FROM postings"):
                for chunk, count in zip(array(ID_TYPECODE, ids), array(COUNT_TYPECODE, counts), strict=True):
                    if chunk in terms:
                        terms[chunk] -= count
        if said != there:
            raise sqlite3.DatabaseError(f"the index says {said} and has {there}")
        if any(terms.values()):
            raise sqlite3.DatabaseError(f"chunks whose terms are not those that were counted: {len(terms)}")

    def close(self) -> None:
        """Closes the file for good, when whoever works with it has done so."""
        with self.lock:
            self.closed = True
            connection, self._sqlite = self._sqlite, None
            if connection is not None:
                connection.close()

    def _open_connection(self) -> sqlite3.Connection:
        busy_timeout_s = 15.0
        if self._sqlite is None:
            place = self._find_path()
            connection = sqlite3.connect(place, timeout=busy_timeout_s, isolation_level=None, check_same_thread=False)
            try:
                _prepare_schema(connection)
            except BaseException:
                connection.close()
                raise
            self._sqlite, self._file_name = connection, place.name
        return self._sqlite

    def _find_path(self) -> Path:
        """The store's file, or the name for a new one: no name is used twice, since SQLite finds a file's log by it."""
        folder = self._folder / self._store
        folder.mkdir(parents=True, exist_ok=True)
        return min(folder.glob("*.db"), default=folder / f"{secrets.token_hex(4)}.db")

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
    """One state of the file for several questions."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")


def _prepare_schema(connection: sqlite3.Connection) -> None:
    obsolete_tables = ("frequencies", "occurrences", "words", "postings", "segments", "chunks", "mark")
    cache_kib = 512  # of pages a file; SQLite's own default is 2,000, which would be much for a hundred of them
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


def _empty(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM chunks")
    connection.execute("DELETE FROM postings")
    connection.execute("DELETE FROM segments")
    connection.execute("UPDATE mark SET chunks = 0, words = 0")


def _delete_contents(connection: sqlite3.Connection, contents: Sequence[str]) -> tuple[int, int]:
    """Removes the chunks of contents; how many they were, and of how many words."""
    count_chunks = "SELECT count(*), coalesce(sum(length), 0) FROM chunks WHERE content = ?"
    chunks = words = 0
    for content in contents:
        gone, length = connection.execute(count_chunks, (content,)).fetchone()
        if gone:
            connection.execute("DELETE FROM chunks WHERE content = ?", (content,))
            chunks, words = chunks + gone, words + length
    return chunks, words


def _insert_entries(connection: sqlite3.Connection, entries: Sequence[IndexEntry]) -> None:
    """Adds chunks as a segment; no number is given twice, since segments still name those that are gone."""
    insert_chunk = "INSERT INTO chunks VALUES (?, ?, ?, ?, ?)"
    select_last_id = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'chunks'"
    max_count = 65_535  # times that a chunk is said to have a term
    if not entries:
        return
    first = connection.execute(select_last_id).fetchone()[0] + 1
    found: dict[str, tuple[array[int], array[int]]] = {}
    rows = []
    for number, entry in enumerate(entries, first):
        terms = entry.terms.split()
        rows.append((number, entry.chunk, entry.content, entry.length, len(terms)))
        for term, count in Counter(terms).items():
            ids, counts = found.setdefault(term, (array(ID_TYPECODE), array(COUNT_TYPECODE)))
            ids.append(number)
            counts.append(min(count, max_count))
    connection.executemany(insert_chunk, rows)
    _write_segment(connection, first, rows[-1][0], ((term, *pair) for term, pair in sorted(found.items())))
    while len(alike := _find_mergeable(connection)) >= MERGE_FACTOR:
        _merge_segments(connection, alike)


def _write_segment(
    connection: sqlite3.Connection, first: int, last: int, found: Iterable[tuple[str, Any, Any]]
) -> None:
    """Writes a segment of the chunks from one number to another."""
    insert_posting = "INSERT INTO postings VALUES (?, ?, ?, ?)"
    segment = connection.execute("INSERT INTO segments (first, last) VALUES (?, ?)", (first, last)).lastrowid
    connection.executemany(insert_posting, ((segment, term, bytes(ids), bytes(counts)) for term, ids, counts in found))


def _find_mergeable(connection: sqlite3.Connection) -> list[tuple[int, int, int]]:
    """The last segments as far as none is of a larger size than the very last, in powers of FAN: id, first, last."""
    found: list[tuple[int, int, int]] = []
    for segment in connection.execute("SELECT id, first, last FROM segments ORDER BY id DESC"):
        if found and _compute_size_class(segment) > _compute_size_class(found[0]):
            break
        found.append(segment)
    return found[::-1]


def _compute_size_class(segment: tuple[int, int, int]) -> int:
    return int(math.log(segment[2] - segment[1] + 1, MERGE_FACTOR) + 1e-9)


def _merge_segments(connection: sqlite3.Connection, segments: Sequence[tuple[int, int, int]]) -> None:
    """Makes one segment of several that follow one another, without the chunks that are gone."""
    first, last = segments[0][1], segments[-1][2]
    alive = {row[0] for row in connection.execute("SELECT id FROM chunks WHERE id BETWEEN ? AND ?", (first, last))}
    whole = len(alive) == last - first + 1
    found: dict[str, tuple[array[int], array[int]]] = {}
    span = segments[0][0], segments[-1][0]
    order = "SELECT term, ids, counts FROM postings WHERE segment BETWEEN ? AND ? ORDER BY segment, term"
    for term, ids, counts in connection.execute(order, span):
        pair = found.setdefault(term, (array(ID_TYPECODE), array(COUNT_TYPECODE)))
        pair[0].frombytes(ids)
        pair[1].frombytes(counts)
    if not whole:
        found = {term: kept for term, pair in found.items() if (kept := _filter_alive(pair, alive))[0]}
    connection.execute("DELETE FROM postings WHERE segment BETWEEN ? AND ?", span)
    connection.execute("DELETE FROM segments WHERE id BETWEEN ? AND ?", span)
    _write_segment(connection, first, last, ((term, *pair) for term, pair in sorted(found.items())))


def _filter_alive(pair: "tuple[array[int], array[int]]", alive: Collection[int]) -> "tuple[array[int], array[int]]":
    kept = [(chunk, count) for chunk, count in zip(*pair, strict=True) if chunk in alive]
    return array(ID_TYPECODE, [chunk for chunk, _ in kept]), array(COUNT_TYPECODE, [count for _, count in kept])


def _load_lengths(connection: sqlite3.Connection, version: tuple[object, ...], *, known: bool) -> StorePostings:
    """The rows with their lengths; none of them where nobody will ask."""
    ids, lengths = connection.execute(SELECT_LENGTHS).fetchone() if known else (None, None)
    rows = parse_numbers(ids)
    order = np.argsort(rows)
    return StorePostings(version, rows[order], parse_numbers(lengths)[order].astype(np.float32))


def _occurrences(connection: sqlite3.Connection, store: StorePostings, term: str) -> TermPostings:
    found = connection.execute(SELECT_POSTINGS, (term,)).fetchall()
    return build_term_postings(store.rows, b"".join([each[0] for each in found]), b"".join([each[1] for each in found]))


def _build_filter_mask(connection: sqlite3.Connection, store: StorePostings, contents: Collection[str]) -> "np.ndarray":
    """Which rows belong to these contents, bool (n)."""
    select_rows = "SELECT group_concat(id) FROM chunks WHERE content IN ({})"
    asked = list(contents)
    found = [np.empty(0, np.int64)]
    for first in range(0, len(asked), MAX_SQL_VARIABLES):
        some = asked[first : first + MAX_SQL_VARIABLES]
        found.append(
            parse_numbers(connection.execute(select_rows.format(",".join("?" * len(some))), some).fetchone()[0])
        )
    return np.isin(store.rows, np.concatenate(found))
