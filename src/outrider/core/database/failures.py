"""What went wrong with a database, and what is certain about the transaction that met it.

Before COMMIT is sent nothing can have been stored. When the connection is lost while the answer to COMMIT is awaited,
nobody on this side can know: such a transaction is never repeated by us, and never called a success.
"""

from typing import Any

from outrider.core.database.address import get_dialect, get_sqlite_path
from outrider.core.errors import OutriderError, Unavailable


class TransactionInterrupted(Unavailable):
    """A transaction that surely was not stored, and may be when it is done again."""


class TransactionOutcomeUnknown(Unavailable):
    """A transaction of which nobody knows whether it was stored."""


def list_error_types() -> tuple[type[Exception], ...]:
    """What databases raise."""
    import sqlite3

    from sqlalchemy.exc import SQLAlchemyError

    return SQLAlchemyError, sqlite3.Error, OSError


def explain_error(url: str, error: Exception, *, committing: bool = False) -> OutriderError:
    """The failure as an operator would want to hear it; never the statement, its values or a path of the machine.

    Args:
        url: Of the database.
        error: One of `failures`.
        committing: Whether it came in answer to COMMIT.
    """
    retry_after_s = 2.0  # seconds after which a server that is being restarted is worth another call
    # Models and callers far away are not told where: `outrider doctor` says it.
    hint = "free space, or mend the permissions, where `data_dir` is, or set another one; `outrider doctor` tests it"
    # States of SQL, as postgresql.org/docs/current/errcodes-appendix.html lists them.
    retryable_states = frozenset({"40001", "40P01"})  # serialization failure, deadlock: rolled back, may be tried again
    reason = format_reason(error)
    if get_dialect(url) != "postgresql":
        place = path.name if (path := get_sqlite_path(url)) else get_dialect(url)
        return Unavailable(f"the database {place} cannot be used: {reason}", code="database", hint=hint)
    if committing and is_connection_lost(error):
        return TransactionOutcomeUnknown(
            f"the connection to the database was lost while it stored this: {reason}",
            code="database_unsure",
            hint="it may or may not be stored: look before you do it again",
            details={"stored": "unknown"},
        )
    kind = (
        TransactionInterrupted if is_connection_lost(error) or get_sqlstate(error) in retryable_states else Unavailable
    )
    message = f"the database cannot be used: {reason}"
    return kind(
        message,
        code="database",
        hint=_suggest_fix(error),
        retry_after=retry_after_s if kind is TransactionInterrupted else None,
    )


def is_connection_lost(error: Exception) -> bool:
    """Whether it is the connection that failed, or could not be made, and not the statement."""
    shutdown_states = frozenset(
        {"25006", "57P01", "57P02", "57P03"}
    )  # read-only after a failover, shutting down or starting up
    from sqlalchemy.exc import DBAPIError

    if not isinstance(error, DBAPIError):
        return False
    return error.connection_invalidated or get_sqlstate(error) in shutdown_states or _is_cut(error.orig)


def get_sqlstate(error: Exception) -> str:
    """The SQLSTATE that the server gave, or nothing."""
    return getattr(getattr(error, "orig", error), "sqlstate", None) or ""


def format_reason(error: Exception) -> str:
    """The driver's sentence, in one line; of an error of the system, its words without the path."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return (str(getattr(error, "orig", None) or error) or type(error).__name__).splitlines()[0]


def _is_cut(cause: Any) -> bool:
    """An operational error without a state comes from the driver and not from the server: there was no connection."""
    named = {kind.__name__ for kind in type(cause).__mro__}
    return "OperationalError" in named and not getattr(cause, "sqlstate", None)


def _suggest_fix(error: Exception) -> str:
    limit_errors = ("too many clients", "remaining connection slots", "too many connections")
    # What a server says that lets nobody in; with a connection that is not made comes no state.
    access_errors = ("authentication failed", "does not exist", "pg_hba.conf", "permission denied")
    full_states = frozenset({"53100", "53200"})
    said = str(error)
    if any(words in said for words in access_errors):
        return "check the user, the password, their rights and the name in `database`; `outrider doctor` tests it"
    if any(words in said for words in limit_errors):
        return "raise max_connections of the server, or lower `database_connections` of the replicas"
    if "QueuePool" in said:
        return "too much at once for the connections that this process may have: raise `database_connections`"
    if get_sqlstate(error) in full_states:
        return "the server has no space left: free some there"
    return "check that the server in `database` runs and can be reached; `outrider doctor` tests it"
