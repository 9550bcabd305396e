"""What the browser's tools have in common: the caller's session, failures in their words, outcomes as results."""

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from outrider.browser.session.browsers import Browsers
from outrider.core.context import Call
from outrider.core.errors import OutriderError, Refused, Unavailable
from outrider.core.result import Result, TextBlock
from outrider.core.untrusted import clean_untrusted
from outrider.toolsets.options import ToolOptions

if TYPE_CHECKING:
    from outrider.browser.actions.outcome import ActionOutcome
    from outrider.browser.actions.page_tools import PageTools
    from outrider.browser.session.session import Session

Selector = Annotated[str, Field(description="CSS or ref")]
# The browser's own words for what to do next, and the tools that do it; a longer beginning stands first.
TOOL_HINTS = {
    "use check or uncheck": "use selectOption with checked",
    "use check": "use selectOption with checked",
    "use select": "use selectOption",
    "use upload": "use uploadFiles",
    "use click": "use clickElement",
    "take a snapshot": "call snapshotPage",
}


@dataclass(frozen=True)
class ActivePage:
    """A session's page in front, ready to be worked on."""

    session: "Session"
    tools: "PageTools"


@asynccontextmanager
async def use_page(
    browsers: Browsers, call: Call, session_id: str, selector: str | None = None
) -> AsyncGenerator[ActivePage]:
    """The caller's session, for one call at a time.

    Args:
        browsers: All sessions.
        call: Who calls.
        session_id: Which session.
        selector: The selector or reference that the call is about, for the details of errors; None if it is about none.

    Raises:
        OutriderError: with `details.reason` where the call is about an element.
    """
    async with translate_errors(selector):
        session = browsers.get_session(call.session, session_id)
        await session.control.gate.wait_until_open()
        if dialog := session.dialogs.unanswered:
            message = f"a {dialog.kind} dialog is open: {clean_line(dialog.message)}"
            raise Refused(message, code="dialog_open", hint="answerDialog first")
        async with session.acquire_page() as page:
            from outrider.browser.actions.page_tools import get_page_tools

            yield ActivePage(session, get_page_tools(page))


@asynccontextmanager
async def translate_errors(selector: str | None = None) -> AsyncGenerator[None]:
    """Says what goes wrong in the browser as an error that a model can act on."""
    from outrider.browser.protocol.cdp import ContextGone, ProtocolError

    try:
        yield
    except OutriderError as error:
        raise _explain_error(error, selector) from None
    except ContextGone:
        message, hint = "the page was replaced while it was worked on", "call snapshotPage, then go on"
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
        at = error.details.get("url")
        error.hint = f"navigateToUrl opens the session again{f'; it was at {at}' if at else ''}"
    if error.code == "session_not_found" and "create" in error.hint:
        error.hint = "createSession first"
    if error.code == "hung":
        error.hint = "the page may be busy with itself: try once more, else navigateToUrl opens the session again"
    error.hint = translate_hint(error.hint)
    if "suggestions" in error.details:
        error.details = error.details | {"suggestions": [translate_hint(each) for each in error.details["suggestions"]]}
    if selector is not None and "ok" not in error.details:
        reason = reasons.get(error.code, error.code)
        error.details = {"ok": False, "reason": reason, "selector": selector} | error.details
    return error


def translate_hint(hint: str) -> str:
    """The browser's advice in names of tools."""
    for words, tool in TOOL_HINTS.items():
        if hint.startswith(words):
            return tool + hint.removeprefix(words)
    return hint


def build_action_result(choices: ToolOptions, session: "Session", outcome: "ActionOutcome") -> Result:
    """What an action did, to be read; the facts for programs in `_meta`."""
    facts = {name: fact for name, fact in outcome.to_dict().items() if name != "changes"}
    return Result(
        (TextBlock(_format_outcome(choices, outcome, take_notes(session))),), meta={"outrider/outcome": facts}
    )


def build_action_data(choices: ToolOptions, session: "Session", outcome: "ActionOutcome", *always: str) -> Result:
    """What an action did as data, complete by itself, and the same as text.

    Args:
        choices: How page text is marked.
        session: Where.
        outcome: What.
        *always: Facts that the contract promises even where they are empty.
    """
    facts = outcome.to_dict()
    hidden = ("rect", "viewport", "ref", "action")
    data = {name: fact for name, fact in facts.items() if name not in hidden}
    data |= {name: [] for name in always if name not in data}
    data["dialogs"] = [{"type": each["type"], "message": each["message"]} for each in data.get("dialogs", [])]
    data = {name: fact for name, fact in data.items() if fact or name in always or isinstance(fact, bool)}
    notes = take_notes(session)
    text = _format_outcome(choices, outcome, notes)
    meta = {f"outrider/{name}": facts[name] for name in ("rect", "viewport", "ref") if name in facts}
    return Result((TextBlock(text),), data=data | ({"notes": notes} if notes else {}), meta=meta)


def _format_outcome(choices: ToolOptions, outcome: "ActionOutcome", notes: list[str]) -> str:
    dialogs = [each | {"message": clean_line(each["message"])} for each in outcome.dialogs]
    shown = replace(
        outcome, dialogs=dialogs, changes=_mark_changes(choices, outcome), element=clean_line(outcome.element)
    )
    return "\n".join([str(shown), *_consequences(outcome), *(f"Note: {note}" for note in notes)])


def _mark_changes(choices: ToolOptions, outcome: "ActionOutcome") -> str:
    """A whole outline is marked as the page's; the lines of a difference already stand out by how they begin."""
    change_prefixes = ("+ ", "~ ", "- ", "… ")  # how the lines of a difference begin
    lines = outcome.changes.split("\n")
    if not outcome.changes or (not outcome.navigated and all(each.startswith(change_prefixes) for each in lines)):
        return outcome.changes
    return choices.mark_untrusted(outcome.changes, outcome.url)


def _consequences(outcome: "ActionOutcome") -> list[str]:
    lines = ["the new page is a tab in the background: manageTabs switches to it"] if outcome.new_pages else []
    return [*lines, *(["readLogs kind=downloads says where the file is"] if outcome.downloads else [])]


def take_notes(session: "Session") -> list[str]:
    """What happened in a session without being asked for; told once."""
    notes, session.notes = session.notes, []
    return notes


def clean_line(text: str, limit: int = 500) -> str:
    """Somebody else's words on one line."""
    return " ".join(clean_untrusted(text).split())[:limit]


def format_time(at: float) -> str:
    """Seconds since the epoch as ISO 8601 in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
