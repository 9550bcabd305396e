"""Read a database's version, size, latency and load."""

import time
from dataclasses import dataclass

from sqlalchemy import Connection

from outrider.core.database import address
from outrider.core.database.database import Database
from outrider.core.database.migration import find_head_revision, read_revision

SIZE_SQL = {
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
    "postgresql": "SELECT pg_database_size(current_database())",
}


@dataclass(frozen=True)
class DatabaseStatus:
    """The status of a database.

    Attributes:
        place: File or server, without password.
        version: Version of SQLite or of the server.
        revision: Revision of the schema; None for an empty database.
        newest: The revision that this version of Outrider creates.
        size: Size in bytes.
        milliseconds: Round trip of one query, the best of three.
        connections: Open connections to the server, of all its clients; None for SQLite.
        most_connections: Maximum number of connections of the server.
        clock: Seconds that the server's clock is ahead.
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


async def read_database_status(database: Database) -> DatabaseStatus:
    """Query the status. Raises Unavailable."""
    dialect = database.dialect

    def query_status(connection: Connection) -> tuple[str | None, str, int, int | None, int | None]:
        version_sql = {"sqlite": "SELECT sqlite_version()", "postgresql": "SHOW server_version"}
        connections_sql = """
            SELECT (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
            current_setting('max_connections')::int
        """
        version = str(connection.exec_driver_sql(version_sql[dialect]).scalar_one())
        size = int(connection.exec_driver_sql(SIZE_SQL[dialect]).scalar_one())
        in_use, maximum = connection.exec_driver_sql(connections_sql).one() if database.is_shared else (None, None)
        return read_revision(connection), version, size, in_use, maximum

    revision, version, size, connections, max_connections = await database.run_transaction(query_status, write=False)
    latencies_s = []
    for _ in range(3):
        started = time.perf_counter()
        await database.run_transaction(lambda connection: connection.exec_driver_sql("SELECT 1").scalar(), write=False)
        latencies_s.append(time.perf_counter() - started)
    return DatabaseStatus(
        place=address.redact_url(database.url),
        dialect=dialect,
        version=version,
        revision=revision,
        newest=find_head_revision(),
        size=size,
        milliseconds=round(1000 * min(latencies_s), 2),
        connections=connections,
        most_connections=max_connections,
        clock=round(database.now() - time.time(), 3),
    )
