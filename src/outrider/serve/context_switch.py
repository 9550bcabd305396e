"""Handle `outrider/switch_context`, which sets a connection's session, assistant and thread.

For protocols that have connections (before 2026-07-28). A call's own `_meta` takes precedence. Data of the previous
context stays.
"""

from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from mcp.server import ServerRequestContext
from mcp.server.connection import Connection
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_REQUEST, EmptyResult, RequestParams
from pydantic import Field

from outrider.core.context import Call
from outrider.serve.context import CallDefaults, build_call
from outrider.serve.elicitation import can_return_questions

SWITCH_CONTEXT_METHOD = "outrider/switch_context"


class SwitchContextParams(RequestParams):
    """The values to set. Omitted ones stay, and an empty text restores the connection's default."""

    session_id: str | None = Field(None, alias="sessionId", max_length=200)
    assistant_id: str | None = Field(None, alias="assistantId", max_length=200)
    thread_id: str | None = Field(None, alias="threadId", max_length=200)
    workspace: str | None = Field(None, max_length=200)


class ConnectionContexts:
    """The context of each connection."""

    def __init__(self, defaults: CallDefaults) -> None:
        self._defaults = defaults
        self._overrides: WeakKeyDictionary[Connection, CallDefaults] = WeakKeyDictionary()

    def build_call(self, context: ServerRequestContext[Any, Any]) -> Call:
        """Build a request's call."""
        return build_call(context, self._overrides.get(_get_connection(context), self._defaults))

    async def switch_context(self, context: ServerRequestContext[Any, Any], params: SwitchContextParams) -> EmptyResult:
        """Handle the request."""
        if can_return_questions(context):
            message = "this protocol has no connection state; send session_id and assistant_id in each request's _meta"
            raise MCPError(code=INVALID_REQUEST, message=message)
        connection = _get_connection(context)
        current = self._overrides.get(connection, self._defaults)
        given = {
            "session": params.session_id,
            "assistant": params.assistant_id,
            "thread": params.thread_id,
            "workspace": params.workspace,
        }
        changes = {name: value or getattr(self._defaults, name) for name, value in given.items() if value is not None}
        self._overrides[connection] = replace(current, **changes, chosen=current.chosen or "session" in changes)
        return EmptyResult()


def _get_connection(context: ServerRequestContext[Any, Any]) -> Connection:
    return context.session._connection  # noqa: SLF001 - the SDK has no public way to it
