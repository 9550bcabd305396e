"""Access tokens of an identity provider: checked here, with its public keys, as a resource server does it.

RFC 9068 and RFC 8725 say what to check: the signature by an algorithm that we allow, issuer, audience, times. Nothing
of a token goes anywhere else.
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


class IdentityProvider:
    """The identity provider that the settings name.

    Args:
        settings: Its issuer, and what tokens must say.
        database: Has the members of workspaces, where tokens do not say them.
        http: Fetches its keys.
        clock: Seconds since the epoch.
    """

    def __init__(
        self, settings: OAuthSettings, database: Database, http: HttpClient, *, clock: Callable[[], float] = time.time
    ) -> None:
        self.settings = settings
        self._workspaces = WorkspaceDirectory(database)
        self._keys = JwksCache(http, settings.issuer, settings.jwks_uri, clock=clock)
        self._clock = clock

    async def authenticate(self, token: str) -> Principal:
        """Who the token is of.

        Raises:
            Unrecognised: It is not good here; the text says why.
            ScopeMissing: It is, but lacks a scope that everybody needs.
            Unavailable: Nobody can tell now.
        """
        claims = await self._read_claims(token)
        scopes = parse_scopes(claims)
        if not set(self.settings.scopes) <= set(scopes):
            raise InsufficientScopeError(self.settings.scopes)
        person = claims.get(self.settings.person_claim)
        if not isinstance(person, str) or not person or len(person) > 200:
            raise InvalidCredentialError(f"this token has no claim {self.settings.person_claim!r} that names a person")
        return Principal(
            person=person,
            credential=f"oauth:{claims.get('azp') or claims.get('client_id') or 'unknown'}"[:200],
            memberships=await self._list_memberships(person, claims),
            toolsets=self._list_toolsets(scopes),
            remedy=self._remedy(),
            issuer=self.settings.issuer,
            expires_at=float(claims["exp"]) + self.settings.leeway_s,
        )

    async def count_usable_keys(self) -> int:
        """How many keys the issuer has that could check a token. Raises Unavailable where it cannot be asked."""
        return await self._keys.count_usable(self.settings.algorithms)

    @property
    def known_scopes(self) -> list[str]:
        """All scopes that mean something here."""
        return list(dict.fromkeys((*self.settings.scopes, *self.settings.toolset_scopes)))

    def list_scopes_for(self, toolset: str) -> list[str]:
        """The scopes of which any opens the toolset."""
        return [
            scope for scope, names in self.settings.toolset_scopes.items() if toolset in names or ALL_TOOLSETS in names
        ]

    async def _read_claims(self, token: str) -> Mapping[str, Any]:
        token_types = (
            None,
            "jwt",
            "at+jwt",
            "application/at+jwt",
        )  # RFC 9068, 4; most providers leave it out or say JWT
        max_chars = 16_000  # characters of a token: headers are no place for more
        if len(token) > max_chars:
            raise InvalidCredentialError("this token is too long")
        try:
            header = jwt.get_unverified_header(token)
        except jwt.PyJWTError:
            raise InvalidCredentialError("this is neither a token of ours nor a JWT") from None
        algorithm, kind = header.get("alg"), header.get("typ")
        if algorithm not in self.settings.algorithms:
            raise InvalidCredentialError("this token is signed in a way that is not accepted here")
        if (kind.lower() if isinstance(kind, str) else kind) not in token_types:
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
                # Times are compared below, by our own clock.
                options={
                    "require": ["exp", "iss", "aud"],
                    "verify_exp": False,
                    "verify_nbf": False,
                    "verify_iat": False,
                },
            )
        except jwt.InvalidAudienceError:
            raise InvalidCredentialError(
                f"this token was made for somebody else, not for {self.settings.resource}"
            ) from None
        except jwt.InvalidIssuerError:
            raise InvalidCredentialError("this token is of another issuer") from None
        except jwt.MissingRequiredClaimError as error:
            raise InvalidCredentialError(f"this token has no claim {error.claim!r}") from None
        except jwt.PyJWTError:
            raise InvalidCredentialError("this token's signature does not fit") from None
        self._check_times(claims)
        return claims

    def _check_times(self, claims: Mapping[str, Any]) -> None:
        now, leeway = self._clock(), self.settings.leeway_s
        expires, begins = claims["exp"], claims.get("nbf", 0)
        if not all(isinstance(each, int | float) for each in (expires, begins)):
            raise InvalidCredentialError("this token's times are no numbers")
        if now >= expires + leeway:
            raise InvalidCredentialError("this token has expired")
        if now < begins - leeway:
            raise InvalidCredentialError("this token is not valid yet")

    async def _list_memberships(self, person: str, claims: Mapping[str, Any]) -> tuple[Membership, ...]:
        """Where the person is: as the token says, or as we know it."""
        if self.settings.workspaces_claim:
            places = _parse_memberships(claims.get(self.settings.workspaces_claim))
        else:
            places = await self._workspaces.list_memberships(person)
        default = self.settings.default_workspace
        return places or ((Membership(default, "member"),) if default else ())

    def _list_toolsets(self, scopes: Sequence[str]) -> tuple[str, ...] | None:
        opened = self.settings.toolset_scopes
        if not opened:
            return None
        names = dict.fromkeys(name for scope in scopes for name in opened.get(scope, ()))
        return None if ALL_TOOLSETS in names else tuple(names)

    def _remedy(self) -> str:
        scopes = " ".join(self.settings.toolset_scopes)
        return (
            f"sign in again and ask for the scope that opens it (there are: {scopes}); {self.settings.issuer} grants it"
        )


def parse_scopes(claims: Mapping[str, Any]) -> list[str]:
    """The scopes of a token: `scope` (RFC 9068) or `scp`, as one text or as a list."""
    given = claims.get("scope", claims.get("scp", ""))
    parts = given.split() if isinstance(given, str) else given if isinstance(given, list) else []
    return [each for each in parts if isinstance(each, str)]


def _parse_memberships(claim: object) -> tuple[Membership, ...]:
    """Workspaces as a claim lists them, each `name` or `name:role`; what cannot be one is left out."""
    parts = claim.split() if isinstance(claim, str) else claim if isinstance(claim, list) else []
    found: dict[str, Membership] = {}
    for part in (each for each in parts if isinstance(each, str)):
        name, _, role = part.partition(":")
        if WORKSPACE_NAME_PATTERN.fullmatch(name) and (role or "member") in ROLES:
            found.setdefault(name, Membership(name, next(each for each in ROLES if each == (role or "member"))))
    return tuple(found.values())
