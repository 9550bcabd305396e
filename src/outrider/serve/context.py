"""Build a `Call` from a protocol request: its caller, its connection's context, and how to report progress.

Protocols that have connections (before 2026-07-28) set a connection's session, assistant and thread with
`outrider/switch_context`. A call's own `_meta` takes precedence. Data of the previous context stays.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from mcp.server import ServerRequestContext
from mcp.server.connection import Connection
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_REQUEST,
    ClientCapabilities,
    EmptyResult,
    ProgressNotification,
    ProgressNotificationParams,
    RequestParams,
    SamplingCapability,
)
from pydantic import Field

from outrider.core.context import Call
from outrider.serve.client_model import find_client_model
from outrider.serve.elicitation import can_return_questions, parse_host_decisions
from outrider.serve.request_headers import IDEMPOTENCY_HEADER, PERSON_HEADER, WORKSPACE_HEADER

if TYPE_CHECKING:
    from outrider.serve.auth import Caller

SWITCH_CONTEXT_METHOD = "outrider/switch_context"
IDEMPOTENCY_META_KEY = "outrider/idempotencyKey"
SAMPLING_CAPABILITY = ClientCapabilities(sampling=SamplingCapability())


@dataclass(frozen=True)
class CallDefaults:
    """The context of calls that do not name it themselves.

    It is that of a connection or a process.

    Attributes:
        chosen: Whether the host has named the session, so that it takes precedence over the connection's own.
    """

    session: str = "default"
    assistant: str = ""
    thread: str = ""
    workspace: str = ""
    chosen: bool = False


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

    async def switch_context(self, context: ServerRequestContext[Any, Any], params: SwitchContextParams) -> EmptyResult:
        """Handle the request."""
        if can_return_questions(context):
            message = "this protocol has no connection state; send session_id and assistant_id in each request's _meta"
            raise MCPError(code=INVALID_REQUEST, message=message)
        current = self._find_defaults(context)
        set_params = {
            "session": params.session_id,
            "assistant": params.assistant_id,
            "thread": params.thread_id,
            "workspace": params.workspace,
        }
        changes = {
            name: value or getattr(self._defaults, name) for name, value in set_params.items() if value is not None
        }
        switched = replace(current, **changes, chosen=current.chosen or "session" in changes)
        self._overrides[context.session._connection] = switched  # noqa: SLF001 - the SDK has no public way to it
        return EmptyResult()

    def build_call(self, context: ServerRequestContext[Any, Any]) -> Call:
        """Build a call from the request's `_meta`, else from the connection's defaults.

        A call that names no assistant belongs to the client's own name. For authenticated callers the person comes from
        their credential, not from the request, and the workspace must be one of theirs. Raises Refused for another
        workspace.
        """
        defaults = self._find_defaults(context) if self._overrides else self._defaults
        meta: Mapping[str, Any] = context.meta or {}
        step = meta.get("stepContext")
        step = step if isinstance(step, Mapping) else {}
        reporter = ProgressReporter(context)
        # Older clients have a session id over HTTP; newer protocols have none.
        connection_session = "" if defaults.chosen else read_header(context, "mcp-session-id")
        client = context.session.client_params
        client_name = _read_text({"name": client.client_info.name}, "name") if client else None
        decisions = step.get("decisions")
        key = meta.get(IDEMPOTENCY_META_KEY) or read_header(context, IDEMPOTENCY_HEADER)
        call = Call(
            session=_read_text(meta, "session_id") or connection_session or defaults.session,
            # No host names an assistant, but all have their own name.
            assistant=_read_text(meta, "assistant_id") or defaults.assistant or client_name,
            thread=_read_text(meta, "thread_id") or defaults.thread or None,
            message=_read_text(meta, "message_id"),
            workspace=_read_text(meta, "workspace") or defaults.workspace or None,
            identity=read_person(context),
            citations=_parse_citation_range(step) if step else None,
            extra={name: step.get(name) for name in ("websearchResultCount", "resumeState", "agent", "depth")},
            progress=reporter,
            heartbeat=reporter.report_alive,
            # The header is a string in quotation marks (RFC 9651, 3.3.3).
            idempotency_key=key.strip().strip('"') or None if isinstance(key, str) else None,
            answers=parse_host_decisions(decisions) if isinstance(decisions, list) else {},
            is_cancelled=lambda: _is_cancelled(context),
            client_model=(
                find_client_model(context) if context.session.check_client_capability(SAMPLING_CAPABILITY) else None
            ),
        )
        caller = get_caller(context)
        return call if caller is None else apply_principal(call, caller, read_header(context, WORKSPACE_HEADER))

    def _find_defaults(self, context: ServerRequestContext[Any, Any]) -> CallDefaults:
        return self._overrides.get(context.session._connection, self._defaults)  # noqa: SLF001 - as above


def get_caller(context: ServerRequestContext[Any, Any]) -> "Caller | None":
    """Return the authenticated caller; None if callers need not authenticate."""
    user = (getattr(context.request, "scope", None) or {}).get("user")
    return user if hasattr(user, "principal") else None


def apply_principal(call: Call, caller: "Caller", workspace: str | None) -> Call:
    """Return the call with session, workspace, person and rights of the authenticated caller."""
    principal = caller.principal
    membership = principal.select_membership(call.workspace or workspace)
    return replace(
        call,
        session=principal.qualify_session(membership, call.session),
        workspace=membership.workspace,
        identity=principal.person,
        grant=principal.build_grant(membership, caller.address),
    )


@dataclass
class ProgressReporter:
    """Sends strictly increasing progress of one request: at most five notices per second, and always the last."""

    context: ServerRequestContext[Any, Any]
    _last_progress: float = -1.0
    _sent_at: float = 0.0

    async def __call__(
        self, done: float, total: float | None, message: str, data: dict[str, Any] | None = None
    ) -> None:
        if total is None and done <= self._last_progress:  # a heartbeat, or a count that restarted after a question
            done = self._last_progress + 2**-20  # progress must increase
        now = time.monotonic()
        finished = total is not None and done >= total
        min_interval_s = 0.2
        too_soon = now - self._sent_at < min_interval_s and not finished and data is None
        if done <= self._last_progress or too_soon:
            return
        self._last_progress, self._sent_at = done, now
        token = (self.context.meta or {}).get("progress_token")
        if data is None or token is None:
            await self.context.session.report_progress(done, total, message)
            return
        params = ProgressNotificationParams(
            progress_token=token, progress=done, total=total, message=message, _meta={"data": data}
        )
        await self.context.session.send_notification(
            ProgressNotification(params=params), related_request_id=self.context.request_id
        )

    async def report_alive(self, message: str) -> None:
        """Send a heartbeat."""
        await self(max(self._last_progress, 0.0), None, message)


def _read_text(meta: Mapping[str, Any], name: str) -> str | None:
    value = meta.get(name)
    return value[:200] if isinstance(value, str) and value else None


def read_header(context: ServerRequestContext[Any, Any], name: str) -> str | None:
    """Return a header of the request; None if it did not come over HTTP."""
    return (getattr(context.request, "headers", None) or {}).get(name)


def read_person(context: ServerRequestContext[Any, Any]) -> str | None:
    """Return the person for whom the host acts.

    Hosts with one key for everyone send a header; others use `_meta`.
    """
    header = {"person": read_header(context, PERSON_HEADER)}
    return _read_text(context.meta or {}, "identity") or _read_text(header, "person")


def _is_cancelled(context: ServerRequestContext[Any, Any]) -> bool:
    """Return whether the client has cancelled this request explicitly, which a lost connection does not.

    Newer HTTP clients cannot cancel explicitly: they close the stream, as a lost connection does.
    """
    channel = context.session._request_outbound  # noqa: SLF001 - the SDK has no public way to it
    return channel.cancel_requested.is_set()


def _parse_citation_range(step: Mapping[str, Any]) -> tuple[int, int] | None:
    offset, count = step.get("citationsOffset"), step.get("citationsCount")
    if isinstance(offset, int) and isinstance(count, int) and offset >= 0 and count >= 0:
        return offset, count
    return None
