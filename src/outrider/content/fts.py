"""A keyword index in files: one SQLite database with FTS5 a store, derived from the rows and made anew at need.

A file a store, because deleting a store is then deleting a file (0.24 ms against seconds), and because
a search in one store does not read the words of the others.
"""

import logging
import secrets
import shutil
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import anyio.to_thread

from outrider.content.index import Candidates, Changes, Mark, Posting
from outrider.core.errors import Unavailable

log = logging.getLogger(__name__)
T = TypeVar("T")
FORMAT = 1  # counts changes of the tables below, and of how terms are made; another number is built anew
BUSY_SECONDS = 15.0
COMMON = 0.3  # share of the chunks beyond which a term is left out of the first look
ENOUGH = 20  # candidates that make a second look needless
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
    CREATE VIRTUAL TABLE frequencies USING fts5vocab (words, row);
    INSERT INTO mark VALUES (1, 0, '', 0, 0);
"""
UNINDEX = "INSERT INTO words (words, rowid, terms) SELECT 'delete', id, terms FROM chunks WHERE content = ?"
GONE = "SELECT count(*), coalesce(sum(length), 0) FROM chunks WHERE content = ?"
ADD = "INSERT INTO chunks (chunk, content, length, terms) VALUES (?, ?, ?, ?)"
INDEX = "INSERT INTO words (rowid, terms) SELECT id, terms FROM chunks WHERE id > ?"
FIND = """
    SELECT chunks.chunk, chunks.length, chunks.terms
    FROM words JOIN chunks ON chunks.id = words.rowid
    WHERE words MATCH ? {within} ORDER BY words.rank LIMIT ?
"""


class FtsIndex:
    """The keyword index of each store in a file of its own.

    Args:
        folder: Where the files are; made at first use.
        most: How many of them are held open at once.
    """

    def __init__(self, folder: Path, *, most: int = 32) -> None:
        self._folder = folder
        self._most = most
        self._open: OrderedDict[str, StoreFile] = OrderedDict()
        self._opening = threading.Lock()

    async def generation(self, store: str) -> Mark:
        """Up to where the index reflects the store."""
        return await self._in_thread(store, StoreFile.mark)

    async def apply(self, changes: Changes, *, seen: Mark) -> bool:
        """Takes the changes over in one transaction, unless another process was faster."""
        return await self._in_thread(changes.store, lambda file: file.apply(changes, seen))

    async def candidates(
        self, terms: Collection[str], stores: Sequence[str], limit: int, *, within: Collection[str] | None = None
    ) -> Candidates:
        """The likeliest chunks of each store by FTS5's own ranking, and the figures of all searched stores."""
        wanted = list(terms)
        found = [await self._in_thread(each, lambda file: file.find(wanted, limit, within)) for each in stores]
        return Candidates.of_all(found)

    async def rebuild(self, store: str) -> None:
        """Removes the store's file."""
        await anyio.to_thread.run_sync(self._remove, store)

    async def close(self) -> None:
        """Closes all files."""
        with self._opening:
            files, self._open = list(self._open.values()), OrderedDict()
        for file in files:
            await anyio.to_thread.run_sync(file.close)

    async def _in_thread(self, store: str, work: "Callable[[StoreFile], T]") -> T:
        return await anyio.to_thread.run_sync(self._do, store, work)

    def _do(self, store: str, work: "Callable[[StoreFile], T]") -> T:
        """Does the work; a file that is damaged is replaced by an empty one, which then is behind."""
        try:
            return self._worked(store, work)
        except sqlite3.OperationalError as error:
            raise _unusable(self._folder, error) from error
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:  # only the plain one means a damaged file
                raise
            log.warning("the keyword index of %s is damaged (%s) and made anew", store, error)
            self._remove(store)
        try:
            return self._worked(store, work)
        except (sqlite3.Error, OSError) as error:
            raise _unusable(self._folder, error) from error

    def _worked(self, store: str, work: "Callable[[StoreFile], T]") -> T:
        while True:
            file = self._file(store)
            with file.lock:
                if not file.closed:
                    return work(file)

    def _file(self, store: str) -> "StoreFile":
        with self._opening:
            file = self._open.pop(store, None) or StoreFile(self._folder, store)
            self._open[store] = file
            spare = [self._open.popitem(last=False)[1] for _ in range(len(self._open) - self._most)]
        for each in spare:
            each.close()
        return file

    def _remove(self, store: str) -> None:
        with self._opening:
            file = self._open.pop(store, None)
        if file is not None:
            file.close()
        try:
            shutil.rmtree(self._folder / store)
        except FileNotFoundError:
            return
        except OSError as error:
            raise _unusable(self._folder, error) from error


class StoreFile:
    """The index of one store; opened at first use. Whoever works with it holds its `lock`."""

    def __init__(self, folder: Path, store: str) -> None:
        self.lock = threading.Lock()
        self.closed = False
        self._folder = folder
        self._store = store
        self._connected: sqlite3.Connection | None = None

    def mark(self) -> Mark:
        """Up to where it reflects the store."""
        row = self._connection().execute("SELECT generation, stamp FROM mark").fetchone()
        return Mark(*row)

    def apply(self, changes: Changes, seen: Mark) -> bool:
        """Takes changes over; False if the file is no longer where they start from."""
        with self._writing() as connection:
            if self.mark() != seen:
                return False
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

    def find(self, terms: Sequence[str], limit: int, within: Collection[str] | None) -> Candidates:
        """The chunks that have any of the terms, the likeliest first."""
        connection = self._connection()
        with _reading(connection):
            chunks, words = connection.execute("SELECT chunks, words FROM mark").fetchone()
            frequency = dict(_frequencies(connection, terms))
            rows = _likeliest(connection, frequency, chunks, limit, within)
            postings = [
                Posting(chunk, self._store, length, _counts(text.split(" "), frequency)) for chunk, length, text in rows
            ]
        return Candidates(postings, chunks, words, frequency)

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
            self._connected = connection
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
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    if connection.execute("PRAGMA user_version").fetchone()[0] == FORMAT:
        return
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("PRAGMA user_version").fetchone()[0] != FORMAT:
        for name in ("frequencies", "words", "chunks", "mark"):
            connection.execute(f"DROP TABLE IF EXISTS {name}")
        for statement in TABLES.split(";\n"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version={FORMAT}")
    connection.execute("COMMIT")


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


def _frequencies(connection: sqlite3.Connection, terms: Sequence[str]) -> Iterator[tuple[str, int]]:
    for term in terms:
        row = connection.execute("SELECT doc FROM frequencies WHERE term = ?", (term,)).fetchone()
        if row is not None:
            yield term, row[0]


def _likeliest(
    connection: sqlite3.Connection,
    frequency: Mapping[str, int],
    chunks: int,
    limit: int,
    within: Collection[str] | None,
) -> list[tuple[str, int, str]]:
    """Candidates by the rarer terms alone, where these find some: those that most chunks have hardly count."""
    rare = [term for term, count in frequency.items() if count <= chunks * COMMON]
    found = list(_rows(connection, rare, limit, within))
    if len(found) >= min(ENOUGH, limit) or len(rare) == len(frequency):
        return found
    return list(_rows(connection, list(frequency), limit, within))


def _rows(
    connection: sqlite3.Connection, terms: Sequence[str], limit: int, within: Collection[str] | None
) -> Iterator[tuple[str, int, str]]:
    if not terms:
        return
    query = " OR ".join(f'"{term}"' for term in terms)
    if within is None:
        yield from connection.execute(FIND.format(within=""), (query, limit))
        return
    contents = list(within)
    for first in range(0, len(contents), AT_ONCE):
        some = contents[first : first + AT_ONCE]
        marks = f"AND chunks.content IN ({','.join('?' * len(some))})"
        yield from connection.execute(FIND.format(within=marks), (query, *some, limit))


def _counts(words: list[str], terms: Collection[str]) -> dict[str, int]:
    return {term: count for term in terms if (count := words.count(term))}


def _unusable(folder: Path, error: Exception) -> Unavailable:
    return Unavailable(
        f"the keyword index in {folder.name} cannot be used: {error}",
        code="index",
        hint="check free space and permissions of data_dir; `outrider content rebuild` makes it anew",
    )
