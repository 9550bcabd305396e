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
from outrider.identity.identity import KNOWN_SECONDS, Identity
from outrider.identity.principal import Principal, ScopeMissing, Unrecognised
from outrider.serve.auth_answers import Answers
from outrider.serve.context import WORKSPACE
from outrider.serve.http import PATH

SCHEME = "bearer "
QUIET = 1.0  # seconds between two refusals that the audit keeps: who knocks without end must not fill it


class Toolsets(Protocol):
    """What is served."""

    def at(self, path: str) -> str | None:
        """The toolset that is served alone below `/mcp/`; None for any other path."""
        ...

    async def of(self, tool: str) -> str | None:
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


class Gate:
    """Lets only people through to MCP whom `Identity` recognises; what stands beside it has a door of its own.

    Args:
        app: What is behind it.
        identity: Recognises callers.
        token: The operator's own token (`serve.token`), whose holder acts for whomever they name; empty: there is none.
        toolsets: What is served.
    """

    def __init__(self, app: ASGIApp, identity: Identity, token: str, toolsets: Toolsets) -> None:
        self._app = app
        self._identity = identity
        self._token = token.encode()
        self._toolsets = toolsets
        provider = identity.provider
        self._answers = (
            Answers(provider.settings.resource, tuple(provider.settings.scopes)) if provider is not None else Answers()
        )
        self._refused_at = float("-inf")
        self._inside: dict[anyio.CancelScope, Principal] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._through_life(scope, receive, send)
            return
        if scope["type"] != "http" or not _guarded(scope["path"]):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        shown = _shown(headers)
        if self._is_operator(shown):
            await self._app(scope, receive, send)
            return
        address = (scope.get("client") or ("",))[0]
        entered = await self._entering(scope["path"], headers, shown, address)
        if isinstance(entered, Response):
            await entered(scope, receive, send)
            return
        scope["user"] = Caller(entered, address)
        await self._served(scope, receive, send, entered)

    def _is_operator(self, shown: str) -> bool:
        return bool(self._token) and hmac.compare_digest(shown.encode("utf-8", "replace"), self._token)

    async def _entering(self, path: str, headers: Headers, shown: str, address: str) -> Principal | Response:
        """Who comes in, or what they hear instead."""
        if not shown:
            return self._answers.nobody()
        try:
            principal = await self._identity.principal(shown)
            principal.acting(headers.get(WORKSPACE))
        except Unrecognised as error:
            await self._note_refusal(str(error), address)
            return self._answers.unrecognised(str(error))
        except ScopeMissing as error:
            return self._answers.scope_missing(error.scopes, "this token lacks a scope that every caller needs")
        except Refused as error:
            await self._note_refusal(error.message, address)
            return self._answers.forbidden(error.message, error.hint)
        except OutriderError as error:
            away = error if isinstance(error, Unavailable) else Unavailable(error.message, hint=error.hint)
            return self._answers.away(away)
        return await self._beyond(principal, path, headers) or principal

    async def _beyond(self, principal: Principal, path: str, headers: Headers) -> Response | None:
        """What the caller hears if they ask for a toolset of which they may use nothing.

        With newer protocols a client says in its headers which tool it calls, so that it can be sent for the scope.
        """
        provider = self._identity.provider
        if principal.toolsets is None or provider is None or not principal.issuer:
            return None
        called = headers.get("mcp-name") if headers.get("mcp-method") == "tools/call" else None
        toolset = self._toolsets.at(path.removeprefix(PATH).strip("/"))
        if toolset is None and called:
            toolset = await self._toolsets.of(called)
        if toolset is None or toolset in principal.toolsets:
            return None
        scopes = [*provider.settings.scopes, *provider.opening(toolset)[:1]]
        return self._answers.scope_missing(scopes, f"toolset {toolset} needs another scope") if scopes else None

    async def _note_refusal(self, reason: str, address: str) -> None:
        now = time.monotonic()
        if now - self._refused_at < QUIET:
            return
        self._refused_at = now
        with suppress(OutriderError):
            await self._identity.audit.note("refused", reason, address=address, outcome="unauthorized")

    # Whoever loses their rights while a request is open loses the request, too: streams may stay open for days.

    async def _served(self, scope: Scope, receive: Receive, send: Send, principal: Principal) -> None:
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] == "http.response.start"
            await send(message)

        with anyio.CancelScope() as inside:
            self._inside[inside] = principal
            try:
                await self._app(scope, receive, noted)
            finally:
                del self._inside[inside]
        if not inside.cancelled_caught:
            return
        if begun:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await self._answers.unrecognised("this token is good no longer")(scope, receive, send)

    async def _through_life(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch)
            await self._app(scope, receive, send)
            tasks.cancel_scope.cancel()

    async def _watch(self) -> None:
        while True:
            await anyio.sleep(KNOWN_SECONDS)
            if not self._inside:
                continue
            with suppress(OutriderError):  # while nobody can tell, who was let in may stay
                lost = await self._identity.lost(set(self._inside.values()))
                for inside, principal in list(self._inside.items()):
                    if principal in lost:
                        inside.cancel()


def _guarded(path: str) -> bool:
    return path == PATH or path.startswith(f"{PATH}/")


def _shown(headers: Headers) -> str:
    """The bearer token of a request; empty where there is none, or more than one."""
    sent = headers.getlist("authorization")
    if len(sent) != 1 or not sent[0].lower().startswith(SCHEME):
        return ""
    return sent[0][len(SCHEME) :].strip()
