"""How a database stands: for people and for `outrider doctor`."""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from outrider.core.database import address
from outrider.core.database.migration import find_head_revision, read_revision

if TYPE_CHECKING:
    from outrider.core.db import Database

SIZE_SQL = {
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
    "postgresql": "SELECT pg_database_size(current_database())",
}
VERSION_SQL = {"sqlite": "SELECT sqlite_version()", "postgresql": "SHOW server_version"}
CONNECTIONS_SQL = """
    SELECT (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
    current_setting('max_connections')::int
"""


@dataclass(frozen=True)
class DatabaseStatus:
    """What was found.

    Attributes:
        place: File or server, without password.
        version: Of SQLite or of the server.
        revision: Of the schema; None in an empty database.
        newest: The revision that this version of Outrider makes.
        size: In bytes.
        milliseconds: For one question and its answer, the best of three.
        connections: To the server at this moment, of all its clients; None for SQLite.
        most_connections: That the server allows.
        clock: Seconds that the server's clock is ahead of ours.
    """

    place: str
    dialect: str
    version: str
    revision: str | None
    newest: str
    size: int
    milliseconds: float
    connections: int | None = None
    most_connections: int | None = None
    clock: float = 0.0


async def read_database_status(database: "Database") -> DatabaseStatus:
    """Looks. Raises Unavailable."""
    found, version, size, crowd = await database.run_transaction(
        lambda each: _query_status(each, database.dialect), write=False
    )
    return DatabaseStatus(
        place=address.redact_url(database.url),
        dialect=database.dialect,
        version=version,
        revision=found,
        newest=find_head_revision(),
        size=size,
        milliseconds=round(1000 * min([await _measure_latency(database) for _ in range(3)]), 2),
        connections=crowd[0] if crowd else None,
        most_connections=crowd[1] if crowd else None,
        clock=round(database.now() - time.time(), 3),
    )


def _query_status(connection: "Connection", dialect: str) -> tuple[str | None, str, int, tuple[int, int] | None]:
    version = str(connection.exec_driver_sql(VERSION_SQL[dialect]).scalar_one())
    size = int(connection.exec_driver_sql(SIZE_SQL[dialect]).scalar_one())
    crowd = connection.exec_driver_sql(CONNECTIONS_SQL).one() if dialect == "postgresql" else None
    return read_revision(connection), version, size, (int(crowd[0]), int(crowd[1])) if crowd else None


async def _measure_latency(database: "Database") -> float:
    started = time.perf_counter()
    await database.run_transaction(lambda connection: connection.exec_driver_sql("SELECT 1").scalar(), write=False)
    return time.perf_counter() - started
