"""Work that survives its process, on DBOS. Import it only where a run begins.

Three calls: `open`, `close`, and `start` an attempt. Everything else about runs is ours and stands in our own tables:
whose turn it is (`queue`), and the steps of an attempt, each one row that only the worker of the attempt may write,
where DBOS would keep the same again, in a database and a thread of its own. Each start is a workflow by itself: one
that a dead process left behind is not gone on with, but its run is begun anew from its rows.
"""

import asyncio
import json
import logging
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
from outrider.core.database.engines import build_keepalive_options
from outrider.core.database.failures import explain_error
from outrider.core.errors import NotConfigured

AttemptBody = Callable[[str, int], Awaitable[None]]


class JsonSerializer(Serializer):
    """What is kept is JSON: it can be read by people, and by nothing made to run code."""

    def serialize(self, data: Any) -> str:
        return json.dumps(data, separators=(",", ":"), default=_to_jsonable)

    @classmethod
    def deserialize(cls, serialized_data: str) -> Any:
        return json.loads(serialized_data)

    def name(self) -> str:
        return "outrider_json"


def _to_jsonable(value: Any) -> Any:
    return {"args": list(value.args), "kind": type(value).__name__} if isinstance(value, Exception) else str(value)


class DurableEngine:
    """The durable engine of one process.

    Args:
        url: Of the runs' database, as `settings.database_url`; SQLite gets a file of its own beside it.
        worker: This process's name.
        body: Does one attempt: run id and attempt number.
    """

    def __init__(self, url: str, worker: str, body: AttemptBody) -> None:
        self._url = make_url(url)
        self._worker = worker
        self._body = body

    async def open(self) -> None:
        """Begins to work; where another app of this process works on the same database, it works for both.

        Raises Unavailable if the database cannot be used, NotConfigured if that app works on another one.
        """
        try:
            await self._open_engine()
        except SQLAlchemyError as error:
            raise explain_error(str(self._url), error) from error

    async def _open_engine(self) -> None:
        max_threads = 32
        # Attempts are made up of our own rows and of JSON, so every version can go on with what another began.
        app_version = "1"
        app_name = "outrider"
        global _active_engine  # noqa: PLW0603 - DBOS is one per process, and so is what it works for
        await prepare_tables(self._url)
        _engines[self._worker] = self
        if _active_engine is not None:
            if _active_engine._url != self._url:  # noqa: SLF001 - another of our own
                _engines.pop(self._worker)
                raise NotConfigured(
                    "agents are at work in this process already, on another database",
                    hint="close that app first, or open this one in a process of its own",
                    code="agents_elsewhere",
                )
            return
        _quiet()
        config: DBOSConfig = {
            "name": app_name,
            "application_version": app_version,
            "executor_id": self._worker,
            "serializer": JsonSerializer(),
            "log_level": "CRITICAL",
            "max_executor_threads": max_threads,
            "notification_listener_polling_interval_sec": 1.0,
            "use_listen_notify": False,
            **self._build_database_config(),
        }
        DBOS(config=config)
        try:
            DBOS.launch()  # on this thread: attempts run on the event loop of whoever launches
        except Exception:
            await asyncio.to_thread(DBOS.destroy)
            raise
        _impatient()
        _active_engine = self

    async def start_attempt(self, run_id: str, attempt: int) -> None:
        """Starts an attempt and returns at once. Raises Unavailable."""
        try:
            await self._run_detached(lambda: self._start_workflow(run_id, attempt))
        except SQLAlchemyError as error:
            raise explain_error(str(self._url), error) from error

    async def delete_old_attempts(self, database: Database, before: float) -> int:
        """Forgets what DBOS keeps of attempts that were begun before that time (seconds since the epoch); how many.

        Unless another process is at it. Raises Unavailable.
        """
        if _active_engine is not self:
            return 0
        return await self._run_detached(lambda: delete_old_attempts(database, before))

    async def close(self) -> None:
        """Stops working. What is under way is left as it is, for whoever comes next."""
        global _active_engine  # noqa: PLW0603
        _engines.pop(self._worker, None)
        if _active_engine is not self:
            return
        await asyncio.to_thread(DBOS.destroy)
        # DBOS lends the loop its threads and takes them with it.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(thread_name_prefix="asyncio"))
        _active_engine = None

    async def run_attempt(self, run_id: str, attempt: int) -> None:
        """What an attempt consists of."""
        await self._body(run_id, attempt)

    async def _start_workflow(self, run_id: str, attempt: int) -> None:
        with SetWorkflowID(f"{run_id}.{attempt}.{uuid.uuid4().hex[:12]}"):
            await DBOS.start_workflow_async(run_attempt_workflow, run_id, attempt, self._worker)

    async def _run_detached(self, work: Callable[[], Any]) -> Any:
        """Away from the attempt that may be calling: what one starts is no step of its own."""
        await self.open()
        return await asyncio.get_running_loop().create_task(work(), context=Context())

    def _build_database_config(self) -> dict[str, Any]:
        max_connections = 2  # to Postgres: an attempt needs one for a moment when it begins and when it ends
        if self._url.get_backend_name() != "sqlite":
            address = self._url.set(drivername="postgresql").render_as_string(hide_password=False)
            lively = {"connect_args": build_keepalive_options(self._url)}
            few = {"sys_db_pool_size": max_connections, "run_migrations": False}
            return {"system_database_url": address, "db_engine_kwargs": lively, **few}
        path = Path(self._url.database or "").with_suffix(".work.db")
        return {"system_database_url": f"sqlite:///{path}", "system_database_engine": _create_sqlite_engine(path)}


_active_engine: DurableEngine | None = None  # the one that has launched DBOS
_engines: dict[str, DurableEngine] = {}  # all of this process, by worker


@DBOS.workflow(name="run", max_recovery_attempts=None)
async def run_attempt_workflow(run_id: str, attempt: int, worker: str) -> str:
    """One attempt of a run, as DBOS knows it."""
    engine = _engines.get(worker)
    if engine is not None:
        await engine.run_attempt(run_id, attempt)
    return run_id


def _create_sqlite_engine(path: Path) -> SqlEngine:
    """An engine with a write-ahead log that is not forced to disk at every step: 0.8 ms a step instead of 13."""
    busy_timeout_s = 30
    path.parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": busy_timeout_s})

    @event.listens_for(engine, "connect")
    def set_pragmas(connection: Any, _record: object) -> None:
        connection.isolation_level = "IMMEDIATE"
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", f"busy_timeout={busy_timeout_s * 1000}"):
            connection.execute(f"PRAGMA {pragma}")

    return engine


def _impatient() -> None:
    """A database that is away is an error at once: DBOS would wait in ever longer pauses, up to a minute."""
    _get_dbos_instance()._sys_db._retry_connection_errors = False  # noqa: SLF001 - an option of its client only


def _quiet() -> None:
    """DBOS logs every lost attempt with its trace; ours are in the runs' rows."""
    logging.getLogger("dbos").setLevel(logging.CRITICAL)
