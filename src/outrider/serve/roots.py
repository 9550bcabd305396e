"""Ask a host for its roots, and pass them on.

Roots are the folders that it offers to servers.

Since 2026-07-28 the question is the result of a call, which the client repeats with the answer; before that the server
asks over the connection. Hosts are asked at the first call of each session, and again when they report a change.
"""

import os
import warnings
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

import anyio
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp_types import (
    CallToolRequestParams,
    ClientCapabilities,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    NotificationParams,
    RootsCapability,
)

from outrider.core.context import Call
from outrider.serve.elicitation import can_return_questions

RootsReceiver = Callable[[Call, Sequence[Path]], Awaitable[None]]


class HostRoots:
    """The roots of one server's clients, asked for once per session.

    Args:
        receive: Called with the folders of a session whenever its host has listed them.
    """

    def __init__(self, receive: RootsReceiver) -> None:
        self._receive = receive
        self._known_scopes: set[str] = set()

    async def read_roots(
        self, context: ServerRequestContext, call: Call, params: CallToolRequestParams
    ) -> InputRequiredResult | None:
        """Read the roots of the call's session if they are unknown; return the question if it must be the result."""
        roots_request = "roots"
        listed = (params.input_responses or {}).get(roots_request)
        if isinstance(listed, ListRootsResult):
            await self._record(call, listed)
            return None
        offers_roots = context.session.check_client_capability(ClientCapabilities(roots=RootsCapability()))
        if call.scope in self._known_scopes or not offers_roots:
            return None
        if not can_return_questions(context):
            await self._record(call, await _request_roots(context))
            return None
        # A repeated call brings answers to other questions, which it would lose if it had to be repeated once more.
        is_first = params.request_state is None and not params.input_responses
        return InputRequiredResult(input_requests={roots_request: ListRootsRequest()}) if is_first else None

    async def forget_roots(self, _: ServerRequestContext, __: NotificationParams | None) -> None:
        """Ask again at the next call, because the host has changed its roots."""
        self._known_scopes.clear()

    async def _record(self, call: Call, listed: ListRootsResult | None) -> None:
        self._known_scopes.add(call.scope)
        if listed is not None:
            addresses = [urlsplit(str(root.uri)) for root in listed.roots]
            local = [each for each in addresses if each.scheme == "file" and each.netloc in ("", "localhost")]
            paths = [unquote(each.path) for each in local]
            if os.name == "nt":  # file:///C:/… (RFC 8089, appendix E.2)
                paths = [path[1:] if path[2:3] == ":" else path for path in paths]
            await self._receive(call, [Path(path) for path in paths])


async def _request_roots(context: ServerRequestContext) -> ListRootsResult | None:
    """Ask over the connection; None if the host does not answer, or not with folders."""
    timeout_s = 10.0
    with warnings.catch_warnings(), anyio.move_on_after(timeout_s):
        warnings.simplefilter("ignore", MCPDeprecationWarning)  # SEP-2577, but hosts have nothing else
        try:
            return await context.session.list_roots()  # ty: ignore[deprecated]
        except (MCPError, ValueError):
            return None
    return None
