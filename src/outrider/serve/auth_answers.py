"""What callers hear who are not let in: RFC 6750 says how, RFC 9728 where a client learns how to get in."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from outrider.core.errors import Unavailable

WELL_KNOWN = "/.well-known/oauth-protected-resource"
RETRY = 5  # seconds, where nobody knows better


@dataclass(frozen=True)
class Answers:
    """The refusals of one resource.

    Attributes:
        resource: Its public address; empty where only our own tokens are good.
        scopes: Those that every caller needs.
    """

    resource: str = ""
    scopes: tuple[str, ...] = ()

    def nobody(self) -> Response:
        """401: nothing was shown."""
        hint = "send the header Authorization: Bearer <token>; the operator makes one with: outrider token create"
        body = {"error": "unauthorized", "hint": hint}
        return self._answer(401, body, scope=" ".join(self.scopes))

    def unrecognised(self, reason: str) -> Response:
        """401: what was shown is not good."""
        said = {"error": "invalid_token", "error_description": reason}
        hint = "get a new token: sign in again, or ask the operator for one (outrider token create)"
        return self._answer(401, said | {"hint": hint}, **said)

    def scope_missing(self, scopes: Sequence[str], reason: str) -> Response:
        """403: more scopes are needed; all that the call needs are named."""
        said = {"error": "insufficient_scope", "error_description": reason}
        return self._answer(403, said, **said, scope=" ".join(scopes))

    def forbidden(self, reason: str, hint: str) -> Response:
        """403: known, but not allowed here; no other token of the same person would help."""
        return JSONResponse({"error": "access_denied", "error_description": reason, "hint": hint}, 403)

    def away(self, error: Unavailable) -> Response:
        """503: nobody can tell who it is now. No 401, because clients would throw a good token away."""
        wait = round(error.retry_after or RETRY)
        body = {"error": "temporarily_unavailable", "error_description": error.message, "hint": error.hint}
        return JSONResponse(body, 503, {"Retry-After": str(wait)})

    def _answer(self, status: int, body: dict[str, str], **challenge: str) -> Response:
        """With the challenge of RFC 6750, section 3, and the address of the metadata (RFC 9728, section 5.1)."""
        if self.resource:
            challenge["resource_metadata"] = metadata_address(self.resource)
        parts = ", ".join(f'{name}="{_quotable(value)}"' for name, value in challenge.items() if value)
        return JSONResponse(body, status, {"WWW-Authenticate": f"Bearer {parts}".strip()})


def metadata_address(resource: str) -> str:
    """Where the metadata of a resource is: the well-known name stands between host and path (RFC 9728, section 3.1)."""
    parts = urlsplit(resource)
    return f"{parts.scheme}://{parts.netloc}{WELL_KNOWN}{parts.path.rstrip('/')}"


def metadata_routes(resource: str, issuer: str, scopes: Sequence[str]) -> list[BaseRoute]:
    """Where clients learn who gives tokens for this resource; also below the name alone, for older clients."""
    body: dict[str, Any] = {
        "resource": resource,
        "authorization_servers": [issuer],
        "bearer_methods_supported": ["header"],
        "resource_name": "Outrider",
    }
    if scopes:
        body["scopes_supported"] = list(scopes)

    async def answer(_: Request) -> Response:
        # Clients in a web page read it, too; nothing in it is secret.
        headers = {"Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=3600"}
        return JSONResponse(body, headers=headers)

    return [Route(WELL_KNOWN, answer), Route(f"{WELL_KNOWN}/{{path:path}}", answer)]


def _quotable(text: str) -> str:
    """The text as a quoted string of a header takes it (RFC 6750, section 3)."""
    return "".join(letter if " " <= letter <= "~" and letter not in '"\\' else "'" for letter in text)
