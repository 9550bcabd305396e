"""From a protocol request to the house's `Call`: who calls, and how to tell them how far it is."""

import time
from collections.abc import Mapping
from typing import Any

from mcp.server import ServerRequestContext
from mcp_types import ProgressNotification, ProgressNotificationParams

from outrider.core.context import Call

PER_SECOND = 5  # progress notices that a caller gets at most


def call_of(context: ServerRequestContext[Any, Any], *, session: str = "default") -> Call:
    """The call's context: from the request's `_meta`, else from the connection."""
    meta: Mapping[str, Any] = context.meta or {}
    step = meta.get("stepContext")
    step = step if isinstance(step, Mapping) else {}
    return Call(
        session=_text(meta, "session_id") or _connection(context) or session,
        assistant=_text(meta, "assistant_id"),
        thread=_text(meta, "thread_id"),
        message=_text(meta, "message_id"),
        workspace=_text(meta, "workspace"),
        citations=_reserved(step),
        extra={"websearchResultCount": step.get("websearchResultCount")},
        progress=Reporter(context),
    )


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
        now = time.monotonic()
        finished = total is not None and done >= total
        too_soon = now - self._sent_at < 1 / PER_SECOND and not finished and data is None
        if done <= self._done or too_soon:
            return
        self._done, self._sent_at = done, now
        await self._send(done, total, message, data)

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
    headers = getattr(context.request, "headers", None) or {}
    return headers.get("mcp-session-id")


def _reserved(step: Mapping[str, Any]) -> tuple[int, int] | None:
    offset, count = step.get("citationsOffset"), step.get("citationsCount")
    if isinstance(offset, int) and isinstance(count, int) and offset >= 0 and count >= 0:
        return offset, count
    return None
