"""Fetch and cache the public keys of an identity provider (JWKS)."""

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
REFRESH_AFTER_S = 3_600.0
MAX_KEY_AGE_S = 86_400.0  # how long keys are used while the provider cannot be reached
MIN_FETCH_INTERVAL_S = (
    10.0  # callers choose the key names in their tokens, so unknown names must not cause more fetches
)


class JwksCache:
    """The keys that an issuer publishes.

    Args:
        http: The guarded client; the issuer may have a private address, because the operator has chosen it.
        issuer: The issuer, exactly as in its metadata.
        address: The URL of the keys; empty means that it is taken from the metadata.
        clock: Returns seconds since the epoch.
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
        """Return the key (JWK) that a token's header names.

        Raises InvalidCredentialError if the issuer does not have this key, and Unavailable if it cannot be reached.
        """
        if self._clock() - self._fetched_at > REFRESH_AFTER_S:
            await self._fetch_keys()
        if self._clock() - self._fetched_at > MAX_KEY_AGE_S:
            raise self._build_unavailable_error()
        key = self._match_key(name, algorithm)
        if key is None:
            await self._fetch_keys()
            key = self._match_key(name, algorithm)
        if key is None and self._failure is not None:
            raise self._build_unavailable_error()
        if key is None:
            raise InvalidCredentialError("this token is signed with a key that its issuer does not have")
        return key

    async def count_usable(self, algorithms: Sequence[str]) -> int:
        """Return the number of keys for these algorithms. Raises Unavailable if they cannot be fetched."""
        await self._fetch_keys()
        if self._failure is not None:
            raise self._failure
        return sum(any(_is_usable_for(key, algorithm) for algorithm in algorithms) for key in self._keys)

    def _match_key(self, name: str | None, algorithm: str) -> Mapping[str, Any] | None:
        """Return the key of that name; without a name, the only key for the algorithm."""
        usable = [key for key in self._keys if _is_usable_for(key, algorithm)]
        if name is None:
            return usable[0] if len(usable) == 1 else None
        return next((key for key in usable if key.get("kid") == name), None)

    async def _fetch_keys(self) -> None:
        """Fetch the keys, unless that was tried a moment ago; keep the old keys if it fails."""
        async with self._fetch_lock:
            if self._clock() - self._tried_at < MIN_FETCH_INTERVAL_S:
                return
            self._tried_at = self._clock()
            try:
                document = await self._fetch_json(self._address or await self._discover_address())
                keys = document.get("keys")
                if not isinstance(keys, list):
                    raise Unavailable("the key set has no keys")
                self._keys = [
                    key
                    for key in keys
                    if isinstance(key, dict)
                    and key.get("kty") in ("RSA", "EC", "OKP")
                    and key.get("use") in (None, "sig")
                    and "verify" in key.get("key_ops", ["verify"])
                ]
                self._fetched_at, self._failure = self._clock(), None
            except OutriderError as error:
                log.warning("cannot fetch the keys of %s: %s", self._issuer, error)
                self._failure = error

    async def _discover_address(self) -> str:
        """Return the URL of the keys from the issuer's metadata (RFC 8414; OpenID Connect Discovery 1.0)."""
        failure: OutriderError = Unavailable(f"{self._issuer} publishes no metadata")
        for address in list_metadata_addresses(self._issuer):
            try:
                metadata = await self._fetch_json(address)
            except OutriderError as error:
                failure = error
                continue
            if metadata.get("issuer") != self._issuer:
                raise Unavailable(f"the metadata at {address} names another issuer", hint="check identity.oauth.issuer")
            self._address = _check_key_address(metadata.get("jwks_uri"), self._issuer)
            return self._address
        raise failure

    async def _fetch_json(self, address: str) -> dict[str, Any]:
        fetch_limits = RequestLimits(timeout_s=10.0, max_body_bytes=500_000, max_redirects=3)
        reply = await self._http.get(address, limits=fetch_limits, trusted=True, headers={"accept": "application/json"})
        if reply.status != 200:
            raise Unavailable(f"{address} answered with status {reply.status}")
        document = reply.json()
        if not isinstance(document, dict):
            raise Unavailable(f"the answer of {address} is not a JSON object")
        return document

    def _build_unavailable_error(self) -> Unavailable:
        return Unavailable(
            "your token cannot be checked now: the identity provider does not answer",
            code="identity_provider",
            hint="try again in a moment",
            retry_after=MIN_FETCH_INTERVAL_S,
        )


def list_metadata_addresses(issuer: str) -> list[str]:
    """Return the possible URLs of an issuer's metadata; the issuer's path may come after or before the known name."""
    parts = urlsplit(issuer)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    oauth, openid = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
    return list(dict.fromkeys((origin + oauth + path, origin + openid + path, origin + path + openid)))


def _is_usable_for(key: Mapping[str, Any], algorithm: str) -> bool:
    key_types = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}
    return key.get("kty") == key_types[algorithm[:2]] and key.get("alg") in (None, algorithm)


def _check_key_address(address: object, issuer: str) -> str:
    """Return the address if it uses HTTPS or has the issuer's origin. Raises Unavailable."""
    if isinstance(address, str):
        parts, issuer_parts = urlsplit(address), urlsplit(issuer)
        if parts.scheme == "https" or (parts.scheme, parts.netloc) == (issuer_parts.scheme, issuer_parts.netloc):
            return address
    raise Unavailable("jwks_uri in the issuer's metadata is missing or not trusted: it must use https")
