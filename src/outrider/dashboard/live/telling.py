"""What people are told about a browser session."""

from typing import Any

from outrider.browser import Session
from outrider.browser.redact import clean_message
from outrider.browser.registry import Known
from outrider.core.underway import Doing, Underway
from outrider.dashboard.live.goals import Goals

URL = 2_000  # characters
TITLE = 200


def sayable(text: str, limit: int | None = None) -> str:
    """A text as it can be sent: half characters, which pages may put anywhere, become question marks."""
    return text[:limit].encode("utf-8", "replace").decode()


def told(session: Session, underway: Underway, goals: Goals, title: str) -> dict[str, Any]:
    """A session as JSON; who holds it is told apart, to each connection in its own words."""
    now, last = _calls(session, underway)
    run_id = run_of(session, underway)
    waiting = session.dialogs.waiting
    return {
        "id": session.id,
        "url": sayable(session.url, URL),
        "title": sayable(title, TITLE) or "Untitled page",
        "owner": sayable(session.owner, TITLE),
        "status": session.status,
        "created_at": round(session.created_at, 3),
        "used_at": round(session.used_at, 3),
        "busy": session.in_use,
        "control": session.control.state(),
        "now": _shown(now),
        "last": _shown(last),
        "run": run_id,
        "goal": sayable(goals.known(run_id)) if run_id else "",
        "console": session.console.total,
        "errors": session.console.errors,
        "requests": session.network.total,
        "failed": len(session.network.failed()),
        "viewers": session.screencast.viewers,
        "tabs": [_tab(session, number, page) for number, page in enumerate(session.tabs, 1)],
        "dialog": {"kind": waiting.kind, "message": sayable(clean_message(waiting.message))} if waiting else None,
    }


def told_of(known: Known) -> dict[str, Any]:
    """A session of another process, as far as the database knows it: `status` is `elsewhere`."""
    return {
        "id": known.id,
        "url": sayable(known.url, URL),
        "title": sayable(known.title, TITLE) or "Untitled page",
        "owner": sayable(known.owner, TITLE),
        "status": "elsewhere",
        "there": known.status,
        "replica": known.replica,
        "created_at": round(known.created_at, 3),
        "used_at": round(known.used_at, 3),
    }


def run_of(session: Session, underway: Underway) -> str:
    """The agent's run that works in a session, as far as its calls tell; empty if none does."""
    now, last = _calls(session, underway)
    doing = now or last
    return doing.run_id if doing else ""


def _calls(session: Session, underway: Underway) -> tuple[Doing | None, Doing | None]:
    """The call that is about the session now, and the last one that was."""
    mine = [each for each in underway.calls if each.about == session.id]
    return (mine[0] if mine else None), underway.last(session.id)


def _shown(doing: Doing | None) -> dict[str, Any] | None:
    if doing is None:
        return None
    given = {sayable(name): sayable(value) for name, value in doing.arguments.items() if name != "sessionId"}
    return {
        "tool": doing.tool,
        "title": doing.title,
        "arguments": given,
        "began_at": round(doing.began_at, 3),
        "ended_at": doing.ended_at,
    }


def _tab(session: Session, number: int, page: Any) -> dict[str, Any]:
    main = page.frames.main
    return {
        "number": number,
        "url": sayable(main.url if main else "about:blank", URL),
        "front": page is session.tabs.current,
    }
