"""Audit of tool calls and of changes to identities.

Tool calls come from `core/events`. Entries are never changed, only deleted when they expire.
"""

import time
import uuid
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, literal, select, union_all

from outrider.core.database.database import Database, to_storable_text
from outrider.core.tables import events
from outrider.identity.tables import audit, counters


@dataclass(frozen=True)
class AuditEntry:
    """An action of a person, or one that was refused.

    Attributes:
        at: Seconds since the epoch.
        person: The person; None for an unauthenticated caller, and for the operator at the command line.
        credential: The id of the token, or `oauth:` and the client's id.
        action: `call`, `refused`, `token.create`, `token.revoke`, `workspace.create`, `member.add`, `member.remove`,
            or what was decided on the dashboard: `flow.approve`, `flow.unapprove`, `question.answer`.
        outcome: `ok`, or the code of an error.
        detail: The tool of a call, else the object of the action.
    """

    at: float
    person: str | None
    credential: str | None
    workspace: str | None
    address: str | None
    action: str
    outcome: str
    detail: str


class Audit:
    """The audit in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(
        self,
        action: str,
        detail: str,
        *,
        person: str | None = None,
        credential: str | None = None,
        workspace: str | None = None,
        address: str | None = None,
        outcome: str = "ok",
    ) -> None:
        """Save an entry. Raises Unavailable."""
        row = {
            "id": str(uuid.uuid4()),
            "at": time.time(),
            "person": _truncate_text(person, 200),
            "credential": _truncate_text(credential, 200),
            "workspace": _truncate_text(workspace, 200),
            "address": _truncate_text(address, 64),
            "action": action,
            "outcome": to_storable_text(outcome, 64),
            "detail": to_storable_text(detail, 500),
        }
        async with self._database.write() as connection:
            await connection.execute(audit.insert(), [row])

    async def list_recent(
        self, limit: int = 50, *, person: str = "", workspace: str = "", since: float = 0.0
    ) -> list[AuditEntry]:
        """Return actions and tool calls, the newest first, optionally of a person or in a workspace only."""
        actions = select(*(audit.c[name] for name in AuditEntry.__dataclass_fields__))
        calls = select(
            events.c.at,
            events.c.identity.label("person"),
            events.c.credential,
            events.c.workspace,
            events.c.address,
            literal("call").label("action"),
            events.c.outcome,
            events.c.tool.label("detail"),
        )
        entries = union_all(actions, calls).subquery()
        query = select(entries).where(entries.c.at >= since).order_by(entries.c.at.desc()).limit(limit)
        for column, value in ((entries.c.person, person), (entries.c.workspace, workspace)):
            if value:
                query = query.where(column == to_storable_text(value, 200))
        async with self._database.read() as connection:
            rows: Any = (await connection.execute(query)).mappings()
            return [AuditEntry(**row) for row in rows]

    async def delete_expired(self, days: float) -> int:
        """Delete older entries and old quota counters; return the number of entries. Raises Unavailable."""
        day_s = 86_400
        now = time.time()
        async with self._database.write() as connection:
            await connection.execute(delete(counters).where(counters.c.window < int(now) - day_s))
            return (await connection.execute(delete(audit).where(audit.c.at < now - days * day_s))).rowcount


def _truncate_text(text: str | None, limit: int) -> str | None:
    return None if text is None else to_storable_text(text, limit)
