"""The door of MCP where callers must show who they are: from a request to a person, or to an answer that says why."""

import hmac
import time
from contextlib import suppress
from typing import Protocol

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from outrider.core.errors import OutriderError, Refused, Unavailable
from outrider.identity.identity import CACHE_TTL_S, Identity
from outrider.identity.principal import InsufficientScopeError, InvalidCredentialError, Principal
from outrider.serve.auth_responses import AuthResponses
from outrider.serve.context import WORKSPACE_HEADER
from outrider.serve.http import MCP_PATH


class ToolsetResolver(Protocol):
    """What is served."""

    def find_by_path(self, path: str) -> str | None:
        """The toolset that is served alone below `/mcp/`; None for any other path."""
        ...

    async def find_by_tool(self, tool: str) -> str | None:
        """The toolset of a tool's name, as hosts send it; None for an unknown one."""
        ...


class Caller(AuthenticatedUser):
    """The SDK's user, whose sessions are closed to everybody else, with what we know of the person.

    Attributes:
        principal: Who it is.
        address: From where.
    """

    def __init__(self, principal: Principal, address: str) -> None:
        known = {"iss": principal.issuer}
        super().__init__(AccessToken(token="", client_id=principal.name, scopes=[], claims=known))
        self.principal = principal
        self.address = address


class AuthMiddleware:
    """Lets only people through to MCP whom `Identity` recognises; what stands beside it has a door of its own.

    Args:
        app: What is behind it.
        identity: Recognises callers.
        token: The operator's own token (`serve.token`), whose holder acts for whomever they name; empty: there is none.
        toolsets: What is served.
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
            await self._run_lifespan(scope, receive, send)
            return
        if scope["type"] != "http" or not _guarded(scope["path"]):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        shown = _read_bearer_token(headers)
        if self._is_operator(shown):
            await self._app(scope, receive, send)
            return
        address = (scope.get("client") or ("",))[0]
        entered = await self._authenticate_request(scope["path"], headers, shown, address)
        if isinstance(entered, Response):
            await entered(scope, receive, send)
            return
        scope["user"] = Caller(entered, address)
        await self._serve_authenticated(scope, receive, send, entered)

    def _is_operator(self, shown: str) -> bool:
        return bool(self._token) and hmac.compare_digest(shown.encode("utf-8", "replace"), self._token)

    async def _authenticate_request(
        self, path: str, headers: Headers, shown: str, address: str
    ) -> Principal | Response:
        """Who comes in, or what they hear instead."""
        if not shown:
            return self._responses.require_token()
        try:
            principal = await self._identity.authenticate(shown)
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
            away = error if isinstance(error, Unavailable) else Unavailable(error.message, hint=error.hint)
            return self._responses.report_unavailable(away)
        return await self._check_toolset_scope(principal, path, headers) or principal

    async def _check_toolset_scope(self, principal: Principal, path: str, headers: Headers) -> Response | None:
        """What the caller hears if they ask for a toolset of which they may use nothing.

        With newer protocols a client says in its headers which tool it calls, so that it can be sent for the scope.
        """
        provider = self._identity.provider
        if principal.toolsets is None or provider is None or not principal.issuer:
            return None
        called = headers.get("mcp-name") if headers.get("mcp-method") == "tools/call" else None
        toolset = self._toolsets.find_by_path(path.removeprefix(MCP_PATH).strip("/"))
        if toolset is None and called:
            toolset = await self._toolsets.find_by_tool(called)
        if toolset is None or toolset in principal.toolsets:
            return None
        scopes = [*provider.settings.scopes, *provider.list_scopes_for(toolset)[:1]]
        return self._responses.require_scopes(scopes, f"toolset {toolset} needs another scope") if scopes else None

    async def _audit_refusal(self, reason: str, address: str) -> None:
        audit_interval_s = (
            1.0  # seconds between two refusals that the audit keeps: who knocks without end must not fill it
        )
        now = time.monotonic()
        if now - self._last_refusal_at < audit_interval_s:
            return
        self._last_refusal_at = now
        with suppress(OutriderError):
            await self._identity.audit.record("refused", reason, address=address, outcome="unauthorized")

    # Whoever loses their rights while a request is open loses the request, too: streams may stay open for days.

    async def _serve_authenticated(self, scope: Scope, receive: Receive, send: Send, principal: Principal) -> None:
        begun = False

        async def track_response_start(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] == "http.response.start"
            await send(message)

        with anyio.CancelScope() as inside:
            self._open_requests[inside] = principal
            try:
                await self._app(scope, receive, track_response_start)
            finally:
                del self._open_requests[inside]
        if not inside.cancelled_caught:
            return
        if begun:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await self._responses.reject_token("this token is good no longer")(scope, receive, send)

    async def _run_lifespan(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._cancel_revoked_requests)
            await self._app(scope, receive, send)
            tasks.cancel_scope.cancel()

    async def _cancel_revoked_requests(self) -> None:
        while True:
            await anyio.sleep(CACHE_TTL_S)
            if not self._open_requests:
                continue
            with suppress(OutriderError):  # while nobody can tell, who was let in may stay
                lost = await self._identity.find_lost_principals(set(self._open_requests.values()))
                for inside, principal in list(self._open_requests.items()):
                    if principal in lost:
                        inside.cancel()


def _guarded(path: str) -> bool:
    return path == MCP_PATH or path.startswith(f"{MCP_PATH}/")


def _read_bearer_token(headers: Headers) -> str:
    """The bearer token of a request; empty where there is none, or more than one."""
    bearer_prefix = "bearer "
    sent = headers.getlist("authorization")
    if len(sent) != 1 or not sent[0].lower().startswith(bearer_prefix):
        return ""
    return sent[0][len(bearer_prefix) :].strip()
