"""The keyword index of one store: a SQLite file with FTS5, which knows who has which word.

The order of what is found is not FTS5's: see `content.postings`.
"""

import secrets
import sqlite3
import threading
from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from outrider.content.index import Changes, Mark
from outrider.content.postings import Memory, Occurrences, Seen, Store, counted, numbers

if TYPE_CHECKING:
    import numpy as np

FORMAT = 2  # counts changes of the tables below, and of how terms are made; a number that is not known is built anew
BUSY_SECONDS = 15.0
CACHE_KIB = 512  # of pages a file; SQLite's own default is 2,000, which would be much for a hundred of them
AT_ONCE = 900  # values in one statement; SQLite's own limit was 999 for long
TABLES = """
    CREATE TABLE mark (
        id INTEGER PRIMARY KEY, generation INTEGER NOT NULL, stamp TEXT NOT NULL,
        chunks INTEGER NOT NULL, words INTEGER NOT NULL
    );
    CREATE TABLE chunks (
        id INTEGER PRIMARY KEY, chunk TEXT NOT NULL, content TEXT NOT NULL, length INTEGER NOT NULL, terms TEXT NOT NULL
    );
    CREATE INDEX chunks_content ON chunks (content);
    CREATE VIRTUAL TABLE words USING fts5 (
        terms, content='chunks', content_rowid='id', tokenize="ascii tokenchars '_'"
    );
    INSERT INTO mark VALUES (1, 0, '', 0, 0)
"""
SECOND = """
    CREATE INDEX chunks_length ON chunks (length);
    CREATE VIRTUAL TABLE occurrences USING fts5vocab (words, instance)
"""
UNINDEX = "INSERT INTO words (words, rowid, terms) SELECT 'delete', id, terms FROM chunks WHERE content = ?"
GONE = "SELECT count(*), coalesce(sum(length), 0) FROM chunks WHERE content = ?"
ADD = "INSERT INTO chunks (chunk, content, length, terms) VALUES (?, ?, ?, ?)"
INDEX = "INSERT INTO words (rowid, terms) SELECT id, terms FROM chunks WHERE id > ?"
FIGURES = "SELECT generation, stamp, chunks, words FROM mark"
# One text of all numbers is read three times as fast as a row for each.
LENGTHS = "SELECT group_concat(id), group_concat(length) FROM chunks INDEXED BY chunks_length"
OCCURRENCES = "SELECT group_concat(doc) FROM occurrences WHERE term = ?"
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
            last = connection.execute("SELECT coalesce(max(id), 0) FROM chunks").fetchone()[0]
            connection.executemany(ADD, [(each.chunk, each.content, each.length, each.terms) for each in changes.added])
            connection.execute(INDEX, (last,))
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
        store.terms.update(new)
        if terms:
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
        """Raises sqlite3.DatabaseError where the words do not fit the chunks, or the figures do not."""
        with self._writing() as connection:
            connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")
            said = connection.execute("SELECT chunks, words FROM mark").fetchone()
            there = connection.execute("SELECT count(*), coalesce(sum(length), 0) FROM chunks").fetchone()
        if said != there:
            raise sqlite3.DatabaseError(f"the index says {said} and has {there}")

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
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != FORMAT:
        if version == 1:  # all but what came second is there
            _run(connection, "DROP TABLE frequencies;\n" + SECOND)
        else:
            for name in ("frequencies", "occurrences", "words", "chunks", "mark"):
                connection.execute(f"DROP TABLE IF EXISTS {name}")
            _run(connection, TABLES + ";\n" + SECOND)
        connection.execute(f"PRAGMA user_version={FORMAT}")
    connection.execute("COMMIT")


def _run(connection: sqlite3.Connection, statements: str) -> None:
    for statement in statements.split(";\n"):
        connection.execute(statement)


def _empty(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
    connection.execute("DELETE FROM chunks")
    connection.execute("UPDATE mark SET chunks = 0, words = 0")


def _drop(connection: sqlite3.Connection, contents: Sequence[str]) -> tuple[int, int]:
    """Removes the chunks of contents; how many they were, and of how many words."""
    chunks = words = 0
    for content in contents:
        gone, length = connection.execute(GONE, (content,)).fetchone()
        if gone:
            connection.execute(UNINDEX, (content,))
            connection.execute("DELETE FROM chunks WHERE content = ?", (content,))
            chunks, words = chunks + gone, words + length
    return chunks, words


def _lengths(connection: sqlite3.Connection, version: tuple[object, ...], *, known: bool) -> Store:
    """The rows with their lengths; none of them where nobody will ask."""
    import numpy as np

    ids, lengths = connection.execute(LENGTHS).fetchone() if known else (None, None)
    rows = numbers(ids)
    order = np.argsort(rows)
    return Store(version, rows[order], numbers(lengths)[order].astype(np.float32))


def _occurrences(connection: sqlite3.Connection, store: Store, term: str) -> Occurrences:
    return counted(store.rows, numbers(connection.execute(OCCURRENCES, (term,)).fetchone()[0]))


def _allowed(connection: sqlite3.Connection, store: Store, contents: Collection[str]) -> "np.ndarray":
    """Which rows belong to these contents, bool (n)."""
    import numpy as np

    asked = list(contents)
    found = [np.empty(0, np.int64)]
    for first in range(0, len(asked), AT_ONCE):
        some = asked[first : first + AT_ONCE]
        found.append(numbers(connection.execute(WITHIN.format(",".join("?" * len(some))), some).fetchone()[0]))
    return np.isin(store.rows, np.concatenate(found))
