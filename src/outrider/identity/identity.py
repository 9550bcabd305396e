"""The identity domain's front door: from what a caller shows to who they are."""

import logging
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from outrider.core.db import Database
from outrider.core.http import Http
from outrider.identity import secret
from outrider.identity.audit import Audit
from outrider.identity.oauth import Provider
from outrider.identity.principal import Principal, Unrecognised
from outrider.identity.settings import IdentitySettings
from outrider.identity.standing import lost
from outrider.identity.tokens import Tokens
from outrider.identity.workspaces import Workspaces

log = logging.getLogger(__name__)
KNOWN_SECONDS = 2.0  # how long an answer is good: so long a revoked token may still work, on every replica
MOST_KNOWN = 10_000


@dataclass(frozen=True)
class _Known:
    until: float
    principal: Principal | None
    reason: str = ""


class Identity:
    """Recognises callers.

    Args:
        database: Has tokens, workspaces and members.
        settings: What is accepted.
        http: Reaches the identity provider.
        clock: Seconds since the epoch.
    """

    def __init__(
        self, database: Database, settings: IdentitySettings, http: Http, *, clock: Callable[[], float] = time.time
    ) -> None:
        self.settings = settings
        self.tokens = Tokens(database)
        self.workspaces = Workspaces(database)
        self.audit = Audit(database)
        self.provider = Provider(settings.oauth, database, http, clock=clock) if settings.oauth.issuer else None
        self._database = database
        self._clock = clock
        self._known: dict[str, _Known] = {}

    async def principal(self, credential: str) -> Principal:
        """Who holds a bearer token, one of ours or the identity provider's.

        An answer is remembered for two seconds, so that calls in a row cost no query; whatever is taken back is good no
        longer than that.

        Raises:
            Unrecognised: Nobody; the text says why.
            ScopeMissing: Somebody, but without a scope that everybody needs.
            Unavailable: Nobody can tell now: the database or the provider is away.
        """
        key, now = secret.digest(credential), self._clock()
        known = self._known.get(key)
        if known is None or now >= known.until:
            known = await self._looked_up(credential, key)
            self._remember(key, known)
        if known.principal is None:
            raise Unrecognised(known.reason)
        if known.principal.expires_at is not None and now >= known.principal.expires_at:
            raise Unrecognised("this token has expired")
        return known.principal

    async def lost(self, principals: Collection[Principal]) -> set[Principal]:
        """Those who have lost what they came in with: it was revoked or expired, or they are in no workspace any more.

        One query for hundreds of them. Raises Unavailable.
        """
        oauth = self.settings.oauth
        members = not (oauth.workspaces_claim or oauth.default_workspace)
        return await lost(principals, self._database, self._clock(), members=members)

    async def _looked_up(self, credential: str, key: str) -> _Known:
        try:
            found = await self._found(credential, key)
        except Unrecognised as error:
            return _Known(self._clock() + KNOWN_SECONDS, None, str(error))
        return _Known(self._clock() + KNOWN_SECONDS, found)

    async def _found(self, credential: str, key: str) -> Principal:
        if self.settings.tokens and secret.is_token(credential):
            return await self.tokens.principal(key)
        if self.provider is None or credential.startswith(secret.PREFIX):
            raise Unrecognised("this is no token of ours: it may be cut or mistyped")
        return await self.provider.principal(credential)

    def _remember(self, key: str, known: _Known) -> None:
        if len(self._known) >= MOST_KNOWN:
            now = self._clock()
            self._known = {name: each for name, each in self._known.items() if each.until > now}
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
        self._known[key] = known
