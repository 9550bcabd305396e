"""List the sessions in the record of calls.

A scope is a hash, so the session, workspace and person behind it must be looked up here.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select

from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.tables import events


@dataclass(frozen=True)
class KnownSession:
    """A session of a person in a workspace; None where the host named none."""

    session: str
    workspace: str | None = None
    identity: str | None = None

    @property
    def scope(self) -> str:
        """The scope of its state (`Call.scope`)."""
        return Call(session=self.session, workspace=self.workspace, identity=self.identity).scope


async def list_known_sessions(database: Database) -> list[KnownSession]:
    """Return the sessions of the newest 20,000 calls, the last used first. Raises Unavailable."""
    columns = (events.c.session, events.c.workspace, events.c.identity)
    newest = select(*columns, events.c.at).order_by(events.c.at.desc()).limit(20_000).subquery()
    names: Any = [newest.c[name] for name in ("session", "workspace", "identity")]
    query = select(*names).group_by(*names).order_by(func.max(newest.c.at).desc())
    async with database.read() as connection:
        return [KnownSession(*row) for row in await connection.execute(query)]
