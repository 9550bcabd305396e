"""Explain database errors, and classify the outcome of failed transactions.

Before COMMIT is sent, nothing can have been stored. When the connection is lost while the answer to COMMIT is awaited,
the outcome cannot be known on this side: such a transaction is never repeated, and never reported as a success.
"""

import sqlite3

from outrider.core.database.address import get_dialect, get_sqlite_path
from outrider.core.errors import OutriderError, Unavailable


class TransactionInterrupted(Unavailable):
    """A transaction that was certainly not stored, and may succeed when repeated."""


class TransactionOutcomeUnknown(Unavailable):
    """A transaction that may or may not have been stored."""


def list_error_types() -> tuple[type[Exception], ...]:
    """Return the exception types that database operations raise."""
    import sqlite3

    from sqlalchemy.exc import SQLAlchemyError

    return SQLAlchemyError, sqlite3.Error, OSError


def explain_error(url: str, error: Exception, *, committing: bool = False) -> OutriderError:
    """Return the error for callers, without the statement, its values or local paths.

    Args:
        url: Address of the database.
        error: One of `list_error_types`.
        committing: Whether it came in answer to COMMIT.
    """
    reason = format_reason(error)
    if get_dialect(url) != "postgresql":
        place = path.name if (path := get_sqlite_path(url)) else get_dialect(url)
        return explain_sqlite_error(place, error, reason)
    connection_lost = is_connection_lost(error)
    if committing and connection_lost:
        return TransactionOutcomeUnknown(
            f"the connection to the database was lost while it stored this: {reason}",
            code="database_unsure",
            hint="it may or may not be stored: check before you repeat the call",
            details={"stored": "unknown"},
        )
    message, hint = f"the database cannot be used: {reason}", _suggest_fix(error)
    # Serialization failure and deadlock: rolled back by the server, may be tried again
    # (postgresql.org/docs/current/errcodes-appendix.html).
    if connection_lost or get_sqlstate(error) in {"40001", "40P01"}:
        return TransactionInterrupted(message, code="database", hint=hint, retry_after=2.0)
    return Unavailable(message, code="database", hint=hint)


def is_connection_lost(error: Exception) -> bool:
    """Return whether the connection failed or could not be made, rather than the statement."""
    from sqlalchemy.exc import DBAPIError

    if not isinstance(error, DBAPIError):
        return False
    # Read-only after a failover, shutting down, starting up.
    if error.connection_invalidated or get_sqlstate(error) in {"25006", "57P01", "57P02", "57P03"}:
        return True
    # An operational error without a state comes from the driver, not the server: there was no connection.
    type_names = {kind.__name__ for kind in type(error.orig).__mro__}
    return "OperationalError" in type_names and not getattr(error.orig, "sqlstate", None)


def get_sqlstate(error: Exception) -> str:
    """Return the server's SQLSTATE, or an empty string."""
    return getattr(getattr(error, "orig", error), "sqlstate", None) or ""


def format_reason(error: Exception) -> str:
    """Return the driver's message in one line; for an error of the system, its message without the path."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return (str(getattr(error, "orig", None) or error) or type(error).__name__).splitlines()[0]


def _suggest_fix(error: Exception) -> str:
    # Failed connections carry no SQLSTATE, so the server's message must be read.
    access_errors = ("authentication failed", "does not exist", "pg_hba.conf", "permission denied")
    limit_errors = ("too many clients", "remaining connection slots", "too many connections")
    text = str(error)
    if any(words in text for words in access_errors):
        return "check the user, the password, their rights and the name in `database`; `outrider doctor` tests it"
    if any(words in text for words in limit_errors):
        return "raise max_connections of the server, or lower `database_connections` of the replicas"
    if "QueuePool" in text:
        return "all connections of this process are in use: raise `database_connections`"
    if get_sqlstate(error) in {"53100", "53200"}:
        return "the server is out of space: free some there"
    return "check that the server in `database` runs and can be reached; `outrider doctor` tests it"


class DatabaseDamaged(Unavailable):
    """The file's pages contradict one another; only a repair helps."""

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
