"""Run short SQLite transactions one after another in a thread.

With the asynchronous driver, even a single insert needs a dozen round trips to the driver's thread.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine

ResultT = TypeVar("ResultT")


class SqliteExecutor:
    """A connection that is used in one thread only.

    Args:
        engine: Synchronous; its begin event reads the option `outrider_write`.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="outrider-sqlite")
        self._connection: Connection | None = None

    async def run(self, work: Callable[[Connection], ResultT], *, write: bool) -> ResultT:
        """Run the work in a transaction and return its result; an exception rolls back."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._run_in_thread, work, write)

    async def close(self) -> None:
        """Close the connection and end the thread."""

        def close_in_thread() -> None:
            self._drop_connection()
            self._engine.dispose()

        await asyncio.get_running_loop().run_in_executor(self._thread, close_in_thread)
        self._thread.shutdown()

    def _run_in_thread(self, work: Callable[[Connection], Any], write: bool) -> Any:
        if self._connection is None:
            self._connection = self._engine.connect()
        try:
            self._connection.execution_options(outrider_write=write)
            with self._connection.begin():
                return work(self._connection)
        except BaseException:
            self._drop_connection()
            raise

    def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
