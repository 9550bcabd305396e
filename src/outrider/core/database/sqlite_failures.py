"""Explain errors of SQLite, by its result codes (sqlite.org/rescode.html)."""

import sqlite3

from outrider.core.errors import Unavailable


class DatabaseDamaged(Unavailable):
    """A file whose pages contradict one another; only a repair helps."""

    retryable = False


class DatabaseLocked(Unavailable):
    """Another process kept its lock for longer than a transaction waits."""


def explain_sqlite_error(place: str, error: Exception, reason: str) -> Unavailable:
    """Return the error for callers.

    Args:
        place: Name of the file. Remote callers do not see its path; `outrider doctor` shows it.
        error: SQLAlchemy's, the driver's or the system's.
        reason: Its message in one line.
    """
    safe_elsewhere = "searching, reading and the browser work without it"
    code = get_result_code(error)
    if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        hint = f"have the operator run `outrider db check`, then `outrider db repair`; {safe_elsewhere}"
        return DatabaseDamaged(f"the database {place} is damaged: {reason}", code="database_damaged", hint=hint)
    message = f"the database {place} cannot be used: {reason}"
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return DatabaseLocked(
            f"{message}: another process is writing to it and did not finish in time (by default 15 seconds)",
            code="database_locked",
            hint="call again; if it stays locked, end the backup, copy or outrider that `outrider doctor` names",
            retry_after=5.0,
        )
    if code == sqlite3.SQLITE_FULL:
        hint = "nothing was stored: free space on the disk of `data_dir`, then call again; no restart is needed"
    elif code in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN}:
        hint = "let Outrider's user write the file and its folder, or set `data_dir`; `outrider doctor` tests it"
    else:
        hint = "free space or fix the permissions of `data_dir`, or set another one; `outrider doctor` tests it"
    return Unavailable(message, code="database", hint=hint)


def get_result_code(error: Exception) -> int | None:
    """Return SQLite's primary result code, or None for another kind of error."""
    extended = getattr(getattr(error, "orig", None) or error, "sqlite_errorcode", None)
    return None if extended is None else extended & 0xFF
