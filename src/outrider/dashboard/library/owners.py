"""Whose something is, in words: a scope is a digest, and only those who know a session can name it."""

from dataclasses import dataclass

from outrider.core.sessions import KnownSession, known_sessions
from outrider.dashboard.house import House
from outrider.dashboard.naming import label
from outrider.dashboard.reach import Owner
from outrider.workspace.workspaces import key_of


@dataclass(frozen=True)
class Owners:
    """The sessions that are known, by scope and by the key of their workspace."""

    known: dict[str, KnownSession]

    def said(self, scope: str) -> str:
        """The session of a scope, or of a workspace's key, as a person knows it; a few digits of one nobody knows."""
        session = self.known.get(key_of(scope))
        return words(session) if session else f"session {scope[:8]}…"

    def owner(self, scope: str) -> Owner:
        """To whom it belongs."""
        session = self.known.get(key_of(scope))
        return Owner(session.workspace, session.identity) if session else Owner()

    def called(self, text: str) -> set[str]:
        """The keys of workspaces whose session has this text in its name."""
        wanted = text.casefold()
        return {key for key, session in self.known.items() if wanted in words(session).casefold()}


def words(session: KnownSession) -> str:
    """A session by its names."""
    names = (session.session, session.identity, session.workspace)
    return " · ".join(label(name, limit=60) for name in names if name)


async def owners(house: House) -> Owners:
    """The sessions of the last calls."""
    called = await known_sessions(house.database)
    return Owners({key_of(session.scope): session for session in reversed(called)})
