"""A small identity provider on loopback: metadata, rotatable keys, and access tokens signed by them."""

import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

OAUTH_RESOURCE = "https://tools.example.com/mcp"
EC_KEY = ec.generate_private_key(ec.SECP256R1())  # expensive, so generated once
RSA_KEY = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
OTHER_EC_KEY = ec.generate_private_key(ec.SECP256R1())
SIGNING_KEYS: dict[str, tuple[Any, str]] = {
    "first": (EC_KEY, "ES256"),
    "second": (RSA_KEY, "RS256"),
    "third": (OTHER_EC_KEY, "ES256"),
}


@dataclass
class FakeIdentityProvider:
    """A provider with published keys and adjustable behaviour.

    Attributes:
        url: Its address, which is its issuer; known once it is served.
        published_keys: The names of the published keys.
        is_down: Whether it answers with errors.
        requested_paths: The requested paths.
        extra_keys: Further entries of its key set.
        requested_scopes: The scopes requested at its token endpoint, which grants all of them.
    """

    url: str = ""
    published_keys: list[str] = field(default_factory=lambda: ["first"])
    is_down: bool = False
    requested_paths: list[str] = field(default_factory=list)
    extra_keys: list[dict[str, Any]] = field(default_factory=list)
    requested_scopes: list[str] = field(default_factory=list)

    @property
    def key_fetch_count(self) -> int:
        """The number of requests for its keys."""
        return self.requested_paths.count("/keys")

    def build_app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/oauth-authorization-server", self._serve_metadata),
                Route("/keys", self._serve_keys),
                Route("/token", self._grant_token, methods=["POST"]),
            ]
        )

    def sign_token(
        self, *, key: str = "first", kid: str | None = "", header: dict[str, Any] | None = None, **claims: Any
    ) -> str:
        """Sign an access token; claims of None are left out."""
        signer, algorithm = SIGNING_KEYS[key]
        now = time.time()
        body = {"iss": self.url, "aud": OAUTH_RESOURCE, "sub": "ann", "client_id": "desk", "iat": now, "exp": now + 600}
        body = {name: value for name, value in (body | claims).items() if value is not None}
        head = {"typ": "at+jwt"} | ({} if kid is None else {"kid": kid or key}) | (header or {})
        return jwt.encode(body, signer, algorithm=algorithm, headers=head)

    async def _serve_metadata(self, request: Request) -> Response:
        self.requested_paths.append(request.url.path)
        if self.is_down:
            return Response(status_code=503)
        places = {"authorization_endpoint": f"{self.url}/authorize", "token_endpoint": f"{self.url}/token"}
        known = {"issuer": self.url, "jwks_uri": f"{self.url}/keys", "response_types_supported": ["code"]}
        return JSONResponse(known | places)

    async def _grant_token(self, request: Request) -> Response:
        """Grant a token to a client itself (RFC 6749, 4.4), for the resource that it names (RFC 8707)."""
        asked = parse_qs((await request.body()).decode())
        scope, resource = asked.get("scope", [""])[0], asked["resource"][0]
        self.requested_scopes.append(scope)
        token = self.sign_token(aud=resource, scope=scope, groups=["acme"])
        return JSONResponse({"access_token": token, "token_type": "Bearer", "expires_in": 600, "scope": scope})

    async def _serve_keys(self, request: Request) -> Response:
        self.requested_paths.append(request.url.path)
        if self.is_down:
            return Response(status_code=503)
        return JSONResponse({"keys": [*map(export_jwk, self.published_keys), *self.extra_keys]})


def export_jwk(name: str) -> dict[str, Any]:
    """Export the public key of that name as a JWK."""
    key, algorithm = SIGNING_KEYS[name]
    family: Any = ECAlgorithm if algorithm.startswith("ES") else RSAAlgorithm
    facts: dict[str, Any] = family.to_jwk(key.public_key(), as_dict=True)
    return facts | {"kid": name, "use": "sig", "alg": algorithm}


def export_pem(name: str) -> bytes:
    """Export the public key of that name as PEM."""
    public = SIGNING_KEYS[name][0].public_key()
    return public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
