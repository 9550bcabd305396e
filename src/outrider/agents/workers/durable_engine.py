"""Start attempts as workflows of DBOS.

Outrider only uses DBOS to start workflows. The queue (`run_queue`) and the steps of attempts (`steps`) are in its own
tables, because DBOS would save them again in a database and thread of its own. Each attempt is a new workflow: the
workflow of a dead process is not continued, but its run is started again from its rows. Import this module only where
a run starts.
"""

import asyncio
import json
import logging
import sqlite3
import time
import uuid
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from pathlib import Path
from typing import Any

from dbos import DBOS, DBOSConfig, SetWorkflowID
from dbos._dbos import _get_dbos_instance
from dbos._serialization import Serializer
from sqlalchemy import Engine as SqlEngine
from sqlalchemy import create_engine, event, make_url
from sqlalchemy.exc import SQLAlchemyError

from outrider.agents.workers.dbos_tables import delete_old_attempts, prepare_tables
from outrider.core.database.database import Database
from outrider.core.database.engines import build_keepalive_options, create_private_file
from outrider.core.database.failures import explain_error
from outrider.core.errors import NotConfigured

AttemptBody = Callable[[str, int], Awaitable[None]]


class JsonSerializer(Serializer):
    """Serializes DBOS's data as JSON, which unlike its default pickle cannot run code."""

    def serialize(self, data: Any) -> str:
        def to_jsonable(value: Any) -> Any:
            is_error = isinstance(value, Exception)
            return {"args": list(value.args), "kind": type(value).__name__} if is_error else str(value)

        return json.dumps(data, separators=(",", ":"), default=to_jsonable)

    @classmethod
    def deserialize(cls, serialized_data: str) -> Any:
        return json.loads(serialized_data)

    def name(self) -> str:
        return "outrider_json"


class DurableEngine:
    """The durable engine of one worker.

    Args:
        url: The URL of the runs' database; for SQLite, DBOS gets a separate file next to it.
        worker: The worker's name.
        body: Runs an attempt; takes the run id and the number of the attempt.
    """

    def __init__(self, url: str, worker: str, body: AttemptBody) -> None:
        self._url = make_url(url)
        self._worker = worker
        self._body = body
        self._sqlite_engine: SqlEngine | None = None

    async def open(self) -> None:
        """Start the engine, or share one on the same database.

        Another app in this process may have started it.

        Raises Unavailable if the database cannot be used, and NotConfigured if the other app uses another database.
        """
        try:
            await self._open_engine()
        except SQLAlchemyError as error:
            raise explain_error(str(self._url), error) from error

    async def _open_engine(self) -> None:
        global _active_engine  # noqa: PLW0603 - DBOS supports one instance per process
        await prepare_tables(self._url)
        _engines[self._worker] = self
        if _active_engine is not None:
            if _active_engine._url != self._url:  # noqa: SLF001 - another class of ours
                _engines.pop(self._worker)
                raise NotConfigured(
                    "another app in this process already runs agents on another database",
                    hint="close that app first, or open this one in another process",
                    code="agents_elsewhere",
                )
            return
        # DBOS logs a traceback for every lost attempt; their errors are in the rows of the runs.
        logging.getLogger("dbos").setLevel(logging.CRITICAL)
        config: DBOSConfig = {
            "name": "outrider",
            "application_version": "1",  # constant, because every version can continue the runs of another
            "executor_id": self._worker,
            "serializer": JsonSerializer(),
            "log_level": "CRITICAL",
            "max_executor_threads": 32,
            "notification_listener_polling_interval_sec": 1.0,
            "use_listen_notify": False,
            **self._build_database_config(),
        }
        DBOS(config=config)
        try:
            DBOS.launch()  # not in another thread, because workflows run on the event loop that launches it
        except Exception:
            await asyncio.to_thread(self._stop_dbos)
            raise
        # Without this, DBOS waits for an unreachable database in pauses of up to a minute instead of raising an error.
        _get_dbos_instance()._sys_db._retry_connection_errors = False  # noqa: SLF001 - only its client has this option
        _active_engine = self

    async def start_attempt(self, run_id: str, attempt: int) -> None:
        """Start an attempt and return at once. Raises Unavailable."""

        async def start_workflow() -> None:
            with SetWorkflowID(f"{run_id}.{attempt}.{uuid.uuid4().hex[:12]}"):
                await DBOS.start_workflow_async(run_attempt_workflow, run_id, attempt, self._worker)

        try:
            await self._run_detached(start_workflow)
        except SQLAlchemyError as error:
            raise explain_error(str(self._url), error) from error

    async def delete_old_attempts(self, database: Database, before: float) -> int:
        """Delete DBOS's records of attempts started before a time in seconds since the epoch; return their number.

        Returns 0 if another process is doing this. Raises Unavailable.
        """
        if _active_engine is not self:
            return 0
        return await self._run_detached(lambda: delete_old_attempts(database, before))

    async def close(self) -> None:
        """Stop the engine; another process or the next start continues its runs."""
        global _active_engine  # noqa: PLW0603
        _engines.pop(self._worker, None)
        if _active_engine is not self:
            return
        await asyncio.to_thread(self._stop_dbos)
        # DBOS has replaced the loop's executor by its own, which it has just shut down.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(thread_name_prefix="asyncio"))
        _active_engine = None

    def _stop_dbos(self) -> None:
        """Stop DBOS and close its connections to SQLite.

        DBOS leaves them open, because the engine is not its own.
        """
        DBOS.destroy()
        if self._sqlite_engine is not None:
            self._sqlite_engine.dispose()
            self._sqlite_engine = None

    async def run_attempt(self, run_id: str, attempt: int) -> None:
        """Run an attempt to its end."""
        await self._body(run_id, attempt)

    async def _run_detached(self, work: Callable[[], Any]) -> Any:
        """Run `work` in an empty context.

        DBOS then does not take it for a step of the calling attempt.
        """
        await self.open()
        return await asyncio.get_running_loop().create_task(work(), context=Context())

    def _build_database_config(self) -> dict[str, Any]:
        if self._url.get_backend_name() == "sqlite":
            path = Path(self._url.database or "").with_suffix(".work.db")
            # A write-ahead log is much faster, because it rarely waits for the disk.
            busy_timeout_s = 30
            create_private_file(self._url.set(database=str(path)))
            engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": busy_timeout_s})

            @event.listens_for(engine, "connect")
            def set_up_connection(connection: Any, _record: object) -> None:
                connection.isolation_level = "IMMEDIATE"
                if sqlite3.sqlite_version_info < (3, 42):  # DBOS calls unixepoch('subsec') since Python 3.12
                    connection.create_function("unixepoch", 1, lambda _modifier: time.time())
                for pragma in ("journal_mode=WAL", "synchronous=NORMAL", f"busy_timeout={busy_timeout_s * 1000}"):
                    connection.execute(f"PRAGMA {pragma}")

            self._sqlite_engine = engine
            return {"system_database_url": f"sqlite:///{path}", "system_database_engine": self._sqlite_engine}
        return {
            "system_database_url": self._url.set(drivername="postgresql").render_as_string(hide_password=False),
            "db_engine_kwargs": {"connect_args": build_keepalive_options(self._url)},
            "sys_db_pool_size": 2,  # an attempt only needs a connection when it starts and ends
            "run_migrations": False,
        }


_active_engine: DurableEngine | None = None  # the engine that has launched DBOS
_engines: dict[str, DurableEngine] = {}  # all engines of this process, by worker


@DBOS.workflow(name="run", max_recovery_attempts=None)
async def run_attempt_workflow(run_id: str, attempt: int, worker: str) -> str:
    """Run an attempt as a workflow of DBOS."""
    engine = _engines.get(worker)
    if engine is not None:
        await engine.run_attempt(run_id, attempt)
    return run_id
