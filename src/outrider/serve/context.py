"""From a protocol request to the house's `Call`: who calls, and how to tell them how far it is."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mcp.server import ServerRequestContext
from mcp_types import ClientCapabilities, ProgressNotification, ProgressNotificationParams, SamplingCapability

from outrider.core.context import Call, ClientModel
from outrider.core.questions import QuestionAnswer
from outrider.serve.elicitation import parse_host_decisions

if TYPE_CHECKING:
    from outrider.serve.auth import Caller

SAMPLING_CAPABILITY = ClientCapabilities(sampling=SamplingCapability())
WORKSPACE_HEADER = "x-outrider-workspace"  # the header in which somebody of several workspaces chooses one


@dataclass(frozen=True)
class CallDefaults:
    """Whose calls those are that do not say so. Of a connection or a process, never of a request.

    `chosen`: the host has named the session, so that it wins over the connection's own.
    """

    session: str = "default"
    assistant: str = ""
    thread: str = ""
    workspace: str = ""
    chosen: bool = False


def build_call(context: ServerRequestContext[Any, Any], defaults: CallDefaults = CallDefaults()) -> Call:
    """The call's context: from the request's `_meta`, else from the connection.

    Where callers must show who they are, that decides on person and workspace: of their own workspaces they may choose
    one, and what a request says of a person counts for nothing. Raises Refused for a workspace that is not theirs.
    """
    step_fields = (
        "websearchResultCount",
        "resumeState",
        "agent",
        "depth",
    )  # what tools may want to know of the host's step
    meta: Mapping[str, Any] = context.meta or {}
    step = meta.get("stepContext")
    step = step if isinstance(step, Mapping) else {}
    reporter = ProgressReporter(context)
    said = Call(
        session=_read_text(meta, "session_id") or (not defaults.chosen and _connection(context)) or defaults.session,
        assistant=_read_text(meta, "assistant_id") or defaults.assistant or None,
        thread=_read_text(meta, "thread_id") or defaults.thread or None,
        message=_read_text(meta, "message_id"),
        workspace=_read_text(meta, "workspace") or defaults.workspace or None,
        identity=read_person(context),
        citations=_parse_citation_range(step),
        extra={name: step.get(name) for name in step_fields},
        progress=reporter,
        heartbeat=reporter.report_alive,
        answers=_answers(step),
        is_cancelled=lambda: _is_cancelled(context),
        client_model=_find_client_model(context),
    )
    known = get_caller(context)
    return said if known is None else _apply_principal(said, known, read_header(context, WORKSPACE_HEADER))


def get_caller(context: ServerRequestContext[Any, Any]) -> "Caller | None":
    """Who has shown who they are; None where nobody has to."""
    user = (getattr(context.request, "scope", None) or {}).get("user")
    return user if hasattr(user, "principal") else None


def _apply_principal(said: Call, known: "Caller", workspace: str | None) -> Call:
    """The call as whoever has shown who they are makes it."""
    who = known.principal
    where = who.select_membership(said.workspace or workspace)
    return replace(
        said,
        session=who.qualify_session(where, said.session),
        workspace=where.workspace,
        identity=who.person,
        grant=who.build_grant(where, known.address),
    )


def _find_client_model(context: ServerRequestContext[Any, Any]) -> ClientModel | None:
    """The client's own language model, where it lends one: few do, so the rest is loaded only then."""
    if not context.session.check_client_capability(SAMPLING_CAPABILITY):
        return None
    from outrider.serve.client_model import find_client_model

    return find_client_model(context)


class ProgressReporter:
    """Progress for one request: strictly increasing, at most five notices a second, the last always."""

    def __init__(self, context: ServerRequestContext[Any, Any]) -> None:
        self._context = context
        self._token = (context.meta or {}).get("progress_token")
        self._last_progress = -1.0
        self._sent_at = 0.0

    async def __call__(
        self, done: float, total: float | None, message: str, data: dict[str, Any] | None = None
    ) -> None:
        min_progress_step = (
            2**-20
        )  # by how much progress advances where nothing is counted, since it may not stand still
        max_notices_per_second = 5  # progress notices that a caller gets at most
        if total is None and done <= self._last_progress:  # a count of notices, begun anew after a question
            done = self._last_progress + min_progress_step
        now = time.monotonic()
        finished = total is not None and done >= total
        too_soon = now - self._sent_at < 1 / max_notices_per_second and not finished and data is None
        if done <= self._last_progress or too_soon:
            return
        self._last_progress, self._sent_at = done, now
        await self._send_notification(done, total, message, data)

    async def report_alive(self, message: str) -> None:
        """A notice that the call goes on."""
        await self(max(self._last_progress, 0.0), None, message)

    async def _send_notification(
        self, done: float, total: float | None, message: str, data: dict[str, Any] | None
    ) -> None:
        if data is None or self._token is None:
            await self._context.session.report_progress(done, total, message)
            return
        params = ProgressNotificationParams(
            progress_token=self._token, progress=done, total=total, message=message, _meta={"data": data}
        )
        await self._context.session.send_notification(
            ProgressNotification(params=params), related_request_id=self._context.request_id
        )


def _read_text(meta: Mapping[str, Any], name: str) -> str | None:
    value = meta.get(name)
    return value[:200] if isinstance(value, str) and value else None


def _connection(context: ServerRequestContext[Any, Any]) -> str | None:
    """The session of an older client over HTTP; newer protocols have none."""
    return read_header(context, "mcp-session-id")


def read_header(context: ServerRequestContext[Any, Any], name: str) -> str | None:
    """A header of the request, where it came over HTTP."""
    return (getattr(context.request, "headers", None) or {}).get(name)


def read_person(context: ServerRequestContext[Any, Any]) -> str | None:
    """For whom the host acts, as it says."""
    person_header = "x-api-user-email"  # the header in which hosts with one key for all name the person they act for
    return _read_text(context.meta or {}, "identity") or _read_text(
        {person_header: read_header(context, person_header)}, person_header
    )


def _is_cancelled(context: ServerRequestContext[Any, Any]) -> bool:
    """Whether the client has cancelled this request in so many words; a connection that is lost is no such word.

    The SDK keeps that with the request's channel, and hands no public way to it. Newer HTTP clients have no words for
    it: they close the stream, as a lost connection does.
    """
    channel = context.session._request_outbound  # noqa: SLF001
    return channel.cancel_requested.is_set()


def _answers(step: Mapping[str, Any]) -> dict[str, QuestionAnswer]:
    given = step.get("decisions")
    return parse_host_decisions(given) if isinstance(given, list) else {}


def _parse_citation_range(step: Mapping[str, Any]) -> tuple[int, int] | None:
    offset, count = step.get("citationsOffset"), step.get("citationsCount")
    if isinstance(offset, int) and isinstance(count, int) and offset >= 0 and count >= 0:
        return offset, count
    return None
