"""The person behind a signed-in browser."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection

from outrider.core.database.database import Database
from outrider.identity import token_format

if TYPE_CHECKING:
    from outrider.identity.principal import Principal


@dataclass(frozen=True)
class Viewer:
    """A signed-in browser.

    Attributes:
        browser: A random name, the same for its tabs.
        person: Its person, if they signed in with their own token.
        credential: The id of that token.
    """

    browser: str
    person: str = ""
    credential: str = ""

    def __str__(self) -> str:
        """Return the name shown next to this viewer's decisions."""
        return f"{self.person} (dashboard)" if self.person else f"dashboard (browser {self.browser[:4]})"


TokenCheck = Callable[[str, str], Awaitable["Principal | None"]]


def build_token_check(database: Database) -> TokenCheck:
    """Build a check of a dashboard token or its id.

    The token must be issued for the dashboard by name.
    """

    async def find_holder(token: str, token_id: str) -> "Principal | None":
        from outrider.identity.principal import InvalidCredentialError
        from outrider.identity.tokens import TokenStore

        if not (token_id or token_format.is_token(token)):
            return None
        store = TokenStore(database)
        try:
            digest = token_format.hash_token(token)
            holder = await (store.authenticate_id(token_id) if token_id else store.authenticate(digest))
        except InvalidCredentialError:
            return None
        # A token for all toolsets does not include the dashboard, which shows everyone's work. The role viewer is
        # refused, because every signed-in person can approve and stop that work.
        may_act = any(membership.role != "viewer" for membership in holder.memberships)
        return holder if may_act and "dashboard" in (holder.toolsets or ()) else None

    return find_holder


async def record_decision(connection: HTTPConnection, database: Database, action: str, detail: str) -> None:
    """Record a viewer's decision in the audit. Raises Unavailable."""
    from outrider.identity.audit import Audit

    viewer: Viewer = connection.state.viewer
    address = connection.client.host if connection.client else ""
    person, credential = viewer.person or None, viewer.credential or "dashboard"
    await Audit(database).record(action, detail, person=person, credential=credential, address=address)
