"""Verify access tokens of an identity provider as an OAuth resource server.

As RFC 9068 and RFC 8725 demand, it checks signature, algorithm, issuer, audience and times. Tokens are never sent on.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jwt

from outrider.core.database.database import Database
from outrider.core.http import HttpClient
from outrider.identity.jwks import JwksCache
from outrider.identity.principal import ROLES, InsufficientScopeError, InvalidCredentialError, Membership, Principal
from outrider.identity.settings import OAuthSettings
from outrider.identity.workspaces import WORKSPACE_NAME_PATTERN, WorkspaceDirectory

ALL_TOOLSETS = "all"
# Signatures that only the issuer can make: no symmetric keys and no "none" (RFC 8725, section 3.1).
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
CLOCK_LEEWAY_S = 30.0  # between the provider's clock and ours


class IdentityProvider:
    """The identity provider named in the settings.

    Args:
        settings: Its issuer, and the required claims of tokens.
        database: Holds the members of workspaces, unless tokens name the workspaces.
        http: Client to fetch its keys.
        clock: Returns seconds since the epoch.
    """

    def __init__(
        self, settings: OAuthSettings, database: Database, http: HttpClient, *, clock: Callable[[], float] = time.time
    ) -> None:
        self.settings = settings
        self._workspaces = WorkspaceDirectory(database)
        self._keys = JwksCache(http, settings.issuer, settings.jwks_uri, clock=clock)
        self._clock = clock

    async def authenticate(self, token: str) -> Principal:
        """Return the holder of an access token.

        Raises:
            InvalidCredentialError: The token is not valid here; the text is the reason.
            InsufficientScopeError: The token lacks a scope that all callers need.
            Unavailable: The provider or the database cannot be reached.
        """
        claims = await self._read_claims(token)
        scopes = parse_scopes(claims)
        if not set(self.settings.scopes) <= set(scopes):
            raise InsufficientScopeError(self.settings.scopes)
        person = claims.get(self.settings.person_claim)
        if not isinstance(person, str) or not person or len(person) > 200:
            raise InvalidCredentialError(f"this token has no claim {self.settings.person_claim!r} that names a person")
        scope_list = " ".join(self.settings.toolset_scopes)
        return Principal(
            person=person,
            credential=f"oauth:{claims.get('azp') or claims.get('client_id') or 'unknown'}"[:200],
            memberships=await self._list_memberships(person, claims),
            toolsets=self._list_toolsets(scopes),
            remedy=f"sign in again and ask for the scope of that toolset (there are: {scope_list}); "
            f"{self.settings.issuer} grants it",
            issuer=self.settings.issuer,
            expires_at=float(claims["exp"]) + CLOCK_LEEWAY_S,
        )

    async def count_usable_keys(self) -> int:
        """Return the number of keys that can verify tokens. Raises Unavailable if the issuer cannot be reached."""
        return await self._keys.count_usable(ALGORITHMS)

    @property
    def known_scopes(self) -> list[str]:
        """All scopes that the settings use."""
        return list(dict.fromkeys((*self.settings.scopes, *self.settings.toolset_scopes)))

    def list_scopes_for(self, toolset: str) -> list[str]:
        """Return the scopes that each grant the toolset."""
        return [
            scope for scope, names in self.settings.toolset_scopes.items() if toolset in names or ALL_TOOLSETS in names
        ]

    async def _read_claims(self, token: str) -> Mapping[str, Any]:
        """Return the claims of a valid token. Raises InvalidCredentialError and Unavailable."""
        # RFC 9068, section 4; most providers omit the type or say JWT.
        token_types = (None, "jwt", "at+jwt", "application/at+jwt")
        max_chars = 16_000  # more does not fit into a request header
        if len(token) > max_chars:
            raise InvalidCredentialError("this token is too long")
        try:
            header = jwt.get_unverified_header(token)
        except jwt.PyJWTError:
            raise InvalidCredentialError("this is neither an Outrider token nor a JWT") from None
        algorithm, token_type = header.get("alg"), header.get("typ")
        if algorithm not in ALGORITHMS:
            raise InvalidCredentialError("this token has a signature algorithm that is not accepted here")
        if (token_type.lower() if isinstance(token_type, str) else token_type) not in token_types:
            raise InvalidCredentialError("this is not an access token")
        key = await self._keys.find_key(header.get("kid"), algorithm)
        return self._verify_token(token, key, algorithm)

    def _verify_token(self, token: str, key: Mapping[str, Any], algorithm: str) -> Mapping[str, Any]:
        try:
            claims = jwt.decode(
                token,
                jwt.PyJWK(dict(key), algorithm=algorithm),
                algorithms=[algorithm],
                issuer=self.settings.issuer,
                audience=[self.settings.resource, *self.settings.audiences],
                # The times are compared below, by our own clock; the person's claim is checked by its user.
                options={
                    "require": ["exp", "iss", "aud"],
                    **dict.fromkeys(("verify_exp", "verify_nbf", "verify_iat", "verify_sub", "verify_jti"), False),
                },
            )
        except jwt.InvalidAudienceError:
            raise InvalidCredentialError(
                f"this token was issued for another audience, not for {self.settings.resource}"
            ) from None
        except jwt.InvalidIssuerError:
            raise InvalidCredentialError("this token comes from another issuer") from None
        except jwt.MissingRequiredClaimError as error:
            raise InvalidCredentialError(f"this token has no claim {error.claim!r}") from None
        except jwt.PyJWTError:
            raise InvalidCredentialError("this token's signature is invalid") from None
        now = self._clock()
        expires_at, valid_from = claims["exp"], claims.get("nbf", 0)
        if not _is_finite_number(expires_at) or not _is_finite_number(valid_from):
            raise InvalidCredentialError("the times in this token are not numbers")
        if now >= expires_at + CLOCK_LEEWAY_S:
            raise InvalidCredentialError("this token has expired")
        if now < valid_from - CLOCK_LEEWAY_S:
            raise InvalidCredentialError("this token is not valid yet")
        return claims

    async def _list_memberships(self, person: str, claims: Mapping[str, Any]) -> tuple[Membership, ...]:
        """Return the person's workspaces, from the token or from the database."""
        memberships: dict[str, Membership] = {}
        if self.settings.workspaces_claim:
            claim = claims.get(self.settings.workspaces_claim)
            items = claim.split() if isinstance(claim, str) else claim if isinstance(claim, list) else []
            for item in (item for item in items if isinstance(item, str)):  # each `name` or `name:role`
                name, _, role_name = item.partition(":")
                role = next((role for role in ROLES if role == (role_name or "member")), None)
                if role is not None and WORKSPACE_NAME_PATTERN.fullmatch(name):
                    memberships.setdefault(name, Membership(name, role))
        else:
            memberships = {each.workspace: each for each in await self._workspaces.list_memberships(person)}
        default = self.settings.default_workspace
        return tuple(memberships.values()) or ((Membership(default, "member"),) if default else ())

    def _list_toolsets(self, scopes: Sequence[str]) -> tuple[str, ...] | None:
        """Return the toolsets that the scopes grant; None means all."""
        toolsets_by_scope = self.settings.toolset_scopes
        if not toolsets_by_scope:
            return None
        toolsets = dict.fromkeys(toolset for scope in scopes for toolset in toolsets_by_scope.get(scope, ()))
        return None if ALL_TOOLSETS in toolsets else tuple(toolsets)


def parse_scopes(claims: Mapping[str, Any]) -> list[str]:
    """Return a token's scopes from `scope` (RFC 9068) or `scp`.

    Either may be a text or a list.
    """
    claim = claims.get("scope", claims.get("scp", ""))
    scopes = claim.split() if isinstance(claim, str) else claim if isinstance(claim, list) else []
    return [scope for scope in scopes if isinstance(scope, str)]


def _is_finite_number(value: object) -> bool:
    """Return whether a claim is a NumericDate (RFC 7519); `Infinity`, which Python's parser accepts, never expires."""
    max_seconds = 253_402_300_799  # the end of the year 9999
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= max_seconds
