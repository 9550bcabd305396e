"""Build responses for unauthorized callers (RFC 6750) and the resource's metadata (RFC 9728)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from outrider.core.errors import Unavailable

PROTECTED_RESOURCE_PATH = "/.well-known/oauth-protected-resource"


@dataclass(frozen=True)
class AuthResponses:
    """The refusals of one resource.

    Attributes:
        resource: Its public address; empty if only tokens of our own are accepted.
        scopes: The scopes that every caller needs.
    """

    resource: str = ""
    scopes: tuple[str, ...] = ()

    def require_token(self) -> Response:
        """Build a 401 for a request without a token."""
        hint = "send the header Authorization: Bearer <token>; the operator creates one with: outrider token create"
        body = {"error": "unauthorized", "hint": hint}
        return self._build_challenge(401, body, scope=" ".join(self.scopes))

    def reject_token(self, reason: str) -> Response:
        """Build a 401 for an invalid token."""
        error = {"error": "invalid_token", "error_description": reason}
        hint = "get a new token: sign in again, or ask the operator for one (outrider token create)"
        return self._build_challenge(401, error | {"hint": hint}, **error)

    def require_scopes(self, scopes: Sequence[str], reason: str) -> Response:
        """Build a 403 that names all scopes that the call needs."""
        error = {"error": "insufficient_scope", "error_description": reason}
        return self._build_challenge(403, error, **error, scope=" ".join(scopes))

    def deny_access(self, reason: str, hint: str) -> Response:
        """Build a 403 for a known person without access, whom another token would not help."""
        return JSONResponse({"error": "access_denied", "error_description": reason, "hint": hint}, 403)

    def report_unavailable(self, error: Unavailable) -> Response:
        """Build a 503 if tokens cannot be checked. On a 401 clients would discard a good token."""
        default_retry_s = 5
        retry_after_s = round(error.retry_after or default_retry_s)
        body = {"error": "temporarily_unavailable", "error_description": error.message, "hint": error.hint}
        return JSONResponse(body, 503, {"Retry-After": str(retry_after_s)})

    def _build_challenge(self, status: int, body: dict[str, str], **challenge: str) -> Response:
        """Build a response with a challenge (RFC 6750, section 3) and the metadata's address (RFC 9728, 5.1)."""
        if self.resource:
            challenge["resource_metadata"] = build_metadata_url(self.resource)
        parts: list[str] = []
        for name, value in challenge.items():
            if value:
                # A header's quoted string may not have all characters (RFC 6750, section 3).
                quoted = "".join(each if " " <= each <= "~" and each not in '"\\' else "'" for each in value)
                parts.append(f'{name}="{quoted}"')
        return JSONResponse(body, status, {"WWW-Authenticate": f"Bearer {', '.join(parts)}".strip()})


def build_metadata_url(resource: str) -> str:
    """Return the address of a resource's metadata: the well-known name is between host and path (RFC 9728, 3.1)."""
    parts = urlsplit(resource)
    return f"{parts.scheme}://{parts.netloc}{PROTECTED_RESOURCE_PATH}{parts.path.rstrip('/')}"


def build_metadata_routes(resource: str, issuer: str, scopes: Sequence[str]) -> list[BaseRoute]:
    """Build the routes that name the issuer of this resource's tokens; older clients omit its path."""
    body: dict[str, Any] = {
        "resource": resource,
        "authorization_servers": [issuer],
        "bearer_methods_supported": ["header"],
        "resource_name": "Outrider",
    }
    if scopes:
        body["scopes_supported"] = list(scopes)

    async def serve_metadata(_: Request) -> Response:
        # Clients in web pages read it too; nothing in it is secret.
        headers = {"Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=3600"}
        return JSONResponse(body, headers=headers)

    return [
        Route(PROTECTED_RESOURCE_PATH, serve_metadata),
        Route(f"{PROTECTED_RESOURCE_PATH}/{{path:path}}", serve_metadata),
    ]
