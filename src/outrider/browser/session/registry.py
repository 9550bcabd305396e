"""Register browser sessions in the database that several processes share.

A session lives in one process. Others find here which one that is and, when it has ended, the session's address,
cookies and storage, so that they can reopen it under the same id.
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
    """Encrypts private data for the database."""

    def seal(self, payload: bytes) -> str: ...

    def unseal(self, token: str) -> bytes: ...


@dataclass(frozen=True)
class SessionRecord:
    """A session as other processes know it.

    Attributes:
        replica: The process that runs it.
        memory: Its cookies and local storage, encrypted.
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
    """The sessions of all processes.

    Args:
        database: The database that the processes share.
        replica: This process's name.
        encryptor: Encrypts cookies and storage.
    """

    def __init__(self, database: Database, replica: str, encryptor: StateEncryptor) -> None:
        self._database = database
        self._replica = replica
        self._encryptor = encryptor
        self._saved_stamps: dict[str, tuple[Any, ...]] = {}

    async def save_session(self, session: "Session") -> None:
        """Save the session's record if it has changed. Raises Unavailable."""
        max_state_chars = 2_000_000  # larger states are not saved
        memory = json.dumps(session.stored_state) if session.stored_state else ""
        stamp = (session.url, session.status, session.known_title, hashlib.sha256(memory.encode()).digest())
        if self._saved_stamps.get(session.id) == stamp:
            return
        options = asdict(session.options)
        options["workspace"] = str(folder) if (folder := session.options.workspace) else None
        row = {
            "id": session.id,
            "owner": to_storable_text(session.owner, 200),
            "replica": self._replica,
            "url": to_storable_text(session.url, 8_000),
            "title": to_storable_text(session.known_title, 500),
            "status": session.status,
            "options": options,
            "memory": self._encryptor.seal(memory.encode()) if 0 < len(memory) <= max_state_chars else None,
            "created_at": session.created_at,
            "used_at": session.used_at,
        }
        statement = self._database.build_upsert(browser_sessions, row, key="id")
        await self._database.run_transaction(lambda connection: connection.execute(statement), write=True)
        self._saved_stamps[session.id] = stamp

    async def save_sessions(self, sessions: "Sequence[Session]") -> None:
        """Save the records of several sessions. Raises Unavailable."""
        for session in sessions:
            await self.save_session(session)

    async def delete_session(self, session_id: str) -> None:
        """Delete the record of a closed session; a failure is only logged, because old records are deleted later."""
        self._saved_stamps.pop(session_id, None)
        statement = delete(browser_sessions).where(browser_sessions.c.id == session_id)
        try:
            await self._database.run_transaction(lambda connection: connection.execute(statement), write=True)
        except OutriderError as error:
            log.warning("the record of a closed browser session remains: %s", error)

    async def find_session(self, owner: str, session_id: str) -> SessionRecord | None:
        """Find an owner's session in any process. Raises Unavailable."""
        records = await self._select_records(
            table.c.id == to_storable_text(session_id, 40), table.c.owner == to_storable_text(owner, 200)
        )
        return records[0] if records else None

    async def list_remote(self, owner: str | None = None) -> list[SessionRecord]:
        """List the sessions in other processes, of an owner or all, oldest first. Raises Unavailable."""
        conditions = [table.c.owner == to_storable_text(owner, 200)] if owner is not None else []
        return await self._select_records(table.c.replica != self._replica, *conditions)

    async def claim_session(self, record: SessionRecord) -> bool:
        """Take over a session of a process that has ended; False if another was faster. Raises Unavailable."""
        is_unclaimed = table.c.id == record.id, table.c.replica == record.replica
        statement = update(table).where(*is_unclaimed).values(replica=self._replica)
        return await self._database.run_transaction(
            lambda connection: connection.execute(statement).rowcount == 1, write=True
        )

    async def delete_stale(self, unused_since: float) -> None:
        """Delete the records of sessions in other processes that are unused since then. Raises Unavailable."""
        statement = delete(table).where(table.c.used_at < unused_since, table.c.replica != self._replica)
        await self._database.run_transaction(lambda connection: connection.execute(statement), write=True)

    def decrypt_memory(self, record: SessionRecord) -> dict[str, Any] | None:
        """Decrypt a session's cookies and storage; None if there are none or the key has changed."""
        if record.memory is None:
            return None
        try:
            return json.loads(self._encryptor.unseal(record.memory))
        except Exception as error:  # noqa: BLE001 - as many kinds as libraries
            log.warning(
                "the stored state of browser session %s cannot be decrypted: %s", record.id, type(error).__name__
            )
            return None

    async def _select_records(self, *conditions: Any) -> list[SessionRecord]:
        query = select(table).where(*conditions).order_by(table.c.created_at)

        def load_records(connection: "Connection") -> list[SessionRecord]:
            return [SessionRecord(**row) for row in connection.execute(query).mappings()]

        return await self._database.run_transaction(load_records, write=False)


def parse_options(record: SessionRecord) -> SessionOptions:
    """Return the options that the session was opened with."""
    facts = dict(record.options)
    folder, size = facts.get("workspace"), facts.get("size")
    facts |= {"workspace": Path(folder) if folder else None, "size": tuple(size) if size else None}
    facts["protected"] = tuple(facts.get("protected", ()))
    return SessionOptions(**facts)
