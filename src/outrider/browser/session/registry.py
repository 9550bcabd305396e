"""Which browser sessions there are in all processes that share a database, and what is needed to open one again.

A session lives in one process. The others find here which one that is; and when it is dead, where the session was and
what its sites had stored, so that it can be opened again elsewhere under the same name.
"""

import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import Connection, delete, select, update

from outrider.browser.session.options import SessionOptions
from outrider.browser.session.session import Session
from outrider.browser.session.tables import browser_sessions
from outrider.browser.session.tables import browser_sessions as table
from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import OutriderError

log = logging.getLogger(__name__)


class StateEncryptor(Protocol):
    """Hides what is private in what is written down."""

    def seal(self, payload: bytes) -> str: ...

    def unseal(self, token: str) -> bytes: ...


@dataclass(frozen=True)
class SessionRecord:
    """A session as the others know it.

    Attributes:
        replica: The process that it lives in.
        memory: Its cookies and local storage, sealed.
    """

    id: str
    owner: str
    replica: str
    url: str
    title: str
    status: str
    options: dict[str, Any]
    memory: str | None
    created_at: float
    used_at: float


class SessionRegistry:
    """All sessions of all processes.

    Args:
        database: What the processes share.
        replica: This process's name.
        seal: For what sites have stored.
    """

    def __init__(self, database: Database, replica: str, seal: StateEncryptor) -> None:
        self._database = database
        self._replica = replica
        self._seal = seal
        self._saved_stamps: dict[str, tuple[Any, ...]] = {}

    async def save_session(self, session: "Session") -> None:
        """Writes down how the session is, if that has changed. Raises Unavailable."""
        max_state_chars = 2_000_000  # characters of stored state that are kept for a session
        memory = json.dumps(session.stored_state) if session.stored_state else ""
        stamp = (session.url, session.status, session.known_title, hashlib.sha256(memory.encode()).digest())
        if self._saved_stamps.get(session.id) == stamp:
            return
        row = {
            "id": session.id,
            "owner": to_storable_text(session.owner, 200),
            "replica": self._replica,
            "url": to_storable_text(session.url, 8_000),
            "title": to_storable_text(session.known_title, 500),
            "status": session.status,
            "options": _serialize_options(session.options),
            "memory": self._seal.seal(memory.encode()) if 0 < len(memory) <= max_state_chars else None,
            "created_at": session.created_at,
            "used_at": session.used_at,
        }
        statement = self._database.build_upsert(browser_sessions, row, key="id")
        await self._database.run_transaction(lambda connection: connection.execute(statement), write=True)
        self._saved_stamps[session.id] = stamp

    async def save_sessions(self, sessions: "Sequence[Session]") -> None:
        """Writes down how all of them are. Raises Unavailable."""
        for session in sessions:
            await self.save_session(session)

    async def delete_session(self, session_id: str) -> None:
        """A session was closed; a database that is away learns of it when its owner is dead."""
        self._saved_stamps.pop(session_id, None)
        gone = delete(browser_sessions).where(browser_sessions.c.id == session_id)
        try:
            await self._database.run_transaction(lambda connection: connection.execute(gone), write=True)
        except OutriderError as error:
            log.warning("a closed browser session is still known to the others: %s", error)

    async def find_session(self, owner: str, session_id: str) -> SessionRecord | None:
        """An owner's session, wherever it lives. Raises Unavailable."""
        found = await self._select_records(
            table.c.id == to_storable_text(session_id, 40), table.c.owner == to_storable_text(owner, 200)
        )
        return found[0] if found else None

    async def list_remote(self, owner: str | None = None) -> list[SessionRecord]:
        """The sessions in other processes, of an owner or all, oldest first. Raises Unavailable."""
        theirs = [table.c.owner == to_storable_text(owner, 200)] if owner is not None else []
        return await self._select_records(table.c.replica != self._replica, *theirs)

    async def claim_session(self, record: SessionRecord) -> bool:
        """Makes a dead process's session this one's; False if another was faster. Raises Unavailable."""
        same = table.c.id == record.id, table.c.replica == record.replica
        change = update(table).where(*same).values(replica=self._replica)
        return await self._database.run_transaction(
            lambda connection: connection.execute(change).rowcount == 1, write=True
        )

    async def delete_stale(self, unused_since: float) -> None:
        """Forgets sessions that nobody has used since then. Raises Unavailable."""
        old = delete(table).where(table.c.used_at < unused_since, table.c.replica != self._replica)
        await self._database.run_transaction(lambda connection: connection.execute(old), write=True)

    def decrypt_memory(self, record: SessionRecord) -> dict[str, Any] | None:
        """What the session's sites had stored; None where nothing is known or the key is another."""
        if record.memory is None:
            return None
        try:
            return json.loads(self._seal.unseal(record.memory))
        except Exception as error:  # noqa: BLE001 - as many kinds as libraries
            log.warning("what browser session %s had stored cannot be opened: %s", record.id, type(error).__name__)
            return None

    async def _select_records(self, *conditions: Any) -> list[SessionRecord]:

        query = select(table).where(*conditions).order_by(table.c.created_at)

        def load_records(connection: "Connection") -> list[SessionRecord]:
            return [SessionRecord(**row) for row in connection.execute(query).mappings()]

        return await self._database.run_transaction(load_records, write=False)


def _serialize_options(options: SessionOptions) -> dict[str, Any]:
    facts = asdict(options)
    facts["download_folder"] = str(options.download_folder) if options.download_folder else None
    return facts


def parse_options(record: SessionRecord) -> SessionOptions:
    """How the session was opened."""
    facts = dict(record.options)
    folder, size = facts.get("download_folder"), facts.get("size")
    facts |= {"download_folder": Path(folder) if folder else None, "size": tuple(size) if size else None}
    return SessionOptions(**facts)
