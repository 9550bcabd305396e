"""Authenticate callers by their credentials."""

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
CACHE_TTL_S = 2.0  # how long a revoked token may still work, on every replica


@dataclass(frozen=True)
class _CachedPrincipal:
    expires_at: float
    principal: Principal | None
    reason: str = ""


class Identity:
    """Authenticates callers.

    Args:
        database: Holds tokens, workspaces and members.
        settings: Which credentials are accepted.
        http: Client for requests to the identity provider.
        clock: Returns seconds since the epoch.
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
        """Return the holder of a bearer token, issued by Outrider or by the identity provider.

        The result is cached for two seconds, so that consecutive calls need no query; revoked credentials may be
        accepted for that time.

        Raises:
            InvalidCredentialError: The credential is not valid; the text is the reason.
            InsufficientScopeError: The credential lacks a scope that all callers need.
            Unavailable: The database or the provider cannot be reached.
        """
        key, now = token_format.hash_token(credential), self._clock()
        cached = self._cache.get(key)
        if cached is None or now >= cached.expires_at:
            principal, reason = None, ""
            try:
                principal = await self._find_principal(credential, key)
            except InvalidCredentialError as error:
                reason = str(error)
            cached = _CachedPrincipal(self._clock() + CACHE_TTL_S, principal, reason)
            self._make_room_in_cache()
            self._cache[key] = cached
        if cached.principal is None:
            raise InvalidCredentialError(cached.reason)
        if cached.principal.expires_at is not None and now >= cached.principal.expires_at:
            raise InvalidCredentialError("this token has expired")
        return cached.principal

    async def find_lost_principals(self, principals: Collection[Principal]) -> set[Principal]:
        """Return those whose credential was revoked or has expired, or who have left all their workspaces.

        Hundreds of principals need one query. Raises Unavailable.
        """
        oauth = self.settings.oauth
        members = not (oauth.workspaces_claim or oauth.default_workspace)
        return await find_lost_principals(principals, self._database, self._clock(), members=members)

    async def _find_principal(self, credential: str, key: str) -> Principal:
        if self.settings.tokens and token_format.is_token(credential):
            return await self.tokens.authenticate(key)
        if self.provider is None or credential.startswith(token_format.TOKEN_PREFIX):
            raise InvalidCredentialError("this is not an Outrider token: it may be cut or mistyped")
        return await self.provider.authenticate(credential)

    def _make_room_in_cache(self) -> None:
        max_entries = 10_000
        if len(self._cache) < max_entries:
            return
        now = self._clock()
        self._cache = {key: cached for key, cached in self._cache.items() if cached.expires_at > now}
        if len(self._cache) >= max_entries:
            self._cache.clear()
