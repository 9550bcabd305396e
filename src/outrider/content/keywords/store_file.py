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

from outrider.content.keywords.index import Changes, Entry, Mark
from outrider.content.keywords.postings import COUNT, ID, Memory, Occurrences, Seen, Store, numbers, occurrences

FORMAT = 3  # counts changes of the tables below, and of how terms are made; a file of another is built anew
BUSY_SECONDS = 15.0
CACHE_KIB = 512  # of pages a file; SQLite's own default is 2,000, which would be much for a hundred of them
AT_ONCE = 900  # values in one statement; SQLite's own limit was 999 for long
FAN = 8  # segments of like size that become one
MOST_OFTEN = 65_535  # times that a chunk is said to have a term
OLD = ("frequencies", "occurrences", "words", "postings", "segments", "chunks", "mark")
TABLES = """
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
GONE = "SELECT count(*), coalesce(sum(length), 0) FROM chunks WHERE content = ?"
LAST = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'chunks'"
ADD = "INSERT INTO chunks VALUES (?, ?, ?, ?, ?)"
INDEX = "INSERT INTO postings VALUES (?, ?, ?, ?)"
FIGURES = "SELECT generation, stamp, chunks, words FROM mark"
# One text of all numbers is read three times as fast as a row for each.
LENGTHS = "SELECT group_concat(id), group_concat(length) FROM chunks INDEXED BY chunks_length"
POSTINGS = """
    SELECT ids, counts FROM segments CROSS JOIN postings ON postings.segment = segments.id AND term = ? ORDER BY segment
"""
WITHIN = "SELECT group_concat(id) FROM chunks WHERE content IN ({})"
NAMES = "SELECT id, chunk FROM chunks WHERE id IN ({})"


class StoreFile:
    """The index of one store; opened at first use. Whoever works with it holds its `lock`."""

    def __init__(self, folder: Path, store: str, memory: Memory | None = None) -> None:
        self.lock = threading.Lock()
        self.closed = False
        self._folder = folder
        self._store = store
        self._memory = memory or Memory()
        self._connected: sqlite3.Connection | None = None
        self._name = ""

    def mark(self) -> Mark:
        """Up to where it reflects the store."""
        return Mark(*self._connection().execute(FIGURES).fetchone()[:2])

    def apply(self, changes: Changes, seen: Mark) -> bool:
        """Takes changes over; False if the file is no longer where they start from."""
        with self._writing() as connection:
            if self.mark() != seen:
                return False
            self._memory.forget(self._store)
            if changes.whole:
                _empty(connection)
            chunks, words = _drop(connection, changes.dropped)
            _add(connection, changes.added)
            figures = len(changes.added) - chunks, sum(each.length for each in changes.added) - words
            connection.execute(
                "UPDATE mark SET generation = ?, stamp = ?, chunks = chunks + ?, words = words + ?",
                (*changes.mark, *figures),
            )
        return True

    def look(self, terms: Sequence[str], within: Collection[str] | None) -> tuple[Mark, Seen]:
        """Who has which of the terms; the figures alone where none is asked for."""
        connection = self._connection()
        with _reading(connection):
            generation, stamp, chunks, words = connection.execute(FIGURES).fetchone()
            version = self._name, generation, stamp, chunks, words
            store = self._memory.known(self._store, version) or _lengths(connection, version, known=bool(terms))
            new = {term: _occurrences(connection, store, term) for term in terms if term not in store.terms}
            allowed = None if within is None else _allowed(connection, store, within)
        if new:
            store.learn(new)
            self._memory.keep(self._store, store)
        found = {term: store.terms[term] for term in terms if len(store.terms[term].places)}
        return Mark(generation, stamp), Seen(store, chunks, words, found, allowed)

    def names(self, seen: Store, rows: Sequence[int]) -> dict[int, str] | None:
        """The chunks of these rows; None if the file is no longer as it was seen."""
        connection = self._connection()
        found: dict[int, str] = {}
        with _reading(connection):
            if (self._name, *connection.execute(FIGURES).fetchone()) != seen.version:
                return None
            for first in range(0, len(rows), AT_ONCE):
                some = rows[first : first + AT_ONCE]
                found |= dict(connection.execute(NAMES.format(",".join("?" * len(some))), some))
        return found

    def check(self) -> None:
        """Raises sqlite3.DatabaseError where the terms do not fit the chunks, or the figures do not."""
        with self._writing() as connection:
            said = connection.execute("SELECT chunks, words FROM mark").fetchone()
            there = connection.execute("SELECT count(*), coalesce(sum(length), 0) FROM chunks").fetchone()
            terms = dict(connection.execute("SELECT id, terms FROM chunks"))
            for ids, counts in connection.execute("SELECT ids, counts FROM postings"):
                for chunk, count in zip(array(ID, ids), array(COUNT, counts), strict=True):
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
            connection, self._connected = self._connected, None
            if connection is not None:
                connection.close()

    def _connection(self) -> sqlite3.Connection:
        if self._connected is None:
            place = self._place()
            connection = sqlite3.connect(place, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            try:
                _prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connected, self._name = connection, place.name
        return self._connected

    def _place(self) -> Path:
        """The store's file, or the name for a new one: no name is used twice, since SQLite finds a file's log by it."""
        folder = self._folder / self._store
        folder.mkdir(parents=True, exist_ok=True)
        return min(folder.glob("*.db"), default=folder / f"{secrets.token_hex(4)}.db")

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection]:
        connection = self._connection()
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise


@contextmanager
def _reading(connection: sqlite3.Connection) -> Generator[None]:
    """One state of the file for several questions."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute(f"PRAGMA cache_size=-{CACHE_KIB}")
    if connection.execute("PRAGMA user_version").fetchone()[0] == FORMAT:
        return
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("PRAGMA user_version").fetchone()[0] != FORMAT:
        for name in OLD:
            connection.execute(f"DROP TABLE IF EXISTS {name}")
        for statement in TABLES.split(";\n"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version={FORMAT}")
    connection.execute("COMMIT")


def _empty(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM chunks")
    connection.execute("DELETE FROM postings")
    connection.execute("DELETE FROM segments")
    connection.execute("UPDATE mark SET chunks = 0, words = 0")


def _drop(connection: sqlite3.Connection, contents: Sequence[str]) -> tuple[int, int]:
    """Removes the chunks of contents; how many they were, and of how many words."""
    chunks = words = 0
    for content in contents:
        gone, length = connection.execute(GONE, (content,)).fetchone()
        if gone:
            connection.execute("DELETE FROM chunks WHERE content = ?", (content,))
            chunks, words = chunks + gone, words + length
    return chunks, words


def _add(connection: sqlite3.Connection, entries: Sequence[Entry]) -> None:
    """Adds chunks as a segment; no number is given twice, since segments still name those that are gone."""
    if not entries:
        return
    first = connection.execute(LAST).fetchone()[0] + 1
    found: dict[str, tuple[array[int], array[int]]] = {}
    rows = []
    for number, entry in enumerate(entries, first):
        terms = entry.terms.split()
        rows.append((number, entry.chunk, entry.content, entry.length, len(terms)))
        for term, count in Counter(terms).items():
            ids, counts = found.setdefault(term, (array(ID), array(COUNT)))
            ids.append(number)
            counts.append(min(count, MOST_OFTEN))
    connection.executemany(ADD, rows)
    _write(connection, first, rows[-1][0], ((term, *pair) for term, pair in sorted(found.items())))
    while len(alike := _alike(connection)) >= FAN:
        _merge(connection, alike)


def _write(connection: sqlite3.Connection, first: int, last: int, found: Iterable[tuple[str, Any, Any]]) -> None:
    """Writes a segment of the chunks from one number to another."""
    segment = connection.execute("INSERT INTO segments (first, last) VALUES (?, ?)", (first, last)).lastrowid
    connection.executemany(INDEX, ((segment, term, bytes(ids), bytes(counts)) for term, ids, counts in found))


def _alike(connection: sqlite3.Connection) -> list[tuple[int, int, int]]:
    """The last segments as far as none is of a larger size than the very last, in powers of FAN: id, first, last."""
    found: list[tuple[int, int, int]] = []
    for segment in connection.execute("SELECT id, first, last FROM segments ORDER BY id DESC"):
        if found and _size(segment) > _size(found[0]):
            break
        found.append(segment)
    return found[::-1]


def _size(segment: tuple[int, int, int]) -> int:
    return int(math.log(segment[2] - segment[1] + 1, FAN) + 1e-9)


def _merge(connection: sqlite3.Connection, segments: Sequence[tuple[int, int, int]]) -> None:
    """Makes one segment of several that follow one another, without the chunks that are gone."""
    first, last = segments[0][1], segments[-1][2]
    alive = {row[0] for row in connection.execute("SELECT id FROM chunks WHERE id BETWEEN ? AND ?", (first, last))}
    whole = len(alive) == last - first + 1
    found: dict[str, tuple[array[int], array[int]]] = {}
    span = segments[0][0], segments[-1][0]
    order = "SELECT term, ids, counts FROM postings WHERE segment BETWEEN ? AND ? ORDER BY segment, term"
    for term, ids, counts in connection.execute(order, span):
        pair = found.setdefault(term, (array(ID), array(COUNT)))
        pair[0].frombytes(ids)
        pair[1].frombytes(counts)
    if not whole:
        found = {term: kept for term, pair in found.items() if (kept := _living(pair, alive))[0]}
    connection.execute("DELETE FROM postings WHERE segment BETWEEN ? AND ?", span)
    connection.execute("DELETE FROM segments WHERE id BETWEEN ? AND ?", span)
    _write(connection, first, last, ((term, *pair) for term, pair in sorted(found.items())))


def _living(pair: "tuple[array[int], array[int]]", alive: Collection[int]) -> "tuple[array[int], array[int]]":
    kept = [(chunk, count) for chunk, count in zip(*pair, strict=True) if chunk in alive]
    return array(ID, [chunk for chunk, _ in kept]), array(COUNT, [count for _, count in kept])


def _lengths(connection: sqlite3.Connection, version: tuple[object, ...], *, known: bool) -> Store:
    """The rows with their lengths; none of them where nobody will ask."""
    ids, lengths = connection.execute(LENGTHS).fetchone() if known else (None, None)
    rows = numbers(ids)
    order = np.argsort(rows)
    return Store(version, rows[order], numbers(lengths)[order].astype(np.float32))


def _occurrences(connection: sqlite3.Connection, store: Store, term: str) -> Occurrences:
    found = connection.execute(POSTINGS, (term,)).fetchall()
    return occurrences(store.rows, b"".join([each[0] for each in found]), b"".join([each[1] for each in found]))


def _allowed(connection: sqlite3.Connection, store: Store, contents: Collection[str]) -> "np.ndarray":
    """Which rows belong to these contents, bool (n)."""
    asked = list(contents)
    found = [np.empty(0, np.int64)]
    for first in range(0, len(asked), AT_ONCE):
        some = asked[first : first + AT_ONCE]
        found.append(numbers(connection.execute(WITHIN.format(",".join("?" * len(some))), some).fetchone()[0]))
    return np.isin(store.rows, np.concatenate(found))
