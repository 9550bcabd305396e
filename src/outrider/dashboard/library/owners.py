"""Whose something is, in words: a scope is a digest, and only those who know a session can name it."""

from dataclasses import dataclass

from outrider.core.known_sessions import KnownSession, list_known_sessions
from outrider.dashboard.access import ResourceOwner
from outrider.dashboard.labels import format_label
from outrider.dashboard.services import DashboardServices
from outrider.workspace.workspaces import derive_key


@dataclass(frozen=True)
class SessionOwners:
    """The sessions that are known, by scope and by the key of their workspace."""

    sessions_by_key: dict[str, KnownSession]

    def describe_owner(self, scope: str) -> str:
        """The session of a scope, or of a workspace's key, as a person knows it; a few digits of one nobody knows."""
        session = self.sessions_by_key.get(derive_key(scope))
        return describe_known_session(session) if session else f"session {scope[:8]}…"

    def find_owner(self, scope: str) -> ResourceOwner:
        """To whom it belongs."""
        session = self.sessions_by_key.get(derive_key(scope))
        return ResourceOwner(session.workspace, session.identity) if session else ResourceOwner()

    def find_keys_by_name(self, text: str) -> set[str]:
        """The keys of workspaces whose session has this text in its name."""
        wanted = text.casefold()
        return {
            key for key, session in self.sessions_by_key.items() if wanted in describe_known_session(session).casefold()
        }


def describe_known_session(session: KnownSession) -> str:
    """A session by its names."""
    names = (session.session, session.identity, session.workspace)
    return " · ".join(format_label(name, limit=60) for name in names if name)


async def load_session_owners(services: DashboardServices) -> SessionOwners:
    """The sessions of the last calls."""
    called = await list_known_sessions(services.database)
    return SessionOwners({derive_key(session.scope): session for session in reversed(called)})
