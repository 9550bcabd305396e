"""Describe the owner of a resource by its session."""

from dataclasses import dataclass

from outrider.core.call_history import KnownSession, list_known_sessions
from outrider.dashboard.access import ResourceOwner
from outrider.dashboard.labels import format_label
from outrider.dashboard.services import DashboardServices
from outrider.workspace.workspaces import derive_key


@dataclass(frozen=True)
class SessionOwners:
    """Known sessions by scope and by workspace key."""

    sessions_by_key: dict[str, KnownSession]

    def describe_owner(self, scope: str) -> str:
        """Return the session's name for a scope or workspace key; a few digits if unknown."""
        session = self.sessions_by_key.get(derive_key(scope))
        return describe_known_session(session) if session else f"session {scope[:8]}…"

    def find_owner(self, scope: str) -> ResourceOwner:
        """Return the owner of a scope."""
        session = self.sessions_by_key.get(derive_key(scope))
        return ResourceOwner(session.workspace, session.identity) if session else ResourceOwner()

    def find_keys_by_name(self, text: str) -> set[str]:
        """Return keys of workspaces whose session name contains this text."""
        needle = text.casefold()
        return {
            key for key, session in self.sessions_by_key.items() if needle in describe_known_session(session).casefold()
        }


def describe_known_session(session: KnownSession) -> str:
    """Describe a session by its names."""
    names = (session.session, session.identity, session.workspace)
    return " · ".join(format_label(name, limit=60) for name in names if name)


async def load_session_owners(services: DashboardServices) -> SessionOwners:
    """Load the sessions of the last calls."""
    called = await list_known_sessions(services.database)
    return SessionOwners({derive_key(session.scope): session for session in reversed(called)})
