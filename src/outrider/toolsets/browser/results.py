"""Shared parts of the browser tools: sessions, error texts and action results."""

import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from outrider.browser.protocol.cdp import ContextGone, ProtocolError
from outrider.browser.protocol.refs import escape_refs
from outrider.browser.session.browsers import Browsers
from outrider.core.context import Call
from outrider.core.errors import OutriderError, Refused, Unavailable
from outrider.core.result import Result, TextBlock
from outrider.core.untrusted import clean_untrusted, disarm_marks
from outrider.toolsets.options import ToolOptions

if TYPE_CHECKING:
    from outrider.browser.actions.outcome import ActionOutcome
    from outrider.browser.actions.page_tools import PageTools
    from outrider.browser.session.session import Session

Selector = Annotated[str, Field(description="Ref, CSS, text=… or button=…")]


@dataclass(frozen=True)
class ActivePage:
    """The session's current page, locked for one call."""

    session: "Session"
    tools: "PageTools"


@asynccontextmanager
async def use_page(
    browsers: Browsers, call: Call, session_id: str, selector: str | None = None
) -> AsyncGenerator[ActivePage]:
    """Lock the caller's session for one call and yield its current page.

    Args:
        browsers: All sessions.
        call: The caller.
        session_id: The session's id.
        selector: The selector or ref that the call is about, for the details of errors; None if there is none.

    Raises:
        OutriderError: With `details.reason` if there is a selector.
    """
    async with translate_errors(selector):
        session = browsers.get_session(call.session, session_id)
        await session.control.gate.wait_until_open()
        if dialog := session.dialogs.unanswered:
            message = f"a {dialog.kind} dialog is open: {escape_line(dialog.message)}"
            raise Refused(message, code="dialog_open", hint="call answerDialog first")
        async with session.acquire_page() as page:
            session.actions.is_approved = call.answer is True
            from outrider.browser.actions.page_tools import get_page_tools

            yield ActivePage(session, get_page_tools(page))


@asynccontextmanager
async def translate_errors(selector: str | None = None) -> AsyncGenerator[None]:
    """Turn errors of the browser into errors with hints that name our tools."""
    try:
        yield
    except OutriderError as error:
        raise _explain_error(error, selector) from None
    except ContextGone:
        message, hint = "the page was replaced during the call", "call snapshotPage, then continue"
        raise _explain_error(Unavailable(message, code="execution_error", hint=hint), selector) from None
    except ProtocolError as error:
        raise _explain_error(Unavailable(f"the browser refused: {error}", code="execution_error"), selector) from error
    except TimeoutError:
        raise _explain_error(Unavailable("the browser did not answer in time", code="timeout"), selector) from None


def _explain_error(error: OutriderError, selector: str | None) -> OutriderError:
    reasons = {
        "hung": "timeout",
        "page_hangs": "timeout",
        "script_error": "execution_error",
        "page_gone": "execution_error",
    }
    lost_codes = ("page_crashed", "page_hangs", "browser_gone", "page_gone")
    if error.code in lost_codes:
        url = error.details.get("url")
        error.hint = f"navigateToUrl opens the session again{f'; it was at {url}' if url else ''}"
    if error.code == "session_not_found" and "create" in error.hint:
        error.hint = "call navigateToUrl or createSession first"
    if error.code == "hung":
        error.hint = "the page may be busy: try once more, else navigateToUrl opens the session again"
    # Both may quote the page.
    error.message, error.hint = disarm_marks(error.message), disarm_marks(translate_hint(error.hint))
    if "suggestions" in error.details:
        suggestions = [disarm_marks(translate_hint(suggestion)) for suggestion in error.details["suggestions"]]
        error.details = error.details | {"suggestions": suggestions}
    if selector is not None and "ok" not in error.details:
        reason = reasons.get(error.code, error.code)
        error.details = {"ok": False, "reason": reason, "selector": selector} | error.details
    return error


def translate_hint(hint: str) -> str:
    """Replace a next step in the browser's words by the tool that does it."""
    tool_hints = {  # the first match counts
        "use check or uncheck": "use selectOption with checked",
        "use check": "use selectOption with checked",
        "use select": "use selectOption",
        "use upload": "use uploadFiles",
        "use click": "use clickElement",
        "take a snapshot": "call snapshotPage",
    }
    for start, tool_hint in tool_hints.items():
        if hint.startswith(start):
            return tool_hint + hint.removeprefix(start)
    return hint


def build_action_result(
    tool_options: ToolOptions, session: "Session", outcome: "ActionOutcome", selector: str = ""
) -> Result:
    """Build the text of an action's outcome, with its fields for programs in `_meta`; `selector` is the caller's."""
    fields = {name: value for name, value in outcome.to_dict().items() if name != "changes"}
    text = _format_outcome(tool_options, replace(outcome, selector=selector), take_notes(session))
    return Result((TextBlock(text),), meta={"outrider/outcome": fields})


def build_action_data(tool_options: ToolOptions, session: "Session", outcome: "ActionOutcome", selector: str) -> Result:
    """Build an action's outcome as text and as data, which leaves out default values.

    Some hosts show models the data instead of the text, so it is as short; `_meta` has all fields.
    """
    fields = outcome.to_dict()
    acted_on = "clicked" if outcome.action == "click" else "element"
    reported: dict[str, Any] = {acted_on: "" if outcome.changes else outcome.element, "navigated": outcome.navigated}
    reported |= {"url": outcome.new_address, "focused": outcome.new_focus}
    reported |= {name: fields.get(name) for name in ("note", "downloads", "changes")}
    reported |= {"newPages": [url[:300] for url in outcome.new_pages[:5]]}
    reported |= {"errors": [escape_line(error) for error in outcome.errors[:5]]}
    reported |= {"dialogs": [{name: dialog[name] for name in ("type", "message")} for dialog in outcome.dialogs[:5]]}
    data = {"ok": True} | {name: value for name, value in reported.items() if value}
    if outcome.value is not None and (outcome.note or not outcome.changes):
        data["value"] = outcome.value
    notes = take_notes(session)
    text = _format_outcome(tool_options, replace(outcome, selector=selector), notes)
    meta = {"outrider/outcome": {name: value for name, value in fields.items() if name != "changes"}}
    return Result((TextBlock(text),), data=data | ({"notes": notes} if notes else {}), meta=meta)


def _format_outcome(tool_options: ToolOptions, outcome: "ActionOutcome", notes: list[str]) -> str:
    changes = outcome.changes
    # A whole outline is marked as the page's text; in a difference, each line already has its own mark.
    is_difference = not outcome.navigated and all(
        line.startswith(("+ ", "~ ", "- ", "… ")) for line in changes.split("\n")
    )
    if changes and not is_difference:
        changes = tool_options.mark_untrusted(changes, outcome.url)
    elif changes:
        changes = disarm_marks(changes)
    escaped = replace(
        outcome,
        dialogs=[dialog | {"message": escape_line(dialog["message"])} for dialog in outcome.dialogs],
        downloads=[escape_line(name) for name in outcome.downloads],
        errors=[escape_line(error) for error in outcome.errors],
        value=outcome.value if outcome.value is None else escape_line(outcome.value, 5_000),
        changes=changes,
        element=disarm_marks(clean_line(outcome.element)),  # it begins with one of our references
        focused=disarm_marks(clean_line(outcome.focused)),
    )
    lines = [str(escaped)]
    lines += ["the new page is a tab in the background: manageTabs switches to it"] if outcome.new_pages else []
    lines += ["readLogs kind=downloads shows the file's path"] if outcome.downloads else []
    return "\n".join([*lines, *(f"Note: {note}" for note in notes)])


def take_notes(session: "Session") -> list[str]:
    """Return and clear the session's notes, with a warning if the guard is missing."""
    notes, session.notes = session.notes, []
    counts = Counter(notes)
    lines = [note if count == 1 else f"{note} ({count} times)" for note, count in counts.items()]
    return lines if session.is_guarded else [*lines, "attached browser: the egress guard does not cover it"]


def clean_line(text: str, limit: int = 500) -> str:
    """Return a page's text on one line of at most `limit` characters, without control characters."""
    return " ".join(clean_untrusted(text).split())[:limit]


def escape_line(text: str, limit: int = 500) -> str:
    """Return a page's text as `clean_line` does, with our references and marks escaped."""
    return escape_refs(disarm_marks(clean_line(text, limit)))


def format_time(timestamp: float) -> str:
    """Format seconds since the epoch as ISO 8601 in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(timestamp))
