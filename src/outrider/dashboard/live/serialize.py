"""Serialize browser sessions for the live view."""

from typing import Any

from outrider.browser.protocol.redact import clean_message
from outrider.browser.session.registry import SessionRecord
from outrider.browser.session.session import Session
from outrider.core.call_records import InflightCall, InflightCalls
from outrider.dashboard.live.goals import RunGoals

MAX_URL_CHARS = 2_000  # characters
MAX_TITLE_CHARS = 200


def clip_encodable(text: str, limit: int | None = None) -> str:
    """Replace lone surrogates, which JSON cannot encode."""
    return text[:limit].encode("utf-8", "replace").decode()


def serialize_session(session: Session, inflight: InflightCalls, goals: RunGoals, title: str) -> dict[str, Any]:
    """Return the session as JSON without its controller, which is sent per connection."""
    now, last = _find_session_calls(session, inflight)
    run_id = find_run_id(session, inflight)
    waiting = session.dialogs.unanswered
    return {
        "id": session.id,
        "url": clip_encodable(session.url, MAX_URL_CHARS),
        "title": clip_encodable(title, MAX_TITLE_CHARS) or "Untitled page",
        "owner": clip_encodable(session.owner, MAX_TITLE_CHARS),
        "status": session.status,
        "created_at": round(session.created_at, 3),
        "used_at": round(session.used_at, 3),
        "busy": session.in_use,
        "control": session.control.serialize_state(),
        "now": _serialize_call(now),
        "last": _serialize_call(last),
        "run": run_id,
        "goal": clip_encodable(goals.get_goal(run_id)) if run_id else "",
        "console": session.console.total,
        "errors": session.console.errors,
        "requests": session.network.total,
        "failed": len(session.network.list_failed()),
        "viewers": session.screencast.viewer_count,
        "tabs": [_serialize_tab(session, number, page) for number, page in enumerate(session.tabs, 1)],
        "dialog": {"kind": waiting.kind, "message": clip_encodable(clean_message(waiting.message))}
        if waiting
        else None,
    }


def serialize_remote_session(record: SessionRecord) -> dict[str, Any]:
    """Return a session of another process as known to the database: `status` is `elsewhere`."""
    return {
        "id": record.id,
        "url": clip_encodable(record.url, MAX_URL_CHARS),
        "title": clip_encodable(record.title, MAX_TITLE_CHARS) or "Untitled page",
        "owner": clip_encodable(record.owner, MAX_TITLE_CHARS),
        "status": "elsewhere",
        "there": record.status,
        "replica": record.replica,
        "created_at": round(record.created_at, 3),
        "used_at": round(record.used_at, 3),
    }


def find_run_id(session: Session, inflight: InflightCalls) -> str:
    """Return the agent run that works in a session, or ""."""
    now, last = _find_session_calls(session, inflight)
    doing = now or last
    return doing.run_id if doing else ""


def _find_session_calls(session: Session, inflight: InflightCalls) -> tuple[InflightCall | None, InflightCall | None]:
    """Return the running call of the session, and its last one."""
    session_calls = [each for each in inflight.calls if each.browser_session == session.id]
    return (session_calls[0] if session_calls else None), inflight.find_last_ended(session.id)


def _serialize_call(doing: InflightCall | None) -> dict[str, Any] | None:
    if doing is None:
        return None
    arguments = {
        clip_encodable(name): clip_encodable(value) for name, value in doing.arguments.items() if name != "sessionId"
    }
    return {
        "tool": doing.tool,
        "title": doing.title,
        "arguments": arguments,
        "began_at": round(doing.began_at, 3),
        "ended_at": doing.ended_at,
    }


def _serialize_tab(session: Session, number: int, page: Any) -> dict[str, Any]:
    main = page.frames.main
    return {
        "number": number,
        "url": clip_encodable(main.url if main else "about:blank", MAX_URL_CHARS),
        "front": page is session.tabs.current,
    }
