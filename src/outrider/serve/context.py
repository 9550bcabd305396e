"""From a protocol request to the house's `Call`: who calls, and how to tell them how far it is."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mcp.server import ServerRequestContext
from mcp_types import ClientCapabilities, ProgressNotification, ProgressNotificationParams, SamplingCapability

from outrider.core.context import Call, Lender
from outrider.core.questions import Answer
from outrider.serve.questions import answers_in

if TYPE_CHECKING:
    from outrider.serve.auth import Caller

PER_SECOND = 5  # progress notices that a caller gets at most
LENDING = ClientCapabilities(sampling=SamplingCapability())
STRIDE = 2**-20  # by how much progress advances where nothing is counted, since it may not stand still
STEP = ("websearchResultCount", "resumeState", "agent", "depth")  # what tools may want to know of the host's step
PERSON = "x-api-user-email"  # the header in which hosts with one key for all name the person they act for
WORKSPACE = "x-outrider-workspace"  # the header in which somebody of several workspaces chooses one


@dataclass(frozen=True)
class Defaults:
    """Whose calls those are that do not say so. Of a connection or a process, never of a request.

    `chosen`: the host has named the session, so that it wins over the connection's own.
    """

    session: str = "default"
    assistant: str = ""
    thread: str = ""
    workspace: str = ""
    chosen: bool = False


def call_of(context: ServerRequestContext[Any, Any], defaults: Defaults = Defaults()) -> Call:
    """The call's context: from the request's `_meta`, else from the connection.

    Where callers must show who they are, that decides on person and workspace: of their own workspaces they may choose
    one, and what a request says of a person counts for nothing. Raises Refused for a workspace that is not theirs.
    """
    meta: Mapping[str, Any] = context.meta or {}
    step = meta.get("stepContext")
    step = step if isinstance(step, Mapping) else {}
    reporter = Reporter(context)
    said = Call(
        session=_text(meta, "session_id") or (not defaults.chosen and _connection(context)) or defaults.session,
        assistant=_text(meta, "assistant_id") or defaults.assistant or None,
        thread=_text(meta, "thread_id") or defaults.thread or None,
        message=_text(meta, "message_id"),
        workspace=_text(meta, "workspace") or defaults.workspace or None,
        identity=person(context),
        citations=_reserved(step),
        extra={name: step.get(name) for name in STEP},
        progress=reporter,
        alive=reporter.alive,
        answers=_answers(step),
        unwanted=lambda: _given_up(context),
        lends=_lender(context),
    )
    known = caller(context)
    return said if known is None else _as_known(said, known, header(context, WORKSPACE))


def caller(context: ServerRequestContext[Any, Any]) -> "Caller | None":
    """Who has shown who they are; None where nobody has to."""
    user = (getattr(context.request, "scope", None) or {}).get("user")
    return user if hasattr(user, "principal") else None


def _as_known(said: Call, known: "Caller", workspace: str | None) -> Call:
    """The call as whoever has shown who they are makes it."""
    who = known.principal
    where = who.acting(said.workspace or workspace)
    return replace(
        said,
        session=who.session(where, said.session),
        workspace=where.workspace,
        identity=who.person,
        grant=who.grant(where, known.address),
    )


def _lender(context: ServerRequestContext[Any, Any]) -> Lender | None:
    """The client's own language model, where it lends one: few do, so the rest is loaded only then."""
    if not context.session.check_client_capability(LENDING):
        return None
    from outrider.serve.sampling import lender_of

    return lender_of(context)


class Reporter:
    """Progress for one request: strictly increasing, at most five notices a second, the last always."""

    def __init__(self, context: ServerRequestContext[Any, Any]) -> None:
        self._context = context
        self._token = (context.meta or {}).get("progress_token")
        self._done = -1.0
        self._sent_at = 0.0

    async def __call__(
        self, done: float, total: float | None, message: str, data: dict[str, Any] | None = None
    ) -> None:
        if total is None and done <= self._done:  # a count of notices, begun anew after a question
            done = self._done + STRIDE
        now = time.monotonic()
        finished = total is not None and done >= total
        too_soon = now - self._sent_at < 1 / PER_SECOND and not finished and data is None
        if done <= self._done or too_soon:
            return
        self._done, self._sent_at = done, now
        await self._send(done, total, message, data)

    async def alive(self, message: str) -> None:
        """A notice that the call goes on."""
        await self(max(self._done, 0.0), None, message)

    async def _send(self, done: float, total: float | None, message: str, data: dict[str, Any] | None) -> None:
        if data is None or self._token is None:
            await self._context.session.report_progress(done, total, message)
            return
        params = ProgressNotificationParams(
            progress_token=self._token, progress=done, total=total, message=message, _meta={"data": data}
        )
        await self._context.session.send_notification(
            ProgressNotification(params=params), related_request_id=self._context.request_id
        )


def _text(meta: Mapping[str, Any], name: str) -> str | None:
    value = meta.get(name)
    return value[:200] if isinstance(value, str) and value else None


def _connection(context: ServerRequestContext[Any, Any]) -> str | None:
    """The session of an older client over HTTP; newer protocols have none."""
    return header(context, "mcp-session-id")


def header(context: ServerRequestContext[Any, Any], name: str) -> str | None:
    """A header of the request, where it came over HTTP."""
    return (getattr(context.request, "headers", None) or {}).get(name)


def person(context: ServerRequestContext[Any, Any]) -> str | None:
    """For whom the host acts, as it says."""
    return _text(context.meta or {}, "identity") or _text({PERSON: header(context, PERSON)}, PERSON)


def _given_up(context: ServerRequestContext[Any, Any]) -> bool:
    """Whether the client has cancelled this request in so many words; a connection that is lost is no such word.

    The SDK keeps that with the request's channel, and hands no public way to it. Newer HTTP clients have no words for
    it: they close the stream, as a lost connection does.
    """
    channel = context.session._request_outbound  # noqa: SLF001
    return channel.cancel_requested.is_set()


def _answers(step: Mapping[str, Any]) -> dict[str, Answer]:
    given = step.get("decisions")
    return answers_in(given) if isinstance(given, list) else {}


def _reserved(step: Mapping[str, Any]) -> tuple[int, int] | None:
    offset, count = step.get("citationsOffset"), step.get("citationsCount")
    if isinstance(offset, int) and isinstance(count, int) and offset >= 0 and count >= 0:
        return offset, count
    return None
