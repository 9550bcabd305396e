"""The identity domain's front door: from what a caller shows to who they are."""

import logging
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from outrider.core.database.database import Database
from outrider.core.http import HttpClient
from outrider.identity import token_format
from outrider.identity.audit import Audit
from outrider.identity.oauth import IdentityProvider
from outrider.identity.principal import InvalidCredentialError, Principal
from outrider.identity.revocation import find_lost_principals
from outrider.identity.settings import IdentitySettings
from outrider.identity.tokens import TokenStore
from outrider.identity.workspaces import WorkspaceDirectory

log = logging.getLogger(__name__)
CACHE_TTL_S = 2.0  # how long an answer is good: so long a revoked token may still work, on every replica


@dataclass(frozen=True)
class _CachedPrincipal:
    expires_at: float
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
        self,
        database: Database,
        settings: IdentitySettings,
        http: HttpClient,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.settings = settings
        self.tokens = TokenStore(database)
        self.workspaces = WorkspaceDirectory(database)
        self.audit = Audit(database)
        self.provider = IdentityProvider(settings.oauth, database, http, clock=clock) if settings.oauth.issuer else None
        self._database = database
        self._clock = clock
        self._cache: dict[str, _CachedPrincipal] = {}

    async def authenticate(self, credential: str) -> Principal:
        """Who holds a bearer token, one of ours or the identity provider's.

        An answer is remembered for two seconds, so that calls in a row cost no query; whatever is taken back is good no
        longer than that.

        Raises:
            Unrecognised: Nobody; the text says why.
            ScopeMissing: Somebody, but without a scope that everybody needs.
            Unavailable: Nobody can tell now: the database or the provider is away.
        """
        key, now = token_format.hash_token(credential), self._clock()
        known = self._cache.get(key)
        if known is None or now >= known.expires_at:
            known = await self._looked_up(credential, key)
            self._cache_principal(key, known)
        if known.principal is None:
            raise InvalidCredentialError(known.reason)
        if known.principal.expires_at is not None and now >= known.principal.expires_at:
            raise InvalidCredentialError("this token has expired")
        return known.principal

    async def find_lost_principals(self, principals: Collection[Principal]) -> set[Principal]:
        """Those who have lost what they came in with: it was revoked or expired, or they are in no workspace any more.

        One query for hundreds of them. Raises Unavailable.
        """
        oauth = self.settings.oauth
        members = not (oauth.workspaces_claim or oauth.default_workspace)
        return await find_lost_principals(principals, self._database, self._clock(), members=members)

    async def _looked_up(self, credential: str, key: str) -> _CachedPrincipal:
        try:
            found = await self._find_principal(credential, key)
        except InvalidCredentialError as error:
            return _CachedPrincipal(self._clock() + CACHE_TTL_S, None, str(error))
        return _CachedPrincipal(self._clock() + CACHE_TTL_S, found)

    async def _find_principal(self, credential: str, key: str) -> Principal:
        if self.settings.tokens and token_format.is_token(credential):
            return await self.tokens.authenticate(key)
        if self.provider is None or credential.startswith(token_format.TOKEN_PREFIX):
            raise InvalidCredentialError("this is no token of ours: it may be cut or mistyped")
        return await self.provider.authenticate(credential)

    def _cache_principal(self, key: str, known: _CachedPrincipal) -> None:
        max_cached = 10_000
        if len(self._cache) >= max_cached:
            now = self._clock()
            self._cache = {name: each for name, each in self._cache.items() if each.expires_at > now}
            if len(self._cache) >= max_cached:
                self._cache.clear()
        self._cache[key] = known
