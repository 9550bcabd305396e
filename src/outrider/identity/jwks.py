"""The public keys of an identity provider: fetched, kept, and fetched again when a token names one that is new."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import anyio

from outrider.core.egress.response import RequestLimits
from outrider.core.errors import OutriderError, Unavailable
from outrider.core.http import HttpClient
from outrider.identity.principal import InvalidCredentialError

log = logging.getLogger(__name__)
REFRESH_AFTER_S = 3_600.0  # seconds after which keys are fetched again
MAX_KEY_AGE_S = 86_400.0  # seconds that keys are good for while the provider cannot be reached
MIN_FETCH_INTERVAL_S = (
    10.0  # seconds between two fetches, however many unknown keys are named: callers choose what they name
)
FETCH_LIMITS = RequestLimits(timeout_s=10.0, max_body_bytes=500_000, max_redirects=3)


class JwksCache:
    """The keys that an issuer publishes.

    Args:
        http: The guarded client; the issuer's host is the operator's choice, so it may be a private one.
        issuer: As its metadata must say it, too.
        address: Where the keys are; empty means that the metadata says it.
        clock: Seconds since the epoch.
    """

    def __init__(
        self, http: HttpClient, issuer: str, address: str = "", *, clock: Callable[[], float] = time.time
    ) -> None:
        self._http = http
        self._issuer = issuer
        self._address = address
        self._clock = clock
        self._keys: list[Mapping[str, Any]] = []
        self._fetched_at = self._tried_at = float("-inf")
        self._failure: OutriderError | None = None
        self._fetch_lock = anyio.Lock()

    async def find_key(self, name: str | None, algorithm: str) -> Mapping[str, Any]:
        """The key (JWK) that a token's header names.

        Raises Unrecognised where the issuer has no such key, and Unavailable where nobody can tell.
        """
        if self._clock() - self._fetched_at > REFRESH_AFTER_S:
            await self._fetch_keys()
        if self._clock() - self._fetched_at > MAX_KEY_AGE_S:
            raise self._build_unavailable_error()
        found = self._match_key(name, algorithm)
        if found is None:
            await self._fetch_keys()
            found = self._match_key(name, algorithm)
        if found is None and self._failure is not None:
            raise self._build_unavailable_error()
        if found is None:
            raise InvalidCredentialError("this token is signed with a key that its issuer does not have")
        return found

    async def count_usable(self, algorithms: Sequence[str]) -> int:
        """How many keys there are for these algorithms. Raises what fetching them has raised."""
        await self._fetch_keys()
        if self._failure is not None:
            raise self._failure
        return sum(any(_is_usable_for(key, each) for each in algorithms) for key in self._keys)

    def _match_key(self, name: str | None, algorithm: str) -> Mapping[str, Any] | None:
        """The one key that fits; without a name only if there is no other that could."""
        fitting = [each for each in self._keys if _is_usable_for(each, algorithm)]
        if name is None:
            return fitting[0] if len(fitting) == 1 else None
        return next((each for each in fitting if each.get("kid") == name), None)

    async def _fetch_keys(self) -> None:
        """Fetches the keys, unless somebody has tried a moment ago. Old ones stay where that fails."""
        async with self._fetch_lock:
            if self._clock() - self._tried_at < MIN_FETCH_INTERVAL_S:
                return
            self._tried_at = self._clock()
            try:
                self._keys = _parse_key_set(await self._fetch_json(self._address or await self._discover_address()))
                self._fetched_at, self._failure = self._clock(), None
            except OutriderError as error:
                log.warning("the keys of %s cannot be fetched: %s", self._issuer, error)
                self._failure = error

    async def _discover_address(self) -> str:
        """Where the keys are, from the issuer's metadata (RFC 8414; OpenID Connect Discovery 1.0)."""
        failure: OutriderError = Unavailable(f"{self._issuer} publishes no metadata")
        for address in list_metadata_addresses(self._issuer):
            try:
                found = await self._fetch_json(address)
            except OutriderError as error:
                failure = error
                continue
            if found.get("issuer") != self._issuer:
                raise Unavailable(f"the metadata at {address} is of another issuer", hint="check identity.oauth.issuer")
            self._address = _check_key_address(found.get("jwks_uri"), self._issuer)
            return self._address
        raise failure

    async def _fetch_json(self, address: str) -> dict[str, Any]:
        reply = await self._http.get(address, limits=FETCH_LIMITS, trusted=True, headers={"accept": "application/json"})
        if reply.status != 200:
            raise Unavailable(f"{address} answered {reply.status}")
        found = reply.json()
        if not isinstance(found, dict):
            raise Unavailable(f"{address} answered no JSON object")
        return found

    def _build_unavailable_error(self) -> Unavailable:
        return Unavailable(
            "who you are cannot be checked now: the identity provider does not answer",
            code="identity_provider",
            hint="try again in a moment",
            retry_after=MIN_FETCH_INTERVAL_S,
        )


def list_metadata_addresses(issuer: str) -> list[str]:
    """Where an issuer's metadata may be: the path goes behind the well-known name, or, by the older rule, before it."""
    parts = urlsplit(issuer)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    oauth, openid = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
    return list(dict.fromkeys((origin + oauth + path, origin + openid + path, origin + path + openid)))


def _parse_key_set(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The keys that can check signatures. Keys that both sides know are none: anybody could read them here."""
    keys = found.get("keys")
    if not isinstance(keys, list):
        raise Unavailable("the key set has no keys")
    return [
        each for each in keys if isinstance(each, dict) and each.get("kty") in ("RSA", "EC", "OKP") and _signs(each)
    ]


def _signs(key: Mapping[str, Any]) -> bool:
    return key.get("use") in (None, "sig") and "verify" in key.get("key_ops", ["verify"])


def _is_usable_for(key: Mapping[str, Any], algorithm: str) -> bool:
    key_types = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}
    return key.get("kty") == key_types[algorithm[:2]] and key.get("alg") in (None, algorithm)


def _check_key_address(address: object, issuer: str) -> str:
    """A key address that may be trusted: HTTPS, or of the issuer's own origin. Raises Unavailable."""
    if isinstance(address, str):
        parts, own = urlsplit(address), urlsplit(issuer)
        if parts.scheme == "https" or (parts.scheme, parts.netloc) == (own.scheme, own.netloc):
            return address
    raise Unavailable("the issuer's metadata names no key address that may be trusted (jwks_uri)")
