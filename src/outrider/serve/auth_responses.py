"""What callers hear who are not let in: RFC 6750 says how, RFC 9728 where a client learns how to get in."""

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
        resource: Its public address; empty where only our own tokens are good.
        scopes: Those that every caller needs.
    """

    resource: str = ""
    scopes: tuple[str, ...] = ()

    def require_token(self) -> Response:
        """401: nothing was shown."""
        hint = "send the header Authorization: Bearer <token>; the operator makes one with: outrider token create"
        body = {"error": "unauthorized", "hint": hint}
        return self._build_challenge(401, body, scope=" ".join(self.scopes))

    def reject_token(self, reason: str) -> Response:
        """401: what was shown is not good."""
        said = {"error": "invalid_token", "error_description": reason}
        hint = "get a new token: sign in again, or ask the operator for one (outrider token create)"
        return self._build_challenge(401, said | {"hint": hint}, **said)

    def require_scopes(self, scopes: Sequence[str], reason: str) -> Response:
        """403: more scopes are needed; all that the call needs are named."""
        said = {"error": "insufficient_scope", "error_description": reason}
        return self._build_challenge(403, said, **said, scope=" ".join(scopes))

    def deny_access(self, reason: str, hint: str) -> Response:
        """403: known, but not allowed here; no other token of the same person would help."""
        return JSONResponse({"error": "access_denied", "error_description": reason, "hint": hint}, 403)

    def report_unavailable(self, error: Unavailable) -> Response:
        """503: nobody can tell who it is now. No 401, because clients would throw a good token away."""
        default_retry_s = 5  # seconds, where nobody knows better
        wait = round(error.retry_after or default_retry_s)
        body = {"error": "temporarily_unavailable", "error_description": error.message, "hint": error.hint}
        return JSONResponse(body, 503, {"Retry-After": str(wait)})

    def _build_challenge(self, status: int, body: dict[str, str], **challenge: str) -> Response:
        """With the challenge of RFC 6750, section 3, and the address of the metadata (RFC 9728, section 5.1)."""
        if self.resource:
            challenge["resource_metadata"] = build_metadata_url(self.resource)
        parts = ", ".join(f'{name}="{_sanitize_quoted_string(value)}"' for name, value in challenge.items() if value)
        return JSONResponse(body, status, {"WWW-Authenticate": f"Bearer {parts}".strip()})


def build_metadata_url(resource: str) -> str:
    """Where the metadata of a resource is: the well-known name stands between host and path (RFC 9728, section 3.1)."""
    parts = urlsplit(resource)
    return f"{parts.scheme}://{parts.netloc}{PROTECTED_RESOURCE_PATH}{parts.path.rstrip('/')}"


def build_metadata_routes(resource: str, issuer: str, scopes: Sequence[str]) -> list[BaseRoute]:
    """Where clients learn who gives tokens for this resource; also below the name alone, for older clients."""
    body: dict[str, Any] = {
        "resource": resource,
        "authorization_servers": [issuer],
        "bearer_methods_supported": ["header"],
        "resource_name": "Outrider",
    }
    if scopes:
        body["scopes_supported"] = list(scopes)

    async def serve_metadata(_: Request) -> Response:
        # Clients in a web page read it, too; nothing in it is secret.
        headers = {"Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=3600"}
        return JSONResponse(body, headers=headers)

    return [
        Route(PROTECTED_RESOURCE_PATH, serve_metadata),
        Route(f"{PROTECTED_RESOURCE_PATH}/{{path:path}}", serve_metadata),
    ]


def _sanitize_quoted_string(text: str) -> str:
    """The text as a quoted string of a header takes it (RFC 6750, section 3)."""
    return "".join(letter if " " <= letter <= "~" and letter not in '"\\' else "'" for letter in text)
