"""Authenticate callers of MCP and REST."""

import hmac
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from outrider.core.errors import OutriderError, Refused, Unavailable
from outrider.identity.identity import CACHE_TTL_S, Identity
from outrider.identity.principal import InsufficientScopeError, InvalidCredentialError, Principal
from outrider.serve.paths import MCP_PATH, TOOLS_PATH, requires_caller
from outrider.serve.request_headers import WORKSPACE_HEADER

PROTECTED_RESOURCE_PATH = "/.well-known/oauth-protected-resource"


class ToolsetResolver(Protocol):
    """Finds the toolset that a request is about."""

    def find_by_path(self, path: str) -> str | None:
        """Return the toolset that is served alone at a path below `/mcp/`; None for any other path."""
        ...

    async def find_by_tool(self, tool: str) -> str | None:
        """Return the toolset of a tool by its name in either style; None for an unknown tool."""
        ...


class Caller(AuthenticatedUser):
    """The SDK's user, which no other user's sessions accept, with its principal.

    Attributes:
        principal: The authenticated person.
        address: The client's network address.
    """

    def __init__(self, principal: Principal, address: str) -> None:
        claims = {"iss": principal.issuer}
        super().__init__(AccessToken(token="", client_id=principal.name, scopes=[], claims=claims))
        self.principal = principal
        self.address = address


class AuthMiddleware:
    """Requires callers of MCP and REST to authenticate; other routes authorize their callers themselves.

    Args:
        app: The protected application.
        identity: Authenticates callers.
        token: The operator's token (`serve.token`), whose holder may act for any person; empty: there is none.
        toolsets: Finds the toolset that a request is about.
    """

    def __init__(self, app: ASGIApp, identity: Identity, token: str, toolsets: ToolsetResolver) -> None:
        self._app = app
        self._identity = identity
        self._token = token.encode()
        self._toolsets = toolsets
        provider = identity.provider
        self._responses = (
            AuthResponses(provider.settings.resource, tuple(provider.settings.scopes))
            if provider is not None
            else AuthResponses()
        )
        self._last_refusal_at = float("-inf")
        self._open_requests: dict[anyio.CancelScope, Principal] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._cancel_revoked_requests)
                await self._app(scope, receive, send)
                tasks.cancel_scope.cancel()
            return
        if scope["type"] != "http" or not requires_caller(scope["path"]):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        token = _read_bearer_token(headers)
        if self._token and hmac.compare_digest(token.encode("utf-8", "replace"), self._token):
            await self._app(scope, receive, send)
            return
        address = (scope.get("client") or ("",))[0]
        principal = await self._authenticate_request(scope["path"], headers, token, address)
        if isinstance(principal, Response):
            await principal(scope, receive, send)
            return
        scope["user"] = Caller(principal, address)
        await self._serve_authenticated(scope, receive, send, principal)

    async def _authenticate_request(
        self, path: str, headers: Headers, token: str, address: str
    ) -> Principal | Response:
        """Return the caller's principal, or the response that refuses the request."""
        if not token:
            return self._responses.require_token()
        try:
            principal = await self._identity.authenticate(token)
            principal.select_membership(headers.get(WORKSPACE_HEADER))
        except InvalidCredentialError as error:
            await self._audit_refusal(str(error), address)
            return self._responses.reject_token(str(error))
        except InsufficientScopeError as error:
            return self._responses.require_scopes(error.scopes, "this token lacks a scope that every caller needs")
        except Refused as error:
            await self._audit_refusal(error.message, address)
            return self._responses.deny_access(error.message, error.hint)
        except OutriderError as error:
            unavailable = error if isinstance(error, Unavailable) else Unavailable(error.message, hint=error.hint)
            return self._responses.report_unavailable(unavailable)
        return await self._check_toolset_scope(principal, path, headers) or principal

    async def _check_toolset_scope(self, principal: Principal, path: str, headers: Headers) -> Response | None:
        """Build a refusal if the caller lacks the requested toolset's scope.

        Otherwise return None.

        With newer protocols a client names the tool in its headers, so that the scope can be requested.
        """
        provider = self._identity.provider
        if principal.toolsets is None or provider is None or not principal.issuer:
            return None
        called = headers.get("mcp-name") if headers.get("mcp-method") == "tools/call" else None
        if path.startswith(f"{TOOLS_PATH}/"):
            called = path.removeprefix(f"{TOOLS_PATH}/")
        toolset = self._toolsets.find_by_path(path.removeprefix(MCP_PATH).strip("/"))
        if toolset is None and called:
            toolset = await self._toolsets.find_by_tool(called)
        if toolset is None or toolset in principal.toolsets:
            return None
        scopes = [*provider.settings.scopes, *provider.list_scopes_for(toolset)[:1]]
        return self._responses.require_scopes(scopes, f"toolset {toolset} needs another scope") if scopes else None

    async def _audit_refusal(self, reason: str, address: str) -> None:
        audit_interval_s = 1.0  # a flood of refused requests must not fill the audit
        now = time.monotonic()
        if now - self._last_refusal_at < audit_interval_s:
            return
        self._last_refusal_at = now
        with suppress(OutriderError):
            await self._identity.audit.record("refused", reason, address=address, outcome="unauthorized")

    # A request ends when its caller loses access while it is open: streams may stay open for days.

    async def _serve_authenticated(self, scope: Scope, receive: Receive, send: Send, principal: Principal) -> None:
        response_started = False

        async def track_response_start(message: Message) -> None:
            nonlocal response_started
            response_started = response_started or message["type"] == "http.response.start"
            await send(message)

        with anyio.CancelScope() as request_scope:
            self._open_requests[request_scope] = principal
            try:
                await self._app(scope, receive, track_response_start)
            finally:
                del self._open_requests[request_scope]
        if not request_scope.cancelled_caught:
            return
        if response_started:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await self._responses.reject_token("this token has become invalid")(scope, receive, send)

    async def _cancel_revoked_requests(self) -> None:
        while True:
            await anyio.sleep(CACHE_TTL_S)
            if not self._open_requests:
                continue
            with suppress(OutriderError):  # requests stay open while access cannot be checked
                revoked = await self._identity.find_lost_principals(set(self._open_requests.values()))
                for request_scope, principal in list(self._open_requests.items()):
                    if principal in revoked:
                        request_scope.cancel()


def _read_bearer_token(headers: Headers) -> str:
    """Return the bearer token of a request; empty if there is none, or more than one."""
    values = headers.getlist("authorization")
    if len(values) != 1 or not values[0].lower().startswith("bearer "):
        return ""
    return values[0][len("bearer ") :].strip()


@dataclass(frozen=True)
class AuthResponses:
    """The refusals of one resource.

    Attributes:
        resource: Its public address; empty if only our own tokens are accepted.
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
